"""Longest paths of a graph without cycles, and the longest of all.

d(v) = max(0, max over u -> v of d(u) + w(u, v)), a level a superstep, so that every edge is gone along once.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.algorithm import Resumable, reads_optional_weight
from dask_graphgpu.algorithms.dag import check_directed, levels
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.fields import Field
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.program import VertexProgram

# Those of a level send when all paths to them are known; what others send at first is of shorter paths.
DISTANCES = VertexProgram(
    state={"distance": Field("weight", initial=0), "level": Field("int64", vertices="level")},
    compute=lambda source_distance, weight: source_distance + weight,
    combine="max",
    apply=lambda distance, message: max(distance, message),
    active=lambda level, superstep: level == superstep,
)

PREDECESSORS = VertexProgram(
    state={
        "before": Field("int64", initial=-1),
        "distance": Field("weight", vertices="distance"),
    },
    compute=lambda source_id, source_distance, destination_distance, weight, num_vertices: (
        source_id if source_distance + weight == destination_distance else num_vertices
    ),
    combine="min",
    apply=lambda message: message,
)

# From the end of a path on, each finds the one before it.
BACKWARDS = VertexProgram(
    state={
        "step": Field("int64", initial=-1, at_source=0),
        "before": Field("int64", vertices="before"),
    },
    compute=lambda source_before, destination_id: 1 if destination_id == source_before else 0,
    combine="max",
    apply=lambda step, message, superstep: superstep if message > 0 and step < 0 else step,
    active=lambda step, new_step: new_step != step,
    edges="in",
)


@dataclass(frozen=True)
class LongestPath(Resumable):
    """Length of the longest path to every vertex of a DAG.

    Of a directed graph without cycles, as plans and dependencies are: the path that decides when all is done.

    Parameters
    ----------
    weighted : bool, optional
        Add up the weights of edges. False: count edges. Default: when the graph has weights.
    path : bool
        Only the vertices on the longest path of all, in its order: of several the one to the smallest id.

    Returns
    -------
    frame
        ``vertex``; ``distance`` (int64, float64 over float weights), the length of the longest path that ends
        there, wherever it begins; ``predecessor``, the vertex before it on that path, null where it begins.
        One row a vertex in ascending order of ids, or with ``path`` one row a vertex of the path.

    Raises
    ------
    InvalidEdges
        The graph has a cycle; the message names its vertices.
    InvalidArgument
        The graph is undirected, or has no weights that are asked for.
    IntegerOverflow
        A length does not fit int64.

    Notes
    -----
    A path of no edges has the length 0, so that no distance is below. Of several predecessors the one of
    smallest id is given, of repeated edges the heaviest counts. Cost: O(V + E), twice as many supersteps as
    there are levels (once without weights), which are exchanges on ranks, and as many as the path has edges.
    """

    _: KW_ONLY
    weighted: bool | None = None
    path: bool = False

    rule = "max"
    longest_first = True

    def reads_weight(self, schema: EdgeSchema) -> bool:
        return reads_optional_weight(schema, self.weighted, "longest_path(weighted=True)")

    def num_rows(self, num_vertices: int, schema: EdgeSchema) -> int | None:
        return None if self.path else num_vertices

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        check_directed("longest_path", schema)
        kind = (schema.weight_kind if self.reads_weight(schema) else None) or "int64"
        return {
            "vertex": ColumnType("vertex"),
            "distance": ColumnType(kind),
            "predecessor": ColumnType("vertex", nullable=True),
        }

    def run(self, run: Run) -> Table:
        distance = levels(run)
        if self.reads_weight(run.schema):
            view = run.view.with_columns({"level": distance})
            distance = run.engine.run(DISTANCES, view, run.options())["distance"]
        before = _predecessors(run, distance)
        rows = self._rows(run, distance, before)
        distance, before = run.own(distance)[rows], run.own(before)[rows]
        known = before >= 0
        # Places in the order of the user's ids are numbers; on one rank vertices have another name.
        places = np.where(known, before, 0)
        named = run.rows.take(places) if run.ranks is None else places
        return {
            "vertex": Values(run.vertices[rows]),
            "distance": Values(distance),
            "predecessor": Values(named, known),
        }

    def _rows(self, run: Run, distance: Any, before: Any) -> Any:
        """Which of the (own) vertices are in the result, in its order."""
        if not self.path or not run.num_vertices:
            return slice(None)
        most = run.most(distance)
        numbers = run.vertices if run.ranks is not None else np.arange(len(run.rows), like=run.rows)
        ends = numbers[run.own(distance) == most]
        first = int(ends[0]) if len(ends) else run.num_vertices
        first = first if run.ranks is None else int(run.ranks.min(first))
        end = first if run.ranks is not None else int(run.rows[first])
        view = run.by_place.with_columns({"before": before})
        state = run.engine.run(BACKWARDS, view, run.options(sources=np.array([end])))
        step = run.own(state["step"])
        length = int(run.most(state["step"])) + 1
        rows = np.flatnonzero(step >= 0)
        rows = rows[np.argsort(-step[rows])]
        run.order(length - 1 - step[rows])
        return rows


def _predecessors(run: Run, distance: Any) -> Any:
    """Place of the vertex before each on its longest path, in the order of the user's ids; -1: none."""
    once = run.options(max_supersteps=1, exact_supersteps=True)
    view = run.by_place.with_columns({"distance": distance})
    before = run.engine.run(PREDECESSORS, view, once)["before"]
    return np.where(distance > 0, before, -1)
