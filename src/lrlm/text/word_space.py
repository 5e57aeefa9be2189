"""Tokens that are words of a vocabulary: the paper's models.

A word without an id is `<unk>` and is spelled by a character model.
"""

from collections import deque
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

import numpy as np
import torch

from lrlm.arrays import Floats
from lrlm.text.document import LinkedDocument
from lrlm.text.forms import SurfaceForm
from lrlm.text.joining import Joiner, copied_tokens
from lrlm.text.natural_text import came_in_words
from lrlm.text.repeats import UnknownSoFar, with_repeats
from lrlm.text.token_space import (
    EncodedText,
    GrowingText,
    Speller,
    Spellings,
    TokenPlaces,
    TokenSpace,
)
from lrlm.text.tokeniser import Profile, Tokens, split_words
from lrlm.text.vocabulary import Vocabulary

_SPELLED_AT_ONCE = 64


class WordSpace(TokenSpace):
    """Every word of a text is one token."""

    unknown_id: int

    def __init__(self, vocabulary: Vocabulary, speller: Speller, *, repeats: bool = False) -> None:
        """`speller` is the distribution over words outside the vocabulary.

        With `repeats`, those that a text has had before are expected again.
        """
        self.vocabulary = vocabulary
        self.speller = speller
        self.repeats = repeats
        self.size = len(vocabulary)
        self.end_id = vocabulary.end_id
        self.unknown_id = vocabulary.unknown_id
        self.counts = vocabulary.counts
        self.words = vocabulary.words

    def encode(self, document: LinkedDocument) -> EncodedText:
        """Look up every word, and spell those without an id."""
        return self._encode(document)

    def encode_backward(self, document: LinkedDocument) -> EncodedText:
        """Do the same for a reader who begins with the last word."""
        return self._encode(document, backward=True)

    def _encode(self, document: LinkedDocument, *, backward: bool = False) -> EncodedText:
        words = document.tokens.words
        ids = np.array(self.vocabulary.encode(words), dtype=np.int64)
        spelling = np.zeros(len(words), dtype=np.float32)
        unknown = np.flatnonzero(ids == self.unknown_id).tolist()
        if backward:
            unknown.reverse()
        if unknown:
            spelled = [words[index] for index in unknown]
            log_spelling = self.speller.log_probs(spelled)
            spelling[unknown] = (
                with_repeats(spelled, log_spelling) if self.repeats else log_spelling
            )
        mentions = document.mentions
        return EncodedText(
            tokens_N=ids,
            spelling_N=spelling,
            edges_E4=np.array(mentions, dtype=np.int64).reshape(-1, 4),
            mention_E=np.arange(len(mentions)),
        )

    def places(self, document: LinkedDocument) -> TokenPlaces:
        """Words stand where the tokeniser found them."""
        tokens = document.tokens
        return TokenPlaces(tokens.starts, tokens.ends, range(len(tokens)))

    def encode_form(self, form: SurfaceForm, *, before: str = "") -> list[int]:
        """Look up the words of a form; they are the same wherever it stands."""
        del before
        return self.vocabulary.encode(form.words)

    def form_tokens(self, form: SurfaceForm, *, before: str = "") -> tuple[str, ...]:
        """Give the words of a form; they are the same wherever it stands."""
        del before
        return form.words

    def word_ids(self, words: Sequence[str]) -> list[int]:
        """Look up words."""
        return self.vocabulary.encode(words)

    def decode(self, ids: Sequence[int]) -> str:
        """Write words as people do: no space before a comma, `<unk>` where a word is unknown."""
        joiner = Joiner(Profile.RAW)
        for token in ids:
            if token != self.end_id:
                joiner.add(self.vocabulary.words[token])
        return joiner.finish()

    def begin_text(
        self, prompt: str, *, profile: Profile, spellings: Spellings | None
    ) -> "WordByWord":
        """Begin a text whose words are joined as people write them."""
        assert spellings is not None, "a vocabulary has unknown words, which have to be spelled"
        return WordByWord(self, prompt, profile, spellings)

    def spellings(
        self, *, seed: int, temperature: float = 1.0, capitals: bool = True
    ) -> "SpellingPool":
        """Give a supply of words outside the vocabulary, spelled by the character model."""
        return SpellingPool(
            self.speller,
            seed=seed,
            temperature=temperature,
            capitals=capitals,
            repeats=self.repeats,
        )

    def words_to_spell(self, words: AbstractSet[str]) -> set[str]:
        """Give the words outside the vocabulary."""
        return {word for word in words if word not in self.vocabulary}

    def prepared_for(self, words: AbstractSet[str]) -> "WordSpace":
        """Spell the unknown ones among some words at once: faster than text by text."""
        spelled = SpelledWords(self.speller, self.words_to_spell(words))
        return WordSpace(self.vocabulary, spelled, repeats=self.repeats)

    def with_speller(self, change: Callable[[Speller], Speller]) -> "WordSpace":
        """Give the same vocabulary with another distribution over unknown words."""
        return WordSpace(self.vocabulary, change(self.speller), repeats=self.repeats)


