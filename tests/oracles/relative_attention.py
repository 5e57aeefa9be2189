"""Transformer-XL one position at a time: every sum is written out, nothing is shifted or masked."""

import math

import torch
from torch import Tensor, nn

from lrlm.backbones import TransformerXlBackbone


def read_document(backbone: TransformerXlBackbone, inputs_TI: Tensor) -> Tensor:
    """Hidden states (T, D) of one row that is read from its beginning in one piece."""
    values = [backbone.project(vector_I) for vector_I in inputs_TI]
    for layer in backbone.layers:
        attended = [
            call(layer, "attention_norm", value_D + attend(backbone, layer, values[: place + 1]))
            for place, value_D in enumerate(values)
        ]
        values = [
            call(
                layer,
                "feed_forward_norm",
                value_D + call(layer, "narrow", call(layer, "widen", value_D).relu()),
            )
            for value_D in attended
        ]
    return torch.stack(values)


def attend(backbone: TransformerXlBackbone, layer: nn.Module, values: list[Tensor]) -> Tensor:
    """What the last of these values takes from all of them: (D,)."""
    config = backbone.config
    shape = (config.heads, config.head_size)
    query_HA = call(layer, "query", values[-1]).view(shape)
    mixed = []
    for head in range(config.heads):
        weights, contents = [], []
        for distance, value_D in enumerate(reversed(values)):
            key_HA, content_HA = call(layer, "key_value", value_D).view(2, *shape)
            distance_HA = call(layer, "distance", encode(distance, config.model_size)).view(shape)
            score = (query_HA[head] + backbone.content_bias_HA[head]) @ key_HA[head]
            score += (query_HA[head] + backbone.distance_bias_HA[head]) @ distance_HA[head]
            weights.append((score / math.sqrt(config.head_size)).exp())
            contents.append(content_HA[head])
        total = torch.stack(weights).sum()
        parts = [
            weight / total * content for weight, content in zip(weights, contents, strict=True)
        ]
        mixed.append(torch.stack(parts).sum(0))
    return call(layer, "output", torch.cat(mixed))


def call(layer: nn.Module, name: str, values: Tensor) -> Tensor:
    """Put values through the part of a layer that has this name."""
    result: Tensor = layer.get_submodule(name)(values)
    return result


def encode(distance: int, width: int) -> Tensor:
    """Sines, then cosines, of the distance at falling frequencies: (D,)."""
    angles = [distance / 10_000 ** (place / width) for place in range(0, width, 2)]
    waves = [math.sin(angle) for angle in angles] + [math.cos(angle) for angle in angles]
    return torch.tensor(waves[:width], dtype=torch.float64)
