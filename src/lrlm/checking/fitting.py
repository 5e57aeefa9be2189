"""Fit the calibration of a run: hide facts that texts state, and see how well they are found."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from lrlm.annotation.annotate import check_posteriors
from lrlm.checking.beliefs import Fitted, Hypothesis, fitted_beliefs
from lrlm.checking.calibration import CALIBRATION, Calibration, calibration_text
from lrlm.checking.changed_texts import (
    ChangedText,
    stated_facts,
    with_hidden_facts,
    with_swapped_names,
)
from lrlm.checking.circumstances import WORTH_A_LOOK, Circumstances
from lrlm.checking.fitting_texts import (
    MOST_DOCUMENTS,
    TrainingTexts,
    sample,
    with_knowledge_of_others,
)
from lrlm.checking.hypotheses import KnowledgeOfTypes
from lrlm.checking.judging import calibrated, stated
from lrlm.checking.statements import StatedDocument
from lrlm.errors import InputError
from lrlm.knowledge import TITLE
from lrlm.progress import Progress, silent
from lrlm.runs.run import Run
from lrlm.text import LinkedDocument
from lrlm.whole_files import replace_file

_MOST_ROUNDS = 3
"""Where documents are few, each is changed so many times, in another way."""
_LOG_ODDS = (2.0, 5.0, 8.0, 11.0, 14.0)
_SPELLINGS = (0.0, 0.5, 1.0)
_DOUBTS = (0.0, 12.0)
_FIRST = Calibration(log_odds=5.0, doubt=12.0, spelling=0.5)
_AT_ONCE = 128
"""Texts whose lattices are summed together."""


def fit_calibration(
    run: Run,
    known: KnowledgeOfTypes,
    documents: Iterable[LinkedDocument],
    *,
    training: TrainingTexts | None = None,
    seed: int = 1,
    progress: Progress = silent,
) -> Calibration:
    """Find the calibration with which hidden facts and swapped names are found best (F1).

    For each choice of what a new name costs in the lattice, it is fitted how often hypotheses are
    right, by the circumstances under which they stand in their texts; the choice is the one with
    the best F1 on topics that this was not fitted on. Documents are linked as the run's corpus is;
    at most two hundred are read. Where they have gold mentions these say which facts a text states;
    elsewhere the model itself does, which knows the facts then. From texts of `training` it is
    learned too how often hypotheses are right, for they are about many more topics; everything is
    chosen on the documents. A text about a topic in which types were counted is read with what the
    other topics say of them.
    """
    check_posteriors(run)
    if not known.schema.types:
        raise InputError(
            f"nothing is known of the relation types of {run.folder}: it has no schema, and the"
            " corpus that it was trained on is not found, so no fact could be missed"
        )
    drawn = sample(documents, seed=seed)
    trained = training or TrainingTexts((), ())
    texts = [
        text
        for group, is_trained in ((drawn, False), (trained.documents, True))
        for knowledge, members in with_knowledge_of_others(group, known, trained.topics, seed=seed)
        for text in _changed(
            run, knowledge, members, rounds=_rounds(group), seed=seed, is_trained=is_trained
        )
    ]
    if not any(text.truth for text in texts if not text.is_swapped and not text.is_trained):
        raise InputError(
            "the texts state no facts that could be hidden, so nothing can be fitted; give more"
            " texts, or ones about topics with facts"
        )
    best = _fitted(texts, _FIRST, seed)
    steps = len(_LOG_ODDS) + len(_SPELLINGS) + len(_DOUBTS)
    for step in range(steps):  # one number is chosen after the other
        progress("fitting", step, steps)
        tried = _tried(step, best.calibration)
        if tried != best.calibration:
            best = max(best, _fitted(texts, tried, seed), key=lambda each: each.f1)
    return best.calibration


def _rounds(documents: Sequence[LinkedDocument]) -> int:
    return max(1, min(_MOST_ROUNDS, MOST_DOCUMENTS // max(len(documents), 1)))


def _changed(
    run: Run,
    known: KnowledgeOfTypes,
    documents: Sequence[LinkedDocument],
    *,
    rounds: int,
    seed: int,
    is_trained: bool,
) -> Iterator[ChangedText]:
    """Hide a fact of each text, and swap a name of each."""
    facts = stated_facts(run, documents)
    for number in range(rounds):
        for changed in (with_hidden_facts, with_swapped_names):
            yield from changed(
                run, known, documents, facts, seed=seed + number, is_trained=is_trained
            )


def _tried(step: int, chosen: Calibration) -> Calibration:
    """Give the calibration that is tried in a step, with one number changed."""
    if step < len(_LOG_ODDS):
        return replace(chosen, log_odds=_LOG_ODDS[step])
    step -= len(_LOG_ODDS)
    if step < len(_SPELLINGS):
        return replace(chosen, spelling=_SPELLINGS[step])
    return replace(chosen, doubt=_DOUBTS[step - len(_SPELLINGS)])


def _fitted(texts: Sequence[ChangedText], calibration: Calibration, seed: int) -> Fitted:
    new = [text for text in texts if not text.is_trained]
    return fitted_beliefs(
        list(_hypotheses(texts, calibration)),
        calibration,
        hidden=sum(len(text.truth) for text in new if not text.is_swapped),
        swapped=sum(len(text.truth) for text in new if text.is_swapped),
        seed=seed,
    )


def _hypotheses(texts: Sequence[ChangedText], calibration: Calibration) -> Iterator[Hypothesis]:
    """Give what texts may state that the graph does not have, and whether they do."""
    found_in = (
        found
        for first in range(0, len(texts), _AT_ONCE)
        for found in _stated(texts[first : first + _AT_ONCE], calibration)
    )
    for number, (text, found) in enumerate(zip(texts, found_in, strict=True)):
        circumstances = Circumstances(found, text.schema)
        for statement, probability in found.probabilities.items():
            if statement.object is None and probability >= WORTH_A_LOOK and statement.type != TITLE:
                start = text.places.starts[statement.start]
                end = text.places.ends[statement.end - 1]
                yield Hypothesis(
                    number,
                    text.document.topic,
                    start,
                    end,
                    circumstances.type_standing(statement),
                    circumstances.of(statement),
                    is_right=text.truth.get((start, end)) == statement.type,
                    is_swapped=text.is_swapped,
                    is_trained=text.is_trained,
                )


def save_calibration(run: Run, calibration: Calibration) -> None:
    """Keep a calibration with its run, for everyone who checks texts with it."""
    replace_file(run.folder / CALIBRATION, calibration_text(calibration).encode())


def _stated(texts: Sequence[ChangedText], calibration: Calibration) -> list[StatedDocument]:
    weighed = [
        calibrated(
            each.document,
            each.places,
            each.scored,
            each.schema,
            calibration,
            readings=each.readings,
        )
        for each in texts
    ]
    documents, places = [each.document for each in texts], [each.places for each in texts]
    return stated(documents, places, weighed)
