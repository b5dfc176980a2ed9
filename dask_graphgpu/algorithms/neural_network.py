"""A recurrent neural network: vertices are neurons, edges are connections.

x'(v) = tanh(sum over u -> v of w(u, v) x(u) + bias(v)), all at once, from given activations.

References
----------
.. [1] Hopfield, "Neurons with graded response have collective computational properties like those of
   two-state neurons", PNAS 1984.
.. [2] Ma et al., "Garaph: efficient GPU-accelerated graph processing on a single machine with
   balanced replication", USENIX ATC 2017 (names the program; the equation is ours).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from dask_graphgpu.algorithms.iterated import UNTIL_QUIET, Iterated
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.vertex_values import check_values, finite_values, vertices_columns
from dask_graphgpu.arguments import refuse
from dask_graphgpu.fields import Field
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.program import VertexProgram

# What travels along an edge, by what its strength is.
_COMPUTE: Mapping[str, Any] = {
    "one": lambda source_x: source_x,
    "weight": lambda source_x, weight: source_x * weight,
    "strength": lambda source_x, edge_strength: source_x * edge_strength,
}


def program(kind: str) -> VertexProgram:
    """The vertex program; vertices have columns ``initial`` and ``bias``."""
    return VertexProgram(
        state={
            "x": Field("float64", vertices="initial"),
            "bias": Field("float64", vertices="bias"),
        },
        compute=_COMPUTE[kind],
        combine="sum",
        apply=lambda message, bias: math.tanh(message + bias),
        constants={"tolerance": 0.0},
        **UNTIL_QUIET,
    )


@dataclass(frozen=True)
class NeuralNetwork(Iterated):
    """Activation of every neuron of a recurrent network.

    After some steps, or where it settles.

    Parameters
    ----------
    initial : number or frame or str
        Activations at the start: one for all, a frame with the id column(s) and one more column
        (0 for vertices that are not in it), or the name of a column of the vertices frame.
    bias : number or frame or str
        Added to what comes in; given the same way.
    strength : str, optional
        Edge column of the strengths of connections, which may be negative. Default: the weight,
        where the graph has one, else 1.
    tolerance : float
        Stop when no activation changed by as much as this. 0: exactly ``max_iterations``.
    max_iterations : int
        Iterations at most.

    Returns
    -------
    frame
        ``vertex``, ``activation`` (float64, between -1 and 1). One row a vertex in ascending order
        of ids.

    Raises
    ------
    NotConverged
        ``max_iterations`` came first; a network may also oscillate for ever.
    InvalidArgument, UnknownVertex
        An argument is out of range; a frame names an id that is not a vertex.

    Notes
    -----
    x'(v) = tanh(sum over edges u -> v of w x(u) + bias(v)). Converges to one answer from any start
    when the magnitudes of the strengths into each vertex sum to less than 1. Repeated rows are
    connections of their own. Cost: O(E) an iteration.
    """

    initial: float | str | Any
    bias: float | str | Any = 0.0
    _: KW_ONLY
    strength: str | None = None

    by = "destination"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_values("initial", self.initial, number=True)
        check_values("bias", self.bias, number=True)
        if self.strength is not None and not isinstance(self.strength, str):
            refuse("strength", self.strength, "is the name of an edge column")

    def reads_weight(self, schema: EdgeSchema) -> bool:
        return schema.weight is not None and self.strength is None

    def edge_columns(self) -> Sequence[str]:
        return () if self.strength is None else (self.strength,)

    def vertex_columns(self) -> Sequence[str]:
        return vertices_columns(self.initial, self.bias)

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {"vertex": ColumnType("vertex"), "activation": ColumnType("float64")}

    def run(self, run: Run) -> Table:
        view = run.view
        columns = {
            "initial": finite_values(run, "initial", self.initial, missing=0.0),
            "bias": finite_values(run, "bias", self.bias, missing=0.0),
        }
        kind = "weight" if view.is_weighted else "one"
        if self.strength is not None:
            view, kind = view.with_edge_column("strength", self.strength), "strength"
        activation = self.iterate(run, view, program(kind), columns)
        return {"vertex": Values(run.vertices), "activation": run.column(activation)}
