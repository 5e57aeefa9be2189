"""The loop: it learns, goes back, keeps to its time, and stops before a bad update."""

import itertools
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from lrlm.backbones import Dropout
from lrlm.errors import LrlmError
from lrlm.models import document_nats
from lrlm.runs.run import weights_of
from lrlm.training.environment import Reporter, TrainingEnvironment, TrainingStatus
from lrlm.training.metrics import Metrics
from lrlm.training.optimiser import copies
from lrlm.training.validation import Validation
from tests.toy import collator
from tests.training.toy_training import CONFIG, WINDOW, documents, make_model, make_trainer, texts
from tests.training.worker import gradients


def same(first: dict[str, Tensor], second: dict[str, Tensor]) -> bool:
    return first.keys() == second.keys() and all(
        torch.equal(first[name], second[name]) for name in first
    )


@pytest.mark.parametrize("backbone", ["lstm", "transformer-xl"])
@pytest.mark.parametrize("kind", ["vanilla", "alias", "nklm", "lrlm"])
def test_validation_improves(kind: str, backbone: str, tmp_path: Path) -> None:
    metrics = Metrics(tmp_path / "metrics.jsonl")
    schedule = "plateau" if backbone == "lstm" else "cosine"
    trainer = make_trainer(
        make_model(kind, backbone),
        replace(CONFIG, epochs=6, schedule=schedule),
        TrainingEnvironment(metrics=metrics),
    )
    before = trainer._validation().nats_per_word
    trainer.run()
    metrics.close()
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    valid = [line["nats_per_token"] for line in lines if line["kind"] == "valid"]
    assert len(valid) == 6
    assert min(valid) < before - 0.05
    assert trainer.schedule.best == min(valid)


def test_validation_is_what_scoring_says() -> None:
    trainer = make_trainer(config=replace(CONFIG, epochs=1))
    trainer.run()
    trainer.model.eval()
    nats = tokens = 0.0
    for document in documents(texts(14)[10:]).documents:
        found = document_nats(trainer.model, collator(WINDOW).windows([document]))
        nats += float(found.nats_B - found.end_nats_B)
        tokens += document.tokens
    assert trainer.schedule.best == pytest.approx(nats / tokens, rel=1e-5)


def test_the_same_seed_gives_the_same_weights_and_another_seed_others() -> None:
    weights = []
    for seed in (1, 1, 2):
        trainer = make_trainer(config=replace(CONFIG, epochs=2, seed=seed))
        trainer.run()
        weights.append(copies(weights_of(trainer.model)))
    assert same(weights[0], weights[1])
    assert not same(weights[0], weights[2])


def test_an_epoch_that_does_not_improve_is_undone() -> None:
    kept: list[dict[str, Tensor]] = []
    trainer = make_trainer(
        config=replace(CONFIG, epochs=1),
        environment=TrainingEnvironment(keep_best=lambda weights: kept.append(copies(weights))),
    )
    trainer.run()
    moments = copies(trainer.optimiser.tensors())
    assert trainer.schedule.best is not None
    trainer.schedule.best = -1.0  # which no epoch can be better than
    trainer.config = replace(CONFIG, epochs=2)
    trainer.run()
    assert trainer.position.epoch == 2
    assert len(kept) == 1
    assert same(kept[0], weights_of(trainer.model))
    assert same(moments, trainer.optimiser.tensors())
    assert trainer.schedule.rate(0, 0.0) == pytest.approx(CONFIG.learning_rate * CONFIG.decay)


def test_patience_ends_training() -> None:
    trainer = make_trainer(config=replace(CONFIG, epochs=50, patience=2))
    trainer.schedule.best = -1.0
    trainer._best = {
        **{f"weights/{name}": each for name, each in weights_of(trainer.model).items()},
        **{f"optimiser/{name}": each for name, each in trainer.optimiser.tensors().items()},
    }
    assert trainer.run().epoch == 2


