"""A character model the slow way: one word, one character at a time, in float64."""

import math

import torch

from lrlm.features.character_model import END, ESCAPE, Alphabet, CharacterModel

CHARACTERS = 0x110000 - 0x800
"""All code points of Unicode but the halves of surrogate pairs."""


def log_prob(alphabet: Alphabet, model: CharacterModel, word: str) -> float:
    """Read the word from its first character to its end, adding up."""
    model = model.double().eval()
    total = 0.0
    read = [END]
    for symbol in [*map(int, alphabet.encode([word])[0]), END]:
        with torch.no_grad():
            states, _ = model.recurrent(model.embedding(torch.tensor([read])))
            logits = model.output(states[0, -1])
        if len(read) == 1:
            logits[END] = -math.inf
        total += float(logits.log_softmax(0)[symbol])
        if symbol == ESCAPE:
            total -= math.log(CHARACTERS - len(alphabet.characters))
        read.append(symbol)
    return total
