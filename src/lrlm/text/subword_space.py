"""Tokens that are the subwords of a pretrained language model.

A text has the tokens that the model's own tokenizer gives it; one that came in words is put
together first. A form of an object is written as it would stand at a place, and candidates are
found among the tokens: wherever the tokens of a form stand, it may have been copied.
"""

import codecs
from collections.abc import Iterable, Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from lrlm.errors import InputError
from lrlm.text.document import LinkableRelation, LinkedDocument
from lrlm.text.forms import SurfaceForm, surface_forms
from lrlm.text.natural_text import NaturalText, came_in_words, natural_text, natural_text_of
from lrlm.text.subword_tokenizer import AUTO, SubwordTokenizer
from lrlm.text.token_space import (
    NO_FORM_HERE,
    NO_MENTION,
    EncodedText,
    GrowingText,
    Spellings,
    TokenPlaces,
    TokenSpace,
)
from lrlm.text.tokeniser import Profile, Tokens, tokenise
from lrlm.text.word_boundaries import (
    AT_START,
    JOINED,
    SPACED,
    contexts_after,
    tokens_that_begin_words,
)

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

_FORMS_KEPT = 1 << 16
"""Forms whose tokens are remembered: those of the last some thousand topics."""

_BEFORE = {JOINED: ("\n", "(", "[", "“"), SPACED: ("a", ".", ")", "1")}
"""Texts after which a form stands in a context. The first is taken unless its tokens melt with
those of the form."""


