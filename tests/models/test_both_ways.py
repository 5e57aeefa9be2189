"""Two readings of one document put together: exact, and beside a model that reads one way only."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from lrlm.errors import InputError
from lrlm.lattice import log_marginal, posteriors
from lrlm.models import ScoredDocument, combine, laid_over, lattice_of, read_documents
from lrlm.text import LinkedDocument, TokenPlaces
from tests.models.contract import make_model
from tests.oracles.pairs import all_texts, log_sum, pair_posterior, shares
from tests.toy import LONELY, SPACE, TOPIC, collator, encoder, link

TEXTS = ["a b u v a", "b", "u a b b a u", "w a w b v", "v v v", "a b a b u a b"]
WEIGHTS = [0.3, 1.0, 2.5]


def read(
    documents: list[LinkedDocument], *, backward: bool, backbone: str = "lstm", kind: str = "lrlm"
) -> list[ScoredDocument]:
    model = make_model(f"{kind}+summary" if backward and kind == "lrlm" else kind, backbone)
    encoded = list(replace(encoder(), backward=backward).encode(documents))
    return read_documents(model, collator(4), encoded)


def both(documents: list[LinkedDocument]) -> tuple[list[ScoredDocument], list[ScoredDocument]]:
    return read(documents, backward=False), read(documents, backward=True)


@pytest.mark.parametrize("kind", ["vanilla", "nklm", "lrlm"])
def test_what_was_read_backward_is_told_in_forward_positions(kind: str) -> None:
    documents = [link(text) for text in TEXTS]
    scored = read(documents, backward=True, kind=kind)
    forward = list(encoder().encode(documents))
    for document, expected in zip(scored, forward, strict=True):
        assert not document.encoded.is_backward
        assert np.array_equal(document.encoded.tokens_N, expected.tokens_N)
        assert np.array_equal(document.encoded.edges_E4, expected.edges_E4)
        if kind == "lrlm":
            assert document.start_E.tolist() == expected.edges_E4[:, 0].tolist()
            assert document.end_E.tolist() == expected.edges_E4[:, 1].tolist()


def test_turned_back_each_segment_has_the_score_that_it_was_read_with() -> None:
    """The last word of a text is read first: its score knows nothing but that the text ends."""
    (short,) = read([link("b")], backward=True)
    (long,) = read([link("v a b b")], backward=True)
    torch.testing.assert_close(short.words_N()[-1], long.words_N()[-1], rtol=0, atol=1e-9)
    last = {
        tuple(edge[2:]): float(score)
        for edge, score in zip(short.encoded.edges_E4.tolist(), short.score_E, strict=True)
    }
    there = {
        tuple(edge[2:]): float(score)
        for edge, score in zip(long.encoded.edges_E4.tolist(), long.score_E, strict=True)
        if edge[:2] == [3, 4]
    }
    assert last.keys() == there.keys()
    assert last
    for key, score in last.items():
        assert there[key] == pytest.approx(score, abs=1e-9)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_posteriors_are_those_of_every_segmentation_by_itself(weight: float) -> None:
    documents = [link(text) for text in TEXTS]
    forward, backward = both(documents)
    lattice = lattice_of(combine(forward, backward, weight))
    word_BT, edge_E = posteriors(lattice)
    before = 0
    for row, (one, other) in enumerate(zip(forward, backward, strict=True)):
        tokens, edges = one.encoded.tokens, len(one.score_E)
        words, copied = shares(pair_posterior(one, other, weight), tokens, edges)
        assert word_BT[row, :tokens].tolist() == pytest.approx(words, abs=1e-9)
        assert edge_E[before : before + edges].tolist() == pytest.approx(copied, abs=1e-9)
        before += edges


@pytest.mark.parametrize("weight", WEIGHTS)
def test_the_sum_is_what_the_forward_model_says_of_the_text(weight: float) -> None:
    forward, backward = both([link(text) for text in TEXTS])
    together = combine(forward, backward, weight)
    torch.testing.assert_close(
        log_marginal(lattice_of(together)), log_marginal(lattice_of(forward)), rtol=0, atol=1e-9
    )
    for document, alone in zip(together, forward, strict=True):
        if math.isfinite(log_marginal(lattice_of([alone]))):
            assert log_sum(document) == pytest.approx(log_sum(alone), abs=1e-9)
        assert document.end_score == alone.end_score


def test_the_texts_of_a_world_still_sum_to_one() -> None:
    """So a pair has a perplexity, which is that of its forward model."""
    texts = all_texts(["a", "b", "u", "v", "w"], 2)
    forward, backward = both([link(text) for text in texts])
    total = sum(
        math.exp(log_marginal(lattice_of([document])) + document.end_score)
        for document in combine(forward, backward, 1.0)
    )
    alone = sum(
        math.exp(log_marginal(lattice_of([document])) + document.end_score) for document in forward
    )
    assert total == pytest.approx(alone, abs=1e-9)


def test_a_weight_of_zero_is_the_forward_model_alone() -> None:
    forward, backward = both([link("a b u")])
    (document,) = combine(forward, backward, 0.0)
    assert document is forward[0]
    assert combine([], [], 1.0) == []


def test_a_topic_without_relations_has_words_only() -> None:
    forward, backward = both([link("a b", LONELY)])
    (document,) = combine(forward, backward, 1.0)
    torch.testing.assert_close(document.words_N(), forward[0].words_N(), rtol=0, atol=1e-9)


def test_readings_of_other_texts_are_refused() -> None:
    with pytest.raises(InputError, match="other tokens or candidates"):
        combine(read([link("a b")], backward=False), read([link("a b a")], backward=True), 1.0)
    with pytest.raises(InputError, match="other tokens or candidates"):
        combine(
            read([link("a b", LONELY)], backward=False), read([link("a b")], backward=True), 1.0
        )


def test_laid_over_the_same_tokens_nothing_changes() -> None:
    document = link("a b u v a", TOPIC)
    (scored,) = read([document], backward=True)
    places = SPACE.places(document)
    over = laid_over(scored, places, scored.encoded, places)
    assert torch.equal(over.words_N(), scored.words_N())
    assert torch.equal(over.score_E, scored.score_E)


def test_words_go_to_the_token_in_which_they_begin_and_candidates_to_their_characters() -> None:
    """The text "a b u": its words laid over tokens "a ", "b", " ", "u" cut in another way."""
    document = link("a b u", TOPIC)
    (scored,) = read([document], backward=True)
    words = scored.words_N()
    one, two, three = words.tolist()
    its = SPACE.places(document)
    # Three tokens: "a b" is cut into "a" and "b", and "u" into two, of which the second is empty.
    places = TokenPlaces([0, 2, 4, 5], [1, 3, 5, 5], [0, 1, 2, 2])
    edges = [edge for edge in scored.encoded.edges_E4.tolist() if edge[1] <= 2]
    inside = [0, 2, 9, 9]  # a candidate that the words do not have
    encoded = replace(
        scored.encoded,
        tokens_N=np.array([0, 0, 0, 0]),
        spelling_N=np.zeros(4, dtype=np.float32),
        edges_E4=np.array([*edges, inside]),
        mention_E=np.full(len(edges) + 1, -1),
    )
    over = laid_over(scored, its, encoded, places)
    assert over.words_N().tolist() == [one, two, three, 0.0]
    listed = [tuple(edge) for edge in scored.encoded.edges_E4.tolist()]
    for edge, score in zip(edges, over.score_E.tolist(), strict=False):
        assert score == float(scored.score_E[listed.index(tuple(edge))])
    assert float(over.score_E[-1]) == pytest.approx(one + two)
