"""Keep account of the names that stand in texts while these are written, token by token.

What a reader finds in a whole text (`lrlm.batching.naming`) is found here as the text grows.

Shapes: B texts, R relations, F forms, G ways to write a form (a form in a context), L tokens of the
longest form, N places where one was found.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from lrlm.batching import NamesSoFar
from lrlm.models.writing import NO_FORM, EncodedTopic, Written

_NOTHING = -1
"""What stands before a text."""


@dataclass(frozen=True)
class Naming:
    """The names in B texts of the same length so far."""

    times_BR: Tensor
    last_BR: Tensor
    times_BF: Tensor
    last_BF: Tensor
    """How often the objects of relations and single forms were named, and the last place that got
    to know of it."""
    recent_BL: Tensor
    """The numbers of the last words, the latest one last, and the token before them."""
    waiting_BF: Tensor
    """Forms that stand at the end and are names if a new word begins."""
    place: int = 0
    """Tokens so far."""
    prompt: int = 0
    """Tokens of the prompt; no name reaches out of it."""

    def select(self, rows: Tensor) -> "Naming":
        """Give the texts at these indices."""
        return replace(
            self,
            times_BR=self.times_BR[rows],
            last_BR=self.last_BR[rows],
            times_BF=self.times_BF[rows],
            last_BF=self.last_BF[rows],
            recent_BL=self.recent_BL[rows],
            waiting_BF=self.waiting_BF[rows],
        )

    def relations(self) -> NamesSoFar:
        """Give what is known of each relation: (B, R)."""
        since_BR = torch.where(self.times_BR > 0, self.place - self.last_BR, 0)
        return NamesSoFar(self.times_BR, since_BR)

    def forms(self) -> NamesSoFar:
        """Give what is known of each form: (B, F)."""
        since_BF = torch.where(self.times_BF > 0, self.place - self.last_BF, 0)
        return NamesSoFar(self.times_BF, since_BF)

    def after_prompt(self) -> "Naming":
        """Go on as after a word, with what was written so far as the prompt."""
        return replace(self, prompt=self.place, waiting_BF=torch.zeros_like(self.waiting_BF))


def word_numbers(topic: EncodedTopic, written: Written) -> Tensor:
    """Give the number of each word; those without an id of their own have others than `<unk>`.

    An unknown word that is no word of any form keeps the id of all unknown ones, which no form has.
    """
    token_B = written.token_B if written.word_B is None else written.word_B
    words_CFL = topic.tokens_CFL if topic.words_CFL is None else topic.words_CFL
    if not words_CFL.shape[1]:
        return token_B
    copied_B = words_CFL[written.context_B, written.form_B.clamp(min=0), written.position_B]
    return torch.where(written.form_B == NO_FORM, token_B, copied_B)


class NameFinder:
    """Finds the names of one topic at the ends of texts."""

    def __init__(self, topic: EncodedTopic) -> None:
        self._topic = topic
        words_CFL = topic.tokens_CFL if topic.words_CFL is None else topic.words_CFL
        contexts, forms, longest = words_CFL.shape
        self._longest = longest
        self._length_G = topic.length_CF.reshape(-1)
        numbers = torch.arange(contexts * forms, device=words_CFL.device)
        self._context_G, self._form_G = numbers // max(forms, 1), numbers % max(forms, 1)
        words_GL = words_CFL.reshape(-1, longest)
        # The last word of a form stands in the last column, as the last word of a text does.
        columns_L = torch.arange(longest, device=words_CFL.device)
        behind_GL = columns_L - (longest - self._length_G[:, None])
        self._is_part_GL = behind_GL >= 0
        self._words_GL = words_GL.gather(1, behind_GL.clamp(min=0))
        self._words_CFL = words_CFL

    def begin(self) -> Naming:
        """Give what is known before the first token of a text."""
        topic = self._topic
        nothing_1R = torch.zeros_like(topic.types_R)[None]
        nothing_1F = torch.zeros_like(topic.relation_F)[None]
        recent_1L = topic.relation_F.new_full((1, self._longest + 1), _NOTHING)
        recent_1L[:, -1] = topic.start_id
        return Naming(nothing_1R, nothing_1R, nothing_1F, nothing_1F, recent_1L, nothing_1F.bool())

    def read(self, before: Naming, written: Written) -> Naming:
        """Go on after a token of each text."""
        place = before.place + 1
        word_B = word_numbers(self._topic, written)
        recent_BL = torch.cat([before.recent_BL[:, 1:], word_B[:, None]], dim=1)
        found_BF = self._found(recent_BL, place, before.prompt)
        waiting_BF = torch.zeros_like(found_BF)
        topic = self._topic
        if topic.bound_F is not None and topic.begins_word_V is not None:
            waiting_BF = found_BF & topic.bound_F
            confirmed_BF = before.waiting_BF & topic.begins_word_V[written.token_B][:, None]
            found_BF = (found_BF & ~topic.bound_F) | confirmed_BF
        found_BR = torch.zeros_like(before.times_BR, dtype=torch.bool)
        row_N, form_N = found_BF.nonzero(as_tuple=True)
        found_BR[row_N, topic.relation_F[form_N]] = True
        return Naming(
            before.times_BR + found_BR,
            before.last_BR.masked_fill(found_BR, place),
            before.times_BF + found_BF,
            before.last_BF.masked_fill(found_BF, place),
            recent_BL,
            waiting_BF,
            place,
            before.prompt,
        )

    def _found(self, recent_BL: Tensor, place: int, prompt: int) -> Tensor:
        """Say which forms stand at the ends of texts of this length: (B, F)."""
        found_BF = torch.zeros(
            len(recent_BL), self._words_CFL.shape[1], dtype=torch.bool, device=recent_BL.device
        )
        start_G = place - self._length_G
        may_G = (start_G >= 0) & ((start_G >= prompt) | (place <= prompt))
        ends_BG = (recent_BL[:, -1:] == self._words_GL[:, -1]) & may_G
        row_N, way_N = ends_BG.nonzero(as_tuple=True)  # few: all else is compared for these only
        alike_NL = recent_BL[row_N, 1:] == self._words_GL[way_N]
        is_found_N = (alike_NL | ~self._is_part_GL[way_N]).all(1)
        row_N, way_N = row_N[is_found_N], way_N[is_found_N]
        before_N = recent_BL[row_N, self._longest - self._length_G[way_N]]
        context_N = self._topic.context_after(before_N)
        fits_N = context_N == self._context_G[way_N]
        found_BF[row_N[fits_N], self._form_G[way_N[fits_N]]] = True
        return found_BF
