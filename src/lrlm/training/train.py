"""A corpus and settings in, a run folder with a trained model out: `lrlm train`."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch

from lrlm.artifacts import new_folder, replace_file, sole_writer
from lrlm.corpora.corpus import Corpus
from lrlm.errors import InputError
from lrlm.features import make_features
from lrlm.heads import measure_softmax_cost
from lrlm.progress import Progress
from lrlm.training.checkpoint import Checkpoints
from lrlm.training.config import RunConfig
from lrlm.training.data import (
    SPLITS,
    SpelledWords,
    encode_split,
    require_splits,
    unknown_words,
)
from lrlm.training.devices import choose_device
from lrlm.training.interruption import watched
from lrlm.training.loop import Trainer
from lrlm.training.metrics import FILE as METRICS
from lrlm.training.metrics import Metrics, require_tensorboard
from lrlm.training.processes import Processes, is_first, joined
from lrlm.training.run import (
    CHECKPOINTS,
    Setting,
    corpus_fingerprint,
    read_run_config,
    read_run_manifest,
    read_setting,
    write_config,
    write_setting,
    write_weights,
)
from lrlm.training.settings import described
from lrlm.training.shares import Documents
from lrlm.training.sizes import BACKBONES, change, load_size
from lrlm.training.standing import Position, Reporter
from lrlm.training.surroundings import Surroundings

CAN_CHANGE = (
    "training.epochs",
    "training.minutes",
    "training.patience",
    "training.device",
    "training.validation_batch_size",
    "training.log_updates",
    "training.checkpoint_minutes",
    "training.timeout_minutes",
)
"""Settings that a run can be resumed with another value of."""


@dataclass(frozen=True)
class Wishes:
    """What the user asked for; None where nothing was said."""

    kind: str | None = None
    backbone: str | None = None
    size: str | None = None
    settings: Sequence[str] = ()
    """Each as `key=value`."""
    minutes: float | None = None

    def all_settings(self) -> list[str]:
        """Give all settings, the minutes among them."""
        return [
            *([] if self.kind is None else [f"model.kind={self.kind}"]),
            *self.settings,
            *([] if self.minutes is None else [f"training.minutes={self.minutes}"]),
        ]


@dataclass(frozen=True)
class Listeners:
    """Who is told how it goes."""

    preparing: Progress = lambda _what, _done, _total: None
    training: Reporter = field(default_factory=Reporter)


@dataclass(frozen=True)
class Outcome:
    """What became of a run."""

    folder: Path
    position: Position
    best_nats_per_token: float | None
    is_first: bool = True
    """Whether this process is the one that speaks for all."""


def train(
    corpus_folder: Path | str,
    out: Path | str,
    wishes: Wishes,
    *,
    resume: bool = False,
    features_cache: Path | None = None,
    board: bool = False,
    listeners: Listeners | None = None,
) -> Outcome:
    """Train a model on a corpus, or go on with a run that was stopped.

    With `resume`, a run that is there goes on as if it had never been stopped, and one that is
    not there is started. Features are looked for in `features_cache` before they are made; None
    stands for the user's own cache.
    """
    out, listeners = Path(out), listeners or Listeners()
    corpus = Corpus(corpus_folder)
    require_splits(corpus)
    if board:
        require_tensorboard()
    is_there = out.exists() and (not out.is_dir() or any(out.iterdir()))
    if is_there and not resume and is_first():  # the others may come after the first made it
        raise InputError(
            f"{out} exists already; choose another place, or go on with that run with --resume"
        )
    goes_on = is_there and resume
    config = _resumed_config(out, corpus, wishes) if goes_on else _new_config(wishes)
    device = choose_device(config.training.device)
    with joined(device, timeout_minutes=config.training.timeout_minutes) as processes:
        with processes.first_before_others():
            if processes.is_first and not is_there:
                _start(
                    out,
                    corpus,
                    config,
                    wishes,
                    device=device,
                    features_cache=features_cache or user_cache(),
                    progress=listeners.preparing,
                )
            setting = read_setting(out)
        setting = replace(setting, config=replace(setting.config, training=config.training))
        with ExitStack() as stack:
            if processes.is_first:
                stack.enter_context(sole_writer(out / ".lock", out))
                write_config(out, setting.config)
            return _train(
                out,
                corpus,
                setting,
                processes=processes,
                device=device,
                listeners=listeners,
                board=board,
            )


def user_cache() -> Path:
    """Where features are kept if nothing else is said."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "lrlm" / "features"


