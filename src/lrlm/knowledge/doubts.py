"""Tell knowledge that cannot be what was meant: without facts, without names, columns mixed up.

Each of these can be seen in the files, but would surface only much later, as a model that learned
nothing. A doubt says how much of the knowledge it is about, with three examples; one about more
than was allowed is an error.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lrlm.errors import InputError, KnowledgeWarning, NamelessFactsError, TooMuchUnknownError
from lrlm.knowledge.graph import KnowledgeGraph

MAX_UNKNOWN = 0.5
"""The share of facts or articles that may lead to something unknown."""
EXAMPLES = 3

_WORTH_TELLING = 0.1
_FACTS_TO_JUDGE_BY = 10
_SUBJECTS_TO_JUDGE_BY = 5
_TYPES_TO_JUDGE_BY = 5
_MOST_WORDS = 6
_ALIKE = 0.75

Ask = Callable[[str], Sequence[tuple[Any, ...]]]
"""Runs a query on tables of facts and names, and gives its rows."""


class Doubts:
    """Collects what looks wrong: little of it becomes a warning, much of it an error.

    >>> doubts = Doubts(max_unknown=0.5)
    >>> doubts.add(1, 12, "1 of 12 articles names an unknown topic")
    >>> doubts.warnings
    ['1 of 12 articles names an unknown topic']
    >>> doubts.add(7, 12, "7 of 12 articles name an unknown topic")
    Traceback (most recent call last):
    lrlm.errors.TooMuchUnknownError: 7 of 12 articles name an unknown topic (more than ... 50 %)
    """

    def __init__(self, max_unknown: float = MAX_UNKNOWN) -> None:
        if not 0 <= max_unknown <= 1:
            raise InputError(f"the share of unknowns must be from 0 to 1, not {max_unknown}")
        self._max_unknown = max_unknown
        self.warnings: list[str] = []

    def add(
        self,
        number: int,
        total: int,
        message: str,
        *,
        error: type[TooMuchUnknownError] = TooMuchUnknownError,
    ) -> None:
        """Judge a remark on `number` of `total`: a large share is refused, any other told."""
        share = number / total if total else 0.0
        if share > self._max_unknown:
            raise error(f"{message} (more than the allowed {self._max_unknown:.0%})")
        if number:
            self.warnings.append(message)

    def refuse(self, message: str) -> None:
        """Refuse knowledge of which nothing can be used, unless all of it may be unknown."""
        if self._max_unknown < 1:
            raise TooMuchUnknownError(message)
        self.warnings.append(message)

    def tell(self) -> None:
        """Issue the warnings to whoever called the function that calls this."""
        for each in self.warnings:
            warnings.warn(each, KnowledgeWarning, stacklevel=3)


def some(examples: Sequence[str], total: int) -> str:
    """Name the first examples of so many.

    >>> some(["Oslo", "Rome"], total=7)
    "'Oslo', 'Rome', …"
    """
    shown = ", ".join(repr(each) for each in examples[:EXAMPLES])
    return f"{shown}, …" if total > min(len(examples), EXAMPLES) else shown


def doubt_facts(counts: Mapping[str, int], doubts: Doubts, *, only_names: bool) -> None:
    """Doubt knowledge without any fact: what was read says why there is none."""
    if not counts["facts read"]:
        left_out = "; ".join(
            f"{number:,} {what}" for what, number in counts.items() if number and what != "lines"
        )
        if only_names:
            reason = "the sources hold names only; give a table of triples, too"
        elif left_out:
            reason = f"the sources hold {left_out}"
        else:
            reason = "nothing in the sources states one; are these the right files?"
        doubts.refuse(f"the graph would have no facts: {reason}")
    elif not counts["facts of the wanted topics"]:
        doubts.refuse(
            f"the graph would have no facts: none of the {counts['different facts']:,} is about a"
            " topic that is to be kept"
        )


class TableDoubts:
    """Doubts about facts and names that came as tables.

    `facts` is a query that gives subject, type, object and literal (whether the object is none of
    the entities that have names), `names` one that gives entity and name.
    """

    def __init__(self, ask: Ask, doubts: Doubts, *, facts: str, names: str) -> None:
        self._ask, self._doubts = ask, doubts
        self._with = f"WITH stated AS ({facts}), named AS ({names})"

    def doubt_order(self) -> None:
        """Doubt facts whose relation types are entities: the columns are in another order."""
        ((facts, types, subjects),) = self._rows(
            "SELECT count(*), count(DISTINCT type), count(DISTINCT subject) FROM stated"
        )
        entities = [
            type_
            for (type_,) in self._rows(
                "SELECT DISTINCT type FROM stated WHERE type IN (SELECT entity FROM named)"
                " ORDER BY type"
            )
        ]
        if types > 1 and 2 * len(entities) > types:
            self._doubts.add(
                len(entities),
                types,
                f"{len(entities):,} of {types:,} relation types are entities that have names:"
                f" {some(entities, len(entities))}; are the columns in the order subject,"
                " relation, object?",
            )
        elif (
            facts >= _FACTS_TO_JUDGE_BY
            and subjects >= _SUBJECTS_TO_JUDGE_BY  # one topic may well have a fact of each type
            and 2 * types > facts
        ):
            examples = self._rows("SELECT DISTINCT type FROM stated ORDER BY type LIMIT 3")
            self._doubts.warnings.append(
                f"the {facts:,} facts have {types:,} different relation types:"
                f" {some([type_ for (type_,) in examples], types)}; are the columns in the order"
                " subject, relation, object?"
            )
        elif facts >= _FACTS_TO_JUDGE_BY and types >= _TYPES_TO_JUDGE_BY:
            self._doubt_writing(types)

    def _doubt_writing(self, types: int) -> None:
        """Doubt relation types that are written as names are, where another column is not.

        As there are more of them, the columns of names and of relations seem to be mixed up.
        """
        capital_types = self._capitals("type")
        for column, plural in (("subject", "subjects"), ("object", "objects")):
            ((values,),) = self._rows(f"SELECT count(DISTINCT {column}) FROM stated")  # noqa: S608
            capital_values = self._capitals(column)
            if values < types < 2 * len(capital_types) and 2 * len(capital_values) < values:
                others = self._rows(f"SELECT DISTINCT {column} FROM stated ORDER BY 1 LIMIT 3")  # noqa: S608
                self._doubts.warnings.append(
                    f"{len(capital_types):,} of {types:,} relation types are written as names are:"
                    f" {some(capital_types, len(capital_types))}; the {values:,} {plural} are not:"
                    f" {some([value for (value,) in others], values)}; are the columns in the order"
                    " subject, relation, object?"
                )
                return

    def _capitals(self, column: str) -> list[str]:
        """List the values of a column that begin with a capital letter."""
        rows = self._rows(
            f"SELECT DISTINCT {column} FROM stated"  # noqa: S608
            f" WHERE substring({column}, 1, 1) <> lower(substring({column}, 1, 1)) ORDER BY 1"
        )
        return [value for (value,) in rows]

    def doubt_names(self, nameless: int, total: int) -> None:
        """Doubt facts whose object has no name: so many of so many are left out."""
        if not nameless or nameless < _WORTH_TELLING * total:
            return
        objects = self._rows(f"{_NAMELESS} ORDER BY facts DESC, object LIMIT {EXAMPLES}")
        message = (
            f"{nameless:,} of {total:,} facts lead to an object without a name and are left out:"
            f" {some([object_ for object_, _ in objects], nameless)}"
        )
        swapped = self._rows(_SWAPPED)
        if swapped:
            name, entity = swapped[0]
            message += (
                f"; {name!r} is given as a name of {entity!r}: are the columns of the forms in"
                " the order entity, name?"
            )
        else:
            message += "; give their names, or mark what is a text as literal in a fourth column"
        self._doubts.add(nameless, total, message, error=NamelessFactsError)

    def _rows(self, query: str) -> Sequence[tuple[Any, ...]]:
        return self._ask(f"{self._with} {query}")


_NAMELESS = """
    SELECT object, count(*) AS facts FROM stated
    WHERE NOT literal AND object NOT IN (SELECT entity FROM named) GROUP BY object
