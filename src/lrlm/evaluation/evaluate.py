"""Run folders in, their evaluation on a split of a corpus out: `lrlm evaluate`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lrlm.corpora import LinkedDocument
from lrlm.errors import InputError
from lrlm.evaluation.annotation import annotation_quality
from lrlm.evaluation.claims import GoldJudge
from lrlm.evaluation.explanations import Place, explain, unlinked_mentions
from lrlm.evaluation.perplexity import perplexity
from lrlm.evaluation.published_spelling import PublishedSpeller, read_published_words
from lrlm.evaluation.reading import Reading
from lrlm.evaluation.relation_bins import relation_bins
from lrlm.evaluation.results import Evaluation, RunResult
from lrlm.evaluation.runs import backbone_name, corpus_for, open_runs, short_names
from lrlm.evaluation.scoring import Progress, score
from lrlm.evaluation.significance import Significance, compare
from lrlm.evaluation.spelling import Spelling, words_outside
from lrlm.evaluation.string_matching import match_strings
from lrlm.training.data import SpelledWords, require_splits
from lrlm.training.devices import choose_device
from lrlm.training.run import Run, corpus_fingerprint

BASELINES = ("vanilla", "nklm")
"""A model is compared with the better one of these that reads with the same backbone."""


def evaluate(
    folders: Sequence[Path | str],
    *,
    split: str = "test",
    corpus: Path | str | None = None,
    count_end: bool = False,
    gold: bool = False,
    published_words: Path | None = None,
    device: str = "auto",
    batch_size: int | None = None,
    progress: Progress = lambda _what, _done: None,
) -> Evaluation:
    """Evaluate runs side by side, on the corpus they were trained on or on another one.

    With `gold`, the mentions that string matching and the models claim are compared with the gold
    mentions of the documents. With `published_words`, a table of probabilities, unknown words that
    stand there cost what it says.
    """
    progress("opening runs", 0)
    published = {} if published_words is None else read_published_words(published_words)
    runs = open_runs(folders, device=str(choose_device(device)))
    evaluated = corpus_for(runs, corpus)
    require_splits(evaluated, (split,))
    progress(f"reading {split}", 0)
    documents = list(evaluated.documents(split))
    if gold and not any(document.gold for document in documents):
        raise InputError(
            f"{evaluated.folder} has no gold mentions in {split}; evaluate without --gold,"
            " or a corpus that has them, such as one of 'lrlm corpus import webnlg' or 'docred'"
        )
    vocabulary = runs[0].vocabulary
    unknown = words_outside(evaluated, vocabulary)
    here = words_outside(evaluated, vocabulary, (split,))
    results = [
        evaluate_run(
            run,
            name,
            documents,
            unknown_words=len(unknown),
            words_to_spell=here,
            published=published,
            gold=gold,
            batch_size=batch_size,
            progress=progress,
        )
        for run, name in zip(runs, short_names(runs), strict=True)
    ]
    results = [
        replace(result, significance=against_baselines(result, results, count_end=count_end))
        for result in results
    ]
    return Evaluation(
        corpus=evaluated.folder.resolve().name,
        split=split,
        is_training_corpus=corpus_fingerprint(evaluated) == runs[0].corpus_fingerprint,
        count_end=count_end,
        unknown_words=len(unknown),
        runs=tuple(results),
        bins=tuple(relation_bins(results[0].scores)),
        gold=match_strings(documents) if gold else None,
        published_words=None if published_words is None else len(here & published.keys()),
        words_to_spell=len(here),
    )


def evaluate_run(
    run: Run,
    name: str,
    documents: Sequence[LinkedDocument],
    *,
    unknown_words: int,
    words_to_spell: set[str],
    published: Mapping[str, float] | None = None,
    gold: bool = False,
    batch_size: int | None = None,
    progress: Progress = lambda _what, _done: None,
) -> RunResult:
    """Score documents with one run and, where their truth is known, judge its posterior."""
    places: list[Place] = []
    gold_judge = GoldJudge(documents) if gold else None
    last: Reading | None = None

    def judge(reading: Reading, members: Sequence[LinkedDocument]) -> None:
        nonlocal last
        last = reading
        if reading.is_latent:
            places.extend(explain(reading, members))
            if gold_judge is not None:
                gold_judge.see(reading, members)

    progress(f"{name}: spelling unknown words", 0)
    speller = SpelledWords(PublishedSpeller(published or {}, run.speller), words_to_spell)
    scores = score(
        run.model,
        replace(run.encoder, speller=speller),
        run.collator,
        documents,
        unknown_words=unknown_words,
        batch_size=batch_size or run.config.training.validation_batch_size,
        witness=judge,
        progress=lambda what, done: progress(f"{name}: {what}", done),
    )
    annotated = [document for document in documents if document.gold is not None]
    has_verdict = bool(annotated) and last is not None and last.is_latent
    return RunResult(
        name=name,
        kind=run.kind,
        backbone=backbone_name(run),
        scores=tuple(scores),
        is_joint=last is not None and last.is_joint,
        significance={},
        annotation=(
            annotation_quality(places, unlinked=unlinked_mentions(annotated))
            if has_verdict
            else None
        ),
        gold=gold_judge.quality() if gold_judge is not None and has_verdict else None,
    )


def against_baselines(
    result: RunResult, results: Sequence[RunResult], *, count_end: bool
) -> Mapping[Spelling, Significance]:
    """Compare a run with the better baseline on its backbone, under each way to count spelling."""
    baselines = [
        other
        for other in results
        if other.kind in BASELINES and other.backbone == result.backbone and other is not result
    ]
    if not baselines or result.kind in BASELINES:
        return {}
    found = {}
    for spelling in Spelling:
        better = min(
            baselines,
            key=lambda run: perplexity(run.scores, spelling, count_end=count_end) or 0.0,
        )
        found[spelling] = compare(
            result.scores,
            better.scores,
            name=better.name,
            spelling=spelling,
            count_end=count_end,
        )
    return found
