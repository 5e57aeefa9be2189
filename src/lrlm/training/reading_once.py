"""Read documents once with a language model that does not learn, within a share of the time.

What it has made of them is kept in files (`lrlm.models.kept_readings`), and training learns from
these: many epochs in the time of one reading. Later runs with the same language model and corpus
find the files and read on from there.
"""

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lrlm.batching import Collator, EncodedDocument, Parts
from lrlm.corpora import Corpus
from lrlm.errors import StoppedError
from lrlm.models import LanguageModel
from lrlm.models.kept_readings import DOCUMENTS_IN_A_PART, ReadingStore, read_part
from lrlm.models.vanilla import VanillaLM
from lrlm.plain_data import read_json
from lrlm.progress import Progress
from lrlm.runs.config import TrainingConfig
from lrlm.runs.run import RunSetup, weights_of
from lrlm.runs.settings import to_nested
from lrlm.runs.sizes import CHOICES
from lrlm.training.batch_plan import SplitDocuments
from lrlm.training.environment import TrainingEnvironment
from lrlm.training.interruption import Interruption
from lrlm.training.processes import Processes
from lrlm.whole_files import replace_file

READING_SHARE = 0.7
"""Of the minutes that training may take, so much is for reading at most; the rest is for learning.
More articles help less than learning longer from those that were read."""

RECORD = "reading.json"
"""Where a run keeps how many documents it learns from."""


@dataclass(frozen=True)
class ReadingRecord:
    """How many documents of each split were read, and how long it took."""

    documents: Mapping[str, int]
    seconds: float

    @classmethod
    def of(cls, run: Path) -> "ReadingRecord | None":
        """Read the record of a run that is resumed; None where there is none yet."""
        path = run / RECORD
        if not path.exists():
            return None
        content = read_json(path)
        return cls(dict(content["documents"]), float(content["seconds"]))

    def save(self, run: Path) -> None:
        """Write the record into the folder of a run."""
        content = {"documents": dict(self.documents), "seconds": round(self.seconds, 1)}
        replace_file(run / RECORD, (json.dumps(content) + "\n").encode())

    def minutes_to_learn(self, minutes: float | None) -> float | None:
        """Give what is left of the minutes of a run."""
        if minutes is None:
            return None
        return max(minutes - self.seconds / 60, minutes * (1 - READING_SHARE) / 2)


