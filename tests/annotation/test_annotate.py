"""Annotations of texts by toy models: against a list of all segmentations, in any batch."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from lrlm.annotation import streaming as module
from lrlm.annotation.annotate import annotate
from lrlm.annotation.annotation import Annotation, ExplanationKind
from lrlm.annotation.name_odds import NAMES, odds_of_mentions
from lrlm.arrays import Floats
from lrlm.corpora import link as link_text
from lrlm.errors import InputError, LrlmError
from lrlm.knowledge import Relation, Topic
from lrlm.models import lattice_of, read_documents
from lrlm.runs.run import Run
from lrlm.text import LinkedDocument, Speller
from lrlm.text.word_space import WordSpace
from tests import toy_run as toys
from tests.oracles import lattice as oracle
from tests.oracles.explanations import Way, explanations
from tests.toy import LONELY, TOPIC, VOCABULARY, ToySpeller, UnmentionedSpace, link

TEXTS = ["a b u a b a", "u u a b b v a b", "b", "v v u", "a b u w a b u a"]


class GenerousSpeller(ToySpeller):
    """Spells every word."""

    def log_probs(self, words: Sequence[str]) -> Floats:
        return np.full(len(words), -3.0, dtype=np.float32)


def toy_run(
    window: int = 150,
    backbone: str = "lstm",
    speller: Speller = ToySpeller(),  # noqa: B008
) -> Run:
    """An LRLM of the toy world."""
    return toys.toy_run("lrlm", backbone, window=window, space=WordSpace(VOCABULARY, speller))


def documents() -> list[LinkedDocument]:
    return [link(text, id_=f"article {number}") for number, text in enumerate(TEXTS)]


def alike(one: Annotation, other: Annotation) -> None:
    """Check that two annotations say the same."""
    assert (one.id, one.topic, one.text) == (other.id, other.topic, other.text)
    assert one.best == other.best
    assert one.nats == pytest.approx(other.nats, rel=1e-9)
    assert one.end_nats == pytest.approx(other.end_nats, rel=1e-9)
    assert [(span.start, span.end) for span in one.spans] == [
        (span.start, span.end) for span in other.spans
    ]
    for ours, theirs in zip(one.spans, other.spans, strict=True):
        assert {(each.kind, each.steps): each.probability for each in ours.explanations} == (
            pytest.approx(
                {(each.kind, each.steps): each.probability for each in theirs.explanations},
                abs=1e-9,
            )
        )


@pytest.mark.parametrize(
    ("backbone", "copy_odds"),
    [("lstm", 0.0), ("transformer-xl", 0.0), ("lstm", 2.5), ("lstm", -1), ("lstm", "names")],
)
@pytest.mark.parametrize("document", documents(), ids=TEXTS)
def test_everything_is_as_the_list_of_all_segmentations_says(
    document: LinkedDocument, backbone: str, copy_odds: float | str
) -> None:
    run = toy_run(backbone=backbone)
    (annotation,) = annotate(run, [document], copy_odds=copy_odds)
    scored = read_documents(run.model, run.collator, [run.encoder.encode_one(document)])
    lattice = lattice_of(scored)
    numbers = range(len(document.mentions))
    edges = [
        oracle.Edge(int(lattice.start_E[e]), int(lattice.end_E[e]), e, float(lattice.score_E[e]))
        for e in numbers
    ]
    row = oracle.Row(lattice.words_BT[0].tolist(), edges)
    assert annotation.nats == pytest.approx(-oracle.log_marginal(row), rel=1e-12)
    # Odds of copying change what explains a name, never what the text costs.
    each_token, each_name = copy_odds, [0.0] * len(edges)
    if isinstance(each_token, str):
        each_token, each_name = NAMES.token, odds_of_mentions(document, NAMES)
    favoured = [
        edge._replace(score=edge.score + each_token * (edge.end - edge.start) + odds)
        for edge, odds in zip(edges, each_name, strict=True)
    ]
    row = oracle.Row(row.words, favoured)
    assert annotation.end_nats == pytest.approx(-scored[0].end_score)

    starts, ends = document.tokens.starts, document.tokens.ends
    relations = [document.relations[mention.relation] for mention in document.mentions]
    facts = {e: (relations[e].type, relations[e].object) for e in numbers}
    assert len(annotation.spans) == len({mention[:2] for mention in document.mentions})
    for span in annotation.spans:
        first, last = starts.index(span.start), ends.index(span.end) + 1
        expected = explanations(row, facts, first, last)
        found: dict[Way, float] = {
            (
                each.kind,
                tuple(
                    (
                        starts.index(step.start),
                        ends.index(step.end) + 1,
                        step.fact and step.fact[:2],
                    )
                    for step in each.steps
                ),
            ): each.probability
            for each in span.explanations
        }
        for way in expected.keys() | found.keys():
            assert found.get(way, 0.0) == pytest.approx(expected.get(way, 0.0), abs=1e-9)
        assert sum(found.values()) == pytest.approx(1, abs=1e-9)

    best = max(oracle.segmentations(row), key=lambda scored: scored[0])[1]
    assert [(segment.start, segment.end) for segment in annotation.best] == [
        (starts[first], ends[last - 1]) for first, last, _ in best
    ]
    assert [segment.fact and segment.fact[:2] for segment in annotation.best] == [
        None if number is None else facts[number] for _, _, number in best
    ]


def test_the_odds_of_copying_are_those_of_the_run_or_those_asked_for() -> None:
    document = documents()[0]
    (plain,) = annotate(toy_run(), [document])
    (favoured,) = annotate(toy_run(), [document], copy_odds=5)
    assert favoured.nats == plain.nats
    assert sum(span.probability for span in favoured.spans) > sum(
        span.probability for span in plain.spans
    )
    run = toy_run()
    fitted = replace(
        run, setup=replace(run.setup, manifest={**run.setup.manifest, "copy_odds": 5.0})
    )
    assert (run.copy_odds, fitted.copy_odds) == (0, 5)
    (kept,) = annotate(fitted, [document])
    alike(kept, favoured)
    (asked,) = annotate(fitted, [document], copy_odds=0)
    alike(asked, plain)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), 101, "8"])
def test_odds_that_are_no_nats_are_refused(wrong: float) -> None:
    with pytest.raises(InputError, match="the odds of copying are nats from -100 to 100"):
        annotate(toy_run(), documents(), copy_odds=wrong)


def test_a_form_is_given_as_it_was_written() -> None:
    topic = Topic(
        "t", "title", [Relation("likes", "first", "a\u00a0 b"), Relation("likes", "x", "c")]
    )
    (annotation,) = annotate(toy_run(), [link("b a b u", topic)])
    (span,) = annotation.spans
    assert span.relation.fact == ("likes", "first", "a b", "likes")
    assert span.text == "a b"


@pytest.mark.parametrize("window", [1, 3, 4])
@pytest.mark.parametrize("backbone", ["lstm", "transformer-xl"])
def test_the_window_size_does_not_matter(window: int, backbone: str) -> None:
    whole = annotate(toy_run(backbone=backbone), documents())
    for one, other in zip(whole, annotate(toy_run(window, backbone), documents()), strict=True):
        alike(one, other)


@pytest.mark.parametrize("batch_size", [1, 2, 3])
def test_batches_and_chunks_do_not_matter(batch_size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = list(annotate(toy_run(), documents()))
    assert [each.id for each in whole] == [document.id for document in documents()]
    monkeypatch.setattr(module, "BATCHES_AT_ONCE", 1)
    for one, other in zip(
        whole, annotate(toy_run(), documents(), batch_size=batch_size), strict=True
    ):
        alike(one, other)


def test_documents_are_taken_as_they_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TOKENS_AT_ONCE", 10)
    taken = []

    def endless() -> Iterator[LinkedDocument]:
        while True:
            taken.append(1)
            yield link("a b u a b")

    stream = annotate(toy_run(), endless())
    next(stream)
    assert len(taken) == 2


def test_nothing_to_copy_is_fine() -> None:
    (annotation,) = annotate(toy_run(), [link("a b v", LONELY)])
    assert annotation.spans == annotation.mentions(0.0) == ()
    assert [segment.fact for segment in annotation.best] == [None] * 3
    assert list(annotate(toy_run(), [])) == []


def test_a_text_that_cannot_be_is_refused() -> None:
    with pytest.raises(LrlmError, match="the text of 'article' has no finite probability"):
        next(annotate(toy_run(window=1), [link("a ? b")]))


UNICODE = (
    "a\u0301 \U0001f600\r\n\r\nb a b, n\u0303o \U0001f468\u200d\U0001f469 a  b\n\n\n"
    "\u2028u a\ttail\u00a0a b \r\n"
)


def test_offsets_are_into_exactly_the_given_text() -> None:
    topic = Topic(
        "topic",
        names=["a b"],
        relations=[
            Relation("likes", "first", ["u a", "a\u0301"]),
            Relation("likes", "second", ["n\u0303o", "\U0001f600 b"]),
        ],
    )
    document = link_text(UNICODE, topic)
    (annotation,) = annotate(toy_run(speller=GenerousSpeller()), [document])
    assert annotation.text == UNICODE
    assert {span.text for span in annotation.spans} >= {"a b", "a  b", "u a", "a\u0301", "n\u0303o"}
    for span in annotation.spans:
        assert span.text == UNICODE[span.start : span.end]
        assert span.relation.fact is not None
        assert span.text.split() == span.relation.fact.form.split()
    pieces = [UNICODE[segment.start : segment.end] for segment in annotation.best]
    assert "".join("".join(pieces).split()) == "".join(UNICODE.split())


def test_mentions_are_those_above_a_threshold() -> None:
    (annotation,) = annotate(toy_run(), [link("a b u a b a")])
    assert annotation.mentions(0.0) == annotation.spans
    with pytest.raises(InputError, match=r"from 0 to 1, not 1\.1"):
        annotation.mentions(1.1)
    middle = sorted(span.probability for span in annotation.spans)[1]
    kept = annotation.mentions(middle)
    assert len(kept) == len(annotation.spans) - 1
    assert all(span.relation.kind is ExplanationKind.RELATION for span in kept)
    assert annotation.perplexity == pytest.approx(2.718281828459045 ** (annotation.nats / 6))


def test_a_topic_can_be_known_by_nothing_but_its_title() -> None:
    (annotation,) = annotate(toy_run(), [link("a b u", Topic("x", TOPIC.names))])
    (span,) = annotation.spans
    assert [each.kind for each in span.explanations if each.fact] == [ExplanationKind.RELATION]


def test_candidates_need_not_be_mentions_of_words() -> None:
    run = toys.toy_run("lrlm", space=UnmentionedSpace(VOCABULARY, ToySpeller()))
    for one, other in zip(
        annotate(toy_run(), documents()), annotate(run, documents()), strict=True
    ):
        assert one == other
