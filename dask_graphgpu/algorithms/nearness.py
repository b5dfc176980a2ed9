"""What centralities by distances share: whose distances are added up, and estimates of the sums and their errors.

References
----------
.. [1] Eppstein, Wang, "Fast approximation of centrality", J. Graph Algorithms and Applications 2004.
.. [2] Boldi, Vigna, "In-core computation of geometric centralities with HyperBall: a hundred billion nodes and
   beyond", ICDM workshops 2013.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dask_graphgpu.algorithms.algorithm import Algorithm, as_plain_ids, require_weight
from dask_graphgpu.algorithms.distance_sums import sums_from, sums_of_targets
from dask_graphgpu.algorithms.random_priorities import random_priorities
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.some_sources import check_sources, sources_of
from dask_graphgpu.arguments import check_choice, check_whole
from dask_graphgpu.engine.hyperloglog import MOST_PRECISION, relative_error
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


class Sums(NamedTuple):
    """Distances between a vertex and those others that were counted, an entry a row of the result.

    Attributes
    ----------
    others : int
        Vertices of the graph but for one.
    counted : float64
        Others that were counted, whether there is a path or not.
    reached, total, squares, inverses, inverse_squares : float64
        Of those with a path: how many, and the sums of their distances, of the squares and the inverses of these,
        and of the squares of inverses. Distances of 0 have no inverse.
    """

    others: int
    counted: Any
    reached: Any
    total: Any
    squares: Any
    inverses: Any
    inverse_squares: Any

    def mean(self, sums: Any) -> Any:
        """Of those counted; NaN if there are none, unless there are no others at all."""
        none = np.nan if self.others else 0.0
        return np.where(self.counted > 0, sums / np.maximum(self.counted, 1), none)

    def standard_error(self, mean: Any, squares: Any) -> Any:
        """Of a mean over those counted, with the sum of the squares of what it is of.

        They were drawn from all others, each once; of less than two it is NaN.
        """
        with np.errstate(all="ignore"):
            variance = np.maximum(squares - self.counted * mean * mean, 0) / (self.counted - 1)
            left = 1 - self.counted / max(self.others, 1)
            return np.where(self.counted > 1, np.sqrt(variance / self.counted * left), np.nan)


class Balls(NamedTuple):
    """Estimates by HyperBall, an entry a row of the result.

    Attributes
    ----------
    others : int
        Vertices of the graph but for one.
    reached, total, inverses : float64
        As of `Sums`; there may be more reached than others.
    reached_variance, total_variance, covariance, inverses_variance : float64
        Of these estimates, and that of the first two together.

    Notes
    -----
    A ball holds the smaller ones around the same vertex, and its counter counts their vertices, too. A register is the
    extreme of random numbers, one for each vertex of the ball, so it depends on that of a smaller ball only where both
    are equal: estimates of sizes m < n, each with the relative error e, have the covariance (e m)**2, the variance of
    the first.
    Errors thus grow by independent parts from ball to ball, with variances of e**2 times the growth of the square of
    the size. A sum over distances d of f(d) times how many vertices are at d has the variance that the sum of f(d)**2
    times these parts has. Of small balls, whose registers are mostly empty, errors are less.
    """

    others: int
    reached: Any
    total: Any
    inverses: Any
    reached_variance: Any
    total_variance: Any
    covariance: Any
    inverses_variance: Any

    @classmethod
    def of(cls, found: Any, others: int, precision: int) -> Balls:
        """What `Engine.hyperball` has found."""
        size, total, inverses = (found[:, i] for i in range(3))
        variance = relative_error(precision) ** 2
        together, of_total, of_inverses = (variance * found[:, i] for i in range(3, 6))
        of_reached = variance * (size * size - 1)
        return cls(others, size - 1, total, inverses, of_reached, of_total, together, of_inverses)


@dataclass(frozen=True)
class Nearness(Algorithm):
    """A centrality that is made of the distances between a vertex and all others."""

    sources: Any = None
    _: KW_ONLY
    target: Any = None
    weighted: bool = False
    direction: str = "in"
    method: str = "search"
    precision: int = 8
    seed: int = 0

    name: ClassVar[str]
    value: ClassVar[str]

    @property
    def rule(self) -> str:  # type: ignore[override]
        return "min" if self.weighted else "one"

    def __post_init__(self) -> None:
        check_sources(self, self.seed)
        if self.target is not None:
            as_plain_ids(self, "target")
        check_choice("direction", self.direction, ("in", "out"))
        check_choice("method", self.method, ("search", "hyperball"))
        check_whole("precision", self.precision, 4)
        if self.precision > MOST_PRECISION:
            raise InvalidArgument(
                f"precision={self.precision}; allowed are 4 to {MOST_PRECISION}: each vertex has "
                "2 ** precision bytes, twice"
            )
        if self.method == "hyperball" and (self.weighted or self.sources is not None):
            other = "weighted=True" if self.weighted else "sources="
            raise InvalidArgument(
                f"method='hyperball' counts the edges of paths from all vertices; drop {other}, or "
                "use method='search'"
            )

    def engine_functions(self) -> tuple[str, ...]:
        if self.method == "hyperball":
            return ("hyperball",)
        return ("run",) if self.weighted else ("bfs",)

    def reads_weight(self, schema: EdgeSchema) -> bool:
        if self.weighted:
            require_weight(schema, f"{self.name}(weighted=True)", "; or weighted=False")
        return self.weighted

    @property
    def _estimates(self) -> bool:
        return self.method == "hyperball" or isinstance(self.sources, int)

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        score = ColumnType("float64")
        error = {"error": score} if self._estimates else {}
        return {"vertex": ColumnType("vertex"), self.value: score, **error}

    def num_rows(self, num_vertices: int, schema: EdgeSchema) -> int | None:
        return num_vertices if self.target is None else None

    @abstractmethod
    def of_sums(self, sums: Sums) -> tuple[Any, Any]:
        """The centrality and its standard error, from those that were counted."""

    @abstractmethod
    def of_balls(self, balls: Balls) -> tuple[Any, Any]:
        """The centrality and its standard error, from counters."""

    def run(self, run: Run) -> Table:
        rows, vertices = run.rows, run.vertices
        if self.target is not None:
            targets = run.ids.find(self.target if isinstance(self.target, list) else [self.target])
            rows, places = run.rows_of(targets)
            vertices = run.dense(rows)
            run.order(places)
        others = run.num_vertices - 1
        if self.method == "hyperball":
            hashes = random_priorities(run, int(self.seed))
            found = run.engine.hyperball(
                run.view, hashes, int(self.precision), self.direction, report=run.report
            )
            value, error = self.of_balls(
                Balls.of(found.take(rows, axis=0), others, int(self.precision))
            )
        elif self.target is not None and self.sources is None:
            sums = sums_of_targets(run, targets, self.direction, weighted=self.weighted)
            sums = sums if run.ranks is None else sums[places]
            counted = np.full_like(sums[:, 0], others)
            value, error = self.of_sums(Sums(others, counted, *sums.T))
        else:
            sources = sources_of(run, self.sources, int(self.seed))
            own, _ = run.rows_of(sources)
            counted = np.full_like(run.rows, len(sources), np.float64, shape=run.view.num_vertices)
            counted[own] -= 1
            sums = sums_from(run, sources, self.direction, weighted=self.weighted)
            of_rows = sums.take(rows, axis=0).T
            value, error = self.of_sums(Sums(others, counted.take(rows), *of_rows))
        table = {"vertex": Values(vertices), self.value: Values(value)}
        return table | {"error": Values(error)} if self._estimates else table
