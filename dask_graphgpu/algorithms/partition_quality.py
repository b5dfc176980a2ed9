"""How well a given division into communities fits the edges: modularity, coverage and conductance.

References
----------
.. [1] Newman, Girvan, "Finding and evaluating community structure in networks", Phys. Rev. E 2004.
.. [2] Brandes et al., "On modularity clustering", IEEE Transactions on Knowledge and Data Engineering 2008.
.. [3] Kannan, Vempala, Vetta, "On clusterings: good, bad and spectral", Journal of the ACM 2004.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cache
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.algorithm import (
    Algorithm,
    reads_optional_weight,
    refuse_extreme_weights,
)
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.vertex_labels import check_groups, read_start
from dask_graphgpu.algorithms.vertex_values import vertices_columns
from dask_graphgpu.arguments import check_real
from dask_graphgpu.fields import Field
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.partition.chunk import to_host
from dask_graphgpu.program import VertexProgram


@cache
def program(edges: str, *, weighted: bool) -> VertexProgram:
    """Weight from each vertex to those of its group; a self-loop counts twice."""
    if weighted:

        def compute(
            source_group: Any, destination_group: Any, source_id: Any, destination_id: Any, weight: Any, loop: Any
        ) -> Any:  # fmt: skip
            if source_group != destination_group:
                return 0.0
            return weight * (loop if source_id == destination_id else 1.0)
    else:

        def compute(  # type: ignore[misc]
            source_group: Any, destination_group: Any, source_id: Any, destination_id: Any, loop: Any
        ) -> Any:  # fmt: skip
            if source_group != destination_group:
                return 0.0
            return loop if source_id == destination_id else 1.0

    return VertexProgram(
        state={"within": Field("float64", initial=0.0), "group": Field("int64", vertices="group")},
        compute=compute,
        combine="sum",
        apply=lambda message: message,
        constants={"loop": 1.0},
        edges=edges,
    )


@dataclass(frozen=True)
class PartitionQuality(Algorithm):
    """Modularity, coverage and conductance of given communities.

    Directions mean nothing: the weights of both add up, as do those of repeated edges.

    Parameters
    ----------
    communities : frame or str
        The community of each vertex: a frame with the id column(s) and one more column, or an earlier result as it
        is, or the name of a column of numbers of the vertices frame. Communities are any integers or strings; of
        several columns ``community``, ``label`` or ``component`` is read. Vertices that it does not name are
        alone; ids that are no vertices are passed over, and counted in ``last_report().attrs["ignored"]``.
    resolution : number
        Of modularity; the larger, the smaller the communities that it favours.
    weighted : bool, optional
        Count edges by their weight. Default: when the graph has weights.

    Returns
    -------
    frame
        One row a community, in ascending order of ``community``, the smallest id in it:

        - ``vertices`` (int64);
        - ``internal`` (float64): weight of the edges within, without weights their number;
        - ``cut`` (float64): weight of the edges that lead out;
        - ``conductance`` (float64): the cut, of the weight at the vertices of the community or at all others, both
          ends counted, whichever is less; null where that is 0;
        - ``coverage`` (float64): the part of the weight of all edges that is within communities, the same in every
          row; 0 without edges;
        - ``modularity`` (float64) of all communities, the same in every row; 0 without edges.

    Raises
    ------
    InvalidArgument
        A vertex has two rows in ``communities``, or an argument is out of range.
    InvalidVertices
        ``communities`` has no id column, or a null in it or in the communities.
    InvalidEdges
        Weights are so large or small that sums of them would be lost.

    Notes
    -----
    Cost: O(V + E), two passes over the edges. Of a directed graph the in-edges are made as well. Modularity is what
    ``louvain`` and ``leiden`` say of their communities; that of directed graphs after Leicht and Newman is another.
    """

    communities: Any
    _: KW_ONLY
    resolution: float = 1.0
    weighted: bool | None = None

    row = "community"
    rule = "sum"
    group_frames = ("communities",)

    def __post_init__(self) -> None:
        check_groups("communities", self.communities)
        check_real(
            "resolution", self.resolution, "a finite number above 0", lambda r: 0 < r < np.inf
        )

    def engine_functions(self) -> tuple[str, ...]:
        return ("run",)

    def vertex_columns(self) -> Sequence[str]:
        return vertices_columns(self.communities)

    def reads_weight(self, schema: EdgeSchema) -> bool:
        return reads_optional_weight(schema, self.weighted, "partition_quality(weighted=True)")

    def num_rows(self, num_vertices: int, schema: EdgeSchema) -> int | None:
        return None

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        number = ColumnType("float64")
        return {
            "community": ColumnType("vertex"),
            "vertices": ColumnType("int64"),
            "internal": number,
            "cut": number,
            "conductance": ColumnType("float64", nullable=True),
            "coverage": number,
            "modularity": number,
        }

    def run(self, run: Run) -> Table:
        refuse_extreme_weights(run, "graph")
        group = read_start(run, "communities", self.communities).labels
        within = _within(run, group)
        volume = _within(run, np.zeros_like(group))
        community, vertices, within, volume = _by_group(run, group, within, volume)
        total = _sum(run, volume)
        share = volume / total if total else volume
        cut, less = volume - within, np.minimum(volume, total - volume)
        known = less > 0
        coverage = _sum(run, within) / total if total else 0.0
        expected = _sum(run, share * share)
        modularity = coverage - float(self.resolution) * expected if total else 0.0
        table = {
            "vertices": Values(vertices),
            "internal": Values(within / 2),
            "cut": Values(cut),
            "conductance": Values(cut / np.where(known, less, 1.0), known),
            "coverage": Values(np.full(len(community), coverage)),
            "modularity": Values(np.full(len(community), modularity)),
        }
        return {"community": Values(community)} | {
            name: values.beside(run.rows) for name, values in table.items()
        }


def _within(run: Run, group: Any) -> np.ndarray:
    """Weight from each own vertex to those of its group, both directions and both ends of self-loops counted."""
    view, n = run.view, run.view.num_owned
    every = np.empty_like(group, shape=view.num_vertices)
    every[:n] = group
    asked = program("both" if view.directed else "out", weighted=view.is_weighted)
    # A self-loop comes once from an undirected graph, and from both directions of a directed one.
    options = run.options(
        max_supersteps=1,
        exact_supersteps=True,
        constants={"loop": 1.0 if view.directed else 2.0},
    )
    found = run.engine.run(asked, view.with_columns({"group": view.at_ghosts(every)}), options)
    own: np.ndarray = to_host(found["within"])[:n]
    return own


def _by_group(
    run: Run, group: Any, *values: np.ndarray
) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """Each group by its first member, as ids of the result; how many are in it, and sums of values. Collective.

    On ranks those of a range of first members.
    """
    group = to_host(group).astype(np.intp, copy=False)
    low, high = 0, run.num_vertices
    if run.ranks is not None:
        ranks, order = run.ranks, np.argsort(group, kind="stable")
        bounds = np.arange(ranks.size + 1) * high // ranks.size
        cuts = np.searchsorted(group[order], bounds[1:-1])
        group, *values = (  # type: ignore[assignment]
            np.concatenate(ranks.all_to_all(np.split(each[order], cuts)))
            for each in (group, *values)
        )
        low, high = bounds[ranks.rank : ranks.rank + 2].tolist()
    count = np.bincount(group - low, minlength=high - low)
    within, volume = (np.bincount(group - low, each, high - low) for each in values)
    if run.ranks is None:
        first = to_host(run.rows).astype(np.intp, copy=False)
        first = first[count[first] > 0]
        community = np.asarray(first, dtype=run.rows.dtype, like=run.rows)
    else:
        first = np.flatnonzero(count)
        community = first + low
        run.order(community)
    return community, count[first], within[first], volume[first]


def _sum(run: Run, values: np.ndarray) -> float:
    """Of the groups of all ranks. Collective."""
    mine = float(values.sum())
    return mine if run.ranks is None else float(run.ranks.sum(mine))
