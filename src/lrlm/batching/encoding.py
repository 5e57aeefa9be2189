"""Linked documents in, arrays of numbers out: all that any of the models reads of a document.

Shapes: N tokens of a document, R relations, E candidate edges, F forms, W width of form features.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from lrlm.corpora.pruning import copy_positions, prune
from lrlm.text import Vocabulary
from lrlm.text.document import LinkedDocument

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]

UNSEEN = -1
"""The id of a relation type or an object without a vector of its own."""

NOT_A_FACT = -1
"""The relation of a token that was not copied."""


class Speller(Protocol):
    """Scores words by their spelling; the features room has the real one."""

    def log_probs(self, words: Sequence[str]) -> Floats:
        """Give the log-probability of each word's characters, end symbol included."""


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
    """Which word of the form; 0 where nothing was copied."""


@dataclass(frozen=True)
class EncodedDocument:
    """A document as numbers; token N, after the text, is `</s>`."""

    id: str
    words_N: Integers
    """Ids of the N words of the text; `</s>` is not stored."""
    spelling_N: Floats
    """Log-probability of the spelling of an unknown word; 0 for a known one."""
    types_R: Integers
    objects_R: Integers
    forms_R: tuple[tuple[tuple[str, ...], ...], ...]
    """The forms of each relation's object."""
    edges_E4: Integers
    """start, end, relation, form of each candidate, sorted."""
    copies: Copies
    aliases: Integers
    """Word ids of the forms that occur in the text, each ended by `</s>` (Alias LM)."""

    @property
    def tokens(self) -> int:
        """N, the tokens of the text without `</s>`."""
        return len(self.words_N)


@dataclass(frozen=True)
class Encoder:
    """Knows the ids of words, relation types and objects, and how unknown words are spelled."""

    vocabulary: Vocabulary
    speller: Speller
    type_ids: Mapping[str, int] = field(default_factory=dict)
    object_ids: Mapping[str, int] = field(default_factory=dict)
    longest_copy: int = 20
    """Positions that NKLM can copy from; longer forms are not annotated for it."""

    def encode(self, documents: Iterable[LinkedDocument]) -> Iterator[EncodedDocument]:
        """Encode documents one by one."""
        for document in documents:
            yield self._encode(document)

    def _encode(self, document: LinkedDocument) -> EncodedDocument:
        words = document.tokens.words
        ids = np.array(self.vocabulary.encode(words), dtype=np.int64)
        return EncodedDocument(
            id=document.id,
            words_N=ids,
            spelling_N=self._spelling(words, ids),
            types_R=_lookup(self.type_ids, (r.type for r in document.relations)),
            objects_R=_lookup(self.object_ids, (r.object for r in document.relations)),
            forms_R=tuple(relation.forms for relation in document.relations),
            edges_E4=np.array(document.mentions, dtype=np.int64).reshape(-1, 4),
            copies=self._copies(document),
            aliases=self._aliases(document),
        )

    def _spelling(self, words: Sequence[str], ids: Integers) -> Floats:
        spelling = np.zeros(len(words), dtype=np.float32)
        unknown = np.flatnonzero(ids == self.vocabulary.unknown_id).tolist()
        if unknown:
            spelling[unknown] = self.speller.log_probs([words[index] for index in unknown])
        return spelling

    def _copies(self, document: LinkedDocument) -> Copies:
        annotation = prune(document.mentions, document.relations, longest=self.longest_copy)
        rows = [
            copied or (NOT_A_FACT, 0, 0)
            for copied in copy_positions(annotation, len(document.tokens))
        ]
        relation_N, form_N, position_N = np.array(rows, dtype=np.int64).reshape(-1, 3).T
        return Copies(relation_N, form_N, position_N)

    def _aliases(self, document: LinkedDocument) -> Integers:
        found = dict.fromkeys(
            document.relations[mention.relation].forms[mention.form]
            for mention in sorted(document.mentions, key=lambda m: (m.relation, m.form))
        )
        ids: list[int] = []
        for form in found:
            ids += [*self.vocabulary.encode(form), self.vocabulary.end_id]
        return np.array(ids, dtype=np.int64)


def _lookup(ids: Mapping[str, int], names: Iterable[str]) -> Integers:
    return np.array([ids.get(name, UNSEEN) for name in names], dtype=np.int64)
