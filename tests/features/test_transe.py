"""TransE: its negatives, its loss, its spheres, its repeatability, and that it learns."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
import torch
from torch import nn

from lrlm.features import RelationVectorConfig, TripleTable
from lrlm.features.transe import Corrupter, margin_loss, replace, train_transe
from tests.oracles.link_prediction import mean_reciprocal_rank, rank

Triples = Sequence[tuple[str, str, str]]


def graph_of(triples: Triples) -> TripleTable:
    topics, types, objects = zip(*triples, strict=True)
    return TripleTable.from_names((pa.array(topics), pa.array(types), pa.array(objects)))


def world(countries: int = 8, cities: int = 6) -> list[tuple[str, str, str]]:
    """Cities lie in countries, countries have currencies and cities share their country's."""
    return [
        triple
        for country in range(countries)
        for city in range(cities)
        for triple in (
            (f"city {country}.{city}", "country", f"country {country}"),
            (f"city {country}.{city}", "currency", f"coin {country}"),
            (f"country {country}", "currency", f"coin {country}"),
        )
    ]


CONFIG = RelationVectorConfig(width=16, epochs=40, batch_size=32, learning_rate=0.02)


def test_a_graph_holds_each_triple_once_in_order() -> None:
    graph = graph_of([("b", "r", "é"), ("b", "q", "a"), ("b", "r", "é"), ("a", "r", "a")])
    assert graph.nodes == ("a", "b", "é")
    assert graph.types == ("q", "r")
    assert graph.triples_N3.tolist() == [[0, 1, 0], [1, 0, 0], [1, 1, 2]]


@pytest.mark.parametrize("filtered", [True, False])
def test_negatives_replace_one_end_and_are_false_if_filtered(filtered: bool) -> None:
    graph = graph_of(world())
    triples_B3 = torch.from_numpy(graph.triples_N3)
    corrupter = Corrupter(graph, filtered=filtered)
    assert corrupter.is_known(triples_B3).all()
    node_BK, replaces_head_BK = corrupter.draw(triples_B3, 50, torch.Generator().manual_seed(1))
    false_BK3 = replace(triples_B3, node_BK, replaces_head_BK)
    known = set(map(tuple, graph.triples_N3.tolist()))
    is_true = [tuple(triple) in known for triple in false_BK3.flatten(0, 1).tolist()]
    assert any(is_true) != filtered
    assert corrupter.is_known(false_BK3).flatten().tolist() == is_true
    kept = false_BK3 == triples_B3[:, None]
    assert kept[..., 1].all()
    assert kept[..., 2][replaces_head_BK].all()
    assert kept[..., 0][~replaces_head_BK].all()
    assert 0.4 < float(replaces_head_BK.float().mean()) < 0.6


def test_a_graph_without_false_triples_ends() -> None:
    graph = graph_of([("a", "r", "a")])
    learned = train_transe(graph, RelationVectorConfig(width=4, epochs=2))
    assert learned.nodes_MD.isfinite().all()


@pytest.mark.parametrize("norm", [1, 2])
def test_the_loss_is_the_margin_that_a_false_triple_lacks(norm: int) -> None:
    generator = torch.Generator().manual_seed(0)
    nodes_MD = torch.randn(5, 3, generator=generator)
    types_TD = torch.randn(2, 3, generator=generator)
    nodes, types = nn.Embedding(5, 3, _weight=nodes_MD), nn.Embedding(2, 3, _weight=types_TD)
    triples_B3 = torch.tensor([[0, 1, 2], [3, 0, 4]])
    node_BK = torch.tensor([[3, 4], [0, 1]])
    replaces_head_BK = torch.tensor([[True, False], [False, True]])
    loss_BK = margin_loss(
        nodes, types, triples_B3, node_BK, replaces_head_BK, margin=1.5, norm=norm
    ).detach()
    false_BK3 = replace(triples_B3, node_BK, replaces_head_BK).tolist()

    def distance(triple: list[int]) -> float:
        head, kind, tail = triple
        return float(np.linalg.norm((nodes_MD[head] + types_TD[kind] - nodes_MD[tail]), norm))

    for row, true in enumerate(triples_B3.tolist()):
        for column in range(2):
            expected = max(0, 1.5 + distance(true) - distance(false_BK3[row][column]))
            assert float(loss_BK[row, column]) == pytest.approx(expected, rel=1e-5)


def test_the_same_seed_gives_the_same_vectors() -> None:
    graph, config = graph_of(world()), RelationVectorConfig(width=8, epochs=3, batch_size=16)
    first, second = train_transe(graph, config), train_transe(graph, config)
    assert torch.equal(first.nodes_MD, second.nodes_MD)
    assert torch.equal(first.types_TD, second.types_TD)
    other = train_transe(graph, RelationVectorConfig(width=8, epochs=3, batch_size=16, seed=2))
    assert not torch.equal(first.nodes_MD, other.nodes_MD)


def test_nodes_have_length_one_and_progress_is_told() -> None:
    told: list[tuple[str, int, int]] = []
    graph = graph_of(world())
    learned = train_transe(
        graph,
        RelationVectorConfig(width=8, epochs=3, batch_size=64),
        progress=lambda *step: told.append(step),
    )
    torch.testing.assert_close(learned.nodes_MD.norm(dim=1), torch.ones(len(learned.nodes_MD)))
    total = 3 * len(graph.triples_N3)
    assert told[:2] == [("making relation vectors", done, total) for done in (0, 64)]
    assert told[-1] == ("making relation vectors", total, total)
    assert not learned.nodes_MD.requires_grad


def test_what_was_held_out_is_found_again() -> None:
    """A city's country follows from its currency: half of such facts are enough to learn it."""
    triples = world()
    held_out = [triple for triple in triples if triple[1] == "country"][::6]
    graph = graph_of(triples)
    of_name = {name: index for index, name in enumerate(graph.nodes)}
    held_B3 = np.array(
        [[of_name[head], graph.types.index(kind), of_name[tail]] for head, kind, tail in held_out]
    )
    held = set(map(tuple, held_B3.tolist()))
    kept = np.array([t for t in graph.triples_N3.tolist() if tuple(t) not in held])
    learned = train_transe(TripleTable(graph.nodes, graph.types, kept), CONFIG)
    ranks = [
        rank(
            learned.nodes_MD.double().numpy(),
            learned.types_TD.double().numpy(),
            (head, kind, tail),
            graph.triples_N3,
            side="tail",
            norm=CONFIG.norm,
        )
        for head, kind, tail in held_B3.tolist()
    ]
    assert mean_reciprocal_rank(ranks) > 0.6  # by chance, of 64 nodes: 0.07


@pytest.mark.parametrize(("side", "expected"), [("tail", 2.5), ("head", 2.0)])
def test_a_rank_leaves_other_true_answers_out_and_halves_ties(side: str, expected: float) -> None:
    nodes_MD = np.array([[0.5], [2.0], [1.2], [2.0], [1.1], [4.0]])
    types_TD = np.array([[1.0]])
    # A tail is sought at 1.5: node 2 is nearer than node 1, 3 is as near, and 4, too, is true.
    # A head is sought at 1.0: node 2 is nearer than node 0, and 4 is true as well.
    known_N3 = np.array([[0, 0, 1], [0, 0, 4], [4, 0, 1]])
    assert rank(nodes_MD, types_TD, (0, 0, 1), known_N3, side=side, norm=2) == expected
