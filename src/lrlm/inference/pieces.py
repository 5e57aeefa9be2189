"""Tokens with where they came from in, the pieces of a text out, each as soon as it is complete."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from lrlm.corpora import LinkableRelation
from lrlm.inference.generated import Piece, Source
from lrlm.models.writing import NO_FORM
from lrlm.text import Joiner, Profile, split_words


@dataclass(frozen=True, slots=True)
class Token:
    """A token that was written."""

    word: str
    source: Source
    log_prob: float
    form: int = NO_FORM
    """Which of all the forms of the topic it was copied from."""
    position: int = 0


@dataclass(frozen=True, slots=True)
class Form:
    """A form of one of the topic's relations."""

    relation: LinkableRelation
    words: tuple[str, ...]


def all_forms(relations: Sequence[LinkableRelation]) -> list[Form]:
    """List the forms of all relations, in the order of a star."""
    return [Form(relation, words) for relation in relations for words in relation.forms]


class PieceWriter:
    """Puts one text together."""

    def __init__(
        self, forms: Sequence[Form], profile: Profile, *, prompt: str = "", prompt_log_prob: float
    ) -> None:
        self._forms = forms
        self._profile = profile
        self._joiner = Joiner(profile, after=prompt)
        self.words = list(split_words(prompt, profile))
        self._open: list[Token] = []
        self._closed: deque[list[Token]] = deque()
        self._told = len(self.words)
        """Tokens that are in a piece that was given."""
        self.prompt = Piece(prompt, 0, len(prompt), "prompt", prompt_log_prob) if prompt else None

    @property
    def text(self) -> str:
        """What is written so far."""
        return self._joiner.text

    @property
    def places(self) -> list[tuple[int, int]]:
        """Characters `[start, end)` of each token so far."""
        return self._joiner.places

    def add(self, token: Token) -> list[Piece]:
        """Take the next token, and give the pieces that are complete with it."""
        self._joiner.add(token.word)
        self.words.append(token.word)
        if self._open and not self._goes_on(token):
            self._close()
        self._open.append(token)
        if token.form == NO_FORM or token.position + 1 == len(self._forms[token.form].words):
            self._close()
        return self._complete()

    def finish(self) -> list[Piece]:
        """Give the pieces that are left when no token comes any more."""
        self._joiner.finish()
        if self._open:
            self._close()
        return self._complete()

    def _goes_on(self, token: Token) -> bool:
        last = self._open[-1]
        return token.form == last.form and token.position == last.position + 1

    def _close(self) -> None:
        self._closed.append(self._open)
        self._open = []

    def _complete(self) -> list[Piece]:
        """Give the pieces all of whose tokens have their place."""
        pieces = []
        while self._closed and self._told + len(self._closed[0]) <= len(self.places):
            tokens = self._closed.popleft()
            start, end = self.places[self._told][0], self.places[self._told + len(tokens) - 1][1]
            pieces.append(self._piece(tokens, start, end))
            self._told += len(tokens)
        return pieces

    def _piece(self, tokens: list[Token], start: int, end: int) -> Piece:
        first = tokens[0]
        text, log_prob = self.text[start:end], sum(token.log_prob for token in tokens)
        if first.form == NO_FORM:
            return Piece(text, start, end, first.source, log_prob)
        form = self._forms[first.form]
        return Piece(
            text,
            start,
            end,
            first.source,
            log_prob,
            form.relation.type,
            form.relation.object,
            self._written(form),
            is_partial=len(tokens) < len(form.words),
        )

    def _written(self, form: Form) -> str:
        joiner = Joiner(self._profile)
        for word in form.words:
            joiner.add(word)
        return joiner.finish()
