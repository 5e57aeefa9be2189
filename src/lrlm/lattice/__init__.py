"""Takes scores of words and spans; gives sums, posteriors, best and sampled paths.

A text of N tokens is cut into segments. A segment is either one token as a WORD, or a span of one
or more tokens copied as a whole (an *edge*). All ways of cutting form a lattice over the N + 1
token boundaries, a path through it is one segmentation, and the score of a path is the sum of the
log scores of its segments. Nothing here knows where the scores come from.

    structure.py   Lattice: the scores of a batch, and their checks
    sweep.py       a lattice → independent blocks of few junctions → the sum or maximum into each
    sums.py        log_marginal (differentiable) and posteriors
    paths.py       best_paths and sample_paths
"""

from lrlm.lattice.paths import Step, best_paths, sample_paths
from lrlm.lattice.structure import Lattice
from lrlm.lattice.sums import log_marginal, posteriors

__all__ = ["Lattice", "Step", "best_paths", "log_marginal", "posteriors", "sample_paths"]
