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
from lrlm.runs.sizes import AS_PUBLISHED, CHOICES, load_size
from lrlm.training.little_data import fitted, is_small

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
    direction: str | None = None

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

    def new(self, corpus: Corpus) -> RunConfig:
        """Give the configuration of a new run.

        A preset is fitted to a small corpus, but for the published one; what the caller sets comes
        after that, and a configuration that the caller made stays as it is.
        """
        if self.config is None:
            preset = self._preset()
            if not self.fits_to(corpus):
                return self._changed(preset)
            wished = self._changed(fitted(preset, corpus))
            return self._changed(fitted(preset, corpus, like=wished))
        own = self.config.model.backbone
        if self.backbone is None or self.backbone == own.name:
            return self._changed(self.config)
        backbone = self.backbone
        if isinstance(backbone, str):
            backbone = load_size(_DEFAULT_SIZE, backbone).model.backbone
        model = replace(self.config.model, backbone=backbone)
        return self._changed(replace(self.config, model=model))

    def fits_to(self, corpus: Corpus) -> bool:
        """Tell whether a new run takes a preset that is fitted to the corpus, a small one."""
        if self.config is not None or self.size_name == AS_PUBLISHED:
            return False
        return is_small(corpus, self._preset())

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

    def _preset(self) -> RunConfig:
        return load_size(self.size_name, self.backbone or _DEFAULT_BACKBONE)

    def _changed(self, config: RunConfig) -> RunConfig:
        if self.model is not None:
            config = replace(config, model=config.model.of_kind(self.model))
        if self.direction is not None:
            config = replace(config, model=replace(config.model, direction=self.direction))
        config = self.configure(config)
        if self.minutes is not None:
            config = replace(config, training=replace(config.training, minutes=self.minutes))
        return _with_backbone(config, config.model.backbone)


def _with_backbone(config: RunConfig, backbone: BackboneConfig) -> RunConfig:
    """Take a backbone whose files are found also from another working directory."""
    return replace(config, model=replace(config.model, backbone=backbone.absolute()))
