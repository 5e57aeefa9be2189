"""Fit the odds of copying with which a run annotates, on documents whose mentions are known."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from lrlm.artifacts import write_manifest
from lrlm.corpora import Corpus
from lrlm.errors import InputError
from lrlm.evaluation.gold import GoldJudge, Level
from lrlm.evaluation.judged import judge
from lrlm.models import ScoredDocument
from lrlm.runs.run import COPY_ODDS, Run, read_run_manifest
from lrlm.text import LinkedDocument, TokenSpace

TRIED = tuple(map(float, range(13)))
"""The odds that are compared, in nats: 0, 1, … 12."""

_AT_ONCE = 16


@dataclass
class GoldReadings:
    """Documents with gold mentions, as a model has read them."""

    space: TokenSpace
    documents: list[LinkedDocument] = field(default_factory=list)
    scored: list[ScoredDocument] = field(default_factory=list)

    def add(self, documents: Sequence[LinkedDocument], scored: Sequence[ScoredDocument]) -> None:
        """Keep the documents of a batch."""
        self.documents += documents
        self.scored += scored

    def f1(self, copy_odds: float) -> float:
        """Give F1 of the best paths, (span, object), with these odds of copying."""
        gold = GoldJudge(self.documents)
        for first in range(0, len(self.documents), _AT_ONCE):
            batch = slice(first, first + _AT_ONCE)
            members = self.documents[batch]
            found = judge(members, self.scored[batch], self.space, copy_odds=copy_odds)
            for document, judged in zip(members, found, strict=True):
                gold.add(document, judged)
        return gold.quality().best_path[Level.OBJECT].f1 or 0.0

    def best_odds(self) -> float:
        """Give the odds with the best F1; of equals the smallest, nearest to the model itself."""
        if not any(document.gold for document in self.documents):
            raise InputError("there are no gold mentions to fit the odds of copying on")
        return max(TRIED, key=lambda odds: (self.f1(odds), -odds))


def save_copy_odds(run: Run, copy_odds: float, corpus: Corpus, split: str) -> None:
    """Keep the odds of copying in the manifest of a run, and what they were fitted on."""
    manifest = read_run_manifest(run.folder)
    fitted_on = {
        "corpus": corpus.folder.resolve().name,
        "fingerprint": corpus.fingerprint,
        "split": split,
    }
    write_manifest(
        run.folder, **{**manifest, COPY_ODDS: copy_odds, f"{COPY_ODDS}_fitted_on": fitted_on}
    )
