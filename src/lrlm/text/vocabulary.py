"""The words that have an id, in order of frequency, with `<unk>` and `</s>`."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lrlm.errors import FormatError, InputError
from lrlm.plain_data import parse_json, read_bytes, shown

UNKNOWN = "<unk>"
"""Stands for every word outside the vocabulary; its spelling is scored by a character model."""

END = "</s>"
"""Ends a text. It is never read from a text: one that contains it spells an unknown word."""

_FORMAT = "lrlm vocabulary"
_VERSION = 1


@dataclass(frozen=True)
class Vocabulary:
    """Words with their training counts, most frequent first, ties in order of code points.

    The place of a word is its id. `<unk>` counts the tokens that have no word of their own,
    `</s>` the documents; both stand among the other words where their counts put them.
    """

    words: tuple[str, ...]
    counts: tuple[int, ...]

    @classmethod
    def from_counts(
        cls,
        counts: Mapping[str, int],
        *,
        documents: int,
        min_count: int = 1,
        size: int | None = None,
    ) -> "Vocabulary":
        """Keep the words seen at least `min_count` times, and of those the `size` most frequent.

        `size` counts words of the text: `<unk>` and `</s>` come on top.
        """
        if min_count < 1:
            raise InputError(f"min_count must be at least 1, not {min_count}")
        if size is not None and size < 1:
            raise InputError(f"a vocabulary's size must be at least 1, not {size}")
        kept = sorted(
            (
                (-count, word)
                for word, count in counts.items()
                if count >= min_count and word not in (UNKNOWN, END)
            ),
        )[:size]
        known_tokens = -sum(count for count, _ in kept)
        all_tokens = sum(count for word, count in counts.items() if word != END)
        entries = [*kept, (known_tokens - all_tokens, UNKNOWN), (-documents, END)]
        entries.sort()
        return cls(tuple(word for _, word in entries), tuple(-count for count, _ in entries))

    def cut(self, *, min_count: int = 1, size: int | None = None) -> "Vocabulary":
        """Give a smaller vocabulary; what falls out is counted as `<unk>`."""
        counts = dict(zip(self.words, self.counts, strict=True))
        documents = counts.pop(END)
        return Vocabulary.from_counts(counts, documents=documents, min_count=min_count, size=size)

    @cached_property
    def _ids(self) -> dict[str, int]:
        ids = {word: index for index, word in enumerate(self.words)}
        ids.pop(END)  # see END
        return ids

    @cached_property
    def unknown_id(self) -> int:
        """The id of `<unk>`."""
        return self.words.index(UNKNOWN)

    @cached_property
    def end_id(self) -> int:
        """The id of `</s>`."""
        return self.words.index(END)

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._ids and word != UNKNOWN

    def encode(self, words: Iterable[str]) -> list[int]:
        """Give the id of each word, that of `<unk>` where there is none."""
        get, unknown = self._ids.get, self.unknown_id
        return [get(word, unknown) for word in words]

    def to_json(self) -> str:
        """Write the vocabulary so that `from_json` reads the same one."""
        document = {
            "format": _FORMAT,
            "version": _VERSION,
            "words": self.words,
            "counts": self.counts,
        }
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes, *, where: str = "vocabulary") -> "Vocabulary":
        """Read what `to_json` wrote; `where` names the file in an error."""
        document = parse_json(text, where=where)
        if not isinstance(document, dict) or document.get("format") != _FORMAT:
            raise FormatError(f"{where}: not a vocabulary of lrlm")
        if document.get("version") != _VERSION:
            raise FormatError(
                f"{where}: written in version {shown(document.get('version'))} of the format,"
                f" this lrlm reads version {_VERSION}"
            )
        words, counts = document.get("words"), document.get("counts")
        if (
            not isinstance(words, list)
            or not isinstance(counts, list)
            or len(words) != len(counts)
            or not all(isinstance(word, str) for word in words)
            or not all(isinstance(count, int) and count >= 0 for count in counts)
            or len(set(words)) != len(words)
            or not {UNKNOWN, END} <= set(words)
        ):
            raise FormatError(f"{where}: words and counts do not belong together")
        return cls(tuple(words), tuple(counts))

    @classmethod
    def read(cls, path: Path) -> "Vocabulary":
        """Read a vocabulary file."""
        return cls.from_json(read_bytes(path), where=str(path))
