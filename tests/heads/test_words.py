"""Words: full or in clusters, tied or not, always a distribution, always the same by both ways."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from lrlm.errors import InputError, ShapeError
from lrlm.heads import WordConfig, WordEmbedding, WordHead
from tests.oracles.softmax import all_log_probs

WORDS = 23
STATE_SIZE = 5
CUTOFFS = ((), (7,), (1, 2), (4, 9, 22))


def build(cutoffs: tuple[int, ...], *, tied: bool = False) -> tuple[WordEmbedding, WordHead]:
    torch.manual_seed(0)
    config = WordConfig(
        embedding_size=8 if tied else 6, projection_size=8, cutoffs=cutoffs, divisor=2, tied=tied
    )
    embedding = WordEmbedding(config, WORDS).double()
    head = WordHead(config, STATE_SIZE, WORDS, embedding=embedding).double()
    for parameter in (*head.biases, head.tails_table, head.tails_bias):
        torch.nn.init.normal_(parameter)
    return embedding, head


def states(count: int, size: float = 1.0) -> Tensor:
    generator = torch.Generator().manual_seed(3)
    return torch.randn(count, STATE_SIZE, generator=generator, dtype=torch.float64) * size


def brute_force(head: WordHead, state_D: Tensor) -> list[float]:
    """Probability of each word, one word at a time."""
    hidden = head.project(state_D)
    frequent, *tails = head.clusters
    rows = [*zip(head.tables[0], head.biases[0], strict=True)]
    rows += [*zip(head.tails_table, head.tails_bias, strict=True)]
    first = [(row @ hidden + bias).exp() for row, bias in rows]
    probabilities = [float(weight / sum(first)) for weight in first]
    result = probabilities[: len(frequent)]
    for number, tail in enumerate(tails, start=1):
        narrow = head.narrow[number - 1](hidden)
        inner = [
            (head.tables[number][word] @ narrow + head.biases[number][word]).exp()
            for word in range(len(tail))
        ]
        of_tail = probabilities[len(frequent) + number - 1]
        result += [of_tail * float(weight / sum(inner)) for weight in inner]
    return result


@torch.no_grad()
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("cutoffs", CUTOFFS)
def test_equals_brute_force_and_sums_to_one(cutoffs: tuple[int, ...], tied: bool) -> None:
    _, head = build(cutoffs, tied=tied)
    log_probs = all_log_probs(head, states(4))
    assert log_probs.shape == (4, WORDS)
    torch.testing.assert_close(log_probs.exp().sum(1), torch.ones(4).double())
    expected = torch.tensor([brute_force(head, state) for state in states(4)]).double()
    torch.testing.assert_close(log_probs.exp(), expected, rtol=1e-5, atol=1e-7)


@torch.no_grad()
@pytest.mark.parametrize("size", [1.0, 1e3])
@pytest.mark.parametrize("cutoffs", CUTOFFS)
def test_scores_of_targets_are_those_of_all_words(cutoffs: tuple[int, ...], size: float) -> None:
    _, head = build(cutoffs)
    targets = torch.arange(WORDS).flip(0).repeat(2)
    given_states = states(len(targets), size)
    expected = all_log_probs(head, given_states).gather(1, targets[:, None])[:, 0]
    assert expected.isfinite().all()
    torch.testing.assert_close(
        head.log_probs(given_states, targets), expected, rtol=1e-10, atol=1e-10
    )


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_any_clusters_are_a_distribution(data: st.DataObject) -> None:
    words = data.draw(st.integers(1, 40))
    cutoffs = data.draw(st.sets(st.integers(1, words - 1), max_size=4)) if words > 1 else set()
    config = WordConfig(
        embedding_size=3,
        projection_size=7,
        cutoffs=tuple(sorted(cutoffs)),
        divisor=data.draw(st.sampled_from([1.0, 1.5, 4.0])),
    )
    torch.manual_seed(0)
    head = WordHead(config, STATE_SIZE, words).double()
    with torch.no_grad():
        all_words = head.log_probs(states(1).expand(words, -1), torch.arange(words))
    assert float(all_words.exp().sum()) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("cutoffs", CUTOFFS)
def test_gradient_is_the_slope(cutoffs: tuple[int, ...]) -> None:
    _, head = build(cutoffs)
    targets = torch.tensor([0, 5, 12, 22])
    inputs = states(4).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: head.log_probs(x, targets), inputs)


@pytest.mark.parametrize("targets", [[0, 1], [0, 22], list(range(WORDS))])
def test_gradients_by_targets_and_by_all_words_agree(targets: list[int]) -> None:
    results = []
    for by_targets in (True, False):
        _, head = build((4, 9))
        inputs, wanted = states(len(targets)).requires_grad_(), torch.tensor(targets)
        if by_targets:
            log_probs = head.log_probs(inputs, wanted)
        else:
            log_probs = all_log_probs(head, inputs).gather(1, wanted[:, None])[:, 0]
        torch.autograd.backward((log_probs * torch.arange(1, len(targets) + 1)).sum())
        parameters = [torch.zeros_like(p) if p.grad is None else p.grad for p in head.parameters()]
        results.append([inputs.grad, *parameters])
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("cutoffs", CUTOFFS)
def test_vectors_of_words(cutoffs: tuple[int, ...]) -> None:
    embedding, _ = build(cutoffs)
    ids = torch.tensor([[0, 22, 8], [5, 0, 21]])
    vectors = embedding(ids)
    assert vectors.shape == (2, 3, embedding.output_size)
    bounds = list(pairwise((0, *cutoffs, WORDS)))
    for place in ((row, column) for row in range(2) for column in range(3)):
        word = int(ids[place])
        number = next(n for n, (first, last) in enumerate(bounds) if first <= word < last)
        expected = embedding.tables[number][word - bounds[number][0]]
        if number:
            expected = embedding.maps[number - 1](expected)
        torch.testing.assert_close(vectors[place], expected)
    torch.autograd.backward(vectors.sum())
    for number, (first, last) in enumerate(bounds):
        gradient = embedding.tables[number].grad
        assert gradient is not None
        used = {int(word) - first for word in ids.flatten() if first <= word < last}
        assert set(gradient.abs().sum(1).nonzero().flatten().tolist()) == used


@pytest.mark.parametrize("cutoffs", CUTOFFS)
def test_a_few_words_are_looked_up_the_same(cutoffs: tuple[int, ...]) -> None:
    embedding, _ = build(cutoffs)
    ids = torch.tensor([*range(WORDS), 0, WORDS - 1])
    torch.testing.assert_close(embedding.step(ids), embedding(ids), rtol=0, atol=1e-14)


def test_tied_tables_are_the_same_parameters_and_untied_ones_are_not() -> None:
    embedding, head = build((4, 9), tied=True)
    assert all(a is b for a, b in zip(embedding.tables, head.tables, strict=True))
    assert [tuple(table.shape) for table in head.tables] == [(4, 8), (5, 4), (14, 2)]
    embedding, head = build((4, 9))
    assert not any(a is b for a, b in zip(embedding.tables, head.tables, strict=True))
    assert [tuple(table.shape) for table in embedding.tables] == [(4, 6), (5, 3), (14, 1)]


def test_tables_stay_tied_when_a_model_is_filled_after_it_was_built_without_memory() -> None:
    with torch.device("meta"):
        embedding, head = build((4, 9), tied=True)
    torch.nn.ModuleList([embedding, head]).to_empty(device="cpu")
    assert all(a is b for a, b in zip(embedding.tables, head.tables, strict=True))


def test_a_tied_table_learns_from_both_sides() -> None:
    embedding, head = build((), tied=True)
    torch.autograd.backward(
        head.log_probs(embedding(torch.tensor([3]))[:, :STATE_SIZE], torch.tensor([4])).sum()
    )
    gradient = embedding.tables[0].grad
    assert gradient is not None
    assert (gradient.abs().sum(1) > 0).all()


@pytest.mark.parametrize("cutoffs", CUTOFFS)
def test_nothing_to_score_or_look_up(cutoffs: tuple[int, ...]) -> None:
    embedding, head = build(cutoffs)
    none = torch.empty(0, dtype=torch.long)
    log_probs = head.log_probs(states(0), none)
    assert log_probs.shape == (0,)
    torch.autograd.backward(log_probs.sum())
    assert all_log_probs(head, states(0)).shape == (0, WORDS)
    assert embedding(none).shape == (0, 6)
    assert embedding(none.view(3, 0)).shape == (3, 0, 6)


def test_float32_is_close_to_float64() -> None:
    _, head = build((4, 9))
    targets = torch.arange(WORDS)
    expected = head.log_probs(states(WORDS), targets)
    actual = head.float().log_probs(states(WORDS).float(), targets)
    assert actual.dtype == torch.float32
    torch.testing.assert_close(actual.double(), expected, rtol=1e-5, atol=1e-5)


def test_wrong_input_is_refused_by_name() -> None:
    _, head = build((4, 9))
    with pytest.raises(ShapeError, match="states_XD"):
        head.log_probs(torch.empty(2, 4).double(), torch.tensor([0, 0]))
    with pytest.raises(ShapeError, match="targets_X"):
        head.log_probs(states(2), torch.tensor([0]))


def test_wrong_configurations_are_refused_by_name() -> None:
    for cutoffs in ((3, 3), (5, 2), (0, 4)):
        with pytest.raises(InputError, match=r"model.words.cutoffs must increase"):
            WordConfig(cutoffs=cutoffs)
    for field in ("embedding_size", "projection_size", "divisor"):
        with pytest.raises(InputError, match=f"model.words.{field}"):
            WordConfig(**{field: 0})  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"model.words.tied needs one width"):
        WordConfig(embedding_size=4, projection_size=5, tied=True)
    with pytest.raises(InputError, match="not chosen yet"):
        WordEmbedding(WordConfig(), 10)
    for words in (4, 3):
        with pytest.raises(InputError, match="leave no word"):
            WordEmbedding(WordConfig(cutoffs=(4,)), words)
    tied = WordConfig(embedding_size=4, projection_size=4, cutoffs=(), tied=True)
    with pytest.raises(InputError, match="needs the embedding"):
        WordHead(tied, 5, 10)
    with pytest.raises(InputError, match="same words"):
        WordHead(tied, 5, 10, embedding=WordEmbedding(tied, 11))


def test_builds_without_memory() -> None:
    with torch.device("meta"):
        config = WordConfig(
            embedding_size=400, projection_size=400, cutoffs=(20_000, 60_000), tied=True
        )
        embedding = WordEmbedding(config, 264_000)
        head = WordHead(config, 1000, 264_000, embedding=embedding)
    assert all(parameter.is_meta for parameter in (*embedding.parameters(), *head.parameters()))
