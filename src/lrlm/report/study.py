"""Gather everything that the report of a study shows: its runs, what they cost, say and write."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from lrlm.artifacts import AnyPath
from lrlm.checks import check_at_least
from lrlm.corpora import Corpus, topic_of
from lrlm.errors import InputError
from lrlm.evaluation.examples import AnnotatedExample, annotated_examples, best_to_worst
from lrlm.evaluation.mentions import MentionStatistics, mention_statistics
from lrlm.evaluation.results import Evaluation, RunResult
from lrlm.evaluation.side_by_side import corpus_for, evaluate, open_runs, short_names
from lrlm.generation.generate import generate
from lrlm.generation.generated_text import GeneratedText
from lrlm.generation.options import GenerationOptions
from lrlm.progress import Progress, silent
from lrlm.report.corpus_views import corpus_sheet
from lrlm.report.sheet import Sheet
from lrlm.runs.devices import choose_device
from lrlm.runs.learning_curve import LearningCurve, read_learning_curve
from lrlm.runs.run import Run, weights_of
from lrlm.text import LinkedDocument

SAMPLING = GenerationOptions(temperature=0.7, max_length=80)
"""How the texts that are shown side by side are written."""
DRAWN = 4
"""Texts that are written about a topic; the most probable per token is shown."""
SAMPLES_PER_TOPIC = 5
"""Texts about each topic in which mentions are counted."""
EXAMPLES = 2
"""Documents that are shown as the best, and as the worst."""


@dataclass(frozen=True)
class RunSummary:
    """What a table tells of a run beside its results."""

    size: str
    weights: int
    """That were trained."""
    tokens: int
    """Of its vocabulary."""
    curve: LearningCurve | None


@dataclass(frozen=True)
class TopicSamples:
    """An article, and what each run writes about its topic, in the order of the runs."""

    document: LinkedDocument
    texts: tuple[GeneratedText, ...]


@dataclass(frozen=True)
class BestAndWorst:
    """What a run annotates best and worst, the best and the worst first."""

    run: RunResult
    best: tuple[AnnotatedExample, ...]
    worst: tuple[AnnotatedExample, ...]


@dataclass(frozen=True)
class Study:
    """Everything that a report shows."""

    corpus: Sheet
    """Its statistics."""
    evaluation: Evaluation
    summaries: tuple[RunSummary, ...]
    """Of the runs of the evaluation, in their order."""
    mentions: MentionStatistics | None
    """None if it was not asked for, or no run copies names."""
    samples: tuple[TopicSamples, ...]
    examples: BestAndWorst | None
    """None if no run annotates."""


def make_study(
    runs: AnyPath | Sequence[AnyPath],
    *,
    split: str = "test",
    corpus: Corpus | Path | str | None = None,
    documents: int | None = None,
    evaluation: Evaluation | None = None,
    topics: int = 3,
    mentions: int = 10,
    seed: int = 0,
    device: str = "auto",
    progress: Progress = silent,
) -> Study:
    """Evaluate runs, unless that was done already, and let them write and annotate.

    With `documents`, only the first so many of the split are evaluated. Texts are written about
    `topics` topics to be shown, and about `mentions` topics to count the names in them.
    """
    for name, number in (("topics", topics), ("mentions", mentions)):
        check_at_least(name, number, 0)
    progress("opening runs", 0, 0)
    opened = open_runs(runs, device=str(choose_device(device)))
    source = corpus_for(opened, corpus)
    if evaluation is None:
        evaluation = evaluate(
            [run.folder for run in opened],
            split=split,
            corpus=source,
            documents=documents,
            device=device,
            progress=progress,
        )
    elif [run.name for run in evaluation.runs] != short_names(opened):
        raise InputError("the evaluation is of other runs than those of the report")
    split = evaluation.split
    read = list(islice(source.documents(split), len(evaluation.runs[0].scores)))
    if [document.id for document in read] != [score.id for score in evaluation.runs[0].scores]:
        raise InputError(f"the evaluation is of other documents than {source.folder} has")
    counted = None
    if mentions and any(run.model.copies_names for run in opened):
        counted = mention_statistics(
            [run.folder for run in opened],
            topics=mentions,
            samples=SAMPLES_PER_TOPIC,
            split=split,
            corpus=source.folder,
            seed=seed,
            device=device,
            progress=progress,
        )
    return Study(
        corpus=corpus_sheet(source),
        evaluation=evaluation,
        summaries=tuple(map(_summary, opened)),
        mentions=counted,
        samples=tuple(_samples(opened, _spread(read, topics), seed=seed, progress=progress)),
        examples=_best_and_worst(opened, source, read, evaluation),
    )


def _summary(run: Run) -> RunSummary:
    return RunSummary(
        size=str(run.setup.manifest["size"]),
        weights=sum(weight.numel() for weight in weights_of(run.model).values()),
        tokens=run.space.size,
        curve=read_learning_curve(run.folder),
    )


def _spread(documents: Sequence[LinkedDocument], count: int) -> list[LinkedDocument]:
    """Choose documents that lie as far from one another as they can."""
    count = min(count, len(documents))
    return [documents[number * len(documents) // count] for number in range(count)]


def _samples(
    runs: Sequence[Run], documents: Sequence[LinkedDocument], *, seed: int, progress: Progress
) -> list[TopicSamples]:
    """Let each run write about the topics of some documents."""
    shown = []
    for number, document in enumerate(documents):
        progress("writing about topics", number, len(documents))
        topic = topic_of(document)
        texts = [
            generate(run, topic, SAMPLING, samples=DRAWN, seed=seed + number)[0] for run in runs
        ]
        shown.append(TopicSamples(document, tuple(texts)))
    return shown


def _best_and_worst(
    runs: Sequence[Run],
    corpus: Corpus,
    documents: Sequence[LinkedDocument],
    evaluation: Evaluation,
) -> BestAndWorst | None:
    """Annotate some documents with the best run that can."""
    able = [
        (evaluation.perplexities(result)["perplexity"] or 0.0, number)
        for number, (run, result) in enumerate(zip(runs, evaluation.runs, strict=True))
        if run.model.has_posteriors
    ]
    if not able:
        return None
    _, number = min(able)
    run, result = runs[number], evaluation.runs[number]
    order = best_to_worst(result)
    count = min(EXAMPLES, (len(order) + 1) // 2)
    best, worst = order[:count], order[count:][::-1][:count]
    examples = annotated_examples(run, corpus, [documents[place] for place in (*best, *worst)])
    return BestAndWorst(result, tuple(examples[:count]), tuple(examples[count:]))
