"""The neighbourhood of a vertex as edges (its ego network).

References
----------
.. [1] Freeman, "Centered graphs and the structure of ego networks", Mathematical Social Sciences 1982.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.algorithm import Algorithm, as_plain_ids
from dask_graphgpu.algorithms.edge_table import edge_columns
from dask_graphgpu.algorithms.induced import edge_table
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.arguments import check_whole
from dask_graphgpu.io.results import ColumnType, Table
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.partition.device.elements import not_negative


@dataclass(frozen=True)
class Ego(Algorithm):
    """The edges among a vertex and the vertices near it.

    Parameters
    ----------
    center : id
        The vertex whose neighbourhood it is.
    radius : int
        Near are vertices that a path of at most so many edges leads to, in a directed graph along
        the edges.

    Returns
    -------
    frame
        The rows of the edge frame that join two near vertices, under its own names of the id columns
        and the weight, ordered by source and destination. Repeated rows stay, ordered by weight
        (unless the graph was given another ``duplicates=``); an undirected graph gives every edge
        once, the smaller id first. Weights may be any numbers; nulls among
        floats come back as NaN.

    Raises
    ------
    UnknownVertex
        The center is not a vertex.

    Notes
    -----
    Cost: the search for near vertices, as ``bfs`` with this cutoff, and one pass over the edges.
    """

    center: Any
    radius: int = 1

    row = "edge"
    rule = "keep"
    returns_weight = True

    def __post_init__(self) -> None:
        as_plain_ids(self, "center", several=False)
        check_whole("radius", self.radius, 0, any_size=True)

    def engine_functions(self) -> tuple[str, ...]:
        return ("bfs", "edges_among")

    def reads_weight(self, schema: EdgeSchema) -> bool:
        return schema.weight is not None

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return edge_columns(schema.weight_kind)

    def run(self, run: Run) -> Table:
        (center,) = run.ids.find([self.center])
        most = min(int(self.radius), run.num_vertices)
        edges = run.engine.small_ego(run.view, int(center), most, run.report)
        if edges is None:
            level = run.engine.bfs(
                run.working, int(center), cutoff=most, targets=None, report=run.report
            )
            near = not_negative(level)
            if run.ranks is not None and isinstance(near, np.ndarray):
                near = run.view.at_ghosts(near)
            edges = run.engine.edges_among(run.answering, near)
        return edge_table(run, edges)