class SubwordSpace(TokenSpace):
    """Every subword is one token; every text has tokens.

    Threads may share a space.
    """

    contexts = 3

    def __init__(
        self,
        tokenizer: "PreTrainedTokenizerFast",
        *,
        start: str = AUTO,
        end: str = AUTO,
        size: int | None = None,
    ) -> None:
        """Take a fast tokenizer; `start` and `end` name the tokens around every text.

        Left alone, the first is what the tokenizer itself puts there, or else `<|endoftext|>`, or
        the one that it says begins or ends a text. `size` is how many tokens the language model
        knows, where that is not as many as the tokenizer does.
        """
        self.tokenizer = SubwordTokenizer(tokenizer, start=start, end=end, size=size)
        self.size = self.tokenizer.size
        self.end_id = self.tokenizer.end_id
        bytes_V = self.tokenizer.bytes_V
        context_V = contexts_after(bytes_V, start_id=self.start_id)
        self.begins_word = tokens_that_begin_words(bytes_V, end_id=self.end_id)
        self.no_form_after = frozenset(np.flatnonzero(context_V == NO_FORM_HERE).tolist())
        self._context_V = torch.from_numpy(context_V).to(torch.int8)
        self._context_after: list[int] = context_V.tolist()
        self._begins_word: list[bool] = self.begins_word.tolist()
        self._forms = _FormTokens(self.tokenizer)

    @property
    def start_id(self) -> int:
        """The token that stands before the first one of every text."""
        return self.tokenizer.start_id

    def encode(self, document: LinkedDocument) -> EncodedText:
        """Give the tokens of the text, and every place where those of a form stand."""
        text, natural = _read(document.text, document.tokens)
        encoding = self.tokenizer.encode(text)
        ids = encoding.ids
        in_words = natural is not None
        words, places = document.tokens if natural is None else natural, encoding.offsets
        edges = sorted(
            [
                *self._edges(text, ids, document.relations, in_words=in_words),
                *self._open_edges(text, ids, places, document, words),
            ]
        )
        mentions = []
        if edges:
            number_of = {
                (words.starts[start], words.ends[end - 1], relation, form): number
                for number, (start, end, relation, form) in enumerate(document.mentions)
            }
            for start, end, relation, form, _ in edges:
                place = _place(text, places, start, end)
                mentions.append(number_of.get((*place, relation, form), NO_MENTION))
        return _encoded(ids, edges, mentions)

    def encode_written(self, document: LinkedDocument, text: GrowingText) -> EncodedText:
        """Find the forms among the tokens that were written, which another text may not have."""
        assert isinstance(text, TokenByToken), "a space is given the texts that it began"
        edges = sorted(self._edges(text.text, text.ids, document.relations))
        return _encoded(text.ids, edges, [NO_MENTION] * len(edges))

    def places(self, document: LinkedDocument) -> TokenPlaces:
        """Give the characters of each token; one of several tokens belongs to the last of them."""
        return self._tokens_and_places(document.text, document.tokens)[1]

    def encode_form(self, form: SurfaceForm, *, before: str = "") -> list[int]:
        """Give the tokens of a form as it would stand there.

        Behind a space it gets no other one, though no form is ever copied there.
        """
        context = AT_START
        if ids := self.tokenizer.encode(before).ids:
            context = self._context_after[ids[-1]]
        in_contexts = self._forms.of(written(form))
        return list(in_contexts[JOINED if context == NO_FORM_HERE else context])

    def form_tokens(self, form: SurfaceForm, *, before: str = "") -> tuple[str, ...]:
        """Give the text of each token of a form; that of the first may begin with a space."""
        ids = self.encode_form(form, before=before)
        return tuple(self.tokenizer.pieces(ids, begins_text=not before))

    def encode_text(self, text: str) -> list[int]:
        """Give the tokens of a text as it is."""
        return self.tokenizer.encode(text).ids

    def decode(self, ids: Sequence[int]) -> str:
        """Give the text of some tokens, character by character."""
        return self.tokenizer.decode(ids)

    def example_before(self, context: int) -> str:
        """Give a text after which a form is written as in this context."""
        return "" if context == AT_START else _BEFORE[context][0]

    def context_after(self, tokens_B: Tensor) -> Tensor:
        """Say whether a form right after each of these tokens is written with a space in front."""
        return self._context_V.to(tokens_B.device)[tokens_B].long()

    def binds(self, token: int) -> bool:
        """Say whether a form that ends with this token is followed by a space, if by a form."""
        return self._context_after[token] == SPACED

    def begin_text(
        self, prompt: str, *, profile: Profile, spellings: Spellings | None
    ) -> "TokenByToken":
        """Begin a text that grows by the bytes of its tokens."""
        assert spellings is None, "every text has tokens, so nothing is spelled"
        return TokenByToken(self.tokenizer, prompt, *self._prompt(prompt, profile))

    def _prompt(
        self, prompt: str, profile: Profile
    ) -> tuple[list[int], list[str], list[tuple[int, int]]]:
        """Give each token that `encode` gives a prompt, with its text and its place."""
        tokens = tokenise(prompt, profile)
        ids, places = self._tokens_and_places(prompt, tokens)
        pieces = self.tokenizer.pieces(ids, begins_text=True)
        return ids, pieces, list(zip(places.starts, places.ends, strict=True))

    def _edges(
        self,
        text: str,
        ids: list[int],
        relations: Iterable[LinkableRelation],
        *,
        in_words: bool = False,
    ) -> Iterator[tuple[int, int, int, int, bool]]:
        """Find where the tokens of a form stand: start, end, relation, form, and if it is bound."""
        by_first = self._by_first_token(text, relations, in_words=in_words)
        for start, end, form in self._matches(ids, by_first):
            yield start, end, form.relation, form.form, form.is_bound

    def _open_edges(
        self,
        text: str,
        ids: list[int],
        places: Sequence[tuple[int, int]],
        document: LinkedDocument,
        words: Tokens | NaturalText,
    ) -> Iterator[tuple[int, int, int, int, bool]]:
        """Find the mentions of open relations, which are names that the text has, not forms."""
        relations_at: dict[tuple[int, int], list[int]] = {}
        for start, end, relation, _ in document.mentions:
            if document.relations[relation].is_open:
                place = (words.starts[start], words.ends[end - 1])
                relations_at.setdefault(place, []).append(relation)
        by_first: dict[int, list[_FormInContext]] = {}
        for name in {text[start:end] for start, end in relations_at}:
            try:
                in_contexts = self._forms.of(name)
            except InputError:  # nobody has given this name: it need not have tokens of its own
                continue
            for context, tokens in enumerate(in_contexts):
                here = _FormInContext(0, 0, context, list(tokens), self.binds(tokens[-1]))
                by_first.setdefault(tokens[0], []).append(here)
        for start, end, form in self._matches(ids, by_first):
            for relation in relations_at.get(_place(text, places, start, end), ()):
                yield start, end, relation, 0, form.is_bound

    def _matches(
        self, ids: list[int], by_first: dict[int, list["_FormInContext"]]
    ) -> Iterator[tuple[int, int, "_FormInContext"]]:
        """Find where tokens of forms stand as these would be written there."""
        tokens = len(ids)
        for start, token in enumerate(ids):
            if token not in by_first:
                continue
            context = self._context_after[ids[start - 1]] if start else AT_START
            for form in by_first[token]:
                end = start + len(form.tokens)
                if (
                    form.context == context
                    and ids[start:end] == form.tokens
                    and (not form.is_bound or end == tokens or self._begins_word[ids[end]])
                ):
                    yield start, end, form

    def _by_first_token(
        self, text: str, relations: Iterable[LinkableRelation], *, in_words: bool
    ) -> dict[int, list["_FormInContext"]]:
        """Sort the forms that the text holds by their first tokens."""
        by_first: dict[int, list[_FormInContext]] = {}
        normalised = self.tokenizer.normalised
        text = normalised(text)
        for number, relation in enumerate(relations):
            if relation.is_open:
                continue
            for place, form in enumerate(surface_forms(relation)):
                writing = written(form, in_words=in_words)
                if normalised(writing) not in text:
                    continue
                for context, ids in enumerate(self._forms.of(writing)):
                    bound = self.binds(ids[-1])
                    here = _FormInContext(number, place, context, list(ids), bound)
                    by_first.setdefault(ids[0], []).append(here)
        return by_first

    def _tokens_and_places(self, text: str, tokens: Tokens) -> tuple[list[int], TokenPlaces]:
        """Give the tokens of a text, and where they stand in it and in its words."""
        put_together, natural = _read(text, tokens)
        encoding = self.tokenizer.encode(put_together)
        offsets = encoding.offsets
        places = [_place(put_together, offsets, n, n + 1) for n in range(len(offsets))]
        starts, ends = [start for start, _ in places], [end for _, end in places]
        word_starts = tokens.starts if natural is None else natural.starts
        word_N = np.searchsorted(word_starts, starts, side="right") - 1
        words = np.maximum(word_N, 0).tolist()
        if natural is not None:
            starts, ends = _in_words(natural, tokens, words, starts, ends)
        return encoding.ids, TokenPlaces(starts, ends, words)


