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

import numpy as np

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.algorithms.edge_table import edge_columns
from dask_graphgpu.algorithms.edge_times import carried, check_times, columns_of, dtype_of
from dask_graphgpu.algorithms.run import Run, at
from dask_graphgpu.algorithms.start_vertices import (
    as_start_vertices,
    start_values,
    start_vertices,
)
from dask_graphgpu.arguments import check_whole, is_whole, refuse
from dask_graphgpu.engine.walking import SampleRule
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.io.times import in_units_of, is_time


@dataclass(frozen=True)
class NeighborSample(Algorithm):
    """Sampled neighbourhoods of seeds, batch by batch.

    The first hop draws, for each seed, some of the edges that lead to it. Each further hop does so for the sources of
    the edges drawn before that are new in their batch. Information flows along these edges to the seeds, as in
    GraphSAGE and in the loaders of PyG. Repeated rows are edges of their own.

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
    time : str, optional
        An edge column of numbers or times. Each row of the frame of ``seeds`` has a time of its own then, in one more
        column, and a sample of its own, of edges that are not later.
    seed : int
        Of random numbers: others give other samples.

    Returns
    -------
    frame
        ``batch`` (int64, from 0 on), ``hop`` (int32, 1 for edges that lead to seeds), and the edge under the edge
        frame's own names, with its weight if there is one. One row an edge that was drawn, ordered by batch, hop,
        destination and source. In a batch the edges of a vertex are drawn once, in the first hop that comes to it.
        Of an undirected graph the destination is where the edge was drawn. With ``time`` also ``seed`` (int64), the
        row of the seed that it was drawn for, and the time of the edge: one row for each edge and seed, ordered by
        seed, hop, destination and source.

    Raises
    ------
    UnknownVertex
        A seed is not a vertex.
    InvalidArgument
        An argument is out of range, or times are not of one kind.

    Notes
    -----
    The edges of a vertex in a batch depend on the batch's number, the hop, ``seed`` and the edges; not on the engine,
    on ranks, or on the order of rows. With ``time`` they depend on the row of the seed in place of the batch: two seeds
    of a batch may know different edges of a vertex, as in the disjoint subgraphs of PyG's temporal loaders.

    Cost: a few draws and a sort for each row of the result, about 60 bytes each; of a vertex with d edges of which
    k are drawn without replacement, k squared or d steps, whichever is less. Where vertices are not in the order of
    their ids (``order="degree"``), and with ``time``, the edges are copied and sorted once a call. On several ranks
    each draws for its own vertices, and has 12 bytes for every vertex of the graph, with ``time`` 8 for every seed; on
    disk the pages of a hop are read once.
    """

    seeds: Any = None
    _: KW_ONLY
    fanout: Sequence[int]
    replace: bool = False
    batch_size: int | None = None
    time: str | None = None
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
        if self.time is not None:
            if not isinstance(self.time, str):
                refuse("time", self.time, "is the name of an edge column")
            if self.seeds is None or isinstance(self.seeds, list):
                raise InvalidArgument(
                    "with time= seeds is a frame with the id column(s) and one column with the time of each seed"
                )
        check_whole("seed", self.seed, 0)

    def engine_functions(self) -> tuple[str, ...]:
        return ("neighbor_sample",)

    def reads_weight(self, schema: EdgeSchema) -> bool:
        return schema.weight is not None

    def edge_columns(self) -> Sequence[str]:
        return () if self.time is None else columns_of(self.time)

    def frame_columns(self, name: str) -> int:
        return 0 if self.time is None else 1

    def as_read(self, name: str, frame: Any, values: Sequence[str], schema: EdgeSchema) -> Any:
        kind = None if self.time is None else dict(schema.dtypes)[self.time]
        if not is_time(kind):
            return frame
        (column,) = values
        try:
            if hasattr(frame, "map_partitions"):  # Dask's
                meta = _as_numbers(frame._meta, column, kind)
                return frame.map_partitions(_as_numbers, column, kind, meta=meta)
            return _as_numbers(frame, column, kind)
        except TypeError as error:
            raise InvalidArgument(
                f"seeds: column {column!r} is {frame[column].dtype} and the edges' {self.time!r} is {kind}: {error}"
            ) from None

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        numbers = {"batch": ColumnType("int64"), "hop": ColumnType("int32")}
        columns = {**numbers, **edge_columns(schema.weight_kind)}
        if self.time is None:
            return columns
        kind = check_times(schema, self.time, "give rows in both directions")
        columns |= {"seed": ColumnType("int64")}
        if schema.weight != self.time:
            columns["edge time"] = ColumnType(
                dtype_of(schema, self.time),
                names=(self.time,),
                time=kind if is_time(kind) else None,
            )
        return columns

    def run(self, run: Run) -> Table:
        until = time = None
        if self.time is None:
            seeds, places, total = start_vertices(run, "seeds", self.seeds)
        else:
            seeds, places, total, bounds = start_values(run, "seeds", self.seeds)
            until = _as_bounds(bounds, dtype_of(run.schema, self.time))
            time = carried(run.schema, self.time)
        size = self.batch_size or max(total, 1)
        groups = places // size if until is None else places
        rule = SampleRule(tuple(self.fanout), self.replace, int(self.seed), time)
        group, hop, source, destination, columns = run.engine.neighbor_sample(
            run.view, groups, seeds, rule, run.report, until
        )
        hops = len(rule.fanout)
        run.order(group * hops + hop - 1, destination)
        dense = run.ids.position if run.ranks is None else None
        ends = {"edge source": source, "edge destination": destination}
        batch = group if until is None else group // size
        found = {"batch": Values(batch), "hop": Values(hop)} | {
            name: Values(numbers if dense is None else at(dense, numbers))
            for name, numbers in ends.items()
        }
        if until is not None:
            found["seed"] = Values(group)
        shown = {time: "edge time", "weight": "edge weight"}  # where it is the weight, that
        return found | {shown[name]: Values(column) for name, column in columns.items()}


def _as_numbers(frame: Any, column: str, kind: Any) -> Any:
    """The frame with times of a column as numbers that edges with times of a dtype carry."""
    if frame[column].isna().any():
        raise InvalidArgument(f"seeds: there are nulls in {column!r}; fill or drop them")
    return frame.assign(**{column: in_units_of(frame[column], kind)})


def _as_bounds(values: Any, dtype: str) -> Any:
    """Times of seeds in the type of those of edges, rounded down."""
    if dtype == "float64" or values.dtype.kind != "f":
        return values.astype(dtype)
    top = float(2**63 - 1024)  # the largest float below 2**63
    return np.clip(np.floor(values), -top, top).astype(dtype)
