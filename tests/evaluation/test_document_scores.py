"""Documents scored once, under three spellings, inside and outside of spans: against three passes
of the model, and against a list of all segmentations."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch

from lrlm.arrays import Floats
from lrlm.errors import LrlmError
from lrlm.evaluation.document_scores import DocumentScore, Spelling, score_documents
from lrlm.models import LanguageModel, ScoredDocument, document_nats, lattice_of, read_documents
from lrlm.text import LinkedDocument, Speller
from lrlm.text.word_space import WordSpace
from tests.models.contract import make_model
from tests.oracles import lattice as oracle
from tests.toy import (
    LONELY,
    TOPIC,
    VOCABULARY,
    ToySpeller,
    UnmentionedSpace,
    collator,
    encode,
    encoder,
    link,
)

UNKNOWN_WORDS = 7
TEXTS = ["a b u v a", "b", "u a b b a u v v a b a a b a u a b", "v v v", "u u a b", ""]
MODELS = list(itertools.product(["vanilla", "alias", "nklm", "lrlm"], ["lstm", "transformer-xl"]))


def documents() -> list[LinkedDocument]:
    topics = itertools.cycle([TOPIC, TOPIC, LONELY])
    return [
        link(text, topic, f"article {number}")
        for number, (text, topic) in enumerate(zip(TEXTS, topics))  # noqa: B905
    ]


class ConstantSpeller(ToySpeller):
    """Gives every word the same log-probability."""

    def __init__(self, log_prob: float) -> None:
        super().__init__()
        self.log_prob = log_prob

    def log_probs(self, words: Sequence[str]) -> Floats:
        return np.full(len(words), self.log_prob, dtype=np.float32)


SPELLERS: dict[Spelling, Speller] = {
    Spelling.OPEN: ToySpeller(),
    Spelling.UPP: ConstantSpeller(-math.log(UNKNOWN_WORDS)),
    Spelling.ORACLE: ConstantSpeller(0.0),
}


def score_toys(
    model: LanguageModel, *, window: int = 150, batch_size: int = 60
) -> list[DocumentScore]:
    return score_documents(
        model,
        encoder(),
        collator(window),
        documents(),
        unknown_words=UNKNOWN_WORDS,
        batch_size=batch_size,
    )


@pytest.mark.parametrize(("kind", "backbone"), MODELS)
def test_one_reading_gives_what_three_would(kind: str, backbone: str) -> None:
    model = make_model(kind, backbone)
    found = score_toys(model)
    for spelling, speller in SPELLERS.items():
        batch = list(encoder(WordSpace(VOCABULARY, speller)).encode(documents()))
        expected = document_nats(model, collator().windows(batch))
        actual = [each.nats(spelling, count_end=True) for each in found]
        assert actual == pytest.approx(expected.nats_B.tolist(), abs=1e-6), spelling
        ends = [each.end_nats for each in found]
        assert ends == pytest.approx(expected.end_nats_B.tolist(), abs=1e-9)
        text_nats = (expected.nats_B - expected.end_nats_B).tolist()
        assert [each.nats(spelling) for each in found] == pytest.approx(text_nats, abs=1e-6)


@pytest.mark.parametrize(("kind", "backbone"), MODELS)
def test_a_model_that_reads_backward_is_scored_alike(kind: str, backbone: str) -> None:
    model = make_model(kind, backbone)
    reader = replace(encoder(), backward=True)
    found = score_documents(model, reader, collator(4), documents(), unknown_words=UNKNOWN_WORDS)
    expected = document_nats(model, collator().windows(list(reader.encode(documents()))))
    nats = [each.nats(count_end=True) for each in found]
    assert nats == pytest.approx(expected.nats_B.tolist(), abs=1e-6)
    ends = [each.end_nats for each in found]
    assert ends == pytest.approx(expected.end_nats_B.tolist(), abs=1e-9)
    for one, other in zip(found, score_toys(model), strict=True):
        assert (one.words, one.inside_words) == (other.words, other.inside_words)
        assert (one.unknown_words, one.lost_candidates) == (other.unknown_words, 0)


@pytest.mark.parametrize(("kind", "backbone"), MODELS)
def test_batches_and_windows_do_not_matter(kind: str, backbone: str) -> None:
    model = make_model(kind, backbone)
    expected = score_toys(model)
    for window, batch_size in ((1, 2), (4, 60)):
        for one, other in zip(
            score_toys(model, window=window, batch_size=batch_size), expected, strict=True
        ):
            assert one.id == other.id
            assert one.inside_words == other.inside_words
            assert one.inside_nats == pytest.approx(other.inside_nats, abs=1e-9)
            assert one.outside_nats == pytest.approx(other.outside_nats, abs=1e-9)


def test_documents_are_described() -> None:
    found = score_toys(make_model("lrlm", "lstm"))
    assert [each.id for each in found] == [f"article {number}" for number in range(len(TEXTS))]
    assert [each.words for each in found] == [len(text.split()) for text in TEXTS]
    assert [each.relations for each in found] == [3, 3, 0, 3, 3, 0]
    unknown = [sum(word in "uv" for word in text.split()) for text in TEXTS]
    assert [each.unknown_words for each in found] == unknown
    # "a b", "u": four of the first five tokens but "v" and the last "a"; no topic, no spans.
    assert [each.inside_words for each in found] == [3, 1, 0, 0, 4, 0]
    assert [each.outside_words for each in found] == [2, 0, 17, 3, 0, 0]
    assert found[0].units() == 5
    assert found[0].units(count_end=True) == 6


def scored(model: LanguageModel, window: int = 150) -> list[ScoredDocument]:
    return read_documents(model, collator(window), encode(*documents()))


def test_inside_is_the_sum_over_segmentations_of_covered_runs() -> None:
    model = make_model("lrlm", "lstm")
    found = score_toys(model)
    lattice = lattice_of(scored(model))
    for number, (document, each) in enumerate(zip(documents(), found, strict=True)):
        words = lattice.words_BT[number, : each.words].tolist()
        edges = [
            oracle.Edge(
                int(lattice.start_E[e]), int(lattice.end_E[e]), e, float(lattice.score_E[e])
            )
            for e in (lattice.row_E == number).nonzero().flatten().tolist()
        ]
        covered = {t for m in document.mentions for t in range(m.start, m.end)}
        inside = outside = 0.0
        for is_covered, run in itertools.groupby(range(each.words), key=covered.__contains__):
            tokens = list(run)
            first, last = tokens[0], tokens[-1] + 1
            shifted = [
                edge._replace(start=edge.start - first, end=edge.end - first)
                for edge in edges
                if first <= edge.start < last
            ]
            nats = -oracle.log_marginal(oracle.Row(words[first:last], shifted))
            inside, outside = inside + nats * is_covered, outside + nats * (not is_covered)
        assert each.inside_words == len(covered)
        assert each.inside_nats[Spelling.OPEN] == pytest.approx(inside, abs=1e-9)
        assert each.outside_nats[Spelling.OPEN] == pytest.approx(outside, abs=1e-9)
        whole = -oracle.log_marginal(oracle.Row(words, edges))
        assert each.nats() == pytest.approx(whole, abs=1e-9)


def test_words_may_be_counted_in_another_way() -> None:
    """A model that reads other tokens than the corpus has is measured in the corpus's words."""
    model = make_model("lrlm", "lstm")
    words = [10 * (number + 1) for number in range(len(TEXTS))]
    found = score_documents(model, encoder(), collator(), documents(), unknown_words=1, words=words)
    assert [each.units() for each in found] == words


