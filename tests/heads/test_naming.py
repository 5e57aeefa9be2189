"""What earlier mentions add to scores: nothing at first, and never anything of padding."""

import pytest
import torch

from lrlm.arrays import UNSEEN
from lrlm.heads import NamingScores, ToldTopic, mention_features
from lrlm.heads.naming import MENTION_FEATURES, Mentions, ToldByState, TypesOfTheirOwn

D, W, F = 4, 3, 5


def scores(seed: int | None = 1) -> NamingScores:
    """Scores with random weights, or as training finds them."""
    naming = NamingScores(D, W, F).double()
    if seed is not None:
        torch.manual_seed(seed)
        for parameter in naming.parameters():
            torch.nn.init.normal_(parameter)
    return naming


def test_features_say_whether_how_often_and_how_long_ago() -> None:
    times, since = torch.tensor([0, 1, 1, 2]), torch.tensor([0, 0, 9, 9])
    never, now, later, twice = mention_features(times, since, torch.float64)
    assert not never.any()
    assert now.tolist() == [1, 0, 1, 1, 1]
    assert later[:2].tolist() == [1, 0]
    assert (later[2:] < now[2:]).all()
    assert twice.tolist() == [1, 1, *later[2:].tolist()]


def test_mentions_are_summed_as_if_every_name_had_features() -> None:
    draw = torch.Generator().manual_seed(3)
    times_BSR = torch.randint(0, 3, (2, 4, 3), generator=draw)
    since_BSR = torch.randint(0, 20, (2, 4, 3), generator=draw) * (times_BSR > 0)
    scores_BSR = torch.randn(2, 4, 3, generator=draw).double()
    by_place_BSK = torch.randn(2, 4, MENTION_FEATURES, generator=draw).double()
    by_name_BRK = torch.randn(2, 3, MENTION_FEATURES, generator=draw).double()
    mentions = Mentions(times_BSR, since_BSR, torch.float64)
    features_BSRK = mention_features(times_BSR, since_BSR, torch.float64)
    torch.testing.assert_close(
        mentions.add_to(scores_BSR, by_place_BSK, by_name_BRK),
        scores_BSR + (features_BSRK * (by_place_BSK[:, :, None] + by_name_BRK[:, None])).sum(3),
    )
    torch.testing.assert_close(
        mentions.add_to(scores_BSR, by_place_BSK),
        scores_BSR + (features_BSRK @ by_place_BSK[..., None]).squeeze(3),
    )
    torch.testing.assert_close(
        mentions.total(scores_BSR), (scores_BSR[..., None] * features_BSRK).sum(2)
    )


def test_sources_of_all_places_of_a_row_share_its_mask() -> None:
    naming, mask_B1R = scores(), torch.tensor([[[True, True, False]], [[True, False, False]]])
    times_BSR = torch.tensor([[[0, 0, 0], [1, 0, 0]], [[0, 0, 0], [2, 0, 0]]])
    since_BSR = 4 * times_BSR
    found = naming.source_scores(times_BSR, since_BSR, mask_B1R)
    flat = [each.flatten(0, 1) for each in (times_BSR, since_BSR, mask_B1R.expand(2, 2, 3))]
    torch.testing.assert_close(found.flatten(0, 1), naming.source_scores(*flat))


def test_training_begins_where_nothing_is_added() -> None:
    naming = scores(None)
    times, since = torch.tensor([[0, 1, 2]]), torch.tensor([[0, 3, 1]])
    states, vectors = torch.randn(1, 1, D).double(), torch.randn(1, 3, W).double()
    assert not naming.source_scores(times, since, times >= 0).any()
    assert not naming.relation_scores(states, vectors, times[None], since[None]).any()
    assert not naming.form_shift(times[0], since[0]).any()
    assert not naming.form_scores(states[0], times, since).any()


def test_padding_does_not_matter() -> None:
    naming = scores()
    times, since = torch.tensor([[0, 1, 2]]), torch.tensor([[0, 3, 1]])
    states, vectors = torch.randn(1, 1, D).double(), torch.randn(1, 5, W).double()
    mask = torch.tensor([[True, True, True, False, False]])
    padded = torch.nn.functional.pad(times, (0, 2)), torch.nn.functional.pad(since, (0, 2))
    torch.testing.assert_close(
        naming.source_scores(*padded, mask), naming.source_scores(times, since, mask[:, :3])
    )
    left = naming.relation_scores(states, vectors, padded[0][None], padded[1][None])[..., :3]
    right = naming.relation_scores(states, vectors[:, :3], times[None], since[None])
    torch.testing.assert_close(left, right)
    told = ToldTopic(W, 7, D, types=9).double()
    types = torch.tensor([[4, UNSEEN, 4, 4, UNSEEN]])
    torch.testing.assert_close(
        told(vectors, types, padded[0][None], padded[1][None], mask),
        told(vectors[:, :3], types[:, :3], times[None], since[None], mask[:, :3]),
    )


def test_a_topic_without_relations_adds_nothing() -> None:
    naming = scores()
    none = torch.zeros(2, 0, dtype=torch.long)
    assert naming.source_scores(none, none, none.bool()).tolist() == [[0, 0], [0, 0]]
    empty = torch.zeros(1, 0, W).double()
    added = naming.relation_scores(torch.randn(1, 2, D).double(), empty, none[None], none[None])
    assert added.shape == (1, 2, 0)
    told = ToldTopic(W, 7, D, types=2).double()
    added = told(empty, none[:1], none[None], none[None], none[:1].bool())
    assert added.shape == (1, 2, told.to_input.in_features)
    assert told.add_to(torch.zeros(1, 2, D).double(), added).shape == (1, 2, D)


def test_a_type_of_its_own_counts_once_and_unseen_ones_share_theirs() -> None:
    own = TypesOfTheirOwn(W, types=3, unseen_rate=0.0).double()

    def told(types: list[int], times: list[int]) -> list[float]:
        named = torch.tensor([[times]], dtype=torch.float64)
        mask = torch.ones(1, len(types), dtype=torch.bool)
        sums: list[float] = own(torch.tensor([types]), named, 0 * named, mask)[0, 0].tolist()
        return sums

    nothing = [0, 0, 0]
    assert told([0, 1, 1], nothing) == pytest.approx(told([0, 0, 1], nothing))
    assert told([0, 1, 1], nothing) != pytest.approx(told([0, 2, 2], nothing))
    assert told([0, 1, 1], [0, 1, 0]) == pytest.approx(told([0, 1, 1], [0, 1, 1]))
    assert told([0, 1, 1], [0, 1, 0]) != pytest.approx(told([0, 1, 1], [1, 0, 0]))
    assert told([0, UNSEEN, UNSEEN], nothing) == pytest.approx(told([0, 0, UNSEEN], nothing))


def test_what_states_make_of_it_is_nothing_at_first() -> None:
    told, states = torch.randn(2, 3, 6), torch.randn(2, 3, D)
    by_state = ToldByState(6, D)
    assert not by_state(states, told).any()
    torch.nn.init.normal_(by_state.added.weight)
    assert by_state(states, told).any()


def test_both_ways_to_choose_a_form_agree() -> None:
    naming = scores()
    states = torch.randn(2, D).double()
    times, since = torch.tensor([[0, 1, 3], [2, 0, 1]]), torch.tensor([[0, 4, 2], [7, 0, 0]])
    dense = naming.form_scores(states, times, since)
    query = torch.tensor([0, 0, 0, 1, 1, 1])
    flat = naming.form_scores(states, times.reshape(-1), since.reshape(-1), query)
    torch.testing.assert_close(flat, dense.reshape(-1))
