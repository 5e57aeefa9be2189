"""Vocabularies: which words are kept, in which order, and what is read back from JSON."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrlm.errors import FormatError, InputError
from lrlm.text import END, UNKNOWN, Vocabulary

COUNTS = {"the": 9, "of": 4, "river": 4, "Danube": 2, "rare": 1}


def entries(vocabulary: Vocabulary) -> list[tuple[str, int]]:
    return list(zip(vocabulary.words, vocabulary.counts, strict=True))


def test_words_come_by_frequency_and_ties_by_code_point() -> None:
    vocabulary = Vocabulary.from_counts(COUNTS, documents=3)
    assert entries(vocabulary) == [
        ("the", 9), ("of", 4), ("river", 4), (END, 3), ("Danube", 2), ("rare", 1), (UNKNOWN, 0),
    ]  # fmt: skip


def test_what_is_too_rare_counts_as_unknown() -> None:
    vocabulary = Vocabulary.from_counts(COUNTS, documents=3, min_count=3)
    assert entries(vocabulary) == [("the", 9), ("of", 4), ("river", 4), (END, 3), (UNKNOWN, 3)]


def test_a_size_counts_words_of_the_text_only() -> None:
    vocabulary = Vocabulary.from_counts(COUNTS, documents=1, size=2)
    assert entries(vocabulary) == [("the", 9), (UNKNOWN, 7), ("of", 4), (END, 1)]
    assert len(vocabulary) == 4


def test_words_become_ids_and_others_unknown() -> None:
    vocabulary = Vocabulary.from_counts(COUNTS, documents=3, min_count=3)
    ids = vocabulary.encode(["river", "Danube", "the"])
    assert [vocabulary.words[number] for number in ids] == ["river", UNKNOWN, "the"]
    assert vocabulary.words[vocabulary.unknown_id] == UNKNOWN
    assert vocabulary.words[vocabulary.end_id] == END
    assert "river" in vocabulary
    assert "Danube" not in vocabulary
    assert UNKNOWN not in vocabulary
    assert END not in vocabulary


def test_marks_in_a_text_are_neither_words_nor_the_end() -> None:
    """A text that contains `</s>` must not end there."""
    vocabulary = Vocabulary.from_counts({"a": 5, UNKNOWN: 2, END: 4}, documents=1)
    assert entries(vocabulary) == [("a", 5), (UNKNOWN, 2), (END, 1)]
    assert vocabulary.encode([END, UNKNOWN]) == [vocabulary.unknown_id] * 2


WORDS = st.text(min_size=1, max_size=3)


@given(
    st.dictionaries(WORDS, st.integers(1, 9)),
    st.integers(1, 5),
    st.none() | st.integers(1, 6),
    st.randoms(use_true_random=False),
)
def test_the_order_of_counting_does_not_matter_and_no_token_is_lost(
    counts: dict[str, int], min_count: int, size: int | None, rng: object
) -> None:
    def build(items: list[tuple[str, int]]) -> Vocabulary:
        return Vocabulary.from_counts(dict(items), documents=2, min_count=min_count, size=size)

    items = list(counts.items())
    vocabulary = build(items)
    rng.shuffle(items)  # type: ignore[attr-defined]
    assert build(items) == vocabulary
    assert sum(vocabulary.counts) == sum(counts.values()) + 2
    assert list(vocabulary.counts) == sorted(vocabulary.counts, reverse=True)


@given(st.dictionaries(WORDS, st.integers(1, 9)), st.integers(1, 5), st.none() | st.integers(1, 6))
def test_cutting_a_vocabulary_is_counting_with_the_cut(
    counts: dict[str, int], min_count: int, size: int | None
) -> None:
    whole = Vocabulary.from_counts(counts, documents=7)
    cut = whole.cut(min_count=min_count, size=size)
    assert cut == Vocabulary.from_counts(counts, documents=7, min_count=min_count, size=size)


@pytest.mark.parametrize("wrong", [{"min_count": 0}, {"size": 0}])
def test_limits_must_be_positive(wrong: dict[str, int]) -> None:
    with pytest.raises(InputError, match="at least 1"):
        Vocabulary.from_counts({"a": 1}, documents=1, **wrong)


@given(st.dictionaries(WORDS, st.integers(1, 9)))
def test_json_gives_the_same_vocabulary_back(counts: dict[str, int]) -> None:
    vocabulary = Vocabulary.from_counts(Counter(counts), documents=3)
    text = vocabulary.to_json()
    assert Vocabulary.from_json(text) == vocabulary
    assert Vocabulary.from_json(text).to_json() == text


def test_a_file_is_read_and_named_in_errors(tmp_path: Path) -> None:
    path = tmp_path / "vocabulary.json"
    with pytest.raises(FormatError, match=r"vocabulary\.json: cannot be read"):
        Vocabulary.read(path)
    path.write_bytes(b"\xff\xfe{}")
    with pytest.raises(FormatError, match=r"vocabulary\.json: cannot be read"):
        Vocabulary.read(path)
    vocabulary = Vocabulary.from_counts({"é": 1}, documents=1)
    path.write_text(vocabulary.to_json(), encoding="utf-8")
    assert Vocabulary.read(path) == vocabulary


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "something else"}, "not a vocabulary"),
        ({"version": 99}, "version 99"),
        ({"words": ["a"]}, "do not belong together"),
        ({"words": ["a", "a", UNKNOWN, END], "counts": [1, 1, 0, 0]}, "do not belong together"),
        ({"words": ["a", "b", END], "counts": [1, 1, 0]}, "do not belong together"),
        ({"words": [1, UNKNOWN, END], "counts": [1, 1, 0]}, "do not belong together"),
        ({"counts": ["1", 1, 1]}, "do not belong together"),
    ],
)
def test_other_json_is_refused(change: dict[str, object], message: str) -> None:
    good = json.loads(Vocabulary.from_counts({"a": 5}, documents=1).to_json())
    with pytest.raises(FormatError, match=message):
        Vocabulary.from_json(json.dumps({**good, **change}))


@pytest.mark.parametrize("text", ["", "{", "[]", "3"])
def test_no_json_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        Vocabulary.from_json(text)
