"""PageRank by power iteration, pulled along in-edges.

r(v) = (1 - d) p(v) + d (sum over u -> v of r(u) w(u, v) / W(u) + D p(v)), where W(u) is the weight of
all edges out of u, D the rank of the vertices without any, and p the personalization (1 / n each).

References
----------
.. [1] Page, Brin, Motwani, Winograd, "The PageRank citation ranking", Stanford 1999.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.algorithm import Algorithm, Run, check_number, require_weight
from dask_graphgpu.errors import InvalidArgument, UnknownVertex
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.program import Field, Sum, VertexProgram

_PERSONAL = "personalization"


def program(dtype: str, *, weighted: bool, personal: bool) -> VertexProgram:
    """The vertex program; ``share`` is a vertex's rank over the weight of its out-edges."""
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
        compute=(
            (lambda source_share, weight: source_share * weight)
            if weighted
            else (lambda source_share: source_share)
        ),
        combine="sum",
        apply=apply,
        constants={"damping": 0.85, "tolerance": 1e-6},
        aggregates={
            "dangling": Sum(lambda rank, weighted_degree: rank if weighted_degree <= 0 else 0.0),
            "residual": Sum(lambda rank, new_rank: abs(new_rank - rank)),
        },
        stop=lambda residual, tolerance: residual < tolerance,
    )


@dataclass(frozen=True)
class PageRank(Algorithm):
    """Share of time that a random surfer spends at each vertex.

    Parameters
    ----------
    damping : float
        Chance of following an edge; in [0, 1).
    tolerance : float
        Stop when the ranks changed by less than this in sum. 0: exactly ``max_iterations``.
    max_iterations : int
        Power iterations at most.
    personalization : frame or str, optional
        Where the surfer jumps to: a frame with the id column(s) and one more numeric column, or
        the name of a column of the vertices frame. Not negative; scaled to sum 1; vertices that
        are not in the frame get 0, rows of the same vertex add up.
    weighted : bool, optional
        Follow edges by their weight. Default: when the graph has weights.
    dtype : {"float64", "float32"}

    Returns
    -------
    frame
        ``vertex``, ``rank``. One row a vertex in ascending order of ids; ranks sum to 1.

    Raises
    ------
    NotConverged
        ``max_iterations`` came first; the message gives the last change.
    InvalidArgument, UnknownVertex
        An argument is out of range; the personalization names an id that is not a vertex.

    Notes
    -----
    Repeated rows count as often as they occur (weights add up). The rank of vertices without
    out-edges is spread like the jumps. Cost: O(E) a pass, one gather an edge; about
    log(tolerance) / log(damping) passes. Equal for any number of partitions and threads to about
    1e-12 (float64) of a rank, the rounding of its sums.
    """

    damping: float = 0.85
    tolerance: float = 1e-6
    max_iterations: int = 100
    personalization: Any = None
    weighted: bool | None = None
    dtype: str = "float64"

    rule = "sum"
    by = "destination"

    def __post_init__(self) -> None:
        numbers = [self.damping, self.tolerance, self.max_iterations]
        if not all(isinstance(x, Real) for x in numbers):
            raise InvalidArgument(
                f"damping, tolerance and max_iterations are numbers; given were {numbers}"
            )
        jumps = self.personalization
        if not (jumps is None or isinstance(jumps, str) or hasattr(jumps, "columns")):
            raise InvalidArgument(
                f"personalization is a {type(jumps).__name__}; give a frame with the id column(s) and "
                "one more numeric column, or the name of a column of the vertices frame"
            )
        check_number("damping", self.damping, "0 <= damping < 1", 0 <= self.damping < 1)
        check_number("tolerance", self.tolerance, "at least 0", self.tolerance >= 0)
        whole = float(self.max_iterations).is_integer()
        check_number(
            "max_iterations", self.max_iterations, "a whole number of at least 1",
            whole and self.max_iterations >= 1,
        )  # fmt: skip
        check_number(
            "dtype", self.dtype, "'float64' or 'float32'", self.dtype in ("float64", "float32")
        )

    def reads_weight(self, schema: EdgeSchema) -> bool:
        if self.weighted:
            require_weight(schema, "pagerank(weighted=True)", "")
        return schema.weight is not None and self.weighted is not False

    def vertex_columns(self) -> Sequence[str]:
        return (self.personalization,) if isinstance(self.personalization, str) else ()

    def columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {"vertex": ColumnType("vertex"), "rank": ColumnType(self.dtype)}

    def run(self, run: Run) -> Table:
        view = run.view
        personal = self._personal(run)
        if personal is not None:
            view = view.with_columns({_PERSONAL: personal})
        state = run.engine.run(
            program(self.dtype, weighted=view.is_weighted, personal=personal is not None),
            view,
            constants={"damping": float(self.damping), "tolerance": float(self.tolerance)},
            max_supersteps=int(self.max_iterations),
            exact_supersteps=self.tolerance == 0,
            report=run.report,
        )
        rows = run.ids.in_user_order()
        return {"vertex": Values(rows), "rank": Values(state["rank"][rows])}

    def _personal(self, run: Run) -> np.ndarray | None:
        """The personalization in dense order, scaled to sum 1; None when it is uniform."""
        if self.personalization is None:
            return None
        if _PERSONAL not in run.frames:  # the name of a column
            jumps = run.view.vertex_columns[self.personalization].astype(np.float64)
        else:
            jumps = np.zeros(run.view.num_vertices)
            for chunk in run.frames[_PERSONAL]:
                if not len(chunk):
                    continue
                (values,) = chunk.columns.values()
                for nulls in chunk.nulls.values():
                    raise InvalidArgument(
                        f"personalization: {nulls.sum()} of its values are null; fill or drop them"
                    )
                rows, known = run.ids.find_rows(chunk.ids())
                if not known.all():
                    first = [column[int(np.argmin(known))].as_py() for column in chunk.ids()]
                    raise UnknownVertex(
                        f"personalization: {(~known).sum()} of its ids are not vertices of this "
                        f"graph, the first is {first[0] if len(first) == 1 else tuple(first)!r}"
                    )
                np.add.at(jumps, rows, values)
        total = jumps.sum()
        if not (np.isfinite(total) and total > 0 and jumps.min() >= 0):
            raise InvalidArgument(
                f"personalization: values from {jumps.min()} to {jumps.max()} with sum {total}; "
                "allowed are finite values of at least 0, not all 0"
            )
        scaled: np.ndarray = jumps / total
        return scaled
