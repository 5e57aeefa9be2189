"""The figure of an evaluation that was made by hand."""

import sys
from pathlib import Path

import pytest

from lrlm.errors import InputError, MissingExtraError
from lrlm.report.plots import check_plot, draw_relation_plot
from tests.report.test_evaluation_tables import FOUR


@pytest.mark.parametrize(
    ("format_", "beginning"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")]
)
def test_the_plot_is_a_file_of_its_format_and_always_the_same(
    format_: str, beginning: bytes
) -> None:
    drawn = draw_relation_plot(FOUR, format_)
    assert drawn.startswith(beginning)
    assert draw_relation_plot(FOUR, format_) == drawn


def test_a_plot_of_another_kind_is_refused() -> None:
    with pytest.raises(InputError, match=r"bins.doc: a plot is a .png, .svg, .pdf file"):
        check_plot(Path("bins.doc"))


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'lrlm\[plots\]'"):
        check_plot(Path("bins.png"))