def _new_config(wishes: Wishes) -> RunConfig:
    config = load_size(wishes.size or "mini", wishes.backbone or "lstm")
    return change(config, wishes.all_settings())


def list_of_settings(wishes: Wishes) -> Iterator[tuple[str, str, str]]:
    """Give every setting with its value and what it means."""
    return described(_new_config(wishes), BACKBONES)


def _resumed_config(out: Path, corpus: Corpus, wishes: Wishes) -> RunConfig:
    """Take the run's own configuration; what must not change may be said again, but the same."""
    manifest = read_run_manifest(out)
    if manifest["corpus"]["fingerprint"] != corpus_fingerprint(corpus):
        raise InputError(
            f"{out} was started on another corpus than {corpus.folder}; start a new run"
        )
    before = read_run_config(out)
    for name, wish in (("backbone", wishes.backbone), ("size", wishes.size)):
        if wish is not None and wish != manifest[name]:
            raise InputError(
                f"{out} was started with --{name} {manifest[name]}, not {wish}; start a new run"
            )
    after = change(before, wishes.all_settings())
    values = {key: value for key, value, _ in described(before, BACKBONES)}
    for key, value, _ in described(after, BACKBONES):
        if value != values[key] and key not in CAN_CHANGE:
            raise InputError(
                f"{out} was started with {key}={values[key]}, which cannot become {value} later;"
                " start a new run"
            )
    return after


def _start(
    out: Path,
    corpus: Corpus,
    config: RunConfig,
    wishes: Wishes,
    *,
    device: torch.device,
    features_cache: Path,
    progress: Progress,
) -> None:
    """Make the run's folder with everything but the weights; it is there whole or not at all."""
    out.absolute().parent.mkdir(parents=True, exist_ok=True)
    with new_folder(out) as draft:
        features = make_features(corpus, config.features, features_cache, progress=progress)
        progress("writing the run", 0, 0)
        # On CPUs the usual cost is taken: two runs there have the same clusters.
        is_cpu = device.type == "cpu"
        write_setting(
            draft,
            corpus,
            config,
            features,
            softmax_cost=None if is_cpu else measure_softmax_cost(str(device)),
            made_by="lrlm train",
            backbone=wishes.backbone or "lstm",
            size=wishes.size or "mini",
        )


def _train(
    out: Path,
    corpus: Corpus,
    setting: Setting,
    *,
    processes: Processes,
    device: torch.device,
    listeners: Listeners,
    board: bool,
) -> Outcome:
    documents = _read_documents(corpus, setting, listeners.preparing)
    config = setting.config.training
    with torch.random.fork_rng():
        torch.manual_seed(config.seed)
        model = setting.new_model().to(device)
        checkpoints = Checkpoints(out / CHECKPOINTS)
        checkpoint = None
        with processes.first_before_others():
            checkpoint = checkpoints.read(listeners.training.message)
        with ExitStack() as stack:
            metrics = None
            if processes.is_first:
                replace_file(out / METRICS, b"" if checkpoint is None else checkpoint.metrics)
                metrics = Metrics(out / METRICS, board=out / "tensorboard" if board else None)
                stack.callback(metrics.close)
            surroundings = Surroundings(
                device=device,
                processes=processes,
                interruption=stack.enter_context(watched()),
                reporter=listeners.training,
                checkpoints=checkpoints,
                metrics=metrics,
                keep_best=lambda weights: write_weights(out, weights),
            )
            trainer = Trainer(
                model, documents, setting.collator(), config, surroundings=surroundings
            )
            if checkpoint is not None:
                trainer.restore(checkpoint)
            position = trainer.run()
    return Outcome(out, position, trainer.schedule.best, processes.is_first)


def _read_documents(
    corpus: Corpus, setting: Setting, progress: Progress
) -> tuple[Documents, Documents]:
    """Encode what is trained on and validated with."""
    unknown: set[str] = set()
    for split in SPLITS:
        unknown |= unknown_words(corpus, setting.vocabulary, split)
    progress("spelling unknown words", 0, 0)
    encoder = replace(setting.encoder(), speller=SpelledWords(setting.speller, unknown))
    train_documents, valid_documents = (
        Documents.of(
            encode_split(corpus, split, encoder, progress=progress),
            window=setting.config.training.window,
        )
        for split in SPLITS
    )
    return train_documents, valid_documents
