"""Values of the border vertices of levels of searches, from GPU to GPU (by_level.cu)."""

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
from dask_graphgpu.engine.gpu.level_plan import Passed
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.kernels.cuda_build import Kernel

# Places that a warp counts and puts in order.
CHUNK = 2048

# Blocks of a kernel on a multiprocessor, and their threads.
_BLOCKS, _THREADS = 4, 512

# What goes to each peer begins at a multiple of so many values: else NCCL copies byte by byte.
_ALIGNED = 2

# Part of by_level.cu.
_PART = np.dtype([(name, np.uint64) for name in ("first", "number", "vertices", "values", "adds")])


class ByLevel:
    """Border vertices in the order of their levels, which both ends of a connection have by themselves.

    What is sent of a level are its values alone, 8 bytes each, of all sources of a batch together.
    Takes 16 bytes a border vertex or ghost and source, and the ids.

    Parameters
    ----------
    border : DeviceBorder
    levels : array, shape (number of sources, at least the number of vertices)
        Of own vertices and ghosts, 255 where there is none.
    most_levels, most_exchanges : int
        Of `sort` and of `plan`, at most.
    """

    def __init__(
        self, border: DeviceBorder, levels: Any, most_levels: int, most_exchanges: int
    ) -> None:
        self._link, self._peers, self._levels = border.link, len(border.ghosts), levels
        self._sources, stride = levels.shape
        ids = border.vertices.dtype
        given = self._sources, most_levels, ids
        self._sides = [
            _Side(border.vertices, None, border.cuts, *given),
            _Side(None, border.ghosts[0][0], border.ghosts, *given),
        ]
        size = self._peers * most_levels + 1
        self._cuts = cupy.zeros((2, self._sources, size), np.uint32)
        self._seen = cupyx.empty_pinned(self._cuts.shape, np.uint32)
        words = [
            word
            for side, cuts in zip(self._sides, self._cuts, strict=True)
            for word in side.words(cuts)
        ]
        self._given = launch.struct([*words, most_levels, stride, size])
        # What is packed, and what has come: of either side, and of all sources.
        room = self._sources * max(side.places for side in self._sides) + _ALIGNED * self._peers
        self._packed, self._came = (cupy.empty(room, np.float64) for _ in range(2))
        parts = 2 * most_exchanges * self._sources * self._peers
        self._parts = cupy.empty(parts * _PART.itemsize, np.uint8)
        self._planned = cupyx.empty_pinned(self._parts.size, np.uint8)
        self._most = _BLOCKS * launch.num_multiprocessors() * _THREADS
        module = cuda("by_level", defines=integer_types(ids, ids))
        names = "count_levels", "scan_counts", "place_levels", "pack_parts", "take_parts"
        *self._kernels, self._pack, self._take = (
            launch.loaded(module.kernel(name)) for name in names
        )
        self._queue: list[tuple[Any, ...]] = []

    def sort(self, sources: int, levels: int) -> None:
        """Queue that both sides are put in order for the first sources, and that the host is told of it.

        ``levels``: all others are below it.
        """
        count, scan, place = self._kernels
        number, below = np.uint64(sources), np.uint64(levels)
        args = self._given, self._levels, number, below
        threads = min(32 * sources * sum(side.chunks for side in self._sides), self._most)
        launch.flat(count, threads, args, threads=_THREADS)
        peers = np.uint64(self._peers)
        launch.flat(scan, 2 * sources * 1024, (self._given, below, peers), threads=1024)
        launch.flat(place, threads, args, threads=_THREADS)
        self._cuts.get(out=self._seen, blocking=False)

    def plan(self, exchanges: Sequence[Sequence[tuple[Passed, Any]]]) -> None:
        """What is to travel, in this order, once what `sort` has queued is done; some in each exchange.

        All ranks have the same to say. With each of what travels the float64 values of all sources
        and vertices.
        """
        passed = [one for some in exchanges for one in some]
        source = np.array([one.source for one, _ in passed])
        level = np.array([one.level for one, _ in passed])
        gathers = np.array([one.gathers for one, _ in passed])
        values = np.array(
            [array.data.ptr + one.source * array.strides[0] for one, array in passed], np.uint64
        )
        ends = np.cumsum([len(some) for some in exchanges])
        of_sides = np.array([[side.sorted.data.ptr, side.places] for side in self._sides])
        item = self._sides[0].sorted.itemsize
        # Of each that travels, a part for each peer: of what is sent, and of what comes.
        parts = np.zeros((2, len(passed), self._peers), _PART)
        cuts = []
        for of_way, side in zip(parts, (gathers.astype(int), 1 - gathers), strict=True):
            at = self._peers * level[:, None] + np.arange(self._peers)
            first, end = (
                self._seen[side[:, None], source[:, None], at + more].astype(np.int64)
                for more in range(2)
            )
            begin, places = of_sides[side].T
            of_way["vertices"] = (begin + item * places * source)[:, None] + item * first
            of_way["number"] = end - first
            of_way["values"], of_way["adds"] = values[:, None], gathers[:, None]
            of_way["first"], found = _laid_out(end - first, ends)
            cuts.append(found.tolist())
        flat = parts.reshape(-1).view(np.uint8)
        self._planned[: flat.size] = flat
        self._parts[: flat.size].set(self._planned[: flat.size])
        self._queue = []
        start, step = self._parts.data.ptr, parts.strides[1]
        way = start + parts.strides[0]
        for i, (begin, end) in enumerate(pairwise([0, *ends.tolist()])):
            number = np.uint64((end - begin) * self._peers)
            out, into = np.uint64(start + begin * step), np.uint64(way + begin * step)
            self._queue.append((number, out, into, cuts[0][i], cuts[1][i]))
        self._queue.reverse()

    def exchange(self) -> None:
        """Queue the next one; collective."""
        number, out, into, sent, received = self._queue.pop()
        packed, came = self._packed, self._came
        self._flat(self._pack, sent, (out, number, packed))
        pairs = [packed[a:b] for a, b in sent], [came[a:b] for a, b in received]
        self._link.swap([pairs])
        self._flat(self._take, received, (into, number, came))

    def _flat(self, kernel: Kernel, cuts: list[list[int]], args: tuple[Any, ...]) -> None:
        items = sum(end - begin for begin, end in cuts)
        launch.flat(kernel, min(items, self._most), args, threads=_THREADS)


