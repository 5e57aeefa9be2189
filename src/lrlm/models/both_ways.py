"""Put two readings of the same documents together: one from the left, and one from the right.

A model that reads forward has not seen the rest of a sentence when it scores a segment, and one
that reads backward has seen nothing else. Both score the segments of one lattice, and the sum of
their log scores knows both sides:

    score(segment) = forward(segment) + weight · backward(segment)

A segmentation is then as probable as the product of what the two models say of it, the second to
the power of the weight, divided by the sum over all segmentations, which is exact as ever. Such a
product is no probability of the text. So the scores are scaled, by the same for all segmentations,
to sum to what the forward model says: the second reading changes where names are thought to come
from, not how probable the text is.

Shapes: N tokens and E candidates of a document, M tokens of the other reading of it, K blocks.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from lrlm.batching import EncodedDocument
from lrlm.errors import InputError
from lrlm.lattice import block_sums
from lrlm.models.reading import ScoredDocument, lattice_of
from lrlm.text import TokenPlaces

Scored = Sequence[ScoredDocument]


def combine(forward: Scored, backward: Scored, weight: float) -> list[ScoredDocument]:
    """Add the scores of two readings, the second with a weight, and scale them to the first's sum.

    Both readings of a document have the same tokens and candidates (`laid_over` sees to that). A
    weight of 0 gives the first reading as it is.
    """
    if weight == 0:
        return list(forward)
    added = [_added(one, other, weight) for one, other in zip(forward, backward, strict=True)]
    if not added:
        return []
    alone, together = block_sums(lattice_of(forward)), block_sums(lattice_of(added))
    # Where one of the two finds no way at all, there is nothing to scale.
    is_open_K = alone.total_K.isfinite() & together.total_K.isfinite()
    gap_K = torch.where(is_open_K, alone.total_K - together.total_K, 0.0)
    length_K = together.end_K - together.start_K
    # Every way through a block has all its tokens, so what is given to tokens is given to each way.
    gap_X = (gap_K / length_K).repeat_interleave(length_K)
    gaps = torch.split(gap_X, [document.encoded.tokens for document in added])
    return [_scaled(document, gap_N) for document, gap_N in zip(added, gaps, strict=True)]


def _added(one: ScoredDocument, other: ScoredDocument, weight: float) -> ScoredDocument:
    if one.encoded.tokens != other.encoded.tokens or not np.array_equal(
        one.encoded.edges_E4, other.encoded.edges_E4
    ):
        raise InputError(
            f"the two readings of {one.encoded.id!r} have other tokens or candidates than each"
            " other; were they linked in different ways?"
        )
    return replace(
        _with_words(one, one.words_N() + weight * other.words_N()),
        score_E=one.score_E + weight * other.score_E,
    )


def _scaled(document: ScoredDocument, gap_N: Tensor) -> ScoredDocument:
    length_E = document.end_E - document.start_E
    return replace(
        document,
        unspelled_N=document.unspelled_N + gap_N,
        score_E=document.score_E + gap_N[document.start_E] * length_E,
    )


def _with_words(document: ScoredDocument, words_N: Tensor) -> ScoredDocument:
    """Give a document whose words score just so: what spelling costs is in it already."""
    spelling_N = np.zeros_like(document.encoded.spelling_N)
    return replace(
        document,
        encoded=replace(document.encoded, spelling_N=spelling_N),
        unspelled_N=words_N,
        is_copied_N=torch.zeros(len(words_N), dtype=torch.bool),
        from_names_N=None,
    )


def laid_over(
    scored: ScoredDocument,
    its_places: TokenPlaces,
    document: EncodedDocument,
    places: TokenPlaces,
) -> ScoredDocument:
    """Give the scores of one reading for the tokens and candidates of another, of the same text.

    Where the two have other tokens, what a token of the reading scores as a WORD goes to the token
    of the document in which it begins: words that are cut into subwords are still scored as words.
    Candidates are found again by their characters, relation and form. One that the reading does not
    have (a name within a word) scores what its words do, so nothing is said for or against it.
    """
    starts_M, ends_N = np.asarray(its_places.starts), np.asarray(places.ends)
    token_M = np.searchsorted(ends_N, starts_M, side="right").clip(max=document.tokens - 1)
    words_N = torch.zeros(document.tokens, dtype=torch.float64)
    words_N.index_add_(0, torch.from_numpy(token_M), scored.words_N())
    score_of = dict(
        zip(_in_characters(scored.encoded, its_places), scored.score_E.tolist(), strict=True)
    )
    start_E, end_E = torch.from_numpy(document.edges_E4[:, :2]).T.contiguous()
    keys = _in_characters(document, places)
    score_E = torch.empty(len(keys), dtype=torch.float64)
    for number, key in enumerate(keys):
        score = score_of.get(key)
        if score is None:
            score = float(words_N[start_E[number] : end_E[number]].sum())
        score_E[number] = score
    over = replace(scored, encoded=document, start_E=start_E, end_E=end_E, score_E=score_E)
    return _with_words(over, words_N)


def _in_characters(
    document: EncodedDocument, places: TokenPlaces
) -> list[tuple[int, int, int, int]]:
    """Give each candidate with the characters that it covers instead of its tokens."""
    starts, ends = places.starts, places.ends
    return [
        (starts[start], ends[end - 1], relation, form)
        for start, end, relation, form in document.edges_E4.tolist()
    ]
