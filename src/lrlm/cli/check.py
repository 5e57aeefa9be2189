"""`lrlm check`: say what a graph says of a text."""

import sys
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lrlm.cli.console import as_plain_text, errors, output, palette, progress_of
from lrlm.cli.options import (
    Backward,
    BackwardWeight,
    Device,
    MaxBad,
    OutputFile,
    TopicCorpus,
    TopicEndpoint,
    TopicGraph,
    name_rules_given,
)
from lrlm.cli.outputs import STREAM, is_stream, tell_bad_lines, write_out
from lrlm.cli.texts import (
    Engine,
    LetterCaseOfNames,
    Longest,
    Places,
    RulesOfNames,
    SparkMaster,
    TopicOfText,
    check_places,
    folder_of_results,
    for_engine,
    opened,
    read_text,
    sort_out,
    stream_to,
    tell_folder,
    topic_of_text,
)
from lrlm.errors import InputError
from lrlm.look import counted
from lrlm.text_files import BadLines, raw_lines, stream_lines

if TYPE_CHECKING:
    from lrlm.annotation.folders import FolderSettings
    from lrlm.checking.findings import CheckedText

FAILED = 1
"""The exit code where --fail-on has found what it looks for."""


class CheckFormat(StrEnum):
    """How findings are written."""

    TEXT = "text"
    JSON = "json"
    HTML = "html"


class Trusted(StrEnum):
    """Which side is right where a text and the graph differ."""

    NEITHER = "neither"
    GRAPH = "graph"
    TEXT = "text"


class FailOn(StrEnum):
    """Findings that make the command fail."""

    CONTRADICTED = "contradicted"
    NEW = "new"


