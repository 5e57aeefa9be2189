"""Documents scored once, under three spellings, inside and outside of spans: against three passes
of the model, and against a list of all segmentations."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
import torch

from lrlm.arrays import Floats
from lrlm.batching import Encoder, Speller
from lrlm.corpora import LinkedDocument
from lrlm.errors import LrlmError
from lrlm.evaluation import DocumentScore, Reading, Spelling, read, score
from lrlm.models import LanguageModel, score_documents
from tests.models.contract import make_model
from tests.oracles import lattice as oracle
from tests.toy import (
    LONELY,
    OBJECTS,
    TOPIC,
    TYPES,
    VOCABULARY,
    ToySpeller,
    collator,
    encode,
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


class ConstantSpeller:
    """Gives every word the same log-probability."""

    def __init__(self, log_prob: float) -> None:
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
    return score(
        model,
        Encoder(VOCABULARY, ToySpeller(), TYPES, OBJECTS),
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
        encoder = Encoder(VOCABULARY, speller, TYPES, OBJECTS)
        batch = list(encoder.encode(documents()))
        expected = score_documents(model, collator().windows(batch))
        actual = [each.nats(spelling, count_end=True) for each in found]
        assert actual == pytest.approx(expected.nats_B.tolist(), abs=1e-6), spelling
        ends = [each.end_nats for each in found]
        assert ends == pytest.approx(expected.end_nats_B.tolist(), abs=1e-9)
        assert [each.tokens for each in found] == expected.tokens_B.tolist()
        text_nats = (expected.nats_B - expected.end_nats_B).tolist()
        assert [each.nats(spelling) for each in found] == pytest.approx(text_nats, abs=1e-6)


@pytest.mark.parametrize(("kind", "backbone"), MODELS)
def test_batches_and_windows_do_not_matter(kind: str, backbone: str) -> None:
    model = make_model(kind, backbone)
    expected = score_toys(model)
    for window, batch_size in ((1, 2), (4, 60)):
        for one, other in zip(
            score_toys(model, window=window, batch_size=batch_size), expected, strict=True
        ):
            assert one.id == other.id
            assert one.inside_tokens == other.inside_tokens
            assert one.inside_nats == pytest.approx(other.inside_nats, abs=1e-9)
            assert one.outside_nats == pytest.approx(other.outside_nats, abs=1e-9)


def test_documents_are_described() -> None:
    found = score_toys(make_model("lrlm", "lstm"))
    assert [each.id for each in found] == [f"article {number}" for number in range(len(TEXTS))]
    assert [each.tokens for each in found] == [len(text.split()) for text in TEXTS]
    assert [each.relations for each in found] == [3, 3, 0, 3, 3, 0]
    unknown = [sum(word in "uv" for word in text.split()) for text in TEXTS]
    assert [each.unknown_tokens for each in found] == unknown
    # "a b", "u": four of the first five tokens but "v" and the last "a"; no topic, no spans.
    assert [each.inside_tokens for each in found] == [3, 1, 0, 0, 4, 0]
    assert [each.outside_tokens for each in found] == [2, 0, 17, 3, 0, 0]
    assert found[0].units() == 5
    assert found[0].units(count_end=True) == 6


def readings(model: LanguageModel, window: int = 150) -> list[Reading]:
    return list(read(model, collator(window).windows(encode(*documents()))))


@pytest.mark.parametrize("window", [150, 3])
def test_covered_tokens_are_those_of_some_mention(window: int) -> None:
    covered: dict[int, set[int]] = {number: set() for number in range(len(TEXTS))}
    for reading in readings(make_model("vanilla", "lstm"), window):
        for row, token in reading.covered_BT.nonzero().tolist():
            covered[int(reading.window.document_B[row])].add(token + int(reading.offset_B[row]))
    for number, document in enumerate(documents()):
        expected = {t for m in document.mentions for t in range(m.start, m.end)}
        assert covered[number] == expected


def test_inside_is_the_sum_over_segmentations_of_covered_runs() -> None:
    model = make_model("lrlm", "lstm")
    found = score_toys(model)
    (reading,) = readings(model)
    lattice = reading.spelled(reading.window.spelling_BT)
    for number, each in enumerate(found):
        words = lattice.words_BT[number, : each.tokens].tolist()
        edges = [
            oracle.Edge(
                int(lattice.start_E[e]), int(lattice.end_E[e]), e, float(lattice.score_E[e])
            )
            for e in (lattice.row_E == number).nonzero().flatten().tolist()
        ]
        inside = outside = 0.0
        for is_covered, run in itertools.groupby(
            range(each.tokens), key=reading.covered_BT[number].tolist().__getitem__
        ):
            tokens = list(run)
            first, last = tokens[0], tokens[-1] + 1
            shifted = [
                edge._replace(start=edge.start - first, end=edge.end - first)
                for edge in edges
                if first <= edge.start < last
            ]
            nats = -oracle.log_marginal(oracle.Row(words[first:last], shifted))
            inside, outside = inside + nats * is_covered, outside + nats * (not is_covered)
        assert each.inside_nats[Spelling.OPEN] == pytest.approx(inside, abs=1e-9)
        assert each.outside_nats[Spelling.OPEN] == pytest.approx(outside, abs=1e-9)
        whole = -oracle.log_marginal(oracle.Row(words, edges))
        assert each.nats() == pytest.approx(whole, abs=1e-9)


def test_what_a_reading_says_of_its_model() -> None:
    said = {
        kind: (reading.is_latent, reading.is_joint)
        for kind in ("vanilla", "alias", "nklm", "lrlm")
        for reading in readings(make_model(kind, "lstm"))
    }
    assert said == {
        "vanilla": (False, False),
        "alias": (False, False),
        "nklm": (False, True),
        "lrlm": (True, False),
    }


def test_an_impossible_document_is_named() -> None:
    with pytest.raises(LrlmError, match="the document 'odd' has no finite probability"):
        score(
            make_model("vanilla", "lstm"),
            Encoder(VOCABULARY, ToySpeller(), TYPES, OBJECTS),
            collator(),
            [link("a b"), link("a w", id_="odd")],
            unknown_words=1,
        )


def test_the_witness_sees_every_token_once_and_progress_is_told() -> None:
    seen: dict[str, int] = {}
    told: list[tuple[str, int]] = []

    def witness(reading: Reading, members: Sequence[LinkedDocument]) -> None:
        for number, offset, tokens in zip(
            reading.window.document_B.tolist(),
            reading.offset_B.tolist(),
            reading.text_BT.sum(1).tolist(),
            strict=True,
        ):
            id_ = members[number].id
            assert offset == seen.get(id_, 0)
            seen[id_] = seen.get(id_, 0) + tokens

    score(
        make_model("vanilla", "lstm"),
        Encoder(VOCABULARY, ToySpeller(), TYPES, OBJECTS),
        collator(4),
        documents(),
        unknown_words=1,
        batch_size=4,
        witness=witness,
        progress=lambda what, done: told.append((what, done)),
    )
    assert seen == {document.id: len(document.tokens) for document in documents()}
    assert told == [("scoring", 4), ("scoring", 6)]


def test_float32_models_are_summed_in_float64() -> None:
    (reading,) = readings(make_model("lrlm", "lstm", torch.float32))
    assert reading.unspelled.words_BT.dtype == torch.float64
    assert reading.unspelled.score_E.dtype == torch.float64
