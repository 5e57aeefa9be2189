"""Train a model on a corpus, or resume training that was stopped."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import torch

from lrlm.artifacts import MANIFEST, new_folder, sole_writer
from lrlm.backbones import BackboneConfig, register_backbone
from lrlm.corpora import Corpus
from lrlm.errors import ExistsError, InputError, LrlmError, StoppedError
from lrlm.features import make_features
from lrlm.heads import measure_softmax_cost, register_token_layers
from lrlm.look import counted
from lrlm.models import LanguageModel
from lrlm.progress import Progress, silent
from lrlm.runs.config import RunConfig
from lrlm.runs.devices import Precision, choose_device, is_first
from lrlm.runs.run import (
    CHECKPOINTS,
    METRICS,
    RunSetup,
    read_setup,
    weights_of,
    write_config,
    write_setup,
    write_weights,
)
from lrlm.runs.token_spaces import register_token_space
from lrlm.text import perplexity_per_word
from lrlm.training.advice import Advice, Course, advise
from lrlm.training.batch_plan import SplitDocuments
from lrlm.training.checkpoint import Checkpoints
from lrlm.training.environment import Position, Reporter, TrainingEnvironment
from lrlm.training.interruption import watched
from lrlm.training.loop import Trainer
from lrlm.training.metrics import Metrics, require_tensorboard
from lrlm.training.processes import Launcher, Processes, joined
from lrlm.training.reading_once import read_once
from lrlm.training.validation import validate
from lrlm.training.wanted import WantedRun
from lrlm.whole_files import is_disk_full, replace_file

SPLITS = ("train", "valid")
"""What training reads."""


@dataclass(frozen=True)
class TrainedRun:
    """What became of training; it stands for its folder, as in `lrlm.load(run)`.

    >>> run = lrlm.train("corpus", "runs/quick", minutes=1)
    >>> run.folder, run.position.epoch > 0, run.perplexity > 1
    (PosixPath('runs/quick'), True, True)
    """

    folder: Path
    position: Position
    """How far training came: epochs, updates, tokens, seconds."""
    perplexity: float | None
    """The best validation perplexity, per word; None where there was no validation."""
    is_first: bool = True
    """Whether this process is the one of several that speaks for all."""
    advice: tuple[Advice, ...] = ()
    """What to try next, the most important first."""

    def __fspath__(self) -> str:
        return str(self.folder)


def train(
    corpus: Corpus | Path | str,
    out: Path | str,
    *,
    model: str | None = None,
    backbone: str | BackboneConfig | None = None,
    size: str | None = None,
    direction: str | None = None,
    config: RunConfig | None = None,
    configure: Callable[[RunConfig], RunConfig] = lambda config: config,
    minutes: float | None = None,
    resume: bool = False,
    features_cache: Path | str | None = None,
    tensorboard: bool = False,
    progress: Progress = silent,
    reporter: Reporter | None = None,
) -> TrainedRun:
    """Train a model on a corpus, or resume a run that was stopped.

    `model` is vanilla, alias, prompted, nklm, lrlm (the default), or lrlm+, an LRLM with settings
    beyond the paper; `backbone` is lstm (the default), transformer-xl, or the configuration of any
    backbone, also of your own. All other settings come from `size`, which is mini (the default),
    cpu or paper, or from `config`, which gives every one of them; a backbone that is named beside
    it has the settings of mini. With
    `direction="backward"` the model reads texts from the last word to the first, to be a second
    reader beside one that reads forward (see `lrlm.load`). `configure` changes settings of what was
    chosen (it may be asked twice), and `minutes` bounds the time of training.
    The sizes mini and cpu are fitted to small corpora: a dozen articles are read in smaller batches
    and more often than a thousand, unless `configure` says otherwise.

    With `resume`, a run that exists continues as if it had never been stopped, and one that does
    not exist is started. Features are looked for in `features_cache` before they are made; by
    default that is the user's own cache. `progress` is told how far preparation and training are;
    `reporter` gets losses and messages too.

    >>> run = lrlm.train("corpus", "runs/mine", model="lrlm", size="mini", minutes=1)
    >>> lrlm.load(run)
    Model('runs/mine', kind='lrlm')

    Settings are changed as values:

    >>> from dataclasses import replace
    >>> def slower(config):
    ...     return replace(config, training=replace(config.training, learning_rate=0.001))
    >>> run = lrlm.train("corpus", "runs/slower", configure=slower, minutes=1)

    and a run that was stopped is resumed:

    >>> run = lrlm.train("corpus", "runs/slower", resume=True, minutes=1)
    """
    out = Path(out)
    corpus = corpus if isinstance(corpus, Corpus) else Corpus.open(corpus)
    corpus.require(SPLITS)
    if config is not None and size is not None:
        raise InputError("give either a size or a whole configuration: both hold every setting")
    if isinstance(backbone, BackboneConfig):
        register_backbone(type(backbone))
    if config is not None:
        _register(config)
    if tensorboard:
        require_tensorboard()
    wanted = WantedRun(model, backbone, size, config, configure, minutes, direction)
    is_there = out.exists() and (not out.is_dir() or any(out.iterdir()))
    if is_there and not resume and is_first():  # the others may come after the first made it
        raise ExistsError(f"{out} exists already; choose another folder, or resume that run")
    goes_on = is_there and resume
    chosen = wanted.resumed(out, corpus) if goes_on else wanted.new(corpus)
    _register(chosen)
    cache = Path(features_cache or user_cache())
    device = choose_device(chosen.training.device)
    launcher = Launcher()
    with (
        launcher.outlived_briefly(),
        _full_disk_told(out),
        joined(device, timeout_minutes=chosen.training.timeout_minutes) as processes,
    ):
        with processes.first_before_others():
            if processes.is_first and not is_there:
                _start(
                    out,
                    corpus,
                    chosen,
                    wanted,
                    device=device,
                    features_cache=cache,
                    progress=progress,
                )
            setup = read_setup(out)
        if processes.is_first and not is_there:
            _tell_fit(chosen, corpus, wanted, reporter or Reporter())
        setup = replace(setup, config=replace(setup.config, training=chosen.training))
        with ExitStack() as stack:
            if processes.is_first:
                stack.enter_context(sole_writer(out / ".lock", out))
                write_config(out, setup.config)
            return _train(
                out,
                corpus,
                setup,
                processes=processes,
                launcher=launcher,
                device=device,
                tensorboard=tensorboard,
                cache=cache,
                progress=progress,
                reporter=reporter or _forwarded(progress),
            )


def _tell_fit(config: RunConfig, corpus: Corpus, wanted: WantedRun, reporter: Reporter) -> None:
    """Say so where a preset was fitted to a small corpus."""
    if wanted.fits_to(corpus):
        documents = counted(int(corpus.statistics("train")["documents"]), "training text")
        reporter.message(
            f"{documents}: training.batch_size={config.training.batch_size},"
            f" training.epochs={config.training.epochs}"
        )


@contextmanager
def _full_disk_told(out: Path) -> Iterator[None]:
    """Say that a run can be resumed, if it was there when the disk became full."""
    try:
        yield
    except (OSError, LrlmError) as error:
        if not is_disk_full(error) or not (out / MANIFEST).exists():
            raise
        raise StoppedError(
            f"the disk is full: there is no room left to write to {out}; what was saved before is"
            " kept, and the run can be resumed once there is room"
        ) from error


def user_cache() -> Path:
    """Give the folder where features are kept if no other is named."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "lrlm" / "features"


