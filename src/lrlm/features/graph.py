"""A corpus in, its knowledge graph out: the distinct triples of all topics, as numbers.

The stars of validation and test topics are part of it: the graph is what a model is given about a
topic. Nothing is taken from the texts, and `@title`, which only says what a topic is called, is
no fact.

Shapes: N triples.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lrlm.corpora.corpus import Corpus
from lrlm.errors import InputError
from lrlm.knowledge.topic import TITLE

Integers = npt.NDArray[np.int64]


Names = tuple[pa.Array, pa.Array, pa.Array]
"""Topics, types and objects of triples, by name."""


@dataclass(frozen=True)
class Graph:
    """Distinct triples, sorted; names are in the order of their code points."""

    nodes: tuple[str, ...]
    """Topics and objects that stand in a triple."""
    types: tuple[str, ...]
    triples_N3: Integers
    """Indices of topic, type and object."""
    training_types: frozenset[str] = frozenset()
    """Types, `@title` among them, in the stars of training topics: a model can learn these."""

    @classmethod
    def of(cls, corpus: Corpus) -> "Graph":
        """Read the stars of all documents of all splits."""
        parts: list[Names] = []
        training_types = {TITLE}
        for split in corpus.splits:
            for topics, types, objects in _facts(corpus, split):
                parts.append((topics, types, objects))
                if split == "train":
                    training_types.update(types.unique().to_pylist())
        if not any(len(types) for _, types, _ in parts):
            raise InputError(f"{corpus.folder} has no facts to make relation vectors from")
        topics, types, objects = (pa.concat_arrays(arrays) for arrays in zip(*parts, strict=True))
        return cls.from_names((topics, types, objects), training_types)

    @classmethod
    def from_names(cls, names: Names, training_types: Iterable[str] = ()) -> "Graph":
        """Number three equally long arrays of names."""
        topics, types, objects = names
        nodes, (heads_N, tails_N) = _number(topics, objects)
        type_names, (types_N,) = _number(types)
        triples_N3 = np.unique(np.stack([heads_N, types_N, tails_N], axis=1), axis=0)
        return cls(nodes, type_names, triples_N3, frozenset(training_types))


def _facts(corpus: Corpus, split: str) -> Iterator[Names]:
    """Give the facts of a split, a batch of documents at a time."""
    columns = ["topic", "relations.list.element.type", "relations.list.element.object"]
    for batch in corpus.batches(split, columns):
        relations = batch.column("relations")
        topics = batch.column("topic").take(pc.list_parent_indices(relations))
        types, objects = relations.flatten().flatten()
        is_fact = pc.not_equal(types, TITLE)
        yield topics.filter(is_fact), types.filter(is_fact), objects.filter(is_fact)


def _number(*arrays: pa.Array) -> tuple[tuple[str, ...], list[Integers]]:
    """Give the distinct names of all arrays, sorted, and for each array the names' places."""
    names = pa.concat_arrays(arrays).unique()
    names = names.take(pc.sort_indices(names))  # by UTF-8 bytes, which is by code points
    places = [pc.index_in(array, names).to_numpy().astype(np.int64) for array in arrays]
    return tuple(names.to_pylist()), places
