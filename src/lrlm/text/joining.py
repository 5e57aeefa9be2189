"""Join tokens to a text that people can read, and say where each token stands in it.

Tokens are put together where people do ("Oslo, the capital"), but only where the tokeniser cuts
them again in the same way: whatever stands between two spaces is tried before it is kept. So the
text has the same tokens as were given, unless one of them is no token by itself, as a misspelled
word that holds a comma may be.

A name that is copied is not put together anew: it stands in the text as it was given.
"""

from collections import deque
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from lrlm.text.tokeniser import Profile, is_unspaced, split_words, tokenise

TO_THE_LEFT = frozenset(
    [*",.;:!?%)]}”…", "...", "'s", "’s", "'re", "'ll", "'ve", "'d", "'m", "'t", "n't", "’t", "n’t"]
)
"""Tokens that stand at the end of the word before them."""

TO_THE_RIGHT = frozenset("([{“$£€¥#")
"""Tokens that stand at the beginning of the word after them."""

BETWEEN = {"@-@": "-", "@,@": ",", "@.@": ".", "@/@": "/", "–": "–"}
"""Tokens that stand between two words without any space, and how they are written there."""

_JOINTS = frozenset(["@-@", "@/@"])
"""What joins the parts of a compound that was cut at a name."""

_OPENING_BRACKETS = frozenset("([{“")
"""What opens something, also at the end of a copied name."""


class CopiedToken(NamedTuple):
    """A token of a name that is copied."""

    word: str
    gap: str
    """What parts it from the token before it in the name."""
    writing: str
    """How it is written there: that of `@-@` is a hyphen."""


def copied_tokens(words: Sequence[str], text: str) -> tuple[CopiedToken, ...] | None:
    """Say how each word of a name is written in its text; None where they do not fit together.

    >>> copied_tokens(["+", "47", "22"], "+47 22")[1:]
    (CopiedToken(word='47', gap='', writing='47'), CopiedToken(word='22', gap=' ', writing='22'))
    """
    tokens, end = [], 0
    for word in words:
        start = len(text) - len(text[end:].lstrip())
        writing = word if text.startswith(word, start) else BETWEEN.get(word, word)
        if not text.startswith(writing, start):
            return None
        tokens.append(CopiedToken(word, text[end:start], writing))
        end = start + len(writing)
    return tuple(tokens) if end == len(text) else None


