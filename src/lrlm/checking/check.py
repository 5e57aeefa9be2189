"""Check texts against what is known about their topics: a stream, read some texts at a time."""

from collections.abc import Callable, Iterable, Iterator

from lrlm.annotation.annotate import check_posteriors
from lrlm.annotation.annotation import BadText
from lrlm.annotation.streaming import improbable, in_their_places, raised, read_in_order
from lrlm.checking.calibration import Calibration, Trust, TrustName
from lrlm.checking.findings import CheckedText
from lrlm.checking.hypotheses import KnowledgeOfTypes, with_hypotheses
from lrlm.checking.judging import calibrated, judge, stated
from lrlm.checking.statements import StatedDocument
from lrlm.errors import InputError, LrlmError
from lrlm.knowledge import Topic
from lrlm.runs.run import Run
from lrlm.text import LinkedDocument

THRESHOLD = 0.5
"""Findings have at least this probability, unless another is given: rather right than wrong."""


class Checker:
    """Checks documents with a run, by what is known of the types of facts."""

    def __init__(
        self,
        run: Run,
        known: KnowledgeOfTypes,
        *,
        calibration: Calibration,
        threshold: float = THRESHOLD,
        trust: TrustName = "neither",
        batch_size: int | None = None,
    ) -> None:
        check_posteriors(run)
        if not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
            raise InputError(f"a threshold is a probability from 0 to 1, not {threshold!r}")
        self.run = run
        self.known = known
        self.calibration = calibration
        if trust not in list(Trust):
            raise InputError(f"trust must be 'neither', 'graph' or 'text', not {trust!r}")
        self.threshold = threshold
        self.trust = Trust(trust)
        self.batch_size = batch_size

    def check(self, documents: Iterable[LinkedDocument]) -> Iterator[CheckedText]:
        """Check documents in their order; only some of them are held at a time."""
        return map(raised, self._results(documents))

    def check_texts(
        self, texts: Iterable[object], *, link: Callable[[str, Topic], LinkedDocument]
    ) -> Iterator[CheckedText | BadText]:
        """Check pairs of a text and its topic; one that cannot be read is told in its place."""
        return in_their_places(texts, link, self._results)

    def state(self, documents: Iterable[LinkedDocument]) -> Iterator[StatedDocument | LrlmError]:
        """Say how probable it is that each document states each fact, known or not."""
        schema, space = self.known.schema, self.run.space
        supposed = (with_hypotheses(document, self.known) for document in documents)
        for members, scored in read_in_order(self.run, supposed, self.batch_size):
            places = [space.places(document) for document in members]
            weighed = [
                calibrated(
                    document,
                    where,
                    each,
                    schema,
                    self.calibration,
                    readings=self.run.readings,
                )
                for document, where, each in zip(members, places, scored, strict=True)
            ]
            for found in stated(members, places, weighed):
                yield found if found.is_possible else improbable(found.document)

    def _results(self, documents: Iterable[LinkedDocument]) -> Iterator[CheckedText | LrlmError]:
        for found in self.state(documents):
            if isinstance(found, LrlmError):
                yield found
            else:
                yield judge(
                    found,
                    self.known.schema,
                    threshold=self.threshold,
                    calibration=self.calibration,
                    trust=self.trust,
                )
