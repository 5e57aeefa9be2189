"""Which documents are shown as the best and the worst."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from lrlm.evaluation.examples import best_to_worst
from tests.evaluation.made import document_score
from tests.report.test_evaluation_tables import result

SCORES = tuple(
    document_score(nats, id_=name, inside_words=inside)
    for name, nats, inside in (("a", 30.0, 4), ("b", 10.0, 4), ("c", 20.0, 4), ("d", 1.0, 0))
)
RUN = replace(result("lrlm", 1.0), scores=SCORES)


def test_without_truth_the_most_probable_text_is_the_best() -> None:
    assert best_to_worst(RUN) == [1, 2, 0]  # d has no names


def test_with_truth_its_probability_counts_and_then_the_text() -> None:
    known = replace(RUN, truth_probabilities={"a": 0.9, "b": 0.2, "c": 0.9})
    assert best_to_worst(known) == [2, 0, 1]
    assert best_to_worst(replace(RUN, truth_probabilities={"c": 0.1})) == [2]


@given(st.dictionaries(st.sampled_from("abc"), st.floats(0, 1), min_size=1))
def test_the_order_never_gets_better(truth: dict[str, float]) -> None:
    order = best_to_worst(replace(RUN, truth_probabilities=truth))
    found = [truth[SCORES[number].id] for number in order]
    assert found == sorted(found, reverse=True)
    assert len(order) == len(truth)
