"""A topic and what is known about it: plain values in, a star-shaped subgraph out."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from lrlm.errors import InputError

TITLE = "@title"
"""The type of the relation from a topic to itself: its forms are the topic's names."""


@dataclass(frozen=True, slots=True)
class Relation:
    """One fact of a topic, `e = <s, type, object>`, with the surface forms `A(object)`.

    `type` and `object` are ids or names and are kept exactly as given. The first form is the
    canonical one; a single form may be given as a plain string, and without any the object's
    own name is its form.
    """

    type: str
    object: str
    forms: tuple[str, ...] = ()

    def __init__(self, type: str, object: str, forms: Iterable[str] | str = ()) -> None:  # noqa: A002
        """Take any iterable of forms; the value itself holds a tuple."""
        _set(self, "type", _text("Relation.type", type))
        _set(self, "object", _text("Relation.object", object))
        _set(self, "forms", _forms("Relation.forms", forms) or (object,))


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic entity `s` with its names and every relation that starts at it (`G'`)."""

    id: str
    names: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = field(default=())

    def __init__(
        self,
        id: str,  # noqa: A002
        names: Iterable[str] | str = (),
        relations: Iterable[Relation] = (),
    ) -> None:
        """Take any iterables; the value itself holds tuples. Without names the id is the name."""
        _set(self, "id", _text("Topic.id", id))
        _set(self, "names", _forms("Topic.names", names) or (id,))
        _set(self, "relations", tuple(relations))
        for relation in self.relations:
            if not isinstance(relation, Relation):
                raise InputError(
                    f"Topic {id!r}: relations must hold Relation values, not {relation!r}"
                )
            if relation.type == TITLE:
                raise InputError(
                    f"Topic {id!r}: {TITLE!r} is made from the topic's names; give it as names=[…]"
                )

    @property
    def star(self) -> tuple[Relation, ...]:
        """All relations that text can be copied from: the topic's own title, then its facts."""
        return (Relation(TITLE, self.id, self.names), *self.relations)


def _set(value: object, name: str, content: object) -> None:
    object.__setattr__(value, name, content)


def _text(where: str, value: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where} must be a text that is not blank, not {value!r}")
    return value


def _forms(where: str, forms: Iterable[str] | str) -> tuple[str, ...]:
    given = (forms,) if isinstance(forms, str) else tuple(forms)
    return tuple(dict.fromkeys(_text(where, form) for form in given))
