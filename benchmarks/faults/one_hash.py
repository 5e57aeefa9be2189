"""Build with other numbers of workers, other orders of lines and another engine: one hash."""

import gzip
import importlib.util
import random
import shutil
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.faults.outcome import Outcome, Tally
from lrlm.corpora.inputs import BuildInputs
from tests.corpora import small_world
from tests.corpora.small_world import digests
from tests.generators.wikidata import World
from tests.processes import Started, lrlm_command

FULL = {"graphs": 3, "corpora": 3, "spark": 2}
"""How many of each are built, each in all ways; of the graphs, so many with Spark too."""
SHORT = {"graphs": 1, "corpora": 0, "spark": 0}

WORKERS = (1, 2, 4)
_WAYS = len(WORKERS)
"""The build with one worker is what the others are compared with; one more is of shuffled lines."""
_QUICK_JAVA = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
_SPARK = ("--engine", "spark", "--master", "local[2]")


def run(folder: Path, counts: Mapping[str, int], rng: random.Random) -> list[Outcome]:
    """Build everything in several ways, and compare."""
    what = "1, 2, 4 workers, shuffled input: one hash"
    graphs = Tally(f"graphs: {what}", counts["graphs"] * _WAYS)
    corpora = Tally(f"corpora: {what}", counts["corpora"] * _WAYS)
    spark = Tally("graphs by DuckDB and by Spark: one hash", counts["spark"])
    missing = why_not_spark()
    for number in range(max(counts["graphs"], 0 if missing else counts["spark"])):
        builder = GraphBuilder(folder / f"graph-{number}", rng)
        if number < counts["graphs"]:
            builder.compare_workers(graphs)
            builder.compare_shuffled(graphs)
        if number < counts["spark"] and not missing:
            spark.add(builder.difference(builder.sources, "spark", *_SPARK), "Spark")
    for number in range(counts["corpora"]):
        maker = CorpusBuilder(folder / f"corpus-{number}", rng)
        maker.compare_workers(corpora)
        maker.compare_shuffled(corpora)
    return [graphs.outcome(), corpora.outcome(), spark.outcome(missing)]


class Builder:
    """Builds the same thing in several ways."""

    def __init__(self, home: Path, rng: random.Random, sources: Sequence[Path]) -> None:
        self.home, self.rng, self.sources = home, rng, sources
        self._first = self._build(sources, "first", "--workers", "1")

    def command(self, sources: Sequence[Path], out: Path) -> list[str]:
        """Give the arguments that build from some sources."""
        raise NotImplementedError

    def difference(self, sources: Sequence[Path], name: str, *options: str) -> str | None:
        """Build in another way, and say which files differ; a manifest names the sources."""
        other = self._build(sources, name, *options)
        skipped = {"manifest.json"} if sources is not self.sources else set()
        differing = {
            file
            for file in {*self._first, *other} - skipped
            if self._first.get(file) != other.get(file)
        }
        return f"other {', '.join(sorted(differing))}" if differing else None

    def compare_workers(self, tally: Tally) -> None:
        """Build with more workers."""
        for workers in map(str, WORKERS[1:]):
            failure = self.difference(self.sources, f"workers-{workers}", "--workers", workers)
            tally.add(failure, f"{workers} workers")

    def compare_shuffled(self, tally: Tally) -> None:
        """Build from sources whose lines stand in another order."""
        shuffled = [shuffle(path, self.home / "shuffled", self.rng) for path in self.sources]
        failure = self.difference(shuffled, "shuffled-out", "--workers", "2")
        tally.add(failure, "shuffled lines")

    def _build(self, sources: Sequence[Path], name: str, *options: str) -> dict[str, str]:
        out = self.home / name
        command = lrlm_command(*self.command(sources, out), *options)
        with Started(command, self.home / "logs", _QUICK_JAVA) as started:
            if started.process.wait():
                raise RuntimeError(f"the build failed: {started.errors}")
        return digests(out)


class GraphBuilder(Builder):
    """Builds a graph from two dumps and two tables."""

    def __init__(self, home: Path, rng: random.Random) -> None:
        home.mkdir()
        count = rng.randint(400, 900)
        world = World(count, seed=rng.randrange(1000), languages=("en", "de"))
        other = World(count // 2, seed=rng.randrange(1000), languages=("en", "fr"))
        names, facts = home / "names.tsv", home / "facts.tsv"
        lines = [f"Q{n % count}\tname {n}\n" for n in range(2 * count)]
        names.write_text("".join(lines))
        lines = [
            f"Q{rng.randrange(count)}\tP{n % 7}\tQ{rng.randrange(count)}\n" for n in range(5000)
        ]
        facts.write_text("".join(lines))
        dumps = (world.write_json(home / "world.json"), other.write_ntriples(home / "other.nt"))
        super().__init__(home, rng, (*dumps, names, facts))

    def command(self, sources: Sequence[Path], out: Path) -> list[str]:
        """Give the arguments of `lrlm kg build`."""
        return ["kg", "build", *map(str, sources), "--out", str(out)]


class CorpusBuilder(Builder):
    """Builds a corpus; its articles stay in their order, which is that of the corpus."""

    def __init__(self, home: Path, rng: random.Random) -> None:
        home.mkdir()
        inputs = small_world.write_large(home / "in", rng.randint(1000, 3000))
        self._articles = inputs.articles
        assert inputs.triples is not None
        assert inputs.forms is not None
        super().__init__(home, rng, (inputs.triples, inputs.forms))

    def command(self, sources: Sequence[Path], out: Path) -> list[str]:
        """Give the arguments of `lrlm corpus build`."""
        triples, forms = sources
        return small_world.as_arguments(BuildInputs(triples, forms, self._articles), out)


def shuffle(path: Path, folder: Path, rng: random.Random) -> Path:
    """Write the lines of a file in another order; those about one subject stay in theirs.

    An entity's names are kept in the order of their lines, the first is what it is called.
    """
    folder.mkdir(exist_ok=True)
    is_packed = path.suffix == ".gz"
    content = gzip.decompress(path.read_bytes()) if is_packed else path.read_bytes()
    is_dump = path.suffix == ".json"
    lines = content.removeprefix(b"[\n").removesuffix(b"\n]\n").splitlines()
    groups: dict[bytes, list[bytes]] = defaultdict(list)
    for line in lines:
        whole = line.removesuffix(b",") if is_dump else line
        groups[whole if is_dump else line.split(b"\t")[0].split(b" ")[0]].append(whole)
    ordered = list(groups.values())
    rng.shuffle(ordered)
    flat = [line for group in ordered for line in group]
    text = b"[\n" + b",\n".join(flat) + b"\n]\n" if is_dump else b"\n".join(flat) + b"\n"
    target = folder / path.name
    target.write_bytes(gzip.compress(text) if is_packed else text)
    return target


def why_not_spark() -> str:
    """Say why Spark cannot be tried here; nothing where it can."""
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is not installed"
    return "" if shutil.which("java") else "there is no Java"
