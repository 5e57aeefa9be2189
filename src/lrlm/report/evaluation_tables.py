"""The tables of an evaluation: perplexity, bins of relations, annotation, gold and mentions."""

import math
from collections.abc import Callable, Mapping, Sequence

from lrlm.evaluation.annotation_quality import Verdict, Way
from lrlm.evaluation.document_scores import Spelling
from lrlm.evaluation.gold import (
    ContestedMentions,
    Counts,
    GoldMentions,
    GoldQuality,
    Level,
    LevelCounts,
)
from lrlm.evaluation.mentions import MentionCounts, MentionStatistics
from lrlm.evaluation.results import Evaluation, RunResult
from lrlm.look import counted
from lrlm.report.sheet import Cell, Sheet

_COLUMNS = {
    "perplexity": "perplexity",
    "upp": "UPP",
    "oracle_spelling": "oracle",
    "inside": "inside",
    "outside": "outside",
}
_SPELLINGS = {
    "perplexity": Spelling.OPEN,
    "upp": Spelling.UPP,
    "oracle_spelling": Spelling.ORACLE,
}
_MENTIONS = (
    "A full mention is a whole form of an object, a partial one some of its words; a repeated one"
    " is full and names an object again."
)
_NOTHING = "–"
_SMALLEST_P = 0.0001


def evaluation_sheets(evaluation: Evaluation) -> list[Sheet]:
    """Give every table of an evaluation; those that say nothing are left out."""
    judged = [run for run in evaluation.runs if run.annotation is not None]
    return [
        perplexity_sheet(evaluation),
        bins_sheet(evaluation),
        *([annotation_sheet(judged, evaluation)] if judged else []),
        *(reliability_sheet(run, evaluation) for run in judged),
        *gold_sheets(evaluation),
    ]


def perplexity_sheet(evaluation: Evaluation) -> Sheet:
    """Lay out the paper's table of results; the best of each backbone stands out."""
    runs = evaluation.runs
    has_names = len({(run.kind, run.backbone) for run in runs}) < len(runs)
    figures = [evaluation.perplexities(run) for run in runs]
    rows = []
    for run, own in zip(runs, figures, strict=True):
        peers = [
            other for other, its in zip(figures, runs, strict=True) if its.backbone == run.backbone
        ]
        row = [
            Cell(run.model_label, mark=_mark(run)),
            Cell(run.backbone_label),
            *([Cell(run.name)] if has_names else []),
        ]
        for column in _COLUMNS:
            value = own[column]
            rivals = [peer[column] for peer in peers if peer is not own]
            found = run.significance.get(_SPELLINGS[column]) if column in _SPELLINGS else None
            row.append(
                Cell(
                    _number(value),
                    mark=found.asterisks if found else "",
                    is_best=bool(rivals) and all(_is_below(value, rival) for rival in rivals),
                )
            )
        found = run.significance.get(Spelling.OPEN)
        row.append(Cell(_p(found.p) if found else _NOTHING))
        rows.append(row)
    return Sheet(
        f"Perplexity on {_where(evaluation)}",
        ("model", "backbone", *(["run"] if has_names else []), *_COLUMNS.values(), "p"),
        rows,
        text_columns=3 if has_names else 2,
        notes=_perplexity_notes(evaluation),
    )


def bins_sheet(evaluation: Evaluation) -> Sheet:
    """Lay out the mean log-probability of a word by number of relations."""
    columns = [evaluation.log_probs(run) for run in evaluation.runs]
    return Sheet(
        f"Mean log-probability of a word by number of relations, {_where(evaluation)}",
        ("relations", "documents", *labels(evaluation.runs)),
        [
            [
                Cell(_range(each.fewest, each.most)),
                Cell(f"{len(each.members):,}"),
                *(Cell(f"{column[number]:.3f}".replace("-", "−")) for column in columns),
            ]
            for number, each in enumerate(evaluation.bins)
        ],
        notes=marks_explained(evaluation.runs),
    )


