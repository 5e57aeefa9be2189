"""Find the parts of a text that could be a name: capitalised runs, numbers, dates, known names."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from lrlm.corpora.linking import STOP_WORDS
from lrlm.knowledge.literals import MONTHS, UNITS, Quantity
from lrlm.knowledge.schema import NameKind, kind_of_name
from lrlm.text import LinkedDocument, Profile, split_words

LONGEST_NAME = 12
"""Words of a name that is looked for."""

_CONNECTORS = frozenset(
    "of the de la le les du des del da do dos van von der den di y e for".split()  # noqa: SIM905
)
"""What may stand between two capitalised words of one name."""
_MONTHS = frozenset(MONTHS)
_SIGNS = frozenset("+-−")
_NUMBER = re.compile(r"[-+£€¥$]?\d[\d,.:/]*%?")
_SENTENCE_ENDS = frozenset(".!?:;\n")
_OPENING = " \t\"'“‘«([*•"
_LAST_OF_A_NAME = frozenset(("Inc.", "Ltd.", "Corp.", "Co.", "Jr.", "Sr.", "Bros.", "etc."))
"""Abbreviations that end a name: what follows is another, or a new sentence."""


_Words = tuple[str, ...]


def _usual_units() -> frozenset[_Words]:
    units = dict.fromkeys(unit for ways in UNITS.values() for unit in ways)
    amounts = ("million", "billion", "trillion", "percent", "%")
    all_units = (*units, *amounts, *(f"{each} {unit}" for each in amounts[:3] for unit in units))
    return frozenset(split_words(unit) for unit in all_units)


_USUAL_UNITS = _usual_units()


class NameSpan(NamedTuple):
    """Words `[start, end)` of a text that could be a name, and what kind of name."""

    start: int
    end: int
    kind: NameKind


class KnownNames:
    """Finds names of a dictionary in the words of texts, and knows the units of its quantities."""

    def __init__(self, names: Iterable[str], *, quantities: Iterable[str] = ()) -> None:
        """Behind a number, the units of `quantities` count as its units, beside the usual ones."""
        self.units = _USUAL_UNITS | _units_of(quantities)
        self._by_first: dict[str, set[tuple[str, ...]]] = {}
        for name in names:
            words = split_words(name, Profile.RAW)
            if 0 < len(words) <= LONGEST_NAME and not (len(words) == 1 and words[0] in STOP_WORDS):
                self._by_first.setdefault(words[0], set()).add(words)

    def find(self, words: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Give every place where a name stands: words `[start, end)`."""
        for start, word in enumerate(words):
            for name in self._by_first.get(word, ()):
                if tuple(words[start : start + len(name)]) == name:
                    yield start, start + len(name)


def name_spans(document: LinkedDocument, known: KnownNames) -> list[NameSpan]:
    """List the parts of a text that could be names, sorted; they may overlap and nest.

    Their number grows with the length of the text and no faster.
    """
    words = document.tokens.words
    own = _units_of(text for each in document.relations for text in each.texts)
    units = _by_first_word(known.units if own <= known.units else known.units | own)
    found = {*known.find(words), *_numbers(words, units), *_capitalised(words)}
    found |= {(mention.start, mention.end) for mention in document.mentions}
    spans = []
    for start, end in sorted(found):
        kind = kind_of_name(span_text(document, start, end))
        spans.append(NameSpan(start, end, kind))
    return spans


def span_text(document: LinkedDocument, start: int, end: int) -> str:
    """Give the characters of words `[start, end)`."""
    return document.text[document.tokens.starts[start] : document.tokens.ends[end - 1]]


