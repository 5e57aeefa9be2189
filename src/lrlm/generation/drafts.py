"""Write texts again that name facts which are not known, or the same object too often.

A model that chooses among the relations of its topic alone may begin a sentence about another one,
"Its capital is", and then has to name an object of something else. In an *open world* it chooses
among known relations and open ones, those that such topics have and this one lacks
(`lrlm.corpora.open_relations`). A draft in which an open one would be chosen is rejected. So the
texts that are kept are drawn from the model of the open world, given that all facts they name are
known: drafts are drawn from the model itself, and wherever one names a fact it is rejected with the
probability that an open relation is chosen there.

Texts are tried so many times as a whole. One that was rejected as often is written again from the
beginning of the sentence: each sentence is then drawn given the text before it and that all facts
it names are known. Where that does not succeed either, the text ends before the sentence; if it may
not end there, the sentence is kept as it comes.

What a text has named it may name again, and models do so more often than people. If repetitions
cost something, a sentence weighs e^-cost times what it does in the model for each of them: it is
rejected with probability 1 - e^-cost wherever it copies a name of an object that the text has
copied before. Of all distributions of a sentence with as few repetitions on average, this is the
one nearest to the model. Then texts are written again from the beginning of a sentence in all
cases: to reject whole texts would favour short ones, which have less to repeat.
"""

import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from lrlm.generation.generated_text import Piece
from lrlm.generation.options import GenerationOptions
from lrlm.generation.pieces import PieceWriter, WrittenToken
from lrlm.models.writing import NO_FORM
from lrlm.text.token_space import Spellings

MOST_TEXTS = 64
"""Drafts of a whole text."""
MOST_SENTENCES = 16
"""Drafts of a sentence, where it is no more the whole text that is written again."""
SIDE_BY_SIDE = 8
"""Drafts that are written at once, where texts are written again."""

_SENTENCE_ENDS = (".", "?", "!", "…", "。", "？", "！")


@dataclass(frozen=True, slots=True)
class Beginning:
    """What is kept of a text that goes on from there."""

    tokens: tuple[WrittenToken, ...] = ()
    spelled: tuple[tuple[str, float], ...] = ()
    """How its unknown words were spelled, each with its log-probability."""


class OwnSpellings:
    """The spelled words of one text: first those that are kept, then those of a supply."""

    def __init__(self, supply: Spellings, kept: Iterable[tuple[str, float]]) -> None:
        self._supply = supply
        self._kept = list(kept)
        self.taken: list[tuple[str, float]] = []

    def take(self, before: Sequence[str] = ()) -> tuple[str, float]:
        """Give the next word, and its log-probability among unknown words."""
        number = len(self.taken)
        word = self._kept[number] if number < len(self._kept) else self._supply.take(before)
        self.taken.append(word)
        return word


class Draft:
    """One try at a text: its tokens so far, and up to where they will stay."""

    def __init__(
        self,
        text: PieceWriter,
        spelled: OwnSpellings | None,
        kept: Beginning,
        *,
        luck: random.Random | None,
        is_trusted: bool = False,
        repetition_cost: float = 0.0,
    ) -> None:
        """Without `luck` nothing is rejected; `is_trusted` says so of the first sentence alone.

        `repetition_cost` is what each object costs that is named again, in nats.
        """
        self.text = text
        self._repetition_cost = repetition_cost
        self._named: set[str] = set()
        self.tokens: list[WrittenToken] = []
        self.pieces: list[Piece] = []
        self.ended = False
        self.is_rejected = False
        self._spelled = spelled
        self._luck: random.Random | None = None  # what is kept is not judged again
        self._is_trusted = False
        for token in kept.tokens:
            self.add(token)
        self._settle()
        self._first = self._settled
        self._luck, self._is_trusted = luck, is_trusted

    def add(self, token: WrittenToken | None) -> None:
        """Take the next token, or None where the text ends."""
        if token is None:
            self.ended = True
            return
        self.tokens.append(token)
        self.pieces += self.text.add(token)
        is_word = token.form == NO_FORM
        log_kept = token.log_known
        if not is_word and token.position == 0:
            log_kept -= self._cost_of(self.text.forms[token.form].relation.object)
        if log_kept < 0 and self._luck is not None and not self._is_trusted:
            self.is_rejected |= self._luck.random() >= math.exp(log_kept)
        if (
            is_word
            and not self.is_rejected
            and self.text.tokens[-1].rstrip().endswith(_SENTENCE_ENDS)
        ):
            self._settle()
            self._is_trusted = False

    def _cost_of(self, object_: str) -> float:
        """Say what it costs to name an object now, and that it was named."""
        cost = self._repetition_cost if object_ in self._named else 0.0
        self._named.add(object_)
        return cost

    def _settle(self) -> None:
        self._settled = len(self.tokens)
        self._settled_words = 0 if self._spelled is None else len(self._spelled.taken)

    @property
    def settled(self) -> Beginning:
        """Its whole sentences before the one that is being written or was rejected."""
        words = [] if self._spelled is None else self._spelled.taken
        return Beginning(tuple(self.tokens[: self._settled]), tuple(words[: self._settled_words]))

    @property
    def has_a_sentence(self) -> bool:
        """Whether a whole sentence was added to what it began with, or the text is whole."""
        return self._settled > self._first or (self.ended and not self.is_rejected)

    def finish(self) -> None:
        """Give all pieces their place: no more tokens are coming."""
        self.pieces += self.text.finish()


