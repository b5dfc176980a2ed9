"""Eigenvector centrality by power iteration, with momentum where eigenvalues are real.

References
----------
.. [1] Bonacich, "Power and centrality: a family of measures", Am. J. Sociology 1987.
.. [2] Golub, Varga, "Chebyshev semi-iterative methods, successive over-relaxation iterative methods, and second order
   Richardson iterative methods", Numerische Mathematik 1961 (the momentum).
.. [3] Xu, He, De Sa, Mitliagkas, Re, "Accelerated stochastic power iteration", AISTATS 2018 (of power iteration).
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from functools import cache
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.algorithm import reads_optional_weight, refuse_extreme_weights
from dask_graphgpu.algorithms.iterated import Iterated
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.errors import NotConverged
from dask_graphgpu.fields import Field, Sum
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.program import VertexProgram

PHASE = 8  # iterations after which the momentum is set anew


def _program(*, weighted: bool, **rest: Any) -> VertexProgram:
    return VertexProgram(
        compute=(lambda source_x, weight: source_x * weight)
        if weighted
        else lambda source_x: source_x,
        combine="sum",
        **rest,
    )


_AGGREGATES = {"total": Sum(lambda x: x), "change": Sum(lambda x, new_x: abs(new_x - x))}


@cache
def program(*, weighted: bool) -> VertexProgram:
    """Values of A + I, over the sum of those before, so that the sum goes to 1 + the eigenvalue.

    I alone changes nothing: a change counts beside the eigenvalue. A ``scale`` of 0 says that there is no edge.
    """
    return _program(
        weighted=weighted,
        state={"x": Field("float64", initial=lambda num_vertices: 1.0 / num_vertices)},
        apply=lambda x, message, total, scale: {"x": (x + scale * message) / total},
        constants={"tolerance": 1e-6, "scale": 1.0},
        aggregates=_AGGREGATES,
        stop=lambda change, total, tolerance, scale: (
            change < tolerance * (total - 1.0 if scale > 0.0 else total)
        ),
    )


@cache
def program_with_momentum(*, weighted: bool) -> VertexProgram:
    """Values of A + I, over the length of those before, which go on by ``momentum`` times the last step.

    ``image`` is A + I times the values before. So ``next_square`` over ``square`` is by how much A + I lengthens the
    last step, squared. That step has next to no part of the vector that is sought, thanks to division by the length, so
    it is no more than what is slowest to go is lengthened by.
    """
    return _program(
        weighted=weighted,
        state={name: Field("float64", vertices=name) for name in ("x", "before", "image")},
        apply=lambda x, before, message, length, momentum, scale: {
            "x": (1.0 + momentum) * ((x + scale * message) / length**0.5) - momentum * before,
            "before": x,
            "image": x + scale * message,
        },
        constants={"tolerance": 1e-6, "momentum": 0.0, "scale": 1.0},
        aggregates={
            **_AGGREGATES,
            "length": Sum(lambda x: x * x),
            "square": Sum(lambda x, before: (x - before) * (x - before)),
            "next_square": Sum(lambda image, new_image: (new_image - image) * (new_image - image)),
        },
        stop=lambda change, total, tolerance: change < tolerance * total,
    )


@dataclass(frozen=True)
class EigenvectorCentrality(Iterated):
    """Eigenvector centrality: central neighbours count more.

    Parameters
    ----------
    tolerance : float
        Stop when values changed in sum by less than this part of their sum; of a directed graph,
        of the sum that came over edges. 0: exactly ``max_iterations``.
    max_iterations : int
        Iterations at most.
    weighted : bool, optional
        Count edges by their weight. Default: when the graph has weights.

    Returns
    -------
    frame
        ``vertex``, ``eigenvector_centrality`` (float64), with a sum of squares of 1. One row a
        vertex in ascending order of ids.

    Raises
    ------
    NotConverged
        ``max_iterations`` came first; the message gives the last change.
    InvalidEdges
        Weights are so large or small that sums of them would be infinite, or parts of these 0.

    Notes
    -----
    x(v) is in proportion to the sum over edges u -> v of w(u, v) x(u): edges *into* a vertex
    count. Iterated is A + I, with A over a usual weight: it has the same eigenvectors, and converges on
    bipartite graphs too. It starts from equal values: where several vectors have the largest eigenvalue, as in a
    graph of equal parts, the answer is the one next to them. Directed graphs without cycles have
    no such vector, and iterations do not settle soon. Repeated rows are edges of their own. Cost:
    O(E) an iteration; fewer iterations the further the second eigenvalue is from the first. On undirected graphs steps
    go on by a momentum, which takes a square root of the iterations, but not with ``checkpoint`` and not on the GPUs of
    several workers: that may need more.
    """

    _: KW_ONLY
    weighted: bool | None = None

    by = "destination"

    def reads_weight(self, schema: EdgeSchema) -> bool:
        return reads_optional_weight(schema, self.weighted, "eigenvector_centrality(weighted=True)")

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {"vertex": ColumnType("vertex"), "eigenvector_centrality": ColumnType("float64")}

    def run(self, run: Run) -> Table:
        refuse_extreme_weights(run, "products")
        scale = _scale(run)
        # Between phases values go by the host, and to ghosts on other ranks: for GPUs that is more than what is saved.
        apart = run.ranks is not None and run.stays
        if run.view.directed or run.keeper is not None or apart:
            asked = program(weighted=run.view.is_weighted)
            x = self.iterate(run, run.working, asked, {}, scale=scale)
        else:
            x = self._with_momentum(run, scale)
        x = x / np.sqrt(run.total(x * x))
        return {"vertex": Values(run.vertices), "eigenvector_centrality": run.column(x)}

    def _with_momentum(self, run: Run, scale: float) -> Any:
        """The values in the end, with a momentum that is set anew after each `PHASE` of iterations."""
        n = run.view.num_vertices
        x = np.full_like(run.rows, run.num_vertices**-0.5, np.float64, shape=n)
        columns = {"x": x, "before": x, "image": np.zeros_like(x)}
        momentum, left, plainly = 0.0, int(self.max_iterations), True
        while True:
            options = run.options(
                constants={
                    "tolerance": float(self.tolerance),
                    "momentum": 0.0 if plainly else momentum,
                    "scale": scale,
                },
                max_supersteps=min(1 if plainly and momentum else PHASE, left),
                exact_supersteps=True,
            )
            asked = program_with_momentum(weighted=run.view.is_weighted)
            state = run.engine.run(asked, run.view.with_columns(columns), options)
            columns = {name: state[name] for name in columns}
            told = state.aggregates
            left -= state.supersteps
            settled = told["change"] < self.tolerance * told["total"]
            if (settled and plainly) or (left == 0 and self.tolerance == 0):
                return np.maximum(columns["x"], 0.0)
            if left == 0:
                raise NotConverged(
                    f"after {self.max_iterations} iterations values still change by "
                    f"{told['change'] / told['total']:.3g} of their sum: allow more by max_iterations=, or a larger "
                    "tolerance="
                )
            if told["square"] > 0.0 and not (plainly and momentum):
                slowest = math.sqrt(told["next_square"] / told["square"] / told["length"])
                momentum = max(momentum, best_momentum(slowest))
            # Where a part that swings turns, a step with momentum is short: one without says whether it has settled.
            plainly = settled or not momentum


def _scale(run: Run) -> float:
    """By what weights are multiplied so that a usual one is 1; 0 where nothing weighs.

    Of undirected graphs the mean, which is no more than the eigenvalue. Of directed ones the geometric mean of the
    vertices' means: a heavy edge that is in no cycle adds nothing to the eigenvalue, and little to this.
    """
    if not run.view.is_weighted:
        return float(run.view.graph_edges > 0)
    weight = run.view.weighted_degrees("in").astype(np.float64)
    if not run.view.directed:
        total = run.total(weight)
        return float(run.view.graph_edges) / total if total > 0 else 0.0
    some = weight > 0
    logarithms = np.where(some, weight, 1.0) / np.where(some, run.view.degrees("in"), 1)
    number = run.total(some)
    return math.exp(-run.total(np.log(logarithms)) / number) if number else 0.0


def best_momentum(slowest: float) -> float:
    """The momentum b where plain iterations multiply no part that is to go by more than ``slowest``.

    A part that they multiply by r is multiplied by the roots of z**2 - (1 + b) r z + b instead. These are sqrt(b) in
    size, or for r beyond that of which they are equal larger.
    """
    if not 0.0 < slowest < 1.0:
        return 0.0
    return ((1.0 - math.sqrt(1.0 - slowest * slowest)) / slowest) ** 2
