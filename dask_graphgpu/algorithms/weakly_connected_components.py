"""Weakly connected components by Afforest: link a sample of edges, then only what is outside the giant.

References
----------
.. [1] Sutton, Ben-Nun, Barak, "Optimizing parallel graph connectivity computation via subgraph
   sampling", IPDPS 2018.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.frames import is_frame
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class WeaklyConnectedComponents(Algorithm):
    """Component of every vertex; edges lead both ways.

    Parameters
    ----------
    labels : frame, optional
        An earlier result, such as yesterday's, of a graph that need hold only the edges that are new since. A frame
        with the id column(s) and a column ``component``, or one other column, of labels; others are not read.
        Vertices with one label are together as if edges joined them, whatever the label is: an id, a number or any
        other value. The graph's own edges join further. Not a column of the vertices frame.

    Returns
    -------
    frame
        ``vertex``, ``component``: the smallest id in the same component, in the order of the
        user's ids. One row a vertex in ascending order of ids; with ``labels`` for those of the graph and for
        those of ``labels``.

    Raises
    ------
    InvalidArgument, InvalidVertices
        Of ``labels``: there is no such column, a label or an id is null, or a vertex has two different labels.

    Notes
    -----
    Cost: O(E) in the worst case; a few looks a vertex where one component holds most of an
    undirected graph. Weights are not read.

    With ``labels`` of all edges so far, a graph of those that are new gives what the graph of all edges gives. Edges
    that are gone are not taken out: labels keep together what they joined. Cost: of the graph alone, and a pass over
    the labels, whose ids are merged with those of the graph if they ascend, as in a result, and else sorted. That is
    done on the host by one task, also where the graph is on several ranks or on GPUs: its worker needs memory for all
    labels.
    """

    labels: Any = None

    rule = "one"

    def __post_init__(self) -> None:
        if not (self.labels is None or is_frame(self.labels)):
            raise InvalidArgument(
                f"labels is a {type(self.labels).__name__}; give an earlier result: a frame with the id column(s) and "
                "a column 'component'"
            )

    def engine_functions(self) -> tuple[str, ...]:
        return ("components",)

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {"vertex": ColumnType("vertex"), "component": ColumnType("vertex")}

    def run(self, run: Run) -> Table:
        label = run.engine.components(run.staying, report=run.report)
        return {"vertex": Values(run.vertices), "component": Values(run.own(label))}
