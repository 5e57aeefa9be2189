"""`lrlm annotate`: say where the names of a text come from."""

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
from lrlm.cli.console import as_plain_text, errors, output, progress_of
from lrlm.cli.outputs import STREAM, check_writable, is_stream, tell_left_out, write_out
from lrlm.errors import InputError
from lrlm.report.counted import counted
from lrlm.text_files import BadLines, raw_lines, stream_lines

if TYPE_CHECKING:
    from lrlm.inference.annotation import Annotation
    from lrlm.inference.folders import Settings
    from lrlm.inference.model import Model
    from lrlm.inference.topics import Topics


class Format(StrEnum):
    """How an annotation is written."""

    TEXT = "text"
    JSON = "json"
    HTML = "html"
    CONLL = "conll"


class Engine(StrEnum):
    """What annotates a folder."""

    HERE = "here"
    SPARK = "spark"


def annotate(
    places: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN] [TEXTFILE|-]",
            help="A folder of 'lrlm train' (without one, the model that comes with lrlm), and a"
            " text in UTF-8.",
            show_default=False,
        ),
    ] = None,
    topic: Annotated[
        str | None,
        typer.Option(metavar="ID|FILE.json", help="What the text is about.", show_default=False),
    ] = None,
    graph: Annotated[
        Path | None, typer.Option(metavar="KG", help="A knowledge graph to find topics in.")
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="A corpus to find topics in.",
            show_default="the one trained on, if it is near",
        ),
    ] = None,
    format_: Annotated[
        Format | None, typer.Option("--format", help="How to write it.", show_default="text")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="F", help="Write to a file.", show_default=False)
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Show mentions that are at least so probable.",
            show_default="0.5; in JSON 0",
        ),
    ] = None,
    jsonl: Annotated[
        str | None,
        typer.Option(
            metavar="IN.jsonl|DIR|-",
            help='Many texts, a line each: {"id": …, "text": …, "topic": an id or a topic}; or a'
            " folder of such files, annotated into the folder --out.",
            show_default=False,
        ),
    ] = None,
    engine: Annotated[
        Engine | None,
        typer.Option(help="What annotates a folder.", show_default="here"),
    ] = None,
    master: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Where Spark computes.", show_default="as Spark is set up"
        ),
    ] = None,
    max_bad: Annotated[
        float, typer.Option(min=0, max=0.999, help="Share of the lines that may be bad.")
    ] = 0.001,
    longest: Annotated[
        int | None,
        typer.Option(min=1, help="Characters that a text may have.", show_default="1,000,000"),
    ] = None,
    device: Annotated[
        str, typer.Option(help="cpu, cuda, …, or auto: cuda where there is one.")
    ] = "auto",
) -> None:
    """Find the names in a text, and say which facts about its topic they come from.

    Every name that the topic's knowledge knows is a candidate; the model gives each explanation of
    it a probability, given the whole text.
    """
    run, text_place = _sort_out(places or [], has_lines=jsonl is not None)
    is_folder = jsonl is not None and jsonl != STREAM and Path(jsonl).is_dir()
    if (engine or master) and not is_folder:
        raise InputError("--engine and --master are for a folder of texts: --jsonl DIR --out DIR")
    if master is not None and engine is not Engine.SPARK:
        raise InputError("--master is for --engine spark")
    if out is not None and not is_stream(out) and not is_folder:
        check_writable([out])
    if jsonl is None and topic is None:
        raise InputError("say what the text is about with --topic ID or --topic FILE.json")
    if jsonl is not None and topic is not None:
        raise InputError("with --jsonl every line names its own topic: leave --topic out")
    if jsonl is not None and format_ not in (None, Format.JSON):
        raise InputError(f"--jsonl is answered in JSON, a line each; {format_} is for one text")

    from lrlm.inference.texts import LONGEST, read_text

    most = longest or LONGEST
    if jsonl is not None and is_folder:
        if out is None or is_stream(out):
            raise InputError("say which folder the annotated files are written to with --out DIR")
        from lrlm.inference.folders import Settings

        settings = Settings(run, graph, corpus, threshold or 0.0, most, max_bad, device)
        _annotate_folder(Path(jsonl), out, settings, engine, master)
        return

    from lrlm.inference.model import load
    from lrlm.inference.topic_sources import topics_for
    from lrlm.inference.topics import find_topic

    text = ""
    if text_place is not None:
        with _opened(text_place) as source:
            text = read_text(source, where=text_place, longest=most)
    with progress_of("texts") as progress:
        progress("loading the model", 0)
        model = load(run, device=device)
        topics = topics_for(model.run, graph=graph, corpus=corpus)
        if topic is not None:
            progress("annotating", 0)
            annotation = model.annotate(text, find_topic(topic, topics), longest=most)
    if jsonl is not None:
        _annotate_lines(model, topics, jsonl, out, threshold or 0.0, most, max_bad)
    else:
        _write(annotation, format_ or Format.TEXT, threshold, out)


