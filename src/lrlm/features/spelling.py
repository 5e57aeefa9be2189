"""Score how words are spelled, and spell new ones: the model of unknown words.

The character model is frozen here. Words are scored as a tree: what two words share at their
beginning is read once, and all beginnings of the same length are read together.

A spelling model gives probability to all words, also to those that have an id in a vocabulary.
Where only words without one are spelled, that share would be lost: it is divided out. The text
`</s>` is no word of a vocabulary, and is spelled like any other.

    P(spelling | not in V) = P(spelling) / (1 − Σ_{v ∈ V} P(v))

Shapes: W words, L characters of the longest and its end, C characters of all words, P distinct
beginnings of one length, S symbols, H width of the state.
"""

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Barrier, Lock, Thread
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from lrlm.arrays import Doubles, Floats, Integers
from lrlm.artifacts import (
    MANIFEST,
    check_files,
    fingerprints_in,
    new_folder,
    read_manifest,
    read_number,
    write_manifest,
)
from lrlm.characters import LONE_SURROGATE
from lrlm.checks import WIDEST
from lrlm.errors import FormatError, InputError, LrlmError
from lrlm.features.character_model import END, ESCAPE, FIRST, Alphabet, FrozenCharacters
from lrlm.features.readable import ReadableCharacters
from lrlm.tensor_files import read_tensors, write_tensors
from lrlm.text import Vocabulary

FORMAT = "lrlm spelling model"
VERSION = 1
WEIGHTS = "weights.safetensors"

_WORDS_AT_ONCE = 4096
_CHARACTERS_AT_ONCE = 1 << 19
"""Bounds the table of symbols where words are very long."""

_FEWEST_ROWS = 16
"""Products of fewer rows are computed by other routines, which round otherwise: a word's score
would depend on how many words it is scored with."""

_ROUNDS = 1000
"""How often words are drawn again before a model is given up."""

_LONGEST_STEERED = 24
"""Characters from which on a word that is not simply drawn ends: the most probable may go round."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How words are spelled where they are not simply drawn; no character is ever escaped."""

    temperature: float
    """Logits are divided by it; at 0 the most probable character is taken."""
    refuses: Callable[[str], bool]
    """Whether a word must not end as it is spelled so far: it then goes on."""
    leaves_out: Callable[[str], bool] = lambda _character: False
    """Which characters are not used."""