def annotation_sheet(runs: Sequence[RunResult], evaluation: Evaluation) -> Sheet:
    """Lay out how often the most probable explanation of a span is the true one."""
    rows = []
    for run, label in zip(runs, labels(runs), strict=True):
        quality = run.annotation
        assert quality is not None
        groups = {
            "all candidate spans": quality.overall,
            "contested": quality.contested,
            "in truth a relation": quality.by_truth[Way.RELATION],
            "in truth words": quality.by_truth[Way.WORDS],
            "in truth no segment": quality.by_truth[Way.OTHERWISE],
        }
        rows += [_verdict(label, name, verdict) for name, verdict in groups.items()]
    unlinked = max(run.annotation.unlinked for run in runs if run.annotation is not None)
    notes = [
        "contested: several candidates compete, or the same words are elsewhere plain words.",
        "no segment: the span lies within a true mention, or crosses its border.",
    ]
    if unlinked:
        notes.append(f"{counted(unlinked, 'true mention')} without a candidate, counted as wrong.")
    return Sheet(
        f"The most probable explanation is the true one, {_where(evaluation)}",
        ("model", "spans", "number", "right", "calibration error"),
        rows,
        text_columns=2,
        notes=notes,
    )


def reliability_sheet(run: RunResult, evaluation: Evaluation) -> Sheet:
    """Lay out how often a model is right, by how probable its best explanation is."""
    assert run.annotation is not None
    return Sheet(
        f"Reliability of {labels([run])[0]}, {_where(evaluation)}",
        ("confidence", "spans", "mean confidence", "right"),
        [
            [
                Cell(f"{each.low:.1f}–{each.high:.1f}"),
                Cell(f"{each.places:,}"),
                Cell(f"{each.confidence:.3f}"),
                Cell(f"{each.accuracy:.3f}"),
            ]
            for each in run.annotation.reliability
            if each.places
        ],
    )


def gold_sheets(evaluation: Evaluation) -> list[Sheet]:
    """Give the tables of gold mentions; none if they were not asked for."""
    if evaluation.gold is None:
        return []
    where = _where(evaluation)
    named = list(zip(labels(evaluation.runs), evaluation.runs, strict=True))
    judged = {label: run.gold for label, run in named if run.gold is not None}
    odds = [f"{run.name}: {run.copy_odds:g}" for run in evaluation.runs if run.copy_odds]
    silent = [label for label, run in named if run.gold is None]
    return [
        gold_sheet(evaluation.gold, judged, silent, where, odds),
        contested_sheet(evaluation.gold.contested, judged, where),
        *(threshold_sheet(label, quality, where) for label, quality in judged.items()),
    ]


def gold_sheet(
    gold: GoldMentions,
    judged: dict[str, GoldQuality],
    silent: Sequence[str],
    where: str,
    odds: Sequence[str] = (),
) -> Sheet:
    """Lay out how well string matching and the best paths agree with the gold mentions."""
    methods: dict[str, LevelCounts] = {
        "every candidate": gold.every_candidate,
        "longest match": gold.longest_match,
        **_claims(judged, lambda quality: (quality.names, quality.best_path)),
    }
    notes = _gold_notes(gold, silent, any_model=bool(judged))
    if odds:
        notes.append(f"Odds of copying, in nats a token: {'; '.join(odds)}.")
    return _gold_table(f"Gold mentions of {where}", methods, notes)


def contested_sheet(
    contested: ContestedMentions, judged: dict[str, GoldQuality], where: str
) -> Sheet:
    """Lay out the same for the places where strings alone do not decide, and the ceiling there."""
    methods: dict[str, LevelCounts] = {
        "longest match": contested.longest_match,
        **_claims(judged, lambda quality: (quality.names_contested, quality.contested)),
    }
    notes = [
        "contested: several candidates compete, or the same words are elsewhere no mention.",
        f"{_ORACLE}: just those candidates that are gold mentions; no annotation can do better.",
    ]
    ceiling = {_ORACLE: contested.oracle}
    return _gold_table(f"Contested gold mentions of {where}", methods, notes, beside=ceiling)


