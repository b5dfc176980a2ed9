"""How many vertices are within some hops of a vertex: searches from many at once.

References
----------
.. [1] Then et al., "The more the merrier: efficient multi-source graph traversal", PVLDB 8, 2014.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.some_sources import check_sources, sources_of
from dask_graphgpu.algorithms.traversal import each_hops
from dask_graphgpu.arguments import check_whole
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.partition.device.elements import row_sums


@dataclass(frozen=True)
class KhopCount(Algorithm):
    """How many other vertices are within k hops of a vertex.

    Parameters
    ----------
    k : int
        Edges that a path from the vertex has at most, along their direction.
    sources : int or list of ids, optional
        Only these vertices, or so many drawn at random; default: all.
    seed : int
        Number that the drawing of sources starts from; the same one draws the same sources.

    Returns
    -------
    frame
        ``vertex``, ``count`` (int64), which is exact and does not count the vertex itself. One row a vertex, or a
        source, in ascending order of ids.

    Raises
    ------
    InvalidArgument
        ``k`` is below 1, a source is named twice, or there are fewer vertices than sources.
    UnknownVertex
        A source is not a vertex.

    Notes
    -----
    Weights are not read. Cost: one search for every 64 sources, which goes along the edges near all of them at once,
    or one for each source where the engine has no such search. All vertices of a large graph take as long as V / 64
    runs of ``bfs``: draw some of them there. Memory: 64 distances a vertex.
    """

    k: int
    _: KW_ONLY
    sources: Any = None
    seed: int = 0

    rule = "one"

    def __post_init__(self) -> None:
        check_whole("k", self.k, 1)
        check_sources(self, self.seed)

    def engine_functions(self) -> tuple[str, ...]:
        return ("bfs",)

    def num_rows(self, num_vertices: int, schema: EdgeSchema) -> int | None:
        return num_vertices if self.sources is None else None

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {"vertex": ColumnType("vertex"), "count": ColumnType("int64")}

    def run(self, run: Run) -> Table:
        sources = np.asarray(sources_of(run, self.sources, int(self.seed)), like=run.rows)
        count = np.full_like(run.rows, -1, np.int64, shape=run.num_vertices)
        own = slice(run.view.num_owned)
        first = 0
        for _, reached in each_hops(run, sources, int(self.k), None):
            some = sources[first : first + len(reached)].astype(np.intp)
            found = row_sums(reached[:, own])
            if run.ranks is not None:
                found = np.sum(run.ranks.all_gather(np.asarray(found)), axis=0)
            count[some] = found - 1
            first += len(reached)
        count = count.take(run.vertices)
        asked = np.flatnonzero(count >= 0)
        run.order(run.vertices[asked])
        return {"vertex": Values(run.vertices[asked]), "count": Values(count[asked])}
