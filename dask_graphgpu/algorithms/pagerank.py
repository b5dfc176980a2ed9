"""PageRank, by power iteration or by handing out what is left (delta, accumulative).

r(v) = (1 - d) p(v) + d (sum over u -> v of r(u) w(u, v) / W(u) + D p(v)), where W(u) is the weight of
all edges out of u, D the rank of the vertices without any, and p the personalization (1 / n each).

Power iteration takes this as a rule to make the next r of the last one. Delta keeps a rank x and a
residual q, at first 0 and (1 - d) p: a vertex whose q is worth it adds q to its x and hands on
d q w(u, v) / W(u) along each edge [2]_. In any order x comes to solve x = (1 - d) p + d P'x, P' the
transposed matrix of w / W. The q of a vertex without out-edges belongs to p; since that only adds
multiples of the start, (1 - d) p, to what is handed out, it makes x larger by a factor and nothing
else: it is dropped, and r = x / sum(x). From given x, q starts as (1 - d) p + d P'x - x, which may be negative: what
is worth it is told by its magnitude.

References
----------
.. [1] Page, Brin, Motwani, Winograd, "The PageRank citation ranking", Stanford 1999.
.. [2] Zhang, Gao, Gao, Wang, "Maiter: an asynchronous graph processing framework for delta-based
   accumulative iterative computation", IEEE TPDS 2014.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.algorithm import (
    Resumable,
    check_iterations,
    reads_optional_weight,
    refuse_extreme_weights,
    telling_limits,
)
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.start_ranks import START, left_to_hand_out, start_ranks
from dask_graphgpu.algorithms.vertex_values import check_values, read_values, vertices_columns
from dask_graphgpu.arguments import check_choice, check_real
from dask_graphgpu.errors import InvalidArgument, InvalidEdges
from dask_graphgpu.fields import Field, Sum
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import VertexProgram

METHODS = ("power", "delta")

# Columns that a run puts in place of those of the vertices frame.
_PERSONAL, _RESIDUAL = "personalization", "residual"


@cache
def power_program(
    dtype: str, *, weighted: bool, personal: bool, started: bool = False
) -> VertexProgram:
    """Power iteration; ``share`` is a vertex's rank over the weight of its out-edges."""
    if started:
        state = {
            "rank": Field(dtype, vertices=START),
            "share": Field(
                dtype,
                initial=lambda rank, weighted_degree: (
                    rank / weighted_degree if weighted_degree > 0 else 0.0
                ),
            ),
        }
    else:
        state = {
            "rank": Field(dtype, initial=lambda num_vertices: 1.0 / num_vertices),
            "share": Field(
                dtype,
                initial=lambda weighted_degree, num_vertices: (
                    1.0 / num_vertices / weighted_degree if weighted_degree > 0 else 0.0
                ),
            ),
        }
    if personal:
        state["personal"] = Field(dtype, vertices=_PERSONAL)

        def apply(
            message: Any, personal: Any, dangling: Any, damping: Any, weighted_degree: Any
        ) -> Any:
            rank = (1.0 - damping) * personal + damping * (message + dangling * personal)
            return {
                "rank": rank,
                "share": rank / weighted_degree if weighted_degree > 0 else 0.0,
            }
    else:

        def apply(  # type: ignore[misc]
            message: Any, num_vertices: Any, dangling: Any, damping: Any, weighted_degree: Any
        ) -> Any:
            rank = (1.0 - damping) / num_vertices + damping * (message + dangling / num_vertices)
            return {
                "rank": rank,
                "share": rank / weighted_degree if weighted_degree > 0 else 0.0,
            }

    return VertexProgram(
        state=state,
        compute=_send(weighted),
        combine="sum",
        apply=apply,
        constants={"damping": 0.85, "tolerance": 1e-6},
        aggregates={
            "dangling": Sum(lambda rank, weighted_degree: rank if weighted_degree <= 0 else 0.0),
            "residual": Sum(lambda rank, new_rank: abs(new_rank - rank)),
        },
        stop=lambda residual, tolerance: residual < tolerance,
    )


