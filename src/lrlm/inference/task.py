"""What the texts of one call share: the topic, the prompt, chance, and how they are scored."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np
import torch

from lrlm.batching import NOT_A_FACT, EncodedDocument
from lrlm.corpora import LinkedDocument, Matcher, linkable_relations
from lrlm.errors import InputError
from lrlm.heads import Choosing
from lrlm.inference.decoding import decode
from lrlm.inference.generated import GeneratedText, Piece
from lrlm.inference.options import GenerationOptions
from lrlm.inference.pieces import PieceWriter, Token, all_forms
from lrlm.inference.rules import Rules
from lrlm.inference.spelling_pool import SpellingPool
from lrlm.inference.star import star_of
from lrlm.inference.texts import check_text, check_topic, reading_profile
from lrlm.knowledge import Topic
from lrlm.models import score_documents
from lrlm.models.writers import writer_of
from lrlm.models.writing import NO_FORM, Standing, Written
from lrlm.text import Tokens, tokenise
from lrlm.training.run import Run

_SCORED_AT_ONCE = 100


class Task:
    """Everything that the texts of one call share."""

    def __init__(self, run: Run, topic: Topic, options: GenerationOptions, seed: int) -> None:
        check_topic(topic)
        if not isinstance(seed, int) or not -(2**63) <= seed < 2**63:
            raise InputError(f"a seed must be a whole number of 64 bits, not {seed!r}")
        self.run = run
        self.options = options
        self.topic = topic
        self.profile = reading_profile(run.link_options)
        self.prompt = options.prompt.strip()
        if self.prompt:
            check_text(self.prompt)
        self.relations = linkable_relations(topic, run.link_options)
        self.forms = all_forms(self.relations)
        self.matcher = Matcher(self.relations)
        self.writer = writer_of(run.model, star_of(run, self.relations))
        if options.must_use and not self.writer.uses_relations:
            raise InputError(
                f"a model of the kind {run.kind!r} writes words only and uses no relations;"
                " must_use needs an LRLM or an NKLM"
            )
        generator = torch.Generator(next(run.model.parameters()).device).manual_seed(seed)
        self.choosing = Choosing(
            options.temperature, options.top_k, options.top_p, options.greedy, generator
        )
        spelling_seed = torch.randint(2**62, (), generator=torch.Generator().manual_seed(seed))
        self.pool = SpellingPool(
            run.speller,
            seed=int(spelling_seed),
            temperature=options.spelling_temperature,
            capitals=not options.only_known_names,
        )

    def text(self) -> PieceWriter:
        """Begin one text."""
        return PieceWriter(
            self.forms, self.profile, prompt=self.prompt, prompt_log_prob=self.prompt_log_prob
        )

    def tokens(self, texts: int) -> Iterator[tuple[int, Token | None]]:
        """Write texts; each token comes with the number of its text, and None is the end of one."""
        rules = Rules(self.options, self.relations, self.writer, texts=texts)
        steps = decode(
            self.writer,
            rules,
            self.choosing,
            begun=self._begun(),
            texts=texts,
            max_length=self.options.max_length,
        )
        for text_B, written in steps:
            columns = (
                text_B, written.word_B, written.form_B, written.position_B, written.log_prob_B,
            )  # fmt: skip
            for number, word, form, position, log_prob in zip(
                *(column.tolist() for column in columns), strict=True
            ):
                yield number, self._token(word, form, position, log_prob)

    def result(
        self, text: PieceWriter, pieces: list[Piece], marginal_log_prob: float, ended: bool
    ) -> GeneratedText:
        """Give a finished text."""
        prompt = [] if text.prompt is None else [text.prompt]
        return GeneratedText(
            text.text,
            (*prompt, *pieces),
            tuple(text.words),
            written_tokens=len(text.words) - len(self._encoded_prompt.words_N),
            log_prob=sum(piece.log_prob for piece in pieces),
            marginal_log_prob=marginal_log_prob,
            is_joint=self.writer.uses_relations and not self.writer.copies_whole_forms,
            ended=ended,
        )

    def marginal_log_probs(self, texts: list[PieceWriter]) -> list[float]:
        """Give log P(text | prompt) of each text, the end not counted, summed over how it was made.

        Alias LM is told the same names as it was told when it wrote.
        """
        documents = [self._encode(self._document(text)) for text in texts]
        totals: list[float] = []
        for start in range(0, len(documents), _SCORED_AT_ONCE):
            totals += self._log_probs(documents[start : start + _SCORED_AT_ONCE])
        return [total - self.prompt_log_prob for total in totals]

    @cached_property
    def prompt_log_prob(self) -> float:
        """Give log P of the prompt."""
        return self._log_probs([self._encoded_prompt])[0] if self.prompt else 0.0

    @cached_property
    def _encoded_prompt(self) -> EncodedDocument:
        tokens = tokenise(self.prompt, self.profile)
        return self._encode(self._linked(self.prompt, tokens))

    def _begun(self) -> Standing:
        """Read the prompt, as one annotation says where a model reads one."""
        standing = self.writer.begin()
        copies = self._encoded_prompt.copies
        first_R = np.cumsum([0, *(len(relation.forms) for relation in self.relations)])
        form_N = first_R[copies.relation_N] + copies.form_N
        form_N = np.where(copies.relation_N == NOT_A_FACT, NO_FORM, form_N)
        words_N = self._encoded_prompt.words_N
        for word_1, form_1, position_1 in torch.from_numpy(
            np.stack([words_N, form_N, copies.position_N], axis=1)
        ).to(standing.states_BD.device)[..., None]:
            written = Written(word_1, form_1, position_1, standing.last.log_prob_B)
            standing = self.writer.read(standing, written)
        return standing

    def _token(self, word: int, form: int, position: int, log_prob: float) -> Token | None:
        if form != NO_FORM:
            return Token(self.forms[form].words[position], "relation", log_prob, form, position)
        if word == self.run.vocabulary.end_id:
            return None
        if word == self.run.vocabulary.unknown_id:
            spelled, log_spelling = self.pool.take()
            return Token(spelled, "spelled", log_prob + log_spelling)
        return Token(self.run.vocabulary.words[word], "word", log_prob)

    def _document(self, text: PieceWriter) -> LinkedDocument:
        """Link a text; what was written begins a segment, so no name reaches out of the prompt."""
        starts, ends = [start for start, _ in text.places], [end for _, end in text.places]
        linked = self._linked(text.text, Tokens(text.words, starts, ends))
        written = len(self._encoded_prompt.words_N)
        kept = (each for each in linked.mentions if not each.start < written < each.end)
        return replace(linked, mentions=tuple(kept))

    def _linked(self, text: str, tokens: Tokens) -> LinkedDocument:
        mentions = tuple(self.matcher.find(tokens.words))
        topic = self.topic
        return LinkedDocument(
            topic.id, topic.id, topic.names[0], text, tokens, self.relations, mentions
        )

    def _encode(self, document: LinkedDocument) -> EncodedDocument:
        (encoded,) = self.run.encoder.encode([document])
        return replace(encoded, aliases=self.writer.star.aliases_P.cpu().numpy())

    def _log_probs(self, documents: list[EncodedDocument]) -> list[float]:
        scores = score_documents(self.run.model, self.run.collator.windows(documents))
        nats: list[float] = (scores.end_nats_B - scores.nats_B).tolist()
        return nats
