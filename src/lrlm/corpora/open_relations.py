"""Make open relations of a topic: of a type that such topics have, with an unknown object.

Beside the known relations of a topic may stand *open* ones: "this type, an object that the graph
does not have". A model chooses among known and open relations in one softmax. An open relation is
compared with a state as known ones are, by the vectors of its type and of an object. It has no
object of its own, so it borrows that of an example: an object of that type that the topic has, or
that others often have.
"""

from collections.abc import Iterable, Iterator

from lrlm.knowledge import TITLE
from lrlm.knowledge.schema import Schema
from lrlm.text import LinkableRelation, split_words

MOST_TYPES = 24
"""Types of facts that a text about a topic is thought to state."""
MOST_EXAMPLES = 2
"""Objects that an open relation of a type borrows its vector from."""


def open_relations(
    relations: Iterable[LinkableRelation], schema: Schema, *, most_types: int = MOST_TYPES
) -> Iterator[LinkableRelation]:
    """Give open relations of the types that a topic with these relations has, or usually has."""
    by_type: dict[str, list[LinkableRelation]] = {}
    for relation in relations:
        if relation.type != TITLE:
            by_type.setdefault(relation.type, []).append(relation)
    for type_ in schema.types_like(by_type, most=most_types):
        examples = {
            each.object: (each.forms[0], each.texts[0])
            for each in by_type.get(type_, [])[:MOST_EXAMPLES]
        }
        usual = schema.types.get(type_)
        usual_label = "" if usual is None else usual.label
        label = next((each.label for each in by_type.get(type_, ())), usual_label)
        for example in () if usual is None else usual.examples:
            if len(examples) < MOST_EXAMPLES and (words := split_words(example.name)):
                examples.setdefault(example.object, (words, example.name))
        for object_, (words, text) in examples.items():
            yield LinkableRelation(type_, object_, (words,), (text,), label, is_open=True)


def lacking_relations(
    relations: Iterable[LinkableRelation], schema: Schema
) -> list[LinkableRelation]:
    """Give open relations of the types alone of which a topic with these relations has none."""
    known = list(relations)
    own = {relation.type for relation in known}
    return [each for each in open_relations(known, schema) if each.type not in own]