class SpelledWords:
    """Remembers the scores of words that were spelled beforehand; spells others when they come."""

    def __init__(self, speller: Speller, words: AbstractSet[str]) -> None:
        listed = sorted(words)
        self._speller = speller
        self._scores = dict(zip(listed, speller.log_probs(listed).tolist(), strict=True))

    def log_probs(self, words: Sequence[str]) -> Floats:
        """Give the log-probability of each word's spelling."""
        if any(word not in self._scores for word in words):
            return self._speller.log_probs(words)
        return np.array([self._scores[word] for word in words], dtype=np.float32)

    def sample(
        self,
        count: int,
        *,
        generator: torch.Generator,
        temperature: float = 1.0,
        capitals: bool = True,
    ) -> list[str]:
        """Spell words at random."""
        return self._speller.sample(
            count, generator=generator, temperature=temperature, capitals=capitals
        )


class SpellingPool:
    """A supply of randomly spelled words.

    How a new word is spelled does not depend on the text around it, so many words are spelled at
    once, before it is known where they will stand.
    """

    def __init__(
        self,
        speller: Speller,
        *,
        seed: int,
        temperature: float = 1.0,
        capitals: bool = True,
        repeats: bool = False,
    ) -> None:
        """With `repeats`, a word may also be one that its text has had before."""
        self._speller = speller
        self._repeats = repeats
        self._generator = torch.Generator().manual_seed(seed)
        self._temperature = temperature
        self._capitals = capitals
        self._words: deque[tuple[str, float]] = deque()

    def take(self, before: Sequence[str] = ()) -> tuple[str, float]:
        """Give the next word, and log P(word | unknown) under the model itself.

        `before` are the unknown words that its text has so far.
        """
        if not self._repeats:
            return self._new()
        so_far = UnknownSoFar(before)
        word = self._drawn_again(so_far)
        if word is None:
            word, log_spelling = self._new()
        else:
            log_spelling = float(self._speller.log_probs([word])[0])
        return word, so_far.log_prob(word, log_spelling)

    def _drawn_again(self, so_far: UnknownSoFar) -> str | None:
        """Draw one of the words of a text, None for a new one."""
        left = float(torch.rand((), generator=self._generator, dtype=torch.float64))
        for word in so_far.times:
            left -= so_far.share(word)
            if left < 0:
                return word if self._capitals or word == word.lower() else None
        return None

    def _new(self) -> tuple[str, float]:
        if not self._words:
            words = self._speller.sample(
                _SPELLED_AT_ONCE,
                generator=self._generator,
                temperature=self._temperature,
                capitals=self._capitals,
            )
            self._words.extend(zip(words, self._speller.log_probs(words).tolist(), strict=True))
        return self._words.popleft()


class WordByWord(GrowingText):
    """Joins words as people write them, and spells the unknown ones."""

    def __init__(
        self, space: WordSpace, prompt: str, profile: Profile, spellings: Spellings
    ) -> None:
        self._vocabulary = space.vocabulary
        # A vocabulary of running text holds this word only if compounds were cut at names.
        joins_compounds = profile is not Profile.WIKITEXT and "@-@" in space.vocabulary
        self._joiner = Joiner(profile, after=prompt, joins_compounds=joins_compounds)
        self.places = self._joiner.places
        self._profile = profile
        self._spellings = spellings
        self._is_copying = False
        self.tokens = list(split_words(prompt, profile))

    @property
    def text(self) -> str:
        """What is joined so far."""
        return self._joiner.text

    def begin_form(self, form: SurfaceForm, *, position: int = 0) -> None:
        """Write a form as it was given."""
        tokens = copied_tokens(form.words, self.written(form))
        self._is_copying = tokens is not None
        if tokens is not None:
            self._joiner.begin_copy(tokens[position:])

    def add(self, token: int, *, copied: str | None = None) -> float | None:
        """Append a word of the vocabulary, a copied one, or one that is spelled now."""
        log_spelling = None
        if copied is not None:
            self.tokens.append(copied)
            if self._is_copying:
                self._joiner.add_copied()
            else:
                self._joiner.add(copied)
            return None
        if token == self._vocabulary.unknown_id:
            unknown = [word for word in self.tokens if word not in self._vocabulary]
            word, log_spelling = self._spellings.take(unknown)
        else:
            word = self._vocabulary.words[token]
        self.add_word(token, word)
        return log_spelling

    def add_word(self, token: int, word: str) -> None:
        """Append a word as it is."""
        del token
        self._joiner.add(word)
        self.tokens.append(word)

    def finish(self) -> None:
        """Place the last word."""
        self._joiner.finish()

    def written(self, form: SurfaceForm) -> str:
        """Give a form as it was given; one that came in words is put together."""
        if not came_in_words(form.text):
            return form.text
        joiner = Joiner(self._profile)
        for word in form.words:
            joiner.add(word)
        return joiner.finish()

    def words(self, profile: Profile) -> Tokens:
        """Give the words as they were written: a spelled one may hold a comma."""
        del profile
        starts, ends = [start for start, _ in self.places], [end for _, end in self.places]
        return Tokens(self.tokens, starts, ends)
