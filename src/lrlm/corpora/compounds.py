"""Cut words that are joined by hyphens or slashes, where a name stands in them.

"Oslo-based" is one word of running text, and "Oslo" is not a word of it. A word is cut only where
one of the topic's forms would begin or end; all others stay whole, and so do those that belong
to a longer form ("Madrid-Barajas Airport") as they are. As in WikiText, what joined the
parts becomes a word with marks around it, so that they can be put together again.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence

from lrlm.text import Tokens

_JOINED = re.compile(r"\w[-/]\w")
_JOINTS = re.compile(r"(?<=\w)[-/](?=\w)")

_MOST_JOINTS = 16
"""A word with more of them is an address or a table, not a compound."""


def has_compounds(text: str) -> bool:
    """Say whether some word of a text may be a compound."""
    return _JOINED.search(text) is not None


def cut_all(tokens: Tokens) -> Tokens:
    """Cut every compound at all of its joints."""
    return _cut_at(tokens, lambda number: _joints(tokens.words[number]))


def _joints(word: str) -> list[int]:
    """Say where the parts of a word are joined; nowhere in what is no compound."""
    joints = [found.start() for found in _JOINTS.finditer(word)]
    return joints if len(joints) <= _MOST_JOINTS else []


def _cut_at(tokens: Tokens, joints_of: Callable[[int], Iterable[int]]) -> Tokens:
    """Cut words at some of their joints; which ones is asked for words that may have any."""
    words, starts, ends = [], [], []
    for number, word in enumerate(tokens.words):
        start = tokens.starts[number]
        begin = 0
        if "-" in word or "/" in word:
            for joint in joints_of(number):
                words += [word[begin:joint], f"@{word[joint]}@"]
                starts += [start + begin, start + joint]
                ends += [start + joint, start + joint + 1]
                begin = joint + 1
        words.append(word[begin:])
        starts.append(start + begin)
        ends.append(tokens.ends[number])
    return Tokens(words, starts, ends)


class CompoundCutter:
    """Cuts the compounds of texts about one topic."""

    def __init__(self, forms: Iterable[tuple[str, ...]]) -> None:
        self._by_first: dict[str, set[tuple[str, ...]]] = {}
        self._by_last: dict[str, set[tuple[str, ...]]] = {}
        for form in forms:
            self._by_first.setdefault(form[0], set()).add(form)
            self._by_last.setdefault(form[-1], set()).add(form)

    def cut(self, tokens: Tokens, whole: Container[int]) -> Tokens:
        """Give tokens with compounds cut where a form begins or ends in them.

        Those whose numbers are in `whole` are left as they are.
        """
        return _cut_at(
            tokens,
            lambda number: () if number in whole else sorted(self._cuts(tokens.words, number)),
        )

    def _cuts(self, words: Sequence[str], number: int) -> set[int]:
        """Find the joints of a word at which a form begins or ends."""
        word = words[number]
        joints = _joints(word)
        if not joints:
            return set()
        bounds = [-1, *joints, len(word)]
        return {
            joint
            for left, before in enumerate(bounds[:-1])
            for after in bounds[left + 1 :]
            if (before, after) != (-1, len(word))
            for joint in self._used(words, number, before, after)
        }

    def _used(self, words: Sequence[str], number: int, before: int, after: int) -> Iterator[int]:
        """Say at which of two joints the part between them belongs to a form."""
        word = words[number]
        part = word[before + 1 : after]
        if (part,) in self._by_first.get(part, ()):
            yield from (joint for joint in (before, after) if 0 <= joint < len(word))
        if before == -1:
            for form in self._by_last.get(part, ()):
                first = number - len(form) + 1
                if 0 <= first < number and tuple(words[first:number]) == form[:-1]:
                    yield after
        if after == len(word):
            for form in self._by_first.get(part, ()):
                if tuple(words[number + 1 : number + len(form)]) == form[1:] and len(form) > 1:
                    yield before
