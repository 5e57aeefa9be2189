"""Make encoded documents that are shaped like real ones, to time models without any data."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lrlm.arrays import Floats, Integers
from lrlm.batching import NOT_A_FACT, EncodedDocument
from lrlm.batching.encoding import Copies
from lrlm.corpora import LinkableRelation, Mention, prune


@dataclass(frozen=True)
class Shape:
    """What a document is like on average; the defaults are Wikipedia introductions with tables.

    They were measured on 31,000 articles: 8.7 relations (title included) with 1.84 forms each, and
    8.5 candidates in 7 places in 166 tokens.
    """

    words: int = 24_000
    tokens: int = 149  # and the end token: a whole window of 150
    relations: int = 9
    forms: int = 2
    candidates: int = 8


class RandomFeatures:
    """Form features that only have the right width."""

    width = 100

    def __init__(self) -> None:
        self._table = np.random.default_rng(0).standard_normal((4096, self.width), np.float32)

    def vectors(self, forms: Sequence[tuple[str, ...]]) -> Floats:
        """Give some vector for each form."""
        return self._table[[int(form[0]) % len(self._table) for form in forms]]


def zipf_counts(words: int, tokens: int = 5_000_000) -> list[int]:
    """Give counts of words as language has them, in descending order."""
    weights = 1 / (np.arange(words) + 2.7)
    counts = np.maximum(weights / weights.sum() * tokens, 3)
    return [int(count) for count in counts]


def documents(shape: Shape, number: int, *, edge_factor: int = 1) -> list[EncodedDocument]:
    """Make documents whose words follow Zipf's law, with candidates at random places."""
    random = np.random.default_rng(1)
    counts = np.array(zipf_counts(shape.words), dtype=float)
    share = counts / counts.sum()
    forms = tuple(
        tuple((str(relation * 7 + form),) for form in range(shape.forms))
        for relation in range(shape.relations)
    )
    relations = [LinkableRelation("type", "object", its_forms, ()) for its_forms in forms]
    made = []
    for index in range(number):
        tokens_N = random.choice(shape.words, size=shape.tokens, p=share)
        candidates = shape.candidates * edge_factor
        start = random.integers(0, shape.tokens - 4, candidates)
        end = start + random.choice([1, 2, 3, 4], size=candidates, p=[0.6, 0.25, 0.1, 0.05])
        relation = random.integers(0, shape.relations, candidates)
        form = random.integers(0, shape.forms, candidates)
        edges_E4 = np.stack([start, end, relation, form], axis=1)
        edges_E4 = edges_E4[np.lexsort(edges_E4.T[::-1])]
        made.append(
            EncodedDocument(
                id=str(index),
                tokens_N=tokens_N,
                spelling_N=np.zeros(shape.tokens, dtype=np.float32),
                types_R=np.arange(shape.relations),
                objects_R=np.arange(shape.relations),
                forms_R=forms,
                edges_E4=edges_E4,
                mention_E=np.arange(len(edges_E4)),
                words=shape.tokens,
                copies=_copies(edges_E4, relations, shape.tokens),
                preface_P=tokens_N[: 2 * shape.candidates],
            )
        )
    return made


def _copies(edges_E4: Integers, relations: Sequence[LinkableRelation], tokens: int) -> Copies:
    """Choose candidates that do not overlap, and say for each token what it is a copy of."""
    rows = [(NOT_A_FACT, 0, 0, 0)] * tokens
    for start, end, relation, form in prune(map(Mention._make, edges_E4.tolist()), relations):
        length = end - start
        rows[start:end] = [(relation, form, position, length) for position in range(length)]
    return Copies(*np.array(rows).T)
