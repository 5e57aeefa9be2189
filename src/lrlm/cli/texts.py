"""What commands share that read texts: where the texts are, and where the results go."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from lrlm.cli.console import errors
from lrlm.cli.outputs import STREAM, check_writable, is_stream, tell_bad_lines, tell_warnings
from lrlm.corpora.name_rules import LetterCase
from lrlm.errors import InputError, TextTooLongError
from lrlm.look import counted
from lrlm.progress import Progress
from lrlm.whole_files import new_file

if TYPE_CHECKING:
    from lrlm.annotation.folders import FileReport, FolderSettings
    from lrlm.knowledge import Topic
    from lrlm.runs.run import Run
    from lrlm.runs.topics import TopicLookup

Places = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[RUN] [TEXTFILE|-]",
        help="RUN: folder of a trained model; without it, the small model that comes with"
        " lrlm. TEXTFILE: the text, in UTF-8; - reads standard input.",
        show_default=False,
    ),
]
TopicOfText = Annotated[
    str | None,
    typer.Option(
        "--topic",
        metavar="ID|FILE.json",
        help="Topic of the text: an id or a name to look up, or a JSON file.",
        show_default="found among all topics of the graph or corpus",
    ),
]
SparkMaster = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Address of the Spark master.",
        show_default="Spark's own configuration",
    ),
]
Longest = Annotated[
    int | None,
    typer.Option(
        min=1, help="Longest text that is accepted, in characters.", show_default="1,000,000"
    ),
]
LetterCaseOfNames = Annotated[
    LetterCase | None,
    typer.Option(
        help="Letter case in which names are found.", show_default="as in the run's corpus"
    ),
]
RulesOfNames = Annotated[
    str | None,
    typer.Option(
        metavar="RULES",
        help="What else may differ between names and the text, as for lrlm corpus build.",
        show_default="as in the run's corpus",
    ),
]


class Engine(StrEnum):
    """Where a folder of texts is read."""

    HERE = "here"
    SPARK = "spark"


def check_places(
    *,
    jsonl: str | None,
    out: Path | None,
    topic: str | None,
    engine: Engine | None,
    master: str | None,
) -> bool:
    """Refuse options that do not go together; say whether a folder of texts is given."""
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
    return is_folder


def folder_of_results(out: Path | None, endpoint: str | None) -> Path:
    """Say where the results of a folder go; refuse what is not meant for so many texts."""
    if out is None or is_stream(out):
        raise InputError("where should the results go? Name a folder: --out DIR")
    if endpoint is not None:
        raise InputError(
            "--endpoint is for single topics, not for those of a folder; build a graph with"
            " 'lrlm kg build' and name it with --graph"
        )
    return out


def sort_out(places: list[str], *, has_lines: bool, command: str) -> tuple[Path | None, str | None]:
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
            raise InputError(f"the run comes before the text: lrlm {command} {text} {run}")
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
def opened(place: str) -> Iterator[IO[bytes]]:
    """Open the file of a text, or standard input."""
    if place == STREAM:
        yield sys.stdin.buffer
        return
    try:
        with Path(place).open("rb") as file:
            yield file
    except OSError as error:
        raise InputError(f"{place}: cannot be read ({error.strerror})") from None


def read_text(source: IO[bytes], *, where: str, longest: int) -> str:
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


def topic_of_text(
    text: str,
    name: str | None,
    run: "Run",
    topics: "TopicLookup",
    *,
    longest: int,
    letter_case: str | None,
    name_rules: Sequence[str] | None,
    progress: Progress,
) -> tuple["Topic", float | None]:
    """Give the topic that was named; else find that of the text, and say how probable it is.

    Which others the text may be about is told where that is not sure.
    """
    from lrlm.runs.topics import find_topic
    from lrlm.topics.finding import TopicRanker, best_of
    from lrlm.topics.terminal import doubts

    if name is not None:
        return find_topic(name, topics), None
    finder = TopicRanker(
        run,
        topics,
        longest=longest,
        letter_case=letter_case,
        name_rules=name_rules,
        progress=progress,
    )
    progress("finding the topic", 0, 0)
    ranking = finder.rank(text)
    match = best_of(ranking)
    tell_warnings(doubts(ranking))
    return match.topic, match.probability


@contextmanager
def stream_to(out: Path | None) -> Iterator[IO[bytes]]:
    """Open where lines go: standard output, or a file that appears when it is whole."""
    if out is None or is_stream(out):
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with new_file(out) as file:
            yield file


def for_engine(settings: "FolderSettings", engine: Engine | None) -> "FolderSettings":
    """Settings for a folder as an engine can follow them: Spark computes on CPUs."""
    if engine is not Engine.SPARK:
        return settings
    if settings.device not in ("auto", "cpu"):
        raise InputError(f"Spark computes on CPUs only: leave out --device {settings.device}")
    return replace(settings, device="cpu")


def tell_folder(done: str, reports: Sequence["FileReport"], out: Path) -> None:
    """Say how many texts of a folder were read, and which lines could not be used."""
    texts = sum(report.texts for report in reports)
    errors.print(
        f"{done} {counted(texts, 'text')} in {counted(len(reports), 'file')};"
        f" the result is in {escape(str(out))}.",
        highlight=False,
        soft_wrap=True,
    )
    tell_bad_lines(
        [example for report in reports for example in report.examples],
        sum(report.bad_lines for report in reports),
    )
