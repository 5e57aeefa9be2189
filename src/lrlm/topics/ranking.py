"""Rank the topics that a text may be about by how probable they make it.

P(topic | text) ∝ P(text | topic)^(1 / temperature) · P(topic): the model says how probable the text
is about each candidate, and the prior how probable each topic is before that. A model whose states
do not depend on the topic reads the text once; only what it may copy is scored anew for each topic.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from lrlm.batching import EncodedDocument, KeptReading, Parts, evaluation_batches
from lrlm.batching.collating import window_boundaries
from lrlm.corpora import LONGEST, check_text
from lrlm.corpora.linking import cuts_of_text
from lrlm.errors import InputError
from lrlm.knowledge import Topic
from lrlm.lattice import log_marginal
from lrlm.look import clipped
from lrlm.models import lattice_of, read_documents
from lrlm.models.kept_readings import read_part
from lrlm.models.vanilla import VanillaLM
from lrlm.plain_data import json_text
from lrlm.runs.run import Run
from lrlm.text import LinkedDocument
from lrlm.topics.index import Candidate, TopicIndex
from lrlm.topics.priors import Prior, TitleInOpening, log_weight

FORMAT = "lrlm topics"
VERSION = 1

SURE = 0.9
"""From this probability on, a text is said to be about a topic."""

MOST_CANDIDATES = 64
"""Topics that the model compares, unless more are asked for."""

_EVIDENCE = 0.43
"""How much of a nat counts in a text of one word; see `usual_temperature`."""
_PER_OVERLAP = 0.1
"""How much a nat counts that the names in a text speak for a topic, each by how rare it is."""
_PER_LOG_FACTS = 0.85
"""What it speaks against a topic that it has many facts, by their logarithm."""


@dataclass(frozen=True, slots=True)
class TopicMatch:
    """A topic that a text may be about."""

    topic: Topic
    probability: float
    """P(topic | text), among all candidates and no topic at all."""
    log_prob: float
    """log P(text | topic), the end of the text not counted: minus the nats of `Model.score`."""
    title: int | None
    """The first character where the topic itself is named; None where it is not."""

    @property
    def id(self) -> str:
        """The topic's id."""
        return self.topic.id

    @property
    def name(self) -> str:
        """The topic's first name."""
        return self.topic.names[0]