@cache
def delta_program(dtype: str, *, weighted: bool, started: bool = False) -> VertexProgram:
    """Delta; ``share`` is what a vertex hands on a unit of weight, 0 below the threshold."""

    def share(residual: Any, weighted_degree: Any, damping: Any, threshold: Any) -> Any:
        worth_it = abs(residual) > threshold and weighted_degree > 0
        return damping * residual / weighted_degree if worth_it else 0.0

    def apply(
        rank: Any, residual: Any, message: Any, weighted_degree: Any, damping: Any, threshold: Any
    ) -> Any:
        sent = residual if abs(residual) > threshold else 0.0
        left = residual - sent + message
        return {
            "rank": rank + sent,
            "residual": left,
            "share": share(left, weighted_degree, damping, threshold),
        }

    return VertexProgram(
        state={
            "rank": Field(dtype, vertices=START) if started else Field(dtype, initial=0.0),
            "residual": Field(dtype, vertices=_RESIDUAL),
            "share": Field(dtype, initial=share),
        },
        compute=_send(weighted),
        combine="sum",
        apply=apply,
        active=lambda new_residual, threshold: abs(new_residual) > threshold,
        constants={"damping": 0.85, "tolerance": 1e-6, "threshold": 0.0},
        aggregates={
            "left": Sum(lambda new_residual: abs(new_residual)),
            "handed_out": Sum(lambda new_rank: new_rank),
        },
        stop=lambda left, handed_out, tolerance: left < tolerance * handed_out,
        accumulative=True,
    )


def _send(weighted: bool) -> Callable[..., Any]:
    if weighted:
        return lambda source_share, weight: source_share * weight
    return lambda source_share: source_share


def _scaled(run: Run, x: np.ndarray, dtype: str) -> np.ndarray:
    """The ranks that are in proportion to ``x``, and sum to 1."""
    scaled: np.ndarray = (x / run.total(x)).astype(dtype, copy=False)
    return scaled


