"""Tell, before anything is linked, that articles and knowledge do not belong together."""

from collections.abc import Iterator
from typing import NamedTuple

from lrlm.corpora.staging import Staging
from lrlm.knowledge import KnowledgeGraph
from lrlm.knowledge.doubts import EXAMPLES, Doubts, TableDoubts, nearest_name, some

_ALIKE = 0.85
"""How alike a name must be to be the one that was meant, by Jaro and Winkler's measure."""


def doubt_articles(staging: Staging, facts: dict[str, int], doubts: Doubts) -> None:
    """Doubt topics that nothing is known about, and the tables that they were looked for in."""
    if staging.graph is None and facts["read"]:
        nameless = facts["whose_object_has_no_form"]
        tables = TableDoubts(staging.ask, doubts, facts=_FACTS, names=_NAMES)
        tables.doubt_order()
        tables = TableDoubts(staging.ask, doubts, facts=_USED_FACTS, names=_NAMES)
        tables.doubt_names(nameless, facts["used"] + nameless)
    _doubt_topics(staging, doubts)


def doubt_texts(factless: int, articles: int, doubts: Doubts) -> None:
    """Tell that the texts hardly mention what is known about their topics."""
    if 2 * factless > articles:
        doubts.warnings.append(
            f"in {factless:,} of {articles:,} articles no name of a fact's object was found, so"
            " nothing can be learned about copying there; are names written as in the texts?"
        )


class _TopicsOfArticles(NamedTuple):
    """How many articles are about topics that are unknown, or known but without a fact."""

    articles: int = 0
    unknown: int = 0
    factless: int = 0
    unknown_ids: tuple[str, ...] = ()
    factless_ids: tuple[str, ...] = ()

    def with_topic(self, id_: str, articles: int, facts: int | None) -> "_TopicsOfArticles":
        """Count a topic by its number of facts, None if it is unknown."""
        counted = self._replace(articles=self.articles + articles)
        if facts is None:
            ids = (*self.unknown_ids, id_)[:EXAMPLES]
            return counted._replace(unknown=self.unknown + articles, unknown_ids=ids)
        if not facts:
            ids = (*self.factless_ids, id_)[:EXAMPLES]
            return counted._replace(factless=self.factless + articles, factless_ids=ids)
        return counted


def _doubt_topics(staging: Staging, doubts: Doubts) -> None:
    found = _TopicsOfArticles()
    for id_, articles, facts in _topics(staging):
        found = found.with_topic(id_, articles, facts)
    if found.unknown:
        where = "the graph does" if staging.graph is not None else "triples and forms do"
        verb = "names" if found.unknown == 1 else "name"
        message = (
            f"{found.unknown:,} of {found.articles:,} articles {verb} a topic that {where} not"
            f" have: {some(found.unknown_ids, found.unknown)}"
        )
        for id_ in found.unknown_ids:
            if near := _nearest(staging, id_):
                message += f"; the nearest name to {id_!r} is {near}"
                break
        doubts.add(found.unknown, found.articles, message)
    if found.factless:
        verb = "is" if found.factless == 1 else "are"
        message = (
            f"{found.factless:,} of {found.articles:,} articles {verb} about a topic without facts:"
            f" {some(found.factless_ids, found.factless)}{_order_hint(staging)}"
        )
        doubts.add(found.factless, found.articles, message)


def _topics(staging: Staging) -> Iterator[tuple[str, int, int | None]]:
    """Give each topic in the order of articles, how many those are, and the number of its facts."""
    if staging.graph is None:
        yield from staging.stream(_TOPICS_IN_TABLES)
        return
    for id_, articles in staging.stream(_TOPICS):
        yield id_, articles, _facts_in(staging.graph, id_)


def _facts_in(graph: KnowledgeGraph, id_: str) -> int | None:
    return graph.entity(id_).facts if id_ in graph else None


def _nearest(staging: Staging, unknown: str) -> str | None:
    if staging.graph is not None:
        return nearest_name(staging.graph, unknown)
    found = staging.ask(_NEAREST, unknown.replace("_", " "), _ALIKE)
    if not found:
        return None
    ((name, entity),) = found
    return f"{name!r}" + (f" ({entity})" if entity != name else "")


def _order_hint(staging: Staging) -> str:
    """Say that topics stand in another column of the triples than that of subjects, if they do."""
    if staging.graph is not None:
        return ""
    for column, what in (("object", "object"), ("type", "relation")):
        ((number,),) = staging.ask(_TOPICS_IN_A_COLUMN.format(column))
        if number:
            are = f"is the {what}" if number == 1 else f"are {what}s"
            return (
                f"; {number:,} of these topics {are} of facts: are the columns in the order"
                " subject, relation, object?"
            )
    return ""


_FACTS = "SELECT DISTINCT subject, type, object, literal FROM facts"
_USED_FACTS = f"{_FACTS} WHERE subject IN (SELECT topic FROM articles)"  # noqa: S608
_NAMES = "SELECT entity, form AS name FROM forms"
_TOPICS = """
    SELECT topic, count(*) FROM articles GROUP BY topic ORDER BY min(split), min(place)
"""
_TOPICS_IN_TABLES = """
    WITH usable AS (
        SELECT subject, count(*) AS number FROM facts
        WHERE literal OR object IN (SELECT entity FROM forms) GROUP BY subject
    ), known AS (SELECT subject AS id FROM facts UNION SELECT entity FROM forms)
    SELECT topic, count(*),
        CASE WHEN topic IN (SELECT id FROM known) THEN coalesce(any_value(number), 0) END
    FROM articles LEFT JOIN usable ON subject = topic
    GROUP BY topic ORDER BY min(split), min(place)
"""
_NEAREST = """
    WITH names AS (
        SELECT entity, form FROM forms UNION SELECT subject, replace(subject, '_', ' ') FROM facts
    ), alike AS (
        SELECT *, jaro_winkler_similarity(lower(form), lower($1)) AS likeness,
            contains(lower(' ' || $1 || ' '), lower(' ' || form || ' ')) AS is_part
        FROM names
    )
    SELECT form, entity FROM alike WHERE likeness >= $2 OR is_part
    ORDER BY is_part DESC, CASE WHEN is_part THEN length(form) END DESC, likeness DESC, form, entity
    LIMIT 1
"""
_TOPICS_IN_A_COLUMN = """
    SELECT count(DISTINCT topic) FROM articles
    WHERE topic NOT IN (SELECT subject FROM facts) AND topic IN (SELECT {} FROM facts)
"""
