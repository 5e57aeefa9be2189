"""Evaluation: runs and a corpus in, perplexities, significance and annotation quality out."""

from lrlm.evaluation.annotation import (
    AnnotationQuality,
    annotation_quality,
    calibration_error,
    contested,
    reliability,
)
from lrlm.evaluation.evaluate import evaluate, evaluate_run
from lrlm.evaluation.explanations import Place, Way, explain
from lrlm.evaluation.perplexity import inside_perplexity, outside_perplexity, perplexity
from lrlm.evaluation.reading import Reading, read
from lrlm.evaluation.relation_bins import RelationBin, binned_log_probs, relation_bins
from lrlm.evaluation.results import Evaluation, RunResult, as_dictionary
from lrlm.evaluation.runs import check_comparable, corpus_for, open_runs
from lrlm.evaluation.scoring import DocumentScore, score
from lrlm.evaluation.significance import Significance, compare
from lrlm.evaluation.spelling import Spelling, words_outside

__all__ = [
    "AnnotationQuality",
    "DocumentScore",
    "Evaluation",
    "Place",
    "Reading",
    "RelationBin",
    "RunResult",
    "Significance",
    "Spelling",
    "Way",
    "annotation_quality",
    "as_dictionary",
    "binned_log_probs",
    "calibration_error",
    "check_comparable",
    "compare",
    "contested",
    "corpus_for",
    "evaluate",
    "evaluate_run",
    "explain",
    "inside_perplexity",
    "open_runs",
    "outside_perplexity",
    "perplexity",
    "read",
    "relation_bins",
    "reliability",
    "score",
    "words_outside",
]
