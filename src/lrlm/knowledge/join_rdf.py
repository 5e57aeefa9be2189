"""What the join does for RDF only: blank nodes are followed, and relation types named.

A blank node with a name is an entity like any other. One without a name that exactly one fact
leads to is a value with parts, such as an address: its facts are given to the subject of that
fact, and their types are paths ("address / street address"). It is followed one step, so nothing
can multiply. All other blank nodes are left out, and counted.

As in `join`, the SQL holds to what DuckDB and Spark understand alike.
"""

from collections.abc import Iterator

from lrlm.knowledge.sources.rdf import RDF_TYPE, RDF_VALUE
from lrlm.knowledge.statements import StatementKind

MOST_PARTS = 100
"""Facts of a blank node that is followed."""
PATH = " / "
"""What stands between the types of a path."""

_IS_BLANK = "substr({0}, 1, 2) = '_:'"


def follow_blank_nodes() -> Iterator[tuple[str, str]]:
    """Make `all_facts` from `direct_facts`, as steps of the join."""
    yield (
        "nameless",
        f"""
        SELECT id FROM (
            SELECT subject AS id FROM direct_facts WHERE {_IS_BLANK.format("subject")}
            UNION
            SELECT object AS id FROM direct_facts
            WHERE kind = {StatementKind.ENTITY} AND {_IS_BLANK.format("object")}
        ) AS blank
        LEFT JOIN all_names ON entity = id WHERE entity IS NULL
        """,  # noqa: S608
    )
    yield (
        "structures",
        f"""
        SELECT nameless.id AS id FROM nameless
        JOIN (
            SELECT object FROM direct_facts
            WHERE kind = {StatementKind.ENTITY} AND {_IS_BLANK.format("object")}
            GROUP BY object HAVING count(*) = 1
        ) AS used ON used.object = nameless.id
        JOIN (
            SELECT subject FROM direct_facts WHERE {_IS_BLANK.format("subject")}
            GROUP BY subject HAVING count(*) <= {MOST_PARTS}
        ) AS small ON small.subject = nameless.id
        """,  # noqa: S608
    )
    yield (
        "followed_facts",
        f"""
        SELECT whole.subject AS subject, whole.type AS whole_type, part.type AS part_type,
            part.object AS object, part.kind AS kind, part.unit AS unit
        FROM direct_facts AS whole
        JOIN structures ON structures.id = whole.object
        JOIN direct_facts AS part ON part.subject = structures.id
        LEFT JOIN nameless ON nameless.id = whole.subject
        WHERE whole.kind = {StatementKind.ENTITY} AND nameless.id IS NULL
            AND part.type <> '{RDF_TYPE}'
        """,  # noqa: S608
    )
    yield (
        "all_facts",
        f"""
        SELECT subject, type, object, kind, unit FROM direct_facts
        LEFT JOIN nameless ON nameless.id = subject
        LEFT JOIN structures ON structures.id = object AND kind = {StatementKind.ENTITY}
        WHERE nameless.id IS NULL AND structures.id IS NULL
        UNION
        SELECT subject,
            CASE WHEN part_type = '{RDF_VALUE}' THEN whole_type
                ELSE whole_type || '{PATH}' || part_type END AS type,
            object, kind, unit
        FROM followed_facts
        """,  # noqa: S608
    )


def rdf_relation_types() -> Iterator[tuple[str, str]]:
    """Make `relation_types`: a type goes by its label, or by what its address suggests."""
    yield (
        "type_labels",
        f"""
        SELECT types.type AS id, coalesce(named.name, suggested.label, types.type) AS label,
            named.name IS NULL AS from_address
        FROM (SELECT DISTINCT type FROM direct_facts) AS types
        LEFT JOIN all_names AS named
            ON named.entity = types.type AND named.place = 0 AND NOT named.title
        LEFT JOIN (
            SELECT subject, object AS label, row_number() OVER (
                PARTITION BY subject ORDER BY source, block, row
            ) AS copy
            FROM statements WHERE kind = {StatementKind.TYPE_LABEL}
        ) AS suggested ON suggested.subject = types.type AND suggested.copy = 1
        """,  # noqa: S608
    )
    yield (
        "relation_types",
        f"""
        SELECT used.type AS id, coalesce(
                single.label, whole.label || '{PATH}' || part.label, used.type
            ) AS label,
            used.number AS facts
        FROM (
            SELECT type, CAST(count(*) AS BIGINT) AS number FROM facts GROUP BY type
        ) AS used
        LEFT JOIN type_labels AS single ON single.id = used.type
        LEFT JOIN (
            SELECT DISTINCT whole_type, part_type FROM followed_facts
        ) AS paths ON whole_type || '{PATH}' || part_type = used.type
        LEFT JOIN type_labels AS whole ON whole.id = paths.whole_type
        LEFT JOIN type_labels AS part ON part.id = paths.part_type
        """,  # noqa: S608
    )


RDF_COUNTS = f"""
    UNION ALL SELECT 'facts of blank nodes, given to what they describe', count(*)
        FROM followed_facts
    UNION ALL SELECT 'facts of blank nodes left out', count(*) FROM direct_facts
        JOIN nameless ON nameless.id = subject
        LEFT JOIN (
            SELECT DISTINCT object FROM direct_facts AS to_it
            LEFT JOIN nameless AS outside ON outside.id = to_it.subject
            WHERE to_it.kind = {StatementKind.ENTITY} AND outside.id IS NULL
        ) AS reached ON reached.object = subject
        LEFT JOIN structures ON structures.id = subject
        WHERE reached.object IS NULL OR structures.id IS NULL
    UNION ALL SELECT 'entities named by their address', count(*) FROM names
        WHERE place = 0 AND title
    UNION ALL SELECT 'relation types named by their address', count(*) FROM type_labels
        WHERE from_address
"""  # noqa: S608
"""Counts of what became of RDF, to follow those of the join."""
