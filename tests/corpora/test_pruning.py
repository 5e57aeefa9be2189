"""One annotation without overlaps, in the order of the paper's appendix D."""

from hypothesis import given
from hypothesis import strategies as st

from lrlm.corpora import LinkableRelation, Mention, prune
from tests.oracles import pruning as oracle


def relation(type_: str, forms: int = 3) -> LinkableRelation:
    names = tuple(f"{type_}{number}" for number in range(forms))
    return LinkableRelation(type_, "o", tuple((name,) for name in names), names)


A, B = relation("a"), relation("b")


def test_longer_spans_come_first() -> None:
    assert prune([Mention(0, 2, 0, 0), Mention(1, 4, 0, 2)], [A]) == [Mention(1, 4, 0, 2)]


def test_of_equally_long_spans_the_earlier_comes_first() -> None:
    assert prune([Mention(1, 3, 0, 0), Mention(0, 2, 0, 2)], [A]) == [Mention(0, 2, 0, 2)]


def test_canonical_forms_come_before_the_type() -> None:
    assert prune([Mention(0, 2, 0, 1), Mention(0, 2, 1, 0)], [A, B]) == [Mention(0, 2, 1, 0)]


def test_ties_go_by_type_then_by_form_then_by_place() -> None:
    assert prune([Mention(0, 2, 0, 1), Mention(0, 2, 1, 2)], [B, A]) == [Mention(0, 2, 1, 2)]
    assert prune([Mention(0, 2, 0, 2), Mention(0, 2, 1, 1)], [A, A]) == [Mention(0, 2, 1, 1)]
    assert prune([Mention(0, 2, 1, 1), Mention(0, 2, 0, 1)], [A, A]) == [Mention(0, 2, 0, 1)]


def test_a_dropped_span_does_not_drop_others() -> None:
    mentions = [Mention(0, 3, 0, 0), Mention(2, 4, 0, 0), Mention(3, 5, 0, 0)]
    assert prune(mentions, [A]) == [Mention(0, 3, 0, 0), Mention(3, 5, 0, 0)]


def test_spans_that_touch_do_not_overlap() -> None:
    mentions = [Mention(0, 2, 0, 0), Mention(2, 4, 0, 0)]
    assert prune(mentions, [A]) == mentions


def test_spans_that_are_too_long_leave_room_for_shorter_ones() -> None:
    mentions = [Mention(0, 3, 0, 0), Mention(1, 2, 0, 0)]
    assert prune(mentions, [A], longest=2) == [Mention(1, 2, 0, 0)]
    assert prune([], [A]) == []


RELATIONS = [relation("b"), relation("a"), relation("b"), relation("c")]
MENTION = st.builds(
    lambda start, length, of, form: Mention(start, start + length, of, form),
    st.integers(0, 8),
    st.integers(1, 4),
    st.integers(0, 3),
    st.integers(0, 2),
)


@given(st.lists(MENTION, max_size=12, unique=True), st.randoms(use_true_random=False))
def test_agrees_with_the_appendix_read_aloud(mentions: list[Mention], rng: object) -> None:
    expected = oracle.prune(mentions, RELATIONS)
    assert prune(mentions, RELATIONS) == expected
    rng.shuffle(mentions)  # type: ignore[attr-defined]
    assert prune(iter(mentions), RELATIONS) == expected
