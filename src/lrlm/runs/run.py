"""What a run folder is, and how a trained model is opened from it.

manifest.json         what made it, from which corpus, how texts are linked
config.toml           every value that determines the run
backbone/             the files of a pretrained language model, if they were packed with the run
vocabulary.json       words with an id (the files of the token space)
features/             vectors of relations and forms, the spelling model
schema.json           which types of facts topics have, and what their objects are like
weights.safetensors   the best weights so far
metrics.jsonl         losses and validations
checkpoints/          from which training is resumed; not needed to use the model
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor, nn

from lrlm.arrays import Booleans
from lrlm.artifacts import (
    MANIFEST,
    AnyPath,
    check_files,
    fingerprints_in,
    read_manifest,
    replace_listed,
    write_manifest,
)
from lrlm.batching import FORWARD, Collator, Encoder, IdLimits, Parts
from lrlm.corpora import LONGEST, Corpus, LinkOptions, check_text, link
from lrlm.errors import FormatError, InputError
from lrlm.features import Features
from lrlm.features.form_vectors import EmbeddedNames, NameFeaturiser
from lrlm.features.shapes import ShapedNames
from lrlm.heads import KnownWords, SoftmaxCost
from lrlm.knowledge import Topic
from lrlm.knowledge.schema import Schema
from lrlm.models import LanguageModel, ModelSizes, build_model, with_cutoffs
from lrlm.plain_data import read_bytes, shown
from lrlm.runs.config import RunConfig
from lrlm.runs.settings import to_nested, to_toml
from lrlm.runs.sizes import CHOICES, read_config
from lrlm.tensor_files import write_tensors
from lrlm.text import LinkedDocument, TokenSpace
from lrlm.whole_files import DRAFT

FORMAT = "lrlm run"
VERSION = 1
CONFIG = "config.toml"
FEATURES = "features"
BACKBONE = "backbone"
"""Where a run may have the files of its pretrained language model; else they are elsewhere."""
WEIGHTS = "weights.safetensors"
CHECKPOINTS = "checkpoints"
METRICS = "metrics.jsonl"
SCHEMA = "schema.json"
COPY_ODDS = "copy_odds"
"""The entry of a manifest with the odds of copying that were fitted for annotation."""
REPETITION_COST = "repetition_cost"
"""The entry with what was fitted for repeated names in generated texts."""

LARGEST_COPY_ODDS = 100.0
"""In nats; more than that changes nothing."""
USUAL_COPY_ODDS = 8.0
"""For a language model that knows names by heart: what a copied name costs, its choices all
together, so that it is one also where the language model was sure of it (docs/annotate.md)."""

_LARGEST_CONFIG = 1 << 16
_MODEST_MODEL = 64 << 20
"""Bytes of one matrix that need no reason."""
_HINT = "train one first ('lrlm train')"

BOTH_WAYS = "both"
"""The direction of a run with a partner that reads backward."""

Tensors = dict[str, Tensor]


@dataclass(frozen=True)
class RunSetup:
    """Everything in a run folder but the weights: what the model reads and is built from."""

    manifest: Mapping[str, Any]
    config: RunConfig
    space: TokenSpace
    features: Features
    names: NameFeaturiser
    """Gives names of objects and of relation types their vectors."""

    @property
    def link_options(self) -> LinkOptions:
        """How the corpus was linked: another text must be linked in the same way."""
        return LinkOptions.from_dict(self.manifest["link_options"])

    def encoder(self) -> Encoder:
        """Give what turns linked documents into numbers."""
        relations = self.features.relations
        return Encoder(
            self.space,
            relations.type_ids,
            relations.object_ids,
            parts=self.config.model.reads,
            longest_copy=self.config.model.positions,
            facts=self.config.model.preface,
            backward=self.config.model.is_backward,
        )

    def collator(self, *, only: Parts | None = None) -> Collator:
        """Give what turns encoded documents into windows; with `only` these parts of them."""
        relations = self.features.relations
        parts = self.config.model.reads
        return Collator(
            self.space.end_id,
            self.names,
            size=self.config.training.window,
            parts=parts if only is None else parts & only,
            no_form_after=self.space.no_form_after,
            limits=IdLimits(self.space.size, len(relations.types), len(relations.objects)),
        )

    def new_model(self, *, device: str = "cpu") -> LanguageModel:
        """Build the model with fresh weights; on the device `meta` it takes no memory."""
        relations = self.features.relations
        with torch.device(device) if device != "cpu" else nullcontext():
            return build_model(
                self.config.model,
                ModelSizes(
                    tokens=self.space.size,
                    types=len(relations.types),
                    form_features=self.names.width,
                    begins_word=_tensor(self.space.begins_word, device),
                    token_counts=self.space.counts,
                    type_vectors=relations.types_KD.to(device),
                    object_vectors=relations.objects_OD.to(device),
                ),
            )

    def first_model(self) -> LanguageModel:
        """Build the model that training begins with."""
        model = self.new_model()
        self.config.model.words.begin_with(model.embedding, model.words, self._known_words)
        return model

    def _known_words(self) -> KnownWords:
        """Give what is known of the tokens before training, where each is a word."""
        words, featuriser = self.space.words, self.features.featuriser
        if words is None or self.space.counts is None or featuriser is None:
            raise InputError(
                "model.words.informed needs tokens that are words and vectors of surface forms; set"
                " it to false for a model without them"
            )
        vectors = featuriser.vectors([(word,) for word in words])
        return KnownWords.of(self.space.counts, torch.from_numpy(vectors))

    def check_shapes(self, weights: Path) -> None:
        """Refuse settings that ask for far more memory than a file of weights gives reason for.

        The model is built without memory for that, where the settings are so large that it could
        not be built to see whether the weights fit.
        """
        widest = max(_whole_numbers(to_nested(self.config.model, CHOICES)))
        layers = getattr(self.config.model.backbone, "layers", 1)
        if 4 * layers * widest**2 <= max(_MODEST_MODEL, weights.stat().st_size):
            return
        wanted = weights_of(self.new_model(device="meta"))
        with safe_open(weights, "pt") as file:
            there = {name: file.get_slice(name).get_shape() for name in file.keys()}  # noqa: SIM118
        if {name: list(tensor.shape) for name, tensor in wanted.items()} != there:
            raise FormatError("the configuration asks for another model than these weights are of")


def write_setup(
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
    tokens, backbone = config.vocabulary, config.model.backbone
    space = tokens.make(corpus, features, backbone)
    model = with_cutoffs(config.model, space.counts, softmax_cost)
    write_config(folder, replace(config, model=model))
    tokens.save(space, folder)
    features.save(folder / FEATURES)
    schema = Schema.of(corpus.topics())
    (folder / SCHEMA).write_text(schema.to_json(), encoding="utf-8")
    write_manifest(
        folder,
        format=FORMAT,
        version=VERSION,
        **made_from,
        corpus={"name": corpus.folder.resolve().name, "fingerprint": corpus.fingerprint},
        link_options=corpus.manifest["options"],
        **tokens.manifest_entries(space, features),
        **backbone.manifest_entries(),
        counts={
            "words": space.size,
            "relation_types": len(features.relations.types),
            "objects": len(features.relations.objects),
        },
        files=fingerprints_in(folder),
    )


def write_config(folder: Path, config: RunConfig) -> None:
    """Write or replace the configuration of a run."""
    draft = folder / f".{CONFIG}{DRAFT}"
    draft.write_text(to_toml(config, CHOICES), encoding="utf-8")
    replace_listed(draft, folder / CONFIG)


def read_run_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a run, and check that what is needed is there."""
    manifest = read_manifest(folder, format=FORMAT, version=VERSION, hint=_HINT)
    try:
        _ = LinkOptions.from_dict(manifest["link_options"])
        _ = str(manifest["corpus"]["fingerprint"]), manifest["backbone"], manifest["size"]
        _ = float(manifest.get(COPY_ODDS, 0.0))
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(
            f"{folder / MANIFEST} lacks an entry of a run's manifest, or it is damaged ({error});"
            f" {_HINT}"
        ) from None
    return manifest


