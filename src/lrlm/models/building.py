"""Build a model with fresh weights from its configuration.

This is the one place where a model is chosen by its name.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from torch import Tensor

from lrlm.backbones import Backbone, BackboneConfig, LstmConfig
from lrlm.batching import (
    BACKWARD,
    DIRECTIONS,
    FORWARD,
    RELATION_TRAITS,
    WORD_TRAITS,
    Parts,
    PrefaceConfig,
)
from lrlm.checks import WIDEST, check_range
from lrlm.errors import InputError
from lrlm.heads import (
    FormHead,
    NamedVectors,
    NameWordHead,
    RelationConfig,
    RelationTraits,
    RelationVectors,
    SoftmaxCost,
    TokenHead,
    TokenLayersConfig,
    ToldTopic,
    VectorsBesideNames,
    VectorTable,
    WordConfig,
)
from lrlm.models.language_model import LanguageModel
from lrlm.models.lrlm import LatentRelationLM, LatentRelationLMPlus
from lrlm.models.nklm import NeuralKnowledgeLM
from lrlm.models.vanilla import AliasLM, PromptedLM, VanillaLM

MODELS: dict[str, type[VanillaLM | NeuralKnowledgeLM]] = {
    model.kind: model
    for model in (
        VanillaLM,
        AliasLM,
        PromptedLM,
        NeuralKnowledgeLM,
        LatentRelationLM,
        LatentRelationLMPlus,
    )
}
"""Every model that a configuration can name."""


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """All sizes of a model; with the vocabulary and the features it determines every weight."""

    kind: str = "lrlm"
    """The model: vanilla, alias, prompted, nklm, lrlm, or lrlm+, an LRLM with settings beyond the
    paper."""
    backbone: BackboneConfig = field(default_factory=LstmConfig)
    """The sequence model that reads the text."""
    words: TokenLayersConfig = field(default_factory=WordConfig)
    """How tokens are read and written."""
    relations: RelationConfig = field(default_factory=RelationConfig)
    facts_in_context: bool = False
    """Whether LRLM reads the topic's facts before the text, as Prompted LM does (not in the
    paper)."""
    preface: PrefaceConfig = field(default_factory=PrefaceConfig)
    """How facts are written where they are read before the text."""
    direction: str = FORWARD
    """In which texts are read: forward, or backward, from the last token to the first (not in the
    paper)."""
    positions: int = 20
    """Tokens of a form that NKLM can copy; longer forms are not annotated for it."""
    position_size: int = 40
    """Width of the embedding of a copy position (NKLM)."""

    def __post_init__(self) -> None:
        """Refuse what cannot be built."""
        if self.kind not in MODELS:
            raise InputError(f"there is no model {self.kind!r}; there are: {', '.join(MODELS)}")
        check_range("model.positions", self.positions, 1, WIDEST)
        check_range("model.position_size", self.position_size, 1, WIDEST)
        for name in ("summary", "told"):
            if getattr(self.relations, name) and not self.backbone.learns:
                raise InputError(
                    f"model.relations.{name} needs a backbone that learns: one that does not would"
                    " read vectors that it has never seen"
                )
        if self.facts_in_context and not self.model.can_read_facts:
            raise InputError(
                f"model.facts_in_context is for models that copy names, not for {self.kind}; the"
                " model 'prompted' reads facts and copies nothing"
            )
        self._check_direction()

    def _check_direction(self) -> None:
        if self.direction not in DIRECTIONS:
            raise InputError(
                f"model.direction must be one of {', '.join(DIRECTIONS)}, not {self.direction!r}"
            )
        if not self.is_backward:
            return
        if not self.backbone.reads_backward:
            raise InputError(
                f"the backbone {self.backbone.name!r} reads forward only; train a small one, such"
                f" as {LstmConfig.name}, with model.direction={BACKWARD}"
            )
        if Parts.FACTS in self.reads:
            raise InputError(
                "a model that reads facts before the text reads forward only; leave out"
                f" model.direction={BACKWARD}, or take another model, such as lrlm"
            )

    def of_kind(self, kind: str) -> "ModelConfig":
        """Give the configuration of another model, with the settings that it is known by."""
        if kind not in MODELS:
            return replace(self, kind=kind)  # which is refused
        settings = MODELS[kind].relation_settings
        if settings and not self.backbone.learns:
            raise InputError(
                f"the model {kind!r} needs a backbone that learns; take 'lrlm' for one that does"
                " not, such as a pretrained language model"
            )
        relations = replace(self.relations, **settings)
        return replace(self, kind=kind, relations=relations)

    @property
    def is_backward(self) -> bool:
        """Whether texts are read from the last token to the first."""
        return self.direction == BACKWARD

    @property
    def model(self) -> type[LanguageModel]:
        """The class that `kind` names."""
        return MODELS[self.kind]

    @property
    def reads(self) -> Parts:
        """What the model reads of a document beside its tokens."""
        parts = self.model.reads
        if self.facts_in_context:
            parts |= Parts.FACTS
        if Parts.RELATIONS in parts and (self.relations.names or self.relations.beside_names):
            parts |= Parts.NAMES
        if Parts.EDGES in parts and self.relations.name_words:
            parts |= Parts.NAME_WORDS
        if Parts.EDGES in parts and self.relations.traits:
            parts |= Parts.TRAITS
        asks_for_names = self.relations.named or self.relations.told
        if Parts.EDGES in parts and (asks_for_names or self.relations.forgotten_facts):
            parts |= Parts.NAMED
        return parts


def with_cutoffs(
    config: ModelConfig, token_counts: Sequence[int] | None, cost: SoftmaxCost | None = None
) -> ModelConfig:
    """Choose the clusters of the words if that is left open; the result is what a run saves.

    Without counts in order of frequency there are no clusters. `cost` is that of the device the
    model will be trained on; without it, that of a usual CPU.
    """
    beside_heads = config.model.copies_names and not config.backbone.learns
    words = config.words.fitted(token_counts, cost, beside_heads=beside_heads)
    return replace(config, words=words)


@dataclass(frozen=True)
class ModelSizes:
    """How many of everything there are to represent, and the vectors that are given."""

    tokens: int
    types: int
    """Relation types that have an id; the first of them have the given vectors."""
    form_features: int
    """Width of the features of a form."""
    token_counts: Sequence[int] | None = None
    """How often each token occurs, if ids are in order of frequency."""
    type_vectors: Tensor | None = None
    object_vectors: Tensor | None = None
    """Objects without a given vector share a learned one."""
    begins_word: Tensor | None = None
    """Which tokens begin a new word; None where every token is a word."""


AnyRelationVectors = RelationVectors | NamedVectors | VectorsBesideNames


class ModelParts:
    """Makes the parts that models are composed of, each with fresh weights when it is asked for."""

    def __init__(self, config: ModelConfig, sizes: ModelSizes) -> None:
        self.config = config
        self._sizes = sizes
        width = config.backbone.fixed_input_size()
        self._backbone = None if width is None else config.backbone.build(width)
        self.embedding = config.words.embedding(sizes.tokens, backbone=self._backbone)
        """The vectors that tokens are read as."""

    def backbone(self, input_size: int) -> Backbone:
        """Make the backbone for inputs of this width."""
        if self._backbone is None:
            return self.config.backbone.build(input_size)
        if self._backbone.input_size != input_size:
            raise InputError(
                f"the backbone {self.config.backbone.name!r} reads vectors of width"
                f" {self._backbone.input_size}, but {self.config.model.label} gives it"
                f" {input_size}; {self._what_fits()}"
            )
        return self._backbone

    def _what_fits(self) -> str:
        """Say what can be done where a backbone cannot read the vectors of a model."""
        if self.config.model.reads_tokens_only:
            return f"set model.words.name to {self.config.backbone.name!r}"
        fitting = [kind for kind, model in MODELS.items() if model.reads_tokens_only]
        return f"the models that fit it are: {', '.join(fitting)}"

    def word_head(self, state_size: int, backbone: Backbone) -> TokenHead:
        """Make the distribution over all tokens for states of this width."""
        return self.config.words.head(
            state_size,
            self._sizes.tokens,
            embedding=self.embedding,
            backbone=backbone,
            begins_word_V=self._sizes.begins_word,
        )

    def form_head(self, state_size: int) -> FormHead:
        """Make the choice among the forms of an object for states of this width."""
        return FormHead(state_size, self._sizes.form_features)

    def relation_vectors(self) -> AnyRelationVectors:
        """Make the vectors of relation types and objects."""
        config, sizes = self.config.relations, self._sizes
        if config.names:
            return NamedVectors(sizes.form_features, config.type_size, config.object_size)
        by_id = self._vectors_by_id()
        if config.beside_names:
            by_name = NamedVectors(sizes.form_features, config.type_size, config.object_size)
            return VectorsBesideNames(by_id, by_name)
        return by_id

    def _vectors_by_id(self) -> RelationVectors:
        config, sizes = self.config.relations, self._sizes
        given = 0 if sizes.type_vectors is None else len(sizes.type_vectors)
        if given > sizes.types:
            raise InputError(
                f"there are vectors of {given} relation types, but only {sizes.types} types"
            )
        return RelationVectors(
            VectorTable(
                config.type_size,
                learned=sizes.types - given,
                given_VW=sizes.type_vectors,
                tuned=config.tuned_types,
            ),
            VectorTable(config.object_size, given_VW=sizes.object_vectors),
            unseen_rate=config.unseen_rate,
            unseen_objects=config.unseen_objects,
        )

    def name_words(self, state_size: int) -> NameWordHead:
        """Make the choice of single words of names for states of this width."""
        return NameWordHead(
            state_size, self._sizes.form_features + WORD_TRAITS, self.embedding.output_size
        )

    def relation_traits(self, vectors: AnyRelationVectors) -> RelationTraits:
        """Make what is added to the vectors of relations, by how they stand in their topic."""
        return RelationTraits(RELATION_TRAITS, vectors.output_size)

    def told_topic(self, vectors: AnyRelationVectors, state_size: int) -> ToldTopic:
        """Make what tells a model what of its topic was named, for states of this width."""
        config = self.config.relations
        return ToldTopic(
            vectors.output_size,
            self.embedding.output_size,
            state_size,
            types=self._sizes.types if config.own_types else None,
            unseen_rate=config.unseen_rate,
        )


def build_model(config: ModelConfig, sizes: ModelSizes) -> LanguageModel:
    """Put a model together with fresh weights."""
    config = with_cutoffs(config, sizes.token_counts)
    return MODELS[config.kind].build(ModelParts(config, sizes))
