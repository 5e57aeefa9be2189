"""The dictionary of all names finds what comparing every name with every place finds."""

from hypothesis import given
from hypothesis import strategies as st

from lrlm.topics.names import FoundName, NameDictionary

WORDS = st.lists(st.sampled_from(["a", "b", "c", "é"]), min_size=1, max_size=4).map(tuple)
NAMES = st.lists(st.tuples(WORDS, st.integers(0, 5)), max_size=12)


def everywhere(
    names: list[tuple[tuple[str, ...], int]], words: list[str]
) -> list[tuple[int, int, list[int]]]:
    """Compare every name with every place."""
    found = []
    for start in range(len(words)):
        for end in range(start + 1, len(words) + 1):
            things = {thing for name, thing in names if name == tuple(words[start:end])}
            if things:
                found.append((start, end, sorted(things)))
    return found


@given(NAMES, st.lists(st.sampled_from(["a", "b", "c", "é", "d"]), max_size=10))
def test_it_finds_every_name_with_its_things(
    names: list[tuple[tuple[str, ...], int]], words: list[str]
) -> None:
    dictionary = NameDictionary.of(names)
    found = [
        (each.start, each.end, dictionary.things(each.name).tolist())
        for each in dictionary.find(words)
    ]
    assert found == everywhere(names, words)
    assert len(dictionary) == len({name for name, _ in names})


def test_the_order_of_words_counts() -> None:
    dictionary = NameDictionary.of([(("New", "York"), 0)])
    assert dictionary.find(["York", "New"]) == []
    assert dictionary.find(["New", "York", "New"]) == [FoundName(0, 2, 0)]


def test_a_long_name_needs_no_limit() -> None:
    name = tuple(f"word{number}" for number in range(100))
    dictionary = NameDictionary.of([(name, 7)])
    assert dictionary.find(["x", *name, "x"]) == [FoundName(1, 101, 0)]
