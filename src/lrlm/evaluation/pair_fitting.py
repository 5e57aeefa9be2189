"""Find out how much a backward run should count beside a forward one, on texts new to both.

The weight is the one under which the true sources of names are the most probable. Where a corpus
knows them, all its candidate spans are asked: which fact, or words? Where it does not, contests are
made of what is surely true: a name that only one fact explains gets rivals, other types of facts of
the same topic with the same object, and the question is which type the text means.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path

from scipy.optimize import minimize_scalar

from lrlm.artifacts import AnyPath
from lrlm.corpora import Corpus
from lrlm.errors import InputError
from lrlm.evaluation.annotation_quality import places_of
from lrlm.evaluation.judged import JudgedDocument, judge
from lrlm.evaluation.side_by_side import corpus_for, documents_for
from lrlm.knowledge import TITLE
from lrlm.models import ScoredDocument, combine
from lrlm.progress import Progress, silent
from lrlm.runs.devices import choose_device
from lrlm.runs.pairs import PairFit, check_pair, weights_sha256
from lrlm.runs.reading import read_linked, read_over
from lrlm.runs.run import Run
from lrlm.text import LinkableRelation, LinkedDocument

GOLD, RIVALS = "gold mentions", "rivals of sure facts"
"""What the true sources of names are taken from."""

MOST_RIVALS = 3
"""Types that compete with the true one."""
_Span = tuple[int, int]
_Fact = tuple[str, str]
_LARGEST = 4.0
_CLOSE_ENOUGH = 0.02
_LEAST = 1e-6
"""A probability below this costs no more: one hopeless name must not decide the weight."""


def fit_pair(
    forward: AnyPath,
    backward: AnyPath,
    *,
    corpus: Corpus | Path | str | None = None,
    split: str = "valid",
    documents: int | None = 300,
    rivals: bool = False,
    device: str = "auto",
    progress: Progress = silent,
) -> PairFit:
    """Fit the weight of a backward run beside a forward one, and keep it in its folder.

    The first so many `documents` of a split are read, of the corpus that the runs were trained on
    or another. With `rivals`, contests are made also where the corpus knows the true sources: that
    suits texts that may state facts which are not known. `lrlm.load(forward, backward=…)` takes the
    weight from there.

    >>> run = lrlm.train("corpus", "runs/backward", direction="backward")
    >>> fit = fit_pair("runs/lrlm", "runs/backward", corpus="corpus")
    >>> fit.criterion, fit.nats_pair <= fit.nats_forward
    ('rivals of sure facts', True)
    >>> model = lrlm.load("runs/lrlm", backward="runs/backward")
    """
    progress("opening runs", 0, 0)
    chosen = str(choose_device(device))
    first, second = Run.open(forward, device=chosen), Run.open(backward, device=chosen)
    check_pair(first, second)
    evaluated = corpus_for([first, second], corpus)
    evaluated.require((split,))
    progress(f"reading {split}", 0, 0)
    read = documents_for(evaluated, islice(evaluated.documents(split), documents), first)
    contest = _contest(read, rivals=rivals)
    if not contest.documents:
        raise InputError(
            f"{split} of {evaluated.folder} has no name that could come from several facts, so"
            " there is nothing to fit a weight on; give one yourself"
        )
    progress("scoring", 0, 0)
    left = read_linked(first, contest.documents)
    right = read_over(second, first, contest.documents, left)

    def nats(scored: Sequence[ScoredDocument]) -> float:
        found = contest.probabilities(scored, first)
        return -math.fsum(math.log(max(each, _LEAST)) for each in found) / max(len(found), 1)

    def pair_nats(weight: float) -> float:
        progress(f"trying the weight {weight:.2f}", 0, 0)
        return nats(combine(left, right, weight))

    alone = nats(left)
    found = minimize_scalar(
        pair_nats, bounds=(0.0, _LARGEST), method="bounded", options={"xatol": _CLOSE_ENOUGH}
    )
    weight = round(float(found.x), 2) if found.fun < alone else 0.0
    fit = PairFit(
        weight=weight,
        forward=first.folder.resolve().name,
        forward_sha256=weights_sha256(first),
        corpus=evaluated.folder.resolve().name,
        split=split,
        criterion=contest.criterion,
        places=len(contest.probabilities(left, first)),
        nats_forward=alone,
        nats_backward=nats(right),
        nats_pair=pair_nats(weight) if weight else alone,
    )
    fit.save(second.folder)
    return fit


@dataclass(frozen=True)
class _Contest:
    """Documents with names whose source is known, and how probable the true ones are."""

    criterion: str
    documents: Sequence[LinkedDocument]
    truths: Sequence[Callable[[JudgedDocument], list[float]]]
    """For each document, what gives the probability of the truth for every name in it."""

    def probabilities(self, scored: Sequence[ScoredDocument], run: Run) -> list[float]:
        """Say how probable the true source of every name is."""
        judged = judge(self.documents, scored, run.space, copy_odds=run.copy_odds)
        return [
            probability
            for truths, found in zip(self.truths, judged, strict=True)
            for probability in truths(found)
        ]


def _contest(documents: Sequence[LinkedDocument], *, rivals: bool) -> _Contest:
    known = [document for document in documents if document.gold is not None and document.mentions]
    if known and not rivals:
        return _Contest(GOLD, known, [partial(_gold_truths, document) for document in known])
    contested = [with_rivals(document) for document in documents]
    asked = [(document, facts) for document, facts in contested if facts]
    return _Contest(
        RIVALS,
        [document for document, _ in asked],
        [partial(_rival_truths, facts) for _, facts in asked],
    )


def _gold_truths(document: LinkedDocument, judged: JudgedDocument) -> list[float]:
    return [place.truth_probability for place in places_of(document, judged)]


def _rival_truths(facts: Mapping[_Span, _Fact], judged: JudgedDocument) -> list[float]:
    """Give how probable the true fact is among those that a name may have been copied through."""
    found = []
    for span in judged.spans:
        true = facts.get((span.start, span.end))
        copied = math.fsum(probability for _, probability in span.facts)
        if true is not None and copied:
            found.append(dict(span.facts).get(true, 0.0) / copied)
    return found


def with_rivals(document: LinkedDocument) -> tuple[LinkedDocument, dict[_Span, _Fact]]:
    """Give names that only one fact explains some more facts to choose from, all of them untrue.

    A rival has another type of the same topic and the same object, and stands behind the topic's
    own relations; the topic's own name gets none. Beside the document come the spans that have
    rivals, each with its true fact.
    """
    relations = document.relations
    labels = {relation.type: relation.label for relation in relations if relation.type != TITLE}
    types = sorted(labels)
    there: dict[_Span, set[int]] = {}
    for mention in document.mentions:
        there.setdefault((mention.start, mention.end), set()).add(mention.relation)
    doubtful = {number for numbers in there.values() if len(numbers) > 1 for number in numbers}
    own = {(relation.type, relation.object) for relation in relations}
    added: list[LinkableRelation] = []
    mentions, facts = list(document.mentions), dict[_Span, _Fact]()
    for number, relation in enumerate(relations):
        places = [each for each in document.mentions if each.relation == number]
        if relation.type == TITLE or number in doubtful or not places:
            continue
        place = types.index(relation.type)
        rivals = [
            type_
            for type_ in (*types[place + 1 :], *types[:place])
            if (type_, relation.object) not in own
        ]
        for type_ in rivals[:MOST_RIVALS]:
            rival = len(relations) + len(added)
            mentions += [each._replace(relation=rival) for each in places]
            added.append(replace(relation, type=type_, label=labels[type_]))
        if rivals:
            facts |= {(each.start, each.end): (relation.type, relation.object) for each in places}
    changed = replace(
        document, relations=(*relations, *added), mentions=tuple(sorted(mentions)), gold=None
    )
    return changed, facts
