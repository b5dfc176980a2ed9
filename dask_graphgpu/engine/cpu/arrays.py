"""The arrays of a run on the CPU, by the names that generated kernels have for them."""

from __future__ import annotations

from functools import cached_property
from types import FunctionType
from typing import Any

import numpy as np

from dask_graphgpu.engine.loop import overflow
from dask_graphgpu.engine.lower import Lowered
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.engine.values import given_columns, initial
from dask_graphgpu.engine.writer import flat
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.layered import Layered

Edges = Adjacency | Layered


class Arrays:
    """State, degrees and scalars of one run, and the kernels over them.

    Parameters
    ----------
    sources : int64 array, optional
        Dense ids, on several ranks local ids, of the vertices that are active first; None: all.

    Attributes
    ----------
    n, owned : int
        Length of arrays, and how many of the vertices get values here: the first ones.
    state, new : dict of str to array
        Fields before and after the superstep.
    reached, active : uint8 arrays of shape (num_vertices,)
        Who has a value, who sends.
    """

    def __init__(self, binding: Binding, lowered: Lowered, sources: np.ndarray | None) -> None:
        self.binding, self.lowered = binding, lowered
        self.n, self.owned = binding.view.num_vertices, binding.view.num_owned
        self.superstep = 0
        self.aggregates: dict[str, Any] = {}
        self.new: dict[str, np.ndarray] = {}
        self._start(sources)

    def _start(self, sources: np.ndarray | None) -> None:
        """Fields and flags at the start."""
        binding = self.binding
        self.state = given_columns(binding)  # which the others' functions may read
        self.state = initial(binding, self.state, self._evaluate, sources)
        self.active = np.full(self.n, sources is None, np.uint8)
        if sources is not None:
            self.active[sources] = 1
        self.reached = self.active.copy() if binding.program.has_reached else np.empty(0, np.uint8)

    def _evaluate(self, role: str, function: FunctionType, dtype: np.dtype[Any]) -> np.ndarray:
        out = np.empty(self.n, dtype)
        if any(self.run(flat(role), even_blocks(self.n), self.binding.edges, out)):
            raise overflow(self.binding.program, role)
        return out

    @cached_property
    def vertex_blocks(self) -> np.ndarray:
        """Blocks of the vertices that get values.

        The bounds do not depend on the number of threads: sums over blocks come out the same.
        """
        return np.append(np.arange(0, self.owned, 1 << 16, dtype=np.int64), self.owned)

    # -- kernels ---------------------------------------------------------------------------------

    def run(self, name: str, bounds: np.ndarray, edges: Edges, *fixed: Any) -> list[Any]:
        """Run a generated kernel over blocks; ``edges`` is where it reads columns of edges."""
        return for_blocks(self.lowered.kernel(name), bounds, *fixed, *self.named(name, edges))

    def named(self, kernel: str, edges: Edges) -> list[Any]:
        """What a kernel takes after its fixed arguments."""
        return [self._value(name, edges) for name in self.lowered.arguments[kernel]]

    def _value(self, name: str, edges: Edges) -> Any:
        if name in ("degree", "weighted_degree"):
            return getattr(self, name)
        if name in ("superstep", "num_vertices"):
            return self.superstep if name == "superstep" else self.binding.view.graph_vertices
        if name == "numbers":
            return self.binding.view.numbers
        kind, _, rest = name.partition("_")
        if kind == "column":
            return self.binding.edge_column(edges, rest)
        held: dict[str, Any] = {
            "state": self.state,
            "new": self.new,
            "constant": self.binding.constants,
            "aggregate": self.aggregates,
        }[kind]
        return held[rest]

    # -- degrees ---------------------------------------------------------------------------------

    @cached_property
    def degree(self) -> np.ndarray:
        """Edges that each vertex sends over, int64."""
        return self.binding.view.degrees(self.binding.direction)

    @cached_property
    def weighted_degree(self) -> np.ndarray:
        """Sum of the weights of these edges, int64 or float64."""
        return self.binding.view.weighted_degrees(self.binding.direction)

    # -- what kernels give back ------------------------------------------------------------------

    def state_bytes(self) -> int:
        """Bytes of the changing fields of a vertex."""
        return sum(self.binding.dtypes[name].itemsize for name in self.binding.program.changing)

    def edge_bytes(self, kernel: str, edges: Edges, per_vertex: int) -> int:
        """Modelled bytes an edge: the neighbour, the columns that the kernel reads, its value."""
        columns = [name for name in self.lowered.arguments[kernel] if name.startswith("column_")]
        read = sum(edges.columns[name.removeprefix("column_")].dtype.itemsize for name in columns)
        return edges.neighbours.dtype.itemsize + read + per_vertex
