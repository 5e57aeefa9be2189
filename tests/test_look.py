"""What all views share: how numbers are written, which colours types have."""

import base64
import hashlib

import pytest
from rich.color import ColorSystem
from rich.style import Style

from lrlm.look import (
    PASTEL,
    SIXTEEN,
    counted,
    fragment,
    hues,
    marked_name,
    page,
    percent,
    shown_perplexity,
    terminal_styles,
)


def test_one_is_one() -> None:
    assert [counted(number, "token") for number in (0, 1, 2000)] == [
        "0 tokens", "1 token", "2,000 tokens",
    ]  # fmt: skip
    assert [counted(number, "entity", "entities") for number in (1, 2)] == [
        "1 entity",
        "2 entities",
    ]


def test_long_perplexities_are_powers_of_ten() -> None:
    assert shown_perplexity(2.04) == "2.0"
    assert shown_perplexity(1234567.8) == "1,234,567.8"
    assert shown_perplexity(1.234e300) == "1.2e+300"


@pytest.mark.parametrize(
    ("probability", "written"),
    [(1.0, "> 99.9 %"), (0.9994, "99.9 %"), (0.5, "50.0 %"), (0.0005, "0.1 %"), (0.0, "< 0.1 %")],
)
def test_probabilities_are_not_overstated(probability: float, written: str) -> None:
    assert percent(probability) == written


def test_colours_depend_on_the_order_alone() -> None:
    types = [f"type {number}" for number in range(30)]
    assert len(set(hues(types).values())) == 30
    assert hues(["b", "a", "b"]) == hues(["b", "a"])
    assert set(terminal_styles(types)) == set(types)


@pytest.mark.parametrize(
    ("palette", "system"),
    [
        (PASTEL, ColorSystem.TRUECOLOR),
        (PASTEL, ColorSystem.EIGHT_BIT),
        (SIXTEEN, ColorSystem.STANDARD),
    ],
)
def test_no_two_types_look_alike(palette: tuple[str, ...], system: ColorSystem) -> None:
    types = [f"type {number}" for number in range(4 * len(palette))]
    styles = terminal_styles(types, palette)
    drawn = {Style.parse(style).render("x", color_system=system) for style in styles.values()}
    assert len(drawn) == len(types)


def test_a_fragment_escapes_what_it_is_given() -> None:
    mark = marked_name("<b>", type_='"t"', hue=210, told='<i> "x"')
    assert 'title="&lt;i&gt; &quot;x&quot;"' in mark
    assert "&lt;b&gt;<small" in mark
    assert "&quot;t&quot;</small>" in mark
    assert "&lt;p&gt;" in fragment("<p>", mark)


def test_a_page_runs_no_script_but_its_own() -> None:
    script = "let a = 1;"
    fingerprint = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{fingerprint}'" in page("t", "<p></p>", script=script)
    assert "script-src 'none'" in page("t", "<p></p>")