def check(
    places: Places = None,
    topic: TopicOfText = None,
    graph: TopicGraph = None,
    corpus: TopicCorpus = None,
    endpoint: TopicEndpoint = None,
    fail_on: Annotated[
        list[FailOn] | None,
        typer.Option(
            help="Exit with code 1 if anything is contradicted, or new; may be given twice.",
            show_default=False,
        ),
    ] = None,
    format_: Annotated[
        CheckFormat | None,
        typer.Option("--format", help="Output format.", show_default="text"),
    ] = None,
    out: OutputFile = None,
    threshold: Annotated[
        float, typer.Option(min=0, max=1, help="Tell findings with at least this probability.")
    ] = 0.5,
    trust: Annotated[
        Trusted,
        typer.Option(
            help="Which side is right where they differ: with graph, errors of the text are looked"
            " for, with text, facts that the graph lacks. Probabilities are those of that case."
        ),
    ] = Trusted.NEITHER,
    jsonl: Annotated[
        str | None,
        typer.Option(
            metavar="IN.jsonl|DIR|-",
            help="Check many texts, given as for lrlm annotate: a file (or standard input) with"
            " one JSON object per line, or a folder of such files, whose results go to the folder"
            " --out.",
            show_default=False,
        ),
    ] = None,
    engine: Annotated[
        Engine | None,
        typer.Option(help="Check a folder on this machine, or with Spark.", show_default="here"),
    ] = None,
    master: SparkMaster = None,
    max_bad: MaxBad = 0.001,
    longest: Longest = None,
    letter_case: LetterCaseOfNames = None,
    name_rules: RulesOfNames = None,
    backward: Backward = None,
    backward_weight: BackwardWeight = None,
    device: Device = "auto",
) -> None:
    """Say which statements of a text the graph supports or contradicts, and which are new.

    Every name in the text may be the object of a known fact about the topic, or of one that the
    graph does not have, of any type that topics like this one have. The probabilities are exact,
    and are those given the whole text.
    """
    run, text_place = sort_out(places or [], has_lines=jsonl is not None, command="check")
    is_folder = check_places(jsonl=jsonl, out=out, topic=topic, engine=engine, master=master)
    if jsonl is not None and format_ not in (None, CheckFormat.JSON):
        raise InputError(
            f"--jsonl always writes JSON, one line per text; leave out --format {format_}"
        )

    from lrlm.corpora import LONGEST

    most = longest or LONGEST
    rules = None if name_rules is None else name_rules_given(name_rules)
    if jsonl is not None and is_folder:
        place = folder_of_results(out, endpoint)
        if fail_on:
            raise InputError("--fail-on is for one text or a file of texts, not for a folder")
        from lrlm.annotation.folders import FolderSettings

        settings = FolderSettings(
            run,
            graph,
            corpus,
            threshold,
            most,
            max_bad,
            device,
            letter_case,
            rules,
            backward=backward,
            backward_weight=backward_weight,
            trust=trust.value,
        )
        _check_folder(Path(jsonl), place, settings, engine, master)
        return

    from lrlm.annotation.jsonl import LineLinker
    from lrlm.checking.many import check_lines, checker_for
    from lrlm.knowledge import KnowledgeGraph
    from lrlm.model import load
    from lrlm.runs.topics import topics_for

    text = ""
    if text_place is not None:
        with opened(text_place) as source:
            text = read_text(source, where=text_place, longest=most)
    with progress_of("texts") as progress:
        progress("loading the model", 0, 0)
        model = load(run, backward=backward, backward_weight=backward_weight, device=device)
        topics = topics_for(model.run, graph=graph, corpus=corpus, endpoint=endpoint)
        progress("counting types of facts", 0, 0)
        known_graph = None if graph is None else KnowledgeGraph.open(graph)
        checker = checker_for(model.run, known_graph, threshold=threshold, trust=trust.value)
        if jsonl is None:
            named, _ = topic_of_text(
                text,
                topic,
                model.run,
                topics,
                longest=most,
                letter_case=letter_case,
                name_rules=rules,
                progress=progress,
            )
            progress("checking", 0, 0)
            document = model.run.link(
                text,
                named,
                longest=most,
                letter_case=letter_case,
                name_rules=rules,
            )
            checked = next(checker.check([document]))
    fails = {str(each) for each in fail_on or ()}
    if jsonl is None:
        _write(checked, format_ or CheckFormat.TEXT, out)
        if any(finding.verdict in fails for finding in checked.findings):
            raise typer.Exit(FAILED)
        return
    linker = LineLinker(model.run, topics, most, letter_case, rules)
    where = Path("standard input" if jsonl == STREAM else jsonl)
    lines = stream_lines(sys.stdin.buffer, where) if jsonl == STREAM else raw_lines(where)
    bad_lines = BadLines(max_share=max_bad)
    results = check_lines(lines, linker, checker, bad_lines, where=where)
    if _write_lines(results, out, fails, bad_lines):
        raise typer.Exit(FAILED)


def _write(checked: "CheckedText", format_: CheckFormat, out: Path | None) -> None:
    from lrlm.checking.html import checked_to_html
    from lrlm.checking.terminal import checked_view

    if format_ is CheckFormat.TEXT and is_stream(out):
        output.print(checked_view(checked, palette=palette()))
    elif format_ is CheckFormat.TEXT:
        write_out(as_plain_text(checked_view(checked)), out)
    elif format_ is CheckFormat.JSON:
        write_out(checked.to_json() + "\n", out)
    else:
        write_out(checked_to_html(checked), out)


def _write_lines(
    results: Iterable["CheckedText"], out: Path | None, fails: set[str], bad_lines: BadLines
) -> int:
    """Write what is found in each text; say how many texts have what makes the command fail."""
    done = failed = 0
    with stream_to(out) as stream, progress_of("texts") as progress:
        for done, checked in enumerate(results, start=1):
            stream.write(f"{checked.to_json()}\n".encode())
            failed += any(finding.verdict in fails for finding in checked.findings)
            progress("checking", done, 0)
    errors.print(f"Checked {counted(done, 'text')}.", highlight=False)
    tell_bad_lines(bad_lines.examples, bad_lines.count)
    return failed


def _check_folder(
    source: Path, out: Path, settings: "FolderSettings", engine: Engine | None, master: str | None
) -> None:
    from lrlm.checking.many import check_folder

    settings = for_engine(settings, engine)
    with progress_of("files") as progress:
        reports = check_folder(
            source, out, settings, spark=engine is Engine.SPARK, master=master, progress=progress
        )
    tell_folder("Checked", reports, out)
