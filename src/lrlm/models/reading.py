"""Read documents with a model: one pass, from encoded documents to the score of every segment.

A `ScoredDocument` holds the log score of every token as a WORD and of every candidate edge.
Perplexity, posteriors, annotations and claims are pure functions of it (see `lrlm.lattice`).

Shapes: B rows, T tokens, E edges of a window or a document, N tokens of a document.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from lrlm.backbones import State
from lrlm.batching import Collator, EncodedDocument, Window, mirrored
from lrlm.lattice import Lattice
from lrlm.models.language_model import LanguageModel, WindowScores


class WindowReader:
    """Reads the windows of one batch in order, carrying the backbone's state from each to the next.

    Windows are moved to where the model is.
    """

    def __init__(self, model: LanguageModel, *, state: State | None = None) -> None:
        """`state` is that after the windows before, where reading goes on in the middle."""
        self._model = model
        self._device, self._dtype = model.device, model.dtype
        self.state = state

    def read(self, window: Window) -> tuple[Window, WindowScores]:
        """Score the next window; it is given back as it was moved."""
        here = window.to(self._device, self._dtype)
        state = self._model.begin(here) if self.state is None else self.state
        scores, self.state = self._model(here, state.select(here.kept_B))
        return here, scores

    def detach(self) -> None:
        """Keep what is remembered, but not how it came about: backpropagation ends here."""
        if self.state is not None:
            self.state = self.state.detach()


@dataclass(frozen=True)
class DocumentNats:
    """What a batch of documents costs; the end of a text is told apart so it can be left out."""

    nats_B: Tensor
    """−log P of each whole document, the end included."""
    end_nats_B: Tensor
    """The share of the end in it."""


@torch.no_grad()
def document_nats(model: LanguageModel, windows: Iterable[Window]) -> DocumentNats:
    """Add up −log P over the windows of a batch, in the model's own precision."""
    reader = WindowReader(model)
    nats_B = end_nats_B = torch.empty(0)
    for number, window in enumerate(windows):
        here, scores = reader.read(window)
        if number == 0:
            nats_B = torch.zeros(len(here.document_B), dtype=model.dtype, device=model.device)
            end_nats_B = torch.zeros_like(nats_B)
        nats, end_nats = scores.nats(here)
        nats_B.index_add_(0, here.document_B, nats)
        end_nats_B.index_add_(0, here.document_B, end_nats)
    return DocumentNats(nats_B, end_nats_B)


@dataclass(frozen=True)
class ScoredDocument:
    """The log scores of all segments of one document, on the CPU in float64."""

    encoded: EncodedDocument
    unspelled_N: Tensor
    """Every token as a WORD, while unknown words are spelled for free."""
    is_copied_N: Tensor
    """Tokens that one given annotation says were copied (NKLM): they are not spelled."""
    end_score: float
    """log P that the text ends where it does; of a model that reads backward, that it begins."""
    start_E: Tensor
    end_E: Tensor
    """The tokens `[start, end)` of each candidate, in the document's order; none where a model
    does not sum over segmentations."""
    score_E: Tensor
    from_names_N: Tensor | None = None
    """Every token as a WORD that is taken from a name, which is not spelled, −inf where it is none;
    None where a model takes no words from names."""

    def words_N(self, spelling_N: Tensor | None = None) -> Tensor:
        """Give the score of every token as a WORD, unknown words spelled.

        `spelling_N` has the log-probabilities of spellings where they are counted in another way.
        """
        if spelling_N is None:
            spelling_N = torch.from_numpy(self.encoded.spelling_N)
        words_N = self.unspelled_N + torch.where(self.is_copied_N, 0.0, spelling_N.double())
        return words_N if self.from_names_N is None else words_N.logaddexp(self.from_names_N)

    def turned(self) -> "ScoredDocument":
        """Give the same scores with all positions counted from the other end."""
        encoded = self.encoded.turned()
        _, order_E = mirrored(self.encoded.edges_E4, self.encoded.tokens)
        start_E, end_E = torch.from_numpy(encoded.edges_E4[:, :2]).T.contiguous()
        edges = len(self.score_E)  # none where a model does not sum over segmentations
        return replace(
            self,
            encoded=encoded,
            unspelled_N=self.unspelled_N.flip(0),
            is_copied_N=self.is_copied_N.flip(0),
            from_names_N=None if self.from_names_N is None else self.from_names_N.flip(0),
            start_E=start_E[:edges],
            end_E=end_E[:edges],
            score_E=self.score_E[torch.from_numpy(order_E)[:edges]],
        )


