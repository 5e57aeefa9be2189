import pytest

from lrlm.batching import evaluation_batches, token_batches, training_batches
from lrlm.errors import InputError

LENGTHS = [(index * 37) % 211 + 1 for index in range(1000)]


def test_every_document_is_in_exactly_one_batch() -> None:
    for batches in (
        training_batches(LENGTHS, 7, seed=3, epoch=0),
        evaluation_batches(LENGTHS, 7),
        token_batches(LENGTHS, 700),
    ):
        assert sorted(index for batch in batches for index in batch) == list(range(1000))


def test_the_same_seed_and_epoch_give_the_same_batches() -> None:
    first = training_batches(LENGTHS, 7, seed=3, epoch=1)
    assert first == training_batches(LENGTHS, 7, seed=3, epoch=1)
    assert first != training_batches(LENGTHS, 7, seed=3, epoch=2)
    assert first != training_batches(LENGTHS, 7, seed=4, epoch=1)


def test_documents_of_a_batch_are_alike_in_length() -> None:
    padded = sum(
        max(LENGTHS[index] for index in batch) * len(batch)
        for batch in training_batches(LENGTHS, 10, seed=1, epoch=0)
    )
    assert padded < 1.1 * sum(LENGTHS)


def test_evaluation_starts_with_the_longest() -> None:
    first = evaluation_batches(LENGTHS, 10)[0]
    assert LENGTHS[first[0]] == max(LENGTHS)


def test_batches_of_tokens_are_neither_large_nor_mostly_padding() -> None:
    lengths = [*LENGTHS, 2000, 1]
    batches = token_batches(lengths, 700)
    assert batches[0] == [1000]  # longer than a batch
    padded = [len(batch) * lengths[batch[0]] for batch in batches[1:]]
    assert max(padded) <= 700
    assert sum(padded) < 1.15 * (sum(lengths) - 2000)
    assert min(padded[:-1]) >= 128
    assert token_batches([], 700) == []


def test_a_batch_needs_a_document() -> None:
    with pytest.raises(InputError, match="at least 1 document"):
        training_batches(LENGTHS, 0, seed=1, epoch=0)