class SpellingModel:
    """A frozen distribution over all words, that is, over all strings that are not empty."""

    def __init__(
        self, alphabet: Alphabet, characters: FrozenCharacters, *, cache_size: int = 1 << 18
    ) -> None:
        self.alphabet = alphabet
        self._characters = characters
        self._escape_nats = float(np.log(alphabet.escaped))
        self._cache: dict[str, float] = {}
        self._cache_size = cache_size
        self._lock = Lock()

    @property
    def characters(self) -> str:
        """The characters that it has read."""
        return self.alphabet.characters

    def log_probs(self, words: Sequence[str]) -> Floats:
        """Give the log-probability of each word: of all its characters and its end, (W,).

        A word's score does not depend on the other words; that of the empty word is -inf. Threads
        may share a model.
        """
        # Another thread may add to this dictionary, or put an empty one in its place, but what is
        # in it stays: a word that is not missing now is still there when it is looked up.
        cache = self._cache
        missing = sorted({word for word in words if word not in cache})
        scores = self._score_all(missing) if missing else {}
        result = np.fromiter(
            (cache[word] if word in cache else scores[word] for word in words),
            dtype=np.float32,
            count=len(words),
        )
        if scores:
            self._keep(scores)
        return result

    def sample(
        self,
        count: int,
        *,
        generator: torch.Generator,
        longest: int = 200,
        manner: Manner | None = None,
    ) -> list[str]:
        """Spell words at random; one that grows beyond `longest` characters is spelled anew."""
        words: list[str] = []
        for _ in range(_ROUNDS):
            if len(words) == count:
                return words
            words += self._spell(count - len(words), generator, longest, manner)
        raise LrlmError(
            f"the spelling model hardly ever ends a word within {longest} characters;"
            " train it longer, or allow longer words"
        )

    def save(self, folder: Path, **made_from: Any) -> None:
        """Write the model to a new folder; `made_from` is kept in its manifest."""
        with new_folder(folder) as draft:
            write_tensors(draft / WEIGHTS, self._characters.weights)
            write_manifest(
                draft,
                format=FORMAT,
                version=VERSION,
                **made_from,
                embedding_size=self._characters.embedding_size,
                hidden_size=self._characters.hidden_size,
                characters=self.alphabet.characters,
                files=fingerprints_in(draft),
            )

    @classmethod
    def open(cls, folder: Path) -> "SpellingModel":
        """Read what `save` wrote."""
        manifest = read_manifest(
            folder, format=FORMAT, version=VERSION, hint="make it again with 'lrlm train'"
        )
        check_files(folder, manifest)
        characters = manifest.get("characters")
        if not isinstance(characters, str) or LONE_SURROGATE.search(characters):
            raise FormatError(f"{folder / MANIFEST}: 'characters' must be a text of characters")
        alphabet = Alphabet(characters)
        embedding_size, hidden_size = (
            read_number(folder, manifest, name, at_most=WIDEST)
            for name in ("embedding_size", "hidden_size")
        )
        shapes = FrozenCharacters.shapes(len(alphabet), embedding_size, hidden_size)
        weights = read_tensors(folder / WEIGHTS, shapes)
        return cls(alphabet, FrozenCharacters(weights))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the cache and its lock: a copy has its own."""
        return {**self.__dict__, "_cache": {}, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Begin with an empty cache."""
        self.__dict__.update(state, _lock=Lock())

    def _keep(self, scores: dict[str, float]) -> None:
        """Remember scores for the next time, within the bounds of the cache."""
        with self._lock:
            if len(self._cache) + len(scores) > self._cache_size:
                self._cache = {}
            if len(scores) <= self._cache_size:
                self._cache.update(scores)

    def _score_all(self, words: list[str]) -> dict[str, float]:
        # Cores share the parts, not the operations on one: they never wait for each other, and a
        # product is always computed by one core, for several would round otherwise.
        parts = [sorted(part) for part in _chunks(sorted(words, key=len))]
        cores = torch.get_num_threads()
        if cores == 1:
            scores = list(map(self._score, parts))
        else:
            pool = _one_core_threads(os.getpid(), cores)  # a process that is forked has none
            scores = list(pool.map(self._score, parts))
        return {
            word: score
            for part, scores_W in zip(parts, scores, strict=True)
            for word, score in zip(part, scores_W.tolist(), strict=True)
        }

    @torch.inference_mode()
    def _score(self, words: list[str]) -> Doubles:
        """Score distinct words in sorted order."""
        symbols_C, lengths_W = self.alphabet.encode(words)
        length = int(lengths_W.max()) + 1
        symbols_WL = np.full((len(words), length), END, dtype=np.int64)
        symbols_WL[np.arange(length) < lengths_W[:, None]] = symbols_C
        shared_W = _shared_beginnings(symbols_WL)
        scores_W: Doubles = (symbols_WL == ESCAPE).sum(1) * -self._escape_nats
        rows = np.arange(len(words))
        beginning_W = np.zeros(len(words), dtype=np.int64)
        states_PH = self._characters.start(_FEWEST_ROWS)
        for place in range(length):
            logits_PS = self._characters.logits(states_PH, is_first=place == 0)
            index = torch.from_numpy(beginning_W[rows])
            following = torch.from_numpy(symbols_WL[rows, place])
            norms_P = logits_PS.logsumexp(1)
            scores_W[rows] += (logits_PS[index, following] - norms_P[index]).double().numpy()
            rows = rows[lengths_W[rows] > place]
            if not len(rows):
                break
            is_new = shared_W[rows] <= place
            first = rows[is_new]
            parents_P, symbols_P = _fill_up(beginning_W[first]), _fill_up(symbols_WL[first, place])
            states_PH = self._characters.step(states_PH[parents_P], symbols_P)
            beginning_W[rows] = np.cumsum(is_new) - 1
        return scores_W

    @torch.inference_mode()
    def _spell(
        self, count: int, generator: torch.Generator, longest: int, manner: Manner | None
    ) -> list[str]:
        """Spell words; those that do not end in time are left out."""
        spelled: list[list[str]] = [[] for _ in range(count)]
        is_done = [False] * count
        alive = torch.arange(count)
        states_PH = self._characters.start(count)
        for place in range(longest + 1):
            logits_PS = self._characters.logits(states_PH, is_first=place == 0)
            if manner is not None:
                logits_PS = self._steer(logits_PS, [spelled[word] for word in alive], manner)
            symbols_P = torch.multinomial(logits_PS.softmax(1), 1, generator=generator).squeeze(1)
            for word, symbol in zip(alive.tolist(), symbols_P.tolist(), strict=True):
                if symbol == END:
                    is_done[word] = True
                else:
                    spelled[word].append(self._character(symbol, generator))
            goes_on = (symbols_P != END).nonzero().squeeze(1)
            if not len(goes_on):
                break
            alive = alive[goes_on]
            states_PH = self._characters.step(states_PH[goes_on], symbols_P[goes_on])
        return ["".join(word) for word, done in zip(spelled, is_done, strict=True) if done]

    def _steer(self, logits_PS: Tensor, spelled: list[list[str]], manner: Manner) -> Tensor:
        """Give other logits of what follows the words that are spelled so far."""
        left_out = [
            symbol
            for symbol, character in enumerate(self.alphabet.characters, start=FIRST)
            if manner.leaves_out(character)
        ]
        if len(left_out) == len(self.alphabet.characters):
            raise LrlmError("the spelling model knows none of the characters that may be used")
        logits_PS[:, [ESCAPE, *left_out]] = -torch.inf
        is_refused_P = torch.tensor([manner.refuses("".join(word)) for word in spelled])
        logits_PS[is_refused_P, END] = -torch.inf
        if len(spelled[0]) >= _LONGEST_STEERED:
            logits_PS[~is_refused_P, FIRST:] = -torch.inf
        if manner.temperature > 0:
            return logits_PS / manner.temperature
        return torch.full_like(logits_PS, -torch.inf).scatter(1, logits_PS.argmax(1)[:, None], 0.0)

    def _character(self, symbol: int, generator: torch.Generator) -> str:
        if symbol != ESCAPE:
            return self.alphabet.decode(symbol)
        place = torch.randint(self.alphabet.escaped, (), generator=generator)
        return self.alphabet.nth_escaped(int(place))


