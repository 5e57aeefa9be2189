"""Write texts side by side, one token of each in every step, within what was asked of them.

All texts have the same length at every step, for each gets one token a step.

Shapes: B texts, X texts that choose, R relations, F forms, M wishes (relations that must be used).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from lrlm.batching import NO_WORD
from lrlm.corpora import LinkableRelation
from lrlm.errors import InputError
from lrlm.generation.options import GenerationOptions, RelationWish
from lrlm.heads import Choosing
from lrlm.knowledge.topic import near_matches
from lrlm.models.writing import NO_FORM, Limits, Writer, WritingState, Written


class Rules:
    """Keeps account of what texts have used, and says what they may do."""

    def __init__(
        self,
        options: GenerationOptions,
        relations: Sequence[LinkableRelation],
        writer: Writer,
        *,
        texts: int,
    ) -> None:
        topic = writer.topic
        self._options = options
        self._relation_F = topic.relation_F
        # A form that is copied token by token can be left after its first one. In whatever context
        # a form stands, it never takes more room than this.
        length_F = topic.length_CF.amax(0)
        self._cost_F = length_F if writer.copies_whole_forms else torch.ones_like(length_F)
        self._longest = int(self._cost_F.max()) if len(self._cost_F) else 0
        self._wanted_MR = _wanted(options.must_use, relations).to(topic.relation_F.device)
        self._least_M = torch.tensor(
            [int(self._cost_F[wanted_R[topic.relation_F]].min()) for wanted_R in self._wanted_MR],
            dtype=torch.long,
            device=topic.relation_F.device,
        )
        self._uses_BR = topic.relation_F.new_zeros(texts, len(relations))
        self._counts_uses = options.max_uses is not None or bool(options.must_use)
        needed = int(self._least_M.sum())
        if needed > options.max_length:
            raise InputError(
                f"what must be used takes {needed} tokens at least, more than max_length"
                f" ({options.max_length}) allows"
            )

    def limits(self, written: int, rows_X: Tensor) -> Limits:
        """Say what the texts of these rows may do next, given how many tokens they have."""
        room = self._options.max_length - written
        may_end = written >= self._options.min_length
        yes_X = torch.ones_like(rows_X, dtype=torch.bool)
        if not self._counts_uses:
            fits_F = self._cost_F <= room
            return Limits(
                yes_X if may_end else ~yes_X,
                yes_X,
                fits_F.expand(len(rows_X), -1),
                is_free=room >= self._longest,
            )
        uses_XR = self._uses_BR[rows_X]
        is_used_X1R = uses_XR.bool()[:, None]
        missing_XM = ~(is_used_X1R & self._wanted_MR).any(2)
        needed_XM = missing_XM * self._least_M
        needed_X = needed_XM.sum(1)
        # Whatever is written now must leave room for all that is then still missing.
        settled_XR = (needed_XM[:, :, None] * self._wanted_MR).sum(1)
        room_XR = room - needed_X[:, None] + settled_XR
        if self._options.max_uses is not None:
            room_XR = torch.where(uses_XR < self._options.max_uses, room_XR, 0)
        return Limits(
            may_end_X=~missing_XM.any(1) & may_end,
            word_X=room - 1 >= needed_X,
            form_XF=self._cost_F <= room_XR[:, self._relation_F],
        )

    def note(self, rows_X: Tensor, last: Written, written: Written) -> None:
        """Count the uses that begin with the tokens of these rows."""
        if not self._counts_uses:
            return
        goes_on_X = (written.form_B == last.form_B) & (written.position_B == last.position_B + 1)
        begins = ((written.form_B != NO_FORM) & ~goes_on_X).nonzero().squeeze(1)
        self._uses_BR[rows_X[begins], self._relation_F[written.form_B[begins]]] += 1

    def select(self, rows: Tensor) -> None:
        """Go on with the texts of these rows alone."""
        self._uses_BR = self._uses_BR[rows]


def _wanted(wishes: Sequence[RelationWish], relations: Sequence[LinkableRelation]) -> Tensor:
    """Say which relations fulfil each wish: (M, R)."""
    wanted_MR = torch.zeros(len(wishes), len(relations), dtype=torch.bool)
    for row, wish in enumerate(wishes):
        type_, object_ = (wish, None) if isinstance(wish, str) else wish
        alike = [place for place, relation in enumerate(relations) if relation.type == type_]
        alike = alike or [place for place, each in enumerate(relations) if each.label == type_]
        if not alike:
            known = {relation.label for relation in relations}
            raise InputError(
                f"the topic has no relation {type_!r} that could be used"
                + (near_matches(type_, known) or f"; it has: {', '.join(sorted(known)) or 'none'}")
            )
        if object_ is not None:
            known = {relations[place].object for place in alike}
            alike = [
                place
                for place in alike
                if object_ == relations[place].object or object_ in relations[place].texts
            ]
            if not alike:
                raise InputError(
                    f"the topic has no {type_!r} named {object_!r}; it has:"
                    f" {', '.join(map(repr, sorted(known)))}"
                )
        wanted_MR[row, alike] = True
    return wanted_MR


def decode(
    writer: Writer,
    rules: Rules,
    choosing: Choosing,
    *,
    begun: WritingState,
    length: int,
    max_length: int,
    told: Callable[[Written], Written] = lambda written: written,
    wanted: Callable[[Tensor], Tensor] = torch.ones_like,
) -> Iterator[tuple[Tensor, Written]]:
    """Go on with the texts of `begun`, all of this length; each step gives them, and tokens.

    The last token of a text that ends is the end token; then it is written on no more. `told` is
    asked which words the tokens of a step became, after they were given, and `wanted` which of some
    texts are written on.
    """
    so_far = begun
    text_B = torch.arange(len(so_far.states_BD), device=so_far.states_BD.device)
    while True:
        written = _next(writer, rules, choosing, so_far, length)
        yield text_B, written
        written = told(written)
        length += 1
        if length == max_length:
            return
        is_end_B = (written.token_B == writer.topic.end_id) & (written.form_B == NO_FORM)
        goes_on_B = ~is_end_B & wanted(text_B).bool()
        if not bool(goes_on_B.all()):
            goes_on = goes_on_B.nonzero().squeeze(1)
            if not len(goes_on):
                return
            text_B, written = text_B[goes_on], written.select(goes_on)
            so_far = so_far.select(goes_on)
            rules.select(goes_on)
        steps = [written]
        for _ in range(min(_left_to_copy(writer, written), max_length - length)):
            steps.append(_copied_on(writer, steps[-1]))
            yield text_B, steps[-1]
            length += 1
        if length == max_length:
            return
        so_far = writer.read_all(so_far, steps)


def _next(
    writer: Writer, rules: Rules, choosing: Choosing, so_far: WritingState, length: int
) -> Written:
    """Give each row its next token: of the form that it is copying, or one that is chosen."""
    last = so_far.last
    copying_B = _is_copying(writer, last)
    if copying_B is None:
        rows_B = torch.arange(len(last.token_B), device=last.token_B.device)
        written = writer.choose(so_far, rules.limits(length, rows_B), choosing)
        rules.note(rows_B, last, written)
        return written

    written = _copied_on(writer, last)
    rows_X = (~copying_B).nonzero().squeeze(1)
    if len(rows_X):
        chosen = writer.choose(so_far.select(rows_X), rules.limits(length, rows_X), choosing)
        rules.note(rows_X, last.select(rows_X), chosen)
        written.token_B[rows_X] = chosen.token_B
        written.context_B[rows_X] = chosen.context_B
        written.form_B[rows_X] = chosen.form_B
        written.position_B[rows_X] = chosen.position_B
        written.log_prob_B[rows_X] = chosen.log_prob_B
        if chosen.name_word_B is not None:
            name_word_B = torch.full_like(written.token_B, NO_WORD)
            name_word_B[rows_X] = chosen.name_word_B
            written = replace(written, name_word_B=name_word_B)
        if chosen.log_known_B is not None:
            log_known_B = torch.zeros_like(written.log_prob_B)
            log_known_B[rows_X] = chosen.log_known_B
            written = replace(written, log_known_B=log_known_B)
    return written


def _copied_on(writer: Writer, last: Written) -> Written:
    """Give the next token of the form that each row is copying; no row's where it copies none."""
    position_B = last.position_B + 1
    form_B, context_B = last.form_B.clone(), last.context_B.clone()
    tokens_CFL = writer.topic.tokens_CFL
    token_B = tokens_CFL[context_B, form_B, position_B.clamp(max=tokens_CFL.shape[2] - 1)]
    return Written(token_B, form_B, position_B, context_B, torch.zeros_like(last.log_prob_B))


def _left_to_copy(writer: Writer, last: Written) -> int:
    """Count the tokens that every row will copy before any of them chooses again."""
    if not (writer.reads_at_once and writer.copies_whole_forms and len(last.form_B)):
        return 0
    length_B = writer.topic.length_CF[last.context_B, last.form_B.clamp(min=0)]
    left_B = torch.where(last.form_B != NO_FORM, length_B - last.position_B - 1, 0)
    return int(left_B.min())


def _is_copying(writer: Writer, last: Written) -> Tensor | None:
    """Say which rows are in the middle of a form that is copied whole; None if there is none."""
    if not writer.copies_whole_forms or not bool((last.form_B != NO_FORM).any()):
        return None
    length_B = writer.topic.length_CF[last.context_B, last.form_B.clamp(min=0)]
    copying_B = (last.form_B != NO_FORM) & (last.position_B + 1 < length_B)
    return copying_B if bool(copying_B.any()) else None
