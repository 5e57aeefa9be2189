"""What the user chooses in, checked and frozen out: how each kind of feature is made."""

from dataclasses import dataclass, field

from lrlm.checks import check_at_least, check_rate
from lrlm.errors import InputError

TRAIN = "train"
"""As a source: make the vectors from the corpus itself."""

HASHED = "hashed"
"""As a source of form vectors: random projections of character n-grams, nothing to train."""

LONGEST_NGRAM = 20
"""Longer n-grams are a mistake: there are next to no words in which they occur twice."""


def _check_positive(name: str, value: float) -> None:
    """Refuse a number that is not above zero, or is no number."""
    if not 0 < value < float("inf"):
        raise InputError(f"{name} must be above 0 and finite, not {value}")


def _check_source(name: str, source: str) -> None:
    """Refuse a blank source: a path is checked when it is read."""
    if not source.strip():
        raise InputError(f"{name} is blank; give {TRAIN!r} or a path")


@dataclass(frozen=True, slots=True)
class RelationConfig:
    """How relation types and objects get their vectors."""

    source: str = TRAIN
    """"train" for TransE on the corpus's graph, or a folder with OpenKE's published vectors."""
    width: int = 100
    """Width of the vectors; published ones must have it."""
    epochs: int = 20
    """Times that TransE sees every triple."""
    batch_size: int = 1024
    """Triples in one update, each with its own negatives."""
    learning_rate: float = 0.01
    """Of Adam; it falls to zero in a straight line."""
    margin: float = 1.0
    """By how much a false triple must be farther apart than the true one (γ of TransE)."""
    norm: int = 2
    """The distance between head + relation and tail: 1 or 2 for L1 or L2."""
    negatives: int = 4
    """False triples drawn for each true one."""
    filtered: bool = True
    """Whether a false triple that is in the graph is drawn again."""
    seed: int = 1
    """Of the first vectors, the order of triples, and the false ones."""

    def __post_init__(self) -> None:
        """Refuse what cannot be made."""
        check_at_least("RelationConfig.seed", self.seed, 0)
        _check_source("RelationConfig.source", self.source)
        for name in ("width", "epochs", "batch_size", "negatives"):
            check_at_least(f"RelationConfig.{name}", getattr(self, name), 1)
        _check_positive("RelationConfig.learning_rate", self.learning_rate)
        _check_positive("RelationConfig.margin", self.margin)
        if self.norm not in (1, 2):
            raise InputError(f"RelationConfig.norm must be 1 or 2, not {self.norm}")


@dataclass(frozen=True, slots=True)
class FormConfig:
    """How surface forms get their vectors."""

    source: str = TRAIN
    """"train" for fastText on the training text, "hashed", or a published fastText `.bin` file."""
    width: int = 100
    """Width of the vectors; published ones must have it."""
    shortest_ngram: int = 3
    """Characters of the shortest n-grams; `<` and `>` around a word count."""
    longest_ngram: int = 6
    """Characters of the longest n-grams."""
    buckets: int = 50_000
    """Rows of the n-gram table, which n-grams share by their hash."""
    epochs: int = 5
    """Times that fastText reads the training text."""
    learning_rate: float = 0.05
    """Of fastText at its start; it falls to almost zero in a straight line."""
    min_count: int = 2
    """Rarer words have no vector of their own: theirs is made of their n-grams alone."""
    seed: int = 1
    """Of the first vectors and of sampling, or of the projections."""

    def __post_init__(self) -> None:
        """Refuse what cannot be made."""
        check_at_least("FormConfig.seed", self.seed, 0)
        _check_source("FormConfig.source", self.source)
        for name in ("width", "shortest_ngram", "buckets", "epochs", "min_count"):
            check_at_least(f"FormConfig.{name}", getattr(self, name), 1)
        if not self.shortest_ngram <= self.longest_ngram <= LONGEST_NGRAM:
            raise InputError(
                f"FormConfig.longest_ngram must be from FormConfig.shortest_ngram"
                f" ({self.shortest_ngram}) to {LONGEST_NGRAM}, not {self.longest_ngram}"
            )
        _check_positive("FormConfig.learning_rate", self.learning_rate)


@dataclass(frozen=True, slots=True)
class SpellingConfig:
    """How the character model of unknown words is made."""

    embedding_size: int = 32
    """Width of a character's vector."""
    hidden_size: int = 128
    """Width of the recurrent state."""
    epochs: int = 12
    """Times that the model reads every training type; the best epoch is kept."""
    batch_size: int = 256
    """Words in one update."""
    learning_rate: float = 0.004
    """Of Adam at its highest; it falls to zero along a cosine."""
    dropout: float = 0.1
    """Share of the recurrent state's values dropped before a character is predicted."""
    min_count: int = 10
    """Characters of fewer types are escaped, which teaches the model to expect new ones."""
    held_out: float = 0.05
    """Share of the types that choose the best epoch and are not trained on."""
    seed: int = 1
    """Of the first weights, the order of words, and the held-out types."""

    def __post_init__(self) -> None:
        """Refuse what cannot be made."""
        check_at_least("SpellingConfig.seed", self.seed, 0)
        for name in ("embedding_size", "hidden_size", "epochs", "batch_size", "min_count"):
            check_at_least(f"SpellingConfig.{name}", getattr(self, name), 1)
        _check_positive("SpellingConfig.learning_rate", self.learning_rate)
        check_rate("SpellingConfig.dropout", self.dropout)
        if not 0 < self.held_out <= 0.5:
            raise InputError(
                f"SpellingConfig.held_out must be above 0 and at most 0.5, not {self.held_out}"
            )


@dataclass(frozen=True, slots=True)
class FeatureConfig:
    """How everything is made that a model is given beside its text; the defaults suit two cores."""

    relations: RelationConfig = field(default_factory=RelationConfig)
    """Vectors of relation types and objects."""
    forms: FormConfig = field(default_factory=FormConfig)
    """Vectors of surface forms."""
    spelling: SpellingConfig = field(default_factory=SpellingConfig)
    """The character model of unknown words."""


MINI = FeatureConfig(
    relations=RelationConfig(width=50, epochs=30),
    forms=FormConfig(source=HASHED, width=64, buckets=16_384),
    spelling=SpellingConfig(hidden_size=96, epochs=6, batch_size=128, min_count=3),
)
"""For the embedded corpus: seconds on two cores, and no extra is needed."""

PAPER = FeatureConfig(
    relations=RelationConfig(width=100, epochs=200),
    forms=FormConfig(width=300, buckets=2_000_000),
    spelling=SpellingConfig(hidden_size=512, epochs=20, min_count=5),
)
"""The paper's widths for WikiText; for WikiFacts, `relations.width` is 50."""
