"""The graph of all ranks on every rank's GPU, for methods that one GPU runs fast and a share does not."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import cupy
import numpy as np

from dask_graphgpu.engine import limits
from dask_graphgpu.engine.device_ranks.view import connected
from dask_graphgpu.errors import OutOfDeviceMemory
from dask_graphgpu.exchange.nccl import DeviceLink
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device import elements, memory
from dask_graphgpu.partition.device.arrays import blocks, choose
from dask_graphgpu.partition.device.csr import Pairs, from_pairs, row_ids
from dask_graphgpu.partition.device.host import to_new_memory
from dask_graphgpu.partition.device.masks import all_true
from dask_graphgpu.partition.device.rows import DeviceRows
from dask_graphgpu.partition.ranks.view import RankView
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

T = TypeVar("T")


class Gathered:
    """A graph on the GPU of each of several ranks; vertices are their numbers.

    Parameters
    ----------
    view : View
        Of the whole graph, its arrays on the device.
    numbers : array, on the device
        Of the vertices that are on this rank, own ones first.
    own : int
        How many are the rank's own.
    every : list of arrays, on the device
        Numbers of each rank's own vertices.
    """

    def __init__(self, view: View, numbers: Any, own: int, every: Sequence[Any]) -> None:
        self.view, self._numbers, self._own, self._every = view, numbers, own, every

    def __len__(self) -> int:
        """Vertices of the graph."""
        return self.view.num_vertices

    def here(self, values: Any) -> Any:
        """Values of all vertices as those of the vertices that are here; along the last axis."""
        return cupy.asarray(values)[..., self._numbers]

    def given_rows(self, view: RankView, edges: Sequence[Any]) -> tuple[Any, ...]:
        """Those of some edges that this rank gives: in host memory, unless the view is `RankView.staying`.

        Of a view that is `RankView.answering` those whose rows of the result the rank makes, in order, else those that
        begin at own vertices. ``edges``: arrays, of which the first two have both ends; one that is None, or shorter,
        has nothing of them.
        """
        given = (lambda column: column) if view.stays else to_new_memory
        begins = cupy.asarray(edges[0])
        if view.answers is None:
            kept, some = self._are_own(begins), None
        else:
            kept, some = None, _some_in_order(begins, edges[1], view.answers(len(begins)))

        def taken(column: Any) -> Any:
            if column is None or len(column) != len(begins):
                return column if column is None else given(column)
            column = cupy.asarray(column)
            if kept is not None:
                return given(choose(column, kept))
            if isinstance(some, slice):  # a part does not keep the memory of the whole
                return given(column[some].copy() if view.stays else column[some])
            return given(elements.gathered(column, some))

        return tuple(map(taken, edges))

    def _are_own(self, vertices: Any) -> Any:
        mine = cupy.zeros(len(self), np.bool_)
        mine[self._numbers[: self._own]] = True
        kept = cupy.empty(len(vertices), np.bool_)
        for part in blocks(len(vertices)):
            kept[part] = mine[vertices[part]]
        return kept

    def everywhere(self, link: DeviceLink, values: Any) -> Any:
        """Values of own vertices as those of all; on the device. Collective.

        ``values`` may go on with those of ghosts, which are not read.
        """
        own = cupy.asarray(values)[: self._own]
        parts = _swapped(link, [own], [len(each) for each in self._every])
        made = cupy.empty(self.view.num_vertices, own.dtype)
        for numbers, (part,) in zip(self._every, parts, strict=True):
            made[numbers] = part
        return made

    def sum(self, link: DeviceLink, room: Any) -> Any:
        """The sum of what each rank has put in its part of `room`, as all have it. Collective."""
        link.all_gather(room[link.ranks.rank], room)
        link.settle()
        link.ranks.barrier()  # to allocate waits for devices, and a peer may still receive
        return room.sum(axis=0)


def on_whole(
    view: RankView,
    report: Report | None,
    work: Callable[[Gathered, Any], T],
    otherwise: Callable[[], T],
    *,
    begin: Callable[[Gathered, DeviceLink], Any] | None = None,
    end: Callable[[Gathered, DeviceLink, T], T] | None = None,
    make: bool = True,
) -> T:
    """What ``work`` gives on the gathered graph; ``otherwise`` where that does not fit some GPU.

    Collective. Where memory runs out on a rank within the work, all do it otherwise as well.

    Parameters
    ----------
    work : function
        Of the gathered graph and of what ``begin`` has given. It sends no messages: every rank has the same graph.
    begin, end : functions, optional
        What sends messages before, and makes of what each rank has found what all are given.
    make : bool
        Whether to gather the graph if no other run has.
    """
    with connected(view) as (border, _):
        whole = gathered(view, border.link, report, make=make)
        if whole is not None:
            given = None if begin is None else begin(whole, border.link)
            found: list[T] = []
            try:
                found.append(work(whole, given))
            except MemoryError as error:
                if not isinstance(error, OutOfDeviceMemory) and not memory.is_of_device(error):
                    raise
            if view.ranks.min(len(found)):
                return found[0] if end is None else end(whole, border.link, found[0])
    return otherwise()


def gathered(
    view: RankView, link: DeviceLink, report: Report | None, *, make: bool
) -> Gathered | None:
    """The graph of all ranks, made once for the rows of a view; None: it does not fit a GPU. Collective.

    Without ``make`` None, too, where it is not there yet.

    It stays as long as the rows of the share, or until memory of the device is short. An edge takes a
    key of 8 bytes twice while they are sorted, 16 bytes more with what it carries, and both ends.
    """
    with _lock:
        made = _of_rows.get(view.out)
    if view.ranks.min(int(made is not None)):
        return made
    del made
    if not make or not view.ranks.min(int(_fits(view))):
        return None
    start = time.perf_counter()
    made = _gather(view, link)
    with _lock:
        _of_rows[view.out] = made
    if report is not None:
        rows = made.view.out
        report.advance(
            "gather", supersteps=0, frontier=view.graph_vertices, edges=rows.num_edges,
            bytes=rows.num_edges * 2 * view.id_dtype.itemsize, seconds=time.perf_counter() - start,
        )  # fmt: skip
    return made


_of_rows: weakref.WeakKeyDictionary[Adjacency, Gathered] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


class _Kept:
    """What `memory.drop_kept` lets go of."""

    def drop(self) -> bool:
        with _lock:
            there = len(_of_rows) > 0
            _of_rows.clear()
        return there


_KEPT = _Kept()
memory.keep(_KEPT)


def _fits(view: RankView) -> bool:
    """Whether this GPU has room for the whole graph, and to build it."""
    n, edges = view.graph_vertices, view.graph_edges
    carried = sum(column.itemsize for column in view.out.columns.values())
    sizes = n, edges, view.id_dtype.itemsize, carried
    limit = limits.configured()
    if n > 2**32 or (limit is not None and limits.bytes_of_gathered(*sizes) > limit):
        return False
    return memory.has_room(
        limits.bytes_to_gather(*sizes), f"gathering {edges:,} edges of all ranks"
    )


def _gather(view: RankView, link: DeviceLink) -> Gathered:
    """Bring all edges to every rank and sort them. Collective."""
    own, names = view.num_owned, [*view.out.columns]
    numbers = cupy.asarray(view.numbers)
    sizes = view.ranks.scalars([own, view.out.num_edges]).astype(np.int64)
    every = [part for (part,) in _swapped(link, [numbers[:own]], sizes[:, 0].tolist())]
    carried = [cupy.asarray(view.out.columns[name]) for name in names]
    ends = _named(numbers, view.out)
    parts = _swapped(link, [*ends, *carried], sizes[:, 1].tolist())
    del ends, carried
    runs = []
    while parts:
        rows, neighbours, *columns = parts.pop(0)
        runs.append(Pairs(rows, neighbours, None, dict(zip(names, columns, strict=True))))
    rows = from_pairs(view.graph_vertices, runs, view.id_dtype)
    return Gathered(View(DeviceRows(rows, directed=view.directed)), numbers, own, every)


def _some_in_order(first: Any, second: Any, bounds: tuple[int, int]) -> Any:
    """What gives the edges between two places of those ordered by both ends: a slice where all are in order.

    Equal edges go together: whoever orders them by what they carry is to have all.
    """
    key = first.astype(np.uint64) << np.uint64(32)
    key |= second.astype(np.uint64)
    order = None
    if not all_true(key[1:] >= key[:-1]):
        order = cupy.argsort(key)
        key = elements.gathered(key, order)
    some = slice(
        *(
            int(cupy.searchsorted(key, key[at : at + 1])[0]) if at < len(key) else at
            for at in bounds
        )
    )
    return some if order is None else order[some]


def _named(numbers: Any, out: Adjacency) -> tuple[Any, Any]:
    """Both ends of the edges of a rank's rows, by their numbers, on the device."""
    here = Adjacency(cupy.asarray(out.offsets), cupy.asarray(out.neighbours))
    return _taken(numbers, row_ids(here)), _taken(numbers, here.neighbours)


def _taken(values: Any, index: Any) -> Any:
    made = cupy.empty(len(index), values.dtype)
    for part in blocks(len(index)):
        made[part] = values[index[part]]
    return made


def _swapped(link: DeviceLink, own: Sequence[Any], lengths: Sequence[int]) -> list[list[Any]]:
    """Arrays of all ranks, those of rank 0 first, of each of such a length. Collective."""
    me, size = link.ranks.rank, link.ranks.size
    parts = [
        [*own] if rank == me else [cupy.empty(length, each.dtype) for each in own]
        for rank, length in enumerate(lengths)
    ]
    pairs = [
        (
            [each[:0] if rank == me else each for rank in range(size)],
            [part[i][:0] if rank == me else part[i] for rank, part in enumerate(parts)],
        )
        for i, each in enumerate(own)
    ]
    link.ranks.barrier()  # to allocate waits for devices, and a peer's may wait for this one
    link.swap(pairs)
    link.settle()
    link.ranks.barrier()
    return parts
