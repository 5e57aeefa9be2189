"""A corpus in, the paper's table of dataset statistics out, for the terminal."""

from rich.table import Table
from rich.text import Text

from lrlm.corpora.corpus import Corpus

_FORMATS = {
    "documents": "{:,.0f}",
    "words": "{:,.0f}",
    "frequent words": "{:,.0f}",
    "tokens covered": "{:.1%}",
}


def corpus_table(corpus: Corpus) -> Table:
    """Lay the statistics of all splits side by side."""
    table = Table(
        title=Text(f"Corpus {corpus.folder.resolve().name}", "italic"),
        title_justify="left",
        box=None,
    )
    table.add_column("")
    for split in corpus.splits:
        table.add_column(split, justify="right")
    columns = [corpus.statistics(split) for split in corpus.splits]
    for name in columns[0] if columns else ():
        text = _FORMATS.get(name, "{:,.2f}")
        label = "frequent words (3 or more times)" if name == "frequent words" else name
        table.add_row(label, *(text.format(figures[name]) for figures in columns))
    return table
