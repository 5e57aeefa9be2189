"""What was claimed beside gold mentions in, its tables out: all methods, then by threshold."""

from collections.abc import Sequence

from lrlm.evaluation.gold import Counts, GoldMentions, GoldQuality, Level, LevelCounts
from lrlm.evaluation.results import Evaluation
from lrlm.report.sheet import Cell, Sheet

_NOTHING = "–"


def gold_sheets(evaluation: Evaluation, labels: Sequence[str], where: str) -> list[Sheet]:
    """Give the tables of gold mentions; none if they were not asked for.

    `labels` name the evaluation's runs, `where` names its documents.
    """
    if evaluation.gold is None:
        return []
    judged = {
        label: run.gold
        for label, run in zip(labels, evaluation.runs, strict=True)
        if run.gold is not None
    }
    silent = [label for label, run in zip(labels, evaluation.runs, strict=True) if run.gold is None]
    return [
        gold_sheet(evaluation.gold, judged, silent, where),
        *(threshold_sheet(label, quality, where) for label, quality in judged.items()),
    ]


def gold_sheet(
    gold: GoldMentions, judged: dict[str, GoldQuality], silent: Sequence[str], where: str
) -> Sheet:
    """Lay out how well string matching and the best paths agree with the gold mentions."""
    methods: dict[str, LevelCounts] = {
        "every candidate": gold.every_candidate,
        "longest match": gold.longest_match,
        **{label: quality.best_path for label, quality in judged.items()},
    }
    rows = []
    for level in Level:
        best = max((counts[level].f1 or 0.0) for counts in methods.values())
        rows += [_row(level.value, name, counts[level], best) for name, counts in methods.items()]
    return Sheet(
        f"Gold mentions of {where}",
        ("level", "annotation", "gold", "claimed", "right", "precision", "recall", "F1"),
        rows,
        text_columns=2,
        notes=_notes(gold, silent, any_model=bool(judged)),
    )


def threshold_sheet(label: str, quality: GoldQuality, where: str) -> Sheet:
    """Lay out precision, recall and F1 of all claims that are at least so probable."""
    best = {
        level: max((counts[level].f1 or 0.0) for counts in quality.by_threshold.values())
        for level in Level
    }
    rows = []
    for threshold, counts in quality.by_threshold.items():
        row = [Cell(f"{threshold:.2f}")]
        for level in Level:
            f1 = counts[level].f1
            row += [
                Cell(_share(counts[level].precision)),
                Cell(_share(counts[level].recall)),
                Cell(_share(f1), is_best=f1 is not None and f1 == best[level]),
            ]
        rows.append(row)
    return Sheet(
        f"Gold mentions by the least probability of a claim, {label}, {where}",
        ("from", *(title for level in Level for title in (f"{level.value} P", "R", "F1"))),
        rows,
        notes=[
            "A claim is made from so high a probability on. P: precision; R: recall.",
            "The best F1 is chosen on these very documents.",
        ],
    )


def _row(level: str, name: str, counts: Counts, best: float) -> list[Cell]:
    return [
        Cell(level),
        Cell(name),
        Cell(f"{counts.gold:,}"),
        Cell(f"{counts.claimed:,}"),
        Cell(f"{counts.right:,}"),
        Cell(_share(counts.precision)),
        Cell(_share(counts.recall)),
        Cell(_share(counts.f1), is_best=counts.f1 is not None and counts.f1 == best),
    ]


def _notes(gold: GoldMentions, silent: Sequence[str], *, any_model: bool) -> list[str]:
    notes = [f"{gold.documents:,} documents; object: with the span; relation: with both."]
    if any_model:
        notes.append("A model claims the mentions on its best path.")
    missed = ", ".join(f"{gold.unreachable(level):,} ({level.value})" for level in Level)
    if gold.unreachable(Level.RELATION) or gold.unreachable(Level.SPAN):
        notes.append(f"Gold mentions that no candidate is, so that no method finds them: {missed}.")
    if gold.without_fact:
        notes.append(
            f"{gold.without_fact:,} gold mentions name an object that the topic's graph lacks."
        )
    if gold.mentions[Level.RELATION] < gold.mentions[Level.SPAN]:
        notes.append(
            "Gold mentions whose object or type is not known, and claims that agree with them,"
            " are not counted where it is compared."
        )
    if silent:
        notes.append(f"Without a posterior, so without annotations: {'; '.join(silent)}.")
    return notes


def _share(value: float | None) -> str:
    return _NOTHING if value is None else f"{value:.3f}"
