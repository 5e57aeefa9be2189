"""Pairs of runs in the toy world: what is read with both, and which runs are no pair."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import lrlm
from lrlm.annotation.annotate import annotate
from lrlm.annotation.score import score
from lrlm.arrays import Floats
from lrlm.batching import BACKWARD
from lrlm.errors import FormatError, InputError
from lrlm.lattice import posteriors
from lrlm.models import ModelConfig, combine, lattice_of
from lrlm.runs.pairs import (
    PARTNER,
    USUAL_WEIGHT,
    PairFit,
    fitted_weight,
    open_run,
    paired,
    weights_sha256,
)
from lrlm.runs.reading import read_linked
from lrlm.runs.run import WEIGHTS, Run
from lrlm.text import Vocabulary
from lrlm.text.word_space import WordSpace
from tests.models.contract import make_model
from tests.toy import ToySpeller, link
from tests.toy_run import toy_run

TEXTS = ["a b u v a", "b", "u a b b a u", "a b a b"]


def backward_run(kind: str = "lrlm", **parts: Any) -> Run:
    """A run with other weights than the forward one's, which reads from the other end."""
    run = toy_run(kind, model=make_model("lrlm+summary", "lstm") if kind == "lrlm" else None)
    model = replace(run.config.model, direction=BACKWARD)
    setup = replace(run.setup, config=replace(run.config, model=model), **parts)
    return replace(run, setup=setup, folder=Path("toy-backward"))


def test_a_pair_reads_with_both() -> None:
    forward, backward = toy_run("lrlm"), backward_run()
    documents = [link(text) for text in TEXTS]
    pair = paired(forward, backward, weight=0.7)
    expected = combine(read_linked(forward, documents), read_linked(backward, documents), 0.7)
    for found, wanted in zip(read_linked(pair, documents), expected, strict=True):
        for here, there in zip(
            posteriors(lattice_of([found])), posteriors(lattice_of([wanted])), strict=True
        ):
            torch.testing.assert_close(here, there, rtol=0, atol=1e-9)
    assert (forward.direction, backward.direction, pair.direction) == (
        "forward", "backward", "both",
    )  # fmt: skip
    assert [run.label for run in (forward, backward, pair)] == [
        "LRLM", "LRLM (backward)", "LRLM (both)",
    ]  # fmt: skip


def test_a_pair_annotates_and_its_text_costs_what_it_costs_forward() -> None:
    forward, document = toy_run("lrlm"), link("a b u v a")
    pair = paired(forward, backward_run(), weight=1.0)
    (alone,), (together,) = annotate(forward, [document]), annotate(pair, [document])
    assert together.nats == pytest.approx(alone.nats, abs=1e-9)
    assert together.end_nats == alone.end_nats
    assert score(pair, document).nats == pytest.approx(score(forward, document).nats, abs=1e-9)
    differ = 0
    for here, there in zip(together.spans, alone.spans, strict=True):
        assert (here.start, here.end) == (there.start, there.end)
        assert math.fsum(each.probability for each in here.explanations) == pytest.approx(1)
        differ += here.explanations[0].probability != pytest.approx(
            there.explanations[0].probability, abs=1e-3
        )
    assert differ


def test_a_weight_of_zero_is_the_forward_run_alone() -> None:
    forward = toy_run("lrlm")
    (alone,) = annotate(forward, [link("a b u")])
    (pair,) = annotate(paired(forward, backward_run(), weight=0.0), [link("a b u")])
    assert pair == alone


def test_runs_with_other_vocabularies_are_a_pair() -> None:
    """A word may be known to one and spelled by the other: its score goes to the same place."""
    words = Vocabulary.from_counts({"u": 9, "a": 5}, documents=3)  # "b" has to be spelled now
    backward = backward_run(space=WordSpace(words, _EveryWord()))
    forward, document = toy_run("lrlm"), link("a b u")
    (scored,) = read_linked(paired(forward, backward), [document])
    left, right = (read_linked(run, [document]) for run in (forward, backward))
    assert not np.array_equal(left[0].encoded.tokens_N, right[0].encoded.tokens_N)
    (expected,) = combine(left, right, USUAL_WEIGHT)
    torch.testing.assert_close(scored.words_N(), expected.words_N(), rtol=0, atol=1e-9)
    torch.testing.assert_close(scored.score_E, expected.score_E, rtol=0, atol=1e-9)


