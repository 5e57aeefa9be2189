"""An evaluation in, the paper's figure out: log-probability by number of relations, as a file."""

import io
from pathlib import Path
from typing import Any

from lrlm.errors import InputError, MissingExtraError
from lrlm.evaluation.results import Evaluation
from lrlm.report.evaluation_sheets import labels

FORMATS = (".png", ".svg", ".pdf")

_COLOURS = {"vanilla": "#7f7f7f", "alias": "#009e73", "nklm": "#d55e00", "lrlm": "#0072b2"}
"""Of Okabe and Ito: told apart by everybody."""
_LINES = {"lstm": "-", "transformer-xl": "--"}
_MARKERS = {"vanilla": "s", "alias": "^", "nklm": "D", "lrlm": "o"}


def check_plot(path: Path) -> None:
    """Refuse, before any work is done, a file that could not be drawn."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"{path}: a plot is a {', '.join(FORMATS)} file")
    _figure_class()


def draw_relation_plot(evaluation: Evaluation, format_: str = ".png") -> bytes:
    """Draw a line for each run over the bins; give the content of a file of that format."""
    figure = _figure_class()(figsize=(6.4, 4.0), dpi=160, layout="constrained")
    axes: Any = figure.subplots()
    places = range(len(evaluation.bins))
    for run, label in zip(evaluation.runs, labels(evaluation.runs), strict=True):
        axes.plot(
            places,
            evaluation.log_probs(run),
            color=_COLOURS.get(run.kind, "black"),
            linestyle=_LINES.get(run.backbone, ":"),
            marker=_MARKERS.get(run.kind, "x"),
            markersize=5,
            linewidth=1.8,
            label=label,
        )
    axes.set_xticks(
        places,
        [
            f"{each.fewest}" if each.fewest == each.most else f"{each.fewest}–{each.most}"
            for each in evaluation.bins
        ],
    )
    axes.set_xlabel("relations of the topic")
    axes.set_ylabel("mean log-probability of a word (nats)")
    axes.set_title(f"{evaluation.corpus}, {evaluation.split}", fontsize=11, loc="left")
    axes.grid(axis="y", color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.margins(x=0.04, y=0.12)
    axes.spines[["top", "right"]].set_visible(False)
    for number, each in enumerate(evaluation.bins):
        axes.annotate(
            f"{len(each.members):,}",
            (number, 0.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            fontsize=7,
            color="#888888",
        )
    axes.annotate(
        "documents:",
        (0.0, 0.0),
        xycoords="axes fraction",
        xytext=(3, 12),
        textcoords="offset points",
        fontsize=7,
        color="#888888",
    )
    figure.legend(loc="outside lower center", ncols=min(len(evaluation.runs), 3), frameon=False)
    drawn = io.BytesIO()
    # The same evaluation gives the same bytes: no date, and no ids made at random.
    without_date = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    import matplotlib as mpl

    with mpl.rc_context({"svg.hashsalt": "lrlm"}):
        figure.savefig(drawn, format=format_[1:], metadata=without_date[format_])
    return drawn.getvalue()


def _figure_class() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError(
            "plots need matplotlib, which is not installed; install it with:"
            " pip install 'lrlm[plots]'"
        ) from None
    return Figure
