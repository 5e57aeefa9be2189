"""What a token is: how a linked document becomes token ids, and how ids become text again.

A model knows numbers only. Which number stands for which piece of text is known by a token space
and by nothing else: `WordSpace` has the words of a vocabulary (the paper's models), another one may
have the subwords of a pretrained language model. Whatever the tokens are, nats are reported per
word of the text and per byte of it, so that all models stand in one table.

Shapes: N tokens of a text, E candidate edges.
"""

import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

import numpy as np

from lrlm.arrays import Booleans, Floats, Integers
from lrlm.errors import InputError
from lrlm.text.document import LinkedDocument
from lrlm.text.forms import SurfaceForm
from lrlm.text.tokeniser import Profile, Tokens, split_words, tokenise

if TYPE_CHECKING:  # corpora are built without loading PyTorch
    import torch
    from torch import Tensor

_LARGEST_EXPONENT = 700.0
"""Beyond lies what a number cannot hold; one long word that has to be spelled may cost as much."""


NO_FORM_HERE = -1
"""The context of a place where no form can begin."""

NO_MENTION = -1
"""The mention of a candidate that the words of the document do not show."""


@dataclass(frozen=True)
class EncodedText:
    """The text of a document in tokens; the token that ends a text is not among them."""

    tokens_N: Integers
    """The id of each token."""
    spelling_N: Floats
    """Log-probability of the spelling of a token that stands for many words; 0 for all others."""
    edges_E4: Integers
    """Start, end, relation and form of each candidate, counted in tokens, sorted."""
    mention_E: Integers
    """Which of the document's mentions each candidate is, or `NO_MENTION`: tokens may show a form
    where words do not, as "Oslo" in "Oslo-based"."""
    bound_E: Booleans | None = None
    """Whether the token that follows each candidate has to begin a new word, since the candidate
    is copied as a whole name; None where every token is a word."""

    @property
    def candidates(self) -> int:
        """E; mentions that do not fall on token boundaries are not among them."""
        return len(self.edges_E4)

    def without_reaching_out(self, prompt: int) -> "EncodedText":
        """Leave out candidates that reach out of the first `prompt` tokens.

        A text goes on after a prompt as after a word: nothing that was begun there is finished, and
        none of its names asks for a new word.
        """
        start_E, end_E = self.edges_E4[:, 0], self.edges_E4[:, 1]
        asks_E = np.zeros(len(end_E), dtype=bool) if self.bound_E is None else self.bound_E
        kept_E = (start_E >= prompt) | (end_E < prompt) | ((end_E == prompt) & ~asks_E)
        return replace(
            self,
            edges_E4=self.edges_E4[kept_E],
            mention_E=self.mention_E[kept_E],
            bound_E=None if self.bound_E is None else self.bound_E[kept_E],
        )


@dataclass(frozen=True, slots=True)
class TokenPlaces:
    """Where the tokens of a text stand: characters `[start, end)`, and the word they belong to.

    White space before or after a token does not belong to it.
    """

    starts: Sequence[int]
    ends: Sequence[int]
    words: Sequence[int]
    """Index into the words of the document."""


class WordSpan(NamedTuple):
    """Words `[start, end)` of a document that some tokens touch."""

    start: int
    end: int
    is_whole: bool
    """Whether the tokens begin and end where these words do."""


def word_span(words: Tokens, places: TokenPlaces, start: int, end: int) -> WordSpan:
    """Say which words the tokens `[start, end)` touch.

    >>> word_span(document.tokens, places, 3, 4)
    WordSpan(start=3, end=4, is_whole=True)
    """
    begin, stop = places.starts[start], places.ends[end - 1]
    first, last = places.words[start], bisect_left(words.starts, stop) - 1
    is_whole = words.starts[first] == begin and words.ends[last] == stop
    return WordSpan(first, last + 1, is_whole)


