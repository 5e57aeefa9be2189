"""Vectors of relation types and of objects by name, in memory and on disk.

A relation's embedding is `[vector of its type; vector of its object]`. Types without a vector get
ids behind those that have one: a model learns vectors for them, one a type. Whatever has no id at
all (an object without a vector, a type that training did not see) is `UNSEEN` to the encoder.

Shapes: K types with a vector, O objects, D width.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from lrlm.artifacts import new_folder, read_manifest, write_manifest
from lrlm.checks import check_shape
from lrlm.errors import ShapeError
from lrlm.features.graph import Graph
from lrlm.features.names import read_names, write_names
from lrlm.features.tensors import read_tensors, write_tensors

FORMAT = "lrlm relation vectors"
VERSION = 1
VECTORS, TYPES, OBJECTS = "vectors.safetensors", "types.json", "objects.json"


@dataclass(frozen=True)
class RelationTable:
    """Names and vectors; the place of a name is its id."""

    types: tuple[str, ...]
    """The K types that have a vector, then those whose vectors a model has to learn."""
    types_KD: Tensor
    objects: tuple[str, ...]
    objects_OD: Tensor

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
        cls, graph: Graph, types: Mapping[str, Tensor], objects: Mapping[str, Tensor], width: int
    ) -> "RelationTable":
        """Lay out the vectors that a graph's names have, which may be none of them."""
        learned = sorted(graph.training_types - types.keys())
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
            )

    @classmethod
    def load(cls, folder: Path) -> "RelationTable":
        """Read what `save` wrote."""
        manifest = read_manifest(
            folder, format=FORMAT, version=VERSION, hint="make it again with 'lrlm train'"
        )
        width = manifest["width"]
        tensors = read_tensors(
            folder / VECTORS,
            {"types": (manifest["known_types"], width), "objects": (manifest["objects"], width)},
        )
        return cls(
            read_names(folder / TYPES, count=manifest["types"]),
            tensors["types"],
            read_names(folder / OBJECTS, count=manifest["objects"]),
            tensors["objects"],
        )


def _stack(vectors: Iterable[Tensor], width: int) -> Tensor:
    rows = list(vectors)
    return torch.stack(rows) if rows else torch.empty(0, width)
