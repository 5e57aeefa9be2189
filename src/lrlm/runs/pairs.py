"""Pairs of runs: one that reads texts forward, and one that reads them backward.

How much the backward one counts is a weight, which is fitted on texts that neither was trained on
(`lrlm.evaluation.fit_pair`) and kept in the folder of the backward run:

partner.json    the weight, of which run it is the partner, and what the weight was fitted on
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lrlm.artifacts import AnyPath, fingerprint
from lrlm.errors import FormatError, InputError
from lrlm.plain_data import json_text, read_json, shown
from lrlm.runs.run import WEIGHTS, Partner, Run
from lrlm.whole_files import replace_file

FORMAT = "lrlm partner"
VERSION = 1
PARTNER = "partner.json"

USUAL_WEIGHT = 1.0
"""Where no weight was fitted, both readings count alike."""
LARGEST_WEIGHT = 10.0
WEIGHT_ALONE = "there is a weight for a backward run, but no backward run is named"


@dataclass(frozen=True, slots=True)
class PairFit:
    """How much a backward run counts beside a forward one, and how that was found out."""

    weight: float
    forward: str
    """The last name of the folder of the forward run."""
    forward_sha256: str
    """Names the forward run by its weights."""
    corpus: str
    split: str
    criterion: str
    """What the true sources of names were taken from."""
    places: int
    """Candidate spans that the weight was fitted on."""
    nats_forward: float
    """The mean of −log P(true source) for the forward run alone."""
    nats_backward: float
    """The same for the backward run alone."""
    nats_pair: float
    """The same for both together, with this weight."""

    def save(self, backward: Path) -> None:
        """Keep the fit in the folder of the backward run; one that is there is replaced."""
        content = {"format": FORMAT, "version": VERSION, **self.to_dict()}
        replace_file(backward / PARTNER, (json_text(content, indent=1) + "\n").encode())

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values."""
        return {name: getattr(self, name) for name in self.__slots__}


def open_run(
    folder: AnyPath,
    *,
    backward: AnyPath | None = None,
    weight: float | None = None,
    device: str = "cpu",
) -> Run:
    """Open a run, with another one as its partner where one is named."""
    run = Run.open(folder, device=device)
    if backward is None:
        if weight is not None:
            raise InputError(WEIGHT_ALONE)
        return run
    return paired(run, Run.open(backward, device=device), weight=weight)


def paired(forward: Run, backward: Run, *, weight: float | None = None) -> Run:
    """Give the forward run with the backward one as its partner.

    Without a weight, the one that was fitted for these two is taken, else `USUAL_WEIGHT`.
    """
    check_pair(forward, backward)
    if weight is None:
        weight = fitted_weight(forward, backward)
    if not 0 <= weight <= LARGEST_WEIGHT:
        raise InputError(
            f"the weight of a backward run must be from 0 to {LARGEST_WEIGHT:g}, not {weight}"
        )
    return replace(forward, partner=Partner(backward, weight))


def check_pair(forward: Run, backward: Run) -> None:
    """Refuse runs that cannot read the same texts from both sides."""
    for run, is_backward in ((forward, False), (backward, True)):
        if run.config.model.is_backward != is_backward:
            wanted, found = ("backward", "forward") if is_backward else ("forward", "backward")
            raise InputError(
                f"{run.folder} reads {found}, but the {'second' if is_backward else 'first'} run of"
                f" a pair reads {wanted}"
            )
        if not run.model.has_posteriors:
            raise InputError(
                f"{run.folder} holds a {run.model.label}, which does not know where words come"
                " from; a pair needs two models that sum over segmentations, such as LRLM"
            )
    if forward.link_options != backward.link_options:
        raise InputError(
            f"{forward.folder} and {backward.folder} find names in texts in different ways; train"
            " both on corpora that were linked in the same way"
        )


def fitted_weight(forward: Run, backward: Run) -> float:
    """Read the weight that was fitted for these two runs; the usual one if none was."""
    path = backward.folder / PARTNER
    if not path.is_file():
        return USUAL_WEIGHT
    content = read_json(path)
    try:
        is_known = content["format"] == FORMAT and content["version"] == VERSION
        weight, sha256 = float(content["weight"]), content["forward_sha256"]
        is_good = is_known and isinstance(sha256, str) and 0 <= weight <= LARGEST_WEIGHT
    except (KeyError, TypeError, ValueError):
        is_good = False
    if not is_good:
        raise FormatError(
            f"{path}: not the fit of a pair of runs ({shown(content)}); remove it, or fit the pair"
            " again"
        )
    return weight if sha256 == weights_sha256(forward) else USUAL_WEIGHT


def weights_sha256(run: Run) -> str:
    """Name a run by the content of its weights."""
    return str(fingerprint(run.folder / WEIGHTS)["sha256"])
