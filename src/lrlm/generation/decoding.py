"""Write texts side by side, one token of each in every step."""

from collections.abc import Iterator

import torch
from torch import Tensor

from lrlm.generation.rules import Rules
from lrlm.heads import Choosing
from lrlm.models.writing import NO_FORM, Writer, WritingState, Written


def decode(
    writer: Writer,
    rules: Rules,
    choosing: Choosing,
    *,
    begun: WritingState,
    texts: int,
    max_length: int,
) -> Iterator[tuple[Tensor, Written]]:
    """Write texts that all go on from `begun`; each step gives the texts that go on, and tokens.

    The last token of a text that ends is the end token; then it is written on no more.
    """
    text_B = torch.arange(texts, device=begun.states_BD.device)
    so_far = begun.select(torch.zeros_like(text_B))
    for length in range(max_length):
        written = _next(writer, rules, choosing, so_far, length)
        yield text_B, written
        if length + 1 == max_length:
            return
        is_end_B = (written.token_B == writer.topic.end_id) & (written.form_B == NO_FORM)
        if bool(is_end_B.any()):
            goes_on = (~is_end_B).nonzero().squeeze(1)
            if not len(goes_on):
                return
            text_B, written = text_B[goes_on], written.select(goes_on)
            so_far = so_far.select(goes_on)
            rules.select(goes_on)
        so_far = writer.read(so_far, written)


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

    position_B = last.position_B + 1
    form_B = last.form_B.clone()
    context_B = last.context_B.clone()
    tokens_CFL = writer.topic.tokens_CFL
    token_B = tokens_CFL[context_B, form_B, position_B.clamp(max=tokens_CFL.shape[2] - 1)]
    log_prob_B = torch.zeros_like(last.log_prob_B)
    rows_X = (~copying_B).nonzero().squeeze(1)
    if len(rows_X):
        chosen = writer.choose(so_far.select(rows_X), rules.limits(length, rows_X), choosing)
        rules.note(rows_X, last.select(rows_X), chosen)
        token_B[rows_X] = chosen.token_B
        context_B[rows_X] = chosen.context_B
        form_B[rows_X] = chosen.form_B
        position_B[rows_X] = chosen.position_B
        log_prob_B[rows_X] = chosen.log_prob_B
    return Written(token_B, form_B, position_B, context_B, log_prob_B)


def _is_copying(writer: Writer, last: Written) -> Tensor | None:
    """Say which rows are in the middle of a form that is copied whole; None if there is none."""
    if not writer.copies_whole_forms or not bool((last.form_B != NO_FORM).any()):
        return None
    length_B = writer.topic.length_CF[last.context_B, last.form_B.clamp(min=0)]
    copying_B = (last.form_B != NO_FORM) & (last.position_B + 1 < length_B)
    return copying_B if bool(copying_B.any()) else None
