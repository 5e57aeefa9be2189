"""Cut a batch of encoded documents into windows that a model reads in order.

A document is cut where no candidate span crosses, so the lattices of its windows multiply to that
of the whole. Where it is cut depends on the document alone, never on the batch it is in.

Shapes: B rows (documents of the window), T tokens, R relations of a row, E candidate edges,
S places of a row where edges start, Q (place, relation) pairs whose form is chosen, F forms of
those, W width of form features, C copied tokens, P tokens of prefaces, N distinct names, D width of
states.
"""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from lrlm.arrays import UNSEEN, Integers
from lrlm.batching.encoding import NOT_A_FACT, EncodedDocument, FormFeaturiser, Parts
from lrlm.batching.name_words import words_of_names
from lrlm.batching.naming import first_forms
from lrlm.batching.windows import (
    Edges,
    FormChoices,
    HardAnnotation,
    KeptStates,
    NamesSoFar,
    RelationNames,
    TopicRelations,
    Window,
    WordsOfNames,
    padded,
)
from lrlm.errors import InputError


def cut(tokens: int, edges_E4: Integers, size: int, *, behind: int = 0) -> list[int]:
    """Give the boundaries of a document's windows, 0 and the end included.

    A window has at most `size` tokens, or more where no boundary before that is free of spans. So
    many tokens `behind` a span belong to it.
    """
    if size < 1:
        raise InputError(f"a window must have at least 1 token, not {size}")
    crossed = np.zeros(tokens + 1, dtype=bool)
    for start, end in set(map(tuple, edges_E4[:, :2].tolist())):
        crossed[start + 1 : end + behind] = True
    free = np.flatnonzero(~crossed)
    boundaries = [0]
    while boundaries[-1] < tokens:
        within = np.searchsorted(free, boundaries[-1] + size, side="right") - 1
        after = np.searchsorted(free, boundaries[-1], side="right")
        boundaries.append(int(free[max(within, after)]))
    return boundaries


def window_boundaries(document: EncodedDocument, size: int) -> list[int]:
    """Cut a document into windows of about this size, where no candidate crosses.

    A token that must begin a new word because it follows a name is scored together with the name.
    """
    behind = 0 if document.bound_E is None else 1
    return cut(document.tokens + 1, document.edges_E4, size, behind=behind)


@dataclass(frozen=True)
class IdLimits:
    """How many ids of each kind a model knows; the collator refuses others, once for all layers."""

    tokens: int
    types: int
    objects: int


class NumberedNames:
    """Numbers names in the order in which they first come."""

    def __init__(self) -> None:
        self._number_of: dict[tuple[str, ...], int] = {}

    @property
    def listed(self) -> list[tuple[str, ...]]:
        """The names by their number."""
        return list(self._number_of)

    def numbers(self, names: Iterable[tuple[str, ...]]) -> Integers:
        """Give the number of each name."""
        number_of = self._number_of
        return np.array(
            [number_of.setdefault(name, len(number_of)) for name in names], dtype=np.int64
        )