def _sort_out(places: list[str], *, has_lines: bool) -> tuple[Path | None, str | None]:
    """Tell the run from the text: both may be left out, the run always, the text with --jsonl."""
    if len(places) > (1 if has_lines else 2):
        raise InputError(
            "with --jsonl only a run can be named beside it"
            if has_lines
            else "at most two places can be named: a run and a text"
        )
    run, text = None, None
    if len(places) == 2:
        run, text = Path(places[0]), places[1]
        if run.is_file() and Path(text).is_dir():
            raise InputError(f"the run stands before the text: {text} {run}")
    elif places and Path(places[0]).is_dir():
        run = Path(places[0])
    elif places and (places[0] == STREAM or Path(places[0]).exists()):
        text = places[0]
    elif places:
        raise InputError(f"{places[0]} is neither a folder with a run nor a file with a text")
    if has_lines and text is not None:
        raise InputError(f"{text} is not a run, and with --jsonl there is no other text")
    if not has_lines and text is None:
        raise InputError("there is no text: name a file, or - for standard input")
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


def _write(
    annotation: "Annotation", format_: Format, threshold: float | None, out: Path | None
) -> None:
    from lrlm.inference.jsonl import annotation_line
    from lrlm.report.annotation_conll import annotation_to_conll
    from lrlm.report.annotation_html import annotation_to_html
    from lrlm.report.annotation_text import annotation_view

    least = 0.5 if threshold is None else threshold
    if format_ is Format.TEXT and is_stream(out):
        output.print(annotation_view(annotation, threshold=least))
        return
    if format_ is Format.TEXT:
        content = as_plain_text(annotation_view(annotation, threshold=least))
    elif format_ is Format.JSON:
        content = annotation_line(annotation, threshold=threshold or 0.0) + "\n"
    elif format_ is Format.HTML:
        content = annotation_to_html(annotation, threshold=least)
    else:
        content = annotation_to_conll(annotation, threshold=least)
    write_out(content, out)


def _annotate_lines(
    model: "Model",
    topics: "Topics",
    source: str,
    out: Path | None,
    threshold: float,
    longest: int,
    max_bad: float,
) -> None:
    from lrlm.inference.jsonl import LineLinker, annotate_lines

    where = Path("standard input" if source == STREAM else source)
    lines = stream_lines(sys.stdin.buffer, where) if source == STREAM else raw_lines(where)
    bad_lines = BadLines(max_share=max_bad)
    annotated = annotate_lines(
        model.run,
        lines,
        LineLinker(model.run.link_options, topics, longest),
        bad_lines,
        where=where,
        threshold=threshold,
    )
    done = 0
    with _stream_to(out) as stream, progress_of("texts") as progress:
        for done, line in enumerate(annotated, start=1):
            stream.write(f"{line}\n".encode())
            progress("annotating", done)
    errors.print(f"Annotated {counted(done, 'text')}.", highlight=False)
    tell_left_out(bad_lines.examples, bad_lines.count)


def _annotate_folder(
    source: Path, out: Path, settings: "Settings", engine: Engine | None, master: str | None
) -> None:
    from lrlm.inference.folders import annotate_folder

    if engine is Engine.SPARK:
        if settings.device not in ("auto", "cpu"):
            raise InputError(
                f"Spark annotates on processors, not on {settings.device}; leave out --device"
            )
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
    tell_left_out(
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
