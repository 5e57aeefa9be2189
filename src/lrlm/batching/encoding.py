"""Turn linked documents into arrays of numbers: all that a model reads of a document.

Shapes: N tokens of a document, R relations, E candidate edges, F forms, W width of form features.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Flag, auto
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from lrlm.arrays import UNSEEN, Booleans, Floats, Integers
from lrlm.batching.name_words import NameWords, TopicWords
from lrlm.batching.naming import NamePlaces
from lrlm.batching.preface import (
    Preface,
    PrefaceConfig,
    facts_as_preface,
    names_as_preface,
    start_of_text,
)
from lrlm.batching.relation_traits import relation_traits
from lrlm.corpora import prune
from lrlm.errors import InputError
from lrlm.text import (
    EncodedText,
    LinkableRelation,
    LinkedDocument,
    Mention,
    SurfaceForm,
    TokenSpace,
    surface_forms,
)

NOT_A_FACT = -1
"""The relation of a token that was not copied."""

FORWARD, BACKWARD = "forward", "backward"
DIRECTIONS = (FORWARD, BACKWARD)
"""In which a text may be read: from its first token to its last, or from its last to its first."""

_WORDS_OF_A_TYPE = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z]?[^\W\d_A-Z]+|[A-Z]|\d+|[^\W\d_]+")


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
    """The names that occur in the text, read before it (Alias LM)."""
    FACTS = auto()
    """The topic's title and facts, written as a text and read before it (Prompted LM)."""
    NAMES = auto()
    """The names of relation types and objects, which their vectors are made from."""
    NAMED = auto()
    """Which names stand in the text before each place."""
    NAME_WORDS = auto()
    """The words of the topic's names, and where they stand in the text."""
    TRAITS = auto()
    """How each relation stands among those of the topic."""


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

    def turned(self) -> "Copies":
        """Give the annotation as it is read from the other end."""
        is_copied_N = self.relation_N != NOT_A_FACT
        position_N = np.where(is_copied_N, self.length_N - 1 - self.position_N, 0)
        listed = (self.relation_N, self.form_N, position_N, self.length_N)
        return Copies(*(np.ascontiguousarray(each[::-1]) for each in listed))


class KeptReading(NamedTuple):
    """What a backbone has made of a text that was read before; its last row is for the end."""

    states_ND: Floats | npt.NDArray[np.float16]
    """The hidden state before each token and before the end: N + 1 rows; files keep halves."""
    token_N: Floats
    """log P of each token, and of the end."""
    fresh_N: Floats
    """log P that each token, whichever it is, begins a new word."""


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
    preface_P: Integers
    """What is read before the text and not scored; at least the token that starts a text. Its last
    token stands right before the text."""
    type_names_R: tuple[tuple[str, ...], ...] = ()
    """The names of the relations' types in words, where vectors are made from them."""
    traits_RJ: Floats | None = None
    """How each relation stands among those of the topic, where the model reads it."""
    copies: Copies | None = None
    """Where the model reads one annotation (NKLM)."""
    bound_E: Booleans | None = None
    """Whether what follows a candidate must begin a new word; None where every token is a word."""
    left_out_facts: int = 0
    """Facts that the preface had no room for."""
    open_R: Booleans | None = None
    """Which relations stand for facts that are not known; None where none does."""
    name_words: NameWords | None = None
    """Where words of the topic's names stand in the text, if the model may write them."""
    kept: KeptReading | None = None
    """What the backbone has made of the text before, where one reading serves for many."""
    is_backward: bool = False
    """Whether it is read from its last token to its first: all positions count from the last, and
    what ends it is the beginning of the text."""

    @property
    def tokens(self) -> int:
        """N, the tokens of the text without the one that ends it."""
        return len(self.tokens_N)

    @cached_property
    def name_places(self) -> NamePlaces:
        """Where names of the topic's objects stand in the text; open relations have none."""
        forms_R = np.array([len(forms) for forms in self.forms_R], dtype=np.int64)
        edges_E4, bound_E = self.edges_E4, self.bound_E
        if self.open_R is not None:
            known_E = ~self.open_R[edges_E4[:, 2]]
            edges_E4 = edges_E4[known_E]
            bound_E = None if bound_E is None else bound_E[known_E]
        return NamePlaces.of(edges_E4, bound_E, forms_R, self.tokens)

    def turned(self) -> "EncodedDocument":
        """Give the document as it is read from the other end; turned twice, it is as it was.

        The preface stays, since it is read before the text in either direction.
        """
        edges_E4, order_E = mirrored(self.edges_E4, self.tokens)
        return replace(
            self,
            tokens_N=np.ascontiguousarray(self.tokens_N[::-1]),
            spelling_N=np.ascontiguousarray(self.spelling_N[::-1]),
            edges_E4=edges_E4,
            mention_E=self.mention_E[order_E],
            copies=None if self.copies is None else self.copies.turned(),
            name_words=None if self.name_words is None else self.name_words.turned(),
            is_backward=not self.is_backward,
        )