class Collator:
    """Makes the windows of a batch of documents, with what the model reads and nothing else."""

    def __init__(
        self,
        end_id: int,
        featuriser: FormFeaturiser,
        *,
        size: int = 150,
        parts: Parts = Parts.RELATIONS | Parts.EDGES | Parts.COPIES | Parts.ALIASES,
        limits: IdLimits | None = None,
        no_form_after: AbstractSet[int] = frozenset(),
    ) -> None:
        """`no_form_after` are the tokens right after which no form can begin."""
        self._no_form_after = np.array(sorted(no_form_after), dtype=np.int64)
        self._end_id = end_id
        self._featuriser = featuriser
        self._size = size
        self._parts = parts
        self._limits = limits

    def windows(self, documents: Sequence[EncodedDocument]) -> Iterator[Window]:
        """Give the windows of documents that are read side by side, one after the other."""
        if self._limits is not None:
            for document in documents:
                _check_ids(document, self._limits)
        pieces = [self._pieces(document) for document in documents]
        before: list[int] = []
        for number in range(max((len(cuts) for cuts in pieces), default=0)):
            rows = [index for index, cuts in enumerate(pieces) if number < len(cuts)]
            kept = [before.index(row) for row in rows] if number else range(len(rows))
            yield self._window(
                [documents[row] for row in rows],
                [pieces[row][number] for row in rows],
                torch.tensor(rows),
                torch.tensor(list(kept), dtype=torch.long),
            )
            before = rows

    def _pieces(self, document: EncodedDocument) -> list[tuple[int, int]]:
        return list(pairwise(window_boundaries(document, self._size)))

    def _window(
        self,
        documents: list[EncodedDocument],
        pieces: list[tuple[int, int]],
        document_B: Tensor,
        kept_B: Tensor,
    ) -> Window:
        shape = (len(documents), max(end - start for start, end in pieces))
        inputs_BT = np.full(shape, self._end_id)
        targets_BT = np.full(shape, self._end_id)
        spelling_BT = np.zeros(shape, dtype=np.float32)
        for row, (document, (start, end)) in enumerate(zip(documents, pieces, strict=True)):
            words = document.tokens_N
            before = words[max(start - 1, 0) : end - 1]
            inputs_BT[row, end - start - len(before) : end - start] = before
            if start == 0:
                inputs_BT[row, 0] = document.preface_P[-1]
            targets_BT[row, : len(words[start:end])] = words[start:end]
            spelling_BT[row, : len(words[start:end])] = document.spelling_N[start:end]
        parts = self._parts
        is_kept = all(document.kept is not None for document in documents)
        prefaces: list[Integers] = []
        if parts & (Parts.ALIASES | Parts.FACTS) and not is_kept:
            starts_document = pieces[0][0] == 0
            prefaces = [
                document.preface_P[:-1] if starts_document else _NONE for document in documents
            ]
        return Window(
            document_B=document_B,
            kept_B=kept_B,
            inputs_BT=torch.from_numpy(inputs_BT),
            targets_BT=torch.from_numpy(targets_BT),
            spelling_BT=torch.from_numpy(spelling_BT),
            lengths_B=torch.tensor([end - start for start, end in pieces]),
            ends_B=torch.tensor(
                [
                    end > document.tokens
                    for document, (_, end) in zip(documents, pieces, strict=True)
                ]
            ),
            relations=self._relations(documents) if Parts.RELATIONS in parts else None,
            edges=self._edges(documents, pieces) if Parts.EDGES in parts else None,
            annotation=(
                self._annotation(documents, pieces, shape) if Parts.COPIES in parts else None
            ),
            preface_BP=padded(prefaces, self._end_id) if prefaces else None,
            preface_lengths_B=(
                torch.tensor([len(preface) for preface in prefaces]) if prefaces else None
            ),
            may_copy_BT=(
                self._may_copy(inputs_BT, pieces)
                if Parts.EDGES in parts and len(self._no_form_after)
                else None
            ),
            named_BTR=_named(documents, pieces) if Parts.NAMED in parts else None,
            name_words=(self._name_words(documents, pieces) if Parts.NAME_WORDS in parts else None),
            kept=_kept(documents, pieces) if is_kept else None,
        )

    def _edges(self, documents: list[EncodedDocument], pieces: list[tuple[int, int]]) -> Edges:
        rows, edges, bound = [], [], []
        for row, (document, (start, end)) in enumerate(zip(documents, pieces, strict=True)):
            first, last = np.searchsorted(document.edges_E4[:, 0], (start, end))
            inside = document.edges_E4[first:last] - (start, start, 0, 0)
            edges.append(inside)
            rows.append(np.full(len(inside), row))
            if document.bound_E is not None:
                bound.append(document.bound_E[first:last])
        row_E = np.concatenate(rows)
        start_E, end_E, relation_E, form_E = np.concatenate(edges).T
        places, place_of_edge = np.unique(np.stack([row_E, start_E]), axis=1, return_inverse=True)
        first_place_B = np.searchsorted(places[0], np.arange(len(documents) + 1))
        place_BS = padded(
            [places[1, first:last] for first, last in pairwise(first_place_B)],
            0,
        )
        choices, choice_of_edge = np.unique(
            np.stack([row_E, start_E, relation_E]), axis=1, return_inverse=True
        )
        relations = [
            documents[row].forms_R[relation]
            for row, relation in zip(choices[0], choices[2], strict=True)
        ]
        return Edges(
            row_E=torch.from_numpy(row_E),
            start_E=torch.from_numpy(np.ascontiguousarray(start_E)),
            end_E=torch.from_numpy(np.ascontiguousarray(end_E)),
            relation_E=torch.from_numpy(np.ascontiguousarray(relation_E)),
            slot_E=torch.from_numpy(place_of_edge.reshape(-1) - first_place_B[row_E]),
            place_BS=place_BS,
            row_Q=torch.from_numpy(np.ascontiguousarray(choices[0])),
            start_Q=torch.from_numpy(np.ascontiguousarray(choices[1])),
            relation_Q=torch.from_numpy(np.ascontiguousarray(choices[2])),
            forms=self._choices(relations, choice_of_edge.reshape(-1), form_E),
            named_F=_named_forms(documents, pieces, choices)
            if Parts.NAMED in self._parts
            else None,
            bound_E=torch.from_numpy(np.concatenate(bound)) if bound else None,
        )

    def _may_copy(self, inputs_BT: Integers, pieces: list[tuple[int, int]]) -> Tensor:
        """Say where a form may begin; at the start of a text it may, whatever was read before."""
        may_copy_BT = ~np.isin(inputs_BT, self._no_form_after)
        may_copy_BT[:, 0] |= np.array([start == 0 for start, _ in pieces])
        return torch.from_numpy(may_copy_BT)

    def _relations(self, documents: list[EncodedDocument]) -> TopicRelations:
        types = [document.types_R for document in documents]
        objects = [document.objects_R for document in documents]
        return TopicRelations(
            types_BR=padded(types, UNSEEN),
            objects_BR=padded(objects, UNSEEN),
            mask_BR=padded([np.ones_like(each.types_R) for each in documents], 0).bool(),
            names=self._names(documents) if Parts.NAMES in self._parts else None,
            open_BR=_open_relations(documents),
            traits_BRJ=_traits(documents) if Parts.TRAITS in self._parts else None,
            unnamed_BR=_unnamed(documents) if Parts.NAMED in self._parts else None,
        )

    def _names(self, documents: list[EncodedDocument]) -> RelationNames:
        """Say what types and objects are called."""
        names = NumberedNames()
        types = [names.numbers(document.type_names_R) for document in documents]
        objects = [names.numbers(forms[0] for forms in each.forms_R) for each in documents]
        return RelationNames(
            padded(types, 0),
            padded(objects, 0),
            torch.from_numpy(self._featuriser.vectors(names.listed)),
        )

    def _name_words(
        self, documents: list[EncodedDocument], pieces: list[tuple[int, int]]
    ) -> WordsOfNames:
        """Say where the words of names stand in a window, and what stands before them."""
        rows = [each.name_words for each in documents if each.name_words is not None]
        assert len(rows) == len(documents), "the encoder serves another model"
        listed = [(word,) for row in rows for word in row.topic.words]
        return words_of_names(rows, pieces, self._featuriser.vectors(listed))

    def _annotation(
        self,
        documents: list[EncodedDocument],
        pieces: list[tuple[int, int]],
        shape: tuple[int, int],
    ) -> HardAnnotation:
        relation_BT = np.full(shape, NOT_A_FACT)
        previous_relation_BT = np.full(shape, NOT_A_FACT)
        previous_position_BT = np.full(shape, NOT_A_FACT)
        form_BT, position_BT, length_BT = np.zeros((3, *shape), dtype=np.int64)
        for row, (document, (start, end)) in enumerate(zip(documents, pieces, strict=True)):
            copies = document.copies
            assert copies is not None, "the encoder and the collator serve the same model"
            here, before = slice(start, end), slice(max(start - 1, 0), end - 1)
            length = len(copies.relation_N[here])
            relation_BT[row, :length] = copies.relation_N[here]
            form_BT[row, :length] = copies.form_N[here]
            position_BT[row, :length] = copies.position_N[here]
            length_BT[row, :length] = copies.length_N[here]
            relation_before = copies.relation_N[before]
            shifted = slice(end - start - len(relation_before), end - start)
            previous_relation_BT[row, shifted] = relation_before
            previous_position_BT[row, shifted] = np.where(
                relation_before == NOT_A_FACT, NOT_A_FACT, copies.position_N[before]
            )
        row_C, place_C = np.nonzero(relation_BT != NOT_A_FACT)
        form_C = form_BT[row_C, place_C]
        relations = [
            documents[row].forms_R[relation]
            for row, relation in zip(row_C, relation_BT[row_C, place_C], strict=True)
        ]
        return HardAnnotation(
            relation_BT=torch.from_numpy(relation_BT),
            previous_relation_BT=torch.from_numpy(previous_relation_BT),
            previous_position_BT=torch.from_numpy(previous_position_BT),
            row_C=torch.from_numpy(row_C),
            place_C=torch.from_numpy(place_C),
            position_C=torch.from_numpy(position_BT[row_C, place_C]),
            length_C=torch.from_numpy(length_BT[row_C, place_C]),
            forms=self._choices(relations, np.arange(len(relations)), form_C),
        )

    def _choices(
        self,
        relations: list[tuple[tuple[str, ...], ...]],
        choice_of_taken: Integers,
        form_taken: Integers,
    ) -> FormChoices:
        """List the forms of each choice, and where among all of them the taken ones stand."""
        sizes = np.array([len(forms) for forms in relations], dtype=np.int64)
        first_Q = np.cumsum(sizes) - sizes
        all_forms = [form for forms in relations for form in forms]
        return FormChoices(
            query_F=torch.from_numpy(np.repeat(np.arange(len(sizes)), sizes)),
            features_FW=torch.from_numpy(self._featuriser.vectors(all_forms)),
            chosen=torch.from_numpy(first_Q[choice_of_taken] + form_taken),
        )


