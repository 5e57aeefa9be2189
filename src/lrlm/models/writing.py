"""What it takes to write text with a model: a topic's star in, one choice after another out.

B texts are written side by side. In every step each of them gets one token: either it is in the
middle of a form that it copies as a whole, or its model chooses.

Shapes: B rows (texts), X rows that choose, D width of states, R relations of the topic, F forms of
all of them, L words of the longest form, W width of form features, P words of aliases.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor

from lrlm.backbones import State
from lrlm.heads import Choosing

NO_FORM = -1
"""The form of a token that was not copied."""


@dataclass(frozen=True)
class Star:
    """What a model reads of a topic before it writes; all texts are about the same one."""

    types_R: Tensor
    objects_R: Tensor
    relation_F: Tensor
    """Which relation a form belongs to, ascending."""
    features_FW: Tensor
    length_F: Tensor
    """Words of each form."""
    words_FL: Tensor
    """Their ids, padded."""
    aliases_P: Tensor
    """Words of the canonical form of every object, each ended by `</s>` (Alias LM)."""
    end_id: int

    @property
    def relations(self) -> int:
        """R, the relations that have a form."""
        return len(self.types_R)

    @property
    def forms_RF(self) -> Tensor:
        """Which forms a relation has."""
        numbers_R1 = torch.arange(self.relations, device=self.relation_F.device)[:, None]
        return self.relation_F == numbers_R1


@dataclass(frozen=True)
class Limits:
    """What the rows that choose may do next; in every row there is something."""

    may_end_X: Tensor
    word_X: Tensor
    """Whether a word may be written, `</s>` among them where `may_end_X`."""
    form_XF: Tensor
    """Which forms may be begun."""
    is_free: bool = False
    """Whether every word and every form is allowed, but for `</s>`."""


@dataclass(frozen=True)
class Written:
    """The next token of each row."""

    word_B: Tensor
    """Its id, that of `<unk>` also for a copied word that has none."""
    form_B: Tensor
    """The form it was copied from, or `NO_FORM`."""
    position_B: Tensor
    """Which word of the form; 0 where nothing was copied."""
    log_prob_B: Tensor
    """Of everything that was chosen for it; a form that is copied whole pays at its first word."""

    def select(self, rows: Tensor) -> "Written":
        """Give the tokens of the rows at these indices."""
        return Written(
            self.word_B[rows], self.form_B[rows], self.position_B[rows], self.log_prob_B[rows]
        )


@dataclass(frozen=True)
class Standing:
    """Where B texts stand: `h`, what the backbone remembers, and the last token of each."""

    states_BD: Tensor
    state: State
    last: Written

    def select(self, rows: Tensor) -> "Standing":
        """Give the rows at these indices; an index may come twice."""
        return Standing(self.states_BD[rows], self.state.select(rows), self.last.select(rows))


class Writer(ABC):
    """Writes about one topic with one model; everything that stays the same is computed once."""

    star: Star

    uses_relations: bool = True
    """Whether forms can be copied at all."""
    copies_whole_forms: bool = False
    """Whether a form that was begun is copied to its end, without any further choice."""

    @abstractmethod
    def begin(self) -> Standing:
        """Give the standing of one text before its first token."""

    @abstractmethod
    def choose(self, standing: Standing, limits: Limits, choosing: Choosing) -> Written:
        """Choose the next token of each row; of a form that is copied whole, the first word."""

    @abstractmethod
    def read(self, standing: Standing, written: Written) -> Standing:
        """Go on after a token of each row."""

    def start_of_text(self) -> Written:
        """Give the token that stands before the first one: `</s>`, as a word."""
        nothing_1 = torch.zeros_like(self.star.relation_F[:0].new_empty(1))
        log_prob_1 = self.star.features_FW.new_zeros(1)
        return Written(nothing_1 + self.star.end_id, nothing_1 + NO_FORM, nothing_1, log_prob_1)
