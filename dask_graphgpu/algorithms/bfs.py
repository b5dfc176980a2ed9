"""Breadth-first search: the number of edges of a shortest path from a source.

Direction-optimizing: the frontier is pushed along out-edges while it is small; while it is large,
vertices not found yet look among their in-edges for one parent in it and stop at the first.

References
----------
.. [1] Beamer, Asanovic, Patterson, "Direction-optimizing breadth-first search", SC 2012.
.. [2] Pan et al., "Multi-GPU graph analytics", IPDPS 2017.
.. [3] Then et al., "The more the merrier: efficient multi-source graph traversal", PVLDB 2014.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.traversal import ShortestPaths, each_hops, hops, hops_of_rows
from dask_graphgpu.io.results import Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class BFS(ShortestPaths):
    """Fewest edges from a source to every vertex (BFS).

    Parameters
    ----------
    source : id or list of ids
        With a list the result has a ``source`` column and one row a source and vertex.
    predecessor : bool
        Add a column with the vertex before this one on a shortest path: of those possible the one
        of highest degree, then of smallest id; null at the source and where unreached.
    target : id or list of ids, optional
        Stop once these are found; the result has their rows only.
    cutoff : int, optional
        Vertices further away than this are left unreached.

    Returns
    -------
    frame
        ``vertex``, ``distance`` (Int64; null: unreached), ``predecessor`` where asked for. One row
        a vertex in ascending order of ids.

    Raises
    ------
    UnknownVertex
        A source or target is not a vertex.

    Notes
    -----
    Cost: at most one look at every edge, O(V + E); weights are not read. On the CPU up to 64 sources
    are searched from in one sweep, which on graphs of small diameter costs a few times what one
    does; where vertices have few edges, side by side, or on several ranks one after another.
    """

    rule = "one"
    hops = True
    unsorted = True

    def engine_functions(self) -> tuple[str, ...]:
        return ("bfs", *super().engine_functions()[1:])

    def dtype_of_values(self, schema: EdgeSchema) -> str:
        return "int64"

    def values(
        self, run: Run, source: int, targets: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        return hops(run, source, self.cutoff, targets, run.staying)

    def values_of_rows(self, run: Run, sources: np.ndarray) -> Values | None:
        return None if self.predecessor else hops_of_rows(run, sources, self.cutoff)

    def each_values(
        self, run: Run, sources: np.ndarray, targets: np.ndarray | None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        return each_hops(run, sources, self.cutoff, targets, run.staying)
