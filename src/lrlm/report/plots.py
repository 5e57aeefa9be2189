"""Draw the paper's figure: log-probability of a word by number of relations, a line a run."""

import io
from pathlib import Path
from typing import Any

from lrlm.errors import InputError, MissingExtraError
from lrlm.evaluation.results import Evaluation
from lrlm.report.evaluation_tables import labels, marks_explained

FORMATS = (".png", ".svg", ".pdf")

_COLOURS = {"vanilla": "#7f7f7f", "alias": "#009e73", "nklm": "#d55e00", "lrlm": "#0072b2"}
"""Of Okabe and Ito: told apart by everybody."""
_LINES = ("-", "--", ":", "-.")
"""Of the backbones, in the order in which they come."""
_MARKERS = {"vanilla": "s", "alias": "^", "nklm": "D", "lrlm": "o"}


def check_plot(path: Path) -> None:
    """Refuse, before any work is done, a file that could not be drawn."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"{path}: a plot is a {', '.join(FORMATS)} file")
    _figure_class()


def draw_relation_plot(evaluation: Evaluation, format_: str = ".png") -> bytes:
    """Draw a line for each run over the bins; give the content of a file of that format."""
    figure = _figure_class()(figsize=(7.0, 4.6), dpi=160, layout="constrained")
    axes: Any = figure.subplots()
    places = range(len(evaluation.bins))
    backbones = list(dict.fromkeys(run.backbone for run in evaluation.runs))
    for run, label in zip(evaluation.runs, labels(evaluation.runs), strict=True):
        axes.plot(
            places,
            evaluation.log_probs(run),
            color=_COLOURS.get(run.kind, "black"),
            linestyle=_LINES[backbones.index(run.backbone) % len(_LINES)],
            marker=_MARKERS.get(run.kind, "x"),
            markersize=5,
            linewidth=1.8,
            label=label,
        )
    ranges = [
        f"{each.fewest}" if each.fewest == each.most else f"{each.fewest}–{each.most}"
        for each in evaluation.bins
    ]
    counts = [f"({len(each.members):,})" for each in evaluation.bins]
    ticks = [f"{range_}\n{count}" for range_, count in zip(ranges, counts, strict=True)]
    axes.set_xticks(places, ticks, fontsize=8)
    axes.set_xlabel("relations of the topic (documents)")
    axes.set_ylabel("mean log-probability of a word (nats)")
    axes.set_title(f"{evaluation.corpus}, {evaluation.split}", fontsize=11, loc="left")
    explained = "\n".join(marks_explained(evaluation.runs))
    axes.set_title(explained, fontsize=7, loc="right", color="#555555")
    axes.grid(axis="y", color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.margins(x=0.04, y=0.12)
    axes.spines[["top", "right"]].set_visible(False)
    # Three short names fit side by side, more runs have longer ones.
    columns = len(evaluation.runs) if len(evaluation.runs) <= 3 else 2
    figure.legend(
        loc="outside lower center", ncols=columns, frameon=False, fontsize=9, handlelength=3
    )
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
