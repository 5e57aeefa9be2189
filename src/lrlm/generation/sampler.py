"""Write tokens of texts about a topic, of all of them side by side: the paper's Algorithm 1.

What was written is scored, also side by side.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import torch

from lrlm.arrays import Integers
from lrlm.batching import (
    NO_WORD,
    NOT_A_FACT,
    EncodedDocument,
)
from lrlm.corpora import Linker, check_text
from lrlm.corpora.open_relations import lacking_relations
from lrlm.errors import InputError
from lrlm.generation.decoding import Rules, decode
from lrlm.generation.drafts import Beginning, Draft, OwnSpellings
from lrlm.generation.encoded_topic import encode_topic
from lrlm.generation.generated_text import GeneratedText
from lrlm.generation.options import GenerationOptions
from lrlm.generation.pieces import CopiedForm, PieceWriter, WrittenToken
from lrlm.heads import Choosing
from lrlm.knowledge import Topic
from lrlm.knowledge.schema import Schema
from lrlm.models import document_nats
from lrlm.models.writing import NO_FORM, WritingState, Written
from lrlm.runs.run import Run
from lrlm.text import (
    LinkableRelation,
    LinkedDocument,
    SurfaceForm,
    TokenSpace,
    surface_forms,
    tokenise,
)
from lrlm.text.token_space import Spellings

_SCORED_AT_ONCE = 100


class Sampler:
    """Everything that the texts of one call share: the topic, the prompt, and chance."""

    def __init__(
        self,
        run: Run,
        topic: Topic,
        options: GenerationOptions,
        seed: int,
        *,
        schema: Schema | None = None,
    ) -> None:
        """A schema says which types of facts the topic lacks, where only known ones are wanted."""
        if not isinstance(seed, int) or not -(2**63) <= seed < 2**63:
            raise InputError(f"a seed must be a whole number of 64 bits, not {seed!r}")
        if run.config.model.is_backward:
            raise InputError(
                f"{run.folder} holds a model that reads backward, and texts are written forward;"
                " generate with one that reads forward"
            )
        self._run = run
        self._options = options
        self._prompt = options.prompt.strip()
        if self._prompt:
            check_text(self._prompt)
        link_options = run.link_options.for_raw_text()
        self._profile = link_options.profile
        self._linker = Linker(topic, link_options)
        self.relations = self._linker.relations
        self.forms = [
            CopiedForm(relation, form, _tokens_in_contexts(run.space, form))
            for relation in self.relations
            for form in surface_forms(relation)
        ]
        lacking: list[LinkableRelation] = []
        if schema is not None and options.known_facts_only:
            lacking = lacking_relations(self.relations, schema)
        self.writer = run.model.writer(
            encode_topic(run, topic.names[0], self.relations, lacking=lacking)
        )
        self._repetition_cost = (
            run.repetition_cost if options.repetition_cost is None else options.repetition_cost
        )
        self.rewrites_sentences = self._repetition_cost > 0
        self.may_reject = (bool(lacking) and self.writer.chooses_open) or self.rewrites_sentences
        """Whether texts may turn out to name what they should not, and be written again."""
        if options.must_use and not self.writer.uses_relations:
            raise InputError(
                f"a {run.model.label} writes words only and uses no relations; must_use needs a"
                " model that copies names, such as LRLM"
            )
        generator = torch.Generator(run.model.device).manual_seed(seed)
        self._choosing = Choosing(
            options.temperature, options.top_k, options.top_p, options.greedy, generator
        )
        seeds = torch.Generator().manual_seed(seed)
        spelling_seed = torch.randint(2**62, (), generator=seeds)
        luck_seed = torch.randint(2**62, (), generator=seeds)
        self._luck = random.Random(int(luck_seed))  # noqa: S311
        spellings = run.space.spellings(
            seed=int(spelling_seed),
            temperature=options.spelling_temperature,
            capitals=not options.only_known_names,
        )
        self._spelled: _RememberedSpellings | None = None
        if spellings is not None and self.writer.knows_names:
            spellings = self._spelled = _RememberedSpellings(spellings)
        self._spellings = spellings

    def begin_text(self, kept: Beginning | None = None, *, is_trusted: bool = False) -> Draft:
        """Begin one text, or go on after what is kept of it."""
        kept = Beginning() if kept is None else kept
        spellings = None
        if self._spellings is not None:
            spellings = OwnSpellings(self._spellings, kept.spelled)
        growing = self._run.space.begin_text(
            self._prompt, profile=self._profile, spellings=spellings
        )
        writer = PieceWriter(
            growing, self.forms, prompt=self._prompt, prompt_log_prob=self.prompt_log_prob
        )
        luck = self._luck if self.may_reject else None
        return Draft(
            writer,
            spellings,
            kept,
            luck=luck,
            is_trusted=is_trusted,
            repetition_cost=self._repetition_cost,
        )

    def tokens(
        self,
        texts: int,
        *,
        kept: Sequence[Beginning] | None = None,
        wanted: Callable[[Sequence[int]], Sequence[bool]] | None = None,
    ) -> Iterator[tuple[int, WrittenToken | None]]:
        """Write texts; each token comes with the number of its text, and None is the end of one.

        They go on after what is `kept` of them, as many tokens of each. `wanted` is asked in every
        step which of some texts are written on.
        """
        kept = [Beginning()] * texts if kept is None else kept
        rules = Rules(self._options, self.relations, self.writer, texts=texts)

        def wanted_B(text_B: torch.Tensor) -> torch.Tensor:
            if wanted is None:
                return torch.ones_like(text_B)
            return torch.tensor(wanted(text_B.tolist()), device=text_B.device)

        steps = decode(
            self.writer,
            rules,
            self._choosing,
            begun=self._read_kept(kept, rules),
            length=len(kept[0].tokens),
            max_length=self._options.max_length,
            told=self._told,
            wanted=wanted_B,
        )
        end_id = self._run.space.end_id
        for text_B, written in steps:
            columns = (
                text_B, written.token_B, written.form_B, written.position_B, written.context_B,
                written.log_prob_B, _log_known(written), _name_words_of(written),
            )  # fmt: skip
            for number, token, form, position, context, log_prob, log_known, name_word in zip(
                *(column.tolist() for column in columns), strict=True
            ):
                if form == NO_FORM and token == end_id:
                    yield number, None
                else:
                    word = self._word_of_name(name_word)
                    yield (
                        number,
                        WrittenToken(token, log_prob, form, position, context, log_known, word),
                    )

    def _word_of_name(self, number: int) -> str | None:
        """Give a word of the topic's names, None for `NO_WORD`."""
        words = self.writer.topic.name_words
        return None if words is None or number == NO_WORD else words.words[number]

    def result(self, draft: Draft, marginal_log_prob: float) -> GeneratedText:
        """Give a finished text."""
        text = draft.text
        prompt = [] if text.prompt is None else [text.prompt]
        return GeneratedText(
            text.text,
            (*prompt, *draft.pieces),
            tuple(text.tokens),
            written_tokens=len(text.tokens) - self._encoded_prompt.tokens,
            log_prob=sum(piece.log_prob for piece in draft.pieces),
            marginal_log_prob=marginal_log_prob,
            is_joint=self._run.model.is_joint,
            ended=draft.ended,
        )

    def marginal_log_probs(self, texts: Sequence[PieceWriter]) -> list[float]:
        """Give log P(text | prompt) of each text, the end not counted, summed over how it was made.

        What was read before the text when it was written is read again: of Alias LM, the same
        names.
        """
        documents = [self._encode(self._link(text), text) for text in texts]
        totals: list[float] = []
        for start in range(0, len(documents), _SCORED_AT_ONCE):
            totals += self._log_probs(documents[start : start + _SCORED_AT_ONCE])
        return [total - self.prompt_log_prob for total in totals]

    @cached_property
    def prompt_log_prob(self) -> float:
        """Give log P of the prompt."""
        return self._log_probs([self._encoded_prompt])[0] if self._prompt else 0.0

    @cached_property
    def _encoded_prompt(self) -> EncodedDocument:
        tokens = tokenise(self._prompt, self._profile)
        return self._encode(self._linker.link_tokens(self._prompt, tokens))

    def _read_prompt(self) -> WritingState:
        """Read the prompt, under its one annotation where a model reads one."""
        so_far = self.writer.begin()
        encoded = self._encoded_prompt
        context_1 = so_far.last.context_B
        form_N = np.full(encoded.tokens, NO_FORM)
        position_N = np.zeros(encoded.tokens, dtype=np.int64)
        if encoded.copies is not None:
            first_R = np.cumsum([0, *(len(relation.forms) for relation in self.relations)])
            copied_N = encoded.copies.relation_N != NOT_A_FACT
            form_N[copied_N] = (first_R[encoded.copies.relation_N] + encoded.copies.form_N)[
                copied_N
            ]
            position_N = encoded.copies.position_N
        columns = [encoded.tokens_N, form_N, position_N, self._numbers_of_words(encoded.tokens_N)]
        for token_1, form_1, position_1, word_1 in torch.from_numpy(np.stack(columns, axis=1)).to(
            so_far.states_BD.device
        )[..., None]:
            begins = bool((form_1 != NO_FORM) & (position_1 == 0))
            if begins or bool(form_1 == NO_FORM):
                context_1 = torch.zeros_like(token_1)
            if begins:
                context_1 = self._run.space.context_after(so_far.last.token_B)
            written = Written(
                token_1, form_1, position_1, context_1, so_far.last.log_prob_B, word_1
            )
            so_far = self.writer.read(so_far, written)
        return so_far.after_prompt()

    def _read_kept(self, kept: Sequence[Beginning], rules: Rules) -> WritingState:
        """Read the prompt, and after it what is kept of each text."""
        so_far = self._read_prompt()
        rows_B = torch.zeros(len(kept), dtype=torch.long, device=so_far.states_BD.device)
        so_far = so_far.select(rows_B)
        if not kept[0].tokens:
            return so_far
        rows_B = torch.arange(len(kept), device=rows_B.device)
        columns = [[each.row() for each in text.tokens] for text in kept]
        numbers_BT4 = torch.tensor(columns, device=rows_B.device)
        words_BT = [self._numbers_of_kept(text) for text in kept]
        steps, last = [], so_far.last
        for place, word_B in enumerate(torch.tensor(words_BT, device=rows_B.device).T):
            token_B, form_B, position_B, context_B = numbers_BT4[:, place].T.contiguous()
            written = Written(token_B, form_B, position_B, context_B, last.log_prob_B, word_B)
            rules.note(rows_B, last, written)
            steps.append(written)
            last = written
        return self.writer.read_all(so_far, steps)

    def _numbers_of_kept(self, kept: Beginning) -> list[int]:
        """Give the numbers of the words of a beginning, as `Written.word_B` has them."""
        spelled = iter(kept.spelled)
        numbers = self.writer.topic.unknown_words
        return [
            numbers.get(each.word, each.id)
            if each.word is not None
            else numbers.get(next(spelled)[0], -1)
            if each.id == self._run.space.unknown_id and each.form == NO_FORM
            else each.id
            for each in kept.tokens
        ]

    def _told(self, written: Written) -> Written:
        """Say which words the unknown tokens of a step were spelled as, where that matters.

        Whoever is given the tokens has had them spelled by now, in their order, or never will.
        """
        if self._spelled is None:
            return written
        name_word_B = _name_words_of(written)
        is_plain_B = (written.form_B == NO_FORM) & (name_word_B == NO_WORD)
        unknown_B = (written.token_B == self._run.space.unknown_id) & is_plain_B
        spelled = self._spelled.taken_since(int(unknown_B.sum()))
        numbers = [self.writer.topic.unknown_words.get(word, -1) for word in spelled]
        word_N = torch.tensor(numbers, dtype=torch.long, device=unknown_B.device)
        word_B = written.token_B.masked_scatter(unknown_B, word_N)
        words = self.writer.topic.name_words
        if words is not None:
            number_B = words.numbers_K[name_word_B.clamp(min=0)]
            word_B = torch.where(name_word_B == NO_WORD, word_B, number_B)
        return replace(written, word_B=word_B)

    def _numbers_of_words(self, tokens_N: Integers) -> Integers:
        """Give the numbers of the prompt's words: ids, or those of unknown words of forms."""
        numbers = self.writer.topic.unknown_words
        if not numbers:
            return tokens_N
        document = self._linker.link_tokens(self._prompt, tokenise(self._prompt, self._profile))
        word_N = self._run.space.places(document).words
        return np.array(
            [
                numbers.get(document.tokens.words[word], token)
                for token, word in zip(tokens_N.tolist(), word_N, strict=True)
            ],
            dtype=np.int64,
        )

    def _link(self, text: PieceWriter) -> LinkedDocument:
        """Link a text; what was written begins a segment, so no name reaches out of the prompt."""
        words = text.words(self._profile)
        linked = self._linker.link_tokens(text.text, words)
        prompt = self._encoded_prompt.words
        kept = (each for each in linked.mentions if not each.start < prompt < each.end)
        return replace(linked, mentions=tuple(kept))

    def _encode(self, document: LinkedDocument, text: PieceWriter | None = None) -> EncodedDocument:
        """Encode the prompt, or a text with the tokens that it was written in."""
        encoder, space = self._run.encoder, self._run.space
        encoded = space.encode(document) if text is None else text.encoded(space, document)
        prompt = len(encoded.tokens_N) if text is None else self._encoded_prompt.tokens
        encoded = encoded.without_reaching_out(prompt)
        written = encoder.encode_tokens(document, encoded)
        return replace(written, preface_P=self.writer.topic.preface_P.cpu().numpy())

    def _log_probs(self, documents: list[EncodedDocument]) -> list[float]:
        found = document_nats(self._run.model, self._run.collator.windows(documents))
        log_probs: list[float] = (found.end_nats_B - found.nats_B).tolist()
        return log_probs


