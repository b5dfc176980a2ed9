"""What a peer is: a library that reads the edges, builds its own graph, and runs an algorithm."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from graphs import BenchmarkGraph

WEIGHTED = ("sssp", "sssp, 16 sources", "shortest path", "sswp", "spanning forest")


class Peer(ABC):
    """One library on one graph; graphs in the library's form are built when first asked for.

    Attributes
    ----------
    calls : dict of str to str
        Algorithm to the exact call, of what the library has.
    undirected_only : tuple of str
        Those that mean something else in a directed graph.
    """

    name: ClassVar[str]
    calls: ClassVar[dict[str, str]]
    undirected_only: ClassVar[tuple[str, ...]] = ()

    def __init__(self, graph: BenchmarkGraph) -> None:
        self.directed, self._graph = graph.directed, graph

    def does(self, algorithm: str) -> bool:
        """Whether it has the algorithm, for this graph."""
        return algorithm in self.calls and not (self.directed and algorithm in self.undirected_only)

    @abstractmethod
    def kernel(self, algorithm: str, source: Any) -> Callable[[], Any]:
        """The call alone, on a graph that is built here, before it; edges are given as two arrays."""

    @classmethod
    def end_to_end(
        cls, graph: BenchmarkGraph, algorithm: str, source: Any, out: Path
    ) -> Callable[[], None]:
        """Reading, building, the call and writing."""
        return lambda: _write(out, cls(graph).kernel(algorithm, source)())

    @cached_property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Both ends of the edges as in the file."""
        src, dst = self._graph.arrays("src", "dst")
        return src, dst

    @cached_property
    def weighted_ends(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Both ends and the weight, all by one reading of the file."""
        src, dst, weight = self._graph.arrays("src", "dst", "weight")
        return src, dst, weight

    def both_ways(self, src: np.ndarray, dst: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The edges, in both directions where the graph is undirected."""
        if self.directed:
            return src, dst
        return np.concatenate([src, dst]), np.concatenate([dst, src])

    def both_weights(self, weight: np.ndarray) -> np.ndarray:
        """Weights of the edges of `both_ways`."""
        return weight if self.directed else np.concatenate([weight, weight])


def num_vertices(src: np.ndarray, dst: np.ndarray) -> int:
    """Ids are taken for row numbers."""
    return int(max(src.max(), dst.max())) + 1


def _write(out: Path, values: Any) -> None:
    if isinstance(values, tuple):
        pq.write_table(pa.table(dict(zip(("src", "dst"), values, strict=True))), out)
    elif values.ndim == 1:
        pq.write_table(pa.table({"vertex": np.arange(len(values)), "value": values}), out)
    else:
        each, vertex = (index.ravel() for index in np.indices(values.shape, np.int32))
        columns = {"source": each, "vertex": vertex, "value": values.ravel()}
        pq.write_table(pa.table(columns), out)


def edges_among(
    ends: tuple[np.ndarray, np.ndarray], inside: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Edges with both ends in a set of vertices."""
    src, dst = ends
    kept = inside[src] & inside[dst]
    return src[kept], dst[kept]