def _encoded(
    ids: list[int], edges: list[tuple[int, int, int, int, bool]], mentions: list[int]
) -> EncodedText:
    table = np.array(edges, dtype=np.int64).reshape(-1, 5)
    return EncodedText(
        tokens_N=np.array(ids, dtype=np.int64),
        spelling_N=np.zeros(len(ids), dtype=np.float32),
        edges_E4=table[:, :4].copy(),
        mention_E=np.array(mentions, dtype=np.int64),
        bound_E=table[:, 4].astype(bool),
    )


class _FormInContext(NamedTuple):
    relation: int
    form: int
    context: int
    tokens: list[int]
    is_bound: bool
    """Whether a token that begins a word has to follow."""


class _FormTokens:
    """Writes forms in tokens, in every context, and remembers the last of them."""

    def __init__(self, tokenizer: SubwordTokenizer) -> None:
        self._tokenizer = tokenizer
        self._kept: dict[str, tuple[tuple[int, ...], ...]] = {}
        self._lock = Lock()

    def of(self, writing: str) -> tuple[tuple[int, ...], ...]:
        """Give the tokens of a form in each context."""
        with self._lock:
            found = self._kept.get(writing)
        if found is None:
            found = self._make(writing)
            with self._lock:
                self._kept[writing] = found
                if len(self._kept) > _FORMS_KEPT:
                    del self._kept[next(iter(self._kept))]
        return found

    def _make(self, writing: str) -> tuple[tuple[int, ...], ...]:
        found = (
            tuple(self._tokenizer.encode(writing).ids),
            self._behind(_BEFORE[JOINED], writing),
            self._behind(_BEFORE[SPACED], f" {writing}"),
        )
        if not all(found):
            raise InputError(
                f"the form {writing!r} has no tokens in this language model; remove it"
            )
        return found

    def _behind(self, befores: Sequence[str], writing: str) -> tuple[int, ...]:
        """Give the tokens of a form as it stands behind a text that shares no token with it."""
        for before in befores:
            alone, whole = (self._tokenizer.encode(each).ids for each in (before, before + writing))
            if whole[: len(alone)] == alone:
                return tuple(whole[len(alone) :])
        raise InputError(
            f"the form {writing.strip()!r} cannot be told from the text before it in the tokens of"
            " this language model; remove it"
        )


