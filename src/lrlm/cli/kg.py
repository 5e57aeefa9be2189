"""`lrlm kg`: build knowledge graphs and look at them."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from lrlm.cli.console import errors, output, print_json, progress_of
from lrlm.cli.options import Device, MaxBad, MaxUnknown, OutputFile, Workers, cores
from lrlm.cli.outputs import (
    STREAM,
    check_writable,
    is_stream,
    tell_bad_lines,
    tell_warnings,
    write_out,
)
from lrlm.knowledge import KnowledgeGraph
from lrlm.knowledge.build import BuildEngine, GraphBuildReport, Selection, build_graph
from lrlm.knowledge.doubts import MAX_UNKNOWN
from lrlm.knowledge.paths import MOST_HOPS, MOST_RELATIONS
from lrlm.knowledge.sources.addresses import NAME_PREDICATES, NamePredicates
from lrlm.look import counted
from lrlm.progress import Progress
from lrlm.report.corpus_views import topic_table
from lrlm.text_files import BadLines, raw_lines, stream_lines

if TYPE_CHECKING:
    from lrlm.checking.findings import CheckedText

app = typer.Typer(
    no_args_is_help=True,
    help="Build knowledge graphs and look at them.",
    epilog="Example: lrlm kg build my.ttl --out graph",
)


@app.command(epilog="Example: lrlm kg build latest-all.json.gz --out wikidata --types Q5,Q6256")
def build(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="SOURCE…",
            help="RDF (Turtle, TriG, N-Triples, N-Quads, RDF/XML, JSON-LD), Wikidata's JSON dump or"
            " its truthy N-Triples dump, or tables (CSV, TSV, Parquet) of triples, of surface"
            " forms, or with a row for each entity.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder to create for the graph.")],
    engine: Annotated[
        BuildEngine, typer.Option(help="duckdb: build on this machine; spark: on a cluster.")
    ] = BuildEngine.DUCKDB,
    master: Annotated[
        str | None,
        typer.Option(
            help="Address of the Spark master, such as spark://host:7077.", show_default="local[*]"
        ),
    ] = None,
    language: Annotated[str, typer.Option(help="Language of the names to keep.")] = "en",
    types: Annotated[
        str | None,
        typer.Option(
            help="Keep only topics that are instances of these types: ids separated by commas,"
            " such as Q5,Q6256."
        ),
    ] = None,
    topics: Annotated[
        Path | None, typer.Option(help="Keep only the topics listed in this file, one id per line.")
    ] = None,
    wide: Annotated[
        list[Path] | None,
        typer.Option(
            help="Table with a row for each entity and a column for each relation, where the header"
            " does not tell; may be given several times."
        ),
    ] = None,
    ids_as_names: Annotated[
        bool,
        typer.Option(
            "--ids-as-names", help="Call entities of tables that have no name by their id."
        ),
    ] = False,
    titles: Annotated[
        Path | None,
        typer.Option(
            help="Tab-separated file of ids and page titles; entities are then found by title too."
        ),
    ] = None,
    instance_of: Annotated[
        str,
        typer.Option(
            help="Relation type that leads to the types of --types; in RDF also rdf:type."
        ),
    ] = "P31",
    labels: Annotated[
        str,
        typer.Option(help="Predicates of RDF that say what something is called, the best first."),
    ] = ",".join(NAME_PREDICATES.labels),
    aliases: Annotated[
        str, typer.Option(help="Predicates of RDF that give other names.")
    ] = ",".join(NAME_PREDICATES.aliases),
    max_bad: MaxBad = 0.001,
    max_unknown: MaxUnknown = MAX_UNKNOWN,
    keep_damaged: Annotated[
        bool,
        typer.Option("--keep-damaged", help="Use a truncated or damaged file up to the damage."),
    ] = False,
    memory: Annotated[str, typer.Option(help="Memory limit of the join.")] = "800MB",
    workers: Workers = cores(),  # noqa: B008
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the graph if the folder already holds one.")
    ] = False,
) -> None:
    """Build a knowledge graph from files, plain or compressed (gzip, bzip2, xz).

    A build that was stopped continues where it was when the same command is given again.
    """
    selection = Selection(
        language=language,
        types=None if types is None else tuple(sorted(_ids(types))),
        topics=topics,
        instance_of=instance_of,
        names=NamePredicates(_listed(labels), _listed(aliases)),
    )
    start = time.perf_counter()
    with progress_of("bytes") as progress:
        report = build_graph(
            out,
            sources,
            wide=wide or (),
            titles=titles,
            ids_as_names=ids_as_names,
            selection=selection,
            engine=engine,
            master=master,
            max_bad=max_bad,
            max_unknown=max_unknown,
            keep_damaged=keep_damaged,
            workers=workers,
            memory=memory,
            overwrite=overwrite,
            progress=progress,
        )
    _tell_build(report, time.perf_counter() - start)


@app.command(epilog="Example: lrlm kg show wikidata Q42, or: lrlm kg show wikidata 'douglas adams'")
def show(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="KG", help="Folder of a knowledge graph, made with 'lrlm kg build'."
        ),
    ],
    topic: Annotated[str, typer.Argument(metavar="ID|NAME", help="Id or name of an entity.")],
    hops: Annotated[
        int,
        typer.Option(min=1, max=MOST_HOPS, help="Number of steps that facts are followed."),
    ] = 1,
    inverse: Annotated[
        bool,
        typer.Option("--inverse", help="Follow facts also from their object to their subject."),
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Largest number of relations, the nearest first.",
            show_default=f"all; {MOST_RELATIONS:,} with --hops or --inverse",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Show an entity with all its relations and the surface forms of their objects.

    With --json, what is printed can be given as a topic to other commands.
    """
    with KnowledgeGraph.open(folder) as graph:
        found = graph.topic(graph.find(topic).id, hops=hops, limit=limit, inverse=inverse)
        if not as_json:
            output.print(topic_table(found))
            return
        relations = [
            {
                "type": relation.type,
                "label": relation.label,
                "object": relation.object,
                "forms": relation.forms,
            }
            for relation in found.relations
        ]
    content = {"id": found.id, "names": found.names, "relations": relations}
    print_json(content)


