"""One table in three renderings."""

import io

from rich.console import Console

from lrlm.report.sheet import Cell, Sheet, to_latex, to_markdown, to_terminal

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