@dataclass(frozen=True, slots=True)
class TopicRanking:
    """What a text may be about, the most probable topic first.

    >>> norway = Topic("Norway", relations=[Relation("capital", "Oslo")])
    >>> sweden = Topic("Sweden", relations=[Relation("capital", "Stockholm")])
    >>> ranking = lrlm.load().topics("Its capital is Oslo.", [norway, sweden])
    >>> ranking.best.id, ranking.is_sure
    ('Norway', True)
    """

    text: str
    matches: tuple[TopicMatch, ...]
    """The most probable ones, at most as many as were asked for."""
    none: float
    """How probable it is that the text is about none of the candidates: plain words explain it
    better than copied names of any."""
    considered: int
    """How many candidates the model has compared."""

    def __repr__(self) -> str:
        best = [f"{each.name} {each.probability:.2f}" for each in self.matches[:3]]
        return f"TopicRanking({clipped(self.text)!r}, {', '.join(best) or 'no topic'})"

    @property
    def best(self) -> TopicMatch | None:
        """The most probable topic; None where the text is rather about no topic at all."""
        if self.matches and self.matches[0].probability >= self.none:
            return self.matches[0]
        return None

    @property
    def is_sure(self) -> bool:
        """Whether one topic has nearly all of the probability."""
        return self.best is not None and self.best.probability >= SURE

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values; the facts of the topics are left out.

        >>> sorted(ranking.to_dict())
        ['considered', 'format', 'is_sure', 'none', 'text', 'topics', 'version']
        """
        return {
            "format": FORMAT,
            "version": VERSION,
            "text": self.text,
            "topics": [
                {
                    "id": match.id,
                    "name": match.name,
                    "probability": match.probability,
                    "log_prob": match.log_prob,
                    "facts": len(match.topic.relations),
                    "title": match.title,
                }
                for match in self.matches
            ],
            "none": self.none,
            "is_sure": self.is_sure,
            "considered": self.considered,
        }

    def to_json(self) -> str:
        """Write `to_dict` as one line of JSON."""
        return json_text(self.to_dict())


def rank_topics(
    run: Run,
    text: str,
    index: TopicIndex,
    *,
    limit: int = 10,
    prior: Prior | None = None,
    temperature: float | None = None,
    candidates: int = MOST_CANDIDATES,
    longest: int = LONGEST,
) -> TopicRanking:
    """Find the topics that a text may be about, and rank them."""
    check_text(text, longest=longest)
    check_knows_topics(run)
    if limit < 1 or candidates < 1:
        raise InputError(f"the limit must be at least 1, not {min(limit, candidates)}")
    if temperature is not None and not 0 < temperature < math.inf:
        raise InputError(f"the temperature must be a number above 0, not {temperature!r}")
    if not len(index) or not len(index.names):
        raise InputError("there is no topic with facts and names that a text could be about")
    if temperature is None:
        temperature = usual_temperature(len(cuts_of_text(text, index.options)[0]))
    found = index.candidates(text, most=max(candidates, limit))
    topics = [index.topic(candidate.id) for candidate in found]
    by_title = TitleInOpening(index.options.profile) if prior is None else prior
    log_weights = [log_weight(by_title, topic, text) for topic in topics]
    if prior is None:
        for number, (candidate, topic) in enumerate(zip(found, topics, strict=True)):
            log_weights[number] += _nats_of_names(candidate, topic)
    documents = [_linked(run, text, topic, index, longest) for topic in topics]
    if run.model.has_posteriors:  # no topic at all is as probable as the least probable one
        documents.append(_about_nothing(text, index))
        log_weights.append(min(log_weights, default=0.0))
    log_probs = log_probs_of(run, documents)
    joint = [
        log_prob / temperature + weight
        for log_prob, weight in zip(log_probs, log_weights, strict=True)
    ]
    shares = _shares(joint)
    order = sorted(range(len(topics)), key=lambda number: -joint[number])
    matches = [
        TopicMatch(topics[number], shares[number], log_probs[number], found[number].title)
        for number in order[:limit]
    ]
    none = shares[-1] if run.model.has_posteriors else float(not topics)
    return TopicRanking(text, tuple(matches), none, len(topics))


def _nats_of_names(candidate: Candidate, topic: Topic) -> float:
    """Give what the names in a text speak for a topic, beside what the model says.

    A model knows which names a topic has, but not how rare they are among all topics; and one that
    has many facts finds some of its names in any text of its field.
    """
    return _PER_OVERLAP * candidate.overlap - _PER_LOG_FACTS * math.log(len(topic.relations))


def check_knows_topics(run: Run) -> None:
    """Refuse a model to which all topics are alike."""
    if run.config.model.reads is Parts.NOTHING:
        raise InputError(
            f"{run.folder} holds a {run.model.label}, to which every text is as probable about one"
            " topic as about another; finding topics needs a model that knows facts, such as LRLM"
        )


def usual_temperature(words: int) -> float:
    """Give what the log-likelihoods of a text of so many words are divided by.

    The names in a text do not come independently of one another, and a model has only seen texts
    about the right topic; as they are, likelihoods would be sure of everything. What a text tells
    grows with the root of its length: so it was found on Wikipedia introductions that are not among
    those of the benchmark, where it gives topics the best probabilities.
    """
    return max(math.sqrt(words) / _EVIDENCE, 1.0)


def log_probs_of(run: Run, documents: Sequence[LinkedDocument]) -> list[float]:
    """Give log P(text | topic) of one text linked with several topics, its end not counted."""
    words = set[str]().union(*(document.tokens.words for document in documents))
    encoder = replace(run.encoder, space=run.space.prepared_for(words))
    encoded = list(encoder.encode(documents))
    if isinstance(run.model, VanillaLM) and not run.model.reads_topic:
        encoded = _read_once(run, run.model, encoded)
    log_probs = [0.0] * len(encoded)
    rows = run.config.training.validation_batch_size
    # Topics with about as many relations are scored side by side, for the others are padded.
    for batch in evaluation_batches([len(each.types_R) for each in encoded], rows):
        scored = read_documents(run.model, run.collator, [encoded[number] for number in batch])
        totals = log_marginal(lattice_of(scored)).tolist()
        for number, total in zip(batch, totals, strict=True):
            log_probs[number] = total
    return log_probs


def _read_once(
    run: Run, model: VanillaLM, documents: Sequence[EncodedDocument]
) -> list[EncodedDocument]:
    """Let the backbone read each different sequence of tokens once, for all topics.

    Topics may cut compounds in different ways. Where windows matter to the backbone, those that
    are cut elsewhere are read on their own.
    """
    size = run.config.training.window
    kept: dict[tuple[Any, ...], KeptReading] = {}
    read = []
    collator = run.setup.collator(only=Parts.NOTHING)
    for document in documents:
        cuts = () if model.backbone.remembers_all else window_boundaries(document, size)
        key = (document.tokens_N.tobytes(), *cuts)
        if key not in kept:
            (kept[key],) = read_part(model, collator, [document])
        read.append(replace(document, kept=kept[key]))
    return read


def _linked(run: Run, text: str, topic: Topic, index: TopicIndex, longest: int) -> LinkedDocument:
    options = index.options
    return run.link(
        text,
        topic,
        longest=longest,
        letter_case=options.letter_case,
        name_rules=options.name_rules,
    )


def _about_nothing(text: str, index: TopicIndex) -> LinkedDocument:
    """Give a text as it is about nothing that is known: every word of it is just a word."""
    tokens = cuts_of_text(text, index.options)[0]
    return LinkedDocument("", "", "", text, tokens, (), ())


def _shares(log_values: Sequence[float]) -> list[float]:
    """Turn logarithms into shares of their sum; all are 0 where there is nothing to share."""
    highest = max(log_values, default=-math.inf)
    if highest == -math.inf:
        return [0.0] * len(log_values)
    values = [math.exp(value - highest) for value in log_values]
    total = math.fsum(values)
    return [value / total for value in values]
