"""What an evaluation found, as values that tables, plots and other programs are made from."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from lrlm.evaluation.annotation_quality import AnnotationQuality
from lrlm.evaluation.document_scores import (
    DocumentScore,
    Spelling,
    inside_perplexity,
    outside_perplexity,
    perplexity,
)
from lrlm.evaluation.gold import GoldMentions, GoldQuality, Level, LevelCounts
from lrlm.evaluation.relation_bins import RelationBin, binned_log_probs
from lrlm.evaluation.significance import Significance
from lrlm.plain_data import json_text
from lrlm.text import bits_per_byte


@dataclass(frozen=True)
class RunResult:
    """One run on one split."""

    name: str
    kind: str
    """vanilla, alias, prompted, nklm, lrlm or lrlm+."""
    backbone: str
    scores: tuple[DocumentScore, ...]
    is_joint: bool
    """Whether the scores are of the texts together with one annotation each, as NKLM's are."""
    significance: Mapping[Spelling, Significance]
    """Against the better baseline; empty for baselines and where there is none."""
    annotation: AnnotationQuality | None
    """Where the model has a posterior and the corpus knows the truth."""
    gold: GoldQuality | None = None
    """If it was asked for, where the model has a posterior."""
    copy_odds: float | None = None
    """The odds of copying, in nats a token, with which it annotates; None where it does not, or
    the truth is not known."""
    truth_probabilities: Mapping[str, float] = field(default_factory=dict)
    """By document, the mean probability of the true explanation of a place; empty where the
    model has no posterior or no truth is known."""
    model_label: str = ""
    """What tables call the model, as "LRLM"."""
    backbone_label: str = ""
    """What tables call the backbone, as "LSTM"."""
    direction: str = "forward"
    """In which the texts were read: forward, backward, or both."""
    backward_weight: float | None = None
    """How much a backward run counts in the annotations; None where there is none."""
    footnote: str = ""
    """What must be known to read the figures; it begins with a mark."""
    is_baseline: bool = False
    """Whether other models are compared with it."""
    is_relinked: bool = False
    """Whether the texts were linked anew, as the run's training corpus was linked."""
    candidates: int = 0
    """Candidate mentions in the texts."""
    lost_candidates: int = 0
    """Of those, the ones that do not begin and end where tokens of the model do."""
    left_out_facts: int = 0
    """Facts that there was no room for before the texts, where the model reads them there."""
    unknown_words: int = 0
    """|V_out|: distinct words of the corpus outside the run's vocabulary."""
    words_to_spell: int = 0
    """Distinct unknown words of the split."""
    published_words: int = 0
    """Of those, the ones that cost what a given table says."""

    @property
    def bits_per_byte(self) -> float | None:
        """What a byte of the texts costs in bits, over all documents; ends are not counted."""
        total = sum(score.text_bytes for score in self.scores)
        nats = math.fsum(score.nats() for score in self.scores)
        return bits_per_byte(nats, total) if total else None


