"""How the token space of a run is made for a corpus, kept in the run's folder, and opened again."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from lrlm.backbones import BackboneConfig, Pretrained
from lrlm.checks import check_at_least
from lrlm.corpora.corpus import Corpus
from lrlm.errors import FormatError, InputError
from lrlm.features import Features
from lrlm.features.spelling import UnknownWordSpeller, log_unknown_mass
from lrlm.text import TokenSpace, Vocabulary
from lrlm.text.subword_space import SubwordSpace
from lrlm.text.word_space import WordSpace

VOCABULARY = "vocabulary.json"

MANY_UNKNOWN = 0.1
"""Share of the training texts' words, names of facts apart, above which fewer should be unknown."""
SAFE_MIN_COUNT = 2
"""With 1, no word of the training texts is unknown, so a model never learns to expect one."""


class TokenSpaceConfig(ABC):
    """Settings of a token space; subclasses are frozen dataclasses whose fields are settings."""

    name: ClassVar[str]
    """What configurations call it, as `words`."""
    needs_spelling: ClassVar[bool] = False
    """Whether a spelling model has to be made for it."""

    @abstractmethod
    def make(self, corpus: Corpus, features: Features, backbone: BackboneConfig) -> TokenSpace:
        """Make the space for a corpus; the features hold the spelling model, if one is needed.

        A pretrained backbone brings its own tokens.
        """

    @abstractmethod
    def save(self, space: TokenSpace, folder: Path) -> None:
        """Write the files of a space that this made into a run's folder."""

    @abstractmethod
    def open(
        self,
        folder: Path,
        manifest: Mapping[str, Any],
        features: Features,
        backbone: BackboneConfig,
    ) -> TokenSpace:
        """Open the space from a run's folder."""

    def advice(self, corpus: Corpus) -> str | None:
        """Say which of these settings to change for a corpus; None where they suit it."""
        del corpus
        return None

    def manifest_entries(self, space: TokenSpace, features: Features) -> dict[str, Any]:
        """Give what the run's manifest keeps of the space; worked out anew if features change."""
        del space, features
        return {}


TOKEN_SPACES: dict[str, type[TokenSpaceConfig]] = {}
"""Every token space that can be named in a configuration, in the order they were registered."""


def register_token_space(config: type[TokenSpaceConfig]) -> type[TokenSpaceConfig]:
    """Let configurations and run folders name a token space; usable as a decorator.

    A name that another class has already is refused.

    >>> list(TOKEN_SPACES)
    ['words', 'subwords']
    """
    if TOKEN_SPACES.setdefault(config.name, config) is not config:
        raise InputError(f"there is another token space with the name {config.name!r} already")
    return config


