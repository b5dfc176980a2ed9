"""Single-source shortest paths over weights that are not negative.

In near-far order: vertices whose distance is below a moving limit are relaxed until they are
quiet, then the limit rises; a weaker order than Dijkstra's heap, with far fewer rounds than
Bellman and Ford's.

References
----------
.. [1] Meyer, Sanders, "Delta-stepping: a parallelizable shortest path algorithm", J. Algorithms 2003.
.. [2] Davidson et al., "Work-efficient parallel GPU methods for single-source shortest paths", IPDPS 2014.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dask_graphgpu.algorithms.algorithm import Resumable, require_weight
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.traversal import ShortestPaths, each_length, length
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class SSSP(ShortestPaths, Resumable):
    """Length of a shortest path from a source to every vertex.

    Parameters
    ----------
    source : id or list of ids
        With a list the result has a ``source`` column and one row a source and vertex.
    predecessor : bool
        Add a column with the vertex before this one on a shortest path: of those possible the one
        of highest degree, then of smallest id; null at the source and where unreached. They form a
        tree, also where weights are zero.
    target : id or list of ids, optional
        Stop once the distances of these are final; the result has their rows only.
    cutoff : number, optional
        Vertices further away than this are left unreached.

    Returns
    -------
    frame
        ``vertex``, ``distance`` (Int64 over integer weights, exact; Float64 over float weights;
        null: unreached), ``predecessor`` where asked for. One row a vertex in ascending order of
        ids.

    Raises
    ------
    InvalidArgument
        The graph has no weights.
    UnknownVertex
        A source or target is not a vertex.
    IntegerOverflow
        A distance does not fit int64, or the sum of a final one and the weight of an edge does not.

    Notes
    -----
    Of repeated edges the lightest counts. Cost: O(V + E) and what is relaxed again before its
    limit has passed; tens of percent of E on most graphs. Several sources are worked on side by
    side: a thread each on the CPU, and on the GPU, where vertices have few edges or the graph has few,
    as one run over a value a vertex and source (one rank).
    """

    rule = "min"
    unsorted = True

    def reads_weight(self, schema: EdgeSchema) -> bool:
        require_weight(schema, "sssp", "; for the number of edges use bfs")
        return True

    def dtype_of_values(self, schema: EdgeSchema) -> str:
        return schema.weight_kind or "int64"

    def values(
        self, run: Run, source: int, targets: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        return length(run, source, self.cutoff, targets, view=run.staying)

    def each_values(
        self, run: Run, sources: np.ndarray, targets: np.ndarray | None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        return each_length(run, sources, self.cutoff, targets, view=run.staying)
