"""A configuration and the sizes of a corpus in, a model with fresh weights out.

This is the one place where a model is chosen by its name.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from torch import Tensor

from lrlm.backbones import (
    Backbone,
    LstmBackbone,
    LstmConfig,
    TransformerXlBackbone,
    TransformerXlConfig,
)
from lrlm.checks import check_at_least
from lrlm.errors import InputError
from lrlm.heads import (
    FormHead,
    RelationConfig,
    RelationHead,
    RelationVectors,
    SoftmaxCost,
    SourceHead,
    VectorTable,
    WordConfig,
    WordEmbedding,
    WordHead,
    choose_cutoffs,
)
from lrlm.models.alias import AliasLM
from lrlm.models.language_model import LanguageModel
from lrlm.models.lrlm import LatentRelationLM
from lrlm.models.nklm import NeuralKnowledgeLM
from lrlm.models.vanilla import VanillaLM

KINDS = ("vanilla", "alias", "nklm", "lrlm")


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """All sizes of a model; with the vocabulary and the features it determines every weight."""

    kind: str = "lrlm"
    """vanilla, alias, nklm or lrlm."""
    backbone: LstmConfig | TransformerXlConfig = field(default_factory=LstmConfig)
    words: WordConfig = field(default_factory=WordConfig)
    relations: RelationConfig = field(default_factory=RelationConfig)
    positions: int = 20
    """Words of a form that NKLM can copy; longer forms are not annotated for it."""
    position_size: int = 40
    """Width of the embedding of a copy position (NKLM)."""

    def __post_init__(self) -> None:
        """Refuse what cannot be built."""
        if self.kind not in KINDS:
            raise InputError(f"there is no model {self.kind!r}; there are: {', '.join(KINDS)}")
        check_at_least("ModelConfig.positions", self.positions, 1)
        check_at_least("ModelConfig.position_size", self.position_size, 1)


def with_cutoffs(
    config: ModelConfig, word_counts: Sequence[int], cost: SoftmaxCost | None = None
) -> ModelConfig:
    """Choose the clusters of the words if that is left open; the result is what a run saves.

    `cost` is that of the device the model will be trained on; without it, that of a usual CPU.
    """
    words = config.words
    if words.cutoffs is not None:
        return config
    cutoffs = choose_cutoffs(
        word_counts, width=words.projection_size, divisor=words.divisor, cost=cost
    )
    return replace(config, words=replace(words, cutoffs=cutoffs))


def build_model(
    config: ModelConfig,
    *,
    word_counts: Sequence[int],
    types: int,
    form_feature_size: int,
    type_vectors: Tensor | None = None,
    object_vectors: Tensor | None = None,
) -> LanguageModel:
    """Put a model together.

    `types` counts the relation types that have an id; the first of them have the given vectors,
    the others learn theirs. Objects without a given vector share a learned one.
    """
    config = with_cutoffs(config, word_counts)
    words = len(word_counts)
    embedding = WordEmbedding(config.words, words)
    if config.kind in ("vanilla", "alias"):
        backbone = _backbone(config, embedding.output_size)
        head = WordHead(config.words, backbone.output_size, words, embedding=embedding)
        model = VanillaLM if config.kind == "vanilla" else AliasLM
        return model(embedding, backbone, head)

    vectors = _relation_vectors(config.relations, types, type_vectors, object_vectors)
    if config.kind == "nklm":
        backbone = _backbone(
            config, embedding.output_size + vectors.output_size + config.position_size
        )
        chosen_size = backbone.output_size + vectors.output_size
        return NeuralKnowledgeLM(
            embedding,
            backbone,
            WordHead(config.words, chosen_size, words, embedding=embedding),
            vectors=vectors,
            forms=FormHead(chosen_size, form_feature_size),
            hidden_size=config.relations.hidden_size,
            positions=config.positions,
            position_size=config.position_size,
        )

    backbone = _backbone(config, embedding.output_size)
    return LatentRelationLM(
        embedding,
        backbone,
        WordHead(config.words, backbone.output_size, words, embedding=embedding),
        source=SourceHead(backbone.output_size),
        vectors=vectors,
        relations=RelationHead(
            backbone.output_size, config.relations.hidden_size, vectors.output_size
        ),
        forms=FormHead(backbone.output_size, form_feature_size),
        summary=config.relations.summary,
    )


def _backbone(config: ModelConfig, input_size: int) -> Backbone:
    if isinstance(config.backbone, LstmConfig):
        return LstmBackbone(config.backbone, input_size)
    return TransformerXlBackbone(config.backbone, input_size)


def _relation_vectors(
    config: RelationConfig, types: int, type_vectors: Tensor | None, object_vectors: Tensor | None
) -> RelationVectors:
    given = 0 if type_vectors is None else len(type_vectors)
    if given > types:
        raise InputError(f"there are vectors of {given} relation types, but only {types} types")
    return RelationVectors(
        VectorTable(
            config.type_size,
            learned=types - given,
            given_VW=type_vectors,
            tuned=config.tuned_types,
        ),
        VectorTable(config.object_size, given_VW=object_vectors),
        unseen_rate=config.unseen_rate,
    )
