"""Time building knowledge graphs and reading from them: run `python -m benchmarks.knowledge`.

Dumps in the format of Wikidata are generated once into a folder (--folder) and used again. Each
build runs in a process of its own. "MB/s" is megabytes of uncompressed text per second of the
clock, "per core" per second of CPU time, which other work on the machine does not change. "memory"
is the largest resident size of the main process plus that of every worker.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

from lrlm.knowledge import KnowledgeGraph
from lrlm.knowledge.build import build_graph
from lrlm.knowledge.extract import KnowledgeFile, extract, file_parts
from lrlm.knowledge.sources import recognise
from lrlm.text_files import beginning_of
from tests.generators.wikidata import World


def dump(folder: Path, items: int, suffix: str) -> Path:
    """Generate a dump, unless it is there from an earlier run."""
    path = folder / f"wikidata-{items}{suffix}"
    if not path.is_file():
        print(f"generating {path.name} …", flush=True)
        draft = path.with_name(f"draft-{path.name}")
        world = World(items)
        (world.write_ntriples if ".nt" in suffix else world.write_json)(draft)
        draft.rename(path)
    return path


def measure(what: str, path: Path, workers: int) -> str:
    """Read or build in this process, and describe what it took."""
    source = KnowledgeFile(path, recognise(str(path), beginning_of(path)))
    size, lines = 0.0, 0
    for part, text in file_parts(path, source.format):
        size += (part.end - part.start) / 1e6
        lines += bytes(text).count(b"\n")
    before = time.process_time()
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        if what == "read":
            extract(
                [source],
                Path(folder),
                language="en",
                workers=workers,
            )
        else:
            build_graph(
                Path(folder) / "graph",
                [path],
                workers=workers,
            )
    seconds = time.perf_counter() - begin
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    children = usage[1].ru_utime + usage[1].ru_stime
    processor = time.process_time() - before + children
    memory = (usage[0].ru_maxrss + (workers > 1) * workers * usage[1].ru_maxrss) / 1e3
    return (
        f"{size:>8,.0f} MB {seconds:>7.1f} s {size / seconds:>7.0f} MB/s"
        f" {size / processor:>7.0f} per core, {lines / processor:>9,.0f} lines per core"
        f" ({processor - children:.1f} + {children:.1f} s of main and workers)"
        f" {memory:>7.0f} MB memory"
    )


def in_a_process(what: str, path: Path, workers: int) -> None:
    command = [sys.executable, "-m", "benchmarks.knowledge", "--one", what, str(path)]
    command += ["--workers", str(workers)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    load = os.getloadavg()[0]
    print(f"{what:<6} {path.name:<28} {result.stdout.strip()}   load {load:.1f}", flush=True)
    if result.returncode:
        print(result.stderr)


def ntriples(path: Path) -> None:
    """Print how many lines of N-Triples one core parses in a second."""
    from lrlm.knowledge.sources.wikidata_ntriples import NTriples
    from lrlm.knowledge.statements import Statements

    with path.open("rb") as file:
        lines = file.read(200 << 20).split(b"\n")[:-1]
    parse, statements = NTriples("en"), Statements()
    begin = time.process_time()
    parse(lines, statements)
    seconds = time.process_time() - begin
    begin = time.process_time()
    statements.to_table(block=0)
    laid_out = time.process_time() - begin
    print(
        f"N-Triples: {len(lines) / seconds:,.0f} lines per core and second,"
        f" {len(lines) / (seconds + laid_out):,.0f} with laying out in columns"
    )


def rdf(folder: Path, triples: int) -> list[Path]:
    """Generate RDF as DBpedia writes it, as N-Triples and as Turtle, unless it is there."""
    import pyoxigraph

    lines, turtle = folder / f"rdf-{triples}.nt", folder / f"rdf-{triples}.ttl"
    if not lines.is_file():
        print(f"generating {lines.name} …", flush=True)
        with lines.with_suffix(".draft").open("w", encoding="utf-8") as file:
            file.writelines(_towns(triples))
        lines.with_suffix(".draft").rename(lines)
    if not turtle.is_file():
        pyoxigraph.serialize(
            pyoxigraph.parse(path=lines, format=pyoxigraph.RdfFormat.N_TRIPLES),
            output=turtle.with_suffix(".draft"),
            format=pyoxigraph.RdfFormat.TURTLE,
            prefixes={"dbo": f"{_DBPEDIA}ontology/", "dbr": f"{_DBPEDIA}resource/"},
        )
        turtle.with_suffix(".draft").rename(turtle)
    return [lines, turtle]


_DBPEDIA = "http://dbpedia.org/"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"


def _towns(triples: int) -> Iterator[str]:
    random = Random(1)
    for number in range(triples // 10):
        town = f"<{_DBPEDIA}resource/Town_{number}>"
        yield f'{town} {_LABEL} "Town {number}"@en .\n'
        yield f'{town} {_LABEL} "Stadt {number}"@de .\n'
        for name, value in (
            ("populationTotal", f'"{random.randrange(10**6)}"^^<{_XSD}nonNegativeInteger>'),
            ("foundingDate", f'"{random.randrange(1000, 2000)}-05-17"^^<{_XSD}date>'),
            ("motto", f'"We are town \\"{number}\\" of the north."@en'),
        ):
            yield f"{town} <{_DBPEDIA}ontology/{name}> {value} .\n"
        for name in ("country", "twinTown", "twinTown", "isPartOf", "leaderParty"):
            other = random.randrange(triples // 10)
            yield f"{town} <{_DBPEDIA}ontology/{name}> <{_DBPEDIA}resource/Town_{other}> .\n"


def topics(folder: Path, path: Path) -> None:
    """Print how long it takes to get a topic, the graph opened anew or open, and to search."""
    build_graph(folder / "graph", [path], workers=os.cpu_count() or 1, overwrite=True)
    ids = list(KnowledgeGraph.open(folder / "graph"))
    size = sum(each.stat().st_size for each in (folder / "graph").iterdir()) / len(ids)
    print(f"on disk: {size:,.0f} bytes an entity, all files")
    chosen = Random(1).sample(ids, min(len(ids), 2000))
    cold, warm, search, near = [], [], [], []
    for id_ in chosen[:200]:
        _forget(folder / "graph" / "graph.sqlite")
        begin = time.perf_counter()
        with KnowledgeGraph.open(folder / "graph") as graph:
            graph.topic(id_)
            cold.append(time.perf_counter() - begin)
    with KnowledgeGraph.open(folder / "graph") as graph:
        for id_ in chosen * 2:
            begin = time.perf_counter()
            graph.topic(id_)
            warm.append(time.perf_counter() - begin)
        for id_ in chosen[:200]:
            name = graph.entity(id_).label
            begin = time.perf_counter()
            graph.search(name)
            search.append(time.perf_counter() - begin)
            begin = time.perf_counter()
            graph.search(name[:3] + name[4:])
            near.append(time.perf_counter() - begin)
    measured = {"cold": cold, "warm": warm[len(chosen) :], "search": search, "near": near}
    for name, times in measured.items():
        ordered = sorted(1000 * each for each in times)
        print(
            f"{name:<6} median {statistics.median(ordered):.3f} ms,"
            f" 99 % within {ordered[int(0.99 * len(ordered))]:.3f} ms"
        )
    shutil.rmtree(folder / "graph")


def _forget(path: Path) -> None:
    """Drop the file from the page cache, so that it must come from the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "lrlm-dumps")
    parser.add_argument("--items", type=int, default=200_000)
    parser.add_argument("--triples", type=int, default=1_000_000, help="of generated RDF")
    parser.add_argument("--only-rdf", action="store_true", help="leave out what is of Wikidata")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--one", nargs=2, metavar=("WHAT", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(measure(options.one[0], Path(options.one[1]), options.workers))
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    items, workers = options.items, options.workers
    print(f"{workers} workers, load {os.getloadavg()[0]:.1f}")
    for path in rdf(options.folder, options.triples):
        in_a_process("read", path, workers)
        in_a_process("build", path, workers)
    if options.only_rdf:
        return
    whole = dump(options.folder, items, ".json.gz")
    in_a_process("read", whole, workers)
    in_a_process("build", whole, workers)
    in_a_process("build", dump(options.folder, items // 4, ".json.gz"), workers)
    in_a_process("read", dump(options.folder, items // 4, ".json.bz2"), workers)
    triples = dump(options.folder, items // 4, ".nt")
    in_a_process("read", triples, workers)
    ntriples(triples)
    topics(options.folder, whole)


if __name__ == "__main__":
    main()
