"""The nearest of some vertices for every vertex, such as the next hospitals of every place.

References
----------
.. [1] Erwig, "The graph Voronoi diagram with applications", Networks 36, 2000.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.path_lengths import PathLengths
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.start_vertices import as_start_vertices, named_vertices
from dask_graphgpu.arguments import as_limit, check_whole
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.partition.chunk import to_host
from dask_graphgpu.partition.distinct import distinct


@dataclass(frozen=True)
class Nearest(PathLengths):
    """The nearest of some targets for every vertex.

    Parameters
    ----------
    targets : id, list of ids or frame
        Vertices that are looked for, as warehouses or hospitals. Of a frame the id columns.
    k : int
        Targets of a vertex, at most.
    cutoff : number, optional
        Targets further away than this are left out.
    weighted : bool, optional
        A path's length is the sum of its weights, else the number of its edges. Default: by weights
        where the graph has some.

    Returns
    -------
    frame
        The vertex, ``rank`` (int64, 1 for the nearest), ``target`` and ``distance`` (int64, float64 over float
        weights), how far it is from the vertex to the target along the edges. One row for each vertex and target that
        is among its nearest, by vertex and rank; of targets as far as each other the smaller id comes first, and is
        kept. A target is its own nearest. A vertex that no path leads from to a target has no row.

    Raises
    ------
    InvalidArgument
        ``weighted=True`` and the graph has no weights.
    UnknownVertex
        A target is not a vertex.
    IntegerOverflow
        A distance does not fit int64, or the sum of a final one and the weight of an edge does not.

    Notes
    -----
    Of repeated edges the lightest counts. The parts of vertices with one nearest target are the graph's Voronoi cells.

    Cost: one search from all targets at once, however many there are, against the edges: O(k E log(k V)), on the CPU
    on one thread of each rank. On disk runs of pages are read as often as labels come to them. On a GPU a superstep
    for each edge of the longest path. Memory: 16 bytes for each vertex and rank, and as much for labels that wait.
    """

    targets: Any
    k: int = 1
    _: KW_ONLY
    cutoff: float | None = None

    name = "nearest"
    row = "pair"

    def __post_init__(self) -> None:
        as_start_vertices(self, "targets", optional=False)
        check_whole("k", self.k, 1)
        if self.cutoff is not None:
            object.__setattr__(self, "cutoff", as_limit("cutoff", self.cutoff))

    def engine_functions(self) -> tuple[str, ...]:
        return ("nearest",)

    def frame_columns(self, name: str) -> int:
        return 0

    def num_rows(self, num_vertices: int, schema: EdgeSchema) -> int | None:
        return None

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {
            "vertex": ColumnType("vertex"),
            "rank": ColumnType("int64"),
            "target": ColumnType("vertex"),
            "distance": self.length_column(schema),
        }

    def run(self, run: Run) -> Table:
        targets = distinct(named_vertices(run, "targets", self.targets))
        if run.ranks is None and run.ids.rank is not None:
            targets = targets[np.argsort(to_host(run.ids.rank)[targets])]
        k = min(int(self.k), len(targets))
        if not k:
            none = np.zeros(0, np.int64, like=run.rows)
            run.order(none)
            return dict.fromkeys(("vertex", "rank", "target", "distance"), Values(none))
        distance, target = run.engine.nearest(run.view, targets, k, self.cutoff, run.report)
        distance, target = (each.take(run.rows, axis=0) for each in (distance, target))
        rows, place = np.nonzero(target >= 0)
        run.order(run.vertices[rows], place)
        return {
            "vertex": Values(run.vertices[rows]),
            "rank": Values(place + 1),
            "target": Values(np.asarray(targets, like=run.rows)[target[rows, place]]),
            "distance": Values(distance[rows, place]),
        }
