"""What a model reads at a time: the next tokens of each document of a batch, as padded tensors.

Shapes: B rows (documents of the window), T tokens, R relations of a row, E candidate edges,
S places of a row where edges start, Q (place, relation) pairs whose form is chosen, F forms of
those, W width of form features, C copied tokens, P tokens of prefaces, N distinct names, K words of
the names of a row's topic, M places where one stands, V words of the names of all rows, D width of
states.
"""

from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np
import torch
from torch import Tensor

from lrlm.arrays import Integers


@dataclass(frozen=True)
class _OnDevice:
    """Tensors that move together."""

    def to(self, device: torch.device | str, dtype: torch.dtype) -> Self:
        """Move everything to a device; floating-point tensors take the given type."""
        moved: dict[str, Tensor | _OnDevice] = {}
        for entry in fields(self):
            value = getattr(self, entry.name)
            if isinstance(value, _OnDevice):
                moved[entry.name] = value.to(device, dtype)
            elif isinstance(value, Tensor):
                moved[entry.name] = value.to(
                    device, dtype if value.is_floating_point() else None, non_blocking=True
                )
        return replace(self, **moved)


@dataclass(frozen=True)
class NamesSoFar(_OnDevice):
    """Which names stand in the texts before some places: how often, and how many tokens ago."""

    times: Tensor
    since: Tensor
    """0 where there is none."""


@dataclass(frozen=True)
class FormChoices(_OnDevice):
    """For each of Q choices, the forms of one relation's object; F forms in all."""

    query_F: Tensor
    """Which choice a form belongs to, ascending."""
    features_FW: Tensor
    chosen: Tensor
    """Index into F of the forms that were taken: one an edge, or one a copied token."""


@dataclass(frozen=True)
class Edges(_OnDevice):
    """The candidates of a window; `[start, end)` counts from the window's first token."""

    row_E: Tensor
    start_E: Tensor
    end_E: Tensor
    relation_E: Tensor
    slot_E: Tensor
    """Which of its row's S places the edge starts at."""
    place_BS: Tensor
    """The places of a row where edges start, padded with 0."""
    row_Q: Tensor
    start_Q: Tensor
    relation_Q: Tensor
    forms: FormChoices
    named_F: NamesSoFar | None = None
    """The forms of the choices, each before its place, where the model reads it."""
    bound_E: Tensor | None = None
    """Whether what follows the edge must begin a new word; None where every token is a word."""

    def covered_BT(self, shape: tuple[int, ...]) -> Tensor:
        """Say which tokens of a window of this shape lie within a candidate: (B, T)."""
        rows, tokens = shape  # and between U = T + 1 boundaries
        depth_BU = self.start_E.new_zeros(rows, tokens + 1)
        one_E = torch.ones_like(self.start_E)
        depth_BU.index_put_((self.row_E, self.start_E), one_E, accumulate=True)
        depth_BU.index_put_((self.row_E, self.end_E), -one_E, accumulate=True)
        return depth_BU.cumsum(1)[:, :-1] > 0


@dataclass(frozen=True)
class HardAnnotation(_OnDevice):
    """One hard annotation of a window's tokens, and of the token before each (NKLM)."""

    relation_BT: Tensor
    """The relation a token was copied from; `NOT_A_FACT` for a word, the end and padding."""
    previous_relation_BT: Tensor
    previous_position_BT: Tensor
    """Which token of a form the one before copied; `NOT_A_FACT` where it copied nothing."""
    row_C: Tensor
    place_C: Tensor
    position_C: Tensor
    length_C: Tensor
    """Tokens of the form that the token is copied from."""
    forms: FormChoices


@dataclass(frozen=True)
class RelationNames(_OnDevice):
    """What the types and objects of relations are called."""

    types_BR: Tensor
    objects_BR: Tensor
    """Which of the names each has, padded with 0."""
    features_NW: Tensor
    """Features of the distinct names."""


