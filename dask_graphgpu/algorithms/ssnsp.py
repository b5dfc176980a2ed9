"""Single-source number of shortest paths, by edges.

c(source) = 1, c(v) = sum of c(u) over edges u -> v with d(u) + 1 = d(v), d the number of edges of a
shortest path: the first half of Brandes' betweenness.

References
----------
.. [1] Brandes, "A faster algorithm for betweenness centrality", J. Mathematical Sociology 2001.
.. [2] Sabet, Zhao, Gupta, "Subway: minimizing data transfer during out-of-GPU-memory graph
   processing", EuroSys 2020.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass

import numpy as np

from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.traversal import Traversal, each_hops, hops
from dask_graphgpu.arguments import check_choice
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class SSNSP(Traversal):
    """Number of shortest paths from a source to every vertex.

    Paths of fewest edges are counted.

    Parameters
    ----------
    source : id or list of ids
        With a list the result has a ``source`` column and one row a source and vertex.
    target : id or list of ids, optional
        Stop once these are found; the result has their rows only.
    cutoff : int, optional
        Vertices further away than this are left unreached.
    dtype : {"int64", "float64"}
        Type of the result, which may grow exponentially with the distance. int64 is exact; float64 is
        exact up to 2**53, then rounded, and infinite beyond 1.8e308.

    Returns
    -------
    frame
        ``vertex``, ``distance`` (Int64, the number of edges; null: unreached), ``paths`` (of
        ``dtype``; 1 at the source, whose path is empty, 0 where unreached). One row a vertex in
        ascending order of ids.

    Raises
    ------
    UnknownVertex
        A source or target is not a vertex.
    IntegerOverflow
        A number of paths does not fit int64.

    Notes
    -----
    c(source) = 1, c(v) = sum of c(u) over edges u -> v with d(u) + 1 = d(v). Repeated edges count
    once (with ``duplicates="keep"`` each), weights are not read. Cost: a breadth-first search, and one
    more look at every edge of the reached vertices: O(V + E).
    """

    _: KW_ONLY
    dtype: str = "int64"

    rule = "one"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("dtype", self.dtype, ("int64", "float64"))

    def engine_functions(self) -> tuple[str, ...]:
        return ("bfs", "path_counts")

    def dtype_of_values(self, schema: EdgeSchema) -> str:
        return "int64"

    def values(
        self, run: Run, source: int, targets: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        return hops(run, source, self.cutoff, targets, run.staying)

    def each_values(
        self, run: Run, sources: np.ndarray, targets: np.ndarray | None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        return each_hops(run, sources, self.cutoff, targets, run.staying)

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {**super().result_columns(schema), "paths": ColumnType(self.dtype)}

    def more(
        self, run: Run, source: int, rows: np.ndarray, value: np.ndarray, valid: np.ndarray
    ) -> Table:
        view = run.view if isinstance(value, np.ndarray) else run.staying
        count = run.engine.path_counts(view, source, value, dtype=self.dtype, report=run.report)
        return {"paths": Values(run.own(count) if rows is run.rows else count[rows])}
