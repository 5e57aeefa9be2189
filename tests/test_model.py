"""A trained model in Python: streams with bad texts, topics by name, what results look like."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lrlm
from lrlm import Annotation, BadText, Model
from lrlm.annotation import streaming as module
from lrlm.corpora import Corpus
from lrlm.errors import InputError, LrlmError, TopicLookupError
from tests.toy import TOPIC
from tests.toy_run import toy_run
from tests.training import tiny


@pytest.fixture(scope="module")
def model() -> Model:
    return Model(toy_run("lrlm"))


@pytest.fixture(scope="module")
def shipped() -> Model:
    return lrlm.load()


@settings(max_examples=20)
@given(are_good=st.lists(st.booleans(), max_size=12), rows=st.integers(1, 3))
def test_bad_texts_are_told_in_their_places(model: Model, are_good: list[bool], rows: int) -> None:
    texts = [
        (f"a b {'a ' * number}" if good else " ", TOPIC) for number, good in enumerate(are_good)
    ]
    results = list(model.annotate_many(texts, batch_size=rows))
    assert [isinstance(result, Annotation) for result in results] == are_good
    for number, result in enumerate(results):
        if isinstance(result, BadText):
            assert result.number == number
            assert "empty" in str(result.error)
        else:
            assert result.text == texts[number][0]


def test_a_stream_is_read_as_it_is_asked_for(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCHES_AT_ONCE", 1)
    taken: list[int] = []

    def endless() -> Iterator[tuple[str, lrlm.Topic]]:
        while True:
            taken.append(len(taken))
            yield ("a b" if len(taken) % 2 else "", TOPIC)

    stream = model.annotate_many(endless(), batch_size=2)
    assert [isinstance(next(stream), BadText) for _ in range(4)] == [False, True, False, True]
    assert len(taken) < 10


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (("a\x00b", TOPIC), "at character 1"),
        ((7, TOPIC), "a text must be a string, not int"),
        (("a b", "Norway"), "a topic must be an lrlm.Topic, not 'Norway'"),
        ("a b", r"as \(text, topic\), not as 'a b'"),
        (("a b",), r"as \(text, topic\)"),
        (("a b" * 9, TOPIC), "more than the 20"),
    ],
)
def test_what_is_bad_is_said(model: Model, bad: Any, message: str) -> None:
    texts = [("a b", TOPIC), bad, ("b a", TOPIC)]
    first, told, last = model.annotate_many(texts, longest=20)
    assert isinstance(first, Annotation)
    assert isinstance(last, Annotation)
    assert isinstance(told, BadText)
    assert told.to_dict()["number"] == 1
    with pytest.raises(InputError, match=message):
        raise told.error
    raising = model.annotate_many(texts, longest=20, bad_texts="raise")
    with pytest.raises(InputError, match=message):
        list(raising)


def test_what_to_do_with_bad_texts_is_checked_at_once(model: Model) -> None:
    with pytest.raises(InputError, match="bad_texts must be 'report' or 'raise'"):
        model.annotate_many([], bad_texts="skip")  # type: ignore[call-overload]


def test_a_text_that_the_model_finds_impossible_is_bad(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lrlm.annotation.annotate.math.isfinite", lambda _value: False)
    (told,) = model.annotate_many([("a b", TOPIC)])
    assert isinstance(told, BadText)
    assert isinstance(told.error, LrlmError)
    assert "no finite probability" in told.to_json()


@pytest.mark.parametrize("name", ["Norway", "norway", "NORWAY", "kingdom of norway"])
def test_the_shipped_model_knows_its_topics(shipped: Model, name: str) -> None:
    assert shipped.topic(name).id == "Norway"


def test_an_unknown_topic_is_refused_with_near_ones(shipped: Model) -> None:
    with pytest.raises(InputError, match="did you mean 'Norway'"):
        shipped.topic("Norwai")


def test_a_corpus_finds_topics_in_other_letter_case(tmp_path: Path) -> None:
    corpus = Corpus.open(tiny.write_corpus(tmp_path))
    assert corpus.topic("town3").id == "Town3"
    assert corpus.topic("Town3") == corpus.topic("TOWN3")
    with pytest.raises(InputError, match="no topic 'Towm3'; did you mean 'Town3'"):
        corpus.topic("Towm3")


def test_a_run_without_its_corpus_says_so(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as changed:
        changed.chdir("/")
        with pytest.raises(TopicLookupError, match="cannot be looked up"):
            model.topic("Norway")


def test_results_are_short_on_one_line(shipped: Model) -> None:
    topic = lrlm.Topic("Norway", relations=[lrlm.Relation("capital", "Oslo")])
    long = "Its capital is Oslo.\n" * 40
    assert repr(shipped.annotate("Its capital is Oslo.", topic)) == (
        "Annotation('Its capital is Oslo.', topic='Norway', mentions=['Oslo (capital)'])"
    )
    (written,) = shipped.generate(topic, samples=1, max_length=60, seed=2)
    for result in (shipped.annotate(long, topic), shipped.score(long, topic), written):
        shown = repr(result)
        assert len(shown) < 250
        assert "\n" not in shown
        assert shown.startswith(f"{type(result).__name__}(")
        assert result.to_dict()
        assert result.to_json()
        assert result._repr_html_().startswith("<div")
