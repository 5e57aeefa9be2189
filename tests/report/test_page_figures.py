"""Figures of a page: in its colours, with ids of their own, the same every time."""

import math
import re

from hypothesis import given
from hypothesis import strategies as st

from lrlm.models import MODELS
from lrlm.report.page_figures import page_figure, run_colour, run_colours_style, run_key
from lrlm.report.plots import MOST_POINTS, logarithmic_ticks, loss_lines, validation_lines
from lrlm.report.run_looks import run_looks
from lrlm.runs.learning_curve import LearningCurve, LossPoint
from tests.report.test_evaluation_tables import result
from tests.report.test_study_page import CURVE

EVERY_LOOK = run_looks([result(kind, 9.0) for kind in MODELS])
LOOKS = run_looks([result("vanilla", 9.0), result("lrlm", 9.0)])
COLOURS = [run_colour(0), run_colour(1)]


def test_a_figure_takes_colours_and_letters_from_its_page() -> None:
    drawn = page_figure(
        validation_lines([CURVE, CURVE], LOOKS, COLOURS), name="valid", title="a <title>"
    )
    assert drawn.startswith('<svg class="figure" viewBox="')
    assert 'role="img" aria-label="a &lt;title&gt;"' in drawn
    for variable in ("--run0", "--run1", "--quiet", "--line"):
        assert f"var({variable})" in drawn
    assert "#fe" not in drawn
    assert "system-ui" in drawn
    assert "DejaVu" not in drawn
    assert "<style" not in drawn
    assert ">20</text>" in drawn
    assert all(name.startswith("valid-") for name in re.findall(r'\bid="([^"]+)"', drawn))
    assert set(re.findall(r'href="#([^"]+)"', drawn)) <= set(re.findall(r'id="([^"]+)"', drawn))


def test_runs_without_a_curve_leave_room_for_the_others() -> None:
    drawn = page_figure(loss_lines([None, CURVE], LOOKS, COLOURS), name="loss", title="t")
    assert "var(--run1)" in drawn
    assert "minutes of training" in drawn


def test_very_long_curves_are_thinned() -> None:
    points = [LossPoint(number, 60.0 * number, 5.0 + number % 7) for number in range(40_000)]
    curve = LearningCurve(tuple(points), ())
    drawn = page_figure(loss_lines([curve, None], LOOKS, COLOURS), name="loss", title="t")
    assert len(drawn) < 100 * MOST_POINTS


def test_runs_have_a_colour_on_light_and_on_dark_ground() -> None:
    style = run_colours_style(LOOKS)
    assert f"--run1: {LOOKS[1].light};" in style
    assert f"--run1: {LOOKS[1].dark};" in style.partition("dark")[2]
    assert "var(--run1)" in run_key(1, LOOKS[1])


def test_the_legend_knows_the_marker_of_every_model() -> None:
    assert len({run_key(0, look) for look in EVERY_LOOK}) == len(EVERY_LOOK)


def test_a_narrow_range_has_several_marks() -> None:
    assert logarithmic_ticks(103, 228) == [120, 140, 160, 180, 200, 220]
    assert logarithmic_ticks(2.3, 3.9) == [2.5, 3.0, 3.5]


@given(st.floats(1, 1e6), st.floats(1.02, 1e4))
def test_there_are_marks_within_the_bounds(low: float, ratio: float) -> None:
    ticks = logarithmic_ticks(low, low * ratio)
    assert 1 <= len(ticks) <= 12
    assert ticks == sorted(ticks)
    assert all(low * (1 - 1e-9) <= tick <= low * ratio * (1 + 1e-9) for tick in ticks)
    assert all(math.isfinite(tick) for tick in ticks)
