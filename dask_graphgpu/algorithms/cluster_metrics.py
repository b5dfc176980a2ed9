"""Metrics of clusters: how large and dense they are, and how well they hold together.

References
----------
.. [1] Freeman, "Centrality in social networks: conceptual clarification", Social Networks 1978.
.. [2] Magnien, Latapy, Habib, "Fast computation of empirically tight bounds for the diameter of massive graphs",
   Journal of Experimental Algorithmics 2009.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.vertex_labels import check_groups, read_start
from dask_graphgpu.algorithms.vertex_values import vertices_columns
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class ClusterMetrics(Algorithm):
    """Size, density, weakest edge and bridges of each cluster.

    Only edges between two vertices of one cluster count. Directions and self-loops mean nothing here, and repeated
    edges, also opposite ones, are one, whose weight is the largest of them.

    Parameters
    ----------
    clusters : frame or str, optional
        The cluster of each vertex: a frame with the id column(s) and one more column, or an earlier result as it is,
        or the name of a column of numbers of the vertices frame. Clusters are any integers or strings; of several
        columns ``community``, ``label`` or ``component`` is read. Vertices that it does not name are alone; ids that
        are no vertices are passed over, and counted in ``last_report().attrs["ignored"]``. Default: the weakly
        connected components.

    Returns
    -------
    frame
        One row a cluster, in ascending order of ``cluster``, the smallest id in it:

        - ``vertices``, ``edges`` (int64);
        - ``density`` (float64): edges, of all n (n - 1) / 2 that there might be; null for one vertex;
        - ``weakest`` (int64 or float64): the least weight of an edge; null without edges. Not of a graph without
          weights;
        - ``bridges`` (int64): edges without which the cluster would fall into two parts;
        - ``centralization`` (float64): of degrees, 0 where all are equal to 1 where one vertex is joined to all
          others, and these not to each other (Freeman); null for fewer than three vertices;
        - ``diameter_at_least``, ``diameter_at_most`` (int64): bounds of the most edges of a shortest path between
          two of its vertices; null where edges of the cluster do not join all of it. Both are equal, and so the
          diameter, of trees and of clusters in which all are joined to each other.

    Raises
    ------
    InvalidArgument
        A vertex has two rows in ``clusters``.
    InvalidVertices
        ``clusters`` has no id column, or there is a null in that or in the clusters.

    Notes
    -----
    Bounds of the diameter are of three searches (Magnien, Latapy, Habib). The first begins at the smallest id, the
    second at a vertex that is farthest from it: how far that one comes is the lower bound. The third begins in the
    middle of the longest path of the second. The upper bound is twice how far the first or the third comes, whichever
    is less.

    Cost: O(V + E), with a sort of the edges and one of the vertices; no pairs are made, however large a cluster is.
    There is to be room for some 100 bytes for each edge and 60 for each vertex. On several ranks all edges of a cluster
    are sent to one of them. Edges on disk are gone over as often as those of all clusters exceed a quarter of the
    memory: then there is to be room for those of one cluster.
    """

    clusters: Any = None

    row = "cluster"
    rule = "max"
    group_frames = ("clusters",)

    def __post_init__(self) -> None:
        if self.clusters is not None:
            check_groups("clusters", self.clusters)

    def engine_functions(self) -> tuple[str, ...]:
        shapes = ("edges_among", "cluster_batches", "cluster_shapes")
        return ("components", *shapes) if self.clusters is None else shapes

    def vertex_columns(self) -> Sequence[str]:
        return vertices_columns(self.clusters)

    def reads_weight(self, schema: EdgeSchema) -> bool:
        return schema.weight is not None

    def num_rows(self, num_vertices: int, schema: EdgeSchema) -> int | None:
        return None

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        count, share = ColumnType("int64"), ColumnType("float64", nullable=True)
        weight, bound = schema.weight_kind, ColumnType("int64", nullable=True)
        return {
            "cluster": ColumnType("vertex"),
            "vertices": count,
            "edges": count,
            "density": share,
            **({} if weight is None else {"weakest": ColumnType(weight, nullable=True)}),
            "bridges": count,
            "centralization": share,
            "diameter_at_least": bound,
            "diameter_at_most": bound,
        }

    def run(self, run: Run) -> Table:
        cluster = self._clusters(run)
        found = []
        for inside in run.engine.cluster_batches(run.view, cluster):
            edges = run.engine.edges_among(run.view, inside)
            found.append(run.engine.cluster_shapes(run.view, edges, cluster, inside, run.report))
        shapes = found[0].beside(found[1:])
        order = np.argsort(shapes.first)
        n, m = shapes.vertices[order], shapes.edges[order]
        several, many = n > 1, n > 2
        pairs = np.where(several, n * (n - 1) // 2, 1)
        spread = n * shapes.degree[order] - 2 * m
        whole = shapes.connected[order]
        first = np.asarray(shapes.first[order], like=run.rows)
        run.order(first)
        table = {
            "cluster": Values(run.vertices[first] if run.ranks is None else first),
            "vertices": Values(n),
            "edges": Values(m),
            "density": Values(m / pairs, several),
            "bridges": Values(shapes.bridges[order]),
            "centralization": Values(spread / np.where(many, (n - 1) * (n - 2), 1), many),
            "diameter_at_least": Values(shapes.at_least[order], whole),
            "diameter_at_most": Values(shapes.at_most[order], whole),
        }
        if shapes.weakest is not None:
            table["weakest"] = Values(shapes.weakest[order], m > 0)
        return {name: values.beside(run.rows) for name, values in table.items()}

    def _clusters(self, run: Run) -> Any:
        """The cluster of each vertex that is here: numbers, the same on all ranks."""
        if self.clusters is not None:
            own = read_start(run, "clusters", self.clusters).labels
            cluster = np.empty_like(own, shape=run.view.num_vertices)
            cluster[: len(own)] = own
            return run.view.at_ghosts(cluster)
        label = run.engine.components(run.view, report=run.report)
        return run.view.at_ghosts(label)
