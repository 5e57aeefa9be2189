"""Sums, posteriors, explanations, best and sampled paths of texts that are cut into segments.

A text of N tokens is cut into segments. A segment is either one token as a WORD, or a span of one
or more tokens copied as a whole (an *edge*). All ways of cutting form a lattice over the N + 1
token boundaries, a path through it is one segmentation, and the score of a path is the sum of the
log scores of its segments. Nothing here knows where the scores come from.

    structure.py      Lattice: the scores of a batch, and their checks
    sweep.py          cuts a lattice into independent blocks of few junctions, and sums or maximises
                      over the paths into each junction
    sums.py           log_marginal (differentiable), block_sums and posteriors
    explanations.py   explain: a span is copied, words, a mixture of both, or crossed
    paths.py          best_paths and sample_paths
"""

from lrlm.lattice.explanations import ExplainedSpan, Mixture, explain
from lrlm.lattice.paths import Step, best_paths, sample_paths
from lrlm.lattice.structure import Lattice
from lrlm.lattice.sums import BlockSums, block_sums, log_marginal, posteriors

__all__ = [
    "BlockSums",
    "ExplainedSpan",
    "Lattice",
    "Mixture",
    "Step",
    "best_paths",
    "block_sums",
    "explain",
    "log_marginal",
    "posteriors",
    "sample_paths",
]