def _chunks(words: list[str]) -> Iterator[list[str]]:
    """Cut words, shortest first, into parts whose tables stay small."""
    start = 0
    for end in range(1, len(words) + 1):
        is_last = end == len(words)
        if (
            is_last
            or end - start == _WORDS_AT_ONCE
            or (end - start + 1) * len(words[end]) > _CHARACTERS_AT_ONCE
        ):
            yield words[start:end]
            start = end


def _shared_beginnings(symbols_WL: Integers) -> Integers:
    """Tell how many symbols each word shares with the one before it."""
    words, length = symbols_WL.shape
    shared_W = np.zeros(words, dtype=np.int64)
    differs = symbols_WL[1:] != symbols_WL[:-1]
    shared_W[1:] = np.where(differs.any(1), differs.argmax(1), length)
    return shared_W


def _fill_up(indices: Integers) -> Tensor:
    """Repeat the first row's index up to the fewest rows that are computed."""
    missing = _FEWEST_ROWS - len(indices)
    if missing > 0:
        indices = np.concatenate([indices, np.zeros(missing, dtype=np.int64)])
    return torch.from_numpy(indices)


@functools.cache
def _one_core_threads(_process: int, threads: int) -> ThreadPoolExecutor:
    """Give threads in each of which PyTorch computes on one core; they live with the process.

    They are started once, and all together: `torch.set_num_threads` sets the number of the calling
    thread, but also the number that other threads begin with when they first use PyTorch. Threads
    that have used it keep theirs, and for new ones it is set back at once.
    """
    pool = ThreadPoolExecutor(threads, "spelling", _use_one_core, (Lock(),))
    all_started = Barrier(threads)
    list(pool.map(lambda _: all_started.wait(), range(threads)))
    return pool