class Joiner:
    """Puts a text together token by token; only the last ones may still have to wait."""

    def __init__(self, profile: Profile, *, after: str = "", joins_compounds: bool = False) -> None:
        """`after` is a text that goes on; it stays as it is.

        `joins_compounds` says that "Oslo", "@-@", "based" are the words of "Oslo-based" also in
        running text, which is then cut so where a name stands in it.
        """
        tokens = tokenise(after, profile)
        self.text = after
        self.places: list[tuple[int, int]] = list(zip(tokens.starts, tokens.ends, strict=True))
        """Characters `[start, end)` of each token that has its place."""
        self._profile = profile
        self._joins_compounds = joins_compounds
        self._cluster = (after.split() or [""])[-1] if after == after.rstrip() else ""
        """What stands after the last space."""
        self._since_space = list(split_words(self._cluster, profile))
        self._waiting: list[str] = []
        """A token that stands between two words, as long as the second is not there."""
        self._is_quoting = tokens.words.count('"') % 2 == 1
        self._to_copy: deque[CopiedToken] = deque()
        self._last_is_copied = False

    def begin_copy(self, tokens: Sequence[CopiedToken]) -> None:
        """Begin to copy a name: it stands behind a space, or right behind an opening bracket.

        What comes next may leave the name before its end.
        """
        self._to_copy = deque([tokens[0]._replace(gap=""), *tokens[1:]])
        run = list(takewhile(lambda token: not token.gap, self._to_copy))
        words, writings = [token.word for token in run], [token.writing for token in run]
        waiting, self._waiting = self._waiting, []
        for between in waiting:
            if self._fits([between, *words], [BETWEEN[between], *writings]):
                self._write([between], [BETWEEN[between]])
                return
            self._place(between)
        is_joined = self._is_after_opening() or self._runs_on(writings[0])
        if not (is_joined and self._fits(words, writings)):
            self._begin_cluster()

    def add_copied(self) -> None:
        """Take the next token of the name that is being copied."""
        token = self._to_copy.popleft()
        if token.gap:
            self.text += token.gap
            self._since_space, self._cluster = [], ""
        self._write([token.word], [token.writing])
        self._last_is_copied = True

    def add(self, token: str) -> None:
        """Take the next token."""
        if self._waiting:
            (between,) = self._waiting
            self._waiting = []
            if self._try([between, token], [BETWEEN[between], token]):
                return
            self._place(between)
        if token in BETWEEN and self._may_stand_between(token):
            self._waiting = [token]
        else:
            self._place(token)

    def finish(self) -> str:
        """Give the text: no token comes after the last."""
        for token in self._waiting:
            self._place(token)
        self._waiting = []
        return self.text

    def _place(self, token: str) -> None:
        closes = token == '"' and self._is_quoting
        self._is_quoting ^= token == '"'
        is_joined = (
            token in TO_THE_LEFT or closes or self._is_after_opening() or self._runs_on(token)
        )
        if self._since_space and is_joined and self._try([token], [token]):
            return
        self._begin_cluster()
        self._write([token], [token])

    def _is_after_opening(self) -> bool:
        """Say whether the next token stands right behind the last one, whatever it is."""
        if self._last_is_copied:
            return self._cluster[-1:] in _OPENING_BRACKETS
        last = self._since_space[-1:]
        opens_quote = self._since_space == ['"'] and self._is_quoting
        return opens_quote or (bool(last) and last[0] in TO_THE_RIGHT)

    def _runs_on(self, token: str) -> bool:
        """Say whether a token follows the last one in a script that is written without spaces."""
        last = self._since_space[-1:]
        if self._profile is not Profile.UNSPACED or not last:
            return False
        return _is_beside_no_space(last[0][:1]) and _is_beside_no_space(token[:1])

    def _begin_cluster(self) -> None:
        """Go on behind a space."""
        if self.text and not self.text[-1].isspace():
            self.text += " "
        self._since_space, self._cluster = [], ""

    def _may_stand_between(self, token: str) -> bool:
        before = self._since_space[-1:]
        return bool(before) and (token != "–" or before[0][-1:].isdigit())

    def _try(self, tokens: list[str], writings: list[str]) -> bool:
        """Put tokens right behind the one before, if they can still be told apart there."""
        if not self._fits(tokens, writings):
            return False
        self._write(tokens, writings)
        return True

    def _fits(self, tokens: list[str], writings: list[str]) -> bool:
        """Say whether tokens would be cut again in the same way right behind the last one."""
        if tokens[0] == "–" and not "".join(tokens[1:])[:1].isdigit():  # 1984–85
            return False
        expected = (*self._since_space, *tokens)
        if self._joins_compounds:
            expected = tuple(_compounds(expected))
        return split_words(self._cluster + "".join(writings), self._profile) == expected

    def _write(self, tokens: list[str], writings: list[str]) -> None:
        self._last_is_copied = False
        for token, writing in zip(tokens, writings, strict=True):
            self.places.append((len(self.text), len(self.text) + len(writing)))
            self.text += writing
            self._cluster += writing
            self._since_space.append(token)


def _compounds(tokens: Sequence[str]) -> list[str]:
    """Put the parts of compounds together again."""
    joined: list[str] = []
    is_open = False
    for token in tokens:
        joint = token in _JOINTS and bool(joined)
        if joint or is_open:
            joined[-1] += BETWEEN[token] if joint else token
        else:
            joined.append(token)
        is_open = joint
    return joined


def _is_beside_no_space(character: str) -> bool:
    """Say whether a character is a letter of a script without spaces, or a wide mark."""
    is_wide_mark = "\u3001" <= character <= "\u303f" or "\uff01" <= character <= "\uff65"
    return is_unspaced(character) or is_wide_mark
