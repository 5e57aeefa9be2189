"""A run folder in, a model that is ready to use out: it carries all that it needs.

manifest.json         what made it, from which corpus, how texts are linked
config.toml           every value that determines the run
vocabulary.json       words with an id
features/             vectors of relations and forms, the spelling model
weights.safetensors   the best weights so far
metrics.jsonl         losses and validations
checkpoints/          where training goes on from; not needed to use the model
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from lrlm.artifacts import (
    DRAFT,
    MANIFEST,
    fingerprint,
    move_into_place,
    read_manifest,
    replace_file,
    write_manifest,
)
from lrlm.batching import Collator, Encoder
from lrlm.corpora import LetterCase, LinkOptions
from lrlm.corpora.corpus import SPLITS, WORDS, Corpus
from lrlm.errors import FormatError, InputError
from lrlm.features import Features
from lrlm.features.spelling import UnknownWordSpeller, log_unknown_mass
from lrlm.heads import SoftmaxCost
from lrlm.models import LanguageModel, build_model, with_cutoffs
from lrlm.tensor_files import write_tensors
from lrlm.text import Profile, Vocabulary
from lrlm.training.config import RunConfig
from lrlm.training.optimiser import copy_into, weights_of
from lrlm.training.settings import to_toml
from lrlm.training.sizes import BACKBONES, read_config

FORMAT = "lrlm run"
VERSION = 1
CONFIG = "config.toml"
VOCABULARY = "vocabulary.json"
FEATURES = "features"
WEIGHTS = "weights.safetensors"
CHECKPOINTS = "checkpoints"

_HINT = "make one with 'lrlm train'"


@dataclass(frozen=True)
class Setting:
    """What a run's model reads and is built from; everything but the weights."""

    manifest: Mapping[str, Any]
    config: RunConfig
    vocabulary: Vocabulary
    features: Features
    speller: UnknownWordSpeller

    @property
    def link_options(self) -> LinkOptions:
        """How the corpus was linked: another text must be linked in the same way."""
        return _link_options(self.manifest)

    def encoder(self) -> Encoder:
        """Give what turns linked documents into numbers."""
        return Encoder(
            self.vocabulary,
            self.speller,
            self.features.relations.type_ids,
            self.features.relations.object_ids,
            longest_copy=self.config.model.positions,
        )

    def collator(self) -> Collator:
        """Give what turns encoded documents into windows."""
        return Collator(
            self.vocabulary.end_id, self.features.featuriser, size=self.config.training.window
        )

    def new_model(self) -> LanguageModel:
        """Build the model with fresh weights."""
        return build_model(
            self.config.model,
            word_counts=self.vocabulary.counts,
            types=len(self.features.relations.types),
            form_feature_size=self.features.featuriser.width,
            type_vectors=self.features.relations.types_KD,
            object_vectors=self.features.relations.objects_OD,
        )


def write_setting(
    folder: Path,
    corpus: Corpus,
    config: RunConfig,
    features: Features,
    *,
    softmax_cost: SoftmaxCost | None = None,
    **made_from: Any,
) -> None:
    """Fill a new run folder with everything but the weights.

    Clusters of words that the configuration leaves open are chosen by what a softmax costs.
    """
    vocabulary = cut_vocabulary(corpus, config)
    model = with_cutoffs(config.model, vocabulary.counts, softmax_cost)
    write_config(folder, replace(config, model=model))
    (folder / VOCABULARY).write_text(vocabulary.to_json(), encoding="utf-8")
    features.save(folder / FEATURES)
    assert features.speller is not None
    write_manifest(
        folder,
        format=FORMAT,
        version=VERSION,
        **made_from,
        corpus={"name": corpus.folder.resolve().name, "fingerprint": corpus_fingerprint(corpus)},
        link_options=corpus.manifest["options"],
        log_unknown=log_unknown_mass(features.speller, vocabulary),
        counts={
            "words": len(vocabulary),
            "relation_types": len(features.relations.types),
            "objects": len(features.relations.objects),
        },
    )


def cut_vocabulary(corpus: Corpus, config: RunConfig) -> Vocabulary:
    """Give the words that have an id."""
    return corpus.words.cut(min_count=config.vocabulary.min_count, size=config.vocabulary.size)


def write_config(folder: Path, config: RunConfig) -> None:
    """Write or replace the configuration of a run."""
    replace_file(folder / CONFIG, to_toml(config, BACKBONES).encode())