def mirrored(edges_E4: Integers, tokens: int) -> tuple[Integers, Integers]:
    """Give candidates as they stand in a text of so many tokens that is read from the other end.

    They are sorted again; the second array says where each of them stood before.

    >>> edges_E4, order_E = mirrored(np.array([[0, 2, 0, 0], [4, 5, 1, 0]]), tokens=5)
    >>> edges_E4.tolist(), order_E.tolist()
    ([[0, 1, 1, 0], [3, 5, 0, 0]], [1, 0])
    """
    turned_E4 = edges_E4.copy()
    turned_E4[:, 0] = tokens - edges_E4[:, 1]
    turned_E4[:, 1] = tokens - edges_E4[:, 0]
    order_E = np.lexsort(turned_E4.T[::-1])
    return turned_E4[order_E], order_E


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
    facts: PrefaceConfig = field(default_factory=PrefaceConfig)
    """How facts are written where they are read before the text."""
    backward: bool = False
    """Whether texts, and the names in them, are read from the last token to the first."""

    def __post_init__(self) -> None:
        """Refuse what makes sense in one direction only, or where every token is a word."""
        if Parts.NAME_WORDS in self.parts:
            self.space.word_ids(())
        if not self.backward:
            return
        space = self.space
        if space.contexts > 1 or space.begins_word is not None or space.no_form_after:
            raise InputError(
                "these tokens depend on the text before them, so they are read forward only; to"
                " read backward, use tokens that are words"
            )

    def encode(self, documents: Iterable[LinkedDocument]) -> Iterator[EncodedDocument]:
        """Encode documents one by one."""
        for document in documents:
            yield self.encode_one(document)

    def encode_one(self, document: LinkedDocument) -> EncodedDocument:
        """Encode one document."""
        encode = self.space.encode_backward if self.backward else self.space.encode
        return self.encode_tokens(document, encode(document))

    def encode_tokens(self, document: LinkedDocument, text: EncodedText) -> EncodedDocument:
        """Encode a document whose text is in tokens already."""
        types_R, objects_R = self.relation_ids(document.relations)
        edges: list[Mention] = []
        if self.parts & (Parts.COPIES | Parts.ALIASES):
            edges = [Mention(*edge) for edge in text.edges_E4.tolist()]
        open_R = np.array([relation.is_open for relation in document.relations], dtype=bool)
        preface = self.preface(document.title, document.relations, _found(edges))
        encoded = EncodedDocument(
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
            preface_P=preface.tokens_P,
            left_out_facts=preface.left_out_facts,
            type_names_R=(
                tuple(type_name(relation.label) for relation in document.relations)
                if Parts.NAMES in self.parts
                else ()
            ),
            traits_RJ=(relation_traits(document.relations) if Parts.TRAITS in self.parts else None),
            bound_E=text.bound_E,
            open_R=open_R if open_R.any() else None,
            name_words=(
                NameWords.of(self.topic_words(document.relations), document.tokens.words)
                if Parts.NAME_WORDS in self.parts
                else None
            ),
        )
        return encoded.turned() if self.backward else encoded

    def relation_ids(self, relations: Sequence[LinkableRelation]) -> tuple[Integers, Integers]:
        """Give the ids of the types and of the objects of relations: (R,), (R,)."""
        return (
            _lookup(self.type_ids, (relation.type for relation in relations)),
            _lookup(self.object_ids, (relation.object for relation in relations)),
        )

    def topic_words(self, relations: Sequence[LinkableRelation]) -> TopicWords:
        """Give the words of the names of relations, of which a text may use single ones."""
        return TopicWords.of(relations, self.space.word_ids, self.space.unknown_id)

    def preface(
        self,
        title: str,
        relations: Sequence[LinkableRelation],
        found: Iterable[tuple[int, int]] | None = None,
    ) -> Preface:
        """Write down what the model reads before a text about a topic.

        `found` are the relations and forms whose names occur in the text, where it is known;
        without it, the first form of every object may.
        """
        if Parts.FACTS in self.parts:
            known = [relation for relation in relations if not relation.is_open]
            return facts_as_preface(self.space, self.facts, title, known)
        if Parts.ALIASES in self.parts:
            if found is None:
                found = ((number, 0) for number in range(len(relations)))
            names = (surface_forms(relations[relation])[form] for relation, form in found)
            listed = unique_words(dict.fromkeys(names))
            return names_as_preface(self.space, listed, backward=self.backward)
        return start_of_text(self.space)

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


def _found(edges: Iterable[Mention]) -> list[tuple[int, int]]:
    """List the relations and forms of candidates, each once."""
    return sorted({(edge.relation, edge.form) for edge in edges})


def unique_words(forms: Iterable[SurfaceForm]) -> list[SurfaceForm]:
    """Keep the first of several forms that have the same words."""
    first: dict[tuple[str, ...], SurfaceForm] = {}
    for form in forms:
        first.setdefault(form.words, form)
    return list(first.values())


def _lookup(ids: Mapping[str, int], names: Iterable[str]) -> Integers:
    return np.array([ids.get(name, UNSEEN) for name in names], dtype=np.int64)


def type_name(type_: str) -> tuple[str, ...]:
    """Cut the name of a relation type into words: `populationTotal` is "population total".

    >>> type_name("populationTotal"), type_name("place of birth"), type_name("@title")
    (('population', 'total'), ('place', 'of', 'birth'), ('title',))
    """
    return tuple(word.lower() for word in _WORDS_OF_A_TYPE.findall(type_)) or (type_,)
