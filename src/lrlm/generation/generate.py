"""Generate texts about a topic: the paper's Algorithm 1, in batches.

All texts are written side by side, one token of each at a time. Afterwards they are scored side by
side, and the most probable per token come first.
"""

from collections.abc import Iterator

import torch

from lrlm.errors import InputError
from lrlm.generation.generated_text import GeneratedText, Piece
from lrlm.generation.options import GenerationOptions
from lrlm.generation.sampling import Sampler
from lrlm.knowledge import Topic
from lrlm.runs.run import Run

MOST_SAMPLES = 10_000
"""Texts that are written side by side: they are all in memory at once."""


@torch.inference_mode()
def generate(
    run: Run, topic: Topic, options: GenerationOptions, *, samples: int, seed: int
) -> list[GeneratedText]:
    """Write texts about a topic, the most probable per token first; a seed gives the same texts."""
    is_whole = isinstance(samples, int) and not isinstance(samples, bool)
    if not is_whole or not 1 <= samples <= MOST_SAMPLES:
        raise InputError(
            f"the number of samples must be a whole number from 1 to {MOST_SAMPLES:,},"
            f" not {samples!r}; for more, generate again with another seed"
        )
    sampler = Sampler(run, topic, options, seed)
    texts = [sampler.begin_text() for _ in range(samples)]
    pieces: list[list[Piece]] = [[] for _ in texts]
    ended = [False] * samples
    for number, token in sampler.tokens(samples):
        if token is None:
            ended[number] = True
        else:
            pieces[number] += texts[number].add(token)
    for number, text in enumerate(texts):
        pieces[number] += text.finish()
    log_probs = sampler.marginal_log_probs(texts)
    return sorted(
        map(sampler.result, texts, pieces, log_probs, ended), key=lambda text: text.perplexity
    )


@torch.inference_mode()
def stream(run: Run, topic: Topic, options: GenerationOptions, *, seed: int) -> Iterator[Piece]:
    """Write one text, and give each piece as soon as it is there: the first sample of its seed."""
    sampler = Sampler(run, topic, options, seed)
    text = sampler.begin_text()
    if text.prompt is not None:
        yield text.prompt
    for _, token in sampler.tokens(1):
        if token is not None:
            yield from text.add(token)
    yield from text.finish()
