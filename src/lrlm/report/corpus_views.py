"""Show corpora and knowledge in the terminal: statistics, linked articles, topics."""

from collections.abc import Sequence

from rich.console import Group
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from lrlm.characters import printable
from lrlm.corpora.corpus import Corpus
from lrlm.corpora.linking import prune
from lrlm.knowledge import Topic
from lrlm.look import PASTEL, terminal_styles
from lrlm.report.sheet import Cell, Sheet
from lrlm.text.document import LinkedDocument, Mention

_FORMATS = {
    "documents": "{:,.0f}",
    "words": "{:,.0f}",
    "frequent words": "{:,.0f}",
    "tokens covered": "{:.1%}",
}


def corpus_sheet(corpus: Corpus) -> Sheet:
    """Lay the statistics of all splits side by side."""
    columns = [corpus.statistics(split) for split in corpus.splits]
    rows = []
    for name in columns[0] if columns else ():
        text = _FORMATS.get(name, "{:,.2f}")
        label = "frequent words (3 or more times)" if name == "frequent words" else name
        rows.append([Cell(label), *(Cell(text.format(figures[name])) for figures in columns)])
    return Sheet(f"{corpus.folder.resolve().name} in numbers", ("", *corpus.splits), rows)


def article_view(document: LinkedDocument, *, palette: Sequence[str] = PASTEL) -> Group:
    """Show the text with its longest mentions coloured, and what each of them may come from."""
    shown = prune(document.mentions, document.relations)
    styles = _styles(document, shown, palette)
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


def _styles(
    document: LinkedDocument, shown: list[Mention], palette: Sequence[str]
) -> dict[int, str]:
    """Give each relation that is shown a colour; the same type always has the same one here."""
    types = {mention.relation: document.relations[mention.relation].type for mention in shown}
    by_type = terminal_styles(types.values(), palette)
    return {relation: by_type[type_] for relation, type_ in types.items()}


def _candidates(document: LinkedDocument, shown: list[Mention], styles: dict[int, str]) -> Table:
    """List each coloured text once, with every relation that could have produced it."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("mention")
    table.add_column("may come from")
    rows: dict[str, tuple[str, list[str]]] = {}
    for mention in shown:
        first, last = mention.start, mention.end - 1
        text = document.text[document.tokens.starts[first] : document.tokens.ends[last]]
        words = printable(" ".join(text.split()))
        relations = [
            document.relations[other.relation]
            for other in document.mentions
            if other.start == mention.start and other.end == mention.end
        ]
        sources = [printable(f"{each.label} → {each.object}") for each in relations]
        rows.setdefault(words, (styles[mention.relation], sources))
    for words, (style, sources) in rows.items():
        table.add_row(
            Text.assemble((words, style)), Text("  or  ".join([*dict.fromkeys(sources), "words"]))
        )
    return table


def topic_table(topic: Topic) -> Group:
    """Show a topic's names and, of each relation, the object with its forms."""
    label, *aliases = topic.names
    heading = Text.assemble((printable(label), "bold"), f"  {printable(topic.id)}")
    if aliases:
        heading.append(f"\nalso: {printable(' · '.join(aliases))}", "dim")
    table = Table("relation", "object", "also written", box=None, padding=(0, 2, 0, 0))
    for relation in topic.relations:
        form, *others = relation.forms
        table.add_row(
            Text(printable(relation.label)),
            Text(printable(form)),
            Text(printable(" · ".join(others)), style="dim"),
        )
    return Group(heading, *([table] if topic.relations else ["no relations start here"]))
