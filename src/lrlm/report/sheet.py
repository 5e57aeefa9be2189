"""A table of plain cells, and how it is written for the terminal, in Markdown and in LaTeX."""

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": "$<$", ">": "$>$", "|": "$|$", "–": "--", "−": "$-$",
}  # fmt: skip
_LATEX_MARKS = {"*": r"\ast", "†": r"\dagger", "‡": r"\ddagger"}
"""Raised, wherever they stand."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A value as text, with what is said about it."""

    text: str
    mark: str = ""
    """Asterisks or daggers after the value."""
    is_best: bool = False
    """Whether it stands out."""


@dataclass(frozen=True)
class Sheet:
    """A titled table; the first columns of text are aligned left, the others right."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    text_columns: int = 1
    notes: Sequence[str] = field(default_factory=tuple)
    """Each begins with the mark that it explains, if it explains one."""


def to_terminal(sheet: Sheet) -> RenderableType:
    """Lay a sheet out for the terminal; where it is narrow, headings take several lines."""
    table = Table(box=None)
    for number, column in enumerate(sheet.columns):
        words = (
            word for row in sheet.rows for word in f"{row[number].text}{row[number].mark}".split()
        )
        table.add_column(
            Text(column),
            justify="left" if number < sheet.text_columns else "right",
            min_width=max(map(len, words), default=1),
            overflow="fold",
        )
    for row in sheet.rows:
        table.add_row(
            *(Text(cell.text + cell.mark, "bold green" if cell.is_best else "") for cell in row)
        )
    notes = (Padding(Text(note, "dim"), (0, 1)) for note in sheet.notes)
    return Group(Text(sheet.title, "italic"), table, *notes)


def to_markdown(sheet: Sheet) -> str:
    """Write a sheet in Markdown."""
    lines = [f"**{_markdown(sheet.title)}**", "", _line(map(_markdown, sheet.columns))]
    lines.append(
        _line("---" if n < sheet.text_columns else "--:" for n in range(len(sheet.columns)))
    )
    lines += [_line(_markdown_cell(cell) for cell in row) for row in sheet.rows]
    for note in sheet.notes:
        lines += ["", _markdown(note)]
    return "\n".join(lines) + "\n"


def to_latex(sheet: Sheet) -> str:
    """Write a sheet in LaTeX; it needs the package booktabs."""
    kinds = "".join("l" if n < sheet.text_columns else "r" for n in range(len(sheet.columns)))
    lines = [r"\begin{table}", r"\centering", r"\small", rf"\begin{{tabular}}{{{kinds}}}"]
    lines += [r"\toprule", _latex_line(_latex(column) for column in sheet.columns), r"\midrule"]
    lines += [_latex_line(_latex_cell(cell) for cell in row) for row in sheet.rows]
    caption = " ".join([f"{_latex(sheet.title)}.", *map(_latex, sheet.notes)])
    lines += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{caption}}}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown(text: str) -> str:
    return re.sub(r"([\\`*_\[\]|<>])", r"\\\1", text)


def _markdown_cell(cell: Cell) -> str:
    text = f"**{_markdown(cell.text)}**" if cell.is_best else _markdown(cell.text)
    return text + _markdown(cell.mark)


def _latex_line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _latex(text: str) -> str:
    parts = re.split(r"([*†‡]+)", text)
    return "".join(
        f"$^{{{''.join(_LATEX_MARKS[mark] for mark in part)}}}$"
        if is_marks
        else "".join(_LATEX.get(letter, letter) for letter in part)
        for part, is_marks in zip(parts, itertools.cycle([False, True]))
    )


def _latex_cell(cell: Cell) -> str:
    text = rf"\textbf{{{_latex(cell.text)}}}" if cell.is_best else _latex(cell.text)
    return text + _latex(cell.mark)