def read_run_config(folder: Path) -> RunConfig:
    """Read the configuration of a run."""
    path = folder / CONFIG
    try:
        text = read_bytes(path, largest=_LARGEST_CONFIG).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: cannot be read ({error})") from None
    return read_config(text, where=str(path))


def read_setup(folder: Path) -> RunSetup:
    """Read what `write_setup` wrote, and check its files; the corpus is not needed."""
    manifest = read_run_manifest(folder)
    check_files(folder, manifest, but=(WEIGHTS,))
    config = read_run_config(folder)
    backbone = config.model.backbone.found(folder / BACKBONE)
    backbone.check(manifest, folder)
    config = replace(config, model=replace(config.model, backbone=backbone))
    features = Features.open(folder / FEATURES)
    space = config.vocabulary.open(folder, manifest, features, backbone)
    names: NameFeaturiser = features.featuriser or EmbeddedNames(
        space.encode_text, backbone.token_vectors()
    )
    if config.model.relations.shapes:
        names = ShapedNames(names)
    return RunSetup(manifest, config, space, features, names)


@dataclass(frozen=True)
class Run:
    """A trained model with its token space, features and configuration."""

    folder: Path
    setup: RunSetup
    model: LanguageModel
    """With the best weights, ready for evaluation."""
    partner: "Partner | None" = None
    """A second run that reads backward, whose scores are added to those of this one."""

    @classmethod
    def open(cls, folder: AnyPath, *, device: str = "cpu") -> "Run":
        """Load a run, wherever it lies; neither the corpus nor the checkpoints are needed."""
        folder = Path(folder)
        setup = read_setup(folder)
        path = folder / WEIGHTS
        if not path.is_file():
            raise InputError(
                f"{folder} has no weights yet: they are written after the first validation of"
                " training"
            )
        check_files(folder, setup.manifest, (WEIGHTS,))
        try:
            setup.check_shapes(path)
            with torch.random.fork_rng(devices=[]):
                model = setup.new_model()
            copy_into(weights_of(model), load_file(path))
        except (OSError, SafetensorError, FormatError) as error:
            raise FormatError(f"{path}: cannot be used ({error})") from None
        return cls(folder, setup, model.to(device).eval())

    @property
    def config(self) -> RunConfig:
        """Every value that determines the run."""
        return self.setup.config

    @property
    def kind(self) -> str:
        """The model: vanilla, alias, prompted, nklm, lrlm or lrlm+."""
        return self.config.model.kind

    @property
    def direction(self) -> str:
        """In which texts are read: forward, backward, or both."""
        return self.config.model.direction if self.partner is None else BOTH_WAYS

    @property
    def readings(self) -> float:
        """How many readings its scores are the sum of, each by its weight; 1 without a partner."""
        return 1.0 if self.partner is None else 1.0 + self.partner.weight

    @property
    def label(self) -> str:
        """What tables call the model, as "LRLM" or "LRLM (backward)"."""
        label = self.model.label
        return label if self.direction == FORWARD else f"{label} ({self.direction})"

    @property
    def space(self) -> TokenSpace:
        """What a token is."""
        return self.setup.space

    @property
    def features(self) -> Features:
        """Vectors of relations and forms, and the spelling model."""
        return self.setup.features

    @property
    def names(self) -> NameFeaturiser:
        """Gives names of objects and of relation types their vectors."""
        return self.setup.names

    @property
    def encoder(self) -> Encoder:
        """Turns linked documents into numbers."""
        return self.setup.encoder()

    @property
    def collator(self) -> Collator:
        """Turns encoded documents into windows."""
        return self.setup.collator()

    @property
    def corpus_name(self) -> str:
        """The last name of the folder of the corpus that the model was trained on."""
        return str(self.setup.manifest["corpus"].get("name", "?"))

    @property
    def corpus_fingerprint(self) -> str:
        """Names the corpus that the model was trained on by its content."""
        return str(self.setup.manifest["corpus"]["fingerprint"])

    @property
    def copy_odds(self) -> float:
        """By how many nats a token copying is more probable in annotations than in the model."""
        knows_names = self.config.model.backbone.knows_names
        return float(self.setup.manifest.get(COPY_ODDS, USUAL_COPY_ODDS if knows_names else 0.0))

    @property
    def repetition_cost(self) -> float:
        """What generated texts pay for each object that they name again, in nats."""
        return float(self.setup.manifest.get(REPETITION_COST, 0.0))

    @property
    def link_options(self) -> LinkOptions:
        """How a text must be linked before the model reads it."""
        return self.setup.link_options

    def link(
        self,
        text: str,
        topic: Topic,
        *,
        longest: int = LONGEST,
        id: str | None = None,  # noqa: A002
        letter_case: str | None = None,
        name_rules: Iterable[str] | str | None = None,
    ) -> LinkedDocument:
        """Link a text as people write it with what is known about its topic, for this model.

        A text of more than `longest` characters is refused. Names are looked for as in the corpus
        of the model, unless `letter_case` or `name_rules` say otherwise.
        """
        check_text(text, longest=longest)
        if not isinstance(topic, Topic):
            raise InputError(
                f"a topic must be an lrlm.Topic, not {shown(topic)}; find one by its name with"
                " Model.topic or KnowledgeGraph.topic, or make one"
            )
        options = self.link_options.for_raw_text()
        wished = options.changed(letter_case=letter_case, name_rules=name_rules)
        return link(text, topic, wished, id=id)


