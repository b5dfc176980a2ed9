"""Communities by label propagation, as LDBC Graphalytics defines it (CDLP).

References
----------
.. [1] Raghavan, Albert, Kumara, "Near linear time algorithm to detect community structures in
   large-scale networks", Physical Review E 2007.
.. [2] Iosup et al., "The LDBC Graphalytics benchmark", arXiv 2011.15028.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.vertex_labels import check_groups, read_start
from dask_graphgpu.algorithms.vertex_values import vertices_columns
from dask_graphgpu.arguments import check_whole
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class LabelPropagation(Algorithm):
    """Community of every vertex by label propagation.

    The label that spread to a vertex, at first its own id.

    In every iteration all vertices take, at the same time, the label that most of their neighbours
    have; of several the smallest, in the order of the user's ids. In a directed graph out- and
    in-edges count, and neighbours with an edge in each direction twice. Repeated edges count once
    (with ``duplicates="keep"`` each) and self-loops not at all; a vertex without neighbours keeps its
    label.

    Parameters
    ----------
    max_iterations : int
        Iterations at most; fewer when one changes nothing, after which none would.
    initial : frame or str, optional
        The groups to start from: a frame with the id column(s) and one more column, the group of each vertex,
        or an earlier result as it is, or the name of a column of numbers of the vertices frame. Groups are any
        integers or strings; of several columns ``community``, ``label`` or ``component`` is read. Vertices that
        it does not name start alone; ids that are no vertices are passed over, and counted in
        ``last_report().attrs["ignored"]``.

    Returns
    -------
    frame
        ``vertex``, ``label``: an id. One row a vertex in ascending order of ids.

    Raises
    ------
    InvalidArgument
        ``max_iterations`` is out of range; a vertex has two rows in ``initial``.
    InvalidVertices
        ``initial`` has no id column, or a null in it or in the groups.

    Notes
    -----
    Cost: O(V + E) an iteration; of a directed graph the in-edges are made as well. Labels may swing
    for ever, as in a path of two vertices, so that this is not about converging. Weights are not
    read.

    From ``initial`` the label of a group is its smallest id, of vertices of this graph: ties go by it, and the result
    names it, whatever the group was called.
    """

    max_iterations: int = 10
    initial: Any = None

    rule = "one"
    group_frames = ("initial",)

    def __post_init__(self) -> None:
        check_whole("max_iterations", self.max_iterations, 1)
        if self.initial is not None:
            check_groups("initial", self.initial)

    def vertex_columns(self) -> Sequence[str]:
        return vertices_columns(self.initial)

    def engine_functions(self) -> tuple[str, ...]:
        return ("label_propagation",)

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {"vertex": ColumnType("vertex"), "label": ColumnType("vertex")}

    def run(self, run: Run) -> Table:
        start = None
        if self.initial is not None:
            start = read_start(run, "initial", self.initial).labels
        label = run.engine.label_propagation(
            run.staying, int(self.max_iterations), run.report, start
        )
        return {"vertex": Values(run.vertices), "label": run.own_vertices(label)}