class DraftSource(Protocol):
    """What writes drafts: `lrlm.generation.sampler.Sampler`."""

    @property
    def rewrites_sentences(self) -> bool:
        """Whether a text is never written again as a whole, but from a sentence on."""

    def begin_text(self, kept: Beginning | None = None, *, is_trusted: bool = False) -> Draft:
        """Begin one text, or go on after what is kept of it."""

    def tokens(
        self,
        texts: int,
        *,
        kept: Sequence[Beginning] | None = None,
        wanted: Callable[[Sequence[int]], Sequence[bool]] | None = None,
    ) -> Iterator[tuple[int, WrittenToken | None]]:
        """Write texts; each token comes with the number of its text, and None is the end of one."""


class Text:
    """The drafts of one text, one after the other or some of them side by side."""

    def __init__(self, source: DraftSource, options: GenerationOptions) -> None:
        self._source = source
        self._options = options
        # The most probable choices are the same in every draft.
        self._is_whole = not options.greedy and not source.rewrites_sentences
        self._most_sentences = 1 if options.greedy else MOST_SENTENCES
        self._rejected = 0
        self._is_trusted = False
        self._drafts: list[Draft] = []
        self.kept = Beginning()
        self.result: Draft | None = None

    def begin(self, count: int) -> list[Draft]:
        """Begin so many drafts, of which the first one that will do is kept."""
        count = 1 if self._options.greedy or self._is_trusted else count
        self._drafts = [
            self._source.begin_text(self.kept, is_trusted=self._is_trusted) for _ in range(count)
        ]
        return self._drafts

    def wants(self, draft: Draft) -> bool:
        """Say whether a draft that was begun last may still be needed."""
        if draft.is_rejected or draft.ended:
            return False
        before = self._drafts[: self._drafts.index(draft)]
        return not any(map(self._will_do, before))

    def _will_do(self, draft: Draft) -> bool:
        if self._is_whole:
            return draft.ended and not draft.is_rejected
        return draft.has_a_sentence

    def judge(self) -> None:
        """Keep what will do of the drafts that were begun last, now that they are written."""
        for draft in self._drafts:
            if not draft.is_rejected:
                draft.finish()
                self.result = draft
                return
            if not self._is_whole and draft.has_a_sentence:
                self._keep(draft)
                break
        else:
            self._rejected += len(self._drafts)
            if self._is_whole and self._rejected >= MOST_TEXTS:
                self._is_whole = False
                self._keep(self._drafts[0])
        if not self._is_whole and self._rejected >= self._most_sentences:
            if self._may_end_here():
                self.result = self._source.begin_text(self.kept)
                self.result.finish()
            self._is_trusted = True

    def _keep(self, draft: Draft) -> None:
        """Go on after the whole sentences of a draft whose next one was rejected."""
        self.kept, self._rejected, self._is_trusted = draft.settled, 1, False

    def _may_end_here(self) -> bool:
        length = len(self.kept.tokens)
        return length >= max(self._options.min_length, 1) and not self._options.must_use


def write_texts(
    source: DraftSource, options: GenerationOptions, count: int, *, check: Callable[[], None]
) -> list[Draft]:
    """Write so many texts, each until one of its drafts is kept.

    All drafts of the first round are written to their ends, so that texts which are not rejected
    are those that the model would have written anyway. `check` is called for every token.
    """
    texts = [Text(source, options) for _ in range(count)]
    waiting, is_first = texts, True
    while waiting:
        by_length = sorted(waiting, key=lambda text: len(text.kept.tokens))
        for _, group in groupby(by_length, key=lambda text: len(text.kept.tokens)):
            _write_round(source, list(group), is_first=is_first, check=check)
        waiting = [text for text in waiting if text.result is None]
        is_first = False
    return [text.result for text in texts if text.result is not None]


def _write_round(
    source: DraftSource, texts: Sequence[Text], *, is_first: bool, check: Callable[[], None]
) -> None:
    """Write drafts of texts of the same length, some of each."""
    count = 1 if is_first else max(SIDE_BY_SIDE // len(texts), 1)
    drafts = [(text, draft) for text in texts for draft in text.begin(count)]

    def wanted(numbers: Sequence[int]) -> list[bool]:
        wanted = [text.wants(draft) for text, draft in map(drafts.__getitem__, numbers)]
        return [any(wanted)] * len(wanted) if is_first else wanted

    kept = [text.kept for text, _ in drafts]
    for number, token in source.tokens(len(drafts), kept=kept, wanted=wanted):
        check()
        drafts[number][1].add(token)
    for text in texts:
        text.judge()
