"""A run of the toy world, as `Run.open` would give it, whose model has random weights."""

from dataclasses import replace
from pathlib import Path
from typing import cast

import torch

from lrlm.features import Features, RelationTable, SubwordFeaturiser
from lrlm.heads import RelationConfig
from lrlm.models import LanguageModel, ModelConfig
from lrlm.runs.config import RunConfig, TrainingConfig
from lrlm.runs.run import Run, RunSetup
from lrlm.text import TokenSpace
from lrlm.text.word_space import WordSpace
from tests.models.contract import make_model
from tests.toy import OBJECTS, TYPES, VOCABULARY, ToyFeaturiser, ToySpeller

MANIFEST = {
    "corpus": {"name": "toys", "fingerprint": "toy"},
    "link_options": {"profile": "raw", "letter_case": "exact", "stop_words": False},
}


def toy_run(
    kind: str,
    backbone: str = "lstm",
    *,
    model: LanguageModel | None = None,
    window: int = 150,
    space: TokenSpace | None = None,
) -> Run:
    """Give a run; its token space, with a speller of its own, is the toy world's."""
    name = kind
    kind, *settings = kind.split("+")
    relations = RelationConfig(**dict.fromkeys(settings, True))
    config = RunConfig(
        model=ModelConfig(kind=kind, relations=relations), training=TrainingConfig(window=window)
    )
    names = cast("SubwordFeaturiser", ToyFeaturiser())
    setup = RunSetup(
        manifest=MANIFEST,
        config=config,
        space=space or WordSpace(VOCABULARY, ToySpeller()),
        features=Features(
            RelationTable(tuple(TYPES), torch.empty(0, 3), tuple(OBJECTS), torch.empty(2, 3)),
            names,
            None,
        ),
        names=names,
    )
    return Run(Path("toy"), setup, model or make_model(name, backbone))


def in_window(run: Run, window: int) -> Run:
    """Give the same run with another size of windows."""
    training = replace(run.config.training, window=window)
    setup = replace(run.setup, config=replace(run.config, training=training))
    return replace(run, setup=setup)
