"""Causal sequence models: vectors and a state in, hidden states and the next state out."""

from lrlm.backbones.backbone import Backbone, State
from lrlm.backbones.lstm import LstmBackbone, LstmConfig, LstmState
from lrlm.backbones.transformer_xl import (
    TransformerXlBackbone,
    TransformerXlConfig,
    TransformerXlState,
)

__all__ = [
    "Backbone",
    "LstmBackbone",
    "LstmConfig",
    "LstmState",
    "State",
    "TransformerXlBackbone",
    "TransformerXlConfig",
    "TransformerXlState",
]
