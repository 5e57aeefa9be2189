"""Words are chosen as the head says, however little of it is computed."""

import itertools
from collections import Counter

import pytest
import torch
from scipy import stats

from lrlm.heads import Choosing, WordChooser, WordConfig, WordHead, words
from tests.oracles.softmax import all_log_probs

WORDS, WIDTH, COUNT = 12, 4, 20_000


def make(cutoffs: tuple[int, ...], end_id: int) -> tuple[WordHead, WordChooser]:
    torch.manual_seed(1)
    config = WordConfig(embedding_size=5, projection_size=6, cutoffs=cutoffs, divisor=2.0)
    head = WordHead(config, WIDTH, WORDS).double()
    for parameter in head.parameters():
        torch.nn.init.normal_(parameter, std=0.6)
    return head, head.chooser(end_id=end_id)


@pytest.mark.parametrize("cutoffs", [(), (4,), (3, 7)])
@pytest.mark.parametrize("end_id", [1, 5, 11])
@pytest.mark.parametrize("may_end", [True, False])
@torch.inference_mode()
def test_words_are_drawn_from_all(cutoffs: tuple[int, ...], end_id: int, may_end: bool) -> None:
    head, choice = make(cutoffs, end_id)
    states = torch.randn(1, WIDTH, dtype=torch.float64).expand(COUNT, -1)
    chosen, log_probs = choice.choose(
        states,
        torch.full((COUNT,), may_end),
        Choosing(generator=torch.Generator().manual_seed(3)),
    )
    expected_log_probs = all_log_probs(head, states[:1])[0]
    torch.testing.assert_close(log_probs, expected_log_probs[chosen])
    chances = expected_log_probs.exp()
    if not may_end:
        chances[end_id] = 0
    chances /= chances.sum()
    seen = Counter(chosen.tolist())
    possible = [word for word in range(WORDS) if chances[word] > 0]
    assert set(seen) <= set(possible)
    expected = [float(chances[word]) * COUNT for word in possible]
    assert stats.chisquare([seen[word] for word in possible], expected).pvalue > 0.001


@pytest.mark.parametrize("cutoffs", [(), (4,), (3, 7)])
@torch.inference_mode()
def test_rows_do_not_mix(cutoffs: tuple[int, ...]) -> None:
    head, choice = make(cutoffs, 2)
    states = torch.randn(40, WIDTH, dtype=torch.float64)
    may_end = torch.tensor(list(itertools.islice(itertools.cycle([True, False]), 40)))
    expected = all_log_probs(head, states)
    for choosing in (Choosing(), Choosing(top_k=3), Choosing(greedy=True), Choosing(0.5)):
        words, log_probs = choice.choose(states, may_end, choosing)
        torch.testing.assert_close(log_probs, expected.gather(1, words[:, None]).squeeze(1))
        assert not (words[~may_end] == 2).any()
        if choosing.greedy:
            allowed = expected.clone()
            allowed[~may_end, 2] = -torch.inf
            assert torch.equal(words, allowed.argmax(1))


@pytest.mark.parametrize("cutoffs", [(), (3, 7)])
@torch.inference_mode()
def test_many_rows_are_taken_some_at_a_time(
    cutoffs: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, choice = make(cutoffs, 2)
    states, may_end = torch.randn(40, WIDTH, dtype=torch.float64), torch.ones(40, dtype=torch.bool)
    whole = choice.choose(states, may_end, Choosing(greedy=True))
    monkeypatch.setattr(words, "_MOST_SCORES", 7 * WORDS)
    for expected, found in zip(
        whole, choice.choose(states, may_end, Choosing(greedy=True)), strict=True
    ):
        torch.testing.assert_close(found, expected)


def test_the_head_may_be_small() -> None:
    with torch.inference_mode():
        _, choice = make((3, 7), 0)
        words, _ = choice.choose(
            torch.zeros(0, WIDTH, dtype=torch.float64), torch.zeros(0, dtype=torch.bool), Choosing()
        )
    assert words.shape == (0,)
