"""What lowering asks of a graph: types and bounds, no arrays. So what is lowered once serves other runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from dask_graphgpu.engine.state import Binding
from dask_graphgpu.functions import parameters, plain
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import VertexProgram


@dataclass(frozen=True)
class Outline:
    """Stands for a `View` in a `Binding` that is lowered.

    Attributes
    ----------
    graph_vertices : int
    max_weight : number, or None
    numbered : dtype of the numbers of vertices, or None
    id_dtype, neighbours : dtype
    columns : tuple of (name, dtype)
        Edge columns that a program may ask for.
    """

    graph_vertices: int
    max_weight: Any
    numbered: np.dtype[Any] | None
    id_dtype: np.dtype[Any]
    neighbours: np.dtype[Any]
    columns: tuple[tuple[str, np.dtype[Any]], ...]

    # Rows of either direction are the same here.
    directed = False
    has_into = True

    @cached_property
    def out(self) -> Adjacency:
        """No edges, of these types."""
        columns = {name: np.empty(0, dtype) for name, dtype in self.columns}
        return Adjacency(np.zeros(1, np.int64), np.empty(0, self.neighbours), columns)

    @property
    def into(self) -> Adjacency:
        return self.out

    @property
    def numbers(self) -> np.ndarray | None:
        """No numbers, of their type."""
        return None if self.numbered is None else np.empty(0, self.numbered)


def outline(binding: Binding) -> Outline:
    """Of the graph that a program is bound to; what edge columns hold is checked."""
    view, edges = binding.view, binding.edges
    found = columns(binding)
    if edges.weight is not None:
        found["weight"] = edges.weight.dtype
    return Outline(
        view.graph_vertices,
        None if binding.program.bound is None else view.max_weight,
        None if view.numbers is None else view.numbers.dtype,
        view.id_dtype,
        edges.neighbours.dtype,
        tuple(sorted(found.items())),
    )


def bound(program: VertexProgram, constants: Mapping[str, Any], drawn: Outline) -> Binding:
    """A program on the outline of a graph."""
    return Binding(program, cast(View, drawn), constants)


def columns(binding: Binding) -> dict[str, np.dtype[Any]]:
    """The edge columns that compute reads, with their dtypes."""
    named = parameters(plain(binding.program.compute, "compute"), "compute")
    found = {}
    if "weight" in named and binding.edges.weight is not None:
        found["weight"] = binding.edges.weight.dtype
    for name in named:
        if name.startswith("edge_"):
            column = name.removeprefix("edge_")
            found[column] = binding.edge_column(binding.edges, column).dtype
    return found


def reads_weighted_degree(program: VertexProgram) -> bool:
    """Whether any of a program's functions names the sum of the weights of a vertex's edges."""
    return any(
        name.endswith("weighted_degree")
        for role, function in program.functions().items()
        for name in parameters(plain(function, role), role)
    )
