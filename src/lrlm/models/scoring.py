"""A model and a batch of documents in, the nats of each document out, window after window."""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from lrlm.batching import Window
from lrlm.models.language_model import LanguageModel


@dataclass(frozen=True)
class DocumentScores:
    """What a batch of documents costs under a model; `</s>` is told apart so it can be left out."""

    nats_B: Tensor
    """−log P of each whole document, `</s>` included."""
    end_nats_B: Tensor
    """The share of `</s>` in it."""
    tokens_B: Tensor
    """Tokens of each document, `</s>` not counted."""


@torch.no_grad()
def score_documents(model: LanguageModel, windows: Iterable[Window]) -> DocumentScores:
    """Add up the windows of a batch; they are moved to where the model is."""
    parameter = next(model.parameters())
    nats_B = end_nats_B = tokens_B = torch.empty(0)
    state = None
    for window in windows:
        here = window.to(parameter.device, parameter.dtype)
        if state is None:
            state = model.begin(here)
            nats_B = parameter.new_zeros(len(here.document_B))
            end_nats_B = torch.zeros_like(nats_B)
            tokens_B = torch.zeros_like(here.lengths_B)
        score, state = model(here, state.select(here.kept_B))
        nats_B.index_add_(0, here.document_B, score.nats_B)
        end_nats_B.index_add_(0, here.document_B, score.end_nats_B)
        tokens_B.index_add_(0, here.document_B, here.lengths_B - here.ends_B.long())
    return DocumentScores(nats_B, end_nats_B, tokens_B)
