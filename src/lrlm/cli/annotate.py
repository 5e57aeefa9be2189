"""`lrlm annotate`: find the names in a text and say which facts they come from."""

import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lrlm.cli.console import as_plain_text, errors, output, palette, progress_of
from lrlm.cli.options import (
    Backward,
    BackwardWeight,
    CopyOddsOfNames,
    Device,
    MaxBad,
    OutputFile,
    TopicCorpus,
    TopicEndpoint,
    TopicGraph,
    copy_odds_given,
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
    from lrlm.annotation.annotation import Annotation
    from lrlm.annotation.folders import FolderSettings
    from lrlm.annotation.jsonl import LineLinker


class AnnotationFormat(StrEnum):
    """How an annotation is written."""

    TEXT = "text"
    JSON = "json"
    HTML = "html"
    CONLL = "conll"


def annotate(
    places: Places = None,
    topic: TopicOfText = None,
    graph: TopicGraph = None,
    corpus: TopicCorpus = None,
    endpoint: TopicEndpoint = None,
    format_: Annotated[
        AnnotationFormat | None,
        typer.Option("--format", help="Output format.", show_default="text"),
    ] = None,
    out: OutputFile = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Show mentions with at least this probability.",
            show_default="0.5; for JSON 0",
        ),
    ] = None,
    jsonl: Annotated[
        str | None,
        typer.Option(
            metavar="IN.jsonl|DIR|-",
            help="Annotate many texts: a file (or standard input) with one JSON object per line,"
            ' {"id": …, "text": …, "topic": an id or a whole topic, or left out}, or a folder of'
            " such files,"
            " whose results go to the folder --out.",
            show_default=False,
        ),
    ] = None,
    engine: Annotated[
        Engine | None,
        typer.Option(help="Annotate a folder on this machine, or with Spark.", show_default="here"),
    ] = None,
    master: SparkMaster = None,
    max_bad: MaxBad = 0.001,
    longest: Longest = None,
    letter_case: LetterCaseOfNames = None,
    name_rules: RulesOfNames = None,
    copy_odds: CopyOddsOfNames = None,
    backward: Backward = None,
    backward_weight: BackwardWeight = None,
    device: Device = "auto",
) -> None:
    """Find the names in a text, and say which facts about its topic they come from.

    Every name of the topic's facts that occurs in the text is a candidate mention. For each, the
    model computes the probability of all its explanations (one of the facts, or plain words), given
    the whole text.
    """
    run, text_place = sort_out(places or [], has_lines=jsonl is not None, command="annotate")
    is_folder = check_places(jsonl=jsonl, out=out, topic=topic, engine=engine, master=master)
    if jsonl is not None and format_ not in (None, AnnotationFormat.JSON):
        raise InputError(
            f"--jsonl always writes JSON, one line per text; leave out --format {format_}"
        )

    from lrlm.corpora import LONGEST

    most = longest or LONGEST
    rules = None if name_rules is None else name_rules_given(name_rules)
    odds = copy_odds_given(copy_odds)
    if jsonl is not None and is_folder:
        place = folder_of_results(out, endpoint)
        from lrlm.annotation.folders import FolderSettings

        settings = FolderSettings(
            run,
            graph,
            corpus,
            threshold or 0.0,
            most,
            max_bad,
            device,
            letter_case,
            rules,
            odds,
            backward,
            backward_weight,
        )
        _annotate_folder(Path(jsonl), place, settings, engine, master)
        return

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
        if jsonl is None:
            named, probability = topic_of_text(
                text,
                topic,
                model.run,
                topics,
                longest=most,
                letter_case=letter_case,
                name_rules=rules,
                progress=progress,
            )
            progress("annotating", 0, 0)
            annotation = replace(
                model.annotate(
                    text,
                    named,
                    longest=most,
                    letter_case=letter_case,
                    name_rules=rules,
                    copy_odds=odds,
                ),
                topic_probability=probability,
            )
    if jsonl is not None:
        from lrlm.annotation.jsonl import LineLinker

        linker = LineLinker(model.run, topics, most, letter_case, rules)
        _annotate_lines(linker, jsonl, out, threshold or 0.0, max_bad, odds)
    else:
        _write(annotation, format_ or AnnotationFormat.TEXT, threshold, out)


def _write(
    annotation: "Annotation", format_: AnnotationFormat, threshold: float | None, out: Path | None
) -> None:
    from lrlm.annotation.exports import annotation_to_conll
    from lrlm.annotation.html import annotation_to_html
    from lrlm.annotation.terminal import annotation_view

    least = 0.5 if threshold is None else threshold
    if format_ is AnnotationFormat.TEXT and is_stream(out):
        output.print(annotation_view(annotation, threshold=least, palette=palette()))
        return
    if format_ is AnnotationFormat.TEXT:
        content = as_plain_text(annotation_view(annotation, threshold=least))
    elif format_ is AnnotationFormat.JSON:
        content = annotation.to_json(threshold=threshold or 0.0) + "\n"
    elif format_ is AnnotationFormat.HTML:
        content = annotation_to_html(annotation, threshold=least)
    else:
        content = annotation_to_conll(annotation, threshold=least)
    write_out(content, out)


def _annotate_lines(
    linker: "LineLinker",
    source: str,
    out: Path | None,
    threshold: float,
    max_bad: float,
    copy_odds: float | str | None,
) -> None:
    from lrlm.annotation.jsonl import annotate_lines

    where = Path("standard input" if source == STREAM else source)
    lines = stream_lines(sys.stdin.buffer, where) if source == STREAM else raw_lines(where)
    bad_lines = BadLines(max_share=max_bad)
    annotated = annotate_lines(
        lines,
        linker,
        bad_lines,
        where=where,
        threshold=threshold,
        copy_odds=copy_odds,
    )
    done = 0
    with stream_to(out) as stream, progress_of("texts") as progress:
        for done, line in enumerate(annotated, start=1):
            stream.write(f"{line}\n".encode())
            progress("annotating", done, 0)
    errors.print(f"Annotated {counted(done, 'text')}.", highlight=False)
    tell_bad_lines(bad_lines.examples, bad_lines.count)


def _annotate_folder(
    source: Path, out: Path, settings: "FolderSettings", engine: Engine | None, master: str | None
) -> None:
    from lrlm.annotation.folders import annotate_folder

    settings = for_engine(settings, engine)
    with progress_of("files") as progress:
        reports = annotate_folder(
            source, out, settings, spark=engine is Engine.SPARK, master=master, progress=progress
        )
    tell_folder("Annotated", reports, out)
