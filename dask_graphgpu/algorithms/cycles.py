"""Simple cycles of bounded length, of edges in any order or in that of a time column.

References
----------
.. [1] Johnson, "Finding all the elementary circuits of a directed graph", SIAM Journal on Computing 1975.
.. [2] Gupta, Suzumura, "Finding all bounded-length simple cycles in a directed graph", arXiv 2105.10094, 2021.
.. [3] Kumar, Calders, "2SCENT: an efficient algorithm for enumerating all simple temporal cycles", VLDB 2018.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.algorithms.run import Run, at
from dask_graphgpu.arguments import check_whole, refuse
from dask_graphgpu.engine.cycle_search import CycleRule
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema, value_type
from dask_graphgpu.io.times import as_length, is_time
from dask_graphgpu.partition.chunk import to_host
from dask_graphgpu.partition.distinct import distinct


@dataclass(frozen=True)
class Cycles(Algorithm):
    """Simple cycles of at most so many edges.

    A simple cycle passes no vertex twice. A self-loop is one of length 1. Of an undirected graph the others have a
    length of at least 3, and each is listed in one of its two directions.

    Without ``time`` each cycle begins at its smallest vertex, and repeated rows are one edge. With it a cycle is one
    whose edges follow each other in strictly growing time, and begins with its earliest edge; repeated rows are edges
    of their own, so a row more may be a cycle more. The graph is then to keep repeated rows, as it does unless it was
    given another ``duplicates=``, and to be directed.

    Parameters
    ----------
    max_length : int
        Edges of a cycle, at most.
    time : str, optional
        An edge column of numbers or times. Default: edges may come in any order.
    within : number, or length of time as of `pandas.Timedelta`, optional
        How much later than the first edge the last one is, at most; above 0. Default: any time later.
    limit : int
        Cycles that may be found. They are counted before any is listed.

    Returns
    -------
    frame
        ``cycle`` (int64, from 0 on), ``position`` (int32, from 0 on), the vertex under the name(s) of ids and, with
        ``time``, ``time`` of the edge that leaves it: in the type of the column. One row for each
        vertex of a cycle, ordered by cycle and position. Cycles are ordered by their first vertex, the time of the edge
        that leaves it, their second vertex and so on; one that is the beginning of others comes before them.

    Raises
    ------
    InvalidArgument
        There are more than ``limit`` cycles; ``within`` without ``time``; the column is none of numbers or times, or
        the graph with ``time`` is undirected.

    Notes
    -----
    Only edges within strongly connected components of two vertices or more are looked at; of an undirected graph, those
    within the 2-core. They are searched depth-first from each edge that a cycle may begin with, along larger vertices
    or later edges. The last two edges of a path are found together, by way of the shorter of two rows: that of its last
    vertex or that of edges back to the first. On the CPU, vertices that two edges do not lead back from are passed over
    where many are come to. This is done twice, to count and to list.

    Cost: O(E d^(max_length - 3)) rows that are searched by bisection, where d edges of a vertex are in question: those
    within ``within``. Memory: 100 bytes for each edge that is looked at while rows are sorted, a third of that then; 4
    bytes for each position of each cycle, with ``time`` 8, four times while cycles are sorted; on the CPU 8 bytes a
    vertex and thread. On several ranks each has all these edges and searches from a part of them.
    """

    max_length: int
    _: KW_ONLY
    time: str | None = None
    within: Any | float = None
    limit: int = 10_000_000

    row = "step"

    def __post_init__(self) -> None:
        check_whole("max_length", self.max_length, 1)
        check_whole("limit", self.limit, 0)
        if self.time is not None and not isinstance(self.time, str):
            refuse("time", self.time, "is the name of an edge column")
        if self.within is not None and self.time is None:
            raise InvalidArgument(
                f"within={self.within!r} needs times of edges: name their column with time=..."
            )

    @property
    def rule(self) -> str:  # type: ignore[override]
        return "one" if self.time is None else "keep"

    def engine_functions(self) -> tuple[str, ...]:
        return ("strong_components", "k_core", "edges_among", "cycles")

    def edge_columns(self) -> Sequence[str]:
        return () if self.time is None else (self.time,)

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        columns = {
            "cycle": ColumnType("int64"),
            "position": ColumnType("int32"),
            "vertex": ColumnType("vertex"),
        }
        if self.time is not None:
            kind = self._kind(schema)
            self._length(kind)
            columns["time"] = _column(kind)
        return columns

    def num_rows(self, num_vertices: int, schema: EdgeSchema) -> int | None:
        return None

    def _kind(self, schema: EdgeSchema) -> Any:
        """The dtype of the time column."""
        if not schema.directed:
            raise InvalidArgument(
                "cycles with time= are of directed graphs, and of this one rows in opposite directions are one edge, "
                "whatever their times: leave out directed=False, or give a frame with each row in both directions"
            )
        dtypes = dict(schema.dtypes)
        if self.time not in dtypes:
            raise InvalidArgument(f"time={self.time!r} is no edge column; there are {[*dtypes]}")
        kind = dtypes[self.time]
        if not is_time(kind) and np.dtype(_column(kind).dtype).kind not in "iuf":
            raise InvalidArgument(
                f"time={self.time!r} is a column of {kind}: numbers and times have an order; convert it first"
            )
        return kind

    def _length(self, kind: Any) -> int | float | None:
        return None if self.within is None else as_length("within", self.within, kind)

    def run(self, run: Run) -> Table:
        view, within = run.view, None
        if self.time is not None:
            kind = self._kind(run.schema)
            within = self._length(kind)
            view = view.with_edge_column("weight", self.time)
        rule = CycleRule(
            int(self.max_length), int(self.limit), self.time is not None, within, run.view.directed
        )
        source, destination, times = run.engine.edges_among(view, self._inside(run))
        rank = run.ids.rank if run.ranks is None else None
        ends = [each if rank is None else at(rank, each) for each in (source, destination)]
        cycle, position, vertex, times = run.engine.cycles(
            view, (*ends, times), rule, report=run.report
        )
        run.order(cycle, position)
        dense = run.ids.position if run.ranks is None else None
        found = {
            "cycle": Values(cycle),
            "position": Values(position),
            "vertex": Values(vertex if dense is None else at(dense, vertex)),
        }
        if times is not None:
            found["time"] = Values(times)
        return found

    def _inside(self, run: Run) -> Any:
        """Whether each vertex may be on a cycle; right for copies of others' vertices, too."""
        view = run.view
        if view.directed:
            label = run.engine.strong_components(view, report=run.report)
            inside = _not_alone(run, to_host(label))
        else:
            inside = to_host(run.engine.k_core(view, 2, report=run.report)).copy()
        inside |= to_host(view.loops()) > 0
        inside = view.at_ghosts(inside)
        return np.asarray(inside, like=run.rows)


def _column(kind: Any) -> ColumnType:
    """The column of the result for times of a column of this dtype."""
    if is_time(kind):
        return ColumnType("int64", time=kind)
    found = value_type(kind)
    return ColumnType("object" if found is None else str(np.dtype(found.to_pandas_dtype())))


def _not_alone(run: Run, label: np.ndarray) -> np.ndarray:
    """Whether the component of each vertex, of a strongly connected one that it is named by, has others."""
    own = label[: run.view.num_owned]
    here = np.arange(len(label)) if run.ranks is None else run.view.numbers
    others = distinct(own[own != here[: len(own)]])
    if run.ranks is not None:
        others = distinct(np.concatenate(run.ranks.all_gather(others)))
    return np.isin(label, others)
