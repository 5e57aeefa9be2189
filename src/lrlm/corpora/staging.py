"""Hold the input of a build on disk until all of it is checked and can be linked in order.

Facts, names and articles wait in an embedded database within a memory limit, so neither the number
of articles nor the size of the tables is bounded by memory. A knowledge graph is on disk already:
its topics are looked up when their articles are linked.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from lrlm.corpora.articles import Article
from lrlm.corpora.columns import GOLD
from lrlm.corpora.corpus import SPLITS
from lrlm.errors import InputError, LrlmError
from lrlm.knowledge import KnowledgeGraph

_SAMPLED_ARTICLES = 200
_TEXT, _PLACE = pa.string(), pa.int64()
_TABLES = {
    "facts": pa.schema({"subject": _TEXT, "type": _TEXT, "object": _TEXT, "literal": pa.bool_()}),
    "forms": pa.schema({"place": _PLACE, "entity": _TEXT, "form": _TEXT}),
    "articles": pa.schema(
        {
            "split": pa.uint8(),
            "place": _PLACE,
            "id": _TEXT,
            "topic": _TEXT,
            "title": _TEXT,
            "text": _TEXT,
            "gold": pa.list_(GOLD),
            "file": pa.int32(),
            "line": _PLACE,
        }
    ),
}
_ROWS_STREAMED = 4096
_ROWS_AT_ONCE = {"facts": 16_384, "forms": 16_384, "articles": 1024}


class Staging:
    """A scratch database that is filled once and then read once, in order.

    It may be filled in any number of small steps: rows wait here until there are many.
    """

    def __init__(self, folder: Path, *, memory: str, threads: int) -> None:
        if "?" in str(folder):  # DuckDB takes what follows for options
            raise InputError("choose a folder for the corpus without a question mark in its path")
        self._database = duckdb.connect(
            str(folder / "join.duckdb"),
            config={
                "memory_limit": memory,
                "threads": threads,
                "temp_directory": str(folder / "spill"),
                "preserve_insertion_order": False,  # every order is explicit: see `place`
            },
        )
        for table, schema in _TABLES.items():
            self._database.from_arrow(schema.empty_table()).create(table)
        self._waiting: dict[str, list[tuple[object, ...]]] = {table: [] for table in _TABLES}
        self._names = 0
        self._articles = 0
        self._files: list[Path] = []
        self.graph: KnowledgeGraph | None = None
        """Where topics are looked up, if they are not joined from facts and names."""
        self.sample: list[str] = []
        """The first articles' texts, from which the profile is found."""

    def close(self) -> None:
        """Let go of the files, so that their folder can be removed."""
        self._database.close()

    def add_fact(self, subject: str, type_: str, object_: str, literal: bool) -> None:
        """Take in a fact; the order of facts does not matter."""
        self._add("facts", (subject, type_, object_, literal))

    def add_form(self, entity: str, form: str) -> None:
        """Take in a name of an entity; an entity's first name is its canonical one."""
        self._add("forms", (self._names, entity, form))
        self._names += 1

    def take_topics_from(self, graph: KnowledgeGraph) -> None:
        """Look topics up in a graph, instead of joining them from facts and names."""
        self.graph = graph

    def add_article(
        self, split: str, article: Article, *, origin: tuple[Path, int] | None = None
    ) -> None:
        """Take in an article of a split, and its file and line; the corpus keeps their order."""
        if len(self.sample) < _SAMPLED_ARTICLES:
            self.sample.append(article.text)
        file, line = self._file_number(origin[0]) if origin else None, origin[1] if origin else None
        self._add("articles", (SPLITS.index(split), self._articles, *article, file, line))
        self._articles += 1

    def _file_number(self, path: Path) -> int:
        if not self._files or self._files[-1] != path:
            self._files.append(path)
        return len(self._files) - 1

    def finish(self) -> None:
        """Write the rows that still wait, so that the database can be queried."""
        for table in self._waiting:
            self._insert(table)

    def _add(self, table: str, row: tuple[object, ...]) -> None:
        self._waiting[table].append(row)
        if len(self._waiting[table]) >= _ROWS_AT_ONCE[table]:
            self._insert(table)

    def _insert(self, table: str) -> None:
        if rows := self._waiting[table]:
            schema = _TABLES[table]
            columns = [
                pa.array(column, field.type)
                for column, field in zip(zip(*rows, strict=True), schema, strict=True)
            ]
            self._database.register("chunk", pa.Table.from_arrays(columns, schema=schema))
            self._database.execute(f"INSERT INTO {table} BY NAME SELECT * FROM chunk")  # noqa: S608
            self._database.unregister("chunk")
            rows.clear()

    def drop_shared_topics(self) -> int:
        """Leave out articles whose topic is also in a later split; give how many were left out."""
        left_out = self._ask(
            """
            DELETE FROM articles WHERE EXISTS (
                FROM articles AS later
                WHERE later.topic = articles.topic AND later.split > articles.split
            )
            """
        )
        return left_out[0]

    def check_articles(self) -> None:
        """Refuse two articles with one id, and splits that share a topic."""
        repeated = self._first_few(
            "SELECT id, list(file ORDER BY place), list(line ORDER BY place)"
            " FROM articles GROUP BY id HAVING count(*) > 1 ORDER BY id"
        )
        if repeated:
            raise InputError(f"more than one article has the id {repeated}")
        shared = self._first_few(
            "SELECT topic FROM articles GROUP BY topic HAVING count(DISTINCT split) > 1"
            " ORDER BY topic"
        )
        if shared:
            raise InputError(
                "train, valid and test must not share topics, or scores would be of what was"
                f" learned by heart; these are in more than one: {shared}"
            )

    def _first_few(self, query: str, few: int = 5) -> str:
        """Name the first ids that a query finds, with files and lines where it gives those too."""
        rows = self._database.execute(query).fetchall()
        more = f" and {len(rows) - few:,} more" if len(rows) > few else ""
        return ", ".join(repr(id_) + self._origins(*at) for id_, *at in rows[:few]) + more

    def _origins(self, files: Sequence[int | None] = (), lines: Sequence[int | None] = ()) -> str:
        """Say where the first two articles of an id are."""
        places = [
            f"{self._files[file]}:{line}"
            for file, line in zip(files[:2], lines[:2], strict=True)
            if file is not None
        ]
        return f" ({' and '.join(places)})" if places else ""

    def count_articles(self) -> int:
        """Give the number of articles that will be linked."""
        return self._ask("SELECT count(*) FROM articles")[0]

    def count_facts(self) -> dict[str, int]:
        """Say what becomes of the facts that were taken in: used, or why not."""
        read, different, relevant, nameless = self._ask(
            """
            WITH about AS (SELECT DISTINCT topic FROM articles),
                 named AS (SELECT DISTINCT entity FROM forms),
                 different AS (
                    SELECT subject, type, object, bool_or(literal) AS literal
                    FROM facts GROUP BY subject, type, object
                 ),
                 relevant AS (SELECT * FROM different WHERE subject IN (SELECT topic FROM about))
            SELECT (SELECT count(*) FROM facts),
                   (SELECT count(*) FROM different),
                   (SELECT count(*) FROM relevant),
                   (SELECT count(*) FROM relevant
                    WHERE NOT literal AND object NOT IN (SELECT entity FROM named))
            """
        )
        return {
            "read": read,
            "repeated": read - different,
            "of_topics_without_an_article": different - relevant,
            "whose_object_has_no_form": nameless,
            "used": relevant - nameless,
        }

    def rows(self, batch_size: int) -> Iterator[pa.RecordBatch]:
        """Give the articles in order, ready to be linked.

        Without a graph, each comes with its topic's `names` and `relations`. The relations of a
        topic are sorted, so that the order of the triples does not matter. A fact that is given
        both as an entity with forms and as a literal is one fact, the entity. With a graph, one
        article of each topic `is_counted`, so that its facts are counted once.
        """
        if self.graph is None:
            self._database.execute(_JOIN)
        query = _WITH_TOPICS if self.graph is None else _WITHOUT_TOPICS
        yield from self._database.sql(query).to_arrow_reader(batch_size)

    def ask(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a query on the tables of facts, forms and articles; give all its rows."""
        rows: list[tuple[Any, ...]] = self._database.execute(query, values).fetchall()
        return rows

    def stream(self, query: str) -> Iterator[tuple[Any, ...]]:
        """Run a query as `ask` does, but hold only some of its rows at a time."""
        with self._database.cursor() as cursor:
            cursor.execute(query)
            while rows := cursor.fetchmany(_ROWS_STREAMED):
                yield from rows

    def _ask(self, query: str) -> tuple[int, ...]:
        (row,) = self.ask(query)
        return tuple(map(int, row))


_JOIN = """
    CREATE TABLE names AS
        SELECT entity, list(form ORDER BY place) AS forms FROM forms GROUP BY entity;
    CREATE TABLE stars AS
        SELECT subject, list(
            {type: type, object: object, literal: literal, forms: forms}
            ORDER BY type, object
        ) AS relations
        FROM (
            SELECT subject, type, object,
                   bool_and(literal) AS literal, any_value(forms) AS forms
            FROM facts
            LEFT JOIN names ON NOT literal AND entity = object
            WHERE subject IN (SELECT topic FROM articles)
              AND (literal OR forms IS NOT NULL)
            GROUP BY subject, type, object
        ) AS different
        GROUP BY subject;
"""
_WITH_TOPICS = """
    SELECT split, id, topic, title, text, gold, forms AS names, relations
    FROM articles
    LEFT JOIN names ON entity = topic
    LEFT JOIN stars ON subject = topic
    ORDER BY split, place
"""
_WITHOUT_TOPICS = """
    SELECT split, id, topic, title, text, gold,
           place IN (SELECT min(place) FROM articles GROUP BY topic) AS is_counted
    FROM articles
    ORDER BY split, place
"""


@contextmanager
def staging_in(folder: Path, *, memory: str, threads: int) -> Iterator[Staging]:
    """Open a scratch database in a folder; its own troubles become errors of this library."""
    try:
        staging = Staging(folder, memory=memory, threads=threads)
        try:
            yield staging
        finally:
            staging.close()
    except duckdb.Error as error:
        message = " ".join(str(error).split())
        raise LrlmError(f"joining articles with the graph failed: {message}") from error
