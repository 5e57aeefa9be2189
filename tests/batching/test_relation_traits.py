"""Traits of relations: counts and places in a topic, and what its names have in common."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lrlm.batching import RELATION_TRAITS, relation_traits
from lrlm.knowledge import TITLE
from lrlm.text import LinkableRelation

(
    OTHERS_OF_TYPE, BEFORE_OF_TYPE, BEFORE, ALL, IN_COMMON, WITHIN_TITLE,
    FORMS, WORDS, CHARACTERS, DIGIT, SEVERAL, WITHIN_NAME,
) = range(RELATION_TRAITS)  # fmt: skip


def relation(type_: str, *names: str, object_: str = "", is_open: bool = False) -> LinkableRelation:
    forms = tuple(tuple(name.split()) for name in names)
    return LinkableRelation(type_, object_ or names[0], forms, names, is_open=is_open)


SEASON = [
    relation(TITLE, "1967 Green Bay Packers season"),
    relation("team", "Green Bay Packers", "Packers"),
    relation("opponent", "Chicago Bears"),
    relation("opponent", "Bears of Chicago United"),
    relation("date", "1967"),
    relation("rival", "Bears", object_="Chicago Bears"),
    relation("rival", "Lions", object_="Lions"),
]
TRAITS = relation_traits(SEASON)


def test_facts_are_counted_and_have_places() -> None:
    assert np.exp(TRAITS[:, OTHERS_OF_TYPE]).round().tolist() == [1, 1, 2, 2, 1, 2, 2]
    assert np.exp(TRAITS[:, BEFORE_OF_TYPE]).round().tolist() == [1, 1, 1, 2, 1, 1, 2]
    assert np.exp(TRAITS[:, BEFORE]).round().tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert np.allclose(TRAITS[:, ALL], math.log(8))


def test_what_names_have_in_common() -> None:
    assert TRAITS[:, IN_COMMON].tolist() == [1, 1, 0, 0, 1, 0, 0]
    assert TRAITS[:, WITHIN_TITLE].tolist() == [1, 1, 0, 0, 1, 0, 0]
    assert TRAITS[:, WITHIN_NAME].tolist() == [0, 1, 1, 0, 1, 1, 0]
    assert TRAITS[:, SEVERAL].tolist() == [0, 0, 1, 0, 0, 1, 0]


def test_what_a_name_looks_like() -> None:
    assert np.exp(TRAITS[:, FORMS]).round().tolist() == [1, 2, 1, 1, 1, 1, 1]
    assert np.exp(TRAITS[:, WORDS]).round().tolist() == [5, 3, 2, 4, 1, 1, 1]
    assert np.exp(TRAITS[1:3, CHARACTERS]).round().tolist() == [15, 12]
    assert TRAITS[:, DIGIT].tolist() == [1, 0, 0, 0, 1, 0, 0]


def test_what_else_a_topic_might_have_changes_nothing_of_what_is_known() -> None:
    supposed = [relation("date", "1968", is_open=True), relation("city", "Oslo", is_open=True)]
    both = relation_traits([*SEASON, *supposed])
    assert np.array_equal(both[: len(SEASON)], TRAITS)
    for number, (type_, name) in enumerate([("date", "1968"), ("city", "Oslo")], len(SEASON)):
        assert np.array_equal(both[number], relation_traits([*SEASON, relation(type_, name)])[-1])


@given(st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3), max_size=8))
def test_a_name_within_another_is_found_by_any_of_its_words(names: list[list[str]]) -> None:
    relations = [relation("type", " ".join(words)) for words in names]
    expected = [any(set(one) < set(other) for other in names) for one in names]
    assert relation_traits(relations)[:, WITHIN_NAME].tolist() == expected
