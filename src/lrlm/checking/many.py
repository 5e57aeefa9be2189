"""Check many texts given as lines of JSON, or a folder of such files."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from lrlm.annotation.folders import FileReport, FolderSettings, FolderWork, LineWork, work_through
from lrlm.annotation.jsonl import LineLinker
from lrlm.checking.calibration import TrustName, calibration_of
from lrlm.checking.check import Checker
from lrlm.checking.findings import CheckedText
from lrlm.checking.hypotheses import KnowledgeOfTypes
from lrlm.knowledge import KnowledgeGraph
from lrlm.progress import Progress, silent
from lrlm.runs.run import Run
from lrlm.runs.schemas import schema_for
from lrlm.text_files import BadLines, parse_lines

FORMAT = "lrlm checks"


def check_lines(
    lines: Iterable[bytes],
    linker: LineLinker,
    checker: Checker,
    bad_lines: BadLines,
    *,
    where: Path,
) -> Iterator[CheckedText]:
    """Check a stream of lines, those that can be used; `where` is the file they come from."""
    return checker.check(parse_lines(lines, where, linker, bad_lines))


def check_folder(
    source: Path | str,
    out: Path | str,
    settings: FolderSettings,
    *,
    master: str | None = None,
    spark: bool = False,
    progress: Progress = silent,
) -> list[FileReport]:
    """Check the files that have no result yet; `master` says where Spark computes."""
    return work_through(
        source, out, settings, CHECKING, master=master, spark=spark, progress=progress
    )


def checker_for(
    run: Run, graph: KnowledgeGraph | None, *, threshold: float, trust: TrustName = "neither"
) -> Checker:
    """Make ready to check with a run, by what is known of types from it and from a graph."""
    known = KnowledgeOfTypes.of(schema_for(run, graph))
    return Checker(run, known, calibration=calibration_of(run), threshold=threshold, trust=trust)


def _checking(run: Run, settings: FolderSettings) -> LineWork:
    graph = None if settings.graph is None else KnowledgeGraph.open(settings.graph)
    checker = checker_for(run, graph, threshold=settings.threshold, trust=settings.trust)

    def lines(
        raw: Iterable[bytes], linker: LineLinker, bad_lines: BadLines, where: Path
    ) -> Iterator[str]:
        for checked in check_lines(raw, linker, checker, bad_lines, where=where):
            yield checked.to_json()

    return lines


CHECKING = FolderWork("checking", FORMAT, _checking)
