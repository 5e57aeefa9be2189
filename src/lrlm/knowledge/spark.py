"""Make the tables of a graph with Spark, on a cluster: the other engine of the build.

Spark reads the files, runs the same parser on their lines and the same SQL on the statements. It
leaves each table as a folder of Parquet; sorting those into the graph's own files is not done
here, so a graph is the same to the byte whichever engine made its tables.

The folder of the graph must be one that all machines see, and lrlm must be installed on them.
"""

from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from lrlm.errors import FormatError, InputError
from lrlm.knowledge.extract import Extracted, KnowledgeFile
from lrlm.knowledge.join import VIEWS, Subset, counts_query, join_steps
from lrlm.knowledge.sources import DOCUMENTS, RDF, SourceFormat, parser_of
from lrlm.knowledge.sources.addresses import NAME_PREDICATES, NamePredicates
from lrlm.knowledge.sources.tables import TableLayout
from lrlm.knowledge.statements import StatementKind, Statements
from lrlm.parquet_lines import is_parquet
from lrlm.progress import Progress, silent
from lrlm.spark_session import spark_session
from lrlm.text_files import BadLines, Compression

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

_COLUMNS = (
    "source INT, block BIGINT, row BIGINT, kind TINYINT,"
    " subject STRING, type STRING, object STRING, unit STRING"
)
_SUFFIXES = {Compression.GZIP: ".gz", Compression.BZIP2: ".bz2"}
"""Spark recognises a compressed file by the ending of its name, and others not at all."""


def join_with_spark(
    sources: list[KnowledgeFile],
    folder: Path,
    *,
    language: str,
    names: NamePredicates = NAME_PREDICATES,
    subset: Subset,
    master: str | None = None,
    max_bad: float = 0.001,
    progress: Progress = silent,
) -> Extracted:
    """Make the tables of a graph in `folder`, each a folder of Parquet."""
    for source in sources:
        _check_name(source.path)
        if source.format in DOCUMENTS:
            raise InputError(
                f"{source.path}: a cluster cannot share the reading of {source.format}; convert it"
                " to N-Triples or N-Quads, or build on one machine"
            )
    is_rdf = any(source.format in RDF for source in sources)
    with spark_session(master, "lrlm kg build") as spark:
        progress("reading with Spark", 0, 0)
        statements = None
        for number, source in enumerate(sources):
            read = _statements(spark, number, source, (language, names))
            statements = read if statements is None else statements.unionAll(read)
        assert statements is not None
        _keep(spark, "statements", statements, folder)
        bad_lines = _check_lines(spark, sources, max_bad)
        for table, ids in (("wanted_topics", subset.topics), ("wanted_types", subset.types)):
            rows = [(each,) for each in sorted(set(ids or ()))]
            spark.createDataFrame(rows, "id STRING").createOrReplaceTempView(table)
        for name, query in join_steps(subset, is_rdf=is_rdf):
            progress(f"making {name.replace('_', ' ')} with Spark", 0, 0)
            if name in VIEWS:
                spark.sql(query).createOrReplaceTempView(name)
            else:
                _keep(spark, name, spark.sql(query), folder)
        counts = {row[0]: int(row[1]) for row in spark.sql(counts_query(is_rdf=is_rdf)).collect()}
    return Extracted(bad_lines, counts=dict(sorted(counts.items())))


def _check_name(path: Path) -> None:
    if is_parquet(path):
        raise InputError(f"{path}: the Spark engine reads tables as text, not as Parquet")
    compression = Compression.of(path)
    suffix = _SUFFIXES.get(compression) if compression else path.suffix
    if path.suffix != suffix:
        remedy = f"rename it so that it ends with {suffix}" if suffix else "use gzip or bzip2"
        raise InputError(f"{path}: Spark does not see that this file is compressed; {remedy}")


def _keep(spark: "SparkSession", name: str, table: "DataFrame", folder: Path) -> None:
    """Store a table, and go on from what is stored."""
    place = (folder / name).absolute().as_uri()
    table.write.parquet(place)
    spark.read.schema(table.schema).parquet(place).createOrReplaceTempView(name)


def _statements(
    spark: "SparkSession", number: int, source: KnowledgeFile, wanted: tuple[str, NamePredicates]
) -> "DataFrame":
    """Give the statements of a file; lines keep their order by block, and within it by row."""
    lines = spark.read.option("lineSep", "\n").text(source.path.absolute().as_uri())
    lines = lines.selectExpr("CAST(value AS BINARY) AS line", "_metadata.file_block_start AS block")
    parse = partial(_parse, number, source.format, source.layout, wanted)
    return lines.mapInArrow(parse, _COLUMNS)


_parser = lru_cache(maxsize=4)(parser_of)


def _parse(
    number: int,
    format: SourceFormat,  # noqa: A002
    layout: TableLayout | None,
    wanted: tuple[str, NamePredicates],
    batches: Iterator["pa.RecordBatch"],
) -> Iterator["pa.RecordBatch"]:
    """Parse the lines of a task, on the machine that Spark gives it to."""
    import pyarrow.compute as pc

    row = 0
    for batch in batches:
        for block in pc.unique(batch["block"]).to_pylist():
            of_block = batch.filter(pc.equal(batch["block"], block))
            statements = Statements(number)
            lines = of_block["line"].to_pylist()
            _parser(format, *wanted, layout)(lines, statements)
            statements.counts["lines"] += len(lines)
            rows = len(statements.rows)
            table = statements.to_table(block=block, first_row=row)
            row += rows
            yield from table.to_batches()


def _check_lines(spark: "SparkSession", sources: list[KnowledgeFile], max_bad: float) -> BadLines:
    """Count bad lines; stop if a file has more of them than is allowed, or no lines at all.

    Machines that read a file from its middle do not know the number of a line.
    """
    bad_lines = BadLines(max_bad)
    rows = spark.sql(
        f"""
        SELECT source, sum(CASE WHEN kind = {StatementKind.BAD} THEN 1 ELSE 0 END) AS bad,
            sum(CASE WHEN kind = {StatementKind.COUNT} AND subject = 'lines' THEN row ELSE 0 END)
                AS lines
        FROM statements GROUP BY source
        """  # noqa: S608
    ).collect()
    found = {row["source"]: (row["bad"], row["lines"]) for row in rows}
    for number, source in enumerate(sources):
        bad, lines = found.get(number, (0, 0))
        if not lines:
            raise FormatError(f"{source.path} is empty")
        examples = (
            spark.sql(
                f"""
            SELECT block, subject FROM statements
            WHERE kind = {StatementKind.BAD} AND source = {number}
            ORDER BY block, row, subject LIMIT 5
            """  # noqa: S608
            ).collect()
            if bad
            else []
        )
        for block, reason in examples:
            bad_lines.examples.append(f"{source.path}: after byte {block:,}: {reason}")
        bad_lines.count += bad
        bad_lines.check(source.path, bad, lines)
    return bad_lines
