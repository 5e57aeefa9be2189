"""Draw the learning curves of several runs in one figure: validation perplexity over minutes.

    python -m benchmarks.curves RUN … --out curves.svg

Training validates after each epoch and at its end, so a curve has as many points as that.
"""

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.figure import Figure

from lrlm.backbones import BACKBONES
from lrlm.models import MODELS
from lrlm.report.plots import validation_lines
from lrlm.report.run_looks import run_looks
from lrlm.runs.learning_curve import read_learning_curve
from lrlm.runs.run import read_setup


class Trained(NamedTuple):
    """What a run is called in the figure."""

    kind: str
    backbone: str

    def __str__(self) -> str:
        return f"{MODELS[self.kind].label}, {BACKBONES[self.backbone].label}"


def trained(run: Path) -> Trained:
    """Ask a run what it holds."""
    model = read_setup(run).config.model
    return Trained(model.kind, model.backbone.name)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--out", type=Path, required=True, help="an .svg, .png or .pdf to draw")
    options = parser.parse_args()
    runs = [trained(run) for run in options.runs]
    curves = [read_learning_curve(run) for run in options.runs]
    looks = run_looks(runs)
    with mpl.rc_context({"svg.hashsalt": "lrlm"}):
        figure = Figure(figsize=(7.0, 4.6), layout="constrained")
        axes: Any = figure.subplots()
        validation_lines(curves, looks, [look.light for look in looks])(axes)
        for line, run in zip(axes.lines, runs, strict=True):
            line.set_label(str(run))
        axes.grid(axis="y", color="#dddddd", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=9, handlelength=3)
        figure.savefig(options.out, metadata={"Date": None})


if __name__ == "__main__":
    main()
