"""Rows whose neighbours are in the order of the user's ids, on the device; as `engine.cpu.rows_by_id`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.walking import with_repeats_in_order
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device.memory import require


@dataclass(frozen=True, eq=False)
class DeviceRowsById:
    """Rows of all vertices; kept with the graph.

    Attributes
    ----------
    rows : Adjacency
        Neighbours are numbers: places in the order of the user's ids, ascending within a row.
    place : unsigned array, or None
        Row of each vertex by its number; None: its number.
    edge : integer array, or None
        Place of each edge in the view's rows; None: its own.
    """

    rows: Adjacency
    place: Any
    edge: Any

    @classmethod
    def of(cls, here: DeviceView, rows: Adjacency, key: str) -> DeviceRowsById:
        """The rows of a view, ``key`` "out" or "into"; sorted once where they are in another order."""
        if here.user_rank is None:
            return cls(rows, None, None)
        return here.made(("rows by id", key), lambda: _sorted(here, rows))

    @classmethod
    def by_time(cls, here: DeviceView, rows: Adjacency, time: str) -> DeviceRowsById:
        """The edges of each row by a column, then by neighbour, then by weight; with the columns."""
        return here.made(
            ("rows by time", time, *rows.columns), lambda: _in_order_of(here, rows, time)
        )

    def weights(self, weight: Any, here: DeviceView, key: str) -> Any:
        """Weights of the edges, those of repeated ones ascending; made once. ``weight`` : as of the view's rows."""

        def made() -> Any:
            edges = self.rows.num_edges
            require(4 * 8 * edges, f"{edges:,} weights")
            ordered = weight if self.edge is None else weight[self.edge]
            return with_repeats_in_order(_row_of_each(self.rows), self.rows.neighbours, ordered)

        return here.made(("weights by id", key), made)

    def sums(self, weight: Any, here: DeviceView, key: str) -> Any:
        """Sums of weights within a row up to and with each edge, float64; made once."""

        def made() -> Any:
            ordered = self.weights(weight, here, key).astype(np.float64)
            before = cupy.empty(len(weight))
            kernel = cuda("walks", defines=here.defines).kernel("add_up")
            launch.flat(kernel, here.n, (self.rows.offsets, np.uint64(here.n), ordered, before))
            return before

        return here.made(("sums by id", key), made)


def _row_of_each(rows: Adjacency) -> Any:
    """The row of each edge."""
    every = cupy.arange(rows.num_edges, dtype=rows.offsets.dtype)
    return cupy.searchsorted(rows.offsets[1:], every, side="right")


def _sorted(here: DeviceView, rows: Adjacency) -> DeviceRowsById:
    """The same rows, the edges of each by the numbers of neighbours; equal ones stay in their order."""
    n, edges = here.n, rows.num_edges
    require(5 * 8 * edges, f"ordering {edges:,} edges by the user's ids")
    rank = here.user_rank.astype(here.id_dtype, copy=False)
    row = _row_of_each(rows)
    numbers = rank[rows.neighbours]
    bits = max(n - 1, 1).bit_length()
    if 2 * bits <= 64:
        order = cupy.argsort((row.astype(np.uint64) << np.uint64(bits)) | numbers, kind="stable")
    else:
        order = cupy.lexsort(cupy.stack([numbers, row.astype(numbers.dtype)]))
    narrow = order.astype(rows.offsets.dtype, copy=False)
    return DeviceRowsById(Adjacency(rows.offsets, numbers[order]), _places(rank), narrow)


def _places(rank: Any) -> Any:
    """The row of each vertex by its number."""
    place = cupy.empty_like(rank)
    place[rank] = cupy.arange(len(rank), dtype=rank.dtype)
    return place


def _in_order_of(here: DeviceView, rows: Adjacency, time: str) -> DeviceRowsById:
    require(8 * 8 * rows.num_edges, f"ordering {rows.num_edges:,} edges by time")
    numbers, place = rows.neighbours, None
    if here.user_rank is not None:
        rank = here.user_rank.astype(here.id_dtype, copy=False)
        numbers, place = rank[rows.neighbours], _places(rank)
    weight = [] if rows.weight is None else [rows.weight]
    order = cupy.arange(rows.num_edges)
    for key in (*weight, numbers, rows.columns[time], _row_of_each(rows)):
        order = order[cupy.argsort(key[order], kind="stable")]
    columns = {name: column[order] for name, column in rows.columns.items()}
    return DeviceRowsById(Adjacency(rows.offsets, numbers[order], columns), place, order)