@dataclass(frozen=True)
class Evaluation:
    """Runs side by side on one split of a corpus.

    >>> evaluation = lrlm.evaluate(["runs/vanilla", "runs/lrlm"], corpus="corpus")
    >>> [(run.name, run.model_label, run.backbone_label) for run in evaluation.runs]
    [('vanilla', 'Vanilla LM', 'LSTM'), ('lrlm', 'LRLM', 'LSTM')]
    """

    corpus: str
    split: str
    is_training_corpus: bool
    """Whether the runs were trained on this corpus."""
    count_end: bool
    """Whether `</s>` is paid for and counted."""
    unknown_words: int
    """|V_out|: distinct words of the corpus outside the vocabulary."""
    runs: tuple[RunResult, ...]
    bins: tuple[RelationBin, ...]
    """The documents by number of relations."""
    gold: GoldMentions | None = None
    """If it was asked for."""
    published_words: int | None = None
    """Distinct unknown words of the split that cost what a table says; None without a table."""
    words_to_spell: int = 0
    """Distinct unknown words of the split."""

    def perplexities(self, run: RunResult) -> dict[str, float | None]:
        """Give all perplexities of a run.

        >>> list(evaluation.perplexities(evaluation.runs[0]))
        ['perplexity', 'upp', 'oracle_spelling', 'inside', 'outside']
        """
        return {
            "perplexity": perplexity(run.scores, count_end=self.count_end),
            "upp": perplexity(run.scores, Spelling.UPP, count_end=self.count_end),
            "oracle_spelling": perplexity(run.scores, Spelling.ORACLE, count_end=self.count_end),
            "inside": inside_perplexity(run.scores),
            "outside": outside_perplexity(run.scores),
        }

    def log_probs(self, run: RunResult) -> list[float]:
        """Give a run's mean log-probability of a word in each bin of `bins`.

        >>> len(evaluation.log_probs(evaluation.runs[0])) == len(evaluation.bins)
        True
        """
        return binned_log_probs(run.scores, self.bins, count_end=self.count_end)

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values; docs/evaluation.md describes every field.

        >>> [run["model"] for run in evaluation.to_dict()["runs"]]
        ['vanilla', 'lrlm']
        """
        return _evaluation(self)

    def to_json(self) -> str:
        """Write `to_dict` as JSON.

        >>> from pathlib import Path
        >>> Path("results.json").write_text(evaluation.to_json()) > 0
        True
        """
        return json_text(self.to_dict(), indent=1)


def _evaluation(evaluation: Evaluation) -> dict[str, Any]:
    return {
        "format": "lrlm evaluation",
        "version": 1,
        "corpus": evaluation.corpus,
        "split": evaluation.split,
        "is_training_corpus": evaluation.is_training_corpus,
        "count_end": evaluation.count_end,
        "unknown_words": evaluation.unknown_words,
        "published_words": evaluation.published_words,
        "words_to_spell": evaluation.words_to_spell,
        "relation_bins": [
            {
                "fewest": each.fewest,
                "most": each.most,
                "mean_relations": each.mean_relations,
                "documents": len(each.members),
            }
            for each in evaluation.bins
        ],
        "gold": None if evaluation.gold is None else _gold_mentions(evaluation.gold),
        "runs": [_run(evaluation, run) for run in evaluation.runs],
    }


def _run(evaluation: Evaluation, run: RunResult) -> dict[str, Any]:
    annotation = run.annotation
    return {
        "name": run.name,
        "model": run.kind,
        "backbone": run.backbone,
        "direction": run.direction,
        "backward_weight": run.backward_weight,
        "is_joint_with_one_annotation": run.is_joint,
        "is_relinked": run.is_relinked,
        "candidates": run.candidates,
        "lost_candidates": run.lost_candidates,
        "left_out_facts": run.left_out_facts,
        "unknown_words": run.unknown_words,
        "words_to_spell": run.words_to_spell,
        "published_words": run.published_words,
        **evaluation.perplexities(run),
        "bits_per_byte": run.bits_per_byte,
        "tokens": sum(score.units(count_end=evaluation.count_end) for score in run.scores),
        "significance": {
            spelling.value: {**asdict(found), "asterisks": found.asterisks}
            for spelling, found in run.significance.items()
        },
        "log_probs_by_relations": evaluation.log_probs(run),
        "annotation": None if annotation is None else _annotation(annotation),
        "gold": None if run.gold is None else _gold_quality(run.gold),
        "copy_odds": run.copy_odds,
        "documents": [_document(score) for score in run.scores],
    }


def _annotation(quality: AnnotationQuality) -> dict[str, Any]:
    verdicts = {"overall": quality.overall, "contested": quality.contested}
    return {
        **{name: {**asdict(each), "accuracy": each.accuracy} for name, each in verdicts.items()},
        "by_truth": {
            way.value: {**asdict(each), "accuracy": each.accuracy}
            for way, each in quality.by_truth.items()
        },
        "unlinked": quality.unlinked,
        "reliability": [asdict(each) for each in quality.reliability],
    }


def _gold_mentions(found: GoldMentions) -> dict[str, Any]:
    return {
        "documents": found.documents,
        "mentions": {level.value: count for level, count in found.mentions.items()},
        "unreachable": {level.value: found.unreachable(level) for level in Level},
        "without_fact": found.without_fact,
        "every_candidate": _levels(found.every_candidate),
        "longest_match": _levels(found.longest_match),
        "contested": {
            "mentions": {level.value: count for level, count in found.contested.mentions.items()},
            "longest_match": _levels(found.contested.longest_match),
            "oracle": _levels(found.contested.oracle),
        },
    }


def _gold_quality(quality: GoldQuality) -> dict[str, Any]:
    return {
        "best_path": _levels(quality.best_path),
        "by_threshold": [
            {"threshold": threshold, **_levels(counts)}
            for threshold, counts in quality.by_threshold.items()
        ],
        "contested": _levels(quality.contested),
        **({} if quality.names is None else {"names": _levels(quality.names)}),
        **(
            {}
            if quality.names_contested is None
            else {"names_contested": _levels(quality.names_contested)}
        ),
    }


def _levels(counts: LevelCounts) -> dict[str, Any]:
    return {
        level.value: {
            **asdict(each),
            "precision": each.precision,
            "recall": each.recall,
            "f1": each.f1,
        }
        for level, each in counts.items()
    }


def _document(score: DocumentScore) -> dict[str, Any]:
    return {
        "id": score.id,
        "relations": score.relations,
        "tokens": score.words,
        "unknown_tokens": score.unknown_words,
        "inside_tokens": score.inside_words,
        "end_nats": score.end_nats,
        "nats": {spelling.value: score.nats(spelling) for spelling in Spelling},
        "inside_nats": {spelling.value: score.inside_nats[spelling] for spelling in Spelling},
        "outside_nats": {spelling.value: score.outside_nats[spelling] for spelling in Spelling},
    }
