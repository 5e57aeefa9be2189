"""Mention statistics in, the paper's table of generated samples out."""

from lrlm.evaluation.mentions import MentionCounts, MentionStatistics
from lrlm.report.sheet import Cell, Sheet

_MEANING = (
    "A full mention is a whole form of an object, a partial one some of its words; a repeated one"
    " is full and names an object again."
)


def mention_sheet(statistics: MentionStatistics) -> Sheet:
    """Lay out what each run names in a text, beside the articles."""
    counted = {**statistics.runs, "the articles": statistics.gold}
    return Sheet(
        title=(
            f"Mentions in a text: {statistics.samples} samples about each of"
            f" {statistics.topics} topics of {statistics.split}"
        ),
        columns=("", "texts", "partial", "full", "repeated"),
        rows=[_row(name, counts) for name, counts in counted.items()],
        notes=(_MEANING,),
    )


def _row(name: str, counts: MentionCounts) -> list[Cell]:
    means = (counts.partial, counts.full, counts.repeated)
    return [Cell(name), Cell(f"{counts.texts:,}"), *(Cell(f"{mean:.2f}") for mean in means)]
