"""Training types in, a character language model out: P(character | the word so far).

    P(c_1 … c_n) = Π P(c_i | c_1 … c_{i-1}) × P(end | c_1 … c_n)

The end is impossible before the first character, for no word is empty. With the end as a symbol
like any other, the probabilities of all words sum to one: a gated state is bounded, hence so is
the probability of the end from below, and nothing is lost on words that never end.

Shapes: B words, T characters of the longest, S symbols, H width of the state.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from lrlm.errors import InputError
from lrlm.features.alphabet import END, Alphabet
from lrlm.features.config import SpellingConfig
from lrlm.features.threads import one_thread

_LONGEST = 48
"""Characters of a word that are trained on; of a longer one, only its beginning is learned."""

_WORTH_SHARING = 256
"""Width of the state from which on several cores are faster than one."""

_NO_TARGET = -100
"""What `cross_entropy` leaves out."""

_BATCHES_IN_POOL = 20
"""Words of so many batches are sorted by length together, which leaves little to pad."""


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
    """A character model and how well it does on types it has not seen."""

    alphabet: Alphabet
    model: CharacterModel
    held_out_nats: float
    """Mean nats of a held-out type, end symbol included; an escape is one symbol of them."""
    held_out_symbols: float
    """Mean symbols of a held-out type, end symbol included."""


def train_characters(
    words: Sequence[str],
    config: SpellingConfig,
    *,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> TrainedCharacters:
    """Learn how words are spelled; every word counts once. Progress is in epochs."""
    words = sorted({word for word in words if word})
    if len(words) < 2:
        raise InputError("a spelling model needs at least two words to learn from")
    shuffler = np.random.default_rng(config.seed)
    shuffled = [words[place] for place in shuffler.permutation(len(words))]
    held_out = max(1, int(len(words) * config.held_out))
    valid, train = shuffled[:held_out], shuffled[held_out:]
    alphabet = Alphabet.of(train, min_count=config.min_count)
    is_small = config.hidden_size < _WORTH_SHARING
    with torch.random.fork_rng(devices=[]), one_thread() if is_small else nullcontext():
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
    progress: Callable[[int, int], None],
) -> tuple[float, int]:
    """Train, leave the best epoch's weights in the model; give nats and symbols of `valid`."""
    optimiser = torch.optim.Adam(model.parameters(), lr=config.learning_rate)
    batches = -(-len(train) // config.batch_size)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, config.epochs * batches)
    best_nats, symbols = math.inf, 0
    best: dict[str, Tensor] = {}
    for epoch in range(config.epochs):
        progress(epoch, config.epochs)
        model.train()
        for batch in _batches(train, config.batch_size, shuffler):
            read_BT, targets_BT = encode_batch(alphabet, batch)
            loss = _nats(model(read_BT), targets_BT) / (targets_BT != _NO_TARGET).sum()
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
        nats, symbols = _evaluate(model, alphabet, valid, config.batch_size)
        if nats < best_nats:
            best_nats = nats
            best = {name: weight.clone() for name, weight in model.state_dict().items()}
    if not best:
        raise InputError(
            "the spelling model did not learn: its loss is not a number; lower"
            " SpellingConfig.learning_rate"
        )
    model.load_state_dict(best)
    progress(config.epochs, config.epochs)
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