class OnceReader:
    """Reads the splits of a corpus with the backbone of a model, and keeps what it made of them."""

    def __init__(
        self,
        model: VanillaLM,
        setup: RunSetup,
        *,
        corpus: str,
        cache: Path,
        interruption: Interruption,
        progress: Progress,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`corpus` is the fingerprint of the documents' corpus."""
        self._model = model
        self._setup = setup
        self._corpus = corpus
        self._cache = cache
        self._interruption = interruption
        self._progress = progress
        self._clock = clock
        self._seconds_per_token: float | None = None

    def read(
        self,
        run: Path,
        documents: Mapping[str, Sequence[EncodedDocument]],
        *,
        minutes: float | None,
        processes: Processes,
    ) -> tuple[dict[str, list[EncodedDocument]], ReadingRecord]:
        """Give the documents that were read, with their readings, and how it went.

        `documents` are those of each split; the first of each are read, all of those whose split
        comes before the last, and of the last as many as there is time for.
        """
        stores = {split: self._store(split) for split in documents} if processes.is_first else {}
        with processes.first_before_others():
            if processes.is_first:
                record = ReadingRecord.of(run)
                self._read(run, documents, stores, record, minutes)
        record = ReadingRecord.of(run)
        assert record is not None
        stores = stores or {split: self._store(split) for split in documents}
        kept = {}
        for split, store in stores.items():
            members = documents[split][: record.documents[split]]
            readings = store.kept(members)
            kept[split] = [
                replace(each, kept=reading) for each, reading in zip(members, readings, strict=True)
            ]
        return kept, record

    def _read(
        self,
        run: Path,
        documents: Mapping[str, Sequence[EncodedDocument]],
        stores: Mapping[str, ReadingStore],
        record: ReadingRecord | None,
        minutes: float | None,
    ) -> None:
        start = self._clock()
        *_, last = documents
        for split, members in documents.items():
            wanted = len(members) if record is None else record.documents[split]
            may_take = None
            if minutes is not None and split == last and record is None:
                may_take = 60 * minutes * READING_SHARE - (self._clock() - start)
            self._read_split(split, members[:wanted], stores[split], may_take)
        if record is None:
            counts = {
                split: min(store.documents, len(documents[split]))
                for split, store in stores.items()
            }
            ReadingRecord(counts, self._clock() - start).save(run)

    def _read_split(
        self,
        split: str,
        documents: Sequence[EncodedDocument],
        store: ReadingStore,
        seconds: float | None,
    ) -> None:
        """Read what is not kept yet, for as long as there is time; at least one part."""
        start = self._clock()
        collator = self._collator()
        while store.documents < len(documents):
            part = documents[store.documents : store.documents + DOCUMENTS_IN_A_PART]
            passed = self._clock() - start
            is_first_part = not store.documents
            is_late = seconds is not None and passed + self._expected(part) > seconds
            if is_late and not is_first_part:
                return
            if self._interruption.is_wanted:
                raise StoppedError(
                    f"stopped by {self._interruption.reason} while articles were read; what was"
                    " read is kept, and the run can be resumed"
                )
            share = 0.0 if seconds is None else min(passed / max(seconds, 1e-9), 1.0)
            by_count = store.documents / len(documents)
            self._progress(f"reading {split} once", round(1000 * max(share, by_count)), 1000)
            before = self._clock()
            store.add(read_part(self._model, collator, part))
            self._seconds_per_token = (self._clock() - before) / _tokens(part)

    def _expected(self, part: Sequence[EncodedDocument]) -> float:
        """Guess how many seconds a part will take."""
        return (self._seconds_per_token or 0.0) * _tokens(part)

    def _collator(self) -> Collator:
        """Give what makes windows with nothing but tokens and what is read before them."""
        return self._setup.collator(only=Parts.ALIASES | Parts.FACTS)

    def _store(self, split: str) -> ReadingStore:
        made_from = self._made_from(split)
        digest = hashlib.sha256(json.dumps(made_from, sort_keys=True).encode()).hexdigest()
        return ReadingStore(
            self._cache / f"readings-{digest[:16]}",
            width=self._model.backbone.output_size,
            made_from=made_from,
        )

    def _made_from(self, split: str) -> dict[str, Any]:
        """Name everything that the readings depend on."""
        config = self._setup.config
        before = config.model.reads & (Parts.ALIASES | Parts.FACTS)
        return {
            "backbone": self._setup.manifest["pretrained"]["fingerprint"],
            "reading": self._model.backbone.reading_settings(),
            "tokens": to_nested(config.vocabulary, CHOICES),
            "corpus": self._corpus,
            "split": split,
            "before": [part.name for part in before],
            "preface": to_nested(config.model.preface, CHOICES) if Parts.FACTS in before else None,
            "window": config.training.window,
        }


def _tokens(part: Sequence[EncodedDocument]) -> int:
    return sum(document.tokens + len(document.preface_P) for document in part)


def read_once(
    out: Path,
    corpus: Corpus,
    setup: RunSetup,
    model: LanguageModel,
    documents: tuple[SplitDocuments, SplitDocuments],
    *,
    cache: Path,
    environment: TrainingEnvironment,
    progress: Progress,
) -> tuple[tuple[SplitDocuments, SplitDocuments], TrainingConfig]:
    """Read with a backbone that does not learn; give what was read, and how to learn from it."""
    assert isinstance(model, VanillaLM), "only these can have a pretrained backbone"
    config = setup.config.training
    reader = OnceReader(
        model,
        setup,
        corpus=corpus.fingerprint,
        cache=cache,
        interruption=environment.interruption,
        progress=progress,
        clock=environment.clock,
    )
    train_documents, valid_documents = (split.documents for split in documents)
    if not weights_of(model):
        train_documents = ()  # there is nothing that could learn from them
    kept, record = reader.read(
        out,
        {"valid": valid_documents, "train": train_documents},
        minutes=config.minutes,
        processes=environment.processes,
    )
    left = record.minutes_to_learn(config.minutes)
    if train_documents:
        environment.reporter.message(
            f"read {len(kept['train']):,} of {len(train_documents):,} articles once in"
            f" {record.seconds / 60:.1f} min"
            + ("" if left is None else f"; {left:.1f} min are left to learn from them")
        )
    window = config.window
    return (
        SplitDocuments.of(kept["train"], window=window),
        SplitDocuments.of(kept["valid"], window=window),
    ), replace(config, minutes=left)
