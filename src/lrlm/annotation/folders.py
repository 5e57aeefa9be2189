"""Work through a folder of JSONL files into another folder, here or on a cluster.

Every file is one job: it is read as a stream, and what it becomes has the same name in the other
folder and appears there whole. A file whose result is there already is left alone, so a command
that was stopped is simply given again. On a cluster both folders, the run and the graph must be
where all machines see them, and lrlm must be installed there.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch

from lrlm.annotation.jsonl import LineLinker, annotate_lines
from lrlm.artifacts import (
    MANIFEST,
    fingerprint,
    new_folder,
    read_manifest,
    sole_writer,
    write_manifest,
)
from lrlm.corpora import LONGEST
from lrlm.errors import DiskFullError, InputError, LrlmError
from lrlm.progress import Progress, silent
from lrlm.runs.devices import choose_device
from lrlm.runs.pairs import open_run
from lrlm.runs.run import Run
from lrlm.runs.shipped import SHIPPED
from lrlm.runs.topics import topics_for
from lrlm.spark_session import spark_session
from lrlm.text_files import BadLines, raw_lines
from lrlm.whole_files import DRAFT, is_disk_full, new_file

FORMAT = "lrlm annotations"
VERSION = 2
SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.bz2", ".jsonl.xz")


@dataclass(frozen=True)
class FolderSettings:
    """How every file of a folder is annotated."""

    run: Path | str | None = None
    graph: Path | str | None = None
    corpus: Path | str | None = None
    threshold: float = 0.0
    longest: int = LONGEST
    max_bad: float = 0.001
    device: str = "cpu"
    letter_case: str | None = None
    name_rules: tuple[str, ...] | None = None
    """How names are looked for, where not as in the corpus of the run."""
    copy_odds: float | str | None = None
    """The odds of copying, where not those of the run."""
    backward: Path | str | None = None
    """A second run, which reads backward."""
    backward_weight: float | None = None
    trust: Literal["neither", "graph", "text"] = "neither"
    """Which side is right where a text that is checked and the graph differ."""


@dataclass(frozen=True)
class FileReport:
    """What became of one file."""

    name: str
    texts: int = 0
    bad_lines: int = 0
    examples: tuple[str, ...] = ()
    failure: str | None = None
    """Why there is no result; the other files have theirs."""
    is_disk_full: bool = False
    """Whether that is because there is no room for it, nor for that of any other file."""


class FolderWork(NamedTuple):
    """What is done with every file of a folder."""

    verb: str
    """As progress tells it: annotating."""
    format: str
    """What the folder of results calls itself."""
    begin: Callable[["Run", FolderSettings], "LineWork"]
    """Makes ready, once a process, what turns the lines of a file into those of its result."""


LineWork = Callable[[Iterable[bytes], LineLinker, BadLines, Path], Iterator[str]]


def annotate_folder(
    source: Path | str,
    out: Path | str,
    settings: FolderSettings,
    *,
    master: str | None = None,
    spark: bool = False,
    progress: Progress = silent,
) -> list[FileReport]:
    """Annotate the files that have no result yet; `master` says where Spark computes."""
    return work_through(
        source, out, settings, ANNOTATING, master=master, spark=spark, progress=progress
    )


def work_through(
    source: Path | str,
    out: Path | str,
    settings: FolderSettings,
    work: FolderWork,
    *,
    master: str | None = None,
    spark: bool = False,
    progress: Progress = silent,
) -> list[FileReport]:
    """Do some work for the files that have no result yet; `master` says where Spark computes."""
    files, out = _files(Path(source)), Path(out)
    _prepare(out, settings, work)
    with sole_writer(out.parent / f".{out.name}.lock", out):
        for draft in out.glob(f".*{DRAFT}"):  # of one that was killed
            draft.unlink()
        return _work(files, out, settings, work, master=master, spark=spark, progress=progress)


def _work(
    files: list[Path],
    out: Path,
    settings: FolderSettings,
    work: FolderWork,
    *,
    master: str | None,
    spark: bool,
    progress: Progress,
) -> list[FileReport]:
    waiting = [path for path in files if not (out / result_name(path)).exists()]
    reports: list[FileReport] = []
    job = partial(work_on_file, out=out.absolute(), settings=_for_any_process(settings), work=work)
    done = len(files) - len(waiting)
    progress(work.verb, done, len(files))
    try:
        for report in _reports(job, [path.absolute() for path in waiting], master, spark=spark):
            reports.append(report)
            progress(work.verb, done + len(reports), len(files))
            if report.is_disk_full:
                break
    finally:
        _list_results(out, {result_name(path) for path in waiting}, work)
    failures = [report for report in reports if report.failure is not None]
    if failures:
        first = next((each for each in failures if each.is_disk_full), failures[0])
        missing = len(waiting) - len(reports) + len(failures)
        remedy = "make room" if first.is_disk_full else "put them right"
        raise (DiskFullError if first.is_disk_full else LrlmError)(
            f"{first.failure} ({missing} of {len(files)} files have no result yet; {remedy} and"
            " give the same command again, it goes on with those)"
        )
    return reports


def work_on_file(
    path: Path, *, out: Path, settings: FolderSettings, work: FolderWork
) -> FileReport:
    """Make the result of one file; what is wrong with it is reported, not raised."""
    bad_lines = BadLines(max_share=settings.max_bad)
    texts = 0
    try:
        run, lines_of = _begun(settings, work)
        topics = topics_for(run, graph=settings.graph, corpus=settings.corpus)
        linker = LineLinker(
            run, topics, settings.longest, settings.letter_case, settings.name_rules
        )
        lines = lines_of(raw_lines(path), linker, bad_lines, path)
        with new_file(out / result_name(path)) as file:
            for line in lines:
                file.write(f"{line}\n".encode())
                texts += 1
    except (LrlmError, OSError) as error:
        return FileReport(path.name, failure=str(error), is_disk_full=is_disk_full(error))
    return FileReport(path.name, texts, bad_lines.count, tuple(bad_lines.examples))


def _annotating(_run: Run, settings: FolderSettings) -> LineWork:
    def lines(
        raw: Iterable[bytes], linker: LineLinker, bad_lines: BadLines, where: Path
    ) -> Iterator[str]:
        return annotate_lines(
            raw,
            linker,
            bad_lines,
            where=where,
            threshold=settings.threshold,
            copy_odds=settings.copy_odds,
        )

    return lines


ANNOTATING = FolderWork("annotating", FORMAT, _annotating)


def result_name(path: Path) -> str:
    """Name the result of a file; it is not compressed."""
    return path.name[: path.name.index(".jsonl")] + ".jsonl"


@lru_cache(maxsize=1)
def _begun(settings: FolderSettings, work: FolderWork) -> tuple[Run, LineWork]:
    """Load the model once a process, and make ready what is done with it.

    Without a folder, it is the model that comes with the package.
    """
    run = open_run(
        SHIPPED if settings.run is None else settings.run,
        backward=settings.backward,
        weight=settings.backward_weight,
        device=str(choose_device(settings.device)),
    )
    return run, work.begin(run, settings)


def _reports(
    job: Callable[[Path], FileReport], files: list[Path], master: str | None, *, spark: bool
) -> Iterator[FileReport]:
    """Do the jobs one after the other here, or all of them on a cluster."""
    if not spark:
        yield from map(job, files)
    elif files:
        with spark_session(master, "lrlm") as session:
            tasks = session.sparkContext.parallelize(files, len(files))
            yield from tasks.map(partial(_on_one_core, job)).collect()


def _on_one_core(job: Callable[[Path], FileReport], path: Path) -> FileReport:
    """Spark gives every core a task of its own, so one task must not take several."""
    torch.set_num_threads(1)
    return job(path)


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder")
    files = sorted(path for path in folder.iterdir() if path.name.endswith(SUFFIXES))
    if not files:
        raise InputError(f"{folder} has no files that end with {', '.join(SUFFIXES)}")
    for first, second in pairwise(files):
        if result_name(first) == result_name(second):
            raise InputError(f"{first.name} and {second.name} would have the same result; keep one")
    return files


def _prepare(out: Path, settings: FolderSettings, work: FolderWork) -> None:
    """Make the folder of results, or see that the one there was begun in the same way."""
    said = {
        "run": _told(settings.run),
        "graph": _told(settings.graph),
        "corpus": _told(settings.corpus),
        "threshold": settings.threshold,
        "longest": settings.longest,
        "letter_case": settings.letter_case,
        "name_rules": None if settings.name_rules is None else list(settings.name_rules),
        "copy_odds": settings.copy_odds,
        "backward": _told(settings.backward),
        "backward_weight": settings.backward_weight,
        # Folders that were begun before there was this choice say nothing of it.
        "trust": None if settings.trust == "neither" else settings.trust,
    }
    if not (out / MANIFEST).exists():
        out.absolute().parent.mkdir(parents=True, exist_ok=True)
        with new_folder(out) as draft:
            write_manifest(draft, format=work.format, version=VERSION, **said)
        return
    there = read_manifest(out, format=work.format, version=VERSION, hint="choose another place")
    for name, value in said.items():
        if there.get(name) != value:
            raise InputError(f"{out} was begun with another {name}; choose another place")


def _list_results(out: Path, new: set[str], work: FolderWork) -> None:
    """List the results that are there in the manifest; only those that are new to it are read."""
    manifest = read_manifest(out, format=work.format, version=VERSION, hint="choose another place")
    known = {entry["name"]: entry for entry in manifest.get("files", ())}
    files = [
        known[path.name] if path.name in known and path.name not in new else fingerprint(path)
        for path in sorted(out.glob("*.jsonl"))
    ]
    if files != manifest.get("files"):
        write_manifest(out, **{**manifest, "files": files})


def _told(folder: Path | str | None) -> dict[str, Any] | None:
    """Tell a folder of lrlm from others by what its manifest says; None where none was named."""
    if folder is None or not (Path(folder) / MANIFEST).is_file():
        return None
    return {**fingerprint(Path(folder) / MANIFEST), "name": Path(folder).resolve().name}


def _for_any_process(settings: FolderSettings) -> FolderSettings:
    """Give paths that mean the same in every process."""
    return replace(
        settings,
        run=_absolute(settings.run),
        graph=_absolute(settings.graph),
        corpus=_absolute(settings.corpus),
        backward=_absolute(settings.backward),
    )


def _absolute(place: Path | str | None) -> Path | None:
    return None if place is None else Path(place).absolute()
