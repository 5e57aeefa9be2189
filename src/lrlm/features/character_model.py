"""A character model of words: its alphabet, the network, its training, and its frozen weights.

    P(c_1 … c_n) = Π P(c_i | c_1 … c_{i-1}) × P(end | c_1 … c_n)

The end is impossible before the first character, for no word is empty. With the end as a symbol
like any other, the probabilities of all words sum to one: a gated state is bounded, hence so is
the probability of the end from below, and nothing is lost on words that never end. A character
that was never seen is escaped, not forbidden: it is written as an escape and one of all other
characters of Unicode, each as probable as the next. A model that gives the escape a probability
gives one to every string.

Shapes: C characters of all words together, B words, T characters of the longest, S symbols, H width
of the state, I width of a symbol's vector, P states.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from lrlm.arrays import Integers
from lrlm.errors import InputError
from lrlm.features.config import SpellingConfig
from lrlm.progress import Progress, silent
from lrlm.tensor_files import Shape

DOING = "making the spelling model"

END = 0
"""Ends a word. Where a character is read, it stands before the first: nothing follows an end."""

ESCAPE = 1
"""Stands for a character outside the alphabet."""

FIRST = 2
"""The symbol of the alphabet's first character."""

_CODE_POINTS = 0x110000
_SURROGATES = range(0xD800, 0xE000)
_REPLACEMENT = 0xFFFD
_CHARACTERS = _CODE_POINTS - len(_SURROGATES)

_LONGEST = 48
"""Characters of a word that are trained on; of a longer one, only its beginning is learned."""

_NO_TARGET = -100
"""What `cross_entropy` leaves out."""

_BATCHES_IN_POOL = 20
"""Words of this many batches are sorted by length together, which leaves little to pad."""


class Alphabet:
    """The characters that have a symbol of their own, sorted."""

    def __init__(self, characters: Iterable[str]) -> None:
        self.characters = "".join(sorted(set(characters)))
        codes = np.array([ord(character) for character in self.characters], dtype=np.int64)
        if np.isin(codes, _SURROGATES).any():
            raise InputError("half of a surrogate pair is no character and can have no symbol")
        self._symbol_of_code = np.full(_CODE_POINTS, ESCAPE, dtype=np.int32)
        self._symbol_of_code[codes] = np.arange(FIRST, FIRST + len(codes), dtype=np.int32)
        # Text from a broken file may hold halves of surrogate pairs, which no encoding can
        # write: they are read as the character that programs put in their place.
        self._symbol_of_code[_SURROGATES] = self._symbol_of_code[_REPLACEMENT]

    @classmethod
    def of(cls, words: Sequence[str], *, min_count: int = 1) -> "Alphabet":
        """Take the characters that stand in at least `min_count` of the words."""
        codes = np.fromiter(
            chain.from_iterable(set(map(ord, word)) for word in words), dtype=np.int64
        )
        counts = np.bincount(codes, minlength=_CODE_POINTS)
        counts[_SURROGATES] = 0
        return cls(map(chr, np.flatnonzero(counts >= min_count).tolist()))

    def __len__(self) -> int:
        return FIRST + len(self.characters)

    @cached_property
    def escaped(self) -> int:
        """How many characters an escape can stand for."""
        return _CHARACTERS - len(self.characters)

    def encode(self, words: Sequence[str]) -> tuple[npt.NDArray[np.int32], Integers]:
        """Give the symbols of all words, one word after the other, (C,), and the words' lengths."""
        lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
        text = "".join(words).encode("utf-32-le", "surrogatepass")
        return self._symbol_of_code[np.frombuffer(text, dtype="<u4")], lengths

    def decode(self, symbol: int) -> str:
        """Give the character of a symbol that is neither the end nor the escape."""
        return self.characters[symbol - FIRST]

    def nth_escaped(self, place: int) -> str:
        """Give a character outside the alphabet by its place, from 0 to below `escaped`."""
        return chr(int(self._escaped_codes[place]))

    @cached_property
    def _escaped_codes(self) -> Integers:
        is_escaped = np.ones(_CODE_POINTS, dtype=bool)
        is_escaped[[ord(character) for character in self.characters]] = False
        is_escaped[_SURROGATES] = False
        return np.flatnonzero(is_escaped)


