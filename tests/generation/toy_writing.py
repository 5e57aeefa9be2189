"""What generation needs of a run, in the toy world."""

from types import SimpleNamespace
from typing import cast

import torch

from lrlm.batching import Encoder
from lrlm.corpora import LinkOptions
from lrlm.models import LanguageModel
from lrlm.runs.run import Run
from tests.models.contract import make_model
from tests.toy import (
    OBJECTS,
    SPELLINGS,
    TYPES,
    VOCABULARY,
    ToyFeaturiser,
    ToySpeller,
    collator,
)


class SamplingToySpeller(ToySpeller):
    """Spells two words at random, and remembers how they were asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[float, bool]] = []

    def sample(
        self,
        count: int,
        *,
        generator: torch.Generator,
        temperature: float = 1.0,
        capitals: bool = True,
    ) -> list[str]:
        self.asked.append((temperature, capitals))
        drawn = torch.multinomial(
            torch.tensor(list(SPELLINGS.values())), count, replacement=True, generator=generator
        )
        return [list(SPELLINGS)[index] for index in drawn.tolist()]


def toy_run(
    kind: str, backbone: str = "lstm", *, model: LanguageModel | None = None, window: int = 150
) -> Run:
    """A run whose model has random weights."""
    speller = SamplingToySpeller()
    run = SimpleNamespace(
        kind=kind,
        folder="toy",
        model=model or make_model(kind, backbone),
        vocabulary=VOCABULARY,
        speller=speller,
        features=SimpleNamespace(featuriser=ToyFeaturiser()),
        encoder=Encoder(VOCABULARY, speller, TYPES, OBJECTS),
        collator=collator(window),
        link_options=LinkOptions(),
    )
    return cast("Run", run)
