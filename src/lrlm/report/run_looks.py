"""How runs look in every figure: a colour and a marker for the model, a line for the backbone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class TrainedModel(Protocol):
    """What the look of a run depends on."""

    @property
    def kind(self) -> str:
        """The model, as `lrlm`."""

    @property
    def backbone(self) -> str:
        """Its backbone, as `lstm`."""


@dataclass(frozen=True, slots=True)
class RunLook:
    """The line of one run; no two runs of a figure have the same one, if they are not many."""

    light: str
    """Its colour on white."""
    dark: str
    """Its colour on black."""
    dashes: tuple[float, ...]
    """Lengths of strokes and gaps, in widths of the line; none for a line without gaps."""
    marker: str
    """As matplotlib names it."""
    is_hollow: bool
    """Whether only the outline of the marker is drawn."""


_COLOURS = {
    "vanilla": ("#6b717a", "#a9afb8"),
    "alias": ("#00805c", "#3fc79d"),
    "prompted": ("#a04585", "#e093c8"),
    "nklm": ("#c14f08", "#f68f52"),
    "lrlm": ("#0068a8", "#62b5ee"),
    "lrlm+": ("#4b4bb0", "#a9a9f5"),
}
"""By model; after Okabe and Ito, whose colours are told apart by everybody."""
_SPARE_COLOURS = (
    ("#8a6a00", "#e2bf4d"),
    ("#0b7f93", "#61cfe2"),
    ("#8b3a3a", "#ea9a9a"),
    ("#1b1c1e", "#eceef0"),
)
_MARKERS = {"vanilla": "s", "alias": "^", "prompted": "v", "nklm": "D", "lrlm": "o", "lrlm+": "P"}
_DASHES = ((), (4.0, 1.6), (1.2, 1.4), (4.0, 1.6, 1.2, 1.6))
"""Of the backbones, in the order in which they come."""


def run_looks(runs: Sequence[TrainedModel]) -> list[RunLook]:
    """Give each run a look; runs of the same model on the same backbone differ in colour."""
    backbones = list(dict.fromkeys(run.backbone for run in runs))
    taken: set[tuple[str, str]] = set()
    looks = []
    for run in runs:
        choices = (*([_COLOURS[run.kind]] if run.kind in _COLOURS else []), *_SPARE_COLOURS)
        free = [each for each in choices if (each[0], run.backbone) not in taken]
        light, dark = (free or choices)[0]
        taken.add((light, run.backbone))
        place = backbones.index(run.backbone)
        marker = _MARKERS.get(run.kind, "X")
        looks.append(
            RunLook(light, dark, _DASHES[place % len(_DASHES)], marker, is_hollow=place % 2 == 1)
        )
    return looks
