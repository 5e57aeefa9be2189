"""Evaluate trained models side by side on a split of a corpus."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from os import PathLike
from pathlib import Path

from lrlm.annotation.annotate import checked_odds
from lrlm.annotation.name_odds import NAMES
from lrlm.artifacts import AnyPath
from lrlm.checks import check_at_least
from lrlm.corpora import Corpus, recut, relink
from lrlm.errors import CorpusNotFoundError, InputError
from lrlm.evaluation.annotation_quality import (
    Place,
    annotation_quality,
    places_of,
    truth_by_document,
)
from lrlm.evaluation.copy_odds import GoldReadings, save_copy_odds
from lrlm.evaluation.document_scores import (
    PublishedSpeller,
    Spelling,
    perplexity,
    read_published_words,
    score_documents,
)
from lrlm.evaluation.gold import GoldJudge, match_strings
from lrlm.evaluation.judged import JudgedDocument, judge
from lrlm.evaluation.relation_bins import relation_bins
from lrlm.evaluation.results import Evaluation, RunResult
from lrlm.evaluation.significance import Significance, compare
from lrlm.models import ScoredDocument
from lrlm.progress import Progress, silent
from lrlm.runs.devices import choose_device
from lrlm.runs.pairs import WEIGHT_ALONE, paired
from lrlm.runs.reading import with_partner
from lrlm.runs.run import Run
from lrlm.runs.topics import training_corpus
from lrlm.text import LinkedDocument


def open_runs(folders: AnyPath | Sequence[AnyPath], *, device: str = "cpu") -> list[Run]:
    """Open runs; the same one twice is refused.

    Perplexity is per word of the corpus that is evaluated on, and every word has a probability
    under every run (unknown ones are spelled), so runs with different vocabularies, tokens or
    training corpora can stand in one table.
    """
    if not folders:
        raise InputError("there is no run to evaluate: name at least one folder of a trained model")
    listed = [folders] if isinstance(folders, str | PathLike) else folders
    paths = [Path(folder) for folder in listed]
    seen: set[Path] = set()
    for path in paths:
        if path.resolve() in seen:
            raise InputError(f"{path} is named twice")
        seen.add(path.resolve())
    return [Run.open(path, device=device) for path in paths]


def corpus_for(runs: Sequence[Run], corpus: Corpus | Path | str | None = None) -> Corpus:
    """Open the corpus to evaluate on: the given one, else the one that the runs were trained on."""
    if isinstance(corpus, Corpus):
        return corpus
    if corpus is not None:
        return Corpus.open(corpus)
    first = runs[0]
    for run in runs[1:]:
        if run.corpus_fingerprint != first.corpus_fingerprint:
            raise CorpusNotFoundError(
                f"{first.folder} and {run.folder} were trained on different corpora"
                f" ({first.corpus_name!r} and {run.corpus_name!r}, by their content); say on which"
                " corpus to evaluate them"
            )
    return training_corpus(first)


def documents_for(
    corpus: Corpus, documents: Iterable[LinkedDocument], run: Run
) -> list[LinkedDocument]:
    """Give documents of a corpus as a run reads them: linked anew if its corpus was otherwise."""
    if corpus.options == run.link_options:
        return list(documents)
    return [relink(document, run.link_options) for document in documents]


def short_names(runs: Sequence[Run]) -> list[str]:
    """Give each run a name that no other has: the last of its folder, or the whole path."""
    names = [run.folder.resolve().name for run in runs]
    return [
        name if names.count(name) == 1 else str(run.folder)
        for name, run in zip(names, runs, strict=True)
    ]


def evaluate(
    runs: AnyPath | Sequence[AnyPath],
    *,
    split: str = "test",
    corpus: Corpus | Path | str | None = None,
    backward: AnyPath | None = None,
    backward_weight: float | None = None,
    documents: int | None = None,
    count_end: bool = False,
    gold: bool = False,
    copy_odds: float | None = None,
    fit_copy_odds: bool = False,
    published_words: Path | str | None = None,
    device: str = "auto",
    batch_size: int | None = None,
    progress: Progress = silent,
) -> Evaluation:
    """Evaluate one run, or several side by side, on their training corpus or on another one.

    A run whose training corpus was linked in another way reads the texts linked anew as it needs
    them. With `documents`, only the first so many of the split are read. With `count_end`, the end
    of each document is paid for and counted. With `backward`, the folder of a run that reads
    backward, the annotations of every run are those of a pair with it (see `lrlm.load`), and
    perplexity stays the run's own. With `gold`, the mentions that string matching and the
    models claim are compared with the gold mentions of the documents; `copy_odds` are the odds of
    copying there, where not those of each run. With `fit_copy_odds`, those are chosen whose best
    paths agree best with the gold mentions, and are kept in the folder of each run. With
    `published_words`, a table of probabilities, unknown words that stand there cost what it says.

    >>> evaluation = lrlm.evaluate(["runs/vanilla", "runs/lrlm"], split="test", corpus="corpus")
    >>> vanilla, latent = (evaluation.perplexities(run)["perplexity"] for run in evaluation.runs)
    >>> latent < vanilla
    True
    """
    progress("opening runs", 0, 0)
    published = {} if published_words is None else read_published_words(Path(published_words))
    opened = open_runs(runs, device=str(choose_device(device)))
    if backward is not None:
        second = Run.open(backward, device=str(choose_device(device)))
        opened = [paired(run, second, weight=backward_weight) for run in opened]
    elif backward_weight is not None:
        raise InputError(WEIGHT_ALONE)
    evaluated = corpus_for(opened, corpus)
    evaluated.require((split,))
    progress(f"reading {split}", 0, 0)
    if documents is not None:
        check_at_least("documents", documents, 1)
    read = list(islice(evaluated.documents(split), documents))
    gold = gold or fit_copy_odds
    if gold and not any(document.gold for document in read):
        raise InputError(
            f"{evaluated.folder} has no gold mentions in {split}; evaluate without them, or on a"
            " corpus that has them, such as WebNLG or DocRED"
        )
    results = [
        _evaluate_run(
            run,
            name,
            _Texts.of(evaluated, split, read, run),
            published=published,
            gold=gold,
            copy_odds=None
            if fit_copy_odds
            else run.copy_odds
            if copy_odds is None
            else checked_odds(copy_odds),
            batch_size=batch_size,
            progress=progress,
        )
        for run, name in zip(opened, short_names(opened), strict=True)
    ]
    results = [
        replace(result, significance=against_baselines(result, results, count_end=count_end))
        for result in results
    ]
    first = results[0]
    return Evaluation(
        corpus=evaluated.folder.resolve().name,
        split=split,
        is_training_corpus=all(evaluated.fingerprint == run.corpus_fingerprint for run in opened),
        count_end=count_end,
        unknown_words=first.unknown_words,
        runs=tuple(results),
        bins=tuple(relation_bins(first.scores)),
        gold=match_strings(read) if gold else None,
        published_words=None if published_words is None else first.published_words,
        words_to_spell=first.words_to_spell,
    )


@dataclass(frozen=True)
class _Texts:
    """The documents of a split as a run reads them, and the distinct words in them."""

    corpus: Corpus
    split: str
    documents: Sequence[LinkedDocument]
    original: Sequence[LinkedDocument]
    """The documents as the corpus has them."""
    distinct: frozenset[str]
    """The distinct words of the split."""
    distinct_anywhere: frozenset[str]
    """Those of all splits of the corpus."""
    is_relinked: bool = False
    """Whether the documents were linked anew for the run."""

    @classmethod
    def of(
        cls, corpus: Corpus, split: str, documents: Sequence[LinkedDocument], run: Run
    ) -> "_Texts":
        """Link the documents anew if the run's corpus was linked in another way."""
        if corpus.options == run.link_options:
            return cls(
                corpus,
                split,
                documents,
                documents,
                frozenset(corpus.distinct_words((split,))),
                frozenset(corpus.distinct_words()),
            )
        linked = documents_for(corpus, documents, run)
        distinct = frozenset(word for document in linked for word in document.tokens.words)
        others = (
            word
            for other in corpus.splits
            if other != split
            for document in corpus.documents(other)
            for word in recut(document, run.link_options).words
        )
        return cls(
            corpus,
            split,
            linked,
            documents,
            distinct,
            distinct.union(others),
            is_relinked=True,
        )


