"""Show in a terminal what a text may be about, and say where that is not sure."""

from rich.console import Group
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from lrlm.characters import printable
from lrlm.look import clipped, counted, percent
from lrlm.topics.ranking import TopicMatch, TopicRanking

_TOLD = 3
_WORTH_TELLING = 0.01


def ranking_view(ranking: TopicRanking) -> Group:
    """Show the topics of a ranking in a table, the most probable first."""
    compared = counted(ranking.considered, "topic")
    title = Text.assemble(
        (printable(clipped(ranking.text)), "bold"), (f"  {compared} compared", "dim")
    )
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("topic")
    table.add_column("id")
    table.add_column("probability", justify="right", no_wrap=True)
    table.add_column("log P(text | topic)", justify="right", no_wrap=True)
    table.add_column("facts", justify="right")
    for match in ranking.matches:
        table.add_row(
            Text(printable(match.name), "bold" if match is ranking.best else ""),
            Text(printable(match.id), "dim"),
            percent(match.probability),
            f"{match.log_prob:.1f}",
            f"{len(match.topic.relations):,}",
        )
    table.add_row(Text("none of them", "dim"), "", percent(ranking.none), "", "")
    return Group(Rule(title, align="left"), Padding(table, (0, 0, 1, 0)))


def doubts(ranking: TopicRanking) -> list[str]:
    """Say what else a text may be about, where one topic does not have nearly all probability."""
    best = ranking.best
    if best is None or ranking.is_sure:
        return []
    others = [
        match
        for match in ranking.matches
        if match is not best and match.probability >= _WORTH_TELLING
    ]
    told = ", ".join(map(_told, others[:_TOLD])) or "none of the topics"
    return [f"it is not sure that the text is about {_told(best)}; it may be about {told}"]


def _told(match: TopicMatch) -> str:
    return f"{match.name} ({percent(match.probability)})"