def test_an_impossible_document_is_named() -> None:
    with pytest.raises(LrlmError, match="the document 'odd' has no finite probability"):
        score_documents(
            make_model("vanilla", "lstm"),
            encoder(),
            collator(),
            [link("a b"), link("a w", id_="odd")],
            unknown_words=1,
        )


def test_the_judge_sees_every_document_once_and_progress_is_told() -> None:
    seen: list[str] = []
    told: list[tuple[str, int, int]] = []

    def judge(members: Sequence[LinkedDocument], read: Sequence[ScoredDocument]) -> None:
        seen.extend(document.id for document in members)
        assert [document.id for document in members] == [each.encoded.id for each in read]

    score_documents(
        make_model("vanilla", "lstm"),
        encoder(),
        collator(4),
        documents(),
        unknown_words=1,
        batch_size=4,
        judge=judge,
        progress=lambda *how_far: told.append(how_far),
    )
    assert sorted(seen) == [document.id for document in documents()]
    assert told == [("scoring", 4, 6), ("scoring", 6, 6)]


def test_float32_models_are_summed_in_float64() -> None:
    for document in scored(make_model("lrlm", "lstm", torch.float32)):
        assert document.unspelled_N.dtype == torch.float64
        assert document.score_E.dtype == torch.float64


def test_candidates_need_not_be_mentions_of_words() -> None:
    """Words inside of spans are then told by where their tokens stand; all mentions are lost."""
    model = make_model("lrlm", "lstm")
    space = UnmentionedSpace(VOCABULARY, ToySpeller())
    found = score_documents(
        model,
        replace(encoder(), space=space),
        collator(),
        documents(),
        unknown_words=UNKNOWN_WORDS,
    )
    for one, other, document in zip(score_toys(model), found, documents(), strict=True):
        assert one.lost_candidates == 0
        assert other == replace(one, lost_candidates=len(document.mentions))