class _EveryWord(ToySpeller):
    def log_probs(self, words: Sequence[str]) -> Floats:
        return np.full(len(words), -2.0, dtype=np.float32)


@pytest.mark.parametrize(
    ("forward", "backward", "message"),
    [
        ("forward", "forward", "toy reads forward, but the second run of a pair reads backward"),
        ("backward", "backward", "toy-backward reads backward, but the first run of a pair"),
        ("vanilla", "backward", "holds a Vanilla LM, which does not know where words come from"),
        ("forward", "relinked", "find names in texts in different ways"),
    ],
)
def test_what_is_no_pair_is_refused(forward: str, backward: str, message: str) -> None:
    other = backward_run()
    manifest = {**other.setup.manifest}
    manifest["link_options"] = {**manifest["link_options"], "letter_case": "variants"}
    runs = {
        "forward": toy_run("lrlm"),
        "vanilla": toy_run("vanilla"),
        "backward": other,
        "relinked": replace(other, setup=replace(other.setup, manifest=manifest)),
    }
    with pytest.raises(InputError, match=message):
        paired(runs[forward], runs[backward])


@pytest.mark.parametrize("weight", [-0.1, 11.0, math.nan, math.inf])
def test_a_weight_is_a_modest_number(weight: float) -> None:
    with pytest.raises(InputError, match="from 0 to 10"):
        paired(toy_run("lrlm"), backward_run(), weight=weight)


def test_a_weight_without_a_backward_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no backward run is named"):
        lrlm.load(backward_weight=0.5)
    with pytest.raises(InputError, match="a run is named by its folder"):
        lrlm.load(backward=7)  # type: ignore[arg-type]
    with pytest.raises(FormatError, match="lrlm train"):
        open_run(lrlm.load().run.folder, backward=tmp_path / "nothing")


def fit_of(forward: Run) -> PairFit:
    return PairFit(
        weight=0.4, forward="toy", forward_sha256="?", corpus="toys", split="valid",
        criterion="gold mentions", places=3, nats_forward=1.0, nats_backward=1.0, nats_pair=0.5,
    )  # fmt: skip


def test_a_fitted_weight_is_that_of_the_two_runs_it_was_fitted_for(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("forward", "other", "backward")]
    for folder in folders:
        folder.mkdir()
        (folder / WEIGHTS).write_bytes(folder.name.encode())
    forward, other = (replace(toy_run("lrlm"), folder=folder) for folder in folders[:2])
    backward = replace(backward_run(), folder=folders[2])
    assert fitted_weight(forward, backward) == USUAL_WEIGHT == 1.0
    replace(fit_of(forward), forward_sha256=weights_sha256(forward)).save(backward.folder)
    assert fitted_weight(forward, backward) == 0.4
    assert fitted_weight(other, backward) == USUAL_WEIGHT
    pair = paired(forward, backward).partner
    assert pair is not None
    assert pair.weight == 0.4


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        "{}",
        '{"format": "lrlm partner", "version": 1, "weight": "much", "forward_sha256": "?"}',
        '{"format": "lrlm partner", "version": 1, "weight": 99, "forward_sha256": "?"}',
        '{"format": "lrlm partner", "version": 2, "weight": 1, "forward_sha256": "?"}',
    ],
)
def test_a_damaged_fit_is_told(tmp_path: Path, content: str) -> None:
    backward = replace(backward_run(), folder=tmp_path)
    (tmp_path / PARTNER).write_text(content)
    with pytest.raises(FormatError, match="fit the pair again"):
        fitted_weight(toy_run("lrlm"), backward)


def test_a_fit_is_plain_values(tmp_path: Path) -> None:
    fit_of(toy_run("lrlm")).save(tmp_path)
    content = json.loads((tmp_path / PARTNER).read_text())
    assert content["weight"] == 0.4
    assert content["format"] == "lrlm partner"
    assert content["criterion"] == "gold mentions"


def test_directions_are_checked_when_a_configuration_is_made() -> None:
    with pytest.raises(InputError, match=r"model\.direction must be one of forward, backward"):
        ModelConfig(direction="sideways")
    with pytest.raises(InputError, match="reads forward only; train a small one"):
        ModelConfig(backbone=lrlm.Pretrained("somewhere"), direction=BACKWARD)
    for kind, reads_facts in (("prompted", False), ("lrlm", True)):
        with pytest.raises(InputError, match="reads facts before the text reads forward only"):
            ModelConfig(kind=kind, direction=BACKWARD, facts_in_context=reads_facts)
