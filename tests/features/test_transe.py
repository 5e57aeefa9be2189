"""TransE: its negatives, its loss, its spheres, its repeatability, and that it learns."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
import torch
from torch import nn

from lrlm.features import Graph, RelationConfig
from lrlm.features.link_prediction import link_ranks, mean_reciprocal_rank
from lrlm.features.transe import Corrupter, margin_loss, replace, train_transe
from tests.oracles import link_prediction as oracle

Triples = Sequence[tuple[str, str, str]]


def graph_of(triples: Triples) -> Graph:
    topics, types, objects = zip(*triples, strict=True)
    return Graph.from_names((pa.array(topics), pa.array(types), pa.array(objects)))


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


CONFIG = RelationConfig(width=16, epochs=40, batch_size=32, learning_rate=0.02)


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
    learned = train_transe(graph, RelationConfig(width=4, epochs=2))
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


def test_the_same_seed_gives_the_same_vectors_on_any_number_of_threads() -> None:
    graph, config = graph_of(world()), RelationConfig(width=8, epochs=3, batch_size=16)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        first = train_transe(graph, config)
        torch.set_num_threads(2)
        second = train_transe(graph, config)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(first.nodes_MD, second.nodes_MD)
    assert torch.equal(first.types_TD, second.types_TD)
    other = train_transe(graph, RelationConfig(width=8, epochs=3, batch_size=16, seed=2))
    assert not torch.equal(first.nodes_MD, other.nodes_MD)


def test_nodes_have_length_one_and_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    learned = train_transe(
        graph_of(world()),
        RelationConfig(width=8, epochs=3),
        progress=lambda done, total: told.append((done, total)),
    )
    torch.testing.assert_close(learned.nodes_MD.norm(dim=1), torch.ones(len(learned.nodes_MD)))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert not learned.nodes_MD.requires_grad


def test_what_was_held_out_is_found_again() -> None:
    """A city's country follows from its currency: half of such facts are enough to learn it."""
    triples = world()
    held_out = [triple for triple in triples if triple[1] == "country"][::6]
    graph = graph_of(triples)
    of_name = {name: index for index, name in enumerate(graph.nodes)}
    held_B3 = torch.tensor(
        [[of_name[head], graph.types.index(kind), of_name[tail]] for head, kind, tail in held_out]
    )
    held = set(map(tuple, held_B3.tolist()))
    kept = np.array([t for t in graph.triples_N3.tolist() if tuple(t) not in held])
    learned = train_transe(Graph(graph.nodes, graph.types, kept), CONFIG)
    ranks = link_ranks(
        learned.nodes_MD,
        learned.types_TD,
        held_B3,
        known_N3=torch.from_numpy(graph.triples_N3),
        norm=CONFIG.norm,
    )
    assert mean_reciprocal_rank(ranks[0]) > 0.6  # by chance, of 64 nodes: 0.07


@pytest.mark.parametrize("norm", [1, 2])
def test_ranks_are_those_of_one_candidate_at_a_time(norm: int) -> None:
    rng = np.random.default_rng(0)
    # Few distinct coordinates: some nodes are equally near.
    nodes = rng.integers(0, 3, (12, 2)).astype(float)
    types = rng.integers(0, 2, (2, 2)).astype(float)
    known = rng.integers(0, [12, 2, 12], (30, 3))
    ranks = link_ranks(
        torch.from_numpy(nodes),
        torch.from_numpy(types),
        torch.from_numpy(known),
        known_N3=torch.from_numpy(known),
        norm=norm,
        at_once=7,
    )
    triples = [(int(h), int(r), int(t)) for h, r, t in known]
    for row, side in enumerate(("tail", "head")):
        expected = [
            oracle.rank(nodes, types, triple, set(triples), side=side, norm=norm)
            for triple in triples
        ]
        assert ranks[row].tolist() == expected
    assert mean_reciprocal_rank(torch.tensor([1.0, 2.0, 4.0])) == pytest.approx(1.75 / 3)
