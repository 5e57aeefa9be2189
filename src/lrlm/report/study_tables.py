"""The tables of a study beside those of its evaluation: its runs, and how their training went."""

from lrlm.evaluation.annotation_quality import Place, PlaceExplanation, Way
from lrlm.look import percent
from lrlm.report.evaluation_tables import labels
from lrlm.report.sheet import Cell, Sheet
from lrlm.report.study import Study

_NOTHING = "–"


def runs_sheet(study: Study) -> Sheet:
    """Lay out what each run is."""
    rows = [
        [
            Cell(label),
            Cell(run.name),
            Cell(summary.size),
            Cell(f"{summary.tokens:,}"),
            Cell(f"{summary.weights:,}"),
            Cell(_NOTHING if run.bits_per_byte is None else f"{run.bits_per_byte:.3f}"),
        ]
        for run, label, summary in zip(
            study.evaluation.runs,
            labels(study.evaluation.runs),
            study.summaries,
            strict=True,
        )
    ]
    return Sheet(
        "The runs",
        ("model", "run", "size", "tokens known", "trained weights", "bits per byte"),
        rows,
        text_columns=3,
        notes=["bits per byte: of the texts that were evaluated on, whatever the tokens are."],
    )


def training_sheet(study: Study) -> Sheet:
    """Lay out how the training of each run went; runs without metrics have no numbers."""
    rows = []
    for label, summary in zip(labels(study.evaluation.runs), study.summaries, strict=True):
        curve = summary.curve
        cells = [_NOTHING] * 6
        if curve is not None:
            last = curve.losses[-1] if curve.losses else None
            best, validations = curve.best, curve.validations
            cells = [
                f"{curve.updates:,}",
                f"{curve.seconds / 60:,.1f}",
                _NOTHING if last is None else f"{last.loss:.3f}",
                f"{len(validations):,}",
                _NOTHING if best is None else f"{best.perplexity:,.2f}",
                _NOTHING if best is None else f"{best.epoch:,}",
            ]
        rows.append([Cell(label), *map(Cell, cells)])
    return Sheet(
        "Training",
        (
            "model", "updates", "minutes", "last training loss", "validations",
            "best validation perplexity", "in epoch",
        ),
        rows,
        notes=["A run has the weights of its best validation."],
    )  # fmt: skip


def validation_sheet(study: Study) -> Sheet:
    """Lay out the perplexity of every validation, a row for each, a column for each run."""
    curves = [summary.curve for summary in study.summaries]
    columns = [[] if curve is None else list(curve.validations) for curve in curves]
    rows = [
        [
            Cell(f"{number + 1}"),
            *(
                Cell(f"{column[number].perplexity:,.2f}", is_best=column[number].is_best)
                if number < len(column)
                else Cell(_NOTHING)
                for column in columns
            ),
        ]
        for number in range(max(map(len, columns), default=0))
    ]
    return Sheet(
        "Validation perplexity",
        ("validation", *labels(study.evaluation.runs)),
        rows,
        notes=["Bold: the best of the run so far."],
    )


def mistakes_sheet(mistakes: tuple[Place, ...], document: str) -> Sheet:
    """Lay out the places of a document whose most probable explanation is not the true one."""
    return Sheet(
        f"Explained otherwise than it is in truth, {document}",
        ("words", "the model says", "in truth", "its probability", "of the truth"),
        [
            [
                Cell(" ".join(place.words)),
                Cell(_told(place.best)),
                Cell(_truth(place)),
                Cell(percent(place.confidence)),
                Cell(percent(place.truth_probability)),
            ]
            for place in mistakes
        ],
        text_columns=3,
    )


def _told(explanation: PlaceExplanation) -> str:
    if explanation.fact is not None:
        type_, object_ = explanation.fact
        return f"{type_} → {object_}"
    return "words" if explanation.way is Way.WORDS else "no segment of its own"


def _truth(place: Place) -> str:
    if place.gold is None:
        return _told(PlaceExplanation(place.truth))
    return f"{place.gold.type or 'any relation'} → {place.gold.object or 'any object'}"