class TokenByToken(GrowingText):
    """Puts tokens together byte by byte; one that ends within a character waits for its rest."""

    def __init__(
        self,
        tokenizer: SubwordTokenizer,
        prompt: str,
        ids: list[int],
        tokens: list[str],
        places: list[tuple[int, int]],
    ) -> None:
        """`ids`, `tokens` and `places` are those of the prompt."""
        self.ids = ids
        """All tokens so far."""
        self._tokenizer = tokenizer
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text = prompt
        self._drops_space = tokenizer.adds_space and not tokens
        self._waiting: list[tuple[int, int]] = []
        self.tokens = tokens
        self.places = places

    @property
    def text(self) -> str:
        """All whole characters so far."""
        return self._text

    def add(self, token: int, *, copied: str | None = None) -> None:
        """Append the bytes of a token, which are those of a copied form where it belongs to one."""
        del copied
        self.ids.append(token)
        piece = self._decoder.decode(self._tokenizer.bytes_V[token])
        if self._drops_space:
            piece, self._drops_space = piece.removeprefix(" "), False
        self._waiting.append(self._append(piece))
        self.tokens.append(piece)
        if not self._decoder.getstate()[0]:
            self._place_waiting()

    def finish(self) -> None:
        """Write what is left of a character that never became whole."""
        rest = self._decoder.decode(b"", final=True)
        if rest:
            self.tokens[-1] += rest
            _, end = self._append(rest)
            self._waiting[-1] = (self._waiting[-1][0], end)
        self._place_waiting()

    def written(self, form: SurfaceForm) -> str:
        """Write a form as its tokens do."""
        return written(form)

    def _append(self, piece: str) -> tuple[int, int]:
        """Append to the text, and say where the piece stands without white space around it."""
        # As the only one that knows the text, `text` grows in place: linear in its length.
        text, self._text = self._text, ""
        before = len(text)
        text += piece
        self._text = text
        return _trimmed(text, before, len(text))

    def _place_waiting(self) -> None:
        self.places += self._waiting
        self._waiting = []


def written(form: SurfaceForm, *, in_words: bool = False) -> str:
    """Say how a form stands in natural text: as it was given.

    One that came in words is put together, as is every one of a text that came `in_words`.
    """
    if form.text.replace(" ", "").isalnum():
        return form.text
    if came_in_words(form.text) or (in_words and form.words == tuple(form.text.split())):
        return natural_text(form.words).text
    return form.text


def _read(text: str, tokens: Tokens) -> tuple[str, NaturalText | None]:
    """Give the text that the tokenizer reads, and where its words are if it was put together."""
    natural = natural_text_of(text, tokens)
    return (text, None) if natural is None else (natural.text, natural)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Leave out white space at both ends; what is nothing else stands before what follows."""
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def _place(text: str, places: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int]:
    """Say which characters are those of the tokens `[start, end)`.

    They reach to where the next token begins, without white space, so that each character belongs
    to one token: to the last of those that hold parts of it.
    """
    stop = places[end][0] if end < len(places) else len(text)
    return _trimmed(text, places[start][0] if start else 0, stop)


def _in_words(
    natural: NaturalText,
    tokens: Tokens,
    words: list[int],
    starts: list[int],
    ends: list[int],
) -> tuple[list[int], list[int]]:
    """Turn places in the natural text into those in the text that its words came from."""
    last_N = np.searchsorted(natural.starts, np.maximum(np.array(ends) - 1, 0), side="right") - 1
    begin, stop = [], []
    for first, last, start, end in zip(words, last_N.tolist(), starts, ends, strict=True):
        begin.append(tokens.starts[first] + start - natural.starts[first])
        if end <= start:
            stop.append(begin[-1])
        elif end == natural.ends[last]:  # also where a word is written in another way: @-@
            stop.append(tokens.ends[last])
        else:
            stop.append(tokens.starts[last] + end - natural.starts[last])
    return begin, stop
