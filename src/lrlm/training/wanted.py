"""What somebody who trains a model asked for, and the configuration that follows from it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from lrlm.backbones import BackboneConfig
from lrlm.corpora import Corpus
from lrlm.errors import InputError
from lrlm.runs.config import RunConfig
from lrlm.runs.run import read_run_config, read_run_manifest
from lrlm.runs.settings import described
from lrlm.runs.sizes import CHOICES, load_size

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

_DEFAULT_BACKBONE, _DEFAULT_SIZE, _OWN_SIZE = "lstm", "mini", "own"


@dataclass(frozen=True)
class WantedRun:
    """What the caller asked for; None where nothing was said."""

    model: str | None
    backbone: str | BackboneConfig | None
    size: str | None
    config: RunConfig | None
    configure: Callable[[RunConfig], RunConfig]
    minutes: float | None

    @property
    def backbone_name(self) -> str:
        """What the manifest calls the backbone."""
        if isinstance(self.backbone, str):
            return self.backbone
        own = None if self.config is None else self.config.model.backbone
        chosen = self.backbone or own
        return _DEFAULT_BACKBONE if chosen is None else chosen.name

    @property
    def size_name(self) -> str:
        """What the manifest calls the size."""
        return self.size or (_DEFAULT_SIZE if self.config is None else _OWN_SIZE)

    def new(self) -> RunConfig:
        """Give the configuration of a new run."""
        if self.config is None:
            size, backbone = self.size or _DEFAULT_SIZE, self.backbone or _DEFAULT_BACKBONE
            return self._changed(load_size(size, backbone))
        own = self.config.model.backbone
        if self.backbone is None or self.backbone == own.name:
            return self._changed(self.config)
        backbone = self.backbone
        if isinstance(backbone, str):
            backbone = load_size(_DEFAULT_SIZE, backbone).model.backbone
        model = replace(self.config.model, backbone=backbone)
        return self._changed(replace(self.config, model=model))

    def resumed(self, out: Path, corpus: Corpus) -> RunConfig:
        """Take the run's own configuration; what must not change may be given again, the same."""
        manifest = read_run_manifest(out)
        if manifest["corpus"]["fingerprint"] != corpus.fingerprint:
            raise InputError(
                f"{out} was started on another corpus than {corpus.folder}; start a new run"
            )
        before = read_run_config(out)
        for what, name, is_given in (
            ("backbone", self.backbone_name, self.backbone is not None),
            ("size", self.size_name, self.size is not None),
        ):
            if is_given and name != manifest[what]:
                raise InputError(
                    f"{out} was started with the {what} {manifest[what]}, not {name}; start a new"
                    " run"
                )
        after = self._changed(before if self.config is None else self.config)
        if isinstance(self.backbone, BackboneConfig):
            after = _with_backbone(after, self.backbone)
        words = after.model.words.as_fitted(before.model.words)
        after = replace(after, model=replace(after.model, words=words))
        values = {key: value for key, value, _ in described(before, CHOICES)}
        for key, value, _ in described(after, CHOICES):
            if value != values.get(key) and key not in CAN_CHANGE:
                raise InputError(
                    f"{out} was started with {key}={values.get(key)}, which cannot become {value}"
                    " later; start a new run"
                )
        return after

    def _changed(self, config: RunConfig) -> RunConfig:
        if self.model is not None:
            config = replace(config, model=replace(config.model, kind=self.model))
        config = self.configure(config)
        if self.minutes is not None:
            config = replace(config, training=replace(config.training, minutes=self.minutes))
        return _with_backbone(config, config.model.backbone)


def _with_backbone(config: RunConfig, backbone: BackboneConfig) -> RunConfig:
    """Take a backbone whose files are found also from another working directory."""
    return replace(config, model=replace(config.model, backbone=backbone.absolute()))