@dataclass(frozen=True)
class PageRank(Resumable):
    """Share of time that a random surfer spends at each vertex.

    Parameters
    ----------
    damping : float
        Chance of following an edge; in [0, 1).
    tolerance : float
        Stop when the ranks changed by less than this in sum (delta: when less than this part of
        them is left to hand out). 0: exactly ``max_iterations``.
    max_iterations : int
        Iterations at most.
    personalization : frame or str, optional
        Where the surfer jumps to: a frame with the id column(s) and one more numeric column, or
        the name of a column of the vertices frame. Not negative; scaled to sum 1; vertices that
        are not in the frame get 0, rows of the same vertex add up.
    weighted : bool, optional
        Follow edges by their weight. Default: when the graph has weights.
    dtype : {"float64", "float32"}
        Type of the ranks; float32 takes half of the memory and has half of the digits.
    method : {"power", "delta"}
        How: "power" has all vertices send in every iteration, "delta" only those with something to
        hand out. Delta pays where these are few, as with a personalization of few vertices, or from a ``start`` where
        new edges are near each other; else an iteration of it costs more, and it takes about as many from a ``start``,
        and more from nothing.
    start : frame or str, optional
        Ranks to begin with, such as an earlier result of a graph that has changed little: a frame with the id column(s)
        and one more column, or the name of a column of the vertices frame. Not negative; scaled to sum 1. Vertices that
        are not in the frame begin with their part of the personalization (1 / n each without one); ids that are no
        vertices are left out, and counted in ``attrs["ignored"]`` of the report. Default: equal ranks.

    Returns
    -------
    frame
        ``vertex``, ``rank``. One row a vertex in ascending order of ids; ranks sum to 1.

    Raises
    ------
    NotConverged
        ``max_iterations`` came first; the message gives the last change.
    InvalidArgument, UnknownVertex
        An argument is out of range; the personalization names an id that is not a vertex. Of ``start``: a value is
        null, negative or infinite, or a vertex has two.
    InvalidEdges
        Weights are so large or small that sums of them would be infinite, or parts of these 0.

    Notes
    -----
    Repeated rows count as often as they occur (weights add up). The rank of vertices without
    out-edges is spread like the jumps. Cost: O(E) a pass, one gather an edge; about
    log(tolerance) / log(damping) passes; from a ``start`` whose ranks are wrong by e in sum, log(tolerance / e) /
    log(damping), and with "delta" one more, which finds where ranks have to change. The answer is the same within the
    tolerance. The sum of all errors is at most tolerance * damping /
    (1 - damping), twice that for "delta". Equal for any number of partitions and threads to about
    1e-12 (float64) of a rank, the rounding of its sums.
    """

    damping: float = 0.85
    tolerance: float = 1e-6
    max_iterations: int = 100
    personalization: Any = None
    weighted: bool | None = None
    dtype: str = "float64"
    method: str = "power"
    start: Any = None

    rule = "sum"
    by = "destination"
    free_frames = ("start",)

    def __post_init__(self) -> None:
        check_iterations(self.tolerance, self.max_iterations)
        check_real(
            "damping", self.damping, "a number of at least 0 and below 1", lambda d: 0 <= d < 1
        )
        if self.personalization is not None:
            check_values("personalization", self.personalization)
        if self.start is not None:
            check_values("start", self.start)
        check_choice("method", self.method, METHODS)
        check_choice("dtype", self.dtype, ("float64", "float32"))

    def reads_weight(self, schema: EdgeSchema) -> bool:
        return reads_optional_weight(schema, self.weighted, "pagerank(weighted=True)")

    def vertex_columns(self) -> Sequence[str]:
        return vertices_columns(self.personalization, self.start)

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {"vertex": ColumnType("vertex"), "rank": ColumnType(self.dtype)}

    def run(self, run: Run) -> Table:
        refuse_extreme_weights(run, "vertex", self.dtype)
        run.report.limit = int(self.max_iterations) if self.tolerance == 0 else None
        with telling_limits():
            rank = self._power(run) if self.method == "power" else self._delta(run)
        if run.view.is_weighted and not np.isfinite(run.total(rank)):
            raise InvalidEdges(
                f"the weights at some vertex are too little to be told apart in {self.dtype}: multiply "
                "all weights by one number, which changes no answer, or use weighted=False"
            )
        return {"vertex": Values(run.vertices), "rank": run.column(rank)}

    def _power(self, run: Run) -> np.ndarray:
        view, personal = run.staying, self._personal(run)
        start = self._start(run, personal)
        if run.keeper is None:
            ranks = run.engine.pagerank(
                view, personal, start, np.dtype(self.dtype), damping=float(self.damping),
                tolerance=float(self.tolerance), max_iterations=int(self.max_iterations),
                report=run.report,
            )  # fmt: skip
            if ranks is not None:
                return ranks
        given = {_PERSONAL: personal, START: start}
        columns = {name: values for name, values in given.items() if values is not None}
        if columns:
            view = view.with_columns(columns)
        program = power_program(
            self.dtype,
            weighted=view.is_weighted,
            personal=_PERSONAL in columns,
            started=START in columns,
        )
        state = self._iterate(run, program, view, {})
        rank: np.ndarray = state["rank"]
        return rank

    def _delta(self, run: Run) -> np.ndarray:
        n, damping, personal = run.num_vertices, float(self.damping), self._personal(run)
        start = self._start(run, personal)
        if personal is None:
            personal = np.full_like(run.rows, 1 / n, np.float64, shape=run.view.num_vertices)
        columns = {_RESIDUAL: (1 - damping) * personal}
        if start is not None:
            x, residual = left_to_hand_out(run, start, personal, damping, self.dtype)
            if run.total(abs(residual)) < self.tolerance * run.total(x):
                return _scaled(run, x + residual, self.dtype)
            columns = {START: x, _RESIDUAL: residual}
        view = run.view.with_columns(columns)
        # With no vertex above it, what is left is below the tolerance in sum.
        threshold = float(self.tolerance) * (1 - damping) / n
        program = delta_program(self.dtype, weighted=view.is_weighted, started=start is not None)
        state = self._iterate(run, program, view, {"threshold": threshold})
        return _scaled(run, state["rank"] + state["residual"], self.dtype)

    def _iterate(
        self, run: Run, program: VertexProgram, view: View, constants: dict[str, float]
    ) -> Any:
        constants = {
            **constants, "damping": float(self.damping), "tolerance": float(self.tolerance)
        }  # fmt: skip
        options = run.options(
            constants=constants,
            max_supersteps=int(self.max_iterations),
            exact_supersteps=self.tolerance == 0,
        )
        return run.engine.run(program, view, options)

    def _start(self, run: Run, personal: np.ndarray | None) -> np.ndarray | None:
        """The ranks to begin with in dense order, of sum 1; None when they are equal."""
        if self.start is None:
            return None
        return start_ranks(run, self.start, 1 / run.num_vertices if personal is None else personal)

    def _personal(self, run: Run) -> np.ndarray | None:
        """The personalization in dense order, scaled to sum 1; None when it is uniform."""
        if self.personalization is None:
            return None
        values, _ = read_values(run, "personalization", self.personalization, add=True)
        jumps = values[:, 0]
        total, least, most = run.total(jumps), run.least(jumps), run.most(jumps)
        if not (np.isfinite(total) and total > 0 and least >= 0):
            raise InvalidArgument(
                f"personalization: values from {least} to {most} with sum {total}; "
                "allowed are finite values of at least 0, not all 0"
            )
        scaled: np.ndarray = jumps / total
        return scaled