@pytest.mark.parametrize("accumulate", [2, 3, 7])
@pytest.mark.parametrize("kind", ["lrlm", "nklm", "alias"])
def test_parts_of_a_batch_have_the_gradient_of_the_whole(kind: str, accumulate: int) -> None:
    found = [
        gradients(
            make_trainer(make_model(kind, dropout=0.0), replace(CONFIG, accumulate=parts, epochs=1))
        )
        for parts in (1, accumulate)
    ]
    whole, in_parts = found
    assert len(whole) == len(in_parts) > 5  # clipped once an update, not once a part
    for first, second in zip(whole[:2], in_parts[:2], strict=True):
        torch.testing.assert_close(first, second, rtol=1e-4, atol=1e-6)


def test_the_gradient_of_a_batch_is_that_of_its_nats_per_token() -> None:
    model = make_model("vanilla", dropout=0.0)
    train = documents(["a b a", "b u", "a"])  # one window each: no state is cut off
    trainer = make_trainer(model, replace(CONFIG, epochs=1, clip=1e9), train=train)
    found = gradients(trainer)
    model = make_model("vanilla", dropout=0.0)  # as it was before the update
    model.zero_grad(set_to_none=True)
    window = next(collator(WINDOW).windows(train.documents))
    scores, _ = model(window, model.begin(window))
    (scores.nats(window)[0].sum() / window.lengths_B.sum()).backward()
    expected = torch.cat(
        [each.grad.flatten() for each in model.parameters() if each.grad is not None]
    )
    torch.testing.assert_close(found[0], expected)


@pytest.mark.parametrize("schedule", ["plateau", "cosine"])
def test_a_loss_that_is_not_finite_stops_before_the_update(schedule: str) -> None:
    bad = ["a b", "a a b", "w a"]  # of the last topic nothing is known, and "w" cannot be spelled
    trainer = make_trainer(config=replace(CONFIG, schedule=schedule), train=documents(bad))
    before = copies(weights_of(trainer.model))
    with pytest.raises(LrlmError) as error:
        trainer.run()
    message = str(error.value)
    assert "the loss (inf) is not finite in epoch 1, batch 1, window 1" in message
    assert "'article 0', 'article 1', 'article 2'" in message
    assert same(before, weights_of(trainer.model))


def test_a_validation_document_that_is_impossible_is_named() -> None:
    trainer = make_trainer(valid=documents(["a b", "a a b", "w a"]))
    with pytest.raises(LrlmError, match="'article 2' has no finite"):
        trainer.run()


def test_dropout_grows_over_the_first_epochs() -> None:
    trainer = make_trainer(config=replace(CONFIG, epochs=4, dropout_epochs=3))
    layers = [each for each in trainer.model.modules() if isinstance(each, Dropout)]
    seen: list[float] = []
    judged = trainer._judge

    def judge(validation: Validation) -> bool:
        assert len({layer.share for layer in layers}) == 1
        seen.append(layers[0].share)
        return judged(validation)

    trainer._judge = judge  # type: ignore[method-assign]
    trainer.run()
    assert seen == pytest.approx([1 / 3, 2 / 3, 1, 1])


def test_a_budget_is_kept_and_ends_with_a_validation() -> None:
    clock = itertools.count().__next__  # a second passes whenever somebody looks
    statuses: list[TrainingStatus] = []
    trainer = make_trainer(
        config=replace(CONFIG, epochs=1000, minutes=5.0, schedule="cosine"),
        environment=TrainingEnvironment(
            clock=lambda: float(clock()), reporter=Reporter(status=statuses.append)
        ),
    )
    position = trainer.run()
    assert 240 < position.seconds < 310
    assert trainer.schedule.best is not None
    assert 0 < position.epoch < 1000
    shares = [status.share for status in statuses]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0, abs=0.05)
    assert trainer.schedule.rate(position.updates, shares[-1]) < 0.01 * CONFIG.learning_rate
    updates = position.updates
    assert trainer.run().updates == updates  # it is over


def test_statuses_tell_loss_and_time_left() -> None:
    statuses: list[TrainingStatus] = []
    trainer = make_trainer(
        environment=TrainingEnvironment(reporter=Reporter(status=statuses.append))
    )
    trainer.run()
    assert statuses[0].seconds_left is None
    assert all(math.isfinite(status.loss) for status in statuses)
    assert statuses[-1].epoch == 3
    assert statuses[-1].perplexity is not None
