"""Put generated tokens together to the pieces of a text, each as soon as it is complete."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from lrlm.generation.generated_text import Piece, PieceSource
from lrlm.models.writing import NO_FORM
from lrlm.text import (
    EncodedText,
    GrowingText,
    LinkableRelation,
    LinkedDocument,
    Profile,
    SurfaceForm,
    Tokens,
    TokenSpace,
)


@dataclass(frozen=True, slots=True)
class WrittenToken:
    """A token that was written, and what it was copied from."""

    id: int
    log_prob: float
    form: int = NO_FORM
    """Which of all the forms of the topic it was copied from."""
    position: int = 0
    """Which token of that form."""
    context: int = 0
    """The context in which the form stands."""
    log_known: float = 0.0
    """log P that the relation it was chosen for is not an open one (`Written.log_known_B`)."""
    word: str | None = None
    """The word itself, where it was taken from a name by itself."""

    def row(self) -> tuple[int, int, int, int]:
        """Give what a model reads of it: token, form, position and context."""
        return self.id, self.form, self.position, self.context


@dataclass(frozen=True, slots=True)
class CopiedForm:
    """A form of one of the topic's relations."""

    relation: LinkableRelation
    form: SurfaceForm
    tokens: tuple[tuple[str, ...], ...]
    """For each context in which it may stand, the text of each of its tokens."""


class PieceWriter:
    """Puts one text together."""

    def __init__(
        self,
        growing: GrowingText,
        forms: Sequence[CopiedForm],
        *,
        prompt: str = "",
        prompt_log_prob: float = 0.0,
    ) -> None:
        self._growing = growing
        self.forms = forms
        self._open: list[tuple[WrittenToken, PieceSource]] = []
        self._closed: deque[list[tuple[WrittenToken, PieceSource]]] = deque()
        self._told = len(growing.tokens)
        """Tokens that are in a piece that was given."""
        self.prompt = Piece(prompt, 0, len(prompt), "prompt", prompt_log_prob) if prompt else None

    @property
    def text(self) -> str:
        """What is written so far."""
        return self._growing.text

    @property
    def tokens(self) -> list[str]:
        """The text of each token so far."""
        return self._growing.tokens

    def words(self, profile: Profile) -> Tokens:
        """Cut the text into words, for linking."""
        return self._growing.words(profile)

    def encoded(self, space: TokenSpace, document: LinkedDocument) -> EncodedText:
        """Give the linked text in the tokens that it was written in."""
        return space.encode_written(document, self._growing)

    def add(self, token: WrittenToken) -> list[Piece]:
        """Take the next token, and give the pieces that are complete with it."""
        copied = None
        if token.form != NO_FORM:
            copied = self._tokens_of_form(token)[token.position]
            if not (self._open and self._goes_on(token)):
                form = self.forms[token.form].form
                self._growing.begin_form(form, position=token.position)
        source: PieceSource = "relation" if copied is not None else "word"
        log_spelling = None
        if token.word is None:
            log_spelling = self._growing.add(token.id, copied=copied)
        else:
            source = "name word"
            self._growing.add_word(token.id, token.word)
        if log_spelling is not None:
            source = "spelled"
            token = WrittenToken(token.id, token.log_prob + log_spelling)
        if self._open and not self._goes_on(token):
            self._close()
        self._open.append((token, source))
        if token.form == NO_FORM or token.position + 1 == len(self._tokens_of_form(token)):
            self._close()
        return self._complete()

    def finish(self) -> list[Piece]:
        """Give the pieces that are left when no token comes any more."""
        self._growing.finish()
        if self._open:
            self._close()
        return self._complete()

    def _tokens_of_form(self, token: WrittenToken) -> tuple[str, ...]:
        return self.forms[token.form].tokens[token.context]

    def _goes_on(self, token: WrittenToken) -> bool:
        last, _ = self._open[-1]
        return token.form == last.form and token.position == last.position + 1

    def _close(self) -> None:
        self._closed.append(self._open)
        self._open = []

    def _complete(self) -> list[Piece]:
        """Give the pieces all of whose tokens have their place."""
        pieces = []
        places = self._growing.places
        while self._closed and self._told + len(self._closed[0]) <= len(places):
            tokens = self._closed.popleft()
            start, end = places[self._told][0], places[self._told + len(tokens) - 1][1]
            pieces.append(self._piece(tokens, start, end))
            self._told += len(tokens)
        return pieces

    def _piece(self, tokens: list[tuple[WrittenToken, PieceSource]], start: int, end: int) -> Piece:
        first, source = tokens[0]
        text, log_prob = self.text[start:end], sum(token.log_prob for token, _ in tokens)
        if first.form == NO_FORM:
            return Piece(text, start, end, source, log_prob)
        copied = self.forms[first.form]
        return Piece(
            text,
            start,
            end,
            source,
            log_prob,
            copied.relation.type,
            copied.relation.object,
            self._growing.written(copied.form),
            is_partial=len(tokens) < len(self._tokens_of_form(first)),
            label=copied.relation.label,
        )
