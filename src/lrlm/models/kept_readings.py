"""Keep what a backbone that does not learn makes of documents, so that each is read only once.

    manifest.json   what the readings were made with and from
    states.f16      the hidden state before every token and before the end, (rows, D), float16
    scores.f32      log P of every token, and that it begins a word, (rows, 2), float32
    parts.jsonl     for each part of the documents, its rows and the SHA-256 of what was written

Documents are read in their order, a part of them at a time, and a part is listed when it is on the
disk. So a reading that was stopped or killed goes on where it was; a part that is damaged is told
by its SHA-256, and is read again with all that follow it. The files are mapped into memory: they
may be much larger than it.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from lrlm.arrays import Floats
from lrlm.artifacts import MANIFEST, read_manifest, write_manifest
from lrlm.batching import Collator, EncodedDocument, KeptReading, token_batches
from lrlm.errors import FormatError, InputError
from lrlm.models.language_model import flat
from lrlm.models.vanilla import VanillaLM
from lrlm.plain_data import parse_json

FORMAT = "lrlm readings"
VERSION = 1
STATES, SCORES, PARTS = "states.f16", "scores.f32", "parts.jsonl"

DOCUMENTS_IN_A_PART = 32
"""Few enough that little is lost when reading is killed, many enough that batches are of documents
of about the same length."""

_TOKENS_AT_ONCE = 2048
"""Tokens of a batch: enough for the machine's matrix rate, few enough for its memory."""
_ROOM_TO_SPARE = 1 << 28
"""Bytes of the disk that are left to others."""

Halves = npt.NDArray[np.float16]


class ReadingStore:
    """The readings of the documents of one split, in a folder; one process at a time adds to it."""

    def __init__(self, folder: Path, *, width: int, made_from: Mapping[str, Any]) -> None:
        """Open the folder, or begin a new one; `width` is that of the states."""
        self.folder = folder
        self._width = width
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / MANIFEST).exists():
            write_manifest(
                folder, format=FORMAT, version=VERSION, width=width, made_from=dict(made_from)
            )
        read_manifest(
            folder, format=FORMAT, version=VERSION, hint="remove the folder, and it is made again"
        )
        self._rows: list[int] = []
        """For each good part, how many rows there are up to its end."""
        for rows in self._good_parts():
            self._rows.append(rows)
        self._cut_off()

    @property
    def documents(self) -> int:
        """How many documents are kept, if there are as many; they are the first ones."""
        return len(self._rows) * DOCUMENTS_IN_A_PART

    def add(self, readings: Sequence[KeptReading]) -> None:
        """Write the next part and list it."""
        states = np.concatenate([reading.states_ND for reading in readings])
        scores = np.stack(
            [
                np.concatenate([reading.token_N for reading in readings]),
                np.concatenate([reading.fresh_N for reading in readings]),
            ],
            axis=1,
        )
        contents = (states.astype("<f2").tobytes(), scores.astype("<f4").tobytes())
        self._check_room(sum(map(len, contents)))
        for name, content in zip((STATES, SCORES), contents, strict=True):
            _append(self.folder / name, content)
        line = {"rows": len(states), "sha256": [_digest(content) for content in contents]}
        _append(self.folder / PARTS, (json.dumps(line) + "\n").encode())
        self._rows.append((self._rows[-1] if self._rows else 0) + len(states))

    def kept(self, documents: Sequence[EncodedDocument]) -> list[KeptReading]:
        """Give the readings of the first documents, as many as are kept; the files are mapped."""
        count = min(self.documents, len(documents))
        rows = [document.tokens + 1 for document in documents[:count]]
        total = sum(rows)
        if not total:
            return []
        if total > self._rows[-1]:
            raise FormatError(
                f"{self.folder} has readings of other documents; remove it, and it is made again"
            )
        states: Halves = np.memmap(
            self.folder / STATES, dtype="<f2", mode="r", shape=(total, self._width)
        )
        scores: Floats = np.memmap(self.folder / SCORES, dtype="<f4", mode="r", shape=(total, 2))
        ends = np.cumsum(rows).tolist()
        return [
            KeptReading(
                states[end - length : end],
                scores[end - length : end, 0],
                scores[end - length : end, 1],
            )
            for end, length in zip(ends, rows, strict=True)
        ]

    def _good_parts(self) -> Iterator[int]:
        """Give how many rows there are up to the end of each part that is undamaged."""
        if not (self.folder / PARTS).exists():
            return
        total = 0
        with (
            (self.folder / PARTS).open("rb") as parts,
            (self.folder / STATES).open("rb") as states,
            (self.folder / SCORES).open("rb") as scores,
        ):
            for line in parts:
                try:
                    entry = parse_json(line, where=PARTS)
                    rows, digests = entry["rows"], entry["sha256"]
                    contents = (states.read(rows * 2 * self._width), scores.read(rows * 8))
                except (FormatError, InputError, KeyError, TypeError, ValueError):
                    return
                if [_digest(content) for content in contents] != digests:
                    return
                total += rows
                yield total

    def _cut_off(self) -> None:
        """Forget what was written but not listed, or is damaged."""
        rows = self._rows[-1] if self._rows else 0
        for name, row_bytes in ((STATES, 2 * self._width), (SCORES, 8)):
            path = self.folder / name
            path.touch()
            if path.stat().st_size != rows * row_bytes:
                os.truncate(path, rows * row_bytes)
        path = self.folder / PARTS
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
        if len(lines) != len(self._rows):
            path.write_bytes(b"".join(lines[: len(self._rows)]))

    def _check_room(self, wanted: int) -> None:
        free = shutil.disk_usage(self.folder).free
        if free < wanted + _ROOM_TO_SPARE:
            raise InputError(
                f"there is no room left in {self.folder} to keep what the language model has read"
                f" ({free / 1e9:.1f} GB are free); make room, or keep it elsewhere, and what is"
                " there already is used again"
            )


@torch.no_grad()
def read_part(
    model: VanillaLM, collator: Collator, documents: Sequence[EncodedDocument]
) -> list[KeptReading]:
    """Read documents with the backbone: states and log-probabilities of all their tokens."""
    parts: list[list[KeptReading]] = [[] for _ in documents]
    lengths = [document.tokens + len(document.preface_P) for document in documents]
    for batch in token_batches(lengths, _TOKENS_AT_ONCE):
        state = None
        for window in collator.windows([documents[number] for number in batch]):
            here = window.to(model.device, model.dtype)
            state = model.begin(here) if state is None else state.select(here.kept_B)
            states_BTD, state = model.read(here, state)
            states_XD = flat(states_BTD, here)
            targets_X = flat(here.targets_BT, here)
            token_X, fresh_X = model.words.log_probs_as_read(states_XD, targets_X)
            lengths_B = here.lengths_B.tolist()
            columns = (
                states_XD.float().cpu().numpy(),
                token_X.float().cpu().numpy(),
                fresh_X.float().cpu().numpy(),
            )
            cuts = np.cumsum(lengths_B)[:-1]
            rows = zip(*(np.split(column, cuts) for column in columns), strict=True)
            for number, row in zip(here.document_B.tolist(), rows, strict=True):
                parts[batch[number]].append(KeptReading(*row))
    return [_joined(pieces) for pieces in parts]


def _joined(pieces: Sequence[KeptReading]) -> KeptReading:
    """Put the windows of one document together."""
    return KeptReading(
        np.concatenate([piece.states_ND for piece in pieces]),
        np.concatenate([piece.token_N for piece in pieces]),
        np.concatenate([piece.fresh_N for piece in pieces]),
    )


def _append(path: Path, content: bytes) -> None:
    with path.open("ab") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
