"""One shortest path, edge by edge: the predecessors of a search followed from the target to the source.

References
----------
.. [1] Dijkstra, "A note on two problems in connexion with graphs", Numerische Mathematik 1959.
"""

from __future__ import annotations

import itertools
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.algorithm import Algorithm, as_python, require_weight
from dask_graphgpu.algorithms.edge_table import edge_columns
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.sssp import PROGRAM
from dask_graphgpu.algorithms.traversal import hops
from dask_graphgpu.errors import InvalidArgument, NoPath
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class ShortestPath(Algorithm):
    """The edges of a shortest path from a source to a target, in the order of the path.

    Parameters
    ----------
    source : id
    target : id
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
        A distance does not fit int64.

    Notes
    -----
    Of several shortest paths the one that the predecessors of ``bfs`` and ``sssp`` make: at every
    step back the vertex of highest degree, then of smallest id. Of repeated edges the lightest
    counts. Cost: a search that ends at the target, and a look at every edge for the predecessors.
    """

    source: Any
    target: Any
    _: KW_ONLY
    weighted: bool | None = None

    rule = "min"
    runs_on = ("cpu",)

    def __post_init__(self) -> None:
        as_python(self, "source", "target")
        for name in ("source", "target"):
            value = getattr(self, name)
            if value is None or isinstance(value, list):
                raise InvalidArgument(f"{name}={value!r}; give one vertex id")

    def engine_functions(self) -> tuple[str, ...]:
        return ("bfs", "run", "predecessors")

    def reads_weight(self, schema: EdgeSchema) -> bool:
        if self.weighted:
            require_weight(schema, "shortest_path with weighted=True", "; or weighted=False")
        return schema.weight is not None and self.weighted is not False

    def columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        if not self.reads_weight(schema):
            return {**edge_columns(), "distance": ColumnType("int64")}
        kind = ColumnType(schema.weight_kind or "int64")
        return {**edge_columns(), str(schema.weight): kind, "distance": kind}

    def run(self, run: Run) -> Table:
        source, target = (int(run.ids.find([each])[0]) for each in (self.source, self.target))
        weighted, targets = self.reads_weight(run.schema), np.array([target])
        if weighted:
            state = run.engine.run(
                PROGRAM, run.view, sources=np.array([source]), targets=targets, **run.noting
            )
            distance, reached = state["distance"], state.reached
        else:
            distance, reached = hops(run, source, None, targets)
        if not reached[target]:
            raise NoPath(f"no path leads from {self.source!r} to {self.target!r}")
        before = run.engine.predecessors(
            run.view, source, distance, reached, hops=not weighted, report=run.report
        )
        path = [target]
        while path[-1] != source:
            path.append(int(before[path[-1]]))
        stops = np.array(path[::-1], run.view.out.neighbours.dtype)
        table = {"edge source": Values(stops[:-1]), "edge destination": Values(stops[1:])}
        if weighted:
            table[str(run.schema.weight)] = Values(_weights(run, path[::-1]))
        return table | {"distance": Values(distance[stops[1:]])}


def _weights(run: Run, path: list[int]) -> np.ndarray:
    """Weights of the edges of a path."""
    rows = run.view.out
    places = []
    for u, v in itertools.pairwise(path):
        start, stop = rows.offsets[u], rows.offsets[u + 1]
        places.append(start + np.searchsorted(rows.neighbours[start:stop], v))  # rows ascend
    weights: np.ndarray = rows.columns["weight"][np.array(places, np.int64)]
    return weights
