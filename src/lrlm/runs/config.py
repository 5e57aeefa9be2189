"""The configuration of a run: everything that, with the corpus, determines every weight."""

from dataclasses import dataclass, field

from lrlm.backbones import BackboneConfig
from lrlm.checks import check_at_least, check_range, check_rate
from lrlm.errors import InputError
from lrlm.features.config import FeatureConfig
from lrlm.models import ModelConfig
from lrlm.runs.token_spaces import TokenSpaceConfig, VocabularyConfig

PLATEAU = "plateau"
COSINE = "cosine"
SCHEDULES = (PLATEAU, COSINE)
ADAM = "adam"
MUON = "muon"
OPTIMISERS = (ADAM, MUON)
PRECISIONS = ("auto", "float32", "bfloat16", "fastest")

_MOST = 1_000_000
"""Documents of a batch, or tokens of a window."""
_LARGEST_SEED = 2**63 - 1


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """How a model is trained; the defaults are the paper's for an LSTM."""

    epochs: int = 50
    """How many times the training documents are read."""
    minutes: float | None = None
    """Stop after this many minutes of training and validation, whatever `epochs` says; making
    features and reading the corpus are not counted."""
    batch_size: int = 60
    """Documents in a batch, of all processes together."""
    accumulate: int = 1
    """Parts that each process cuts its share of a batch into, to need less memory (gradient
    accumulation)."""
    window: int = 150
    """Tokens of each document that one update learns from (truncated backpropagation)."""
    schedule: str = PLATEAU
    """How the learning rate changes. plateau: go back to the best epoch and lower it; cosine: warm
    up, then anneal to zero."""
    optimiser: str = ADAM
    """What turns gradients into updates. adam: the paper's; muon: the matrices between layers learn
    with Muon, all else with Adam."""
    learning_rate: float = 0.001
    """Learning rate at its peak."""
    decay: float = 0.9
    """What the learning rate is multiplied by when an epoch has not improved validation
    (plateau)."""
    patience: int | None = None
    """Stop after this many epochs in a row without improvement; none to go on."""
    warm_up: int = 6000
    """Updates until the learning rate is at its peak, at most a tenth of all training (cosine)."""
    clip: float = 1.0
    """Largest norm of the gradient of one update; a larger gradient is scaled down."""
    weight_decay: float = 0.0
    """Weight decay, apart from the gradient (AdamW)."""
    dropout_epochs: int = 1
    """Epochs over which dropout grows evenly to what it is set to; with 1 it has that from the
    start."""
    seed: int = 1
    """Seed of the initial weights, of dropout, and of the order of the documents."""
    precision: str = "auto"
    """float32, bfloat16 where that is safe, auto: bfloat16 on GPUs that support it, or fastest:
    also on CPUs that multiply faster in it."""
    device: str = "auto"
    """cpu, cuda, cuda:1 …, or auto: cuda where there is one."""
    validation_batch_size: int = 60
    """Documents in a batch of validation and evaluation."""
    validation_documents: int | None = None
    """Validate with the first so many documents of the validation split; none for all."""
    log_updates: int = 20
    """Updates between two lines of metrics."""
    checkpoint_minutes: float = 5.0
    """Minutes between two checkpoints; there is also one at the end of every epoch."""
    timeout_minutes: float = 10.0
    """How many minutes a process waits for the others before it gives up."""

    def __post_init__(self) -> None:
        """Refuse what cannot be done."""
        for name in ("epochs", "log_updates", "dropout_epochs"):
            check_at_least(f"training.{name}", getattr(self, name), 1)
        for name in ("batch_size", "accumulate", "window", "validation_batch_size"):
            check_range(f"training.{name}", getattr(self, name), 1, _MOST)
        for name in ("learning_rate", "clip", "checkpoint_minutes", "timeout_minutes"):
            _check_positive(f"training.{name}", getattr(self, name))
        if self.minutes is not None:
            _check_positive("training.minutes", self.minutes)
        for name in ("patience", "validation_documents"):
            if getattr(self, name) is not None:
                check_at_least(f"training.{name}", getattr(self, name), 1)
        check_at_least("training.warm_up", self.warm_up, 0)
        check_rate("training.weight_decay", self.weight_decay)
        if not 0 < self.decay <= 1:
            raise InputError(f"training.decay must be above 0 and at most 1, not {self.decay}")
        if not 0 <= self.seed <= _LARGEST_SEED:
            raise InputError(f"training.seed must be from 0 to 2^63 - 1, not {self.seed}")
        _check_one_of("training.optimiser", self.optimiser, OPTIMISERS)
        _check_one_of("training.schedule", self.schedule, SCHEDULES)
        _check_one_of("training.precision", self.precision, PRECISIONS)


@dataclass(frozen=True, slots=True)
class RunConfig:
    """Everything that determines a run; with the corpus it determines every weight.

    `lrlm.train(config=…)` takes one; the defaults are the paper's. Values are checked as soon as
    the configuration is made.

    >>> from dataclasses import replace
    >>> config = RunConfig()
    >>> config.training.batch_size, config.model.backbone
    (60, LstmConfig(layers=2, hidden_size=1000, dropout=0.5))
    >>> quick = replace(config, training=replace(config.training, epochs=3))
    >>> replace(quick.training, epochs=0)
    Traceback (most recent call last):
    lrlm.errors.InputError: training.epochs must be at least 1, not 0
    """

    vocabulary: TokenSpaceConfig = field(default_factory=VocabularyConfig)
    """What a token is, and which tokens have an id."""
    features: FeatureConfig = field(default_factory=FeatureConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)

    @classmethod
    def of_size(cls, size: str, *, backbone: str | BackboneConfig = "lstm") -> "RunConfig":
        """Give the configuration of a size: mini, cpu or paper, for a backbone.

        >>> config = RunConfig.of_size("mini", backbone="lstm")
        >>> config.training.schedule
        'cosine'
        """
        from lrlm.runs.sizes import load_size  # which reads configurations of this class

        return load_size(size, backbone)

    def __post_init__(self) -> None:
        """Refuse parts that do not fit together."""
        if self.model.relations.names:
            return
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
