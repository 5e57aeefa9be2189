"""A table of plain cells, and how it is written for terminals, pages, Markdown and LaTeX."""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding, PaddingDimensions
from rich.table import Table
from rich.text import Text

from lrlm.look import html_text

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


@dataclass(frozen=True)
class _TerminalSheet:
    """A sheet that fits itself to the width of the terminal that shows it."""

    sheet: Sheet

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        sheet = self.sheet
        yield Text(sheet.title, "italic")
        for number, table in enumerate(_tables(sheet, options.max_width)):
            if number:
                yield Text()
            yield table
        for note in sheet.notes:
            yield Padding(Text(note, "dim"), (0, 1))


def to_terminal(sheet: Sheet) -> RenderableType:
    """Lay a sheet out for the terminal, with all its columns, however narrow that is.

    Where the columns do not fit side by side, headings and texts take several lines and columns
    move closer together; where that is not enough, further columns follow in a table below.
    """
    return _TerminalSheet(sheet)


def _tables(sheet: Sheet, width: int) -> Iterator[Table]:
    """Give one table, or several that repeat the columns of text, if one would be too wide."""
    everything = range(len(sheet.columns))
    natural = [_longest_text(sheet, number, "\n") for number in everything]
    least = [_longest_text(sheet, number, None) for number in everything]
    if sum(natural) + 2 * len(natural) <= width:
        yield _table(sheet, everything, natural, (0, 1))
        return
    # One blank between columns, and one before the first.
    texts, numbers = everything[: sheet.text_columns], everything[sheet.text_columns :]
    widest = max((least[number] + 1 for number in numbers), default=0)
    while (room := width - 1 - sum(least[number] + 1 for number in texts)) < widest:
        longest = max(texts, key=least.__getitem__)
        if least[longest] == 1:
            break
        least[longest] -= 1  # words are cut before numbers are
    for columns in _blocks(numbers, least, room):
        shown = [*texts, *columns]
        spare = width - 1 - sum(least[number] + 1 for number in shown)
        widths = []
        for number in shown:
            more = max(0, min(natural[number] - least[number], spare))
            widths.append(least[number] + more)
            spare -= more
        yield _table(sheet, shown, widths, (0, 0, 0, 1))


def _blocks(numbers: Sequence[int], least: Sequence[int], room: int) -> Iterator[list[int]]:
    """Cut the columns of numbers into blocks that are not too wide, of one column at least."""
    block: list[int] = []
    for number in numbers:
        if block and sum(least[each] + 1 for each in [*block, number]) > room:
            yield block
            block = []
        block.append(number)
    yield block


def _table(
    sheet: Sheet, columns: Sequence[int], widths: Sequence[int], padding: PaddingDimensions
) -> Table:
    table = Table(box=None, padding=padding)
    for number, width in zip(columns, widths, strict=True):
        table.add_column(
            Text(sheet.columns[number]),
            justify="left" if number < sheet.text_columns else "right",
            width=width,
            overflow="fold",
        )
    for row in sheet.rows:
        cells = (row[number] for number in columns)
        table.add_row(
            *(Text(cell.text + cell.mark, "bold green" if cell.is_best else "") for cell in cells)
        )
    return table


def _longest_text(sheet: Sheet, column: int, separator: str | None) -> int:
    """Give how many places the widest line of a column takes; without a separator, its word."""
    texts = [sheet.columns[column], *(row[column].text + row[column].mark for row in sheet.rows)]
    return max((cell_len(part) for text in texts for part in text.split(separator)), default=1)


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


def to_html(sheet: Sheet) -> str:
    """Write a sheet as a part of a page; a table that is too wide for it can be scrolled."""
    head = "".join(
        f'<th scope="col"{_html_side(sheet, number)}>{html_text(column)}</th>'
        for number, column in enumerate(sheet.columns)
    )
    rows = "\n".join(f"<tr>{_html_row(sheet, row)}</tr>" for row in sheet.rows)
    notes = "".join(f"<li>{html_text(note)}</li>" for note in sheet.notes)
    title = html_text(sheet.title)
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{title}"><table>\n'
        f"<caption>{title}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{rows}\n</tbody>\n</table></div>\n"
        + (f'<ul class="notes">{notes}</ul>\n' if notes else "")
    )


def _html_row(sheet: Sheet, row: Sequence[Cell]) -> str:
    cells = []
    for number, cell in enumerate(row):
        mark = f"<sup>{html_text(cell.mark)}</sup>" if cell.mark else ""
        text = f"<b>{html_text(cell.text)}</b>" if cell.is_best else html_text(cell.text)
        tag = 'th scope="row"' if number == 0 else "td"
        cells.append(f"<{tag}{_html_side(sheet, number)}>{text}{mark}</{tag[:2]}>")
    return "".join(cells)


def _html_side(sheet: Sheet, column: int) -> str:
    return "" if column < sheet.text_columns else ' class="number"'


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
