from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lrlm.batching import NOT_A_FACT, UNSEEN, Collator, IdLimits, cut
from lrlm.errors import InputError
from tests.toy import (
    LONELY,
    OBJECTS,
    TYPES,
    VOCABULARY,
    ToyFeaturiser,
    collator,
    encode,
    link,
)


def spans_as_edges(*spans: tuple[int, int]) -> np.ndarray:
    return np.array([(start, end, 0, 0) for start, end in sorted(spans)]).reshape(-1, 4)


def test_cuts_at_the_size_where_nothing_is_in_the_way() -> None:
    assert cut(10, spans_as_edges(), 4) == [0, 4, 8, 10]


def test_moves_a_cut_before_a_span_that_crosses_it() -> None:
    assert cut(10, spans_as_edges((3, 6)), 4) == [0, 3, 7, 10]


def test_grows_a_window_where_no_boundary_is_free() -> None:
    assert cut(10, spans_as_edges((0, 3), (2, 6), (5, 8)), 4) == [0, 8, 10]


def test_an_empty_text_has_no_window() -> None:
    assert cut(0, spans_as_edges(), 4) == [0]


def test_a_window_needs_a_token() -> None:
    with pytest.raises(InputError, match="at least 1 token"):
        cut(3, spans_as_edges(), 0)


@given(st.data())
def test_no_span_crosses_a_cut(data: st.DataObject) -> None:
    tokens = data.draw(st.integers(1, 40))
    starts = data.draw(st.lists(st.integers(0, tokens - 1), max_size=12))
    spans = [(start, data.draw(st.integers(start + 1, min(start + 6, tokens)))) for start in starts]
    size = data.draw(st.integers(1, 12))
    boundaries = cut(tokens, spans_as_edges(*spans), size)
    assert boundaries[0] == 0
    assert boundaries[-1] == tokens
    assert boundaries == sorted(set(boundaries))
    for boundary in boundaries:
        assert not any(start < boundary < end for start, end in spans)
    for start, end in pairwise(boundaries):
        inside = [b for b in range(start + 1, end) if not any(s < b < e for s, e in spans)]
        if end - start > size:
            assert not inside, "a window grows only where no boundary inside is free"


def test_a_window_shifts_words_and_ends_with_the_end() -> None:
    (window,) = collator().windows(encode(link("a u b")))
    a, b, unknown, end = (*VOCABULARY.encode(["a", "b"]), VOCABULARY.unknown_id, VOCABULARY.end_id)
    assert window.targets_BT.tolist() == [[a, unknown, b, end]]
    assert window.inputs_BT.tolist() == [[end, a, unknown, b]]
    assert window.lengths_B.tolist() == [4]
    assert window.ends_B.tolist() == [True]
    spelling = window.spelling_BT.exp()
    torch.testing.assert_close(spelling, torch.tensor([[1.0, 0.75, 1.0, 1.0]]))


def test_relations_carry_their_ids_and_unseen_ones_are_marked() -> None:
    (window,) = collator().windows(encode(link("a")))
    assert window.relations is not None
    assert window.relations.types_BR.tolist() == [
        [TYPES["@title"], TYPES["likes"], TYPES["likes"], UNSEEN]
    ]
    assert window.relations.objects_BR.tolist() == [
        [UNSEEN, OBJECTS["first"], OBJECTS["second"], UNSEEN]
    ]
    assert window.relations.mask_BR.all()


def test_only_facts_that_a_text_does_not_name_are_forgotten() -> None:
    (window,) = collator().windows(encode(link("v u v"), link("v")))
    assert window.relations is not None
    assert window.relations.unnamed_BR is not None
    title, *facts = range(window.relations.mask_BR.shape[1])
    named = facts[-1]
    seen = torch.zeros_like(window.relations.mask_BR, dtype=torch.long)
    torch.manual_seed(1)
    for _ in range(200):
        seen += window.relations.forgetting(1.0).mask_BR
    assert (seen[:, title] == 200).all()
    assert seen[0, named] == 200
    others_BR = seen[window.relations.unnamed_BR]
    assert ((others_BR > 50) & (others_BR < 150)).all()
    assert (window.relations.forgetting(0.0).mask_BR == window.relations.mask_BR).all()


def test_edges_name_row_place_relation_and_form() -> None:
    documents = encode(link("b", LONELY), link("v a b"))
    (window,) = collator().windows(documents)
    found = window.edges
    assert found is not None
    rows = zip(
        found.row_E.tolist(),
        found.start_E.tolist(),
        found.end_E.tolist(),
        found.relation_E.tolist(),
        strict=True,
    )
    assert list(rows) == [(1, 1, 3, 0), (1, 1, 3, 1), (1, 1, 3, 2), (1, 2, 3, 1)]
    places = [
        int(found.place_BS[row, slot])
        for row, slot in zip(found.row_E.tolist(), found.slot_E.tolist(), strict=True)
    ]
    assert places == found.start_E.tolist()


