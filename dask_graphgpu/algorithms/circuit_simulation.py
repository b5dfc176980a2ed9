"""Potentials of a circuit of resistors, by Jacobi's iteration of Kirchhoff's current law.

v(i) = (I(i) + sum over j of g(i, j) v(j)) / sum over j of g(i, j), but for the terminals, whose
potential is given; g is the conductance of an edge, I the current that is fed in.

References
----------
.. [1] Doyle, Snell, "Random walks and electric networks", MAA 1984.
.. [2] Ma et al., "Garaph: efficient GPU-accelerated graph processing on a single machine with
   balanced replication", USENIX ATC 2017 (names the program; the equation is ours).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.iterated import UNTIL_QUIET, Iterated
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.vertex_values import (
    check_finite,
    check_values,
    finite_values,
    read_values,
    vertices_columns,
)
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.fields import Field
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.program import VertexProgram


def program(*, weighted: bool) -> VertexProgram:
    """The vertex program; vertices have columns ``start``, ``current`` and ``held``."""
    return VertexProgram(
        state={
            "x": Field("float64", vertices="start"),
            "current": Field("float64", vertices="current"),
            "held": Field("bool", vertices="held"),
        },
        compute=(
            (lambda source_x, weight: source_x * weight)
            if weighted
            else (lambda source_x: source_x)
        ),
        combine="sum",
        apply=lambda x, message, current, held, weighted_degree: (
            x if held else (current + message) / weighted_degree
        ),
        edges="both",
        constants={"tolerance": 0.0},
        **UNTIL_QUIET,
    )


def joined_program(*, weighted: bool) -> VertexProgram:
    """Which vertices a current can reach from a terminal; vertices have a column ``terminal``."""
    return VertexProgram(
        state={"joined": Field("int32", vertices="terminal")},
        compute=(
            (lambda source_joined, weight: source_joined if weight > 0 else 0)
            if weighted
            else (lambda source_joined: source_joined)
        ),
        combine="max",
        edges="both",
        bound=lambda: 1,
    )


@dataclass(frozen=True)
class CircuitSimulation(Iterated):
    """Electric potential at every vertex of a resistor circuit.

    Weights are the conductances of edges (1 / resistance), 1 where the graph has none. Edges have no
    direction here.

    Parameters
    ----------
    terminals : frame or str
        Vertices whose potential is held: a frame with the id column(s) and one more column, the
        potentials; or the name of a column of the vertices frame, null where there is no terminal.
    currents : frame or str, optional
        Current that is fed into a vertex (negative: taken out), given as a frame (0 for vertices
        that are not in it) or a column of the vertices frame. Default: none.
    initial : number or frame or str
        Potentials at the start, of vertices that are no terminals.
    tolerance : float
        Stop when no potential changed by as much as this. 0: exactly ``max_iterations``.
    max_iterations : int
        Iterations at most.

    Returns
    -------
    frame
        ``vertex``, ``potential`` (float64). Floating vertices, from which no path of conductances
        above 0 leads to a terminal, keep their start. One row a vertex in ascending order of ids.

    Raises
    ------
    InvalidArgument
        A current is fed into a floating vertex, from which it cannot flow off; a value is not
        finite.
    NotConverged
        ``max_iterations`` came first; the message gives the last change.
    UnknownVertex
        A frame names an id that is not a vertex.

    Notes
    -----
    v(i) = (I(i) + sum over edges {i, j} of g v(j)) / sum of g, all vertices at once. Converges on
    every circuit; about as many iterations as the square of the number of edges between the
    farthest vertex and a terminal. Repeated rows are resistors of their own. Cost: O(E) an
    iteration.
    """

    terminals: Any
    _: KW_ONLY
    currents: Any = None
    initial: float | str | Any = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_values("terminals", self.terminals)
        check_values("initial", self.initial, number=True)
        if self.currents is not None:
            check_values("currents", self.currents)

    def reads_weight(self, schema: EdgeSchema) -> bool:
        return schema.weight is not None

    def vertex_columns(self) -> Sequence[str]:
        return vertices_columns(self.terminals, self.currents, self.initial)

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {"vertex": ColumnType("vertex"), "potential": ColumnType("float64")}

    def run(self, run: Run) -> Table:
        run = replace(run, view=run.view.undirected())  # once, for both programs
        view = run.view
        held, terminal = read_values(run, "terminals", self.terminals, gaps=True)
        check_finite(run, "terminals", held)
        start = finite_values(run, "initial", self.initial, missing=0.0)
        current = np.zeros_like(start)
        if self.currents is not None:
            current = finite_values(run, "currents", self.currents, missing=0.0)
        floating = ~self._joined(run, terminal)
        if stuck := run.total((current != 0) & floating):
            raise InvalidArgument(
                f"currents: {stuck} vertices that are joined to no "
                "terminal get a current, which cannot flow off; give a terminal in each component"
            )
        columns = {
            "start": np.where(terminal, held[:, 0], start),
            "current": current,
            "held": terminal | floating,
        }
        potential = self.iterate(run, view, program(weighted=view.is_weighted), columns)
        return {"vertex": Values(run.vertices), "potential": run.column(potential)}

    def _joined(self, run: Run, terminal: np.ndarray) -> np.ndarray:
        state = run.engine.run(
            joined_program(weighted=run.view.is_weighted),
            run.view.with_columns({"terminal": terminal.astype(np.int32)}),
            run.options(),
        )
        joined: np.ndarray = state["joined"] > 0
        return joined
