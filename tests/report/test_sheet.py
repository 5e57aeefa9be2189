"""One table in four renderings."""

import io

import pytest
from rich.console import Console

from lrlm.report.sheet import Cell, Sheet, to_html, to_latex, to_markdown, to_terminal

SHEET = Sheet(
    "A_b & c, 5 %",
    ("model", "p|q"),
    [
        [Cell("NKLM", mark="†"), Cell("< 3.50", mark="**", is_best=True)],
        [Cell("[bold]x"), Cell("–")],
    ],
    notes=["† with one annotation", "p: * p < 0.05, ** p < 0.01"],
)

CAPTION = (
    r"\caption{A\_b \& c, 5 \%. $^{\dagger}$ with one annotation"
    r" p: $^{\ast}$ p $<$ 0.05, $^{\ast\ast}$ p $<$ 0.01}"
)


def test_the_terminal_shows_texts_as_they_are() -> None:
    console = Console(file=io.StringIO(), width=60)
    console.print(to_terminal(SHEET))
    assert isinstance(console.file, io.StringIO)
    lines = [line.rstrip() for line in console.file.getvalue().splitlines()]
    assert lines == [
        "A_b & c, 5 %",
        " model         p|q",
        " NKLM†    < 3.50**",
        " [bold]x         –",
        " † with one annotation",
        " p: * p < 0.05, ** p < 0.01",
    ]


def test_markdown_is_escaped() -> None:
    assert to_markdown(SHEET).splitlines() == [
        "**A\\_b & c, 5 %**",
        "",
        "| model | p\\|q |",
        "| --- | --: |",
        "| NKLM† | **\\< 3.50**\\*\\* |",
        "| \\[bold\\]x | – |",
        "",
        "† with one annotation",
        "",
        "p: \\* p \\< 0.05, \\*\\* p \\< 0.01",
    ]


def test_html_is_escaped() -> None:
    assert to_html(SHEET).splitlines() == [
        '<div class="scroll" role="region" tabindex="0" aria-label="A_b &amp; c, 5 %"><table>',
        "<caption>A_b &amp; c, 5 %</caption>",
        '<thead><tr><th scope="col">model</th><th scope="col" class="number">p|q</th></tr></thead>',
        "<tbody>",
        (
            '<tr><th scope="row">NKLM<sup>†</sup></th>'
            '<td class="number"><b>&lt; 3.50</b><sup>**</sup></td></tr>'
        ),
        '<tr><th scope="row">[bold]x</th><td class="number">–</td></tr>',
        "</tbody>",
        "</table></div>",
        (
            '<ul class="notes"><li>† with one annotation</li>'
            "<li>p: * p &lt; 0.05, ** p &lt; 0.01</li></ul>"
        ),
    ]


def test_latex_is_escaped() -> None:
    assert to_latex(SHEET).splitlines() == [
        r"\begin{table}",
        r"\centering",
        r"\small",
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"model & p$|$q \\",
        r"\midrule",
        r"NKLM$^{\dagger}$ & \textbf{$<$ 3.50}$^{\ast\ast}$ \\",
        r"[bold]x & -- \\",
        r"\bottomrule",
        r"\end{tabular}",
        CAPTION,
        r"\end{table}",
    ]


def test_on_a_narrow_terminal_no_number_is_cut() -> None:
    names = [f"Model number {n}, Transformer-XL" for n in range(4)]
    rows = [[Cell("10–15")] + [Cell(f"{1000.5 + n:,.2f}") for n in range(4)]]
    console = Console(width=60, file=io.StringIO(), force_terminal=False)
    console.print(to_terminal(Sheet("A title", ["relations", *names], rows)))
    output = console.file.getvalue()  # type: ignore[attr-defined]
    assert "10–15" in output
    assert all(f"{1000.5 + n:,.2f}" in output for n in range(4))
    assert "…" not in output


@pytest.mark.parametrize("width", [160, 80, 60, 40, 30])
def test_every_column_is_shown_whole_however_narrow_the_terminal_is(width: int) -> None:
    headings = ["model", "backbone", "run", "perplexity", "UPP", "oracle", "inside", "outside", "p"]
    rows = [
        [Cell("Vanilla LM"), Cell("Transformer-XL"), Cell("a-run-with-a-long-name")]
        + [Cell(f"1,23{column}.5{row}", mark="**") for column in range(5)]
        + [Cell(f"0.000{row}")]
        for row in range(3)
    ]
    console = Console(width=width, file=io.StringIO(), force_terminal=False)
    console.print(to_terminal(Sheet("A title", headings, rows, text_columns=3)))
    output = console.file.getvalue()  # type: ignore[attr-defined]
    assert max(map(len, output.splitlines())) <= width
    for row in rows:
        assert all(output.count(cell.text + cell.mark) == 1 for cell in row[3:])
    assert all(heading in output.split() for heading in headings[3:])