@dataclass(frozen=True)
class Partner:
    """A run that reads texts backward, and how much it counts beside one that reads forward."""

    run: Run
    weight: float
    """Its log scores are multiplied by this before they are added."""


def _tensor(values: Booleans | None, device: str) -> Tensor | None:
    return None if values is None else torch.from_numpy(values).to(device)


def _whole_numbers(settings: Mapping[str, Any]) -> Iterator[int]:
    """Give all whole numbers of a configuration."""
    for value in settings.values():
        if isinstance(value, dict):
            yield from _whole_numbers(value)
        elif type(value) is int:
            yield value


def write_weights(folder: Path, weights: Mapping[str, Tensor]) -> None:
    """Replace the best weights of a run; the old ones are there until the new ones are."""
    draft = folder / f".{WEIGHTS}{DRAFT}"
    write_tensors(draft, weights)
    replace_listed(draft, folder / WEIGHTS)


def weights_of(model: nn.Module) -> Tensors:
    """Give the weights that a model learns, by name; what was given to it is not among them."""
    return {
        name: parameter.data
        for name, parameter in model.named_parameters()
        if parameter.requires_grad
    }


@torch.no_grad()
def copy_into(targets: Mapping[str, Tensor], values: Mapping[str, Tensor]) -> None:
    """Copy tensors into others of the same names and shapes."""
    if targets.keys() != values.keys():
        odd = shown(sorted(targets.keys() ^ values.keys()))
        raise FormatError(f"these weights belong to another model: missing or too many: {odd}")
    for name, target in targets.items():
        if target.shape != values[name].shape:
            raise FormatError(
                f"these weights belong to another model: {name} has the shape"
                f" {tuple(values[name].shape)}, not {tuple(target.shape)}"
            )
        target.copy_(values[name])