def _register(config: RunConfig) -> None:
    """Let the run's configuration name parts of the caller's own."""
    register_backbone(type(config.model.backbone))
    register_token_layers(type(config.model.words))
    register_token_space(type(config.vocabulary))


def _forwarded(progress: Progress) -> Reporter:
    """Tell progress alone how training goes."""
    return Reporter(
        status=lambda now: progress(f"training, epoch {now.epoch}", round(1000 * now.share), 1000)
    )


def _start(
    out: Path,
    corpus: Corpus,
    config: RunConfig,
    wanted: WantedRun,
    *,
    device: torch.device,
    features_cache: Path,
    progress: Progress,
) -> None:
    """Make the run's folder with everything but the weights; it is there whole or not at all."""
    out.absolute().parent.mkdir(parents=True, exist_ok=True)
    with new_folder(out) as draft:
        features = make_features(
            corpus,
            config.features,
            features_cache,
            relations=not config.model.relations.names,
            spelling=config.vocabulary.needs_spelling,
            progress=progress,
        )
        progress("writing the run", 0, 0)
        # On CPUs the usual cost is taken: two runs there have the same clusters.
        is_cpu = device.type == "cpu"
        write_setup(
            draft,
            corpus,
            config,
            features,
            softmax_cost=None if is_cpu else measure_softmax_cost(str(device)),
            made_by="lrlm train",
            backbone=wanted.backbone_name,
            size=wanted.size_name,
        )


