"""How often each way of joining three vertices of a directed graph occurs.

References
----------
.. [1] Davis, Leinhardt, "The structure of positive interpersonal relations in small groups", 1972.
.. [2] Batagelj, Mrvar, "A subquadratic triad census algorithm for large sparse networks with small maximum degree",
   Social Networks 2001.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.engine.triads import TRIADS, census
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class TriadCensus(Algorithm):
    """How often each way of joining three vertices occurs.

    Any three vertices are one of 16 triads, by the directions in which they are joined. A triad is named by how many of
    its pairs are joined in both directions, in one and not at all; then by D (down), U (up), C (cyclic) or T
    (transitive) where that does not tell it from others. Repeated edges count once, and self-loops not at all. An edge
    of an undirected graph leads both ways.

    Returns
    -------
    frame
        ``triad`` (text, such as "030C") and ``count`` (int64), one row for each of the 16 triads, in the order of their
        names. The count of "003" is null where it is beyond int64, as it may be of 3.8 million vertices and more.

    Raises
    ------
    IntegerOverflow
        Another count is beyond int64.

    Notes
    -----
    Triangles are found one by one, each from its vertex with the fewest neighbours; all other triads follow from
    numbers of neighbours. Cost: O(E^1.5) time at most, and 80 bytes an edge in memory, on several ranks on each. It is
    done on the processors, whichever engine finds the edges.
    """

    row = "triad"
    rule = "one"

    def engine_functions(self) -> tuple[str, ...]:
        return ("edges_among", "directed_triangles")

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {"triad": ColumnType("U4"), "count": ColumnType("int64", nullable=True)}

    def num_rows(self, num_vertices: int, schema: EdgeSchema) -> int | None:
        return len(TRIADS)

    def run(self, run: Run) -> Table:
        everywhere = np.ones_like(run.rows, bool, shape=run.view.num_vertices)
        source, destination, _ = run.engine.edges_among(run.view, everywhere)
        sums, triangles = run.engine.directed_triangles(
            run.view, (source, destination), report=run.report
        )
        counts = census(run.num_vertices, sums, triangles)
        rows = len(TRIADS) if run.ranks is None or run.ranks.rank == 0 else 0
        run.order(np.arange(rows))
        known = np.array([count is not None for count in counts[:rows]], bool)
        numbers = np.array([count or 0 for count in counts[:rows]], np.int64)
        return {
            "triad": Values(np.array(TRIADS[:rows], "U4")),
            "count": Values(numbers, known),
        }
