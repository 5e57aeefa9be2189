"""Backbones: causal sequence models that turn vectors of words into hidden states."""

from lrlm.backbones.backbone import (
    BACKBONES,
    Backbone,
    BackboneConfig,
    State,
    Stepper,
    register_backbone,
)
from lrlm.backbones.fast_cpu import Dropout, packed_linear
from lrlm.backbones.lstm import LstmBackbone, LstmConfig, LstmState
from lrlm.backbones.pretrained import PretrainedBackbone, PretrainedState
from lrlm.backbones.pretrained_config import Pretrained
from lrlm.backbones.transformer_xl import (
    TransformerXlBackbone,
    TransformerXlConfig,
    TransformerXlState,
)

register_backbone(LstmConfig)
register_backbone(TransformerXlConfig)
register_backbone(Pretrained)

__all__ = [
    "BACKBONES",
    "Backbone",
    "BackboneConfig",
    "Dropout",
    "LstmBackbone",
    "LstmConfig",
    "LstmState",
    "Pretrained",
    "PretrainedBackbone",
    "PretrainedState",
    "State",
    "Stepper",
    "TransformerXlBackbone",
    "TransformerXlConfig",
    "TransformerXlState",
    "packed_linear",
    "register_backbone",
]