def with_copy_odds(document: ScoredDocument, nats: float) -> ScoredDocument:
    """Give the scores of the same document where copying is so much more probable.

    The posterior of these scores is the one under another prior: each segmentation weighs
    exp(nats · copied tokens) times what it did.
    """
    if nats == 0:
        return document
    tokens_E = (document.end_E - document.start_E).to(document.score_E.dtype)
    return replace(document, score_E=document.score_E + nats * tokens_E)


def lattice_of(
    documents: Sequence[ScoredDocument], spellings: Sequence[Tensor] | None = None
) -> Lattice:
    """Put documents side by side as one batch of lattices, each with its text's tokens.

    `spellings` counts the spelling of unknown words in another way, as `ScoredDocument.words_N`.
    """
    words = [
        document.words_N(None if spellings is None else spellings[row])
        for row, document in enumerate(documents)
    ]
    edges = torch.tensor([len(document.score_E) for document in documents], dtype=torch.long)
    return Lattice(
        torch.nn.utils.rnn.pad_sequence(words, batch_first=True),
        torch.tensor([len(row) for row in words], dtype=torch.long),
        torch.repeat_interleave(torch.arange(len(documents)), edges),
        torch.cat([document.start_E for document in documents]),
        torch.cat([document.end_E for document in documents]),
        torch.cat([document.score_E for document in documents]),
        checked=False,  # the collator made the indices
    )


@torch.no_grad()
def read_documents(
    model: LanguageModel, collator: Collator, documents: Sequence[EncodedDocument]
) -> list[ScoredDocument]:
    """Read documents side by side, window by window; windows end where no candidate crosses.

    The scores of a document that was read backward are turned round, so positions always count from
    the beginning of the text.
    """
    reader = WindowReader(model)
    words: list[list[Tensor]] = [[] for _ in documents]
    copied: list[list[Tensor]] = [[] for _ in documents]
    edges: list[list[Tensor]] = [[] for _ in documents]
    from_names: list[list[Tensor]] = [[] for _ in documents]
    for window in collator.windows(documents):
        _, scores = reader.read(window)
        words_BT, from_names_BT = scores.unspelled_BT().double().cpu(), scores.from_names_BT()
        copied_BT = torch.zeros_like(words_BT, dtype=torch.bool)
        if scores.copied_BT is not None:
            copied_BT = scores.copied_BT.cpu()
        rows, lengths = window.document_B.tolist(), window.lengths_B.tolist()
        for row, (number, length) in enumerate(zip(rows, lengths, strict=True)):
            words[number].append(words_BT[row, :length])
            copied[number].append(copied_BT[row, :length])
            if from_names_BT is not None:
                from_names[number].append(from_names_BT[row, :length].double().cpu())
        if scores.edges is not None and scores.score_E is not None:
            counts = torch.bincount(scores.edges.row_E, minlength=len(rows)).tolist()
            scores_by_row = torch.split(scores.score_E.double().cpu(), counts)
            for number, score_E in zip(rows, scores_by_row, strict=True):
                edges[number].append(score_E)
    scored = (
        _scored(
            document,
            torch.cat(words[number]),
            torch.cat(copied[number]),
            edges[number],
            from_names[number],
        )
        for number, document in enumerate(documents)
    )
    return [each.turned() if each.encoded.is_backward else each for each in scored]


def _scored(
    document: EncodedDocument,
    words: Tensor,
    copied: Tensor,
    edges: list[Tensor],
    from_names: list[Tensor],
) -> ScoredDocument:
    start_E, end_E = torch.from_numpy(document.edges_E4[:, :2]).T.contiguous()
    if not edges:
        start_E, end_E = start_E[:0], end_E[:0]
    return ScoredDocument(
        encoded=document,
        unspelled_N=words[:-1],
        is_copied_N=copied[:-1],
        end_score=float(words[-1]),
        start_E=start_E,
        end_E=end_E,
        score_E=torch.cat(edges) if edges else words[:0],
        from_names_N=torch.cat(from_names)[:-1] if from_names else None,
    )
