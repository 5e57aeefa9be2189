"""Signed ranks, against an enumeration of all signs."""

import itertools

import pytest

from lrlm.errors import InputError
from lrlm.evaluation import DocumentScore, Significance, Spelling, compare
from tests.evaluation.made import document_score


def scores(*nats_per_token: float, tokens: int = 4) -> list[DocumentScore]:
    return [
        document_score(nats * tokens, id_=f"article {number}", words=tokens)
        for number, nats in enumerate(nats_per_token)
    ]


def enumerated_p(differences: list[float]) -> float:
    """How often random signs give ranks at least as one-sided as these; no ties, no zeros."""
    order = sorted(range(len(differences)), key=lambda n: abs(differences[n]))
    rank = {place: number + 1 for number, place in enumerate(order)}
    total = len(differences) * (len(differences) + 1) / 2
    positive = sum(rank[n] for n, value in enumerate(differences) if value > 0)
    extreme = min(positive, total - positive)
    signs = itertools.product([False, True], repeat=len(differences))
    sums = [sum(rank[n] for n, is_up in enumerate(each) if is_up) for each in signs]
    return sum(min(each, total - each) <= extreme for each in sums) / len(sums)


def test_the_p_value_is_the_share_of_signs_that_are_as_one_sided() -> None:
    differences = [-0.5, -0.31, 0.02, -0.9, -0.11, -0.07, 0.2, -0.43]
    base = [2.0, 3.0, 1.0, 4.0, 2.5, 1.5, 2.2, 3.3]
    model = [one + other for one, other in zip(base, differences, strict=True)]
    found = compare(scores(*model), scores(*base), name="base")
    assert found.baseline == "base"
    assert found.p == pytest.approx(enumerated_p(differences))
    assert found.is_better
    back = compare(scores(*base), scores(*model), name="model")
    assert back.p == pytest.approx(found.p)
    assert not back.is_better


def test_documents_weigh_the_same_whatever_their_length() -> None:
    model = [*scores(1.0, 2.0, 3.0), document_score(1000.0, id_="long", words=500)]
    base = [*scores(1.5, 2.6, 3.7), document_score(1400.0, id_="long", words=500)]
    short = [*scores(1.0, 2.0, 3.0), document_score(2.0, id_="long", words=1)]
    short_base = [*scores(1.5, 2.6, 3.7), document_score(2.8, id_="long", words=1)]
    assert compare(model, base, name="x") == compare(short, short_base, name="x")


def test_equal_models_do_not_differ() -> None:
    found = compare(scores(1.0, 2.0), scores(1.0, 2.0), name="x")
    assert (found.p, found.is_better, found.asterisks) == (1.0, False, "")


def test_documents_without_tokens_are_left_out_unless_the_end_counts() -> None:
    empty, other = document_score(0.0, words=0), document_score(0.0, words=0, end_nats=0.1)
    assert compare([empty], [other], name="x").p == 1.0
    assert compare([empty], [other], name="x", count_end=True).is_better is False


def test_spellings_are_told_apart() -> None:
    model, base = scores(*[1.0] * 8), scores(*[1.0] * 8)
    assert compare(model, base, name="x", spelling=Spelling.UPP).p == 1.0


@pytest.mark.parametrize(
    ("p", "is_better", "expected"),
    [
        (0.009, True, "**"),
        (0.01, True, "*"),
        (0.049, True, "*"),
        (0.05, True, ""),
        (0.0001, False, ""),
    ],
)
def test_asterisks_are_the_papers_and_only_for_what_is_better(
    p: float, is_better: bool, expected: str
) -> None:
    assert Significance("x", p, is_better=is_better).asterisks == expected


def test_other_documents_cannot_be_compared() -> None:
    with pytest.raises(InputError, match="the same documents"):
        compare(scores(1.0, 2.0), scores(1.0), name="x")
