"""Written texts in, a JSON object out; docs/generate.md describes every field."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from lrlm.inference.generated import GeneratedText, Piece
from lrlm.inference.options import GenerationOptions

FORMAT = "lrlm generation"
VERSION = 1


def generated_to_json(
    texts: Sequence[GeneratedText],
    *,
    model: str,
    topic: str,
    seed: int,
    options: GenerationOptions,
) -> dict[str, Any]:
    """Give what was written as plain values, with all that it takes to write it again."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "model": model,
        "topic": topic,
        "seed": seed,
        "options": asdict(options),
        "samples": [_text(text) for text in texts],
    }


def _text(text: GeneratedText) -> dict[str, Any]:
    return {
        "text": text.text,
        "tokens": list(text.tokens),
        "written_tokens": text.written_tokens,
        "log_prob": _number(text.log_prob),
        "marginal_log_prob": _number(text.marginal_log_prob),
        "is_joint": text.is_joint,
        "perplexity": _number(text.perplexity),
        "ended": text.ended,
        "pieces": [_piece(piece) for piece in text.pieces],
    }


def _piece(piece: Piece) -> dict[str, Any]:
    """Write a piece; only a copied one has a relation."""
    content: dict[str, Any] = {
        "start": piece.start,
        "end": piece.end,
        "text": piece.text,
        "source": piece.source,
        "log_prob": _number(piece.log_prob),
    }
    if piece.source == "relation":
        content |= {
            "type": piece.type,
            "object": piece.object,
            "form": piece.form,
            "is_partial": piece.is_partial,
        }
    return content


def _number(value: float) -> float | None:
    """JSON knows no infinity: what has none is null."""
    return value if math.isfinite(value) else None