def test_form_choices_list_all_forms_of_an_object_and_mark_the_one_taken() -> None:
    (document,) = encode(link("a b"))
    (window,) = collator().windows([document])
    edges = window.edges
    assert edges is not None
    forms = edges.forms
    for edge in range(len(edges.row_E)):
        chosen = int(forms.chosen[edge])
        query = int(forms.query_F[chosen])
        relation = int(edges.relation_E[edge])
        assert int((forms.query_F == query).sum()) == len(document.forms_R[relation])
        assert int(edges.start_Q[query]) == int(edges.start_E[edge])


def test_windows_of_a_document_put_together_are_the_document() -> None:
    text = "a b v u a b b a u a v b"
    (whole,) = collator().windows(encode(link(text)))
    parts = list(collator(3).windows(encode(link(text))))
    assert len(parts) > 2
    for name in ("targets_BT", "inputs_BT", "spelling_BT"):
        joined = torch.cat([getattr(part, name)[:, : int(part.lengths_B)] for part in parts], dim=1)
        assert torch.equal(joined, getattr(whole, name)), name
    for name in ("relation_BT", "previous_relation_BT", "previous_position_BT"):
        joined = torch.cat([getattr(part.annotation, name) for part in parts], dim=1)
        assert torch.equal(joined, getattr(whole.annotation, name)), name
    assert whole.edges is not None
    edges = [len(part.edges.row_E) for part in parts if part.edges is not None]
    assert sum(edges) == len(whole.edges.row_E)
    assert [bool(part.ends_B) for part in parts] == [False] * (len(parts) - 1) + [True]


def test_documents_that_have_ended_leave_the_batch() -> None:
    windows = list(collator(2).windows(encode(link("v"), link("v v v v v"), link("v v v"))))
    assert [window.document_B.tolist() for window in windows] == [[0, 1, 2], [1, 2], [1]]
    assert [window.kept_B.tolist() for window in windows] == [[0, 1, 2], [1, 2], [0]]


def test_the_annotation_copies_the_longest_names() -> None:
    (window,) = collator().windows(encode(link("v u a b")))
    annotation = window.annotation
    assert annotation is not None
    # "u a" comes before "a b" of the same length, so the last "b" is a name of its own.
    assert annotation.relation_BT.tolist() == [[NOT_A_FACT, 1, 1, 1, NOT_A_FACT]]
    assert annotation.previous_relation_BT.tolist() == [[NOT_A_FACT, NOT_A_FACT, 1, 1, 1]]
    assert annotation.previous_position_BT.tolist() == [[NOT_A_FACT, NOT_A_FACT, 0, 1, 0]]
    assert annotation.place_C.tolist() == [1, 2, 3]
    assert annotation.position_C.tolist() == [0, 1, 0]
    assert annotation.length_C.tolist() == [2, 2, 1]


def test_aliases_are_told_once_at_the_beginning() -> None:
    first, *others = collator(1).windows(encode(link("b v w")))
    (b,), end = VOCABULARY.encode(["b"]), VOCABULARY.end_id
    assert first.preface_BP is not None
    assert first.preface_BP.tolist() == [[VOCABULARY.unknown_id, end, b, end]]
    assert first.inputs_BT[0, 0] == end
    for window in others:
        assert window.preface_BP is not None
        assert window.preface_BP.shape[1] == 0


def test_moving_a_window_converts_floating_point_only() -> None:
    (window,) = collator().windows(encode(link("a b")))
    moved = window.to("cpu", torch.float64)
    assert moved.spelling_BT.dtype == torch.float64
    assert moved.edges is not None
    assert moved.edges.forms.features_FW.dtype == torch.float64
    assert moved.targets_BT.dtype == torch.int64
    assert moved.relations is not None
    assert moved.relations.mask_BR.dtype == torch.bool


def test_ids_that_the_model_does_not_know_are_refused_once() -> None:
    (document,) = encode(link("a u b"))
    known = IdLimits(tokens=len(VOCABULARY), types=len(TYPES), objects=len(OBJECTS))

    def windows(limits: IdLimits) -> None:
        list(Collator(VOCABULARY.end_id, ToyFeaturiser(), limits=limits).windows([document]))

    windows(known)
    for name, message in (
        ("tokens", "token id"),
        ("types", "relation type id"),
        ("objects", "object id"),
    ):
        with pytest.raises(InputError, match=f"'article' has the {message} .* another model"):
            windows(replace(known, **{name: 1}))