def _train(
    out: Path,
    corpus: Corpus,
    setup: RunSetup,
    *,
    processes: Processes,
    launcher: Launcher,
    device: torch.device,
    tensorboard: bool,
    cache: Path,
    progress: Progress,
    reporter: Reporter,
) -> TrainedRun:
    documents = _read_documents(corpus, setup, progress, reporter.message)
    config, backbone = setup.config.training, setup.config.model.backbone
    with torch.random.fork_rng():
        torch.manual_seed(config.seed)
        model = setup.first_model().to(device)
        checkpoints = Checkpoints(out / CHECKPOINTS)
        checkpoint = None
        with processes.first_before_others():
            checkpoint = checkpoints.read(reporter.message)
        with ExitStack() as stack:
            metrics = None
            if processes.is_first:
                replace_file(out / METRICS, b"" if checkpoint is None else checkpoint.metrics)
                board = out / "tensorboard" if tensorboard else None
                metrics = Metrics(out / METRICS, board=board)
                stack.callback(metrics.close)
            environment = TrainingEnvironment(
                device=device,
                processes=processes,
                interruption=stack.enter_context(watched(is_orphaned=lambda: launcher.is_gone)),
                reporter=reporter,
                checkpoints=checkpoints,
                metrics=metrics,
                keep_best=lambda weights: write_weights(out, weights),
            )
            if not backbone.learns:
                documents, config = read_once(
                    out,
                    corpus,
                    setup,
                    model,
                    documents,
                    cache=cache,
                    environment=environment,
                    progress=progress,
                )
            if not weights_of(model):
                return _nothing_to_learn(out, setup, model, documents[1], environment)
            trainer = Trainer(
                model,
                documents,
                setup.collator(),
                config,
                backbone_rate=backbone.learning_rate_share,
                environment=environment,
            )
            if checkpoint is not None:
                trainer.restore(checkpoint)
            position = trainer.run()
    best = trainer.schedule.best
    advice: tuple[Advice, ...] = ()
    if processes.is_first:
        course = Course.read(out / METRICS, updates=position.updates, epochs=position.epoch)
        advice = advise(setup.config, course, corpus)
    return TrainedRun(
        out,
        position,
        None if best is None else perplexity_per_word(best, 1),
        processes.is_first,
        advice,
    )


def _nothing_to_learn(
    out: Path,
    setup: RunSetup,
    model: LanguageModel,
    valid: SplitDocuments,
    environment: TrainingEnvironment,
) -> TrainedRun:
    """Validate a language model that is used as it is, and write a run without weights of its own.

    That is a pretrained one that does not learn, in a model that adds nothing to it.
    """
    config = setup.config.training
    validation = validate(
        model,
        valid,
        setup.collator(),
        batch_size=config.validation_batch_size,
        precision=Precision(config.precision, environment.device, model),
        processes=environment.processes,
        device=environment.device,
        is_unwanted=lambda: environment.interruption.is_wanted,
    )
    if validation is None:
        raise StoppedError(f"stopped by {environment.interruption.reason} while validating")
    if environment.processes.is_first:
        write_weights(out, {})
    environment.reporter.message(
        f"nothing is trained: {model.label} uses the language model as it is; validation perplexity"
        f" {validation.perplexity:.2f}"
    )
    return TrainedRun(out, Position(), validation.perplexity, environment.processes.is_first)


def _read_documents(
    corpus: Corpus, setup: RunSetup, progress: Progress, message: Callable[[str], None]
) -> tuple[SplitDocuments, SplitDocuments]:
    """Encode what is trained on and validated with."""
    if setup.space.unknown_id is not None:
        progress("spelling unknown words", 0, 0)
    space = setup.space.prepared_for(corpus.distinct_words(SPLITS))
    encoder = replace(setup.encoder(), space=space)

    def read(split: str, most: int | None = None) -> SplitDocuments:
        total = int(corpus.statistics(split)["documents"])
        documents = []
        for document in encoder.encode(islice(corpus.documents(split), most)):
            documents.append(document)
            if len(documents) % 256 == 0:
                progress(f"reading {split}", len(documents), total)
        return SplitDocuments.of(documents, window=setup.config.training.window)

    train, valid = read("train"), read("valid", most=setup.config.training.validation_documents)
    left_out = [each for split in (train, valid) for each in split.documents if each.left_out_facts]
    if left_out:
        message(
            "not read before the texts, for lack of room:"
            f" {counted(sum(each.left_out_facts for each in left_out), 'fact')} of"
            f" {counted(len(left_out), 'topic')} (model.preface.most_tokens)"
        )
    return train, valid
