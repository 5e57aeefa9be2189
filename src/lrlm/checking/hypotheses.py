"""Add to a linked text what it may state beyond the facts that are known of its topic.

Beside the known relations of a topic stand *open* ones (`lrlm.corpora.open_relations`). Every part
of the text that could be a name of such an object is a candidate of it, an edge of the same
lattice. A model chooses among known and open relations in one softmax, so they compete everywhere,
and the sums over all segmentations stay exact.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from lrlm.checking.name_spans import KnownNames, name_spans
from lrlm.corpora.open_relations import MOST_TYPES, open_relations
from lrlm.knowledge import TITLE, Relation
from lrlm.knowledge.schema import NameKind, Schema
from lrlm.text import LinkedDocument, Mention

LEAST_SHARE = 0.005
"""Kinds of names that are rarer among the objects of a type are not thought to be of it."""


@dataclass(frozen=True)
class KnowledgeOfTypes:
    """A schema, made ready to find names in texts."""

    schema: Schema
    names: KnownNames

    @classmethod
    def of(cls, schema: Schema) -> "KnowledgeOfTypes":
        """Sort the names of a schema once, for any number of texts."""
        examples = (each.name for usual in schema.types.values() for each in usual.examples)
        return cls(schema, KnownNames(schema.names, quantities=examples))


def with_hypotheses(
    document: LinkedDocument, known: KnowledgeOfTypes, *, most_types: int = MOST_TYPES
) -> LinkedDocument:
    """Give the document with open relations behind its own, and their candidates.

    There are at most `most_types` types, whatever the topic, so the candidates are at most so many
    times the names, and grow with the length of the text and no faster.
    """
    schema = schema_for_document(document, known.schema)
    supposed = list(open_relations(document.relations, schema, most_types=most_types))
    if not supposed:
        return document
    own = len(document.relations)
    numbers: dict[str, list[int]] = {}
    for number, relation in enumerate(supposed, start=own):
        numbers.setdefault(relation.type, []).append(number)
    fits = _types_by_kind(schema, numbers)
    stated = _types_by_place(document)
    mentions = list(document.mentions)
    for span in name_spans(document, known.names):
        types_here = stated.get((span.start, span.end), set[str]())
        if TITLE in types_here:
            continue
        mentions += [
            Mention(span.start, span.end, number, 0)
            for type_ in fits[span.kind]
            if type_ not in types_here
            for number in numbers[type_]
        ]
    mentions.sort()
    return replace(
        document,
        relations=(*document.relations, *supposed),
        mentions=tuple(mentions),
    )


def _types_by_kind(schema: Schema, types: Iterable[str]) -> dict[NameKind, list[str]]:
    """Say which types have names of each kind."""
    return {
        kind: [type_ for type_ in types if kind_share(type_, kind, schema) >= LEAST_SHARE]
        for kind in NameKind
    }


def schema_for_document(document: LinkedDocument, schema: Schema) -> Schema:
    """Give a schema that has all types of a document: what it lacks is learned from the topic."""
    lacking = [
        Relation(each.type, each.object, each.texts)
        for each in document.relations
        if each.type not in schema.types and each.type != TITLE and not each.is_open
    ]
    return schema.with_topic(lacking)


def kind_share(type_: str, kind: NameKind, schema: Schema) -> float:
    """Say how many of the names of a type's objects are of a kind; one half where it is unknown."""
    usual = schema.types.get(type_)
    return 0.5 if usual is None else usual.share(kind)


def _types_by_place(document: LinkedDocument) -> dict[tuple[int, int], set[str]]:
    """Give the types of the known facts whose names stand at each place."""
    types: dict[tuple[int, int], set[str]] = {}
    for mention in document.mentions:
        here = types.setdefault((mention.start, mention.end), set())
        here.add(document.relations[mention.relation].type)
    return types
