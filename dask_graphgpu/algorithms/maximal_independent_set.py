"""Maximal independent sets: no two neighbours in, and no vertex that could come in.

The set that going through vertices in a random order gives, all at once: a vertex is in when all neighbours
before it are out.

References
----------
.. [1] Luby, "A simple parallel algorithm for the maximal independent set problem", SIAM J. Computing 1986.
.. [2] Blelloch, Fineman, Shun, "Greedy sequential maximal independent set and matching are parallel on average",
   SPAA 2012.
"""

from __future__ import annotations

from dataclasses import dataclass

from dask_graphgpu.algorithms.algorithm import Resumable
from dask_graphgpu.algorithms.random_priorities import random_priorities
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.arguments import check_whole
from dask_graphgpu.fields import Field
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.program import VertexProgram

# Status 0: not decided; 1: in; 2: out. Who is in says so once, with a priority before all others.
PROGRAM = VertexProgram(
    state={
        "status": Field("int64", initial=0),
        "priority": Field("int64", vertices="priority"),
    },
    compute=lambda source_status, source_priority: -1 if source_status == 1 else source_priority,
    combine="min",
    apply=lambda status, priority, message: (
        status if status > 0 else 2 if message < 0 else 1 if priority <= message else 0
    ),
    active=lambda status, new_status: status == 0 and new_status < 2,
    edges="both",
)


@dataclass(frozen=True)
class MaximalIndependentSet(Resumable):
    """Vertices of which no two are neighbours, as many as fit.

    Every other vertex has a neighbour among them. It is not the largest such set, which is hard to find.

    Parameters
    ----------
    seed : int
        Number that the random order of vertices starts from: another one gives another set.

    Returns
    -------
    frame
        ``vertex``, ``in_set`` (bool). One row a vertex in ascending order of ids. The answer depends on the
        edges, the order of the ids and the seed, and on nothing else.

    Notes
    -----
    The set that is found by going through the vertices in a random order and taking each that has no neighbour
    in it yet, by all vertices at once (Luby 1986; Blelloch, Fineman, Shun 2012). Directions, repeated edges and
    self-loops mean nothing. Cost: in O(log V) supersteps, the edges of vertices that are not decided yet.
    """

    seed: int = 0

    rule = "one"

    def __post_init__(self) -> None:
        check_whole("seed", self.seed, 0)

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {"vertex": ColumnType("vertex"), "in_set": ColumnType("bool")}

    def run(self, run: Run) -> Table:
        view = run.view.with_columns({"priority": random_priorities(run, int(self.seed))})
        status = run.engine.run(PROGRAM, view, run.options())["status"]
        return {"vertex": Values(run.vertices), "in_set": Values(run.own(status) == 1)}
