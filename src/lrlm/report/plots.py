"""Draw the figures of an evaluation, as files or as parts of a page.

Figures of a page hold no name that a user gave: its legends are in the page itself.
"""

import io
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from lrlm.errors import InputError, MissingExtraError
from lrlm.evaluation.annotation_quality import ReliabilityBin
from lrlm.evaluation.relation_bins import RelationBin
from lrlm.evaluation.results import Evaluation
from lrlm.report.evaluation_tables import labels, marks_explained
from lrlm.report.run_looks import RunLook, run_looks
from lrlm.runs.learning_curve import LearningCurve, LossPoint, ValidationPoint

FORMATS = (".png", ".svg", ".pdf")

MOST_POINTS = 400
"""Points of a line that are drawn: no screen shows more."""

_STEPS = (1, 2, 5)
"""Marks of a logarithmic axis, and these times the powers of ten."""

Point = TypeVar("Point", LossPoint, ValidationPoint)

Draw = Callable[[Any], None]
"""Draws into the axes of matplotlib."""


def check_plot(path: Path) -> None:
    """Refuse, before any work is done, a file that could not be drawn."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"{path}: a plot is a {', '.join(FORMATS)} file")
    require_matplotlib()


def require_matplotlib() -> None:
    """Refuse, before any work is done, to draw without the library that draws."""
    _figure_class()


def draw_relation_plot(evaluation: Evaluation, format_: str = ".png") -> bytes:
    """Draw the paper's figure: log-probability of a word by number of relations, a line a run.

    Gives the content of a file of that format.
    """
    figure_class = _figure_class()
    import matplotlib as mpl

    # Names are shown as they are, also where they hold what would be a formula. The same
    # evaluation gives the same bytes: no date, and no ids made at random.
    with mpl.rc_context({"text.parse_math": False, "svg.hashsalt": "lrlm"}):
        figure = figure_class(figsize=(7.0, 4.6), dpi=160, layout="constrained")
        axes: Any = figure.subplots()
        looks = run_looks(evaluation.runs)
        names = labels(evaluation.runs)
        lines = [evaluation.log_probs(run) for run in evaluation.runs]
        relation_lines(evaluation.bins, lines, looks, [each.light for each in looks], names)(axes)
        axes.set_title(f"{evaluation.corpus}, {evaluation.split}", fontsize=11, loc="left")
        explained = "\n".join(marks_explained(evaluation.runs))
        axes.set_title(explained, fontsize=7, loc="right", color="#555555")
        axes.grid(axis="y", color="#dddddd", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
        # Three short names fit side by side, more runs have longer ones.
        columns = len(evaluation.runs) if len(evaluation.runs) <= 3 else 2
        figure.legend(
            loc="outside lower center", ncols=columns, frameon=False, fontsize=9, handlelength=3
        )
        drawn = io.BytesIO()
        without_date = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
        figure.savefig(drawn, format=format_[1:], metadata=without_date[format_])
    return drawn.getvalue()


def relation_lines(
    bins: Sequence[RelationBin],
    lines: Sequence[Sequence[float]],
    looks: Sequence[RunLook],
    colours: Sequence[str],
    names: Sequence[str] | None = None,
) -> Draw:
    """Draw a line for each run over the bins of relations."""

    def draw(axes: Any) -> None:
        places = range(len(bins))
        for number, (line, look) in enumerate(zip(lines, looks, strict=True)):
            label = None if names is None else names[number]
            _line(axes, places, line, look, colours[number], label=label)
        ranges = [
            f"{each.fewest}" if each.fewest == each.most else f"{each.fewest}–{each.most}"
            for each in bins
        ]
        counts = [f"({len(each.members):,})" for each in bins]
        ticks = [f"{range_}\n{count}" for range_, count in zip(ranges, counts, strict=True)]
        axes.set_xticks(places, ticks, fontsize=8)
        axes.set_xlabel("relations of the topic (documents)")
        axes.set_ylabel("mean log-probability of a word (nats)")
        axes.set_axisbelow(True)
        axes.margins(x=0.04, y=0.12)

    return draw


def loss_lines(
    curves: Sequence[LearningCurve | None], looks: Sequence[RunLook], colours: Sequence[str]
) -> Draw:
    """Draw the loss of training over time."""

    def draw(axes: Any) -> None:
        for curve, look, colour in zip(curves, looks, colours, strict=True):
            points = [] if curve is None else _thinned(curve.losses)
            minutes = [point.seconds / 60 for point in points]
            losses = [point.loss for point in points]
            # A single point is no line: it is shown by its marker.
            _line(axes, minutes, losses, look, colour, has_markers=len(points) == 1)
        axes.set_xlabel("minutes of training")
        axes.set_ylabel("training loss (nats per token)")
        axes.set_xlim(left=0)

    return draw


def validation_lines(
    curves: Sequence[LearningCurve | None], looks: Sequence[RunLook], colours: Sequence[str]
) -> Draw:
    """Draw the perplexity of the validation documents over time, on a logarithmic scale."""

    def draw(axes: Any) -> None:
        shown: list[float] = []
        for curve, look, colour in zip(curves, looks, colours, strict=True):
            points = [] if curve is None else _thinned(curve.validations)
            perplexities = [point.perplexity for point in points]
            minutes = [point.seconds / 60 for point in points]
            _line(axes, minutes, perplexities, look, colour, has_markers=len(points) <= 40)
            shown += perplexities
        axes.set_xlabel("minutes of training")
        axes.set_ylabel("validation perplexity")
        axes.set_xlim(left=0)
        if shown:
            low, high = min(shown) * 0.9, max(shown) * 1.1
            axes.set_yscale("log")
            axes.set_ylim(low, high)
            ticks = logarithmic_ticks(low, high)
            axes.set_yticks(ticks, [f"{tick:,g}" for tick in ticks])
            axes.minorticks_off()

    return draw


def reliability_lines(
    bins: Sequence[Sequence[ReliabilityBin]], looks: Sequence[RunLook], colours: Sequence[str]
) -> Draw:
    """Draw how often models are right by how sure they are; larger markers are more places."""

    def draw(axes: Any) -> None:
        axes.plot([0, 1], [0, 1], color=axes.spines["left"].get_edgecolor(), linewidth=1.0)
        for table, look, colour in zip(bins, looks, colours, strict=True):
            filled = [each for each in table if each.places]
            most = max((each.places for each in filled), default=1)
            confidences = [each.confidence for each in filled]
            accuracies = [each.accuracy for each in filled]
            _line(axes, confidences, accuracies, look, colour, has_markers=False)
            sizes = [12 + 90 * each.places / most for each in filled]
            axes.scatter(
                confidences,
                accuracies,
                s=sizes,
                facecolors="none" if look.is_hollow else colour,
                edgecolors=colour,
                marker=look.marker,
                zorder=3,
            )
        axes.set_xlabel("probability of the best explanation")
        axes.set_ylabel("share of them that are true")
        axes.set_xlim(-0.03, 1.03)
        axes.set_ylim(-0.03, 1.06)

    return draw


_FEWEST_TICKS = 3


def logarithmic_ticks(low: float, high: float) -> list[float]:
    """Choose round numbers between two bounds; the bounds themselves where there are too few."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**power for power in powers for step in _STEPS]
    between = [tick for tick in ticks if low <= tick <= high]
    if len(between) > 7:
        between = [tick for tick in between if math.log10(tick) % 1 < 1e-9] or between
    if len(between) >= 2:
        return between
    power = 10.0 ** math.floor(math.log10(high - low)) if high > low else 1.0
    for part in (1, 2, 5):  # of the power of ten that lies between the bounds
        first, last = math.ceil(low / power * part), math.floor(high / power * part)
        even = [number * power / part for number in range(first, last + 1)]
        if len(even) >= _FEWEST_TICKS:
            break
    return even


def _line(
    axes: Any,
    places: Sequence[float] | range,
    values: Sequence[float],
    look: RunLook,
    colour: str,
    *,
    label: str | None = None,
    has_markers: bool = True,
) -> None:
    axes.plot(
        places,
        values,
        color=colour,
        linestyle=(0, look.dashes) if look.dashes else "-",
        marker=look.marker if has_markers else "",
        markerfacecolor="none" if look.is_hollow else colour,
        markersize=5,
        linewidth=1.8,
        label=label,
    )


def _thinned(points: Sequence[Point]) -> Sequence[Point]:
    """Take some points of very many, the last among them."""
    step = -(-len(points) // MOST_POINTS)
    return points if step <= 1 else points[::-step][::-1]


def _figure_class() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError(
            "plots need matplotlib, which is not installed; install it with:"
            " pip install 'lrlm[plots]'"
        ) from None
    return Figure
