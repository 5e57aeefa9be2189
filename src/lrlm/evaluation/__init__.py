"""Evaluation: perplexity, significance, annotation quality and mention counts of trained models."""

from lrlm.evaluation.annotation_quality import (
    AnnotationQuality,
    Place,
    Way,
    annotation_quality,
    calibration_error,
    contested,
    reliability,
)
from lrlm.evaluation.document_scores import (
    DocumentScore,
    Spelling,
    inside_perplexity,
    outside_perplexity,
    perplexity,
)
from lrlm.evaluation.gold import (
    Claim,
    Counts,
    GoldMentions,
    GoldQuality,
    Level,
    Tally,
    every_candidate,
    longest_match,
    match_strings,
)
from lrlm.evaluation.mentions import MentionStatistics, mention_statistics
from lrlm.evaluation.pair_fitting import fit_pair
from lrlm.evaluation.relation_bins import RelationBin, binned_log_probs, relation_bins
from lrlm.evaluation.results import Evaluation, RunResult
from lrlm.evaluation.side_by_side import evaluate
from lrlm.evaluation.significance import Significance, compare

__all__ = [
    "AnnotationQuality",
    "Claim",
    "Counts",
    "DocumentScore",
    "Evaluation",
    "GoldMentions",
    "GoldQuality",
    "Level",
    "MentionStatistics",
    "Place",
    "RelationBin",
    "RunResult",
    "Significance",
    "Spelling",
    "Tally",
    "Way",
    "annotation_quality",
    "binned_log_probs",
    "calibration_error",
    "compare",
    "contested",
    "evaluate",
    "every_candidate",
    "fit_pair",
    "inside_perplexity",
    "longest_match",
    "match_strings",
    "mention_statistics",
    "outside_perplexity",
    "perplexity",
    "relation_bins",
    "reliability",
]
