"""Betweenness of vertices and edges by Brandes' accumulation: all sources, or some.

References
----------
.. [1] Freeman, "A set of measures of centrality based on betweenness", Sociometry 1977.
.. [2] Brandes, "A faster algorithm for betweenness centrality", J. Mathematical Sociology 2001.
.. [3] Brandes, "On variants of shortest-path betweenness centrality and their generic computation",
   Social Networks 2008.
.. [4] Brandes, Pich, "Centrality estimation in large networks", Int. J. Bifurcation and Chaos 2007.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from dask_graphgpu.algorithms.algorithm import (
    Algorithm,
    require_weight,
)
from dask_graphgpu.algorithms.edge_table import edge_columns, edge_table
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.some_sources import check_sources, sources_of
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class _Betweenness(Algorithm):
    """What both have: which sources, which lengths, and how sums are scaled."""

    sources: Any = None
    _: KW_ONLY
    weighted: bool = False
    normalized: bool = True
    seed: int = 0

    rule = "min"
    name: ClassVar[str]

    def __post_init__(self) -> None:
        check_sources(self, self.seed)

    def engine_functions(self) -> tuple[str, ...]:
        return ("betweenness",)

    def reads_weight(self, schema: EdgeSchema) -> bool:
        if self.weighted:
            require_weight(schema, f"{self.name} with weighted=True", "; or weighted=False")
        return self.weighted

    @abstractmethod
    def run(self, run: Run) -> Table:
        """Compute the result."""

    def _scales(self, run: Run, sources: Any, *, endpoints: bool) -> tuple[float, float | None]:
        """What to multiply sums by, and those of sources where that is something else.

        Of the pairs (s, t) that a path through a vertex can join, a source is the s of those that
        are counted for it already; without endpoints it is in fewer.
        """
        ends = run.num_vertices if endpoints else run.num_vertices - 1
        if ends < 2:
            return 1.0, None
        number = ends if self.sources is None else len(sources)
        twice = 1 if self.normalized or run.view.directed else 2  # both ways of undirected pairs

        def scale(counted: int) -> float:
            if counted == 0:
                return float("nan")
            return 1 / (counted * (ends - 1)) if self.normalized else ends / (counted * twice)

        others = None if self.sources is None or endpoints else scale(number - 1)
        return scale(number), others


@dataclass(frozen=True)
class BetweennessCentrality(_Betweenness):
    """Share of shortest paths that go through every vertex.

    The sum over pairs (s, t) of the part of the shortest paths from s to t that go through it.

    Parameters
    ----------
    sources : int or list of ids, optional
        The vertices that paths start from: a list of ids, or a number to draw so many at random. The
        result is then an estimate of that of all. Default: all.
    weighted : bool
        A path's length is the sum of its weights, which have to be above 0. Default: the number of
        its edges.
    normalized : bool
        Divide by the number of pairs, (n - 1) (n - 2). Without, of undirected graphs each pair
        counts once.
    seed : int
        Number that the drawing of sources starts from; the same one draws the same sources.
    endpoints : bool
        Count a path at its two ends as well.

    Returns
    -------
    frame
        ``vertex``, ``betweenness`` (float64). One row a vertex in ascending order of ids.

    Raises
    ------
    InvalidArgument
        The graph has no weights, or fewer vertices than ``sources``.
    UnknownVertex
        A source is not a vertex.
    InvalidEdges
        A weight is 0, or is lost beside a distance.
    IntegerOverflow
        A distance does not fit int64, or a number of paths float64.

    Notes
    -----
    Of repeated edges the lightest counts once (with ``duplicates="keep"`` each is a path of its own).
    Values are those of NetworkX, up to rounding; with one source, its own is NaN. Cost: O(V + E) a
    source, with weights O(E log V); sources are worked on side by side, by all threads (on the GPU
    those of small graphs, and with weights one after another), on several ranks up to 16 at once.
    """

    _: KW_ONLY
    endpoints: bool = False

    name = "betweenness_centrality"

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {"vertex": ColumnType("vertex"), "betweenness": ColumnType("float64")}

    def run(self, run: Run) -> Table:
        sources = sources_of(run, self.sources, self.seed)
        value = run.engine.betweenness(
            run.staying, sources, weighted=self.weighted, endpoints=self.endpoints, edges=False,
            report=run.report,
        )  # fmt: skip
        scale, of_sources = self._scales(run, sources, endpoints=self.endpoints)
        scaled = value * scale
        if of_sources is not None:
            rows = np.asarray(run.rows_of(sources)[0], like=value)
            scaled[rows] = value[rows] * of_sources
        return {"vertex": Values(run.vertices), "betweenness": run.column(scaled)}


@dataclass(frozen=True)
class EdgeBetweennessCentrality(_Betweenness):
    """Share of shortest paths that go along every edge.

    The sum over pairs (s, t) of the part of the shortest paths from s to t that go along it.

    Parameters
    ----------
    sources : int or list of ids, optional
        The vertices that paths start from: a list of ids, or a number to draw so many at random. The
        result is then an estimate of that of all. Default: all.
    weighted : bool
        A path's length is the sum of its weights, which have to be above 0. Default: the number of
        its edges.
    normalized : bool
        Divide by the number of pairs, n (n - 1). Without, of undirected graphs each pair counts once.
    seed : int
        Number that the drawing of sources starts from; the same one draws the same sources.

    Returns
    -------
    frame
        The edges under the edge frame's own names of the id columns, each once, and ``betweenness``
        (float64), ordered by source and destination; an undirected edge has the smaller id first.

    Raises
    ------
    InvalidArgument
        The graph has no weights, or fewer vertices than ``sources``.
    UnknownVertex
        A source is not a vertex.
    InvalidEdges
        A weight is 0, or is lost beside a distance.
    IntegerOverflow
        A distance does not fit int64, or a number of paths float64.

    Notes
    -----
    Repeated edges and cost are as of `betweenness_centrality`, and 8 bytes an edge and thread. Values are
    those of NetworkX, up to rounding.
    """

    row = "edge"
    name = "edge_betweenness_centrality"

    def engine_functions(self) -> tuple[str, ...]:
        return ("edge_betweenness",)

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {**edge_columns(), "betweenness": ColumnType("float64")}

    def run(self, run: Run) -> Table:
        sources = sources_of(run, self.sources, self.seed)
        view = run.answering
        source, destination, value = run.engine.edge_betweenness(
            view, sources, weighted=self.weighted, report=run.report
        )
        scale, _ = self._scales(run, sources, endpoints=True)
        return edge_table(run, source, destination, {"betweenness": Values(value * scale)})