def _evaluate_run(
    run: Run,
    name: str,
    texts: _Texts,
    *,
    published: Mapping[str, float] | None = None,
    gold: bool = False,
    copy_odds: float | None = 0.0,
    batch_size: int | None = None,
    progress: Progress = silent,
) -> RunResult:
    """Score documents with one run and, where their truth is known, judge its posterior.

    Without `copy_odds`, those are fitted and kept that agree best with the truth.
    """
    documents = texts.documents
    places: list[Place] = []
    linked_gold = 0
    gold_judge = GoldJudge(texts.original) if gold else None

    def see(members: Sequence[LinkedDocument], scored: Sequence[ScoredDocument]) -> None:
        known = [row for row, document in enumerate(members) if document.gold is not None]
        if not run.model.has_posteriors or not known:
            return
        members, scored = [members[row] for row in known], [scored[row] for row in known]
        scored = with_partner(run, members, scored, batch_size=batch_size)
        if copy_odds is None:
            waiting.add(members, scored)
        else:
            see_claims(members, scored, copy_odds)

    def see_claims(
        members: Sequence[LinkedDocument],
        scored: Sequence[ScoredDocument],
        odds: float,
    ) -> None:
        nonlocal linked_gold
        claims = judge(members, scored, space, copy_odds=odds)
        names: Sequence[JudgedDocument | None] = [None] * len(members)
        if gold_judge is not None:
            names = judge(members, scored, space, copy_odds=NAMES)
        for document, judged, named in zip(members, claims, names, strict=True):
            places.extend(places_of(document, judged))
            spans = {(span.start, span.end) for span in judged.spans}
            linked_gold += sum((each.start, each.end) in spans for each in document.gold or ())
            if gold_judge is not None:
                gold_judge.add(document, judged, named)

    space = run.space
    if space.unknown_id is not None:
        progress(f"{name}: spelling unknown words", 0, 0)
    if published and space.unknown_id is not None:
        space = space.with_speller(lambda speller: PublishedSpeller(published, speller))
    waiting = GoldReadings(space)
    to_spell = space.words_to_spell(texts.distinct)
    unknown_words = len(space.words_to_spell(texts.distinct_anywhere))
    scores = score_documents(
        run.model,
        replace(run.encoder, space=space.prepared_for(texts.distinct)),
        run.collator,
        documents,
        unknown_words=unknown_words,
        words=[len(document.tokens) for document in texts.original],
        batch_size=batch_size or run.config.training.validation_batch_size,
        judge=see,
        progress=lambda what, done, total: progress(f"{name}: {what}", done, total),
    )
    if copy_odds is None and run.model.has_posteriors:
        progress(f"{name}: fitting the odds of copying", 0, 0)
        copy_odds = waiting.best_odds()
        save_copy_odds(run, copy_odds, texts.corpus, texts.split)
        see_claims(waiting.documents, waiting.scored, copy_odds)
    true_mentions = [document.gold for document in texts.original if document.gold is not None]
    has_verdict = bool(true_mentions) and run.model.has_posteriors
    # Also those that no token boundary of this run fits: no candidate of it can be one of them.
    unlinked = sum(map(len, true_mentions)) - linked_gold
    return RunResult(
        name=name,
        kind=run.kind,
        backbone=run.config.model.backbone.name,
        model_label=run.label,
        direction=run.direction,
        backward_weight=None if run.partner is None else run.partner.weight,
        backbone_label=run.config.model.backbone.label,
        footnote=run.model.footnote,
        is_baseline=run.model.is_baseline,
        scores=tuple(scores),
        is_joint=run.model.is_joint,
        is_relinked=texts.is_relinked,
        candidates=sum(len(document.mentions) for document in documents),
        lost_candidates=sum(score.lost_candidates for score in scores),
        left_out_facts=sum(score.left_out_facts for score in scores),
        unknown_words=unknown_words,
        words_to_spell=len(to_spell),
        published_words=len(to_spell & (published or {}).keys()),
        significance={},
        annotation=(annotation_quality(places, unlinked=unlinked) if has_verdict else None),
        gold=gold_judge.quality() if gold_judge is not None and has_verdict else None,
        copy_odds=(copy_odds or 0.0) if has_verdict else None,
        truth_probabilities=truth_by_document(places),
    )


def against_baselines(
    result: RunResult, results: Sequence[RunResult], *, count_end: bool
) -> Mapping[Spelling, Significance]:
    """Compare a run with the better baseline on its backbone, under each way to count spelling."""
    baselines = [
        other
        for other in results
        if other.is_baseline and other.backbone == result.backbone and other is not result
    ]
    if not baselines or result.is_baseline:
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
