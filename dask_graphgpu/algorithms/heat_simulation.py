"""Heat that flows along edges, in explicit steps of time.

q'(v) = q(v) + step * sum over u -> v of k(u, v) (q(u) - q(v)), k the conductance of an edge.

References
----------
.. [1] Kondor, Lafferty, "Diffusion kernels on graphs and other discrete structures", ICML 2002.
.. [2] Ma et al., "Garaph: efficient GPU-accelerated graph processing on a single machine with
   balanced replication", USENIX ATC 2017 (names the program; the equation is ours).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.iterated import UNTIL_QUIET, Iterated
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.vertex_values import check_values, finite_values, vertices_columns
from dask_graphgpu.arguments import check_real
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.fields import Field
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.program import VertexProgram


def program(*, weighted: bool) -> VertexProgram:
    """The vertex program; vertices have a column ``initial``."""
    return VertexProgram(
        state={"x": Field("float64", vertices="initial")},
        compute=(
            (lambda source_x, destination_x, weight: weight * (source_x - destination_x))
            if weighted
            else (lambda source_x, destination_x: source_x - destination_x)
        ),
        combine="sum",
        apply=lambda x, message, step: x + step * message,
        constants={"step": 1.0, "tolerance": 0.0},
        **UNTIL_QUIET,
    )


@dataclass(frozen=True)
class HeatSimulation(Iterated):
    """Heat of every vertex as it spreads along the edges.

    After some steps of time, or when it is spread.

    Weights are the conductances of edges, 1 where the graph has none.

    Parameters
    ----------
    initial : number or frame or str
        Heat at the start: one for all, a frame with the id column(s) and one more column (0 for
        vertices that are not in it), or the name of a column of the vertices frame.
    step : float
        Time an iteration. Stable up to 1 / (largest sum of the conductances into a vertex).
    tolerance : float
        Stop when the heat of no vertex changed by as much as this. 0: exactly ``max_iterations``.
    max_iterations : int
        Iterations at most.

    Returns
    -------
    frame
        ``vertex``, ``heat`` (float64). One row a vertex in ascending order of ids.

    Raises
    ------
    InvalidArgument
        The step is not stable on this graph; the message says which would be.
    NotConverged
        ``max_iterations`` came first; the message gives the last change.
    UnknownVertex
        The frame names an id that is not a vertex.

    Notes
    -----
    q'(v) = q(v) + step * sum over edges u -> v of k (q(u) - q(v)). Heat stays between the least and
    the largest at the start; its sum stays the same on an undirected graph. At the limit of
    stability it may swing for ever between two halves of a graph: take half of it to converge.
    Repeated rows are edges of their own. Cost: O(E) an iteration.
    """

    initial: float | str | Any
    _: KW_ONLY
    step: float = 1.0

    by = "destination"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_values("initial", self.initial, number=True)
        check_real("step", self.step, "a positive number", lambda step: 0 < step < np.inf)

    def reads_weight(self, schema: EdgeSchema) -> bool:
        return schema.weight is not None

    def vertex_columns(self) -> Sequence[str]:
        return vertices_columns(self.initial)

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {"vertex": ColumnType("vertex"), "heat": ColumnType("float64")}

    def run(self, run: Run) -> Table:
        view, step = run.view, float(self.step)
        columns = {"initial": finite_values(run, "initial", self.initial, missing=0.0)}
        conductance = view.weighted_degrees("in" if view.directed else "out")
        most = float(run.most(conductance))
        if step * most > 1 + 1e-12:  # up to the rounding of the sums
            raise InvalidArgument(
                f"step={self.step!r} is not stable: the conductances into a vertex sum up to "
                f"{most:.6g}; a step of at most {1 / most:.6g} is"
            )
        heat = self.iterate(run, view, program(weighted=view.is_weighted), columns, step=step)
        return {"vertex": Values(run.vertices), "heat": run.column(heat)}
