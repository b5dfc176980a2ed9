"""Colours of vertices, no two neighbours of one: a maximal independent set after another.

What going through vertices in an order and taking the first free colour gives: colour 0 is the independent set
that this order makes of all vertices, colour 1 that of the others, and so on.

References
----------
.. [1] Jones, Plassmann, "A parallel graph coloring heuristic", SIAM J. Scientific Computing 1993.
.. [2] Hasenplaug, Kaler, Schardl, Leiserson, "Ordering heuristics for parallel graph coloring", SPAA 2014 (the
   order: by the logarithm of the degree, then at random).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.algorithm import Resumable
from dask_graphgpu.algorithms.random_priorities import BITS, random_priorities
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.arguments import check_whole
from dask_graphgpu.fields import Field, Min
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.program import VertexProgram

# `now` is the colour that is given away, `barred` the last one that a neighbour has taken before, `asked` the one
# that the vertex waits for: it has told its priority then. Who has just taken a colour says so, with a priority
# before all others. Who is barred sends nothing until the next colour is given away, but goes on for one superstep,
# so that the run does.
PROGRAM = VertexProgram(
    state={
        "color": Field("int64", initial=-1),
        "barred": Field("int64", initial=-1),
        "asked": Field("int64", initial=0),
        "priority": Field("int64", vertices="priority"),
    },
    aggregates={"now": Min(lambda color, barred: barred + 1 if color < 0 else 9223372036854775807)},
    compute=lambda source_color, source_barred, source_priority, now: (
        -1
        if source_color == now
        else source_priority
        if source_color < 0 and source_barred < now
        else 9223372036854775807
    ),
    combine="min",
    apply=lambda color, barred, asked, priority, message, now: {
        "color": (
            now
            if color < 0 and barred < now and asked == now and 0 <= message and priority <= message
            else color
        ),
        "barred": now if color < 0 and barred < now and asked == now and message < 0 else barred,
        "asked": now if color < 0 and barred < now else asked,
    },
    active=lambda color, barred, now: color < 0 and barred < now,
    edges="both",
    wraps=True,
)


@dataclass(frozen=True)
class Coloring(Resumable):
    """A color for each vertex, other than its neighbours'.

    With few colors, as for groups of jobs that may run at once; fewest is hard to find.

    Parameters
    ----------
    seed : int
        Number that the random order of vertices of about one degree starts from.

    Returns
    -------
    frame
        ``vertex``, ``color`` (int64), from 0 to the number of colors less 1, and each is there: that number is
        ``result["color"].max() + 1``, at most the largest degree and 1. One row a vertex in ascending order of
        ids. The answer depends on the edges, the order of the ids and the seed, and on nothing else.

    Notes
    -----
    Each vertex gets the first color that no neighbour before it has, in the order of falling degrees (up to a
    factor of 2) and then at random (Jones, Plassmann 1993; Hasenplaug et al. 2014): that is one maximal
    independent set after another. Directions, repeated edges and self-loops make no two vertices neighbours, but
    count in degrees, and so in which coloring it is. Cost: O(V log V + E) on
    the CPU with edges in memory, without checkpoints; elsewhere some supersteps a color, each over the edges of
    the vertices that have none.
    """

    seed: int = 0

    rule = "one"

    def __post_init__(self) -> None:
        check_whole("seed", self.seed, 0)

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {"vertex": ColumnType("vertex"), "color": ColumnType("int64")}

    def run(self, run: Run) -> Table:
        degree = run.view.degrees("both" if run.view.directed else "out")
        priority = _first_by_degree(run, degree, int(self.seed))
        color = None
        if run.keeper is None:
            color = run.engine.first_free_colors(run.view, priority, report=run.report)
        if color is None:
            view = run.view.with_columns({"priority": priority})
            color = run.engine.run(PROGRAM, view, run.options())["color"]
        return {"vertex": Values(run.vertices), "color": Values(run.own(color))}


def _first_by_degree(run: Run, degree: Any, seed: int) -> Any:
    """Priorities, int64, the smaller the earlier: by falling logarithm of the degree, then at random."""
    _, exponent = np.frexp(degree.astype(np.float64))
    level = np.int64(63) - exponent.astype(np.int64)
    return (level << np.int64(BITS)) + random_priorities(run, seed)