_ORACLE = "the ceiling"


def _claims(
    judged: dict[str, GoldQuality],
    of: Callable[[GoldQuality], tuple[LevelCounts | None, LevelCounts]],
) -> dict[str, LevelCounts]:
    """Name what models claim with the odds for names, and by their own posteriors."""
    methods: dict[str, LevelCounts] = {}
    for label, quality in judged.items():
        names, own = of(quality)
        if names is None:
            methods[label] = own
        else:
            methods |= {label: names, f"{label}, posterior": own}
    return methods


def _gold_table(
    title: str,
    methods: Mapping[str, LevelCounts],
    notes: Sequence[str],
    *,
    beside: Mapping[str, LevelCounts] | None = None,
) -> Sheet:
    """Lay out methods level by level; those `beside` are not among the best ones."""
    rows = []
    for level in Level:
        best = max((counts[level].f1 or 0.0) for counts in methods.values())
        rows += [
            _gold_row(level.value, name, counts[level], best) for name, counts in methods.items()
        ]
        for name, counts in (beside or {}).items():
            rows.append(_gold_row(level.value, name, counts[level], math.inf))
    return Sheet(
        title,
        ("level", "annotation", "gold", "claimed", "right", "precision", "recall", "F1"),
        rows,
        text_columns=2,
        notes=notes,
    )


def threshold_sheet(label: str, quality: GoldQuality, where: str) -> Sheet:
    """Lay out precision, recall and F1 of the claims above each threshold."""
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
            "Claims are the mentions with at least the probability in the first column.",
            "P: precision; R: recall.",
            "The best F1 is chosen on the same documents.",
        ],
    )


def mention_sheet(statistics: MentionStatistics) -> Sheet:
    """Lay out what each run names in a text, beside the articles."""
    counts_of = {**statistics.runs, "the articles": statistics.gold}
    return Sheet(
        title=(
            f"Mentions in a text: {statistics.samples} samples about each of"
            f" {statistics.topics} topics of {statistics.split}"
        ),
        columns=("", "texts", "partial", "full", "repeated"),
        rows=[_mention_row(name, counts) for name, counts in counts_of.items()],
        notes=(_MENTIONS, *_costs_told(statistics.repetition_costs)),
    )


def _costs_told(costs: Mapping[str, float]) -> list[str]:
    told = [f"{cost:g} nats in {name}" for name, cost in costs.items() if cost]
    return [f"Repeated names cost texts {', '.join(told)}."] if told else []


def labels(runs: Sequence[RunResult]) -> list[str]:
    """Name runs by model and backbone; where that is not enough, by their folder too."""
    names = [f"{run.model_label}{_mark(run)}, {run.backbone_label}" for run in runs]
    return [
        name if names.count(name) == 1 else f"{name} ({run.name})"
        for name, run in zip(names, runs, strict=True)
    ]


def marks_explained(runs: Sequence[RunResult]) -> list[str]:
    """Say what must be known to read the figures of runs that have a mark."""
    joint_first = sorted(runs, key=lambda run: not run.is_joint)
    return list(dict.fromkeys(run.footnote for run in joint_first if run.footnote))


def _verdict(label: str, name: str, verdict: Verdict) -> list[Cell]:
    accuracy = verdict.accuracy
    return [
        Cell(label),
        Cell(name),
        Cell(f"{verdict.places:,}"),
        Cell(_NOTHING if accuracy is None else f"{accuracy:.2%}"),
        Cell(f"{verdict.calibration_error:.4f}"),
    ]


