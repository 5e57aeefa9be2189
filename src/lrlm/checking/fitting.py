"""Fit the calibration of a run: hide facts that texts state, and see how well they are found."""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from lrlm.annotation.annotate import check_posteriors
from lrlm.artifacts import replace_file
from lrlm.checking.beliefs import Fitted, Hypothesis, fitted_beliefs
from lrlm.checking.calibration import CALIBRATION, Calibration, calibration_text
from lrlm.checking.changed_texts import (
    ChangedText,
    stated_facts,
    with_hidden_facts,
    with_swapped_names,
)
from lrlm.checking.circumstances import WORTH_A_LOOK, Circumstances
from lrlm.checking.hypotheses import KnowledgeOfTypes
from lrlm.checking.judging import calibrated, stated
from lrlm.checking.statements import StatedDocument
from lrlm.errors import InputError
from lrlm.knowledge import TITLE
from lrlm.progress import Progress, silent
from lrlm.runs.run import Run
from lrlm.text import LinkedDocument

MOST_DOCUMENTS = 200
_MOST_ROUNDS = 3
"""Where documents are few, each is changed so many times, in another way."""
_LOG_ODDS = (2.0, 5.0, 8.0, 11.0, 14.0)
_SPELLINGS = (0.0, 0.5, 1.0)
_DOUBTS = (0.0, 12.0)
_FIRST = Calibration(log_odds=5.0, doubt=12.0, spelling=0.5)


def fit_calibration(
    run: Run,
    known: KnowledgeOfTypes,
    documents: Iterable[LinkedDocument],
    *,
    seed: int = 1,
    progress: Progress = silent,
) -> Calibration:
    """Find the calibration with which hidden facts and swapped names are found best (F1).

    For each choice of what a new name costs in the lattice, it is fitted how often hypotheses are
    right, by the circumstances under which they stand in their texts; the choice is the one with
    the best F1 on topics that this was not fitted on. Documents are linked as the run's corpus is;
    at most two hundred are read. Where they have gold mentions these say which facts a text states;
    elsewhere the model itself does, which knows the facts then.
    """
    check_posteriors(run)
    if not known.schema.types:
        raise InputError(
            f"nothing is known of the relation types of {run.folder}: it has no schema, and the"
            " corpus that it was trained on is not found, so no fact could be missed"
        )
    drawn = sample(documents, seed=seed)
    facts = stated_facts(run, drawn)
    rounds = max(1, min(_MOST_ROUNDS, MOST_DOCUMENTS // max(len(drawn), 1)))
    texts = [
        text
        for number in range(rounds)
        for changed in (with_hidden_facts, with_swapped_names)
        for text in changed(run, known, drawn, facts, seed=seed + number)
    ]
    if not any(text.truth for text in texts if not text.is_swapped):
        raise InputError(
            "the texts state no facts that could be hidden, so nothing can be fitted; give more"
            " texts, or ones about topics with facts"
        )
    best = _fitted(texts, known, _FIRST, seed)
    steps = len(_LOG_ODDS) + len(_SPELLINGS) + len(_DOUBTS)
    for step in range(steps):  # one number is chosen after the other
        progress("fitting", step, steps)
        tried = _tried(step, best.calibration)
        if tried != best.calibration:
            best = max(best, _fitted(texts, known, tried, seed), key=lambda each: each.f1)
    return best.calibration


def _tried(step: int, chosen: Calibration) -> Calibration:
    """Give the calibration that is tried in a step, with one number changed."""
    if step < len(_LOG_ODDS):
        return replace(chosen, log_odds=_LOG_ODDS[step])
    step -= len(_LOG_ODDS)
    if step < len(_SPELLINGS):
        return replace(chosen, spelling=_SPELLINGS[step])
    return replace(chosen, doubt=_DOUBTS[step - len(_SPELLINGS)])


def _fitted(
    texts: Sequence[ChangedText], known: KnowledgeOfTypes, calibration: Calibration, seed: int
) -> Fitted:
    return fitted_beliefs(
        list(_hypotheses(texts, known, calibration)),
        calibration,
        hidden=sum(len(text.truth) for text in texts if not text.is_swapped),
        swapped=sum(len(text.truth) for text in texts if text.is_swapped),
        seed=seed,
    )


def _hypotheses(
    texts: Sequence[ChangedText], known: KnowledgeOfTypes, calibration: Calibration
) -> Iterator[Hypothesis]:
    """Give what texts may state that the graph does not have, and whether they do."""
    for number, (text, found) in enumerate(
        zip(texts, _stated(texts, known, calibration), strict=True)
    ):
        circumstances = Circumstances(found, known.schema)
        for statement, probability in found.probabilities.items():
            if statement.object is None and probability >= WORTH_A_LOOK and statement.type != TITLE:
                start = text.places.starts[statement.start]
                end = text.places.ends[statement.end - 1]
                yield Hypothesis(
                    number,
                    text.document.topic,
                    start,
                    end,
                    *circumstances.of(statement),
                    is_right=text.truth.get((start, end)) == statement.type,
                    is_swapped=text.is_swapped,
                )


def sample(documents: Iterable[LinkedDocument], *, seed: int) -> list[LinkedDocument]:
    """Draw two hundred documents of the first some thousand, of as many topics as there are.

    Each topic in turn gives one, so that those with many texts do not outweigh all others.
    """
    first = list(islice(documents, 25 * MOST_DOCUMENTS))
    if len(first) <= MOST_DOCUMENTS:
        return first
    dice = random.Random(seed)  # noqa: S311
    by_topic: dict[str, list[int]] = {}
    for number in dice.sample(range(len(first)), len(first)):
        by_topic.setdefault(first[number].topic, []).append(number)
    turns = sorted(
        (turn, place, number)
        for place, numbers in enumerate(by_topic.values())
        for turn, number in enumerate(numbers)
    )
    chosen = [number for _, _, number in turns[:MOST_DOCUMENTS]]
    return [first[number] for number in sorted(chosen)]


def save_calibration(run: Run, calibration: Calibration) -> None:
    """Keep a calibration with its run, for everyone who checks texts with it."""
    replace_file(run.folder / CALIBRATION, calibration_text(calibration).encode())


def _stated(
    texts: Sequence[ChangedText], known: KnowledgeOfTypes, calibration: Calibration
) -> list[StatedDocument]:
    weighed = [
        calibrated(
            each.document,
            each.places,
            each.scored,
            known.schema,
            calibration,
            readings=each.readings,
        )
        for each in texts
    ]
    documents, places = [each.document for each in texts], [each.places for each in texts]
    return stated(documents, places, weighed)
