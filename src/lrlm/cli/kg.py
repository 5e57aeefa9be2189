"""`lrlm kg`: make knowledge graphs and look at them."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from lrlm.cli.console import errors, output
from lrlm.cli.corpus import Workers, cores
from lrlm.knowledge import KnowledgeGraph
from lrlm.knowledge.build import BuildEngine, GraphBuildReport, Selection, build_graph
from lrlm.progress import Progress
from lrlm.report.topic_table import topic_table

app = typer.Typer(no_args_is_help=True, help="Make knowledge graphs and look at them.")


@app.command(epilog="Example: lrlm kg build latest-all.json.gz --out wikidata --types Q5,Q6256")
def build(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="SOURCE…",
            help="Wikidata's JSON or truthy N-Triples dump, tables of triples and of forms.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option(help="The folder to write; it must not exist yet.")],
    engine: Annotated[
        BuildEngine, typer.Option(help="Work on this machine, or on a cluster.")
    ] = BuildEngine.DUCKDB,
    master: Annotated[
        str | None,
        typer.Option(help="Spark's master, such as spark://host:7077.", show_default="local\\[*]"),
    ] = None,
    language: Annotated[str, typer.Option(help="The language of names and texts.")] = "en",
    types: Annotated[
        str | None,
        typer.Option(help="Keep topics that are instances of these, by commas: Q5,Q6256."),
    ] = None,
    topics: Annotated[
        Path | None, typer.Option(help="Keep the topics of this file: an id a line.")
    ] = None,
    titles: Annotated[
        Path | None, typer.Option(help="Ids with titles of pages, by a tab: found by both.")
    ] = None,
    instance_of: Annotated[
        str, typer.Option(help="The relation type that --types looks at.")
    ] = "P31",
    max_bad: Annotated[
        float, typer.Option(min=0, max=0.999, help="Share of a file's lines that may be bad.")
    ] = 0.001,
    keep_damaged: Annotated[
        bool, typer.Option("--keep-damaged", help="Use a truncated file up to where it ends.")
    ] = False,
    memory: Annotated[str, typer.Option(help="The most that the join may take.")] = "800MB",
    workers: Workers = cores(),  # noqa: B008
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a graph that is there.")
    ] = False,
) -> None:
    """Build a knowledge graph from files, plain or compressed (gzip, bzip2, xz).

    A build that was stopped goes on where it was when the same command is given again.
    """
    selection = Selection(
        language=language,
        types=None if types is None else tuple(sorted(_ids(types))),
        topics=topics,
        instance_of=instance_of,
    )
    start = time.perf_counter()
    with _progress() as progress:
        report = build_graph(
            out,
            sources,
            titles=titles,
            selection=selection,
            engine=engine,
            master=master,
            max_bad=max_bad,
            keep_damaged=keep_damaged,
            workers=workers,
            memory=memory,
            overwrite=overwrite,
            progress=progress,
        )
    _tell_build(report, time.perf_counter() - start)


@app.command(epilog="Example: lrlm kg show wikidata Q42, or: lrlm kg show wikidata 'douglas adams'")
def show(
    folder: Annotated[Path, typer.Argument(metavar="KG", help="A knowledge graph's folder.")],
    topic: Annotated[str, typer.Argument(metavar="ID|NAME", help="An id, or a name.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Show a topic with all its relations and the forms of their objects."""
    with KnowledgeGraph.open(folder) as graph:
        found = graph.topic(graph.find(topic).id)
        if not as_json:
            output.print(topic_table(graph, found))
            return
        relations = [
            {
                "type": relation.type,
                "label": graph.relation_label(relation.type),
                "object": relation.object,
                "forms": relation.forms,
            }
            for relation in found.relations
        ]
    content = {"id": found.id, "names": found.names, "relations": relations}
    output.print_json(json.dumps(content, ensure_ascii=False))


def _ids(given: str) -> set[str]:
    return {each.strip() for each in given.split(",")} - {""}


@contextmanager
def _progress() -> Iterator[Progress]:
    """Show what is being done, how fast and for how long still; silent when piped."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
    )
    start = time.perf_counter()
    with Bars(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bars:
        task = bars.add_task("starting", total=None, speed="")

        def tell(doing: str, done: int, total: int) -> None:
            seconds = time.perf_counter() - start
            bars.update(
                task,
                description=escape(doing),
                completed=done,
                total=total or None,
                speed=f"{done / seconds / 1e6:,.0f} MB/s" if total else "",
            )

        yield tell


def _tell_build(report: GraphBuildReport, seconds: float) -> None:
    """Say what was built, and what of the input could not be used."""
    for heading, lines in (
        ("skipped", report.examples),
        ("note", report.notes),
        ("incomplete", report.damaged),
    ):
        for line in lines:
            errors.print(f"[yellow]{heading}[/] {escape(line)}", highlight=False, soft_wrap=True)
    if report.bad_lines:
        errors.print(f"[yellow]{report.bad_lines:,} bad lines skipped[/]", highlight=False)
    for what, number in report.counts.items():
        errors.print(f"[dim]{number:>14,}  {escape(what)}[/]", highlight=False, soft_wrap=True)
    tables = report.graph.manifest["tables"]
    output.print(
        f"Wrote [bold]{escape(str(report.graph.folder))}[/]: {tables['entities']:,} entities with"
        f" {tables['names']:,} names, {tables['facts']:,} facts of {tables['relation_types']:,}"
        f" types, in {seconds:.1f} s.",
        highlight=False,
        soft_wrap=True,
    )
