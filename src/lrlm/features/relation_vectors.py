"""The facts of a corpus as numbers, and the vectors of their relation types and objects.

A relation's embedding is `[vector of its type; vector of its object]`. Types without a vector get
ids behind those that have one: a model learns vectors for them, one a type. Whatever has no id at
all (an object without a vector, a type that training did not see) is `UNSEEN` to the encoder.

Shapes: N triples, K types with a vector, O objects, D width.
"""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Tensor

from lrlm.arrays import Integers
from lrlm.artifacts import (
    MANIFEST,
    check_files,
    fingerprints_in,
    new_folder,
    read_manifest,
    read_number,
    write_manifest,
)
from lrlm.checks import WIDEST, check_shape
from lrlm.corpora.corpus import Corpus
from lrlm.errors import FormatError, InputError, ShapeError
from lrlm.knowledge.topic import TITLE
from lrlm.tensor_files import read_names, read_tensors, write_names, write_tensors

FORMAT = "lrlm relation vectors"
VERSION = 1
VECTORS, TYPES, OBJECTS = "vectors.safetensors", "types.json", "objects.json"

NameColumns = tuple[pa.Array, pa.Array, pa.Array]
"""Topics, types and objects of triples, by name."""


@dataclass(frozen=True)
class TripleTable:
    """The distinct facts of all topics of a corpus as numbers: what relation vectors are made from.

    The topics of validation and test are among them, for their facts are what a model is given
    about them. Nothing is taken from the texts, and `@title`, which only says what a topic is
    called, is no fact. Triples are sorted, and names are in the order of their code points.
    """

    nodes: tuple[str, ...]
    """Topics and objects that stand in a triple."""
    types: tuple[str, ...]
    triples_N3: Integers
    """Indices of topic, type and object."""
    training_types: frozenset[str] = frozenset()
    """Types, `@title` among them, in the facts of training topics: a model can learn these."""

    @classmethod
    def of(cls, corpus: Corpus) -> "TripleTable":
        """Read the facts of all documents of all splits."""
        parts: list[NameColumns] = []
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
    def from_names(cls, names: NameColumns, training_types: Iterable[str] = ()) -> "TripleTable":
        """Number three equally long arrays of names."""
        topics, types, objects = names
        nodes, (heads_N, tails_N) = _number(topics, objects)
        type_names, (types_N,) = _number(types)
        triples_N3 = np.unique(np.stack([heads_N, types_N, tails_N], axis=1), axis=0)
        return cls(nodes, type_names, triples_N3, frozenset(training_types))


def _facts(corpus: Corpus, split: str) -> Iterator[NameColumns]:
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


@dataclass(frozen=True)
class RelationTable:
    """Relation types and objects with their vectors; the place of a name is its id."""

    types: tuple[str, ...]
    """The K types that have a vector, then those whose vectors a model has to learn."""
    types_KD: Tensor
    objects: tuple[str, ...]
    objects_OD: Tensor

    @classmethod
    def empty(cls, width: int) -> "RelationTable":
        """Give the table of a model that makes vectors from names: nothing has one of its own."""
        return cls((), torch.empty(0, width), (), torch.empty(0, width))

    def __post_init__(self) -> None:
        """Refuse vectors without a name."""
        check_shape("types_KD", self.types_KD, (None, None))
        check_shape("objects_OD", self.objects_OD, (len(self.objects), self.width))
        if self.known_types > len(self.types):
            raise ShapeError(
                f"types_KD has {self.known_types} rows, but there are {len(self.types)} types"
            )

    @classmethod
    def of(
        cls,
        triples: TripleTable,
        types: Mapping[str, Tensor],
        objects: Mapping[str, Tensor],
        width: int,
    ) -> "RelationTable":
        """Lay out the vectors that the names of triples have, which may be none of them."""
        learned = sorted(triples.training_types - types.keys())
        return cls(
            (*types, *learned),
            _stack(types.values(), width),
            tuple(objects),
            _stack(objects.values(), width),
        )

    @property
    def width(self) -> int:
        """D, the width of a type's and of an object's vector."""
        return self.types_KD.shape[1]

    @property
    def known_types(self) -> int:
        """K, the number of types that have a vector."""
        return len(self.types_KD)

    @cached_property
    def type_ids(self) -> dict[str, int]:
        """Ids of types; from K on there is no vector yet."""
        return {name: index for index, name in enumerate(self.types)}

    @cached_property
    def object_ids(self) -> dict[str, int]:
        """Ids of objects."""
        return {name: index for index, name in enumerate(self.objects)}

    def only_objects(self, names: AbstractSet[str]) -> "RelationTable":
        """Give the table without the objects of other names; their ids change."""
        kept = [place for place, name in enumerate(self.objects) if name in names]
        objects = tuple(self.objects[place] for place in kept)
        return replace(self, objects=objects, objects_OD=self.objects_OD[kept])

    def save(self, folder: Path, **made_from: Any) -> None:
        """Write names and vectors to a new folder; `made_from` is kept in its manifest."""
        with new_folder(folder) as draft:
            write_tensors(draft / VECTORS, {"types": self.types_KD, "objects": self.objects_OD})
            write_names(draft / TYPES, self.types)
            write_names(draft / OBJECTS, self.objects)
            write_manifest(
                draft,
                format=FORMAT,
                version=VERSION,
                **made_from,
                types=len(self.types),
                known_types=self.known_types,
                objects=len(self.objects),
                width=self.width,
                files=fingerprints_in(draft),
            )

    @classmethod
    def open(cls, folder: Path) -> "RelationTable":
        """Read what `save` wrote."""
        manifest = read_manifest(
            folder, format=FORMAT, version=VERSION, hint="make it again with 'lrlm train'"
        )
        check_files(folder, manifest)
        width = read_number(folder, manifest, "width", at_most=WIDEST)
        types, known_types, objects = (
            read_number(folder, manifest, name, at_least=0)
            for name in ("types", "known_types", "objects")
        )
        if known_types > types:
            raise FormatError(f"{folder / MANIFEST}: 'known_types' must be at most 'types'")
        tensors = read_tensors(
            folder / VECTORS, {"types": (known_types, width), "objects": (objects, width)}
        )
        return cls(
            read_names(folder / TYPES, count=types),
            tensors["types"],
            read_names(folder / OBJECTS, count=objects),
            tensors["objects"],
        )


def _stack(vectors: Iterable[Tensor], width: int) -> Tensor:
    rows = list(vectors)
    return torch.stack(rows) if rows else torch.empty(0, width)
