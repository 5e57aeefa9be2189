"""Statements in; entities, names, relation types and facts out: SQL that two engines run.

The text holds to what DuckDB and Spark understand alike. Every order is explicit, so the rows do
not depend on the engine, its threads or machines.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lrlm.knowledge.sources.ntriples import USED_DATATYPES
from lrlm.knowledge.statements import FIRST_NAME, LAST_FACT, LAST_NAME, Kind

RESULTS = {
    "entities": "id",
    "names": "entity, place",
    "relation_types": "id",
    "facts": "subject, type, object, kind, unit",
}
"""The tables that make up a graph, and the order of their rows."""

VIEWS = {"topic_facts"}
"""What is too simple to be worth keeping: it is worked out where it is used."""


@dataclass(frozen=True)
class Subset:
    """Which topics are kept, with the names of their objects; all of them where it is None."""

    topics: Sequence[str] | None = None
    """These."""
    types: Sequence[str] | None = None
    """Those that are instances of one of these."""
    instance_of: str = "P31"
    """The relation type that says so."""


def steps(subset: Subset) -> Iterator[tuple[str, str]]:
    """Give the tables to make from `statements`, in order, each with its query.

    The ids of the subset are expected in tables `wanted_topics (id)` and `wanted_types (id)`.
    """
    by_topics, by_types = subset.topics is not None, subset.types is not None
    yield from _redirects()
    used = ", ".join(f"'{datatype}'" for datatype in USED_DATATYPES)
    yield (
        "unused_types",
        f"""
        SELECT DISTINCT subject AS type FROM statements
        WHERE kind = {Kind.DATATYPE} AND object NOT IN ({used})
        """,  # noqa: S608
    )
    yield (
        "all_names",
        f"""
        SELECT entity, name, kind = {Kind.TITLE} AS title,
            CAST(row_number() OVER (
                PARTITION BY entity ORDER BY kind, source, block, row
            ) - 1 AS INTEGER) AS place
        FROM (
            SELECT subject AS entity, object AS name, kind, source, block, row,
                row_number() OVER (
                    PARTITION BY subject, object ORDER BY kind, source, block, row
                ) AS copy
            FROM statements WHERE kind BETWEEN {FIRST_NAME} AND {LAST_NAME}
        ) AS numbered
        WHERE copy = 1
        """,  # noqa: S608
    )
    yield (
        "all_facts",
        f"""
        SELECT DISTINCT
            coalesce(subjects.new, subject) AS subject, type,
            CASE WHEN kind = {Kind.ENTITY} THEN coalesce(objects.new, object) ELSE object END
                AS object,
            kind, coalesce(units.new, unit) AS unit
        FROM statements
        LEFT JOIN redirects AS subjects ON subjects.old = subject
        LEFT JOIN redirects AS objects ON kind = {Kind.ENTITY} AND objects.old = object
        LEFT JOIN unit_redirects AS units ON units.old = unit
        WHERE kind <= {LAST_FACT} AND type NOT IN (SELECT type FROM unused_types)
        """,  # noqa: S608
    )
    yield (
        "topic_facts",
        f"SELECT * FROM all_facts {_of_wanted_topics(subset)}",  # noqa: S608
    )
    yield (
        "facts",
        f"""
        SELECT subject, type, object, kind, unit FROM topic_facts
        WHERE kind <> {Kind.ENTITY} OR object IN (SELECT entity FROM all_names)
        """,  # noqa: S608
    )
    is_subset = by_topics or by_types
    yield (
        "entity_ids",
        f"""
        SELECT subject AS id FROM facts
        UNION
        SELECT object AS id FROM facts WHERE kind = {Kind.ENTITY}
        UNION
        SELECT unit AS id FROM facts
        WHERE unit IS NOT NULL AND unit IN (SELECT entity FROM all_names)
        """  # noqa: S608
        + (" UNION SELECT entity AS id FROM all_names" if not is_subset else "")
        + (_NAMED_TOPICS if by_topics and not by_types else ""),
    )
    yield (
        "names",
        """
        SELECT entity, place, name, title FROM all_names
        WHERE entity IN (SELECT id FROM entity_ids)
        """,
    )
    yield (
        "entities",
        """
        SELECT id, name AS label, coalesce(number, 0) AS facts
        FROM entity_ids
        LEFT JOIN names ON entity = id AND place = 0
        LEFT JOIN (
            SELECT subject, CAST(count(*) AS INTEGER) AS number FROM facts GROUP BY subject
        ) AS counted ON subject = id
        """,
    )
    yield (
        "relation_types",
        f"""
        SELECT type AS id, coalesce(label, type) AS label, number AS facts
        FROM (
            SELECT type, CAST(count(*) AS BIGINT) AS number FROM facts GROUP BY type
        ) AS used
        LEFT JOIN (
            SELECT subject, object AS label, row_number() OVER (
                PARTITION BY subject ORDER BY source, block, row
            ) AS copy
            FROM statements WHERE kind = {Kind.TYPE_LABEL}
        ) AS labels ON subject = type AND copy = 1
        """,  # noqa: S608
    )


def _redirects() -> Iterator[tuple[str, str]]:
    """Follow each old id to its last one, twice as many steps with every table.

    What has no end after 16 steps goes in a circle, or into one, and is dropped.
    """
    yield (
        "redirects_within_1",
        f"""
        SELECT subject AS old, min(object) AS new FROM statements
        WHERE kind = {Kind.REDIRECT} AND subject <> object GROUP BY subject
        """,  # noqa: S608
    )
    for number in (1, 2, 4, 8):
        yield (
            f"redirects_within_{2 * number}",
            f"""
            SELECT near.old AS old, coalesce(far.new, near.new) AS new
            FROM redirects_within_{number} AS near
            LEFT JOIN redirects_within_{number} AS far ON far.old = near.new
            """,  # noqa: S608
        )
    yield (
        "redirects",
        """
        SELECT followed.old AS old, followed.new AS new FROM redirects_within_16 AS followed
        LEFT JOIN redirects_within_1 AS further ON further.old = followed.new
        WHERE further.old IS NULL
        """,
    )
    yield (  # a small table, for there are few units: joining all facts with it is cheap
        "unit_redirects",
        """
        SELECT old, new FROM redirects
        WHERE old IN (SELECT unit FROM statements WHERE unit IS NOT NULL)
        """,
    )


_NAMED_TOPICS = """
    UNION
    SELECT coalesce(new, id) AS id FROM wanted_topics LEFT JOIN redirects ON old = id
    WHERE coalesce(new, id) IN (SELECT entity FROM all_names)
