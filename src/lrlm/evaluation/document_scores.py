"""What each document costs under a model, and the perplexities that follow from it.

Shapes: B documents of a batch, K blocks of their lattices, N tokens of a document.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from lrlm.arrays import Floats
from lrlm.batching import Collator, EncodedDocument, Encoder, evaluation_batches
from lrlm.corpora.importers.release_vectors import parse_word_and_value
from lrlm.errors import LrlmError
from lrlm.knowledge import TITLE
from lrlm.lattice import block_sums
from lrlm.models import LanguageModel, ScoredDocument, lattice_of, read_documents
from lrlm.progress import Progress, silent
from lrlm.text import (
    NO_MENTION,
    LinkedDocument,
    Speller,
    TokenSpace,
    perplexity_per_word,
    word_span,
)
from lrlm.text_files import BadLines, read_records


class Spelling(StrEnum):
    """What an unknown word costs on top of `<unk>`."""

    OPEN = "open"
    """Its spelling under the run's character model: open-vocabulary perplexity."""
    UPP = "upp"
    """log |V_out|: every unknown word of the corpus is as likely as every other."""
    ORACLE = "oracle"
    """Nothing: somebody spells it for us."""


@dataclass(frozen=True, slots=True)
class DocumentScore:
    """What one document costs; its tokens are inside or outside of candidate spans, or its end.

    No span crosses the border between the two, so the nats of the two parts add up exactly, also
    where a model sums over segmentations.
    """

    id: str
    relations: int
    """Of its topic, the title not counted."""
    words: int
    """Words of the text as the corpus has them, whatever the tokens of the model are; the end of
    the text is not counted."""
    text_bytes: int
    """Bytes of the text in UTF-8."""
    unknown_words: int
    """Words that have to be spelled."""
    inside_words: int
    """Words that some candidate span covers, as the model's corpus is linked."""
    outside_words: int
    """Words that none covers."""
    lost_candidates: int
    """Candidates that do not begin and end where tokens of the model do."""
    end_nats: float
    """−log P that the text ends where it does."""
    inside_nats: Mapping[Spelling, float]
    outside_nats: Mapping[Spelling, float]
    left_out_facts: int = 0
    """Facts of the topic that there was no room for before the text."""

    def nats(self, spelling: Spelling = Spelling.OPEN, *, count_end: bool = False) -> float:
        """−log P of the document."""
        text = self.inside_nats[spelling] + self.outside_nats[spelling]
        return text + self.end_nats if count_end else text

    def units(self, *, count_end: bool = False) -> int:
        """Count the words that `nats` is the cost of, and the end if it is counted."""
        return self.words + 1 if count_end else self.words


Judge = Callable[[Sequence[LinkedDocument], Sequence[ScoredDocument]], None]
"""Shown the documents of every batch with their scores."""


def score_documents(
    model: LanguageModel,
    encoder: Encoder,
    collator: Collator,
    documents: Sequence[LinkedDocument],
    *,
    unknown_words: int,
    words: Sequence[int] | None = None,
    batch_size: int = 60,
    judge: Judge = lambda _documents, _scored: None,
    progress: Progress = silent,
) -> list[DocumentScore]:
    """Score documents, in their order; the model reads each of them once.

    `unknown_words` is |V_out|, which UPP divides by. `words` counts the words of each document
    where they are not those that the model reads.
    """
    unknown_id = encoder.space.unknown_id
    encoded = list(encoder.encode(documents))
    found: dict[int, DocumentScore] = {}
    for batch in evaluation_batches([document.tokens for document in encoded], batch_size):
        members = [documents[number] for number in batch]
        scored = read_documents(model, collator, [encoded[number] for number in batch])
        covered_BT = pad_sequence([_covered(each.encoded) for each in scored], batch_first=True)
        sums = {
            spelling: _inside_and_outside(
                scored,
                [_log_probs(each, spelling, unknown_id, unknown_words) for each in scored],
                covered_BT,
            )
            for spelling in Spelling
        }
        judge(members, scored)
        for row, number in enumerate(batch):
            found[number] = _document_score(
                members[row],
                scored[row],
                {
                    spelling: (inside[row], outside[row])
                    for spelling, (inside, outside) in sums.items()
                },
                encoder.space,
                words=len(members[row].tokens) if words is None else words[number],
            )
        progress("scoring", len(found), len(documents))
    return [found[number] for number in range(len(documents))]


def _log_probs(
    scored: ScoredDocument, spelling: Spelling, unknown_id: int | None, unknown_words: int
) -> Tensor:
    """Give the log-probability of each token's spelling, 0 where the word is known: (N,)."""
    if spelling is Spelling.OPEN:
        return torch.from_numpy(scored.encoded.spelling_N)
    tokens_N = torch.from_numpy(scored.encoded.tokens_N)
    if spelling is Spelling.ORACLE or unknown_id is None:
        return torch.zeros(len(tokens_N), dtype=torch.float64)
    return (tokens_N == unknown_id).double() * -math.log(max(unknown_words, 1))


