"""A topic and what is known about it: plain values in, a star-shaped subgraph out."""

import difflib
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

    def add(self, relation: Relation) -> "Topic":
        """Give a new topic that has one more fact."""
        if not isinstance(relation, Relation):
            raise InputError(f"Topic {self.id!r}: only a Relation can be added, not {relation!r}")
        if _key(relation) in map(_key, self.relations):
            raise InputError(
                f"Topic {self.id!r} has the fact {relation.type!r} → {relation.object!r} already"
            )
        return Topic(self.id, self.names, (*self.relations, relation))

    def remove(self, type: str, object: str | None = None) -> "Topic":  # noqa: A002
        """Give a new topic without a fact; without an object, without all facts of the type."""
        gone = self._places(type, object)
        kept = (fact for place, fact in enumerate(self.relations) if place not in gone)
        return Topic(self.id, self.names, kept)

    def replace(
        self,
        type: str,  # noqa: A002
        old: str,
        new: str | Relation,
        forms: Iterable[str] | str = (),
    ) -> "Topic":
        """Give a new topic whose fact names another object, in the place of the old one.

        `new` is an object, with its forms behind it, or a whole relation of the same type.
        """
        (place, *_) = self._places(type, old)
        fact = new if isinstance(new, Relation) else Relation(type, new, forms)
        if fact.type != type:
            raise InputError(
                f"Topic {self.id!r}: a fact {type!r} cannot become one of {fact.type!r};"
                " remove it and add the other"
            )
        others = self.relations[:place] + self.relations[place + 1 :]
        if _key(fact) in map(_key, others):
            raise InputError(
                f"Topic {self.id!r} has the fact {fact.type!r} → {fact.object!r} already"
            )
        return Topic(self.id, self.names, (*others[:place], fact, *others[place:]))

    def _places(self, type: str, object: str | None) -> list[int]:  # noqa: A002
        """Find facts by type and object; an object may also be named by one of its forms."""
        alike = [place for place, fact in enumerate(self.relations) if fact.type == type]
        if not alike:
            raise InputError(
                f"Topic {self.id!r} has no relation {type!r}"
                + near_matches(type, {fact.type for fact in self.relations})
            )
        if object is None:
            return alike
        facts = self.relations
        found = [place for place in alike if facts[place].object == object]
        found = found or [place for place in alike if object in facts[place].forms]
        if not found:
            known = ", ".join(repr(facts[place].object) for place in alike[:5])
            raise InputError(f"Topic {self.id!r} has no {type!r} named {object!r}; it has: {known}")
        if len({facts[place].object for place in found}) > 1:
            known = ", ".join(repr(facts[place].object) for place in found[:5])
            raise InputError(
                f"Topic {self.id!r}: {object!r} may be any of {known}; name the object itself"
            )
        return found


def near_matches(name: str, known: Iterable[str]) -> str:
    """Say which names are most like one that is not there; nothing where none is."""
    near = difflib.get_close_matches(name, sorted(set(known)), n=3, cutoff=0.5)
    return f"; did you mean {', '.join(map(repr, near))}?" if near else ""


def _key(relation: Relation) -> tuple[str, str]:
    return relation.type, relation.object


def _set(value: object, name: str, content: object) -> None:
    object.__setattr__(value, name, content)


def _text(where: str, value: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where} must be a text that is not blank, not {value!r}")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise InputError(f"{where} holds half of a surrogate pair, which no file can: {value!r}")
    return value


def _forms(where: str, forms: Iterable[str] | str) -> tuple[str, ...]:
    given = (forms,) if isinstance(forms, str) else tuple(forms)
    return tuple(dict.fromkeys(_text(where, form) for form in given))
