"""Values of the border vertices of one level of a search, from GPU to GPU (by_level.cu)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import cupy
import cupyx
import numpy as np

from dask_graphgpu.engine.device_ranks.border import DeviceBorder
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.device import integer_types
from dask_graphgpu.engine.gpu.structs import struct
from dask_graphgpu.kernels.compile import cuda

# Places that a warp counts and puts in order.
CHUNK = 2048

# Blocks of a kernel on a multiprocessor, and their threads.
_BLOCKS, _THREADS = 4, 512


class ByLevel:
    """Border vertices in the order of their levels, which both ends of a connection have by themselves.

    What is sent of a level are its values alone, 8 bytes each. Takes 8 bytes a value, and the ids.

    Parameters
    ----------
    border : DeviceBorder
    most_levels : int
    """

    def __init__(self, border: DeviceBorder, most_levels: int) -> None:
        self._border, self._peers = border, len(border.ghosts)
        ids = border.vertices.dtype
        sides = [
            _Side(border.vertices, None, border.cuts, most_levels, ids),
            _Side(None, border.ghosts[0][0], border.ghosts, most_levels, ids),
        ]
        self._orders = [side.sorted for side in sides]
        # What is packed, and what has come.
        self._values = [cupy.empty(len(each), np.float64) for each in self._orders]
        self._held = sides
        size = self._peers * most_levels + 1
        self._cuts = cupy.zeros(2 * size, np.uint32)
        self._seen = cupyx.empty_pinned(2 * size, np.uint32)
        self._given = struct(
            [word for i, side in enumerate(sides) for word in side.words(self._cuts[i * size :])]
        )
        self._size = size
        most = _BLOCKS * launch.num_multiprocessors() * _THREADS
        self._threads = min(32 * sum(side.chunks for side in sides), most)
        module = cuda("by_level", defines=integer_types(ids, ids))
        names = "count_levels", "scan_counts", "place_levels", "add_values"
        *self._kernels, self._add = (launch.loaded(module.kernel(name)) for name in names)
        self._of_level: list[list[list[int]]] = []

    def sort(self, level: Any, levels: int) -> None:
        """Queue that both sides are put in order, and that the host is told of it.

        Parameters
        ----------
        level : uint8 array
            Of own vertices and ghosts, 255 where there is none.
        levels : int
            All others are below it.
        """
        count, scan, place = self._kernels
        given, levels_here = self._given, np.uint64(levels)
        threads = self._threads
        launch.flat(count, threads, (given, level, levels_here), threads=_THREADS)
        launch.flat(scan, 2 * 1024, (given, levels_here, np.uint64(self._peers)), threads=1024)
        launch.flat(place, threads, (given, level, levels_here), threads=_THREADS)
        self._cuts.get(out=self._seen, blocking=False)

    def take(self, levels: int) -> None:
        """Where each level begins, once what `sort` has queued is done."""
        of_sides = []
        for i in range(2):
            found = self._seen[i * self._size :][: levels * self._peers + 1].tolist()
            firsts = range(0, levels * self._peers, self._peers)
            of_sides.append([found[at : at + self._peers + 1] for at in firsts])
        self._of_level = of_sides

    def send(self, level: int, array: Any) -> None:
        """Queue that values of own vertices of a level are copied to their ghosts; collective."""
        there, came = self._swap(level, array, 0)
        self._border.unpack(there, array, came)

    def gather(self, level: int, array: Any) -> None:
        """Queue that values of ghosts of a level are added to those of their owners; collective."""
        there, came = self._swap(level, array, 1)
        launch.flat(self._add, came.size, (there, np.uint64(came.size), came, array))

    def _swap(self, level: int, array: Any, side: int) -> tuple[Any, Any]:
        """Values of one side go to the other: vertices there, and what comes of them."""
        cuts = [of_level[level] for of_level in self._of_level]
        some, there = (slice(each[0], each[-1]) for each in cuts)
        if side:
            some, there = there, some
        sent, received = cuts[side], cuts[1 - side]
        packed, came = self._values[side], self._values[1 - side]
        self._border.pack(self._orders[side][some], array, packed[some])
        pairs = [packed[a:b] for a, b in pairwise(sent)], [came[a:b] for a, b in pairwise(received)]
        self._border.link.swap([pairs])
        return self._orders[1 - side][there], came[there]


class _Side:
    """One of the two: what is sent, or what comes."""

    def __init__(
        self,
        vertices: Any,
        base: int | None,
        cuts: Sequence[tuple[int, int]],
        most_levels: int,
        ids: Any,
    ) -> None:
        start = cuts[0][0]
        lengths = np.array([last - first for first, last in cuts])
        each = -(-lengths // CHUNK)
        before = np.cumsum([0, *each])
        self.chunks = int(before[-1])
        # Chunks begin anew with each peer.
        number = np.arange(self.chunks) - np.repeat(before[:-1], each)
        firsts = np.repeat([first - start for first, _ in cuts], each) + CHUNK * number
        total = cuts[-1][1] - start
        self._vertices, self._base = vertices, 0 if base is None else base
        self._first = cupy.asarray(np.append(firsts, total).astype(np.uint64))
        self._peer_chunk = cupy.asarray(before[:-1].astype(np.uint64))
        self._starts = cupy.empty(most_levels * self.chunks, np.uint32)
        self.sorted = cupy.empty(total, ids)

    def words(self, cuts: Any) -> list[Any]:
        """Members of Side of by_level.cu."""
        return [
            self._vertices, self._base, self._first, self.chunks, self._peer_chunk, self._starts,
            self.sorted, cuts,
        ]  # fmt: skip
