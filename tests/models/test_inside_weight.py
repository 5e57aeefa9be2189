"""What words within candidate spans cost, by listing all segmentations; how they are learned."""

import math

import pytest
import torch

from lrlm.batching import Window
from lrlm.errors import InputError
from lrlm.heads import RelationConfig
from lrlm.models import WindowReader
from lrlm.models.language_model import WindowScores
from lrlm.runs.devices import Precision
from lrlm.training.optimiser import GradientAccumulator
from tests.models.contract import documents, make_model
from tests.oracles import lattice as oracle
from tests.toy import collator


def listed_nats(scores: WindowScores, window: Window) -> list[float]:
    """−log of the sum over all ways to cut the covered pieces of each row, one way at a time."""
    words_BT = scores.words_BT(window.spelling_BT).tolist()
    assert scores.edges is not None
    assert scores.score_E is not None
    edges = scores.edges
    listed = zip(
        edges.row_E.tolist(),
        edges.start_E.tolist(),
        edges.end_E.tolist(),
        scores.score_E.tolist(),
        strict=True,
    )
    spans = [(row, oracle.Edge(start, end, 0, score)) for row, start, end, score in listed]
    found = []
    for row, length in enumerate(window.lengths_B.tolist()):
        here = [edge for edge_row, edge in spans if edge_row == row]
        covered = {place for edge in here for place in range(edge.start, edge.end)}
        whole = -oracle.log_marginal(oracle.Row(words_BT[row][:length], here))
        outside = sum(-words_BT[row][place] for place in range(length) if place not in covered)
        found.append(whole - outside)
    return found


@pytest.mark.parametrize("kind", ["lrlm", "lrlm+name_words", "lrlm+named+fit+traits"])
@pytest.mark.parametrize("size", [150, 4])
def test_the_nats_inside_are_those_of_all_ways_to_cut_the_covered_pieces(
    kind: str, size: int
) -> None:
    model = make_model(kind, "lstm")
    reader = WindowReader(model)
    expected: list[float] = []
    inside: list[float] = []
    for window in collator(size).windows(documents()):
        here, scores = reader.read(window)
        nats_B, _ = scores.nats(here)
        inside += scores.inside_nats(here, nats_B).tolist()
        expected += listed_nats(scores, here)
    possible = [each for each in expected if math.isfinite(each)]
    assert [each for each in inside if math.isfinite(each)] == pytest.approx(possible, abs=1e-9)
    assert sum(possible) > 1


def test_a_model_without_candidates_has_nothing_inside() -> None:
    model = make_model("vanilla", "lstm")
    (window,) = collator(parts=model.reads).windows(documents())
    here, scores = WindowReader(model).read(window)
    nats_B, _ = scores.nats(here)
    assert not scores.inside_nats(here, nats_B).any()


def gradient(weight: float) -> tuple[float, torch.Tensor]:
    """What training reports of some texts, and what it learns from them."""
    model = make_model("lrlm", "lstm")
    model.inside_weight = weight
    cpu = torch.device("cpu")
    gradients = GradientAccumulator(model, Precision("float32", cpu, model), cpu)
    gradients.begin([list(collator().windows(documents()[:1]))])
    torch.manual_seed(1)  # the same values are dropped
    nats = gradients.add(0, 1.0)
    found = [each.grad.reshape(-1) for each in model.parameters() if each.grad is not None]
    return nats, torch.cat(found)


def test_training_counts_them_so_many_times_and_reports_them_once() -> None:
    (nats, once), (nats_2, twice), (nats_3, thrice) = map(gradient, (1.0, 2.0, 3.0))
    assert nats == nats_2 == nats_3
    torch.testing.assert_close(thrice - once, 2 * (twice - once))
    assert (twice - once).abs().max() > 0.01


def test_a_weight_out_of_range_is_refused() -> None:
    for weight in (0.0, 11.0, math.nan):
        with pytest.raises(InputError, match="inside_weight must be"):
            RelationConfig(inside_weight=weight)