@dataclass(frozen=True)
class TopicRelations(_OnDevice):
    """The relations of each row's topic, padded."""

    types_BR: Tensor
    objects_BR: Tensor
    """The ids of types and objects."""
    mask_BR: Tensor
    """Where there is a relation, not padding."""
    names: RelationNames | None = None
    """Where the model reads what types and objects are called."""
    open_BR: Tensor | None = None
    """Which relations stand for facts that are not known; None where none does."""
    traits_BRJ: Tensor | None = None
    """How each stands among those of its topic, where the model reads it."""
    unnamed_BR: Tensor | None = None
    """Which facts no name in the whole text can be of; None where that is not asked for."""

    @property
    def described(self) -> tuple[Tensor, ...]:
        """Ids of types and objects, and what they are called where the model reads it."""
        ids = self.types_BR, self.objects_BR
        if self.names is None:
            return ids
        return *ids, self.names.types_BR, self.names.objects_BR, self.names.features_NW

    @property
    def known_BR(self) -> Tensor:
        """Where there is a relation that is known, not an open one."""
        return self.mask_BR if self.open_BR is None else self.mask_BR & ~self.open_BR

    def forgetting(self, rate: float) -> "TopicRelations":
        """Take facts that the text does not name for unknown, up to this share of them.

        How many is drawn for each row, so that little is known of some topics and much of others.
        """
        assert self.unnamed_BR is not None, "the collator serves another model"
        drawn_BR = torch.rand(self.mask_BR.shape, device=self.mask_BR.device)
        share_B1 = rate * torch.rand(len(drawn_BR), 1, device=self.mask_BR.device)
        is_forgotten_BR = self.unnamed_BR & (drawn_BR < share_B1)
        return replace(self, mask_BR=self.mask_BR & ~is_forgotten_BR)


@dataclass(frozen=True)
class WordsOfNames(_OnDevice):
    """The words of the names of each row's topic, and where they stand in a window."""

    ids_V: Tensor
    """Their tokens, row by row."""
    features_VW: Tensor
    """Their features, with what is told of them behind."""
    row_M: Tensor
    place_M: Tensor
    """Where one stands, row by row."""
    word_M: Tensor
    """Which of its row's words it is."""
    number_MK: Tensor
    """The place among the V of each word of its row's topic; padding has 0, and is not allowed."""
    allowed_MK: Tensor
    """Whether each may be taken there: it is no padding, and completes no name, which is copied."""
    follows_MK: Tensor
    """Whether each comes right after the word before that place in some name."""
    so_far: NamesSoFar
    """How often each stands before that place, and how long ago: (M, K)."""
    is_open_BT: Tensor
    """Whether there is one that completes no name, before each token."""
    goes_on_BT: Tensor
    """Whether the word before each token is one that others follow in a name."""


@dataclass(frozen=True)
class KeptStates(_OnDevice):
    """What a backbone that does not learn has made of the tokens of a window before."""

    states_BTD: Tensor
    token_BT: Tensor
    """log P of each token."""
    fresh_BT: Tensor
    """log P that each token, whichever it is, begins a new word."""


@dataclass(frozen=True)
class Window(_OnDevice):
    """The next tokens of each document of a batch that has any left."""

    document_B: Tensor
    """Which document of the batch a row is."""
    kept_B: Tensor
    """Which row of the window before a row was; its state goes on from there."""
    inputs_BT: Tensor
    """The token before each token; before the first, the last one of the preface."""
    targets_BT: Tensor
    spelling_BT: Tensor
    lengths_B: Tensor
    """Tokens of the row, the end token counted where `ends_B`."""
    ends_B: Tensor
    """Whether the document ends here: its last token is then the end token."""
    relations: TopicRelations | None = None
    """Where the model reads the relations of the topic."""
    edges: Edges | None = None
    """Where the model reads the candidates."""
    annotation: HardAnnotation | None = None
    """Where the model reads one annotation."""
    preface_BP: Tensor | None = None
    """In a batch's first window, what is read before the texts, but for the last token, which is
    the first input; None where nothing is."""
    preface_lengths_B: Tensor | None = None
    may_copy_BT: Tensor | None = None
    """Where a form may begin; None where it may anywhere."""
    named_BTR: NamesSoFar | None = None
    """The names of each relation before each token, where the model reads it."""
    name_words: WordsOfNames | None = None
    """The words of the topic's names, where the model may write them one by one."""
    kept: KeptStates | None = None
    """Where the window has been read before."""

    @property
    def mask_BT(self) -> Tensor:
        """Where there is a token, not padding."""
        places = torch.arange(self.targets_BT.shape[1], device=self.lengths_B.device)
        return places < self.lengths_B[:, None]


def padded(arrays: list[Integers], padding: int) -> Tensor:
    """Stack arrays of different lengths, filling up with a value."""
    stacked = np.full((len(arrays), max(map(len, arrays), default=0)), padding, dtype=np.int64)
    for row, array in enumerate(arrays):
        stacked[row, : len(array)] = array
    return torch.from_numpy(stacked)
