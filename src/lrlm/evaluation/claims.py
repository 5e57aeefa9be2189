"""A reading in, what the model claims of each document out: by its best path and its posterior.

Documents are cut into windows where no span crosses, so what a window's lattice claims is what the
lattice of the whole document would claim.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from lrlm.corpora import LinkedDocument
from lrlm.evaluation.gold import THRESHOLDS, Claim, GoldQuality, Tally, gold_mentions
from lrlm.evaluation.reading import Reading
from lrlm.lattice import best_paths, posteriors


@dataclass
class WindowClaims:
    """What one row of a window claims."""

    best_path: list[Claim] = field(default_factory=list)
    posterior: dict[Claim, float] = field(default_factory=dict)
    """The probability of every candidate, whether it is on the best path or not."""


def read_claims(reading: Reading, documents: Sequence[LinkedDocument]) -> list[WindowClaims]:
    """Give the claims of each row; tokens are counted from the document's first."""
    lattice = reading.spelled(reading.window.spelling_BT)
    _, edge_E = posteriors(lattice)
    _, paths = best_paths(lattice)
    rows = [WindowClaims() for _ in paths]
    claim_E = []
    for row, start, end, relation in zip(
        lattice.row_E.tolist(),
        lattice.start_E.tolist(),
        lattice.end_E.tolist(),
        reading.window.edges.relation_E.tolist(),
        strict=True,
    ):
        known = documents[int(reading.window.document_B[row])].relations[relation]
        offset = int(reading.offset_B[row])
        claim_E.append(Claim(offset + start, offset + end, known.type, known.object))
    for row, claim, probability in zip(
        lattice.row_E.tolist(), claim_E, edge_E.tolist(), strict=True
    ):
        posterior = rows[row].posterior
        posterior[claim] = posterior.get(claim, 0.0) + probability
    for found, path in zip(rows, paths, strict=True):
        found.best_path += [claim_E[step.edge] for step in path if step.edge is not None]
    return rows


class GoldJudge:
    """Sees every reading of a model and judges its claims by the gold mentions."""

    def __init__(self, documents: Sequence[LinkedDocument]) -> None:
        """Take all documents that will be read."""
        total = gold_mentions(documents)
        self._best_path, self._posterior = Tally(total), Tally(total)

    def see(self, reading: Reading, documents: Sequence[LinkedDocument]) -> None:
        """Judge a reading, given the documents of its batch."""
        for number, claims in zip(
            reading.window.document_B.tolist(), read_claims(reading, documents), strict=True
        ):
            gold = documents[number].gold
            if gold is not None:
                self._best_path.add(dict.fromkeys(claims.best_path, 1.0), gold)
                self._posterior.add(claims.posterior, gold)

    def quality(self) -> GoldQuality:
        """Give how well all claims agree with the gold mentions."""
        return GoldQuality(
            best_path=self._best_path.counts(),
            by_threshold={t: self._posterior.counts(t) for t in THRESHOLDS},
        )