class Speller(Protocol):
    """A distribution over the words that one token stands for (`<unk>`, in a vocabulary)."""

    def log_probs(self, words: Sequence[str]) -> Floats:
        """Give the log-probability of each word's spelling."""

    def sample(
        self,
        count: int,
        *,
        generator: "torch.Generator",
        temperature: float = 1.0,
        capitals: bool = True,
    ) -> list[str]:
        """Spell words at random."""


class Spellings(Protocol):
    """A supply of randomly spelled words for the texts of one call."""

    def take(self, before: Sequence[str] = ()) -> tuple[str, float]:
        """Give the next word, and its log-probability among unknown words.

        `before` are the unknown words that its text has so far.
        """


class GrowingText(ABC):
    """A text that is put together token by token while it is generated."""

    tokens: list[str]
    """The text of each token so far, those of the prompt included."""
    places: list[tuple[int, int]]
    """Characters `[start, end)` of the tokens whose place is final; the last ones may have none."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The text as far as its tokens have a place."""

    def begin_form(self, form: SurfaceForm, *, position: int = 0) -> None:
        """Be told that the next tokens copy a form, from that of this position on.

        A space whose tokens do not say how they are joined learns here how the form is written.
        """
        del form, position

    @abstractmethod
    def add(self, token: int, *, copied: str | None = None) -> float | None:
        """Append a token; `copied` is its text where it is part of a copied form.

        Gives the log-probability of the token's spelling where it was spelled, None elsewhere.
        """

    def add_word(self, token: int, word: str) -> None:
        """Append a word that was taken from a name by itself, where tokens are words."""
        self.add(token, copied=word)

    @abstractmethod
    def finish(self) -> None:
        """Give all tokens their place: no more are coming."""

    def written(self, form: SurfaceForm) -> str:
        """Say how a form looks in such a text."""
        return form.text

    def words(self, profile: Profile) -> Tokens:
        """Cut the text into words, for linking."""
        return tokenise(self.text, profile)