def _perplexity_notes(evaluation: Evaluation) -> list[str]:
    runs = evaluation.runs
    unknown = sorted({run.unknown_words for run in runs} | {evaluation.unknown_words})
    notes = [
        f"UPP: all {unknown[0]:,} unknown words of the corpus are equally probable."
        if len(unknown) == 1
        else f"UPP: all unknown words ({unknown[0]:,} to {unknown[-1]:,}, by the vocabulary) of the"
        " corpus are equally probable.",
        "oracle: spelling an unknown word costs nothing.",
        "inside, outside: of the words within candidate spans, and of all others.",
        "The end of a document (</s>) is counted, but is neither inside nor outside."
        if evaluation.count_end
        else "The end of a document (</s>) is not counted.",
    ]
    if evaluation.published_words is not None:
        notes.append(
            f"perplexity: {evaluation.published_words:,} of {evaluation.words_to_spell:,} unknown"
            " words have the log-probability of the given file, the others that of the spelling"
            " model."
        )
    if any(run.significance for run in runs):
        notes.append(
            "p: two-sided Wilcoxon signed-rank test over documents, against the better of Vanilla"
            " LM and NKLM on the same backbone; * p < 0.05, ** p < 0.01, where the model is better."
        )
    notes += marks_explained(runs)
    if not evaluation.is_training_corpus:
        notes.append("The runs were trained on another corpus.")
    notes += [
        f"{run.name}: {run.lost_candidates:,} of {run.candidates:,} candidates do not fit its"
        " tokens and are left out."
        for run in runs
        if run.lost_candidates
    ]
    notes += [
        f"{run.name}: {counted(run.left_out_facts, 'fact')} not read before the texts, for lack of"
        " room (model.preface.most_tokens)."
        for run in runs
        if run.left_out_facts
    ]
    relinked = [run.name for run in runs if run.is_relinked]
    if relinked:
        notes.append(
            f"Texts were linked anew for {', '.join(relinked)}: their training corpus was linked in"
            " another way."
        )
    return notes


def _gold_row(level: str, name: str, counts: Counts, best: float) -> list[Cell]:
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


def _gold_notes(gold: GoldMentions, silent: Sequence[str], *, any_model: bool) -> list[str]:
    notes = [
        f"{counted(gold.documents, 'document')}.",
        "span: where the mention is; object: also what it names; relation: also the type.",
    ]
    if any_model:
        notes.append(
            "A model claims the mentions on its most probable path with the odds for names;"
            " posterior: with its own odds."
        )
    missed = ", ".join(f"{gold.unreachable(level):,} ({level.value})" for level in Level)
    if gold.unreachable(Level.RELATION) or gold.unreachable(Level.SPAN):
        notes.append(f"Gold mentions that are no candidates, so no method can find them: {missed}.")
    if gold.without_fact:
        notes.append(
            f"{counted(gold.without_fact, 'gold mention')} of objects that the topic's facts lack."
        )
    if gold.mentions[Level.RELATION] < gold.mentions[Level.SPAN]:
        notes.append(
            "Gold mentions whose object or type is unknown are not counted at the levels that"
            " compare it, nor are claims that agree with them."
        )
    if silent:
        notes.append(f"Models that do not annotate: {'; '.join(silent)}.")
    return notes


def _mention_row(name: str, counts: MentionCounts) -> list[Cell]:
    means = (counts.partial, counts.full, counts.repeated)
    return [Cell(name), Cell(f"{counts.texts:,}"), *(Cell(f"{mean:.2f}") for mean in means)]


def _mark(run: RunResult) -> str:
    return run.footnote[:1]


def _is_below(value: float | None, other: float | None) -> bool:
    return value is not None and other is not None and value < other


def _where(evaluation: Evaluation) -> str:
    return f"{evaluation.corpus}, {evaluation.split}"


def _range(fewest: int, most: int) -> str:
    return str(fewest) if fewest == most else f"{fewest}–{most}"


def _number(value: float | None) -> str:
    return _NOTHING if value is None else f"{value:,.2f}"


def _p(value: float) -> str:
    return f"{value:.4f}" if value >= _SMALLEST_P else f"< {_SMALLEST_P}"


def _share(value: float | None) -> str:
    return _NOTHING if value is None else f"{value:.3f}"
