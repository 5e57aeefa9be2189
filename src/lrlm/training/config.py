"""What the user chooses in, checked and frozen out: everything that determines a run."""

from dataclasses import dataclass, field

from lrlm.checks import check_at_least, check_rate
from lrlm.errors import InputError
from lrlm.features.config import FeatureConfig
from lrlm.models import ModelConfig

PLATEAU = "plateau"
COSINE = "cosine"
SCHEDULES = (PLATEAU, COSINE)
PRECISIONS = ("auto", "float32", "bfloat16")

_LARGEST_SEED = 2**63 - 1


@dataclass(frozen=True, slots=True)
class VocabularyConfig:
    """Which words of the training text have an id; the others are spelled."""

    min_count: int = 3
    """Words seen less often in the training text are unknown."""
    size: int | None = None
    """Keep at most so many words, the most frequent ones; none for all."""

    def __post_init__(self) -> None:
        """Refuse what cannot be made."""
        check_at_least("vocabulary.min_count", self.min_count, 1)
        if self.size is not None:
            check_at_least("vocabulary.size", self.size, 1)


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """How a model is trained; the defaults are the paper's for an LSTM."""

    epochs: int = 50
    """Times that the training documents are read."""
    minutes: float | None = None
    """Stop after so many minutes of training and validating, whatever `epochs` says."""
    batch_size: int = 60
    """Documents that are read side by side for one update, by all processes together."""
    accumulate: int = 1
    """Parts that each process cuts its share of a batch into, so that less memory is needed."""
    window: int = 150
    """Tokens of each document that one update learns from (truncated backpropagation)."""
    schedule: str = PLATEAU
    """"plateau": go back to the best epoch and lower the rate; "cosine": warm up, then anneal."""
    learning_rate: float = 0.001
    """Of Adam, at its highest."""
    decay: float = 0.9
    """What the rate is multiplied by when an epoch has not improved validation (plateau)."""
    patience: int | None = None
    """Stop after so many epochs in a row that have not improved; none to go on."""
    warm_up: int = 6000
    """Updates until the rate is at its highest, but at most a tenth of all training (cosine)."""
    clip: float = 1.0
    """Longest gradient of one update; a longer one is scaled down."""
    weight_decay: float = 0.0
    """Share of the weights, times the rate, that each update takes away."""
    seed: int = 1
    """Of the first weights, of what is dropped, and of the order of the documents."""
    precision: str = "auto"
    """float32, bfloat16 where that is safe, or auto: bfloat16 on devices that are made for it."""
    device: str = "auto"
    """cpu, cuda, cuda:1 …, or auto: cuda where there is one."""
    validation_batch_size: int = 60
    """Documents that are scored side by side."""
    log_updates: int = 20
    """Updates between two lines of metrics."""
    checkpoint_minutes: float = 5.0
    """Minutes between two checkpoints; there is also one at the end of every epoch."""
    timeout_minutes: float = 10.0
    """How long a process waits for the others before it takes them for dead."""

    def __post_init__(self) -> None:
        """Refuse what cannot be done."""
        for name in (
            "epochs", "batch_size", "accumulate", "window", "validation_batch_size", "log_updates",
        ):  # fmt: skip
            check_at_least(f"training.{name}", getattr(self, name), 1)
        for name in ("learning_rate", "clip", "checkpoint_minutes", "timeout_minutes"):
            _check_positive(f"training.{name}", getattr(self, name))
        if self.minutes is not None:
            _check_positive("training.minutes", self.minutes)
        if self.patience is not None:
            check_at_least("training.patience", self.patience, 1)
        check_at_least("training.warm_up", self.warm_up, 0)
        check_rate("training.weight_decay", self.weight_decay)
        if not 0 < self.decay <= 1:
            raise InputError(f"training.decay must be above 0 and at most 1, not {self.decay}")
        if not 0 <= self.seed <= _LARGEST_SEED:
            raise InputError(f"training.seed must be from 0 to 2^63 - 1, not {self.seed}")
        _check_one_of("training.schedule", self.schedule, SCHEDULES)
        _check_one_of("training.precision", self.precision, PRECISIONS)


@dataclass(frozen=True, slots=True)
class RunConfig:
    """Everything that determines a run; with the corpus it determines every weight."""

    vocabulary: VocabularyConfig = field(default_factory=VocabularyConfig)
    features: FeatureConfig = field(default_factory=FeatureConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)

    def __post_init__(self) -> None:
        """Refuse parts that do not fit together."""
        given = self.features.relations.width
        for name in ("type_size", "object_size"):
            wanted = getattr(self.model.relations, name)
            if wanted != given:
                raise InputError(
                    f"vectors of the wrong width: features.relations.width is {given}, but"
                    f" model.relations.{name} is {wanted}; set both to the same"
                )


def _check_positive(name: str, value: float) -> None:
    if not 0 < value < float("inf"):
        raise InputError(f"{name} must be above 0 and finite, not {value}")


def _check_one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InputError(f"{name} must be one of {', '.join(known)}, not {value!r}")
