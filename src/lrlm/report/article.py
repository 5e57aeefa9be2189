"""A linked document in, its text with candidate mentions in colour out, for the terminal."""

from rich.console import Group
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from lrlm.corpora.pruning import prune
from lrlm.report.colours import terminal_styles
from lrlm.report.printable import printable
from lrlm.text.document import LinkedDocument, Mention


def article_view(document: LinkedDocument) -> Group:
    """Show the text with its longest mentions coloured, and what each of them may come from."""
    shown = prune(document.mentions, document.relations)
    styles = _styles(document, shown)
    text = Text(printable(document.text))
    for mention in shown:
        text.stylize(
            styles[mention.relation],
            document.tokens.starts[mention.start],
            document.tokens.ends[mention.end - 1],
        )
    title = Text.assemble(
        (printable(document.title), "bold"), (f"  {printable(document.id)}", "dim")
    )
    return Group(Rule(title, align="left"), text, Padding(_candidates(document, shown, styles), 1))


def _styles(document: LinkedDocument, shown: list[Mention]) -> dict[int, str]:
    """Give each relation that is shown a colour; the same type always has the same one here."""
    by_type = terminal_styles(document.relations[mention.relation].type for mention in shown)
    return {m.relation: by_type[document.relations[m.relation].type] for m in shown}


def _candidates(document: LinkedDocument, shown: list[Mention], styles: dict[int, str]) -> Table:
    """List each coloured text once, with every relation that could have produced it."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("mention")
    table.add_column("may come from")
    rows: dict[str, tuple[str, list[str]]] = {}
    for mention in shown:
        words = " ".join(document.tokens.words[mention.start : mention.end])
        relations = [
            document.relations[other.relation]
            for other in document.mentions
            if other.start == mention.start and other.end == mention.end
        ]
        sources = [f"{relation.type} → {relation.object}" for relation in relations]
        rows.setdefault(words, (styles[mention.relation], sources))
    for words, (style, sources) in rows.items():
        table.add_row(
            Text.assemble((words, style)), Text("  or  ".join([*dict.fromkeys(sources), "words"]))
        )
    return table