def _capitalised(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Give runs of capitalised words, also across "of" and the like, and the runs between these."""
    place = 0
    while place < len(words):
        if not _is_capitalised(words[place]):
            place += 1
            continue
        runs = [(place, _run_end(words, place))]
        while (next_start := _next_run(words, runs[-1][1])) is not None:
            runs.append((next_start, _run_end(words, next_start)))
        starts_sentence = place == 0 or words[place - 1][-1] in _SENTENCE_ENDS
        yield from _names_of(words, runs, starts_sentence=starts_sentence)
        place = runs[-1][1]


def _run_end(words: Sequence[str], start: int) -> int:
    end = start + 1
    while (
        end < len(words)
        and end - start < LONGEST_NAME
        and _is_capitalised(words[end])
        and words[end - 1] not in _LAST_OF_A_NAME
    ):
        end += 1
    # A number may end a name: "Apollo 11".
    if end < len(words) and words[end].isdigit() and words[end - 1] not in _MONTHS:
        end += 1
    return end


def _next_run(words: Sequence[str], end: int) -> int | None:
    """Say where a run goes on behind at most two connecting words."""
    for gap in (1, 2):
        if (
            end + gap < len(words)
            and all(word in _CONNECTORS for word in words[end : end + gap])
            and _is_capitalised(words[end + gap])
        ):
            return end + gap
    return None


def _names_of(
    words: Sequence[str], runs: Sequence[tuple[int, int]], *, starts_sentence: bool
) -> Iterator[tuple[int, int]]:
    if starts_sentence and words[runs[0][0]].lower() in STOP_WORDS:  # "The", "In", "Its"
        begin = runs[0][0] + 1
        runs = [(begin, runs[0][1]), *runs[1:]] if begin < runs[0][1] else runs[1:]
    if not runs:
        return
    for start, end in runs:
        yield start, end
        if words[start].lower() in STOP_WORDS and start + 1 < end:
            yield start + 1, end
    for first, second in pairwise(runs):
        yield first[0], second[1]
    if runs[-1][1] - runs[0][0] <= LONGEST_NAME:
        yield runs[0][0], runs[-1][1]


@lru_cache(maxsize=1 << 14)
def _is_capitalised(word: str) -> bool:
    return word[0].isupper() or (len(word) > 1 and word[0] in "'‘“" and word[1].isupper())


def _units_of(names: Iterable[str]) -> set[_Words]:
    """Give the units of those names that are quantities: "914.8 inhabitants per square mile"."""
    return {unit for name in names if (unit := _unit_of(name))}


@lru_cache(maxsize=1 << 14)
def _unit_of(name: str) -> _Words:
    """Give the unit of a quantity in words; nothing where there is none.

    >>> _unit_of("14,035 square metres"), _unit_of("12"), _unit_of("Apollo 11")
    (('square', 'metres'), (), ())
    """
    quantity = Quantity.parse(name)
    if quantity is None or quantity.unit is None or kind_of_name(name) is not NameKind.NUMBER:
        return ()
    return split_words(quantity.unit)


@lru_cache(maxsize=1 << 8)
def _by_first_word(units: frozenset[_Words]) -> Mapping[str, Sequence[_Words]]:
    by_first: dict[str, list[_Words]] = {}
    for unit in sorted(units):
        by_first.setdefault(unit[0], []).append(unit)
    return by_first


def _numbers(
    words: Sequence[str], units: Mapping[str, Sequence[_Words]]
) -> Iterator[tuple[int, int]]:
    """Give numbers with and without their unit, and dates with and without their parts."""
    for place, word in enumerate(words):
        if not word[0].isdigit() and not _NUMBER.fullmatch(word):
            continue
        start = place - 1 if place and words[place - 1] in _SIGNS else place
        for end in (place + 1, *_ends_of_units(words, place + 1, units)):
            yield start, end
            yield place, end
        after = words[place + 1 : place + 3]
        if after and after[0] in _MONTHS:  # 7 June 1905
            yield place, place + 2
            if len(after) == 2 and after[1].isdigit():
                yield place, place + 3
        if place and words[place - 1] in _MONTHS:  # June 7, 1905; June 1905
            yield place - 1, place + 1
            if len(after) == 2 and after[0] == "," and after[1].isdigit():
                yield place - 1, place + 3


def _ends_of_units(
    words: Sequence[str], start: int, units: Mapping[str, Sequence[_Words]]
) -> Iterator[int]:
    """Say where units end that stand behind a number."""
    if start < len(words):
        for unit in units.get(words[start], ()):
            if tuple(words[start : start + len(unit)]) == unit:
                yield start + len(unit)


def is_doubtful(text: str, start: int, end: int, names: Container[str]) -> bool:
    """Say whether a name may be a plain word: its capital begins a sentence, and nobody knows it.

    >>> is_doubtful("Weirs were built in Oslo.", 0, 5, {}), is_doubtful("In Oslo.", 3, 7, {})
    (True, False)
    """
    name = text[start:end]
    before = start - 1
    while before >= 0 and text[before] in _OPENING:
        before -= 1
    begins = before < 0 or text[before] in _SENTENCE_ENDS
    return begins and not any(map(str.isspace, name)) and name not in names and name[0].isupper()
