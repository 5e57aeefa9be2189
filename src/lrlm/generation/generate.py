"""Generate texts about a topic, the most probable per token first; or one, piece by piece."""

from collections.abc import Callable, Iterator

import torch

from lrlm.errors import InputError
from lrlm.generation.drafts import write_texts
from lrlm.generation.generated_text import GeneratedText, Piece
from lrlm.generation.options import GenerationOptions
from lrlm.generation.sampler import Sampler
from lrlm.knowledge import Topic
from lrlm.knowledge.schema import Schema
from lrlm.runs.run import Run

MOST_SAMPLES = 10_000
"""Texts that are written side by side: they are all in memory at once."""


@torch.inference_mode()
def generate(
    run: Run,
    topic: Topic,
    options: GenerationOptions,
    *,
    samples: int,
    seed: int,
    schema: Schema | None = None,
    check: Callable[[], None] = lambda: None,
) -> list[GeneratedText]:
    """Write texts about a topic, the most probable per token first; a seed gives the same texts.

    `schema` says which types of facts a topic lacks, where only known facts are to be named.
    `check` is called for every token; by an error of its own it ends work that nobody wants.
    """
    is_whole = isinstance(samples, int) and not isinstance(samples, bool)
    if not is_whole or not 1 <= samples <= MOST_SAMPLES:
        raise InputError(
            f"the number of samples must be a whole number from 1 to {MOST_SAMPLES:,},"
            f" not {samples!r}; for more, generate again with another seed"
        )
    sampler = Sampler(run, topic, options, seed, schema=schema)
    drafts = write_texts(sampler, options, samples, check=check)
    log_probs = sampler.marginal_log_probs([draft.text for draft in drafts])
    return sorted(map(sampler.result, drafts, log_probs), key=lambda text: text.perplexity)


@torch.inference_mode()
def stream(
    run: Run,
    topic: Topic,
    options: GenerationOptions,
    *,
    seed: int,
    schema: Schema | None = None,
    check: Callable[[], None] = lambda: None,
) -> Iterator[Piece]:
    """Write one text, and give each piece as soon as it will stay: the first sample of its seed.

    Where the text may be rejected, that is when it was not: all of them come at the end. `check` is
    called for every token, as in `generate`.
    """
    sampler = Sampler(run, topic, options, seed, schema=schema)
    draft = sampler.begin_text()
    if draft.text.prompt is not None:
        yield draft.text.prompt
    if sampler.may_reject:
        (draft,) = write_texts(sampler, options, 1, check=check)
        yield from draft.pieces
        return
    given = 0
    for _, token in sampler.tokens(1):
        check()
        draft.add(token)
        yield from draft.pieces[given:]
        given = len(draft.pieces)
    draft.finish()
    yield from draft.pieces[given:]
