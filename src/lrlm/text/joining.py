"""Join tokens to a text that people can read, and say where each token stands in it.

Tokens are put together where people do ("Oslo, the capital"), but only where the tokeniser cuts
them again in the same way: whatever stands between two spaces is tried before it is kept. So the
text has the same tokens as were given, unless one of them is no token by itself, as a misspelled
word that holds a comma may be.
"""

from lrlm.text.tokeniser import Profile, split_words, tokenise

TO_THE_LEFT = frozenset(
    [*",.;:!?%)]}”…", "...", "'s", "’s", "'re", "'ll", "'ve", "'d", "'m", "'t", "n't", "’t", "n’t"]
)
"""Tokens that stand at the end of the word before them."""

TO_THE_RIGHT = frozenset("([{“$£€¥#")
"""Tokens that stand at the beginning of the word after them."""

BETWEEN = {"@-@": "-", "@,@": ",", "@.@": ".", "–": "–"}
"""Tokens that stand between two words without any space, and how they are written there."""


class Joiner:
    """Puts a text together token by token; only the last ones may still have to wait."""

    def __init__(self, profile: Profile, *, after: str = "") -> None:
        """`after` is a text that goes on; it stays as it is."""
        tokens = tokenise(after, profile)
        self.text = after
        self.places: list[tuple[int, int]] = list(zip(tokens.starts, tokens.ends, strict=True))
        """Characters `[start, end)` of each token that has its place."""
        self._profile = profile
        self._cluster = (after.split() or [""])[-1] if after == after.rstrip() else ""
        """What stands after the last space."""
        self._since_space = list(split_words(self._cluster, profile))
        self._waiting: list[str] = []
        """A token that stands between two words, as long as the second is not there."""
        self._is_quoting = tokens.words.count('"') % 2 == 1

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
        after_opening = bool(self._since_space) and (
            self._since_space[-1] in TO_THE_RIGHT
            or (self._since_space == ['"'] and self._is_quoting)
        )
        if (
            self._since_space
            and (token in TO_THE_LEFT or closes or after_opening)
            and self._try([token], [token])
        ):
            return
        if self.text and not self.text[-1].isspace():
            self.text += " "
        self._since_space, self._cluster = [], ""
        self._write([token], [token])

    def _may_stand_between(self, token: str) -> bool:
        before = self._since_space[-1:]
        return bool(before) and (token != "–" or before[0][-1:].isdigit())  # 1984–85

    def _try(self, tokens: list[str], writings: list[str]) -> bool:
        """Put tokens right behind the one before, if they can still be told apart there."""
        if "–" in tokens and not tokens[-1][:1].isdigit():
            return False
        expected = (*self._since_space, *tokens)
        if split_words(self._cluster + "".join(writings), self._profile) != expected:
            return False
        self._write(tokens, writings)
        return True

    def _write(self, tokens: list[str], writings: list[str]) -> None:
        for token, writing in zip(tokens, writings, strict=True):
            self.places.append((len(self.text), len(self.text) + len(writing)))
            self.text += writing
            self._cluster += writing
            self._since_space.append(token)
