"""Causal sequence models: vectors and a state in, hidden states and the next state out."""

from lrlm.backbones.backbone import Backbone, State, Stepper
from lrlm.backbones.lstm import LstmBackbone, LstmConfig
from lrlm.backbones.lstm_state import LstmState
from lrlm.backbones.packed_linear import packed_linear
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
    "Stepper",
    "TransformerXlBackbone",
    "TransformerXlConfig",
    "TransformerXlState",
    "packed_linear",
]