"""
_SWAPPED = f"""
    SELECT name, entity FROM named WHERE name IN (SELECT object FROM ({_NAMELESS}) AS nameless)
    ORDER BY name, entity LIMIT 1
"""  # noqa: S608


def doubt_topic_names(nameless: Sequence[str], number: int, topics: int, doubts: Doubts) -> None:
    """Tell that topics have no names: articles are found by their id, but texts are not."""
    if number and number >= _WORTH_TELLING * topics:
        doubts.warnings.append(
            f"{number:,} of {topics:,} topics have no name, so no text is known to mention them:"
            f" {some(nameless, number)}"
        )


def nearest_name(graph: KnowledgeGraph, unknown: str) -> str | None:
    """Name the entity that an unknown id may have meant; None if none is like it.

    Words are left out at either end until something is found: "Mt_Everest" finds "Everest".

    >>> nearest_name(KnowledgeGraph.open("kg"), "The_Kingdom_of_Norway")
    "'Kingdom of Norway' (Q20)"
    """
    words = unknown.replace("_", " ").split()[:_MOST_WORDS]
    for length in range(len(words), 0, -1):
        for start in range(len(words) - length + 1):
            matches = graph.search(" ".join(words[start : start + length]), limit=1)
            if matches and matches[0].likeness >= _ALIKE:
                (best,) = matches
                entity = best.entity.id
                return f"{best.name!r}" + (f" ({entity})" if entity != best.name else "")
    return None
