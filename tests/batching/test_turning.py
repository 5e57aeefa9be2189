"""A document read from its other end: turned twice it is as it was, and every candidate fits."""

from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrlm.arrays import Integers
from lrlm.batching import NOT_A_FACT, mirrored
from lrlm.errors import InputError
from lrlm.text.word_space import WordSpace
from tests.toy import SPACE, TOPIC, VOCABULARY, ToySpeller, encode, encoder, link

TEXTS = st.lists(st.sampled_from(["a", "b", "u", "v", "w"]), min_size=1, max_size=12).map(" ".join)


def assert_same(one: object, other: object) -> None:
    """Compare documents, and the parts of them that hold arrays, field by field."""
    for entry in fields(one):  # type: ignore[arg-type]
        left, right = getattr(one, entry.name), getattr(other, entry.name)
        if isinstance(left, np.ndarray):
            assert np.array_equal(left, right), entry.name
        elif is_dataclass(left):
            assert_same(left, right)
        else:
            assert left == right, entry.name


@given(TEXTS)
def test_turned_twice_is_as_it_was(text: str) -> None:
    (document,) = encode(link(text))
    assert not document.is_backward
    assert document.turned().is_backward
    assert_same(document.turned().turned(), document)


@given(TEXTS)
def test_candidates_cover_the_words_of_their_forms_from_the_last_to_the_first(text: str) -> None:
    linked = link(text)
    (document,) = replace(encoder(), backward=True).encode([linked])
    words = text.split()[::-1]
    assert document.tokens_N.tolist() == VOCABULARY.encode(words)
    assert document.edges_E4.tolist() == sorted(document.edges_E4.tolist())
    assert len(document.edges_E4) == len(linked.mentions)
    for (start, end, relation, form), number in zip(
        document.edges_E4.tolist(), document.mention_E.tolist(), strict=True
    ):
        assert tuple(words[start:end]) == linked.relations[relation].forms[form][::-1]
        mention = linked.mentions[number]
        assert (len(words) - mention.end, len(words) - mention.start) == (start, end)


@given(TEXTS)
def test_spelling_stays_with_its_word(text: str) -> None:
    (document,) = encode(link(text))
    assert np.array_equal(document.turned().spelling_N[::-1], document.spelling_N)


def test_copies_count_from_the_last_word_of_a_form() -> None:
    (document,) = encode(link("v u a b"))
    copies, turned = document.copies, document.turned().copies
    assert copies is not None
    assert turned is not None
    copied = np.flatnonzero(copies.relation_N != NOT_A_FACT)
    assert len(copied) > 1
    for place in range(4):
        there = 3 - place
        assert turned.relation_N[there] == copies.relation_N[place]
        assert turned.length_N[there] == copies.length_N[place]
        if copies.relation_N[place] != NOT_A_FACT:
            position = copies.length_N[place] - 1 - copies.position_N[place]
            assert turned.position_N[there] == position
        else:
            assert turned.position_N[there] == 0


def test_names_before_a_text_are_read_backward_too() -> None:
    space = SPACE
    (forward,) = encode(link("a b"))
    (backward,) = replace(encoder(), backward=True).encode([link("a b")])
    names = split_at(forward.preface_P, space.end_id)
    assert ["a", "b"] in [[VOCABULARY.words[each] for each in name] for name in names]
    assert split_at(backward.preface_P, space.end_id) == [name[::-1] for name in names]


def split_at(tokens: Integers, end: int) -> list[list[int]]:
    parts: list[list[int]] = [[]]
    for token in tokens.tolist():
        if token == end:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(1, 4), st.integers(0, 2)), max_size=8),
    st.integers(9, 12),
)
def test_mirrored_edges_say_where_they_stood(
    spans: list[tuple[int, int, int]], tokens: int
) -> None:
    edges = sorted({(start, start + length, kind, 0) for start, length, kind in spans})
    edges_E4 = np.array(edges, dtype=np.int64).reshape(-1, 4)
    turned_E4, order_E = mirrored(edges_E4, tokens)
    assert turned_E4.tolist() == sorted(turned_E4.tolist())
    for (start, end, *what), place in zip(turned_E4.tolist(), order_E.tolist(), strict=True):
        assert [tokens - end, tokens - start, *what] == list(edges[place])
    again_E4, back_E = mirrored(turned_E4, tokens)
    assert np.array_equal(again_E4, edges_E4)
    assert np.array_equal(order_E[back_E], np.arange(len(edges)))


class TokensWithContexts(WordSpace):
    contexts = 2


def test_tokens_that_depend_on_what_stands_before_are_refused() -> None:
    space = TokensWithContexts(VOCABULARY, ToySpeller())
    with pytest.raises(InputError, match="read forward only"):
        replace(encoder(), space=space, backward=True)
    assert next(replace(encoder(), space=space).encode([link("a b", TOPIC)])).tokens == 2