@app.command(epilog="Example: lrlm kg suggest runs/lrlm texts.jsonl --graph kg --out new.jsonl")
def suggest(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="Folder of a trained model.", show_default=False)
    ],
    texts: Annotated[
        str,
        typer.Argument(
            metavar="TEXTS.jsonl|-",
            help="Texts with their topics, one JSON object per line, as for lrlm annotate --jsonl.",
            show_default=False,
        ),
    ],
    graph: Annotated[
        Path, typer.Option(metavar="KG", help="Knowledge graph that the facts are new to.")
    ],
    out: OutputFile = None,
    ntriples: Annotated[
        Path | None,
        typer.Option(metavar="F.nt", help="Also write the facts as N-Triples to this file."),
    ] = None,
    threshold: Annotated[
        float, typer.Option(min=0, max=1, help="Take findings with at least this probability.")
    ] = 0.5,
    max_bad: MaxBad = 0.001,
    device: Device = "auto",
) -> None:
    """Suggest facts that texts state and a graph does not have, with their evidence.

    The texts are taken to be right, and the graph to lack facts. One line of JSON per fact, the
    most probable first: the triple, its probability over all texts, and the places that state it. A
    person should look before the graph believes them.
    """
    check_writable([each for each in (out, ntriples) if each is not None and not is_stream(each)])

    from lrlm.annotation.jsonl import LineLinker
    from lrlm.checking.many import check_lines, checker_for
    from lrlm.checking.suggesting import suggestions
    from lrlm.model import load
    from lrlm.runs.topics import topics_for

    where = Path("standard input" if texts == STREAM else texts)
    lines = stream_lines(sys.stdin.buffer, where) if texts == STREAM else raw_lines(where)
    bad_lines = BadLines(max_share=max_bad)
    with progress_of("texts") as progress:
        progress("loading the model", 0, 0)
        model = load(run, device=device)
        with KnowledgeGraph.open(graph) as opened:
            progress("counting types of facts", 0, 0)
            checker = checker_for(model.run, opened, threshold=threshold, trust="text")
            linker = LineLinker(model.run, topics_for(model.run, graph=graph))
            results = check_lines(lines, linker, checker, bad_lines, where=where)
            found = suggestions(_counted(results, progress))
    if ntriples is not None:
        write_out("".join(f"{each.to_ntriples()}\n" for each in found), ntriples)
    write_out("".join(f"{each.to_json()}\n" for each in found), out)
    errors.print(f"Found {counted(len(found), 'new fact')}.", highlight=False)
    tell_bad_lines(bad_lines.examples, bad_lines.count)


def _counted(results: "Iterator[CheckedText]", progress: Progress) -> "Iterator[CheckedText]":
    for done, checked in enumerate(results, start=1):
        progress("checking", done, 0)
        yield checked


def _ids(given: str) -> set[str]:
    return set(_listed(given))


def _listed(given: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in given.split(",") if each.strip())


def _tell_build(report: GraphBuildReport, seconds: float) -> None:
    """Say what was built, and what of the input could not be used."""
    tell_bad_lines(report.examples, report.bad_lines)
    for heading, lines in (
        ("note:", report.notes),
        ("incomplete:", report.damaged),
    ):
        for line in lines:
            errors.print(f"[yellow]{heading}[/] {escape(line)}", highlight=False, soft_wrap=True)
    for what, number in report.counts.items():
        errors.print(f"[dim]{number:>14,}  {escape(what)}[/]", highlight=False, soft_wrap=True)
    tell_warnings(report.warnings)
    tables = report.graph.manifest["tables"]
    output.print(
        f"Wrote [bold]{escape(str(report.graph.folder))}[/]:"
        f" {counted(tables['entities'], 'entity', 'entities')} with"
        f" {counted(tables['names'], 'name')}, {counted(tables['facts'], 'fact')} of"
        f" {counted(tables['relation_types'], 'type')}, in {seconds:.1f} s.",
        highlight=False,
        soft_wrap=True,
    )
