"""How sure it is that two models differ, from their scores of the same documents."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lrlm.errors import InputError
from lrlm.evaluation.document_scores import DocumentScore, Spelling

LEVELS = (0.01, 0.05)
"""Below the first a difference has two asterisks, below the second one."""


@dataclass(frozen=True, slots=True)
class Significance:
    """A model compared with a baseline, document by document."""

    baseline: str
    p: float
    """Of the two-sided Wilcoxon signed-rank test over documents' nats per token."""
    is_better: bool
    """Whether the ranks speak for the model, not for the baseline."""

    @property
    def asterisks(self) -> str:
        """Mark an improvement as the paper does; what got worse has no asterisk."""
        if not self.is_better:
            return ""
        strong, weak = LEVELS
        return "**" if self.p < strong else "*" if self.p < weak else ""


def compare(
    scores: Sequence[DocumentScore],
    baseline: Sequence[DocumentScore],
    *,
    name: str,
    spelling: Spelling = Spelling.OPEN,
    count_end: bool = False,
) -> Significance:
    """Test whether a model's nats per token differ from those of the baseline called `name`."""
    if [score.id for score in scores] != [score.id for score in baseline]:
        raise InputError(f"only scores of the same documents can be compared with {name}")
    differences = np.array(
        [
            (one.nats(spelling, count_end=count_end) - other.nats(spelling, count_end=count_end))
            / one.units(count_end=count_end)
            for one, other in zip(scores, baseline, strict=True)
            if one.units(count_end=count_end)
        ]
    )
    if not differences.any():
        return Significance(name, 1.0, is_better=False)
    from scipy.stats import rankdata, wilcoxon

    ranks = rankdata(np.abs(differences))
    p = float(wilcoxon(differences).pvalue)
    return Significance(name, p, is_better=float((np.sign(differences) * ranks).sum()) < 0)
