"""`lrlm annotate`: find the names in a text and say which facts they come from."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from lrlm.artifacts import new_file
from lrlm.cli.console import as_plain_text, errors, output, palette, progress_of
from lrlm.cli.options import (
    Device,
    MaxBad,
    OutputFile,
    TopicCorpus,
    TopicEndpoint,
    TopicGraph,
    name_rules_given,
)
from lrlm.cli.outputs import (
    STREAM,
    check_writable,
    is_stream,
    tell_bad_lines,
    tell_warnings,
    write_out,
)
from lrlm.cli.texts import Engine
from lrlm.corpora.name_rules import LetterCase
from lrlm.errors import InputError, TextTooLongError
from lrlm.look import counted
from lrlm.text_files import BadLines, raw_lines, stream_lines

if TYPE_CHECKING:
    from lrlm.annotation.annotation import Annotation
    from lrlm.annotation.folders import FolderSettings
    from lrlm.annotation.jsonl import LineLinker
    from lrlm.knowledge import Topic
    from lrlm.topics.finding import TopicRanker


class AnnotationFormat(StrEnum):
    """How an annotation is written."""

    TEXT = "text"
    JSON = "json"
    HTML = "html"
    CONLL = "conll"


def annotate(
    places: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN] [TEXTFILE|-]",
            help="RUN: folder of a trained model; without it, the small model that comes with"
            " lrlm. TEXTFILE: the text, in UTF-8; - reads standard input.",
            show_default=False,
        ),
    ] = None,
    topic: Annotated[
        str | None,
        typer.Option(
            metavar="ID|FILE.json",
            help="Topic of the text: an id or a name to look up, or a JSON file.",
            show_default="found among all topics of the graph or corpus",
        ),
    ] = None,
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
    master: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Address of the Spark master.",
            show_default="Spark's own configuration",
        ),
    ] = None,
    max_bad: MaxBad = 0.001,
    longest: Annotated[
        int | None,
        typer.Option(
            min=1, help="Longest text that is accepted, in characters.", show_default="1,000,000"
        ),
    ] = None,
    letter_case: Annotated[
        LetterCase | None,
        typer.Option(
            help="Letter case in which names are found.", show_default="as in the run's corpus"
        ),
    ] = None,
    name_rules: Annotated[
        str | None,
        typer.Option(
            metavar="RULES",
            help="What else may differ between names and the text, as for lrlm corpus build.",
            show_default="as in the run's corpus",
        ),
    ] = None,
    device: Device = "auto",
) -> None:
    """Find the names in a text, and say which facts about its topic they come from.

    Every name of the topic's facts that occurs in the text is a candidate mention. For each, the
    model computes the probability of all its explanations (one of the facts, or plain words), given
    the whole text.
    """
    run, text_place = _sort_out(places or [], has_lines=jsonl is not None)
    is_folder = jsonl is not None and jsonl != STREAM and Path(jsonl).is_dir()
    if (engine or master) and not is_folder:
        raise InputError(
            "--engine and --master are only for folders of texts: --jsonl DIR --out DIR"
        )
    if master is not None and engine is not Engine.SPARK:
        raise InputError("--master is only for --engine spark")
    if out is not None and not is_stream(out) and not is_folder:
        check_writable([out])
    if jsonl is not None and topic is not None:
        raise InputError("with --jsonl, every line names its own topic: leave out --topic")
    if jsonl is not None and format_ not in (None, AnnotationFormat.JSON):
        raise InputError(
            f"--jsonl always writes JSON, one line per text; leave out --format {format_}"
        )

    from lrlm.corpora import LONGEST

    most = longest or LONGEST
    rules = None if name_rules is None else name_rules_given(name_rules)
    if jsonl is not None and is_folder:
        place = _folder_of_results(out, endpoint)
        from lrlm.annotation.folders import FolderSettings

        settings = FolderSettings(
            run, graph, corpus, threshold or 0.0, most, max_bad, device, letter_case, rules
        )
        _annotate_folder(Path(jsonl), place, settings, engine, master)
        return

    from lrlm.model import load
    from lrlm.runs.topics import find_topic, topics_for
    from lrlm.topics.finding import TopicRanker

    text = ""
    if text_place is not None:
        with _opened(text_place) as source:
            text = _read_text(source, where=text_place, longest=most)
    with progress_of("texts") as progress:
        progress("loading the model", 0, 0)
        model = load(run, device=device)
        topics = topics_for(model.run, graph=graph, corpus=corpus, endpoint=endpoint)
        if jsonl is None:
            probability = None
            if topic is not None:
                named = find_topic(topic, topics)
            else:
                finder = TopicRanker(
                    model.run,
                    topics,
                    longest=most,
                    letter_case=letter_case,
                    name_rules=rules,
                    progress=progress,
                )
                progress("finding the topic", 0, 0)
                named, probability = _found(finder, text)
            progress("annotating", 0, 0)
            annotation = replace(
                model.annotate(
                    text, named, longest=most, letter_case=letter_case, name_rules=rules
                ),
                topic_probability=probability,
            )
    if jsonl is not None:
        from lrlm.annotation.jsonl import LineLinker

        linker = LineLinker(model.run, topics, most, letter_case, rules)
        _annotate_lines(linker, jsonl, out, threshold or 0.0, max_bad)
    else:
        _write(annotation, format_ or AnnotationFormat.TEXT, threshold, out)


def _found(finder: "TopicRanker", text: str) -> tuple["Topic", float]:
    """Find the topic of a text; say which others it may be about, if that is not sure."""
    from lrlm.topics.finding import best_of
    from lrlm.topics.terminal import doubts

    ranking = finder.rank(text)
    match = best_of(ranking)
    tell_warnings(doubts(ranking))
    return match.topic, match.probability


def _folder_of_results(out: Path | None, endpoint: str | None) -> Path:
    """Say where the results of a folder go; refuse what is not meant for so many texts."""
    if out is None or is_stream(out):
        raise InputError("where should the annotated files go? Name a folder: --out DIR")
    if endpoint is not None:
        raise InputError(
            "--endpoint is for single topics, not for those of a folder; build a graph with"
            " 'lrlm kg build' and name it with --graph"
        )
    return out


def _sort_out(places: list[str], *, has_lines: bool) -> tuple[Path | None, str | None]:
    """Tell the run from the text: both may be left out, the run always, the text with --jsonl."""
    if len(places) > (1 if has_lines else 2):
        raise InputError(
            "with --jsonl, the only other argument is a run"
            if has_lines
            else "there are too many arguments: give at most a run and a text"
        )
    run, text = None, None
    if len(places) == 2:
        run, text = Path(places[0]), places[1]
        if run.is_file() and Path(text).is_dir():
            raise InputError(f"the run comes before the text: lrlm annotate {text} {run}")
    elif places and Path(places[0]).is_dir():
        run = Path(places[0])
    elif places and (places[0] == STREAM or Path(places[0]).exists()):
        text = places[0]
    elif places:
        raise InputError(f"{places[0]} is neither a run (a folder) nor a text (a file)")
    if has_lines and text is not None:
        raise InputError(f"{text} is not a run; with --jsonl, the texts come from that file alone")
    if not has_lines and text is None:
        raise InputError("there is no text: give a file, or - for standard input")
    return run, text


@contextmanager
def _opened(place: str) -> Iterator[IO[bytes]]:
    if place == STREAM:
        yield sys.stdin.buffer
        return
    try:
        with Path(place).open("rb") as file:
            yield file
    except OSError as error:
        raise InputError(f"{place}: cannot be read ({error.strerror})") from None


def _read_text(source: IO[bytes], *, where: str, longest: int) -> str:
    """Read a text in UTF-8 as it is, line ends included; `where` names it in an error."""
    most = 4 * longest + 3  # bytes: of the longest text, and of a mark that some editors write
    raw = source.read(most + 1)
    if len(raw) > most:
        raise TextTooLongError(
            f"{where}: the text has more than the {longest:,} characters that are read at once; cut"
            " it into articles"
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{where}: not UTF-8 at byte {error.start + 1}; save it as UTF-8, or convert it"
        ) from None


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
    linker: "LineLinker", source: str, out: Path | None, threshold: float, max_bad: float
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
    )
    done = 0
    with _stream_to(out) as stream, progress_of("texts") as progress:
        for done, line in enumerate(annotated, start=1):
            stream.write(f"{line}\n".encode())
            progress("annotating", done, 0)
    errors.print(f"Annotated {counted(done, 'text')}.", highlight=False)
    tell_bad_lines(bad_lines.examples, bad_lines.count)


def _annotate_folder(
    source: Path, out: Path, settings: "FolderSettings", engine: Engine | None, master: str | None
) -> None:
    from lrlm.annotation.folders import annotate_folder

    if engine is Engine.SPARK:
        if settings.device not in ("auto", "cpu"):
            raise InputError(f"Spark annotates on CPUs only: leave out --device {settings.device}")
        settings = replace(settings, device="cpu")
    with progress_of("files") as progress:
        reports = annotate_folder(
            source, out, settings, spark=engine is Engine.SPARK, master=master, progress=progress
        )
    texts = sum(report.texts for report in reports)
    errors.print(
        f"Annotated {counted(texts, 'text')} in {counted(len(reports), 'file')};"
        f" the result is in {escape(str(out))}.",
        highlight=False,
        soft_wrap=True,
    )
    tell_bad_lines(
        [example for report in reports for example in report.examples],
        sum(report.bad_lines for report in reports),
    )


@contextmanager
def _stream_to(out: Path | None) -> Iterator[IO[bytes]]:
    if out is None or is_stream(out):
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with new_file(out) as file:
            yield file