def _use_one_core(lock: Lock) -> None:
    with lock:
        usual = torch.get_num_threads()
        torch.set_num_threads(1)
        setter = Thread(target=torch.set_num_threads, args=(usual,))
        setter.start()
        setter.join()


class SamplingSpeller(Protocol):
    """A distribution over all words."""

    @property
    def characters(self) -> str:
        """The characters that it has read."""

    def log_probs(self, words: Sequence[str]) -> Floats:
        """Give the log-probability of each word's characters, end symbol included."""

    def sample(
        self, count: int, *, generator: torch.Generator, manner: Manner | None = None
    ) -> list[str]:
        """Spell words at random."""


class UnknownWordSpeller:
    """The distribution over words that a spelling model has left when those of V are taken out."""

    def __init__(
        self, speller: SamplingSpeller, vocabulary: Vocabulary, *, log_unknown: float
    ) -> None:
        """`log_unknown` is log(1 − Σ P(v)), as `log_unknown_mass` gives it."""
        self._speller = speller
        self._vocabulary = vocabulary
        self.log_unknown = log_unknown

    @functools.cached_property
    def _readable(self) -> ReadableCharacters:
        return ReadableCharacters(self._speller.characters)

    def log_probs(self, words: Sequence[str]) -> Floats:
        """Give the log-probability of each word, given that it is not in the vocabulary."""
        scores: Floats = self._speller.log_probs(words) - np.float32(self.log_unknown)
        return scores

    def sample(
        self,
        count: int,
        *,
        generator: torch.Generator,
        temperature: float = 1.0,
        capitals: bool = True,
    ) -> list[str]:
        """Spell words at random, again and again where they are in the vocabulary.

        So is done with words that cannot be read: one with a character that is not printable, or
        is of a script that the spelling model has not read.

        At another temperature than 1, a word does not end where it would be one of the vocabulary:
        at low ones there would hardly be any other. At 0 every word is the same. Without
        `capitals`, no word has a capital letter.
        """
        manner = None
        if temperature != 1:
            manner = Manner(
                temperature,
                refuses=self._vocabulary.__contains__,
                leaves_out=lambda character: (
                    character not in self._readable or (not capitals and has_capital(character))
                ),
            )
        words: list[str] = []
        for _ in range(_ROUNDS):
            if len(words) >= count:
                return words[:count]
            drawn = self._speller.sample(count - len(words), generator=generator, manner=manner)
            words += [word for word in drawn if self._is_wanted(word, capitals=capitals)]
        raise LrlmError("the spelling model hardly ever spells a word outside the vocabulary")

    def _is_wanted(self, word: str, *, capitals: bool) -> bool:
        return (
            word not in self._vocabulary
            and (capitals or not has_capital(word))
            and self._readable.can_write(word)
        )


def has_capital(word: str) -> bool:
    """Say whether a letter of a word is a capital, as in most names."""
    return any(character.isupper() or character.istitle() for character in word)


def log_unknown_mass(speller: SamplingSpeller, vocabulary: Vocabulary) -> float:
    """Give log(1 − Σ P(v)) over the words of a vocabulary: a constant of the two."""
    words = [word for word in vocabulary.words if word in vocabulary]
    known = float(np.exp(speller.log_probs(words).astype(np.float64)).sum())
    if not known < 1:
        raise InputError("the spelling model gives no probability to words outside the vocabulary")
    return float(np.log1p(-known))