def read_run_manifest(folder: Path) -> dict[str, Any]:
    """Read what a run says of itself."""
    manifest = read_manifest(folder, format=FORMAT, version=VERSION, hint=_HINT)
    try:
        _ = _link_options(manifest), str(manifest["corpus"]["fingerprint"])
        _ = float(manifest["log_unknown"]), manifest["backbone"], manifest["size"]
    except (KeyError, TypeError, ValueError):
        raise FormatError(f"{folder / MANIFEST} does not say what a run says; {_HINT}") from None
    return manifest


def _link_options(manifest: Mapping[str, Any]) -> LinkOptions:
    options = manifest["link_options"]
    return LinkOptions(
        Profile(options["profile"]), LetterCase(options["letter_case"]), options["stop_words"]
    )


def read_run_config(folder: Path) -> RunConfig:
    """Read the configuration of a run."""
    path = folder / CONFIG
    try:
        return read_config(path.read_text(encoding="utf-8"), where=str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"{path}: cannot be read ({error})") from None


def read_setting(folder: Path) -> Setting:
    """Read what `write_setting` wrote; the corpus is not needed."""
    manifest = read_run_manifest(folder)
    config = read_run_config(folder)
    vocabulary = Vocabulary.read(folder / VOCABULARY)
    features = Features.open(folder / FEATURES)
    assert features.speller is not None
    speller = UnknownWordSpeller(
        features.speller, vocabulary, log_unknown=float(manifest["log_unknown"])
    )
    return Setting(manifest, config, vocabulary, features, speller)


@dataclass(frozen=True)
class Run:
    """A trained model with all that is needed to use it."""

    folder: Path
    setting: Setting
    model: LanguageModel
    """With the best weights, for evaluation."""

    @classmethod
    def open(cls, folder: Path | str, *, device: str = "cpu") -> "Run":
        """Load a run, wherever it lies; neither the corpus nor the checkpoints are needed."""
        folder = Path(folder)
        setting = read_setting(folder)
        path = folder / WEIGHTS
        if not path.is_file():
            raise InputError(
                f"{folder} has no weights yet: they come with the first validation of 'lrlm train'"
            )
        with torch.random.fork_rng(devices=[]):
            model = setting.new_model()
        try:
            copy_into(weights_of(model), load_file(path))
        except (OSError, SafetensorError, FormatError) as error:
            raise FormatError(f"{path}: cannot be used ({error})") from None
        return cls(folder, setting, model.to(device).eval())

    @property
    def config(self) -> RunConfig:
        """Every value that determines the run."""
        return self.setting.config

    @property
    def kind(self) -> str:
        """The model: vanilla, alias, nklm or lrlm."""
        return self.config.model.kind

    @property
    def vocabulary(self) -> Vocabulary:
        """The words that have an id."""
        return self.setting.vocabulary

    @property
    def features(self) -> Features:
        """Vectors of relations and forms, and the spelling model."""
        return self.setting.features

    @property
    def speller(self) -> UnknownWordSpeller:
        """The distribution over words outside the vocabulary."""
        return self.setting.speller

    @property
    def encoder(self) -> Encoder:
        """Turns linked documents into numbers."""
        return self.setting.encoder()

    @property
    def collator(self) -> Collator:
        """Turns encoded documents into windows."""
        return self.setting.collator()

    @property
    def corpus_fingerprint(self) -> str:
        """Names the corpus that the model was trained on by its content."""
        return str(self.setting.manifest["corpus"]["fingerprint"])

    @property
    def link_options(self) -> LinkOptions:
        """How a text must be linked before the model reads it."""
        return self.setting.link_options


def corpus_fingerprint(corpus: Corpus) -> str:
    """Name a corpus by the content of its files; what else lies beside them does not matter."""
    names = (MANIFEST, WORDS, *(f"{split}.parquet" for split in SPLITS))
    files = sorted(path for name in names if (path := corpus.folder / name).is_file())
    digests = [fingerprint(path) for path in files]
    return hashlib.sha256(json.dumps(digests).encode()).hexdigest()


def write_weights(folder: Path, weights: Mapping[str, Tensor]) -> None:
    """Replace the best weights of a run; the old ones are there until the new ones are."""
    draft = folder / f".{WEIGHTS}{DRAFT}"
    write_tensors(draft, weights)
    move_into_place(draft, folder / WEIGHTS)