def _log_known(written: Written) -> torch.Tensor:
    known_B = written.log_known_B
    return torch.zeros_like(written.log_prob_B) if known_B is None else known_B


def _name_words_of(written: Written) -> torch.Tensor:
    """Say which words of names were taken: (B,), `NO_WORD` where none was."""
    if written.name_word_B is None:
        return torch.full_like(written.token_B, NO_WORD)
    return written.name_word_B


class _RememberedSpellings:
    """A supply of spelled words that remembers those that were taken."""

    def __init__(self, spellings: Spellings) -> None:
        self._spellings = spellings
        self._taken: list[str] = []

    def take(self, before: Sequence[str] = ()) -> tuple[str, float]:
        """Give the next word, and its log-probability among unknown words."""
        word, log_prob = self._spellings.take(before)
        self._taken.append(word)
        return word, log_prob

    def taken_since(self, count: int) -> list[str]:
        """Give so many words that were taken since this was asked last, or take them now."""
        while len(self._taken) < count:
            self.take()
        taken, self._taken = self._taken, []
        return taken


def _tokens_in_contexts(space: TokenSpace, form: SurfaceForm) -> tuple[tuple[str, ...], ...]:
    """Give the text of a form's tokens in every context in which it may stand."""
    return tuple(
        space.form_tokens(form, before=space.example_before(context))
        for context in range(space.contexts)
    )