_NONE = np.empty(0, dtype=np.int64)


def _open_relations(documents: list[EncodedDocument]) -> Tensor | None:
    """Say which relations of each row stand for facts that are not known, if any does."""
    if all(document.open_R is None for document in documents):
        return None
    rows = [
        np.zeros_like(each.types_R) if each.open_R is None else each.open_R.astype(np.int64)
        for each in documents
    ]
    return padded(rows, 0).bool()


def _traits(documents: list[EncodedDocument]) -> Tensor:
    """Say how each relation stands among those of its topic: (B, R, J)."""
    rows = [each.traits_RJ for each in documents if each.traits_RJ is not None]
    assert len(rows) == len(documents), "the encoder serves another model"
    return nn.utils.rnn.pad_sequence(list(map(torch.from_numpy, rows)), batch_first=True)


def _unnamed(documents: list[EncodedDocument]) -> Tensor:
    """Say which facts no name in the text can be of: (B, R). What a topic is called is no fact."""
    rows = []
    for document in documents:
        unnamed_R = np.ones_like(document.types_R)
        unnamed_R[:1] = 0
        unnamed_R[document.edges_E4[:, 2]] = 0
        rows.append(unnamed_R)
    return padded(rows, 0).bool()


def _named(documents: list[EncodedDocument], pieces: list[tuple[int, int]]) -> NamesSoFar:
    """Say which relations were named before each token of a window: (B, T, R)."""
    shape = (
        len(documents),
        max(end - start for start, end in pieces),
        max(len(document.types_R) for document in documents),
    )
    times_BTR, since_BTR = np.zeros((2, *shape), dtype=np.int64)
    for row, (document, (start, end)) in enumerate(zip(documents, pieces, strict=True)):
        relations = len(document.types_R)
        found = document.name_places.relations_at(start, end, relations)
        times_BTR[row, : end - start, :relations], since_BTR[row, : end - start, :relations] = found
    return NamesSoFar(torch.from_numpy(times_BTR), torch.from_numpy(since_BTR))


