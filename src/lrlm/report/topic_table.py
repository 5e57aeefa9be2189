"""A topic of a graph in, a table of its relations out."""

from rich.console import Group
from rich.table import Table
from rich.text import Text

from lrlm.knowledge import KnowledgeGraph, Topic


def topic_table(graph: KnowledgeGraph, topic: Topic) -> Group:
    """Show a topic's names and, of each relation, the object with its forms."""
    label, *aliases = topic.names
    heading = Text.assemble((label, "bold"), f"  {topic.id}")
    if aliases:
        heading.append(f"\nalso: {' · '.join(aliases)}", "dim")
    table = Table("relation", "object", "also written", box=None, padding=(0, 2, 0, 0))
    labels = {type_: graph.relation_label(type_) for type_ in {r.type for r in topic.relations}}
    for relation in topic.relations:
        form, *others = relation.forms
        table.add_row(
            Text(labels[relation.type]), Text(form), Text(" · ".join(others), style="dim")
        )
    return Group(heading, *([table] if topic.relations else ["no relations start here"]))
