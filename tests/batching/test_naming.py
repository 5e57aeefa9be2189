"""What is said of names before a place is what one finds by looking through the text."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lrlm.arrays import Booleans, Integers
from lrlm.batching import NamePlaces

TOKENS = 12
FORMS = np.array([2, 1, 3])
EDGE = st.tuples(
    st.integers(0, TOKENS - 1), st.integers(1, 3), st.integers(0, 2), st.integers(0, 2)
)


def candidates(drawn: list[tuple[int, int, int, int]]) -> Integers:
    """Sorted candidates within the text, each once."""
    found = {
        (start, min(start + length, TOKENS), relation, form % int(FORMS[relation]))
        for start, length, relation, form in drawn
    }
    return np.array(sorted(found), dtype=np.int64).reshape(-1, 4)


def bound(edges_E4: Integers, chosen: int | None) -> Booleans | None:
    """Whether forms ask for a new word after them, by the bits of a number."""
    if chosen is None:
        return None
    number_E = edges_E4[:, 2] * 3 + edges_E4[:, 3]
    return (chosen >> number_E & 1).astype(bool)


@given(st.lists(EDGE, max_size=12), st.none() | st.integers(0, 511), st.integers(0, TOKENS))
def test_names_before_a_place(
    drawn: list[tuple[int, int, int, int]], chosen: int | None, first: int
) -> None:
    edges_E4 = candidates(drawn)
    bound_E = bound(edges_E4, chosen)
    places = NamePlaces.of(edges_E4, bound_E, FORMS, TOKENS)
    times_TR, since_TR = places.relations_at(first, TOKENS + 1, len(FORMS))
    known_E = edges_E4[:, 1] + (0 if bound_E is None else bound_E)
    for place in range(first, TOKENS + 1):
        for relation in range(len(FORMS)):
            is_its_E = edges_E4[:, 2] == relation
            known = {int(k) for k in known_E[is_its_E] if k <= place}
            assert times_TR[place - first, relation] == len(known)
            assert since_TR[place - first, relation] == (place - max(known) if known else 0)
            for form in range(int(FORMS[relation])):
                known = {int(k) for k in known_E[is_its_E & (edges_E4[:, 3] == form)] if k <= place}
                number = int(FORMS[:relation].sum()) + form
                times_F, since_F = places.forms_at(np.array([number]), np.array([place]))
                assert times_F.tolist() == [len(known)]
                assert since_F.tolist() == [place - max(known) if known else 0]
