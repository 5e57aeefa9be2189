"""Time `lrlm corpus build` and its parts: run `python -m benchmarks.build`.

The whole build runs as its own process on all cores; its time is that of the clock, its memory the
most that all its processes held at one moment. The parts run in this process, one after the other,
and are given in CPU seconds of all threads. `--copies 3` reads every training article three times,
under other ids: the memory should stay the same.
"""

import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.corpus_inputs import inputs_in, parser
from lrlm.corpora.articles import parse_article
from lrlm.corpora.columns import to_table
from lrlm.corpora.corpus import CorpusWriter
from lrlm.corpora.inputs import BuildInputs
from lrlm.corpora.linking import LinkOptions
from lrlm.corpora.staging import staging_in
from lrlm.corpora.statistics import SplitStatistics
from lrlm.corpora.workers import link_rows
from lrlm.knowledge.sources.triples import parse_fact, parse_form
from lrlm.text import detect_profile
from lrlm.text.document import LinkedDocument
from lrlm.text_files import BadLines, read_records

GOAL_SECONDS, GOAL_GIGABYTES = 30, 2


class Memory(threading.Thread):
    """Watches how much memory a process and all its descendants hold (where there is a /proc)."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self.process = process
        self.peak = 0
        self.ended = threading.Event()

    def run(self) -> None:
        """Look twenty times a second."""
        while not self.ended.wait(0.05):
            self.peak = max(self.peak, sum(map(resident, descendants(self.process))))


def descendants(process: int) -> Iterator[int]:
    yield process
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        for child in _read(children).split():
            yield from descendants(int(child))


def resident(process: int) -> int:
    """Give the bytes that a process holds; shared pages count in equal parts for all sharers."""
    for line in _read(Path(f"/proc/{process}/smaps_rollup")).splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:  # it has just ended
        return ""


def whole_build(inputs: BuildInputs, out: Path) -> tuple[float, float, float]:
    """Give the seconds by the clock, those of all cores, and the gigabytes of the command."""
    command = [sys.executable, "-m", "lrlm", "corpus", "build", "--out", str(out)]
    command += ["--triples", str(inputs.triples), "--forms", str(inputs.forms)]
    for split, path in inputs.articles.items():
        command += [f"--{split}", str(path)]
    begin = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        memory = Memory(process.pid)
        memory.start()
        process.wait()
    seconds = time.perf_counter() - begin
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    memory.ended.set()
    memory.join()
    if process.returncode:
        sys.exit("the build failed")
    return seconds, used.ru_utime + used.ru_stime, memory.peak / 1e9


class Parts:
    """Adds up the CPU time of each part of a build."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Add what happens in a block to a part."""
        begin = time.process_time()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - begin


def build_in_parts(inputs: BuildInputs, folder: Path) -> dict[str, float]:
    """Do what a build does, in one process and one part after the other."""
    parts, bad_lines = Parts(), BadLines()
    assert inputs.triples is not None
    assert inputs.forms is not None
    with staging_in(folder, memory="1GB", threads=1) as staging, CorpusWriter(folder) as writer:
        with parts.timed("reading"):
            facts = list(read_records(inputs.triples, parse_fact, bad_lines))
            forms = list(read_records(inputs.forms, parse_form, bad_lines))
            articles = {
                split: list(read_records(path, parse_article, bad_lines))
                for split, path in inputs.articles.items()
            }
        texts = [article.text for article in next(iter(articles.values()))]
        options = LinkOptions(profile=detect_profile(texts[:200]))
        with parts.timed("joining"):
            for fact in facts:
                staging.add_fact(*fact)
            for form in forms:
                staging.add_form(*form)
            for split, content in articles.items():
                for article in content:
                    staging.add_article(split, article)
            staging.finish()
            staging.check_articles()
            staging.count_facts()
            batches = list(staging.rows(512))
        del facts, forms, articles, texts  # so many objects would slow all that follows
        for batch in batches:
            with parts.timed("moving rows"):
                rows = batch.to_pylist()
            by_split: dict[str, list[LinkedDocument]] = {}
            with parts.timed("linking"):
                for split, document in link_rows(rows, options, None, Counter()):
                    by_split.setdefault(split, []).append(document)
            for split, documents in by_split.items():
                with parts.timed("counting"):
                    statistics = SplitStatistics.of(documents)
                with parts.timed("writing"):
                    writer.add(split, to_table(documents), statistics)
        with parts.timed("writing"):
            writer.close(made_by="a benchmark", options=options)
    return parts.seconds


def main() -> None:
    arguments = parser(__doc__ or "")
    arguments.add_argument("--copies", type=int, default=1, help="feed the articles so many times")
    given = arguments.parse_args()
    with (
        inputs_in(given.data, copies=given.copies) as inputs,
        tempfile.TemporaryDirectory(prefix="benchmark-") as scratch,
    ):
        out = Path(scratch) / "corpus"
        seconds, cpu_seconds, gigabytes = whole_build(inputs, out)
        print(f"{inputs_size(inputs):.0f} MB of input, {size(out):.0f} MB of corpus\n")
        print(f"{'the whole build':24}{seconds:>8.1f} s     (goal {GOAL_SECONDS} on two cores)")
        print(f"{'  on all its cores':24}{cpu_seconds:>8.1f} CPU s")
        print(f"{'memory at its peak':24}{gigabytes:>8.2f} GB    (goal {GOAL_GIGABYTES})\n")
        if given.copies > 1:
            return  # the parts hold all articles at once, which the build does not
        alone = Path(scratch) / "alone"
        alone.mkdir()
        parts = build_in_parts(inputs, alone)
        for name, each in {**parts, "all parts": sum(parts.values())}.items():
            print(f"{name:24}{each:>8.1f} CPU s")


def inputs_size(inputs: BuildInputs) -> float:
    return sum(path.stat().st_size for path in inputs.files) / 1e6


def size(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.iterdir()) / 1e6


if __name__ == "__main__":
    main()
