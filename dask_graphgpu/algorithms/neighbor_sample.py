"""Sampled neighbourhoods of batches of vertices, for mini-batch training of graph neural networks.

References
----------
.. [1] Hamilton, Ying, Leskovec, "Inductive representation learning on large graphs", NIPS 2017.
.. [2] Bentley, Floyd, "Programming pearls: a sample of brilliance", CACM 1987.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.algorithms.edge_table import at, edge_columns
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.start_vertices import as_start_vertices, start_vertices
from dask_graphgpu.arguments import check_whole, is_whole, refuse
from dask_graphgpu.engine.walking import SampleRule
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class NeighborSample(Algorithm):
    """Sampled neighbourhoods of seeds, batch by batch.

    In each hop so many of the edges that lead to each vertex that is new in its batch are drawn, first to the seeds,
    then to the sources of the edges drawn before. Information flows along these edges to the seeds, as in GraphSAGE
    and in the loaders of PyG. Repeated rows are edges of their own.

    Parameters
    ----------
    seeds : id, list of ids or frame, optional
        Of a frame the id columns. Default: every vertex, in the order of the ids.
    fanout : list of int
        How many edges of a vertex are drawn in each hop; -1: all.
    replace : bool
        Draw each edge from all edges of a vertex, so that it may come several times. Default: without replacement,
        different edges, and all of a vertex that has no more.
    batch_size : int, optional
        Seeds of a batch, in the order in which they are given. Default: all are one.
    seed : int
        Of random numbers: others give other samples.

    Returns
    -------
    frame
        ``batch`` (int64, from 0 on), ``hop`` (int32, 1 for edges that lead to seeds), and the edge under the edge
        frame's own names, with its weight if there is one. One row an edge that was drawn, ordered by batch, hop,
        destination and source. In a batch the edges of a vertex are drawn once, in the first hop that comes to it.
        Of an undirected graph the destination is where the edge was drawn.

    Raises
    ------
    UnknownVertex
        A seed is not a vertex.

    Notes
    -----
    The edges of a vertex in a batch depend on the batch's number, the hop, ``seed`` and the edges; not on the engine,
    on ranks, or on the order of rows.

    Cost: a few draws and a sort for each row of the result, about 60 bytes each; of a vertex with d edges of which
    k are drawn without replacement, k squared or d steps, whichever is less. Where vertices are not in the order of
    their ids (``order="degree"``), the edges are copied and sorted once a call. On several ranks each draws for its
    own vertices, and has 12 bytes for every vertex of the graph; on disk the pages of a hop are read once.
    """

    seeds: Any = None
    _: KW_ONLY
    fanout: Sequence[int]
    replace: bool = False
    batch_size: int | None = None
    seed: int = 0

    row = "edge"
    rule = "keep"
    by = "destination"
    returns_weight = True

    def __post_init__(self) -> None:
        as_start_vertices(self, "seeds")
        given: Any = self.fanout
        fanout = [given] if is_whole(given) else given
        known = isinstance(fanout, Sequence) and not isinstance(fanout, str) and len(fanout) > 0
        if not (known and all(is_whole(k) and (k == -1 or 0 < k < 2**31) for k in fanout)):
            refuse(
                "fanout",
                given,
                "is a list with a whole number from 1 to 2**31 - 1, or -1 for all, for each hop",
            )
        object.__setattr__(self, "fanout", tuple(int(k) for k in fanout))
        if self.batch_size is not None:
            check_whole("batch_size", self.batch_size, 1)
        check_whole("seed", self.seed, 0)

    def engine_functions(self) -> tuple[str, ...]:
        return ("neighbor_sample",)

    def reads_weight(self, schema: EdgeSchema) -> bool:
        return schema.weight is not None

    def frame_columns(self, name: str) -> int:
        return 0

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        numbers = {"batch": ColumnType("int64"), "hop": ColumnType("int32")}
        return {**numbers, **edge_columns(schema.weight_kind)}

    def run(self, run: Run) -> Table:
        seeds, places, total = start_vertices(run, "seeds", self.seeds)
        size = self.batch_size or max(total, 1)
        rule = SampleRule(tuple(self.fanout), self.replace, int(self.seed))
        batch, hop, source, destination, weight = run.engine.neighbor_sample(
            run.view, places // size, seeds, rule, run.report
        )
        hops = len(rule.fanout)
        run.order(batch * hops + hop - 1, -(-total // size) * hops, destination)
        dense = run.ids.position if run.ranks is None else None
        ends = {"edge source": source, "edge destination": destination}
        found = {"batch": Values(batch), "hop": Values(hop)} | {
            name: Values(numbers if dense is None else at(dense, numbers))
            for name, numbers in ends.items()
        }
        return found if weight is None else {**found, "edge weight": Values(weight)}
