"""One shortest path, edge by edge: the predecessors of a search followed from the target to the source.

References
----------
.. [1] Dijkstra, "A note on two problems in connexion with graphs", Numerische Mathematik 1959.
.. [2] Pohl, "Bi-directional search", Machine Intelligence 6, 1971.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.algorithm import Resumable, as_plain_ids
from dask_graphgpu.algorithms.edge_table import edge_columns
from dask_graphgpu.algorithms.path_lengths import PathLengths
from dask_graphgpu.algorithms.run import Run, at
from dask_graphgpu.algorithms.traversal import hops
from dask_graphgpu.engine.known import DISTANCES
from dask_graphgpu.errors import NoPath
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.partition import rowwise
from dask_graphgpu.partition.chunk import to_host
from dask_graphgpu.partition.device.masks import any_true


@dataclass(frozen=True)
class ShortestPath(PathLengths, Resumable):
    """The edges of a shortest path from a source to a target.

    Parameters
    ----------
    source : id
        The vertex where the path starts.
    target : id
        The vertex where it ends.
    weighted : bool, optional
        A path's length is the sum of its weights, else the number of its edges. Default: by weights
        where the graph has some.

    Returns
    -------
    frame
        The edges, each from where the path comes to where it goes, under the edge frame's own names
        of the id columns; the weight, where paths are weighted; and ``distance`` (int64 or
        float64), the length of the path up to the end of the edge. No row where source and target
        are the same.

    Raises
    ------
    NoPath
        The target is not reached from the source.
    UnknownVertex
        The source or the target is not a vertex.
    InvalidArgument
        ``weighted=True`` and the graph has no weights.
    IntegerOverflow
        A distance does not fit int64, or the sum of a final one and the weight of an edge does not.

    Notes
    -----
    Of several shortest paths the one that the predecessors of ``bfs`` and ``sssp`` make: at every
    step back the vertex of highest degree, then of smallest id. Of repeated edges the lightest
    counts. Cost: on the CPU a search from both ends, which goes with what is near them (Pohl), once the
    graph has its in-edges: an undirected one has, others from the second path on. Elsewhere, and for
    the first, a search from the source that ends at the target, and a look at every edge for the
    predecessors.
    """

    source: Any
    target: Any

    name = "shortest_path"
    row = "edge"

    def __post_init__(self) -> None:
        as_plain_ids(self, "source", "target", several=False)

    def engine_functions(self) -> tuple[str, ...]:
        return ("bfs", "run", "predecessors", "path")

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {**edge_columns(self.weight_kind(schema)), "distance": self.length_column(schema)}

    def run(self, run: Run) -> Table:
        source, target = (int(run.ids.find([each])[0]) for each in (self.source, self.target))
        weighted = self.reads_weight(run.schema)
        found = None
        if run.keeper is None:
            found = run.engine.two_sided_path(
                run.view, source, target, hops=not weighted, report=run.report
            )
        if found is None:
            found = self._from_source(run, source, target, weighted)
        came, went, distance, weight = found
        if run.ranks is None and source != target and len(went) == 0:
            raise self._no_path()
        table = {"edge source": Values(came), "edge destination": Values(went)}
        if weight is not None:
            table["edge weight"] = Values(weight)
        return table | {"distance": Values(distance)}

    def _from_source(
        self, run: Run, source: int, target: int, weighted: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
        """Both ends of the edges, distances and weights; a rank's part of them."""
        targets = np.array([target])
        if weighted:
            options = run.options(sources=np.array([source]), targets=targets)
            state = run.engine.run(DISTANCES, run.working, options)
            assert state.reached is not None
            distance, reached = state["distance"], state.reached
        else:
            distance, reached = hops(run, source, None, targets, run.working)
        here = _some(run, reached, run.rows_of(np.array([target]))[0])
        if not (any_true(here) if run.ranks is None else run.ranks.max(any_true(here))):
            raise self._no_path()
        before = run.engine.predecessors(
            run.working, source, distance, reached, hops=not weighted, report=run.report
        )
        ends, left, length = run.engine.path(run.view, source, target, before)
        came = _some(run, before, ends)
        run.order(length - 1 - left)
        weight = _weights(run, came, ends) if weighted else None
        return came, run.dense(ends), _some(run, distance, ends), weight

    def _no_path(self) -> NoPath:
        return NoPath(f"no path leads from {self.source!r} to {self.target!r}")


def _some(run: Run, values: Any, places: Any) -> Any:
    """Values at some places; on ranks in host memory, as they are few."""
    found = at(values, places)
    return found if run.ranks is None else to_host(found)


def _weights(run: Run, came: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Least weights of the edges from ``came``, dense ids, to ``ends``, where these are in arrays."""
    if run.ranks is None:  # it may not have made its in-edges
        found: np.ndarray = run.view.weights_between(came, ends)
        return found
    rows = run.view.into  # the rank with the end has only these
    places = run.view.places(came)[0].astype(rows.neighbours.dtype)
    return rowwise.least_weights(rows, ends, places)