"""


def _of_wanted_topics(subset: Subset) -> str:
    conditions = []
    if subset.topics is not None:
        conditions.append(
            "subject IN (SELECT coalesce(new, id) FROM wanted_topics"
            " LEFT JOIN redirects ON old = id)"
        )
    if subset.types is not None:
        quoted = subset.instance_of.replace("'", "''")
        conditions.append(
            f"subject IN (SELECT subject FROM all_facts WHERE type = '{quoted}'"  # noqa: S608
            f" AND kind = {Kind.ENTITY} AND object IN (SELECT id FROM wanted_types))"
        )
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


COUNTS = f"""
    SELECT 'facts read' AS what, count(*) AS number FROM statements WHERE kind <= {LAST_FACT}
    UNION ALL SELECT 'facts of relation types left out', count(*) FROM statements
        WHERE kind <= {LAST_FACT} AND type IN (SELECT type FROM unused_types)
    UNION ALL SELECT 'different facts', count(*) FROM all_facts
    UNION ALL SELECT 'facts of the wanted topics', count(*) FROM topic_facts
    UNION ALL SELECT 'facts whose object has no name',
        (SELECT count(*) FROM topic_facts) - (SELECT count(*) FROM facts)
    UNION ALL SELECT 'redirects', count(*) FROM redirects
    UNION ALL SELECT 'facts whose object was redirected', count(*) FROM statements
        WHERE kind = {Kind.ENTITY} AND object IN (SELECT old FROM redirects)
    UNION ALL SELECT 'entities without a name', count(*) FROM entities WHERE label IS NULL
    UNION ALL SELECT subject, sum(row) FROM statements WHERE kind = {Kind.COUNT} GROUP BY subject
"""  # noqa: S608
"""What became of the input; run after all the steps."""
