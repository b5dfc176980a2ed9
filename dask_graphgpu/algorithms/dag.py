"""Levels of a graph without cycles: how many edges the longest path to each vertex has.

Kahn's method [1]_, a level a superstep: a vertex is done when all edges into it are.

References
----------
.. [1] Kahn, "Topological sorting of large networks", Communications of the ACM 5, 1962.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.errors import InvalidArgument, InvalidEdges
from dask_graphgpu.fields import Field
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.partition.chunk import to_host
from dask_graphgpu.program import VertexProgram

_SHOWN = 8  # vertices of a cycle that an error names

# Only who has no edge left to wait for counts as one that an edge comes from.
LEVELS = VertexProgram(
    state={
        "left": Field("int64", vertices="left"),
        "level": Field("int64", initial=0),
    },
    compute=lambda source_left: 1 if source_left == 0 else 0,
    combine="sum",
    apply=lambda left, level, message, superstep: {
        "left": left - message,
        "level": superstep if message > 0 and left == message else level,
    },
    active=lambda message, new_left: message > 0 and new_left == 0,
    wraps=True,  # degrees fit, and where edges are pushed sums that are checked do not run
)

# Of those that wait for ever, each waits for another one: the first by id.
WAITED_FOR = VertexProgram(
    state={"before": Field("int64", initial=-1), "waits": Field("int64", vertices="waits")},
    compute=lambda source_id, source_waits, num_vertices: (
        source_id if source_waits > 0 else num_vertices
    ),
    combine="min",
    apply=lambda message: message,
)


def check_directed(method: str, schema: EdgeSchema) -> None:
    """Raise InvalidArgument for an undirected graph, in which every edge is a cycle."""
    if not schema.directed:
        raise InvalidArgument(
            f"{method} needs a directed graph without cycles, and this one is undirected: leave "
            "directed=False out"
        )


def levels(run: Run) -> Any:
    """The level of each vertex, int64: 0 where no edge comes in. Collective.

    Raises
    ------
    InvalidEdges
        The graph has a cycle; the message names its vertices.
    """
    view = run.view.with_columns({"left": run.view.degrees("in")})
    state = run.engine.run(LEVELS, view, run.options())
    waits = state["left"] > 0
    if run.total(waits):
        raise InvalidEdges(
            f"the graph has a cycle: {_cycle(run, waits)}; drop an edge of each cycle, or look at what "
            "strongly_connected_components() finds"
        )
    return state["level"]


def _cycle(run: Run, waits: Any) -> str:
    """A cycle in words: from a vertex that waits for ever to the one that it waits for, until one comes twice."""
    view = run.by_place.with_columns({"waits": waits.astype(np.int64)})
    once = run.options(max_supersteps=1, exact_supersteps=True)
    before = _by_place(run, run.engine.run(WAITED_FOR, view, once)["before"])
    place = int(np.flatnonzero(_by_place(run, waits))[0])
    seen: dict[int, int] = {}
    while place not in seen:
        seen[place] = len(seen)
        place = int(before[place])
    cycle = list(seen)[seen[place] :][::-1]
    first = cycle.index(min(cycle))
    cycle = cycle[first:] + cycle[: first + 1]
    shown = np.array(cycle[:_SHOWN])
    dense = shown if run.ranks is not None else to_host(run.rows)[shown]
    names = [
        str(row[0]) if len(row) == 1 else str(row)
        for row in zip(*(_listed(column) for column in run.ids.take(dense)), strict=True)
    ]
    more = [] if len(cycle) <= _SHOWN else ["...", names[0]]
    return " -> ".join([*names, *more]) + f" ({len(cycle) - 1:,} vertices)"


def _listed(column: Any) -> list[Any]:
    """Ids of Arrow or cuDF as Python's."""
    values: list[Any] = (column if hasattr(column, "to_pylist") else column.to_arrow()).to_pylist()
    return values


def _by_place(run: Run, values: Any) -> np.ndarray:
    """Values of all vertices by their places in the order of the user's ids, on every rank. Collective."""
    own = to_host(run.own(values))
    if run.ranks is None:
        return own
    every = np.empty(run.num_vertices, own.dtype)
    pairs = zip(
        run.ranks.all_gather(run.vertices.astype(np.int64)), run.ranks.all_gather(own), strict=True
    )
    for numbers, part in pairs:
        every[numbers] = part
    return every
