"""A tiny world made by hand: few words, two spelled ones, topics with and without relations."""

import hashlib
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

import numpy as np
import torch

from lrlm.arrays import Floats
from lrlm.batching import Collator, EncodedDocument, Encoder, Parts
from lrlm.corpora import link as link_text
from lrlm.knowledge import Relation, Topic
from lrlm.text import NO_MENTION, EncodedText, LinkedDocument, Vocabulary
from lrlm.text.word_space import WordSpace

VOCABULARY = Vocabulary.from_counts({"a": 9, "b": 5}, documents=3)
SPELLINGS = {"u": 0.75, "v": 0.25}
"""The only words outside the vocabulary that can be spelled; their probabilities sum to one."""

TYPES = {"@title": 0, "likes": 1}
OBJECTS = {"first": 0, "second": 1}
WIDTH = 4
"""Of form features."""

TOPIC = Topic(
    "topic",
    names=["a b", "w"],  # "w" can be neither a word nor spelled: only copied
    relations=[
        Relation("likes", "first", ["b", "a b", "u a"]),
        Relation("likes", "second", ["a b"]),
        Relation("never seen", "somebody", ["u"]),
    ],
)
LONELY = Topic("lonely", names=["?"])  # a name without a letter is no form: nothing to copy


ALL_PARTS = (
    Parts.RELATIONS
    | Parts.EDGES
    | Parts.COPIES
    | Parts.ALIASES
    | Parts.NAMED
    | Parts.NAMES
    | Parts.NAME_WORDS
    | Parts.TRAITS
)


class ToySpeller:
    """Spells two words, and remembers how random ones were asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[float, bool]] = []

    def log_probs(self, words: Sequence[str]) -> Floats:
        with np.errstate(divide="ignore"):
            logs: Floats = np.log([np.float32(SPELLINGS.get(word, 0.0)) for word in words])
        return logs

    def sample(
        self,
        count: int,
        *,
        generator: torch.Generator,
        temperature: float = 1.0,
        capitals: bool = True,
    ) -> list[str]:
        self.asked.append((temperature, capitals))
        if temperature == 0:  # the most probable, as the real one does
            return [max(SPELLINGS, key=lambda word: SPELLINGS[word])] * count
        drawn = torch.multinomial(
            torch.tensor(list(SPELLINGS.values())), count, replacement=True, generator=generator
        )
        return [list(SPELLINGS)[index] for index in drawn.tolist()]


SPACE = WordSpace(VOCABULARY, ToySpeller())


class ToyFeaturiser:
    """Gives each form numbers that depend on nothing but the form."""

    width = WIDTH

    def vectors(self, forms: Sequence[tuple[str, ...]]) -> Floats:
        digests = [hashlib.sha256(" ".join(form).encode()).digest()[:WIDTH] for form in forms]
        numbers = np.array([list(digest) for digest in digests], dtype=np.float32)
        return numbers.reshape(-1, WIDTH) / np.float32(128) - np.float32(1)


def link(text: str, topic: Topic = TOPIC, id_: str = "article") -> LinkedDocument:
    """Link a text as the corpus builder does."""
    return link_text(text, topic, id=id_, title=topic.id)


def encoder(space: WordSpace = SPACE, parts: Parts = ALL_PARTS) -> Encoder:
    """Turn documents into numbers with the toy world's ids, by default all that any model reads."""
    return Encoder(space, TYPES, OBJECTS, parts)


def encode(*documents: LinkedDocument) -> list[EncodedDocument]:
    """Encode documents with the toy world's ids."""
    return list(encoder().encode(documents))


def collator(size: int = 150, parts: Parts = ALL_PARTS) -> Collator:
    """Make windows with the toy world's form features, by default all that any model reads."""
    return Collator(SPACE.end_id, ToyFeaturiser(), size=size, parts=parts)


class UnmentionedSpace(WordSpace):
    """Finds its candidates among tokens: it cannot say which mentions of the words they are."""

    def encode(self, document: LinkedDocument) -> EncodedText:
        encoded = super().encode(document)
        return replace(encoded, mention_E=np.full_like(encoded.mention_E, NO_MENTION))

    def prepared_for(self, words: AbstractSet[str]) -> "UnmentionedSpace":
        return self
