"""Fit the calibration of a run: hide facts that texts state, and see how well they are found."""

import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

from lrlm.annotation.annotate import check_posteriors
from lrlm.annotation.streaming import read_in_order
from lrlm.artifacts import replace_file
from lrlm.checking.calibration import CALIBRATION, Calibration, calibration_text
from lrlm.checking.hypotheses import KnowledgeOfTypes, with_hypotheses
from lrlm.checking.judging import calibrated, stated
from lrlm.corpora.linking import Linker, topic_of
from lrlm.errors import InputError
from lrlm.knowledge import TITLE, Topic
from lrlm.models import ScoredDocument
from lrlm.progress import Progress, silent
from lrlm.runs.run import Run
from lrlm.text import LinkedDocument, TokenPlaces

MOST_DOCUMENTS = 200
_HIDDEN = 0.3
_CERTAIN = 0.9
"""A mention counts as one of a fact if a model that knows the fact is so sure of it."""
_DOUBTS = (0.0, 12.0)
_SPELLINGS = (0.0, 0.5, 1.0)
_LOG_ODDS = (-12.0, 24.0)

_Truth = dict[tuple[int, int], str]
"""By place in tokens, the type of the hidden fact that is stated there."""


@dataclass(frozen=True)
class _Hidden:
    """A text with hypotheses some of whose facts were hidden, as a model has scored it."""

    document: LinkedDocument
    places: TokenPlaces
    scored: ScoredDocument
    truth: _Truth


def fit_calibration(
    run: Run,
    known: KnowledgeOfTypes,
    documents: Iterable[LinkedDocument],
    *,
    seed: int = 1,
    progress: Progress = silent,
) -> Calibration:
    """Find the calibration with which hidden facts are found best, and little else (F1).

    Documents are linked as the run's corpus is; at most two hundred are read. Where they have gold
    mentions these say which facts a text states; elsewhere the model itself does, which knows the
    facts then.
    """
    check_posteriors(run)
    texts = list(_hidden(run, known, sample(documents, seed=seed), seed))
    if not any(text.truth for text in texts):
        raise InputError(
            "the texts state no facts that could be hidden, so nothing can be fitted; give more"
            " texts, or ones about topics with facts"
        )

    best: tuple[float, Calibration] | None = None
    choices = list(product(_SPELLINGS, _DOUBTS))
    for number, (spelling, doubt) in enumerate(choices):
        progress("fitting", number, len(choices))
        rest = {"doubt": doubt, "spelling": spelling}

        def loss(log_odds: float, rest: dict[str, float] = rest) -> float:
            return _loss(texts, known, Calibration(log_odds, **rest))

        log_odds = _lowest(loss, *_LOG_ODDS)
        found = loss(log_odds), Calibration(round(log_odds, 2), **rest)
        if best is None or found[0] < best[0]:
            best = found
    assert best is not None
    return best[1]


def sample(documents: Iterable[LinkedDocument], *, seed: int) -> list[LinkedDocument]:
    """Draw two hundred documents of the first some thousand: a corpus may be sorted by topic."""
    first = list(islice(documents, 25 * MOST_DOCUMENTS))
    if len(first) <= MOST_DOCUMENTS:
        return first
    chosen = random.Random(seed).sample(range(len(first)), MOST_DOCUMENTS)  # noqa: S311
    return [first[number] for number in sorted(chosen)]


def save_calibration(run: Run, calibration: Calibration) -> None:
    """Keep a calibration with its run, for everyone who checks texts with it."""
    replace_file(run.folder / CALIBRATION, calibration_text(calibration).encode())


def _hidden(
    run: Run, known: KnowledgeOfTypes, documents: Sequence[LinkedDocument], seed: int
) -> Iterator[_Hidden]:
    """Hide facts of each document, and read it without them."""
    dice = random.Random(seed)  # noqa: S311
    truths: list[dict[tuple[int, int], str]] = []
    supposed = []
    for document, facts in zip(documents, _stated_facts(run, documents), strict=True):
        topic = topic_of(document)
        gone = {id(fact) for fact in topic.relations if dice.random() < _HIDDEN}
        kept = [fact for fact in topic.relations if id(fact) not in gone]
        missing = {(fact.type, fact.object) for fact in topic.relations if id(fact) in gone}
        linker = Linker(Topic(topic.id, topic.names, kept), run.link_options)
        linked = linker.link_tokens(document.text, document.tokens, id=document.id)
        supposed.append(with_hypotheses(linked, known))
        truths.append({place: fact[0] for place, fact in facts.items() if fact in missing})
    number = 0
    for members, scored in read_in_order(run, supposed, None):
        for document, each in zip(members, scored, strict=True):
            places = run.space.places(document)
            yield _Hidden(document, places, each, truths[number])
            number += 1


def _stated_facts(
    run: Run, documents: Sequence[LinkedDocument]
) -> Iterator[dict[tuple[int, int], tuple[str, str]]]:
    """Say which facts each document states, by the characters that name their objects."""
    for members, scored in read_in_order(run, documents, None):
        places = [run.space.places(document) for document in members]
        for document, found in zip(members, stated(members, places, scored), strict=True):
            if document.gold is not None:
                tokens = document.tokens
                yield {
                    (tokens.starts[gold.start], tokens.ends[gold.end - 1]): (
                        gold.type,
                        gold.object,
                    )
                    for gold in document.gold
                    if gold.type not in (None, TITLE) and gold.object is not None
                }
            else:
                yield {
                    (found.places.starts[each.start], found.places.ends[each.end - 1]): (
                        each.type,
                        each.object,
                    )
                    for each, probability in found.probabilities.items()
                    if probability >= _CERTAIN and each.type != TITLE and each.object is not None
                }


def _loss(texts: Sequence[_Hidden], known: KnowledgeOfTypes, calibration: Calibration) -> float:
    """Give 1 − F1 as it is expected: every statement is found as often as it is probable."""
    documents, places = [each.document for each in texts], [each.places for each in texts]
    weighed = [
        calibrated(each.document, each.places, each.scored, known.schema, calibration)
        for each in texts
    ]
    right = found = 0.0
    for text, result in zip(texts, stated(documents, places, weighed), strict=True):
        starts, ends = text.places.starts, text.places.ends
        for statement, probability in result.probabilities.items():
            if statement.object is None:
                place = starts[statement.start], ends[statement.end - 1]
                found += probability
                right += probability * (text.truth.get(place) == statement.type)
    return 1.0 - 2.0 * right / (found + sum(len(text.truth) for text in texts))


def _lowest(function: Callable[[float], float], low: float, high: float) -> float:
    """Find where a function with one valley is lowest, by golden sections."""
    ratio = (math.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = function(left), function(right)
    while high - low > _PRECISE:
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = function(right)
    return (low + high) / 2


_PRECISE = 0.5