def _inside_and_outside(
    scored: Sequence[ScoredDocument], spellings: Sequence[Tensor], covered_BT: Tensor
) -> tuple[list[float], list[float]]:
    """Sum the nats of each document inside and outside of its candidate spans."""
    blocks = block_sums(lattice_of(scored, spellings))
    is_inside_K = covered_BT[blocks.row_K, blocks.start_K]
    sums = []
    for part_K in (is_inside_K, ~is_inside_K):
        nats_K = torch.where(part_K, -blocks.total_K, 0.0)
        zeros_B = torch.zeros(len(scored), dtype=torch.float64)
        sums.append(zeros_B.index_add_(0, blocks.row_K, nats_K).tolist())
    return sums[0], sums[1]


def _covered(document: EncodedDocument) -> Tensor:
    """Say which tokens some candidate span covers, whatever the model does with it: (N,)."""
    covered_N = np.zeros(document.tokens, dtype=bool)
    for start, end in document.edges_E4[:, :2].tolist():
        covered_N[start:end] = True
    return torch.from_numpy(covered_N)


def _document_score(
    document: LinkedDocument,
    scored: ScoredDocument,
    sums: Mapping[Spelling, tuple[float, float]],
    space: TokenSpace,
    *,
    words: int,
) -> DocumentScore:
    end_nats = -scored.end_score
    if not math.isfinite(end_nats + sum(sums[Spelling.OPEN])):
        raise LrlmError(
            f"the document {document.id!r} has no finite probability;"
            " is a word of it impossible to spell and to copy?"
        )
    encoded = scored.encoded
    inside = _words_inside(document, encoded, space)
    return DocumentScore(
        id=document.id,
        relations=sum(relation.type != TITLE for relation in document.relations),
        words=words,
        text_bytes=len(document.text.encode()),
        unknown_words=(
            0 if space.unknown_id is None else int((encoded.tokens_N == space.unknown_id).sum())
        ),
        inside_words=len(inside),
        outside_words=len(document.tokens) - len(inside),
        left_out_facts=encoded.left_out_facts,
        lost_candidates=len(document.mentions) - int((encoded.mention_E != NO_MENTION).sum()),
        end_nats=end_nats,
        inside_nats={spelling: inside for spelling, (inside, _) in sums.items()},
        outside_nats={spelling: outside for spelling, (_, outside) in sums.items()},
    )


def _words_inside(
    document: LinkedDocument, encoded: EncodedDocument, space: TokenSpace
) -> set[int]:
    """Give the words that some candidate covers, in part at least."""
    numbers = encoded.mention_E.tolist()
    spans = [document.mentions[number][:2] for number in numbers if number != NO_MENTION]
    others = encoded.edges_E4[encoded.mention_E == NO_MENTION, :2].tolist()
    if others:
        places = space.places(document)
        spans += [word_span(document.tokens, places, *tokens)[:2] for tokens in others]
    return {word for start, end in spans for word in range(start, end)}


def perplexity(
    scores: Sequence[DocumentScore],
    spelling: Spelling = Spelling.OPEN,
    *,
    count_end: bool = False,
) -> float | None:
    """Give exp(summed nats / summed words); ends are paid for and counted, or neither."""
    return _perplexity(
        math.fsum(score.nats(spelling, count_end=count_end) for score in scores),
        sum(score.units(count_end=count_end) for score in scores),
    )


def inside_perplexity(
    scores: Sequence[DocumentScore], spelling: Spelling = Spelling.OPEN
) -> float | None:
    """Give the perplexity of the words that some candidate span covers."""
    return _perplexity(
        math.fsum(score.inside_nats[spelling] for score in scores),
        sum(score.inside_words for score in scores),
    )


def outside_perplexity(
    scores: Sequence[DocumentScore], spelling: Spelling = Spelling.OPEN
) -> float | None:
    """Give the perplexity of the words that no candidate span covers; ends are none of them."""
    return _perplexity(
        math.fsum(score.outside_nats[spelling] for score in scores),
        sum(score.outside_words for score in scores),
    )


def _perplexity(nats: float, words: int) -> float | None:
    return perplexity_per_word(nats, words) if words else None


class PublishedSpeller:
    """Gives words their published probabilities; those without one are spelled by another."""

    def __init__(self, published: Mapping[str, float], otherwise: Speller) -> None:
        self._published = published
        self._otherwise = otherwise

    def log_probs(self, words: Sequence[str]) -> Floats:
        """Give the log-probability of each word."""
        scores = np.array([self._published.get(word, 0.0) for word in words], dtype=np.float32)
        others = [place for place, word in enumerate(words) if word not in self._published]
        if others:
            scores[others] = self._otherwise.log_probs([words[place] for place in others])
        return scores

    def sample(
        self,
        count: int,
        *,
        generator: torch.Generator,
        temperature: float = 1.0,
        capitals: bool = True,
    ) -> list[str]:
        """Spell words at random: a table of probabilities cannot."""
        return self._otherwise.sample(
            count, generator=generator, temperature=temperature, capitals=capitals
        )


def read_published_words(path: Path) -> dict[str, float]:
    """Read a table of published word probabilities: `word TAB natural logarithm` a line.

    `lrlm corpus import release` writes such a table from the paper's archives. Every line of it
    must be good, for it decides what words cost.
    """
    return dict(read_records(path, parse_word_and_value, BadLines(max_share=0)))
