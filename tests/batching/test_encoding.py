"""Documents as numbers: what each model reads of them, and nothing else."""

import pytest

from lrlm.batching import NOT_A_FACT, UNSEEN, Parts
from tests.toy import ALL_PARTS, VOCABULARY, encoder, link


def test_tokens_edges_and_relations() -> None:
    (document,) = encoder().encode([link("a b u")])
    a, b, unknown = (*VOCABULARY.encode(["a", "b"]), VOCABULARY.unknown_id)
    assert document.tokens_N.tolist() == [a, b, unknown]
    assert document.spelling_N[:2].tolist() == [0, 0]
    assert document.spelling_N[2] < 0
    assert document.types_R.tolist() == [0, 1, 1, UNSEEN]
    assert document.words == document.tokens == 3
    mentions = link("a b u").mentions
    assert [tuple(edge) for edge in document.edges_E4.tolist()] == [tuple(m) for m in mentions]
    assert document.mention_E.tolist() == list(range(len(mentions)))


def test_copies_count_from_the_start_of_each_form() -> None:
    (document,) = encoder().encode([link("v u a b")])
    copies = document.copies
    assert copies is not None
    # "u a" comes before "a b" of the same length, so the last "b" is a name of its own.
    assert copies.relation_N.tolist() == [NOT_A_FACT, 1, 1, 1]
    assert copies.form_N.tolist() == [0, 2, 2, 0]
    assert copies.position_N.tolist() == [0, 0, 1, 0]
    assert copies.length_N.tolist() == [0, 2, 2, 1]


@pytest.mark.parametrize("parts", [Parts.NOTHING, Parts.EDGES, Parts.COPIES, Parts.ALIASES])
def test_only_what_is_read_is_worked_out(parts: Parts) -> None:
    (document,) = encoder(parts=parts).encode([link("a b u")])
    assert (document.copies is not None) == (Parts.COPIES in parts)
    assert (len(document.preface_P) > 1) == (Parts.ALIASES in parts)
    (whole,) = encoder(parts=ALL_PARTS).encode([link("a b u")])
    assert document.edges_E4.tolist() == whole.edges_E4.tolist()  # they say where to cut
