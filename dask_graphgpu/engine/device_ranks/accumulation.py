"""Path counts and dependencies of one source after another on one of several GPUs (rank_betweenness.cu)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import cupy
import numpy as np

from dask_graphgpu.engine.device_ranks.border import DeviceBorder
from dask_graphgpu.engine.device_ranks.view import RankDeviceView
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.degree_lists import degree_lists
from dask_graphgpu.engine.path_failures import MANY_PATHS, check
from dask_graphgpu.kernels.compile import cuda

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.view import RankView, TowardView

# Blocks of a kernel on a multiprocessor, and their threads.
_BLOCKS, _THREADS = 4, 512

_UNREACHED = 255  # as the level of a vertex
_NONE = np.uint64(0)  # a null pointer
_PLACE = np.uint64(2**32 - 1)  # which half of a key says where something was


class Accumulation:
    """The sums, and what a source needs; all ranks call it alike.

    Parameters
    ----------
    view : RankView
    border : DeviceBorder
    """

    def __init__(self, view: RankView, border: DeviceBorder) -> None:
        self._view, self._ranks, self._border = view, view.ranks, border
        n = view.num_vertices
        self._in = _Rows(view.toward("out"), view.num_owned)
        self._out = _Rows(view.toward("in"), view.num_owned) if view.directed else self._in
        self._level = cupy.empty(n, np.uint8)
        # Number of shortest paths; what a vertex gets back; what each path to it hands back.
        self._paths, self._total, self._share = (cupy.empty(n, np.float64) for _ in range(3))
        self._through = cupy.zeros(view.num_owned, np.float64)
        self._most = cupy.zeros(1, np.float64)  # paths to a vertex
        self._travels = _Travels(border)
        cupy.divide(1, self._paths, out=self._share)  # loaded before anything waits for other ranks

    def begin(self, level: Any) -> int:
        """Take the levels of a search, right for own vertices; the furthest of all ranks'."""
        border, own = self._border, self._view.num_owned
        depth = int(self._ranks.max(int(level[:own].max()) if own else -1))
        if depth < _UNREACHED:
            # As a byte, -1 is what stands for a vertex that is not reached.
            self._level[:own] = level[:own].astype(np.uint8)
            border.make_room([self._level])
            self._alike()
            border.refresh([self._level])
            border.link.settle()
        return depth

    def add(self, source: int, depth: int, *, endpoints: bool) -> int:
        """Add the dependencies of a source, a number; edges that were read on one way."""
        own, paths, total, share = self._view.num_owned, self._paths, self._total, self._share
        here = self._view.places(np.array([source]))[0]
        for array in (paths, total):
            array.fill(0)
        paths[here] = 1
        self._travels.sort(self._level, depth)
        counts = cupy.zeros((2 * depth + 1, 3), np.uint64)
        self._alike()
        for level in range(1, depth + 1):
            self._in.add(level, level - 1, self._level, counts[level], paths, paths)
            self._travels.send(level, paths)
        cupy.divide(1, paths, out=share)  # of those that are reached; nobody reads it of others
        for level in range(depth - 1, 0, -1):
            self._travels.send(level + 1, share)
            self._out.add(level, level + 1, self._level, counts[depth + level], share, total, share)
        self._border.link.settle()
        self._through += paths[:own] * total[:own]
        self._most = cupy.maximum(self._most, paths[:own].max()) if own else self._most
        reached = self._level[:own] != _UNREACHED
        if endpoints:
            self._count_ends(reached, here[here < own])
        return int((self._in.degrees * reached).sum()) if own else 0

    def sums(self) -> np.ndarray:
        """Of all sources, on the host; shape (num_vertices,), right for own vertices.

        Raises
        ------
        IntegerOverflow
            On all ranks: a number of paths is infinite.
        """
        if self._ranks.max(int(cupy.isinf(self._most).any())):
            check(MANY_PATHS, None)
        found = np.zeros(self._view.num_vertices)
        found[: self._view.num_owned] = cupy.asnumpy(self._through)
        return found

    def _count_ends(self, reached: Any, source: np.ndarray) -> None:
        """Paths go through their two ends as well."""
        others = int(self._ranks.sum(int(reached.sum()))) - 1
        self._through += reached
        self._through[source] += others - 1

    def _alike(self) -> None:
        """Nobody goes on before all are here: to allocate waits for devices, and a peer's may wait for this one."""
        self._ranks.barrier()


