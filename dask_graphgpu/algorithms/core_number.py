"""Core numbers by peeling: vertices of the least degree left go first.

References
----------
.. [1] Batagelj, Zaversnik, "An O(m) algorithm for cores decomposition of networks", 2003.
.. [2] Wen, Qin, Zhang, Lin, Yu, "I/O efficient core graph decomposition at web scale", ICDE 2016.
"""

from __future__ import annotations

from dataclasses import dataclass

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class CoreNumber(Algorithm):
    """Core number of every vertex: the largest k-core it is in.

    The k-core is the largest subgraph in which every vertex has at least k neighbours. Directions,
    repeated edges and self-loops mean nothing here.

    Returns
    -------
    frame
        ``vertex``, ``core_number`` (int64). One row a vertex in ascending order of ids.

    Notes
    -----
    Cost: O(V + E) after both directions of every edge are in rows. On disk estimates come down to the core numbers
    (Wen et al.), and pages are read as often as that takes.

    There is no start from an earlier result. New edges only raise core numbers, but for a hundredth more edges of a
    skewed graph most others have to be looked at again, and peeling looks at each edge twice in all: see "New edges"
    in Performance.
    """

    rule = "one"

    def engine_functions(self) -> tuple[str, ...]:
        return ("core_numbers",)

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {"vertex": ColumnType("vertex"), "core_number": ColumnType("int64")}

    def run(self, run: Run) -> Table:
        core = run.engine.core_numbers(run.staying, report=run.report)
        return {"vertex": Values(run.vertices), "core_number": Values(run.own(core))}
