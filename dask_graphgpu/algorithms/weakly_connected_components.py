"""Weakly connected components by Afforest: link a sample of edges, then only what is outside the giant.

References
----------
.. [1] Sutton, Ben-Nun, Barak, "Optimizing parallel graph connectivity computation via subgraph
   sampling", IPDPS 2018.
.. [2] Gower, Ross, "Minimum spanning trees and single linkage cluster analysis", Applied Statistics 1969.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dask_graphgpu.algorithms import score_thresholds as scores
from dask_graphgpu.algorithms.algorithm import Algorithm, require_weight
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class WeaklyConnectedComponents(Algorithm):
    """Component of every vertex; edges lead both ways.

    Parameters
    ----------
    thresholds : number or list of numbers, optional
        Only edges whose weight, which is a score, is at least so much count: the larger, the closer. Of a list
        there are components at each of its thresholds, in one run.
    max_size : int, optional
        The most vertices of a component, where weights are scores. In a component that is larger the threshold is
        raised, and only there, until its parts are small enough: first to its least weight, then to the next one.

    Returns
    -------
    frame
        ``vertex``, ``component``: the smallest id in the same component, in the order of the
        user's ids. One row a vertex in ascending order of ids. Of a list of thresholds ``component_0.5`` and so on
        instead, as Python writes the numbers, in the order of the list. With ``max_size`` each is followed by
        ``threshold`` (or ``threshold_0.5``; int64 or float64, nullable), the score at which the component holds: its
        vertices are joined by edges of at least so much, and not by those above. It is null for a vertex alone.

    Raises
    ------
    InvalidArgument
        A threshold is not finite, or there twice; or there are no weights.

    Notes
    -----
    Cost: O(E) in the worst case; a few looks a vertex where one component holds most of an
    undirected graph. Weights are not read unless there are ``thresholds`` or ``max_size``: then the cost is that of
    ``minimum_spanning_forest``, here of the maximum one [2]_, and O(V) for each threshold.

    Of repeated edges, also of opposite ones, the largest weight counts, unless the graph was given other
    ``duplicates=``. Edges of one weight join together or, where too many vertices would be joined, not at all;
    so the answer does not depend on any order, and a large component in which all weights are the same
    falls apart into single vertices.
    """

    thresholds: float | Sequence[float] | None = None
    max_size: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "thresholds", scores.as_thresholds(self.thresholds))
        scores.check_max_size(self.max_size)

    @property
    def by_score(self) -> bool:
        """Whether weights decide."""
        return self.thresholds is not None or self.max_size is not None

    @property
    def rule(self) -> str:  # type: ignore[override]
        return "max" if self.by_score else "one"

    def engine_functions(self) -> tuple[str, ...]:
        return ("spanning_forest", "components_at") if self.by_score else ("components",)

    def reads_weight(self, schema: EdgeSchema) -> bool:
        if self.by_score:
            given = "thresholds" if self.thresholds is not None else "max_size"
            require_weight(schema, f"weakly_connected_components({given}=...)", "")
        return self.by_score

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        if self.by_score:
            by_score = scores.columns(self.thresholds, self.max_size, schema)
            return {"vertex": ColumnType("vertex"), **by_score}
        return {"vertex": ColumnType("vertex"), "component": ColumnType("vertex")}

    def run(self, run: Run) -> Table:
        if self.by_score:
            return scores.components(run, self.thresholds, self.max_size)
        label = run.engine.components(run.staying, report=run.report)
        return {"vertex": Values(run.vertices), "component": Values(run.own(label))}
