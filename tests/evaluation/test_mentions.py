"""Mentions in written texts: counted by hand, and by the slow way of trying every cut."""

import itertools

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from lrlm.corpora import linkable_relations
from lrlm.evaluation.mentions import TokenTexts, count_mentions, cut_into_forms
from lrlm.generation.options import GenerationOptions
from lrlm.generation.pieces import CopiedForm, WrittenToken
from lrlm.generation.sampler import Sampler
from lrlm.knowledge import Relation, Topic
from lrlm.text import surface_forms
from tests.toy import TOPIC
from tests.toy_run import toy_run

RELATIONS = linkable_relations(
    Topic(
        "t",
        names=["New York City", "New York"],
        relations=[
            Relation("river", "Hudson", ["Hudson River", "Hudson"]),
            Relation("port on", "Hudson", ["Hudson"]),
        ],
    )
)
FORMS = [
    CopiedForm(relation, form, (form.words,))
    for relation in RELATIONS
    for form in surface_forms(relation)
]
"""Forms: 0 New York City, 1 New York, 2 Hudson River, 3 Hudson, 4 Hudson."""


def tokens(*written: str | tuple[str, int, int]) -> list[WrittenToken]:
    """Words as they are, copied tokens as their text, form and position."""
    return [
        WrittenToken(0, 0.0) if isinstance(each, str) else WrittenToken(0, 0.0, *each[1:])
        for each in written
    ]


@pytest.mark.parametrize(
    ("written", "counts"),
    [
        (tokens("a", "b"), (0, 0, 0)),
        (tokens(("New", 1, 0), ("York", 1, 1), "on", ("Hudson", 3, 0)), (0, 2, 0)),
        (tokens(("New", 0, 0), ("York", 0, 1)), (0, 1, 0)),  # left early, but a form
        (tokens(("New", 0, 0), ("York", 1, 1), ("City", 0, 2)), (0, 1, 0)),
        (tokens(("New", 0, 0), "on", ("City", 0, 2)), (2, 0, 0)),
        (tokens(("City", 0, 2), ("New", 0, 0), "a"), (1, 0, 0)),
        (tokens(("Hudson", 3, 0), ("Hudson", 4, 0), ("River", 2, 1)), (0, 2, 1)),
        (
            tokens(("Hudson", 3, 0), ("River", 2, 1), ("River", 2, 1), "x", ("Hudson", 4, 0)),
            (1, 2, 1),
        ),
        (tokens(("York", 1, 1), ("Hudson", 3, 0)), (1, 1, 0)),
    ],
)
def test_counts_by_hand(written: list[WrittenToken], counts: tuple[int, int, int]) -> None:
    assert count_mentions(written, FORMS) == counts


def every_cut(words: TokenTexts, forms: set[TokenTexts]) -> tuple[int, int]:
    """Try all ways to cut words, and all ways to take the pieces."""
    found = []
    for cuts in itertools.product([False, True], repeat=max(len(words) - 1, 0)):
        bounds = [0, *(place + 1 for place, cut in enumerate(cuts) if cut), len(words)]
        pieces = [words[start:end] for start, end in itertools.pairwise(bounds)]
        is_form = [piece in forms for piece in pieces]
        lost = sum(len(piece) for piece, known in zip(pieces, is_form, strict=True) if not known)
        if any(not one and not other for one, other in itertools.pairwise(is_form)):
            continue  # what is left over side by side is one piece
        found.append((lost, len(pieces), is_form.count(False), is_form.count(True)))
    *_, left_over, full = min(found)
    return left_over, full


@example(("a", "b", "a", "a"), {("a", "b"), ("b", "a")})
@given(
    st.lists(st.sampled_from("ab"), min_size=1, max_size=7).map(tuple),
    st.sets(st.lists(st.sampled_from("ab"), min_size=1, max_size=3).map(tuple), max_size=3),
)
def test_cuts_are_the_best_of_all(words: TokenTexts, forms: set[TokenTexts]) -> None:
    assert cut_into_forms(words, forms) == every_cut(words, forms)


@pytest.mark.parametrize("backbone", ["lstm", "transformer-xl"])
@pytest.mark.parametrize("kind", ["nklm", "lrlm", "lrlm+named+told"])
def test_lrlm_never_leaves_a_name_unfinished(kind: str, backbone: str) -> None:
    sampler = Sampler(
        toy_run(kind, backbone), TOPIC, GenerationOptions(min_length=20, max_length=20), seed=2
    )
    texts: list[list[WrittenToken]] = [[] for _ in range(200)]
    with torch.inference_mode():
        for number, token in sampler.tokens(len(texts)):
            if token is not None:
                texts[number].append(token)
    counts = [count_mentions(text, sampler.forms) for text in texts]
    assert sum(full for _, full, _ in counts) > 100
    assert (sum(partial for partial, *_ in counts) == 0) == (kind != "nklm")
