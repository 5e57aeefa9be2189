"""Turn linked documents into arrays of numbers: all that a model reads of a document.

Shapes: N tokens of a document, R relations, E candidate edges, F forms, W width of form features.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Flag, auto
from typing import Protocol

import numpy as np

from lrlm.arrays import UNSEEN, Floats, Integers
from lrlm.corpora import prune
from lrlm.text import LinkableRelation, LinkedDocument, Mention, SurfaceForm, TokenSpace

NOT_A_FACT = -1
"""The relation of a token that was not copied."""


class Parts(Flag):
    """What a model reads of a document beside its tokens."""

    NOTHING = 0
    RELATIONS = auto()
    """The relations of the topic (NKLM, LRLM)."""
    EDGES = auto()
    """Every candidate, with the features of its forms (LRLM)."""
    COPIES = auto()
    """One hard annotation of the tokens (NKLM)."""
    ALIASES = auto()
    """The names that occur in the text (Alias LM)."""


class FormFeaturiser(Protocol):
    """Turns forms into vectors; the features room has the real one."""

    width: int

    def vectors(self, forms: Sequence[tuple[str, ...]]) -> Floats:
        """Give one vector a form, (F, W)."""


@dataclass(frozen=True)
class Copies:
    """One hard annotation of a document: what each token is a copy of (NKLM)."""

    relation_N: Integers
    """The relation, or `NOT_A_FACT`."""
    form_N: Integers
    position_N: Integers
    """Which token of the form; 0 where nothing was copied."""
    length_N: Integers
    """Tokens of the form; 0 where nothing was copied."""


@dataclass(frozen=True)
class EncodedDocument:
    """A document as numbers; the token that ends a text stands after its N tokens, not stored."""

    id: str
    tokens_N: Integers
    spelling_N: Floats
    """Log-probability of the spelling of a token that stands for many words; 0 for all others."""
    types_R: Integers
    objects_R: Integers
    forms_R: tuple[tuple[tuple[str, ...], ...], ...]
    """The forms of each relation's object, in words."""
    edges_E4: Integers
    """Start, end, relation and form of each candidate, in tokens, sorted."""
    mention_E: Integers
    """Which of the document's mentions each candidate is."""
    words: int
    """How many words the text has, whatever its tokens are."""
    copies: Copies | None = None
    """Where the model reads one annotation (NKLM)."""
    aliases: Integers | None = None
    """Where the model is told the names in the text (Alias LM): the tokens of the forms that occur
    there, each form followed by the end token."""

    @property
    def tokens(self) -> int:
        """N, the tokens of the text without the one that ends it."""
        return len(self.tokens_N)


@dataclass(frozen=True)
class Encoder:
    """Knows the token space, and the ids of relation types and objects."""

    space: TokenSpace
    type_ids: Mapping[str, int] = field(default_factory=dict)
    object_ids: Mapping[str, int] = field(default_factory=dict)
    parts: Parts = Parts.RELATIONS | Parts.EDGES | Parts.COPIES | Parts.ALIASES
    """What the model reads; nothing else is worked out."""
    longest_copy: int = 20
    """Positions that NKLM can copy from; longer forms are not annotated for it."""

    def encode(self, documents: Iterable[LinkedDocument]) -> Iterator[EncodedDocument]:
        """Encode documents one by one."""
        for document in documents:
            yield self.encode_one(document)

    def encode_one(self, document: LinkedDocument) -> EncodedDocument:
        """Encode one document."""
        text = self.space.encode(document)
        types_R, objects_R = self.relation_ids(document.relations)
        edges: list[Mention] = []
        if self.parts & (Parts.COPIES | Parts.ALIASES):
            edges = [Mention(*edge) for edge in text.edges_E4.tolist()]
        return EncodedDocument(
            id=document.id,
            tokens_N=text.tokens_N,
            spelling_N=text.spelling_N,
            types_R=types_R,
            objects_R=objects_R,
            forms_R=tuple(relation.forms for relation in document.relations),
            edges_E4=text.edges_E4,
            mention_E=text.mention_E,
            words=len(document.tokens),
            copies=(
                self._copies(edges, document.relations, len(text.tokens_N))
                if Parts.COPIES in self.parts
                else None
            ),
            aliases=(
                self._aliases(edges, document.relations) if Parts.ALIASES in self.parts else None
            ),
        )

    def relation_ids(self, relations: Sequence[LinkableRelation]) -> tuple[Integers, Integers]:
        """Give the ids of the types and of the objects of relations: (R,), (R,)."""
        return (
            _lookup(self.type_ids, (relation.type for relation in relations)),
            _lookup(self.object_ids, (relation.object for relation in relations)),
        )

    def encode_aliases(self, forms: Iterable[SurfaceForm]) -> Integers:
        """Write forms one after the other, each followed by the end token."""
        ids: list[int] = []
        for form in forms:
            ids += [*self.space.encode_form(form), self.space.end_id]
        return np.array(ids, dtype=np.int64)

    def _copies(
        self, edges: Sequence[Mention], relations: Sequence[LinkableRelation], tokens: int
    ) -> Copies:
        annotation = prune(edges, relations, longest=self.longest_copy)
        rows = np.zeros((tokens, 4), dtype=np.int64)
        rows[:, 0] = NOT_A_FACT
        for start, end, relation, form in annotation:
            rows[start:end] = (relation, form, 0, end - start)
            rows[start:end, 2] = np.arange(end - start)
        relation_N, form_N, position_N, length_N = rows.T
        return Copies(relation_N, form_N, position_N, length_N)

    def _aliases(self, edges: Sequence[Mention], relations: Sequence[LinkableRelation]) -> Integers:
        found = dict.fromkeys(
            surface_forms(relations[relation])[form]
            for relation, form in sorted({(edge.relation, edge.form) for edge in edges})
        )
        return self.encode_aliases(unique_words(found))


def surface_forms(relation: LinkableRelation) -> list[SurfaceForm]:
    """List the forms of a relation's object, in words and as they are written."""
    return [
        SurfaceForm(words, _written(words, text))
        for words, text in zip(relation.forms, relation.texts, strict=True)
    ]


def _written(words: tuple[str, ...], text: str) -> str:
    """Write a form's text in the letter case of its words, which may be another than was given."""
    letters = "".join(words)
    if letters == "".join(text.split()) or letters.lower() != "".join(text.lower().split()):
        return text
    cased = iter(letters)
    return "".join(each if each.isspace() else next(cased) for each in text)


def unique_words(forms: Iterable[SurfaceForm]) -> list[SurfaceForm]:
    """Keep the first of several forms that have the same words."""
    first: dict[tuple[str, ...], SurfaceForm] = {}
    for form in forms:
        first.setdefault(form.words, form)
    return list(first.values())


def _lookup(ids: Mapping[str, int], names: Iterable[str]) -> Integers:
    return np.array([ids.get(name, UNSEEN) for name in names], dtype=np.int64)
