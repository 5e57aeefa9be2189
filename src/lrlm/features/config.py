"""The settings of features: how vectors and the spelling model are made.

The text under a field is its help on the command line and in a run's configuration.
"""

from dataclasses import dataclass, field

from lrlm.checks import WIDEST, check_at_least, check_range, check_rate
from lrlm.errors import InputError

TRAIN = "train"
"""As a source: learn the vectors from the corpus itself."""

BACKBONE = "backbone"
"""As a source of form vectors: the vectors that a pretrained backbone has of their tokens."""

HASHED = "hashed"
"""As a source of form vectors: random projections of character n-grams, nothing to train."""

LONGEST_NGRAM = 20
"""Longer n-grams are a mistake: there are next to no words in which they occur twice."""

_MOST = 100_000_000
"""Rows of a table, or of a batch, that a setting may ask for."""


def _check_positive(name: str, value: float) -> None:
    """Refuse a number that is not above zero, or is no number."""
    if not 0 < value < float("inf"):
        raise InputError(f"{name} must be above 0 and finite, not {value}")


def _check_source(name: str, source: str) -> None:
    """Refuse a blank source: a path is checked when it is read."""
    if not source.strip():
        raise InputError(f"{name} is blank; give {TRAIN!r} or a path")


@dataclass(frozen=True, slots=True)
class RelationVectorConfig:
    """How relation types and objects get their vectors."""

    source: str = TRAIN
    """"train" for TransE on the corpus's graph, or a folder with OpenKE's published vectors."""
    width: int = 100
    """Width of the vectors; published ones must have it."""
    epochs: int = 20
    """Passes of TransE over all triples."""
    batch_size: int = 1024
    """Triples in one update, each with its own negatives."""
    learning_rate: float = 0.01
    """Learning rate of Adam at the start; it falls to zero in a straight line."""
    margin: float = 1.0
    """By how much a false triple must be farther apart than the true one (γ of TransE)."""
    norm: int = 2
    """The distance between head + relation and tail: 1 or 2 for L1 or L2."""
    negatives: int = 4
    """False triples drawn for each true one."""
    filtered: bool = True
    """Whether a false triple that is in the graph is drawn again."""
    seed: int = 1
    """Seed of the initial vectors, of the order of triples, and of the false triples."""

    def __post_init__(self) -> None:
        """Refuse what cannot be made."""
        check_at_least("features.relations.seed", self.seed, 0)
        _check_source("features.relations.source", self.source)
        check_at_least("features.relations.epochs", self.epochs, 1)
        for name, most in (("width", WIDEST), ("batch_size", _MOST), ("negatives", WIDEST)):
            check_range(f"features.relations.{name}", getattr(self, name), 1, most)
        _check_positive("features.relations.learning_rate", self.learning_rate)
        _check_positive("features.relations.margin", self.margin)
        if self.norm not in (1, 2):
            raise InputError(f"features.relations.norm must be 1 or 2, not {self.norm}")


@dataclass(frozen=True, slots=True)
class FormVectorConfig:
    """How surface forms get their vectors."""

    source: str = TRAIN
    """"train" for fastText on the training text, "hashed" for vectors that need no training,
    "backbone" for those that a pretrained language model has of its tokens, or a published fastText
    `.bin` file."""
    width: int = 100
    """Width of the vectors; published ones must have it."""
    shortest_ngram: int = 3
    """Characters of the shortest n-grams; `<` and `>` around a word count."""
    longest_ngram: int = 6
    """Characters of the longest n-grams."""
    buckets: int = 50_000
    """Rows of the n-gram table, which n-grams share by their hash."""
    epochs: int = 5
    """Passes of fastText over the training text."""
    learning_rate: float = 0.05
    """Learning rate of fastText at the start; it falls to almost zero in a straight line."""
    min_count: int = 2
    """Rarer words have no vector of their own: theirs is made of their n-grams alone."""
    seed: int = 1
    """Seed of the initial vectors and of sampling, or of the hashed vectors."""

    def __post_init__(self) -> None:
        """Refuse what cannot be made."""
        check_at_least("features.forms.seed", self.seed, 0)
        _check_source("features.forms.source", self.source)
        for name in ("shortest_ngram", "epochs", "min_count"):
            check_at_least(f"features.forms.{name}", getattr(self, name), 1)
        check_range("features.forms.width", self.width, 1, WIDEST)
        check_range("features.forms.buckets", self.buckets, 1, _MOST)
        if not self.shortest_ngram <= self.longest_ngram <= LONGEST_NGRAM:
            raise InputError(
                "features.forms.longest_ngram must be from features.forms.shortest_ngram"
                f" ({self.shortest_ngram}) to {LONGEST_NGRAM}, not {self.longest_ngram}"
            )
        _check_positive("features.forms.learning_rate", self.learning_rate)


@dataclass(frozen=True, slots=True)
class SpellingConfig:
    """How the character model of unknown words is trained."""

    embedding_size: int = 32
    """Width of a character's vector."""
    hidden_size: int = 128
    """Width of the recurrent state."""
    epochs: int = 12
    """Passes over the distinct words of the training text; the weights of the best one are kept."""
    batch_size: int = 256
    """Words in one update."""
    learning_rate: float = 0.004
    """Learning rate of Adam at its peak; it falls to zero along a cosine."""
    dropout: float = 0.1
    """Share of the recurrent state's values that are dropped before a character is predicted."""
    min_count: int = 10
    """Characters that stand in fewer distinct words are treated as unseen, from which the model
    learns how often to expect a new one."""
    held_out: float = 0.05
    """Share of the distinct words that are not trained on and choose the best epoch."""
    seed: int = 1
    """Seed of the initial weights, of the order of words, and of the choice of held-out words."""

    def __post_init__(self) -> None:
        """Refuse what cannot be made."""
        check_at_least("features.spelling.seed", self.seed, 0)
        for name in ("epochs", "min_count"):
            check_at_least(f"features.spelling.{name}", getattr(self, name), 1)
        check_range("features.spelling.batch_size", self.batch_size, 1, _MOST)
        for name in ("embedding_size", "hidden_size"):
            check_range(f"features.spelling.{name}", getattr(self, name), 1, WIDEST)
        _check_positive("features.spelling.learning_rate", self.learning_rate)
        check_rate("features.spelling.dropout", self.dropout)
        if not 0 < self.held_out <= 0.5:
            raise InputError(
                f"features.spelling.held_out must be above 0 and at most 0.5, not {self.held_out}"
            )


@dataclass(frozen=True, slots=True)
class FeatureConfig:
    """How everything is made that a model is given beside its text; the defaults suit two cores."""

    relations: RelationVectorConfig = field(default_factory=RelationVectorConfig)
    """Vectors of relation types and objects."""
    forms: FormVectorConfig = field(default_factory=FormVectorConfig)
    """Vectors of surface forms."""
    spelling: SpellingConfig = field(default_factory=SpellingConfig)
    """The character model of unknown words."""
