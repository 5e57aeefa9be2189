"""Texts that repeat names are as rare as the cost of repetitions makes them."""

import math
from collections import Counter
from typing import Any

import pytest
import torch

from lrlm.errors import InputError
from lrlm.evaluation.repetitions import LARGEST_COST, fitted_cost
from lrlm.generation import drafts
from lrlm.generation.drafts import Draft
from lrlm.generation.generate import generate, stream
from lrlm.generation.options import GenerationOptions
from lrlm.generation.sampler import Sampler
from lrlm.knowledge import Relation, Topic
from lrlm.models import LatentRelationLM
from lrlm.runs.run import Run
from tests.generation.test_known_facts import COUNT, POOR, SHORT, conditional, texts_of
from tests.generation.test_sampling import agree
from tests.models.test_normalisation import topic_window
from tests.oracles.generation import enumerate_texts
from tests.toy_run import toy_run

BRIEF = Topic("brief", names=["a"], relations=[Relation("likes", "first", ["u", "b"])])
"""It is named in one word, so that a short text may name it often."""
COST = 1.5


def copying_run(kind: str) -> tuple[Run, LatentRelationLM]:
    run = toy_run(kind)
    assert isinstance(run.model, LatentRelationLM)
    with torch.no_grad():
        run.model.source.linear.bias.add_(torch.tensor([-1.0, 1.0]))  # it likes to copy
    return run, run.model


@pytest.mark.parametrize("kind", ["lrlm", "lrlm+named+told"])
def test_each_repetition_makes_a_text_so_much_rarer(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafts, "MOST_SENTENCES", 10_000)
    run, model = copying_run(kind)
    window, forms = topic_window(BRIEF)
    with torch.no_grad():
        paid = enumerate_texts(model, window, forms, SHORT, repetition_cost=COST)
        free = enumerate_texts(model, window, forms, SHORT)
    changed = conditional(paid.texts)
    moved = sum(abs(changed[text] - p) for text, p in conditional(free.texts).items())
    assert moved > 0.05  # so it changes much
    seen = texts_of(run, BRIEF, COUNT, known_facts_only=False, repetition_cost=COST)
    agree(seen, changed)


def test_each_sentence_pays_for_what_it_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here the word "b" ends a sentence, and a text without one is a single sentence."""
    monkeypatch.setattr(drafts, "_SENTENCE_ENDS", ("b",))
    monkeypatch.setattr(drafts, "MOST_SENTENCES", 10_000)
    run, model = copying_run("lrlm")
    window, forms = topic_window(BRIEF)
    with torch.no_grad():
        paid = enumerate_texts(model, window, forms, SHORT, repetition_cost=COST)
    expected = {text: chance for text, chance in paid.texts.items() if "b" not in text}
    seen = texts_of(run, BRIEF, COUNT, known_facts_only=False, repetition_cost=COST)
    seen = Counter({text: count for text, count in seen.items() if "b" not in text})
    agree(seen, conditional(expected))


def repeated(draft: Draft) -> int:
    copied = [
        draft.text.forms[token.form].relation.object
        for token in draft.tokens
        if token.form >= 0 and token.position == 0
    ]
    return len(copied) - len(set(copied))


def written(run: Run, **wishes: Any) -> list[Draft]:
    options = GenerationOptions(known_facts_only=False, max_length=30, **wishes)
    sampler = Sampler(run, POOR, options, seed=5)
    with torch.inference_mode():
        return drafts.write_texts(sampler, options, 60, check=lambda: None)


def test_without_a_cost_nothing_changes_and_with_a_high_one_nothing_is_repeated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(drafts, "MOST_SENTENCES", 10_000)
    run = toy_run("lrlm")
    as_it_is = written(run)
    free = written(run, repetition_cost=0.0)
    assert [each.tokens for each in free] == [each.tokens for each in as_it_is]
    assert any(map(repeated, as_it_is))
    assert not any(map(repeated, written(run, repetition_cost=50.0)))


def test_a_stream_is_the_first_sample() -> None:
    run = toy_run("lrlm")
    options = GenerationOptions(repetition_cost=2.0, max_length=20)
    (text,) = generate(run, POOR, options, samples=1, seed=4)
    assert tuple(stream(run, POOR, options, seed=4)) == text.pieces


@pytest.mark.parametrize("cost", [-1, float("nan"), "much", True])
def test_a_cost_that_is_none_is_refused(cost: Any) -> None:
    with pytest.raises(InputError, match="repetition_cost must be a number from 0 on"):
        GenerationOptions(repetition_cost=cost)


def test_the_cost_is_fitted_to_what_is_wanted() -> None:
    assert fitted_cost(lambda _: 0.5, 0.5) == 0.0
    assert fitted_cost(lambda _: 2.0, 0.5) == LARGEST_COST  # whatever it costs
    fitted = fitted_cost(lambda cost: 1.3 * math.exp(-cost), 0.4)
    assert fitted == pytest.approx(math.log(1.3 / 0.4), abs=0.1)