class _Rows:
    """Rows of own vertices, and lists of those of a level."""

    def __init__(self, toward: TowardView, owned: int) -> None:
        here = RankDeviceView.of(toward)
        self._rows, self._owned = here.into, owned
        lists, separators = degree_lists(self._rows)
        self._lists = (*lists, np.uint64(here.n), *separators)
        self.degrees = cupy.diff(self._rows.offsets[: owned + 1])
        module = cuda("rank_betweenness", defines=here.defines)
        self._list = launch.loaded(module.kernel("list_level"))
        self._add = launch.loaded(module.kernel("add_level"))

    def add(
        self, level: int, other: int, levels: Any, counts: Any, values: Any, *sums: Any
    ) -> None:
        """Queue that own vertices of a level get the values of their neighbours of another one.

        ``counts``: three words of zeros. ``sums``: to which they are added, one array or two.
        """
        if not self._owned:
            return
        rows, lists = self._rows, (*self._lists, counts)
        some = rows.offsets, np.uint64(self._owned), levels, np.uint64(level)
        taken = rows.offsets, rows.neighbours, levels, np.uint64(other), values
        into = sums if len(sums) > 1 else (*sums, _NONE)
        threads = launch.num_multiprocessors() * _BLOCKS * _THREADS
        launch.flat(self._list, threads, (*some, *lists), threads=_THREADS)
        launch.flat(self._add, threads, (*taken, *into, *lists), threads=_THREADS)


class _Travels:
    """What travels of a level: the values of border vertices, in an order that both sides have by themselves."""

    def __init__(self, border: DeviceBorder) -> None:
        self._border, self._size = border, len(border.ghosts)
        ghosts = cupy.arange(border.ghosts[0][0], border.ghosts[-1][1], dtype=border.vertices.dtype)
        self._sides = [
            (border.vertices, self._peers(border.cuts)),
            (ghosts, self._peers(border.ghosts)),
        ]
        self._values = [cupy.empty(len(each), np.float64) for each, _ in self._sides]
        self._sorted: list[tuple[Any, list[list[int]]]] = []

    def sort(self, level: Any, depth: int) -> None:
        """Put both sides in the order of their levels, those of a peer as they were."""
        self._sorted, size = [], np.uint64(self._size)
        for vertices, peers in self._sides:
            keys = (level[vertices].astype(np.uint64) * size + peers) << 32
            keys = cupy.sort(keys + cupy.arange(len(vertices), dtype=np.uint64))
            bounds = cupy.arange((depth + 1) * self._size + 1, dtype=np.uint64) << 32
            found = cupy.asnumpy(cupy.searchsorted(keys, bounds)).tolist()
            cuts = [found[at : at + self._size + 1] for at in range(0, len(found) - 1, self._size)]
            self._sorted.append((vertices[keys & _PLACE], cuts))

    def send(self, level: int, array: Any) -> None:
        """Queue that values of own vertices of a level are copied to their ghosts; collective."""
        (own, own_cuts), (ghosts, ghost_cuts) = self._sorted
        packed, came = self._values
        sent, received = ([*pairwise(cuts[level])] for cuts in (own_cuts, ghost_cuts))
        some, there = (slice(cuts[level][0], cuts[level][-1]) for cuts in (own_cuts, ghost_cuts))
        self._border.pack(own[some], array, packed[some])
        pairs = [packed[a:b] for a, b in sent], [came[a:b] for a, b in received]
        self._border.link.swap([pairs])
        self._border.unpack(ghosts[there], array, came[there])

    def _peers(self, cuts: Sequence[tuple[int, int]]) -> Any:
        """Of each of the vertices, the peer that it goes to or comes from."""
        lengths = [last - first for first, last in cuts]
        return cupy.asarray(np.repeat(np.arange(self._size, dtype=np.uint64), lengths))
