"""A topic of a graph in, a table of its relations out."""

from rich.console import Group
from rich.table import Table
from rich.text import Text

from lrlm.knowledge import KnowledgeGraph, Topic
from lrlm.report.printable import printable


def topic_table(graph: KnowledgeGraph, topic: Topic) -> Group:
    """Show a topic's names and, of each relation, the object with its forms."""
    label, *aliases = topic.names
    heading = Text.assemble((printable(label), "bold"), f"  {printable(topic.id)}")
    if aliases:
        heading.append(f"\nalso: {printable(' · '.join(aliases))}", "dim")
    table = Table("relation", "object", "also written", box=None, padding=(0, 2, 0, 0))
    labels = {type_: graph.relation_label(type_) for type_ in {r.type for r in topic.relations}}
    for relation in topic.relations:
        form, *others = relation.forms
        table.add_row(
            Text(printable(labels[relation.type])),
            Text(printable(form)),
            Text(printable(" · ".join(others)), style="dim"),
        )
    return Group(heading, *([table] if topic.relations else ["no relations start here"]))
