"""Count how often generated texts name the topic's objects: whole, in part, and again.

The paper's table of generated samples: texts are written about the topics of some articles, and
what they copied is counted beside what the articles themselves mention.

Words that are copied one after the other from the same object are cut into its forms so that the
fewest are left over. Each form is a full mention; words left over side by side are a partial one.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lrlm.artifacts import AnyPath
from lrlm.corpora import prune, topic_of
from lrlm.errors import InputError
from lrlm.evaluation.repetitions import fitted_cost, save_repetition_cost
from lrlm.evaluation.side_by_side import corpus_for, open_runs, short_names
from lrlm.generation.drafts import write_texts
from lrlm.generation.options import GenerationOptions
from lrlm.generation.pieces import CopiedForm, WrittenToken
from lrlm.generation.sampler import Sampler
from lrlm.progress import Progress, silent
from lrlm.runs.devices import choose_device
from lrlm.runs.run import Run
from lrlm.text import LinkedDocument

TokenTexts = tuple[str, ...]
"""The texts of some tokens, one after the other."""


@dataclass(frozen=True, slots=True)
class MentionCounts:
    """Mentions in some texts, on average in one."""

    texts: int
    partial: float
    full: float
    repeated: float
    """Full mentions of an object that had been named in full before."""


@dataclass(frozen=True, slots=True)
class MentionStatistics:
    """What runs name in the texts they write, beside the articles about the same topics."""

    split: str
    topics: int
    samples: int
    """Texts about each topic."""
    runs: dict[str, MentionCounts]
    gold: MentionCounts
    repetition_costs: dict[str, float] = field(default_factory=dict)
    """What repeated names cost the texts of each run, in nats."""

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values."""
        return asdict(self)


def mention_statistics(
    runs: AnyPath | Sequence[AnyPath],
    *,
    topics: int,
    samples: int = 10,
    split: str = "test",
    corpus: Path | str | None = None,
    seed: int = 0,
    options: GenerationOptions | None = None,
    fit_repetitions: bool = False,
    device: str = "auto",
    progress: Progress = silent,
) -> MentionStatistics:
    """Write samples about the topics of some articles with every run that uses relations.

    With `fit_repetitions`, what repeated names cost is chosen first, so that texts repeat as much
    as the articles do, and kept in the runs.
    """
    if topics < 1 or samples < 1:
        raise InputError(
            f"mentions are counted over at least one topic and sample, not {topics} and {samples}"
        )
    progress("opening runs", 0, 0)
    opened = open_runs(runs, device=str(choose_device(device)))
    source = corpus_for(opened, corpus)
    source.require((split,))
    documents = list(source.documents(split))
    order = np.random.default_rng(seed).permutation(len(documents))[:topics]
    chosen = [documents[place] for place in sorted(order.tolist())]
    named = {
        name: run
        for run, name in zip(opened, short_names(opened), strict=True)
        if run.model.copies_names
    }
    if not named:
        raise InputError(
            "mentions are counted for models that copy names, and none of the runs does"
        )
    gold = _mean([_gold(document) for document in chosen])
    wishes = options or GenerationOptions()
    counts, costs = {}, {}
    for name, run in named.items():
        cost = run.repetition_cost if wishes.repetition_cost is None else wishes.repetition_cost
        written = partial(
            _count, run, chosen, samples=samples, seed=seed, progress=progress, name=name
        )

        def at(cost: float, written: Callable[..., MentionCounts] = written) -> MentionCounts:
            return written(options=replace(wishes, repetition_cost=cost))

        if fit_repetitions:
            cost = fitted_cost(lambda cost: at(cost).repeated, gold.repeated)
            save_repetition_cost(run, cost, source, split)
        costs[name], counts[name] = cost, at(cost)
    return MentionStatistics(split, len(chosen), samples, counts, gold, costs)


@torch.inference_mode()
def _count(
    run: Run,
    documents: Sequence[LinkedDocument],
    *,
    samples: int,
    seed: int,
    options: GenerationOptions,
    progress: Progress,
    name: str,
) -> MentionCounts:
    """Count what a run copies in samples about the topics of some articles."""
    counts = []
    for number, document in enumerate(documents):
        progress(f"{name}: writing", number, len(documents))
        sampler = Sampler(run, topic_of(document), options, seed + number)
        texts = write_texts(sampler, options, samples, check=lambda: None)
        counts += [count_mentions(text.tokens, sampler.forms) for text in texts]
    return _mean(counts)


def count_mentions(
    tokens: Sequence[WrittenToken], forms: Sequence[CopiedForm]
) -> tuple[int, int, int]:
    """Count partial, full and repeated mentions in one text."""
    of_object: dict[str, set[TokenTexts]] = {}
    for form in forms:
        of_object.setdefault(form.relation.object, set()).update(form.tokens)
    partial = 0
    named: list[str] = []
    copied_from = [None if t.form < 0 else forms[t.form].relation.object for t in tokens]
    for object_, run in groupby(zip(copied_from, tokens, strict=True), key=lambda pair: pair[0]):
        if object_ is not None:
            texts = tuple(
                forms[token.form].tokens[token.context][token.position] for _, token in run
            )
            left_over, full = cut_into_forms(texts, of_object[object_])
            partial += left_over
            named += [object_] * full
    return partial, len(named), len(named) - len(set(named))


def cut_into_forms(words: TokenTexts, forms: set[TokenTexts]) -> tuple[int, int]:
    """Cut words so that the fewest are in no form, then into the fewest pieces.

    Gives how many pieces are left over, and how many forms there are.
    """
    # After each word, the best cut that ends with a form, and the best with a word left over:
    # (words left over, pieces, pieces left over). A further word left over costs the second less.
    closed: list[_Cut | None] = [(0, 0, 0)]
    open_: list[_Cut | None] = [None]
    for end in range(1, len(words) + 1):
        begun = _longer(closed[-1], 1, 1, 1)
        open_.append(_better(_longer(open_[-1], 1, 0, 0), begun))
        cut = None
        for start in range(end):
            if words[start:end] in forms:
                cut = _better(cut, _longer(_better(open_[start], closed[start]), 0, 1, 0))
        closed.append(cut)
    best = _better(open_[-1], closed[-1])
    assert best is not None
    _, pieces, left_over = best
    return left_over, pieces - left_over


_Cut = tuple[int, int, int]


def _longer(cut: _Cut | None, lost: int, pieces: int, left_over: int) -> _Cut | None:
    return None if cut is None else (cut[0] + lost, cut[1] + pieces, cut[2] + left_over)


def _better(one: _Cut | None, other: _Cut | None) -> _Cut | None:
    return min((each for each in (one, other) if each is not None), default=None)


def _gold(document: LinkedDocument) -> tuple[int, int, int]:
    """Count what an article mentions: as is known, or else its longest matches."""
    if document.gold is not None:
        named = [mention.object for mention in document.gold if mention.object is not None]
    else:
        pruned = prune(document.mentions, document.relations)
        named = [document.relations[mention.relation].object for mention in pruned]
    return 0, len(named), len(named) - len(set(named))


def _mean(counts: Iterable[tuple[int, int, int]]) -> MentionCounts:
    listed = list(counts)
    partial, full, repeated = (sum(column) / len(listed) for column in zip(*listed, strict=True))
    return MentionCounts(len(listed), partial, full, repeated)
