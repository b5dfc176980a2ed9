"""Core numbers by peeling: vertices of the least degree left go first.

References
----------
.. [1] Batagelj, Zaversnik, "An O(m) algorithm for cores decomposition of networks", 2003.
.. [2] Wen, Qin, Zhang, Lin, Yu, "I/O efficient core graph decomposition at web scale", ICDE 2016.
.. [3] Sariyüce, Gedik, Jacques-Silva, Wu, Çatalyürek, "Streaming algorithms for k-core decomposition", VLDB 2013.
.. [4] Hua, Shi, Yu, Jin, Yu, Cheng, Cai, Chen, "Faster parallel core maintenance algorithms in dynamic graphs", IEEE
   TPDS 2020.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.arguments import check_whole
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.frames import is_frame
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class CoreNumber(Algorithm):
    """Core number of every vertex: the largest k-core it is in.

    The k-core is the largest subgraph in which every vertex has at least k neighbours. Directions,
    repeated edges and self-loops mean nothing here.

    Parameters
    ----------
    start : frame, optional
        An earlier result of a saved graph that was updated, of all vertices that it had: a frame with the id column(s)
        and a column ``core_number``, or one other column of integers. Not a column of the vertices frame.
    since : int, optional
        The ``generation`` of the saved graph that ``start`` is of. What updates have changed since is taken in, rows
        that have come and rows that are gone.

    Returns
    -------
    frame
        ``vertex``, ``core_number`` (int64). One row a vertex in ascending order of ids.

    Raises
    ------
    InvalidArgument
        One of ``start`` and ``since`` is given without the other; the graph is not a saved one, has no such generation,
        or keeps no log of what came after it, as after `compact`. Of ``start``: a vertex that had edges is missing, or
        has two rows; an id was of no vertex then; a number is not an integer, is larger than the degree, 0
        where there were edges, or, where it was looked at, larger than the neighbours' numbers allow.

    Notes
    -----
    Cost: O(V + E) after both directions of every edge are in rows. On disk estimates come down to the core numbers
    (Wen et al.), and pages are read as often as that takes.

    With ``since`` the answer is that of the whole graph, made by one task on the host: the log is not put into the
    rows, and of these only those are read of vertices whose number may change (Sariyüce et al., Hua et al.). Numbers
    come down where rows are gone, then rise where rows have come, from the ends of these along vertices of the same
    number. Of a directed graph both directions are put together first, unless they are saved so: a pass over all
    edges. Where more rows have come or gone than a 512th of all, and than 4,096, or about half of what peeling reads
    would be read, the graph is peeled as without ``start``. What is read of ``start`` is checked; a wrong number that
    no change is near, and that the degree allows, stays as it is.
    """

    start: Any = None
    since: int | None = None

    rule = "one"

    def __post_init__(self) -> None:
        if self.since is not None:
            check_whole("since", self.since, 0)
        if (self.start is None) != (self.since is None):
            raise InvalidArgument(
                "start= and since= go together, on a saved graph that was updated: an earlier result, and the "
                "generation of the graph that it is of; give both or none"
            )
        if self.start is not None and not is_frame(self.start):
            raise InvalidArgument(
                f"start is a {type(self.start).__name__}; give an earlier result: a frame with the id column(s) and a "
                "column 'core_number'"
            )

    def engine_functions(self) -> tuple[str, ...]:
        return ("core_numbers",)

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {"vertex": ColumnType("vertex"), "core_number": ColumnType("int64")}

    def run(self, run: Run) -> Table:
        core = run.engine.core_numbers(run.staying, report=run.report)
        return {"vertex": Values(run.vertices), "core_number": run.column(core)}
