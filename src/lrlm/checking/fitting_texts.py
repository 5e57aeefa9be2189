"""Draw the texts that a calibration is fitted on, each with what other topics say of types."""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Self

from lrlm.checking.hypotheses import KnowledgeOfTypes
from lrlm.corpora import Corpus
from lrlm.knowledge import Topic
from lrlm.knowledge.schema import MOST_TOPICS, Schema
from lrlm.text import LinkedDocument

MOST_DOCUMENTS = 200
"""Texts that the run was not trained on."""
MOST_TRAINING_DOCUMENTS = 600
_PARTS = 5
"""What is known of types is counted anew so many times, each time without some of the topics."""
_TRAIN = "train"


@dataclass(frozen=True)
class TrainingTexts:
    """Texts that a run was trained on, and the topics in which its types were counted.

    The topics of a corpus that are not trained on are few; what makes a hypothesis right is learned
    from many.
    """

    documents: Sequence[LinkedDocument]
    topics: Sequence[Topic]

    @classmethod
    def of(cls, corpus: Corpus, topics: Iterable[Topic], *, seed: int = 1) -> Self:
        """Draw training texts of a corpus, of as many topics as there are."""
        documents: list[LinkedDocument] = []
        if _TRAIN in corpus.splits:
            about = [
                topic
                for batch in corpus.batches(_TRAIN, ["topic"])
                for topic in batch["topic"].to_pylist()
            ]
            chosen = _in_turn(about, MOST_TRAINING_DOCUMENTS, seed)
            read = enumerate(corpus.documents(_TRAIN))
            documents = [document for number, document in read if number in chosen]
        return cls(documents, list(islice(topics, MOST_TOPICS)))


def sample(documents: Iterable[LinkedDocument], *, seed: int) -> list[LinkedDocument]:
    """Draw two hundred documents of the first some thousand, of as many topics as there are."""
    first = list(islice(documents, 25 * MOST_DOCUMENTS))
    chosen = _in_turn([document.topic for document in first], MOST_DOCUMENTS, seed)
    return [first[number] for number in sorted(chosen)]


def _in_turn(topics: Sequence[str], most: int, seed: int) -> set[int]:
    """Choose documents by their topics, and give their numbers.

    Each topic in turn gives one, so that those with many texts do not outweigh all others.
    """
    if len(topics) <= most:
        return set(range(len(topics)))
    dice = random.Random(seed)  # noqa: S311
    by_topic: dict[str, list[int]] = {}
    for number in dice.sample(range(len(topics)), len(topics)):
        by_topic.setdefault(topics[number], []).append(number)
    turns = sorted(
        (turn, place, number)
        for place, numbers in enumerate(by_topic.values())
        for turn, number in enumerate(numbers)
    )
    return {number for _, _, number in turns[:most]}


def with_knowledge_of_others(
    documents: Sequence[LinkedDocument],
    known: KnowledgeOfTypes,
    counted: Sequence[Topic],
    *,
    seed: int,
) -> Iterator[tuple[KnowledgeOfTypes, list[LinkedDocument]]]:
    """Give documents in groups, each with what is known of types without the topics of the group.

    `known` was counted in the topics `counted`. A fact that is hidden from its topic must not be
    found by having been counted there.
    """
    topics = sorted(counted, key=lambda topic: topic.id)
    random.Random(seed).shuffle(topics)  # noqa: S311
    part_of = {topic.id: number % _PARTS for number, topic in enumerate(topics)}
    for part in (None, *range(_PARTS)):
        members = [document for document in documents if part_of.get(document.topic) == part]
        if not members:
            continue
        if part is None:
            yield known, members
        else:
            others = (topic for topic in counted if part_of[topic.id] != part)
            yield KnowledgeOfTypes.of(Schema.of(others)), members
