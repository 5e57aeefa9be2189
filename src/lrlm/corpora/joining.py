"""Checked facts, forms and articles in; articles with their topics' stars out, in input order.

The join runs in an embedded database on disk within a memory limit, so neither the number of
articles nor the size of the graph is bounded by memory.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa

from lrlm.corpora.corpus import SPLITS
from lrlm.corpora.inputs import Article, FactRow, FormRow
from lrlm.errors import InputError, LrlmError

_ROWS_AT_ONCE = {"facts": 16_384, "forms": 16_384, "articles": 1024}
_SAMPLED_ARTICLES = 200
_TABLES = """
    CREATE TABLE facts (subject VARCHAR, type VARCHAR, object VARCHAR, literal BOOLEAN);
    CREATE TABLE forms (place BIGINT, entity VARCHAR, form VARCHAR);
    CREATE TABLE articles (
        split UTINYINT, place BIGINT,
        id VARCHAR, topic VARCHAR, title VARCHAR, text VARCHAR, gold VARCHAR
    );
"""
_COLUMNS = {
    "facts": FactRow._fields,
    "forms": ("place", *FormRow._fields),
    "articles": ("split", "place", *Article._fields),
}


class Join:
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
        self._database.execute(_TABLES)
        self._waiting: dict[str, list[tuple[object, ...]]] = {name: [] for name in _ROWS_AT_ONCE}
        self._names = 0
        self._articles = 0
        self.sample: list[str] = []
        """The first articles' texts, from which the profile is found."""

    def close(self) -> None:
        """Let go of the files, so that their folder can be removed."""
        self._database.close()

    def add_facts(self, facts: Iterable[FactRow]) -> None:
        """Take in a graph's facts, in any order."""
        for fact in facts:
            self._add("facts", fact)

    def add_forms(self, forms: Iterable[FormRow]) -> None:
        """Take in the names of entities; their order counts."""
        for form in forms:
            self._add("forms", (self._names, *form))
            self._names += 1

    def add_articles(self, split: str, articles: Iterable[Article]) -> None:
        """Take in articles of a split; their order is that of the corpus."""
        number = SPLITS.index(split)
        for article in articles:
            if len(self.sample) < _SAMPLED_ARTICLES:
                self.sample.append(article.text)
            self._add("articles", (number, self._articles, *article))
            self._articles += 1

    def finish(self) -> None:
        """Say that everything is in: the database may now be asked."""
        for table in self._waiting:
            self._insert(table)

    def _add(self, table: str, row: tuple[object, ...]) -> None:
        self._waiting[table].append(row)
        if len(self._waiting[table]) >= _ROWS_AT_ONCE[table]:
            self._insert(table)

    def _insert(self, table: str) -> None:
        if rows := self._waiting[table]:
            arrays = [pa.array(column) for column in zip(*rows, strict=True)]
            self._database.register("chunk", pa.table(arrays, names=_COLUMNS[table]))
            self._database.execute(f"INSERT INTO {table} BY NAME SELECT * FROM chunk")  # noqa: S608
            self._database.unregister("chunk")
            rows.clear()

    def drop_shared_topics(self) -> int:
        """Leave out articles whose topic is also in a later split; give how many were left out."""
        left_out = self._database.execute(
            """
            DELETE FROM articles WHERE EXISTS (
                FROM articles AS later
                WHERE later.topic = articles.topic AND later.split > articles.split
            )
            """
        ).fetchone()
        assert left_out is not None
        return int(left_out[0])

    def check_articles(self) -> None:
        """Refuse two articles with one id, and splits that share a topic."""
        repeated = self._first_few(
            "SELECT id FROM articles GROUP BY id HAVING count(*) > 1 ORDER BY id"
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
        names = [row[0] for row in self._database.execute(query).fetchall()]
        more = f" and {len(names) - few:,} more" if len(names) > few else ""
        return ", ".join(repr(name) for name in names[:few]) + more

    def count_facts(self) -> dict[str, int]:
        """Say what becomes of the facts: used, or why not."""
        row = self._database.execute(
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
        ).fetchone()
        assert row is not None
        read, different, relevant, nameless = row
        return {
            "read": read,
            "repeated": read - different,
            "of_topics_without_an_article": different - relevant,
            "whose_object_has_no_form": nameless,
            "used": relevant - nameless,
        }

    def rows(self, batch_size: int) -> Iterator[pa.RecordBatch]:
        """Give the articles in order, each with its topic's names and relations.

        The relations of a topic are sorted, so that the order of the triples does not matter. A
        fact that is given both as an entity with forms and as a literal is one fact, the entity.
        """
        self._database.execute(
            """
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
        )
        reader = self._database.sql(
            """
            SELECT split, id, topic, title, text, gold, forms AS names, relations
            FROM articles
            LEFT JOIN names ON entity = topic
            LEFT JOIN stars ON subject = topic
            ORDER BY split, place
            """
        ).to_arrow_reader(batch_size)
        yield from reader


@contextmanager
def join_in(folder: Path, *, memory: str, threads: int) -> Iterator[Join]:
    """Open a scratch database in a folder; its own troubles become errors of this library."""
    try:
        join = Join(folder, memory=memory, threads=threads)
        try:
            yield join
        finally:
            join.close()
    except duckdb.Error as error:
        message = " ".join(str(error).split())
        raise LrlmError(f"joining articles with the graph failed: {message}") from error
