"""Training that begins with what is known of words: frequencies, and which words are alike."""

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from lrlm.heads import KnownWords, WordConfig, WordEmbedding, WordHead

WORDS, STATES, GIVEN = 3000, 12, 8
COUNTS = [WORDS - place for place in range(WORDS)]


def known_words() -> KnownWords:
    vectors_VW = torch.randn(WORDS, GIVEN, generator=torch.Generator().manual_seed(1))
    return KnownWords.of(COUNTS, vectors_VW + 3.0)  # what all have in common tells nothing


def informed(
    *, tied: bool, cutoffs: Sequence[int], informed: bool = True, widths: tuple[int, int] = (32, 32)
) -> tuple[WordEmbedding, WordHead]:
    config = WordConfig(
        embedding_size=widths[0],
        projection_size=widths[1],
        cutoffs=tuple(cutoffs),
        divisor=2.0,
        tied=tied,
        informed=informed,
    )
    torch.manual_seed(2)
    embedding = WordEmbedding(config, WORDS)
    head = WordHead(config, STATES, WORDS, embedding=embedding)
    config.begin_with(embedding, head, known_words)
    return embedding, head


@pytest.mark.parametrize("tied", [False, True], ids=["untied", "tied"])
@pytest.mark.parametrize("cutoffs", [(), (500, 1500)], ids=["full", "adaptive"])
@torch.no_grad()
def test_a_head_begins_with_the_frequencies_of_words(tied: bool, cutoffs: Sequence[int]) -> None:
    _, head = informed(tied=tied, cutoffs=cutoffs)
    head.project.weight.zero_()
    head.project.bias.zero_()
    log_probs_V = head.log_probs(torch.zeros(WORDS, STATES), torch.arange(WORDS))
    shares_V = (torch.tensor(COUNTS) + 0.5) / (torch.tensor(COUNTS) + 0.5).sum()
    assert torch.allclose(log_probs_V.exp(), shares_V.float(), rtol=1e-4)


def likeness(left_V: Tensor, right_V: Tensor) -> float:
    return float(torch.corrcoef(torch.stack([left_V.flatten(), right_V.flatten()]))[0, 1])


@pytest.mark.parametrize("tied", [False, True], ids=["untied", "tied"])
@torch.no_grad()
def test_words_that_are_alike_are_read_alike_also_across_clusters(tied: bool) -> None:
    embedding, _ = informed(tied=tied, cutoffs=(500, 1500))
    some = torch.arange(0, WORDS, 50)
    given_VW = known_words().vectors_VW[some].float()
    read_VE = torch.nn.functional.normalize(embedding(some), dim=1)
    assert likeness(read_VE @ read_VE.T, given_VW @ given_VW.T) > 0.6
    chance, _ = informed(tied=tied, cutoffs=(500, 1500), informed=False)
    read_VE = torch.nn.functional.normalize(chance(some), dim=1)
    assert likeness(read_VE @ read_VE.T, given_VW @ given_VW.T) < 0.35


@torch.no_grad()
def test_a_state_that_asks_for_a_word_finds_words_like_it_in_every_cluster() -> None:
    embedding, head = informed(tied=True, cutoffs=(500, 1500))
    wanted_E = embedding(torch.tensor([7]))[0]
    likeness_V = known_words().vectors_VW @ known_words().vectors_VW[7]
    for number, cluster in enumerate(head.clusters):
        asked = wanted_E if number == 0 else head.narrow[number - 1](wanted_E)
        scores_N = head.tables[number] @ asked
        given_N = likeness_V[cluster.first : cluster.last].float()
        assert likeness(scores_N, given_N) > 0.3, cluster


def test_nothing_changes_where_it_is_not_wished() -> None:
    def weights(*, is_informed: bool) -> list[Tensor]:
        embedding, head = informed(tied=False, cutoffs=(500,), informed=is_informed)
        return [*embedding.parameters(), *head.parameters()]

    torch.manual_seed(2)
    config = WordConfig(embedding_size=32, projection_size=32, cutoffs=(500,), divisor=2.0)
    embedding = WordEmbedding(config, WORDS)
    fresh = [*embedding.parameters(), *WordHead(config, STATES, WORDS).parameters()]
    assert all(map(torch.equal, weights(is_informed=False), fresh))
    assert not all(map(torch.equal, weights(is_informed=True), fresh))


def test_widths_of_reading_and_writing_may_differ() -> None:
    embedding, head = informed(tied=False, cutoffs=(500, 1500), widths=(16, 40))
    assert all(
        bool(each.isfinite().all()) for each in (*embedding.parameters(), *head.parameters())
    )
