"""Weakly connected components by Afforest: link a sample of edges, then only what is outside the giant.

References
----------
.. [1] Sutton, Ben-Nun, Barak, "Optimizing parallel graph connectivity computation via subgraph
   sampling", IPDPS 2018.
.. [2] Gower, Ross, "Minimum spanning trees and single linkage cluster analysis", Applied Statistics 1969.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dask_graphgpu.algorithms import score_thresholds as scores
from dask_graphgpu.algorithms.algorithm import Algorithm, require_weight
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.several import as_numbers
from dask_graphgpu.arguments import check_whole
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.frames import is_frame
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.partition.layout import Form


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
    labels : frame, optional
        An earlier result, such as yesterday's, of a graph that need hold only the edges that are new since. A frame
        with the id column(s) and a column ``component``, or one other column, of labels; others are not read.
        Vertices with one label are together as if edges joined them, whatever the label is: an id, a number or any
        other value. The graph's own edges join further. Not a column of the vertices frame.
    since : int, optional
        Of a saved graph that is updated: the ``generation`` whose components ``labels`` are, of all its vertices. What
        updates have changed since is taken in, also rows that are gone.

    Returns
    -------
    frame
        ``vertex``, ``component``: the smallest id in the same component, in the order of the
        user's ids. One row a vertex in ascending order of ids; with ``labels`` for those of the graph and for
        those of ``labels``. Of a list of thresholds ``component_0.5`` and so on instead, as Python writes the numbers,
        in the order of the list. With ``max_size`` each is followed by ``threshold`` (or ``threshold_0.5``; int64 or
        float64, nullable), the score at which the component holds: its vertices are joined by edges of at least so
        much, and not by those above. It is null for a vertex alone.

    Raises
    ------
    InvalidArgument
        A threshold is not finite, or there twice; there are no weights; or ``labels`` are given with either: of edges
        that are behind labels the scores are not known.
    InvalidArgument, InvalidVertices
        Of ``labels``: there is no such column, a label or an id is null, or a vertex has two different labels.
    InvalidArgument
        Of ``since``: there are no ``labels``; the graph is not a saved one, has no such generation, or keeps no log of
        what came after it, as after `compact`; or the vertices of ``labels`` are not those of that generation.

    Notes
    -----
    Cost: O(E) in the worst case; a few looks a vertex where one component holds most of an
    undirected graph that is kept. In one call on frames in host memory edges are linked as they were read, on
    ranks and beyond the memory limit, too: they are neither sorted into rows nor shared with another method that is
    computed beside. Weights are not
    read unless there are ``thresholds`` or ``max_size``: then the cost is that of ``minimum_spanning_forest``, here of
    the maximum one (Gower, Ross), and O(V) for each threshold.

    Of repeated edges, also of opposite ones, the largest weight counts, unless the graph was given other
    ``duplicates=``. Edges of one weight join together or, where too many vertices would be joined, not at all;
    so the answer does not depend on any order, and a large component in which all weights are the same
    falls apart into single vertices.

    With ``labels`` of all edges so far, a graph of those that are new gives what the graph of all edges gives. Edges
    that are gone are not taken out: labels keep together what they joined. Cost: of the graph alone, and a pass over
    the labels, whose ids are merged with those of the graph if they ascend, as in a result, and else sorted. That is
    done on the host by one task, also where the graph is on several ranks or on GPUs: its worker needs memory for all
    labels.

    With ``since`` the answer is that of the whole graph, made by one task on the host: a pass over the labels and what
    the log says. Components that have lost a row are made anew of the rows of their vertices, and no other row is read;
    where the largest one has lost one, that is most of the graph.
    """

    thresholds: float | Sequence[float] | None = None
    max_size: int | None = None
    labels: Any = None
    since: int | None = None

    def __post_init__(self) -> None:
        if self.thresholds is not None:
            plain = as_numbers("thresholds", self.thresholds, "a finite number", math.isfinite)
            object.__setattr__(self, "thresholds", plain)
        scores.check_max_size(self.max_size)
        if self.since is not None:
            check_whole("since", self.since, 0)
            if self.labels is None:
                raise InvalidArgument(
                    f"since={self.since} and no labels: give labels=, the components of that generation of the graph"
                )
        if self.labels is None:
            return
        if not is_frame(self.labels):
            raise InvalidArgument(
                f"labels is a {type(self.labels).__name__}; give an earlier result: a frame with the id column(s) and "
                "a column 'component'"
            )
        if self.by_score:
            raise InvalidArgument(
                "labels= is given with thresholds= or max_size=: the scores of the edges behind labels are not known; "
                "give one of them, the latter to the graph of all edges"
            )

    @property
    def by_score(self) -> bool:
        """Whether weights decide."""
        return self.thresholds is not None or self.max_size is not None

    @property
    def rule(self) -> str:  # type: ignore[override]
        return "max" if self.by_score else "one"

    @property
    def edge_form(self) -> Form:
        return "rows" if self.by_score else "list"

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
        return {"vertex": Values(run.vertices), "component": run.own_vertices(label)}