def _laid_out(numbers: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where parts begin in what travels, one peer's behind another's, and where each peer's begin and end.

    Parameters
    ----------
    numbers : array, shape (parts, peers)
    ends : array, shape (exchanges,)
        Of the parts of each exchange, which are some.

    Returns
    -------
    tuple
        Arrays of shape (parts, peers) and (exchanges, peers, 2).
    """
    starts = np.append(0, ends[:-1])
    totals = np.add.reduceat(numbers, starts)
    aligned = -(-totals // _ALIGNED) * _ALIGNED
    begin = np.cumsum(aligned, 1) - aligned
    before = np.cumsum(numbers, 0) - numbers
    first = before + np.repeat(begin - before[starts], np.diff(ends, prepend=0), 0)
    return first, np.stack([begin, begin + totals], -1)


class _Side:
    """One of the two: what is sent, or what comes."""

    def __init__(
        self,
        vertices: Any,
        base: int | None,
        cuts: Sequence[tuple[int, int]],
        sources: int,
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
        self._starts = cupy.empty(sources * most_levels * self.chunks, np.uint32)
        self.places = total
        self.sorted = cupy.empty(sources * total, ids)

    def words(self, cuts: Any) -> list[Any]:
        """Members of Side of by_level.cu."""
        return [
            self._vertices, self._base, self._first, self.chunks, self._peer_chunk, self._starts,
            self.sorted, self.places, cuts,
        ]  # fmt: skip