class TokenSpace(ABC):
    """The one place that knows what a token is.

    To add a token space of your own, implement the abstract methods and write a configuration for
    it (`lrlm.runs.token_spaces.TokenSpaceConfig`), which says how it is made for a corpus and kept
    in a run.

    >>> from lrlm.corpora import link
    >>> space = lrlm.load().run.space
    >>> topic = lrlm.Topic("Norway", relations=[lrlm.Relation("capital", "Oslo")])
    >>> document = link("Its capital is Oslo.", topic)
    """

    size: int
    """How many token ids there are: ids are 0 to `size - 1`."""
    end_id: int
    """The token that ends a text."""
    unknown_id: int | None = None
    """The token that stands for all words without an id; None where every text has tokens."""
    counts: tuple[int, ...] | None = None
    """How often each token occurs in the training text, if ids are in order of frequency."""
    words: tuple[str, ...] | None = None
    """What each token is, where tokens are words."""
    contexts: int = 1
    """In how many ways a form may be written in tokens, depending on the text before it."""
    begins_word: Booleans | None = None
    """Which tokens begin a new word, (size,): one of them follows a copied name, so that no name
    ends within a word. None where every token is a word."""
    no_form_after: AbstractSet[int] = frozenset()
    """The tokens right after which no form can begin."""

    @property
    def start_id(self) -> int:
        """The token that stands before the first token of every text: the end token, usually."""
        return self.end_id

    @abstractmethod
    def encode(self, document: LinkedDocument) -> EncodedText:
        """Write a document's text in tokens, with its candidates in token positions.

        >>> encoded = space.encode(document)
        >>> len(encoded.tokens_N), encoded.edges_E4.tolist()
        (5, [[3, 4, 1, 0]])
        """

    def encode_backward(self, document: LinkedDocument) -> EncodedText:
        """Do the same for a text that will be read from its end, with the tokens in their order.

        Spellings are those of a reader who knows the words after a place, not those before it.
        """
        return self.encode(document)

    def encode_written(self, document: LinkedDocument, text: GrowingText) -> EncodedText:
        """Do the same for a text that was generated, in just the tokens that it was written in."""
        del text
        return self.encode(document)

    @abstractmethod
    def places(self, document: LinkedDocument) -> TokenPlaces:
        """Say where in the text, and in which word, each token of a document stands.

        >>> places = space.places(document)
        >>> document.text[places.starts[3] : places.ends[3]]
        'Oslo'
        """

    @abstractmethod
    def encode_form(self, form: SurfaceForm, *, before: str = "") -> list[int]:
        """Write a form in tokens as it would stand after the text `before`.

        >>> form = SurfaceForm(("Norwegian", "krone"), "Norwegian krone")
        >>> len(space.encode_form(form, before="The currency is the"))
        2
        """

    @abstractmethod
    def form_tokens(self, form: SurfaceForm, *, before: str = "") -> tuple[str, ...]:
        """Give the text of each token of a form, as it would stand after the text `before`.

        >>> space.form_tokens(form)
        ('Norwegian', 'krone')
        """

    def encode_text(self, text: str) -> list[int]:
        """Write a text in tokens that is read before a document and not scored.

        >>> len(space.encode_text("The capital of Norway."))
        5
        """
        return self.encode_form(SurfaceForm(split_words(text), text))

    def word_ids(self, words: Sequence[str]) -> list[int]:
        """Give the token of each word, where tokens are words; one without an id has `<unk>`."""
        del words
        raise InputError(
            "single words of names can be taken only where every token is a word, and these tokens"
            " are parts of words; leave out model.relations.name_words"
        )

    @abstractmethod
    def decode(self, ids: Sequence[int]) -> str:
        """Put token ids together to a text that people can read.

        >>> space.decode(encoded.tokens_N.tolist())
        'Its capital is Oslo.'
        """

    @abstractmethod
    def begin_text(
        self, prompt: str, *, profile: Profile, spellings: Spellings | None
    ) -> GrowingText:
        """Begin a text that goes on after `prompt`; `profile` says how texts are cut into words."""

    def example_before(self, _context: int) -> str:
        """Give a text after which a form is written as in this context (0 is the start of a text).

        Only a space with more than one context needs to answer.
        """
        return ""

    def context_after(self, tokens_B: "Tensor") -> "Tensor":
        """Say in which context a form stands right after each of these tokens: (B,).

        `NO_FORM_HERE` where no form can begin.
        """
        return tokens_B.new_zeros(tokens_B.shape)

    def binds(self, _token: int) -> bool:
        """Say whether a form that ends with this token asks for a new word after it."""
        return False

    def spellings(
        self, *, seed: int, temperature: float = 1.0, capitals: bool = True
    ) -> Spellings | None:
        """Give a supply of spelled words; None where no token has to be spelled."""
        del seed, temperature, capitals
        return None

    def words_to_spell(self, words: AbstractSet[str]) -> AbstractSet[str]:
        """Give those of some words that have no token of their own and have to be spelled."""
        del words
        return frozenset()

    def prepared_for(self, words: AbstractSet[str]) -> Self:
        """Give a space that has worked out at once what texts of these words will ask of it."""
        del words
        return self

    def with_speller(self, change: Callable[[Speller], Speller]) -> Self:
        """Give a space in which unknown words are spelled in another way."""
        del change
        raise InputError(
            "this model has no unknown words, so there are no spellings whose probabilities could"
            " be replaced"
        )


def perplexity_per_word(nats: float, words: int) -> float:
    """Give exp(nats / words), or the largest number that can be told.

    The words are those of the text, whatever the tokens are: summed nats divided by summed words.

    >>> round(perplexity_per_word(nats=23.0, words=10), 2)
    9.97
    """
    return math.exp(min(nats / words, _LARGEST_EXPONENT))


def bits_per_byte(nats: float, text_bytes: int) -> float:
    """Give how many bits a byte of the text (in UTF-8) costs.

    >>> round(bits_per_byte(nats=23.0, text_bytes=50), 2)
    0.66
    """
    return nats / math.log(2) / text_bytes