class CharacterModel(nn.Module):
    """An embedding, one gated recurrent layer and a softmax."""

    def __init__(
        self, symbols: int, *, embedding_size: int, hidden_size: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(symbols, embedding_size)
        self.recurrent = nn.GRU(embedding_size, hidden_size, batch_first=True)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(hidden_size, symbols)

    def forward(self, symbols_BT: Tensor) -> Tensor:
        """Give the logits of the symbol that follows each one; the first read is `END`."""
        states_BTH, _ = self.recurrent(self.embedding(symbols_BT))
        logits_BTS: Tensor = self.output(self.dropout(states_BTH))
        logits_BTS[:, 0, END] = -torch.inf
        return logits_BTS


@dataclass(frozen=True)
class TrainedCharacters:
    """A character model, and how well it does on words that it has not seen."""

    alphabet: Alphabet
    model: CharacterModel
    held_out_nats: float
    """Mean nats of a held-out word, end symbol included; an escape is one symbol."""
    held_out_symbols: float
    """Mean symbols of a held-out word, end symbol included."""


def train_characters(
    words: Sequence[str], config: SpellingConfig, *, progress: Progress = silent
) -> TrainedCharacters:
    """Learn how words are spelled; every distinct word counts once.

    On a given number of threads, the same words and settings give the same weights to the bit.
    Progress counts the words read, over all epochs.
    """
    words = sorted({word for word in words if word})
    if len(words) < 2:
        raise InputError("a spelling model needs at least two words to learn from")
    shuffler = np.random.default_rng(config.seed)
    shuffled = [words[place] for place in shuffler.permutation(len(words))]
    held_out = max(1, int(len(words) * config.held_out))
    valid, train = shuffled[:held_out], shuffled[held_out:]
    alphabet = Alphabet.of(train, min_count=config.min_count)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        model = CharacterModel(
            len(alphabet),
            embedding_size=config.embedding_size,
            hidden_size=config.hidden_size,
            dropout=config.dropout,
        )
        nats, symbols = _fit(
            model,
            alphabet,
            train=train,
            valid=valid,
            config=config,
            shuffler=shuffler,
            progress=progress,
        )
    model.eval().requires_grad_(False)
    return TrainedCharacters(alphabet, model, nats / held_out, symbols / held_out)


def _fit(
    model: CharacterModel,
    alphabet: Alphabet,
    *,
    train: Sequence[str],
    valid: Sequence[str],
    config: SpellingConfig,
    shuffler: np.random.Generator,
    progress: Progress,
) -> tuple[float, int]:
    """Train, leave the best epoch's weights in the model; give nats and symbols of `valid`."""
    optimiser = torch.optim.Adam(model.parameters(), lr=config.learning_rate)
    batches = -(-len(train) // config.batch_size)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, config.epochs * batches)
    best_nats, symbols = math.inf, 0
    best: dict[str, Tensor] = {}
    read, to_read = 0, config.epochs * len(train)
    progress(DOING, read, to_read)
    for _ in range(config.epochs):
        model.train()
        for batch in _batches(train, config.batch_size, shuffler):
            read_BT, targets_BT = encode_batch(alphabet, batch)
            loss = _nats(model(read_BT), targets_BT) / (targets_BT != _NO_TARGET).sum()
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            read += len(batch)
            progress(DOING, read, to_read)
        nats, symbols = _evaluate(model, alphabet, valid, config.batch_size)
        if nats < best_nats:
            best_nats = nats
            best = {name: weight.clone() for name, weight in model.state_dict().items()}
    if not best:
        raise InputError(
            "the spelling model did not learn: its loss is not a number; lower"
            " features.spelling.learning_rate"
        )
    model.load_state_dict(best)
    return best_nats, symbols


def encode_batch(alphabet: Alphabet, words: Sequence[str]) -> tuple[Tensor, Tensor]:
    """Give the symbols that are read, `END` first, and those that follow each, (B, T)."""
    symbols_C, lengths_B = alphabet.encode([word[:_LONGEST] for word in words])
    width = int(lengths_B.max()) + 1
    is_character_BT = np.arange(width) < lengths_B[:, None]
    targets_BT = np.full((len(words), width), _NO_TARGET, dtype=np.int64)
    targets_BT[is_character_BT] = symbols_C
    read_BT = np.full((len(words), width), END, dtype=np.int64)
    read_BT[:, 1:] = np.where(is_character_BT, targets_BT, END)[:, :-1]
    is_whole = np.array([len(word) <= _LONGEST for word in words])
    targets_BT[is_whole, lengths_B[is_whole]] = END
    return torch.from_numpy(read_BT), torch.from_numpy(targets_BT)


def _batches(
    words: Sequence[str], size: int, shuffler: np.random.Generator
) -> Iterator[Sequence[str]]:
    """Give all words once, in batches of words of about the same length, in random order."""
    order = shuffler.permutation(len(words)).tolist()
    pool = size * _BATCHES_IN_POOL
    for start in range(0, len(order), pool):
        places = sorted(order[start : start + pool], key=lambda place: len(words[place]))
        batches = [places[first : first + size] for first in range(0, len(places), size)]
        for number in shuffler.permutation(len(batches)).tolist():
            yield [words[place] for place in batches[number]]


@torch.no_grad()
def _evaluate(
    model: CharacterModel, alphabet: Alphabet, words: Sequence[str], size: int
) -> tuple[float, int]:
    """Give the nats and the symbols of words."""
    model.eval()
    nats, symbols = 0.0, 0
    by_length = sorted(words, key=len)
    for start in range(0, len(words), size):
        read_BT, targets_BT = encode_batch(alphabet, by_length[start : start + size])
        nats += float(_nats(model(read_BT), targets_BT))
        symbols += int((targets_BT != _NO_TARGET).sum())
    return nats, symbols


def _nats(logits_BTS: Tensor, targets_BT: Tensor) -> Tensor:
    return functional.cross_entropy(
        logits_BTS.flatten(0, 1), targets_BT.flatten(), ignore_index=_NO_TARGET, reduction="sum"
    )


class FrozenCharacters:
    """The weights of a character model that only predicts.

    It is the network of `CharacterModel`, one symbol at a time, for any number of words at any
    place, without gradients.
    """

    def __init__(self, weights: dict[str, Tensor]) -> None:
        self.weights = weights
        self.embedding_size = weights["embedding.weight"].shape[1]
        self.hidden_size = weights["recurrent.weight_hh_l0"].shape[1]
        # A symbol's part in the gates does not depend on the state: it is computed once.
        self._gates_S3H = torch.addmm(
            weights["recurrent.bias_ih_l0"],
            weights["embedding.weight"],
            weights["recurrent.weight_ih_l0"].t(),
        )
        self._recurrent_H3H = weights["recurrent.weight_hh_l0"].t()
        self._recurrent_bias = weights["recurrent.bias_hh_l0"]
        self._output_HS = weights["output.weight"].t()
        self._output_bias = weights["output.bias"]

    @classmethod
    def of(cls, model: CharacterModel) -> "FrozenCharacters":
        """Copy a model's weights: training it further does not change the copy."""
        state = model.state_dict().items()
        return cls({name: weight.detach().float().clone() for name, weight in state})

    @staticmethod
    def shapes(symbols: int, embedding_size: int, hidden_size: int) -> dict[str, Shape]:
        """Give the names and shapes of the weights."""
        return {
            "embedding.weight": (symbols, embedding_size),
            "recurrent.weight_ih_l0": (3 * hidden_size, embedding_size),
            "recurrent.weight_hh_l0": (3 * hidden_size, hidden_size),
            "recurrent.bias_ih_l0": (3 * hidden_size,),
            "recurrent.bias_hh_l0": (3 * hidden_size,),
            "output.weight": (symbols, hidden_size),
            "output.bias": (symbols,),
        }

    def start(self, rows: int) -> Tensor:
        """Give the state before the first character, (P, H)."""
        nothing_PH = torch.zeros(rows, self.hidden_size)
        return self.step(nothing_PH, torch.full((rows,), END))

    def step(self, states_PH: Tensor, symbols_P: Tensor) -> Tensor:
        """Read one symbol in each state, as PyTorch's gated recurrent unit does, (P, H)."""
        reset_PH, keep_PH, new_PH = self._gates_S3H[symbols_P].chunk(3, dim=1)
        gates_P3H = torch.addmm(self._recurrent_bias, states_PH, self._recurrent_H3H)
        state_reset_PH, state_keep_PH, state_new_PH = gates_P3H.chunk(3, dim=1)
        reset_PH = (reset_PH + state_reset_PH).sigmoid_()
        keep_PH = (keep_PH + state_keep_PH).sigmoid_()
        new_PH = torch.addcmul(new_PH, reset_PH, state_new_PH).tanh_()
        return torch.lerp(new_PH, states_PH, keep_PH)

    def logits(self, states_PH: Tensor, *, is_first: bool) -> Tensor:
        """Give the logits of what follows, (P, S); a word does not end before it begins."""
        logits_PS = torch.addmm(self._output_bias, states_PH, self._output_HS)
        if is_first:
            logits_PS[:, END] = -torch.inf
        return logits_PS