@register_token_space
@dataclass(frozen=True, slots=True)
class VocabularyConfig(TokenSpaceConfig):
    """Which words of the training text have an id; the others are unknown and are spelled.

    >>> VocabularyConfig(min_count=2, size=10_000)
    VocabularyConfig(min_count=2, size=10000, repeats=False)
    """

    name: ClassVar[str] = "words"
    needs_spelling: ClassVar[bool] = True

    min_count: int = 3
    """Words that occur fewer times in the training text are unknown."""
    size: int | None = None
    """Keep at most this many words, the most frequent ones; none for all."""
    repeats: bool = False
    """Whether an unknown word that a text has had before is expected again, instead of being
    spelled anew each time (not in the paper)."""

    def __post_init__(self) -> None:
        """Refuse what cannot be made."""
        check_at_least("vocabulary.min_count", self.min_count, 1)
        if self.size is not None:
            check_at_least("vocabulary.size", self.size, 1)

    def make(self, corpus: Corpus, features: Features, backbone: BackboneConfig) -> WordSpace:
        """Keep the frequent words of the training text."""
        del backbone
        vocabulary = corpus.words.cut(min_count=self.min_count, size=self.size)
        log_unknown = log_unknown_mass(_speller(features), vocabulary)
        return self._space(vocabulary, features, log_unknown)

    def _space(self, vocabulary: Vocabulary, features: Features, log_unknown: float) -> WordSpace:
        speller = UnknownWordSpeller(_speller(features), vocabulary, log_unknown=log_unknown)
        return WordSpace(vocabulary, speller, repeats=self.repeats)

    def save(self, space: TokenSpace, folder: Path) -> None:
        """Write the vocabulary."""
        text = _vocabulary(space).to_json()
        (folder / VOCABULARY).write_text(text, encoding="utf-8")

    def open(
        self,
        folder: Path,
        manifest: Mapping[str, Any],
        features: Features,
        backbone: BackboneConfig,
    ) -> WordSpace:
        """Read the vocabulary."""
        del backbone
        try:
            log_unknown = float(manifest["log_unknown"])
        except (KeyError, TypeError, ValueError):
            raise FormatError(
                f"{folder}: its manifest lacks 'log_unknown', the probability that a word is not"
                " in the vocabulary; train the run again"
            ) from None
        if not -math.inf < log_unknown <= 0:
            raise FormatError(
                f"{folder}: 'log_unknown' in its manifest must be finite and at most 0, not"
                f" {log_unknown}; train the run again"
            )
        return self._space(Vocabulary.read(folder / VOCABULARY), features, log_unknown)

    def advice(self, corpus: Corpus) -> str | None:
        """Say so where many words are unknown only because they are rare."""
        words = corpus.words.cut(min_count=self.min_count, size=self.size)
        unknown = words.counts[words.unknown_id] / max(1, sum(words.counts))
        copied = corpus.statistics("train")["tokens covered"]  # no need to know names of facts
        if unknown - copied <= MANY_UNKNOWN or self.min_count <= SAFE_MIN_COUNT:
            return None
        return (
            f"{unknown:.0%} of the words in the training texts are unknown to the model, for they"
            f" are rare; let it know more of them: vocabulary.min_count={SAFE_MIN_COUNT}"
        )

    def manifest_entries(self, space: TokenSpace, features: Features) -> dict[str, Any]:
        """Give how probable a word outside the vocabulary is under the spelling model."""
        return {"log_unknown": log_unknown_mass(_speller(features), _vocabulary(space))}


@register_token_space
@dataclass(frozen=True, slots=True)
class SubwordConfig(TokenSpaceConfig):
    """The tokens of a pretrained language model; every text has some, so none is unknown.

    >>> SubwordConfig(start="<bos>")
    SubwordConfig(start='<bos>', end='auto')
    """

    name: ClassVar[str] = "subwords"

    start: str = "auto"
    """The token that stands before every text. auto: the one that the tokenizer itself puts there,
    else <|endoftext|> if there is one, else the declared beginning of a text."""
    end: str = "auto"
    """The token that ends a text. auto: <|endoftext|> where texts start with it, else the declared
    end of a text."""

    def make(self, corpus: Corpus, features: Features, backbone: BackboneConfig) -> SubwordSpace:
        """Take the tokens of the backbone."""
        del corpus, features
        return self._space(backbone)

    def _space(self, backbone: BackboneConfig) -> SubwordSpace:
        if not isinstance(backbone, Pretrained):
            raise InputError(
                "vocabulary.name=subwords means the tokens of a pretrained language model, but the"
                f" backbone is {backbone.name}"
            )
        return SubwordSpace(backbone.files().tokenizer(), start=self.start, end=self.end)

    def save(self, space: TokenSpace, folder: Path) -> None:
        """Write nothing: the tokenizer is one of the backbone's own files."""

    def open(
        self,
        folder: Path,
        manifest: Mapping[str, Any],
        features: Features,
        backbone: BackboneConfig,
    ) -> SubwordSpace:
        """Take the tokens of the backbone."""
        del folder, manifest, features
        return self._space(backbone)


def _speller(features: Features) -> Any:
    if features.speller is None:
        raise InputError("a vocabulary of words needs a spelling model for unknown words")
    return features.speller


def _vocabulary(space: TokenSpace) -> Vocabulary:
    assert isinstance(space, WordSpace), "a configuration is given the space that it made"
    return space.vocabulary
