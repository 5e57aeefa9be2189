"""Evaluation: runs and a corpus in, perplexities, significance and annotation quality out."""

from lrlm.evaluation.annotation import (
    AnnotationQuality,
    annotation_quality,
    calibration_error,
    contested,
    reliability,
)
from lrlm.evaluation.claims import GoldJudge, WindowClaims, read_claims
from lrlm.evaluation.evaluate import evaluate, evaluate_run
from lrlm.evaluation.explanations import Place, Way, explain
from lrlm.evaluation.gold import (
    Claim,
    Counts,
    GoldMentions,
    GoldQuality,
    Level,
    Tally,
    gold_mentions,
)
from lrlm.evaluation.perplexity import inside_perplexity, outside_perplexity, perplexity
from lrlm.evaluation.reading import Reading, read
from lrlm.evaluation.relation_bins import RelationBin, binned_log_probs, relation_bins
from lrlm.evaluation.results import Evaluation, RunResult, as_dictionary
from lrlm.evaluation.runs import check_comparable, corpus_for, open_runs
from lrlm.evaluation.scoring import DocumentScore, score
from lrlm.evaluation.significance import Significance, compare
from lrlm.evaluation.spelling import Spelling, words_outside
from lrlm.evaluation.string_matching import every_candidate, longest_match, match_strings

__all__ = [
    "AnnotationQuality",
    "Claim",
    "Counts",
    "DocumentScore",
    "Evaluation",
    "GoldJudge",
    "GoldMentions",
    "GoldQuality",
    "Level",
    "Place",
    "Reading",
    "RelationBin",
    "RunResult",
    "Significance",
    "Spelling",
    "Tally",
    "Way",
    "WindowClaims",
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
    "every_candidate",
    "explain",
    "gold_mentions",
    "inside_perplexity",
    "longest_match",
    "match_strings",
    "open_runs",
    "outside_perplexity",
    "perplexity",
    "read",
    "read_claims",
    "relation_bins",
    "reliability",
    "score",
    "words_outside",
]