def _named_forms(
    documents: list[EncodedDocument], pieces: list[tuple[int, int]], choices: Integers
) -> NamesSoFar:
    """Say which forms of each choice, a row, a place and a relation, stand before it: (F,)."""
    found = [(_NONE, _NONE)]
    bounds = np.searchsorted(choices[0], np.arange(len(documents) + 1))
    for row, (first, last) in enumerate(pairwise(bounds)):
        _, start_Q, relation_Q = choices[:, first:last]
        forms_R = np.array([len(forms) for forms in documents[row].forms_R], dtype=np.int64)
        sizes_Q = forms_R[relation_Q]
        within_F = np.arange(sizes_Q.sum()) - np.repeat(np.cumsum(sizes_Q) - sizes_Q, sizes_Q)
        form_F = np.repeat(first_forms(forms_R)[relation_Q], sizes_Q) + within_F
        place_F = np.repeat(start_Q + pieces[row][0], sizes_Q)
        found.append(documents[row].name_places.forms_at(form_F, place_F))
    times, since = zip(*found, strict=True)
    return NamesSoFar(
        torch.from_numpy(np.concatenate(times)), torch.from_numpy(np.concatenate(since))
    )


def _kept(documents: list[EncodedDocument], pieces: list[tuple[int, int]]) -> KeptStates:
    """Take what was read before out of the files where it is kept."""
    rows = []
    for document, (start, end) in zip(documents, pieces, strict=True):
        assert document.kept is not None
        rows.append(
            [
                # A copy: the files are mapped into memory, and their pages may be let go of.
                torch.from_numpy(np.array(values[start:end], dtype=np.float32))
                for values in document.kept
            ]
        )
    padded = (
        nn.utils.rnn.pad_sequence(list(part), batch_first=True) for part in zip(*rows, strict=True)
    )
    return KeptStates(*padded)


def _check_ids(document: EncodedDocument, limits: IdLimits) -> None:
    """Refuse ids that the model has no vectors for, before they reach a device."""
    for what, ids, lowest, count in (
        ("token", document.tokens_N, 0, limits.tokens),
        ("relation type", document.types_R, UNSEEN, limits.types),
        ("object", document.objects_R, UNSEEN, limits.objects),
    ):
        if len(ids) and not (ids.min() >= lowest and ids.max() < count):
            wrong = int(ids[(ids < lowest) | (ids >= count)][0])
            raise InputError(
                f"the document {document.id!r} has the {what} id {wrong}, but this model knows"
                f" {count:,} of them; was it encoded for another model?"
            )
