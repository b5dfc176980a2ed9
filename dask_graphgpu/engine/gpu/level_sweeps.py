"""Path counts and dependencies level by level, once searches have found the levels (betweenness_levels.cu)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import cupy
import cupyx
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.degree_lists import PIECE, degree_lists
from dask_graphgpu.engine.gpu.device import integer_types
from dask_graphgpu.engine.gpu.level_plan import STEP, SUMS, UNREACHED, Passed, planned
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.kernels.cuda_build import Kernel
from dask_graphgpu.kernels.sizes import SIZES
from dask_graphgpu.partition.csr import Adjacency

# Levels of a search, at most; places of a byte are left for deeper ones and for what is not reached.
MOST_LEVELS = 250

# Sources of a batch, at most, and of the device's memory the part that their arrays may take.
MOST_SOURCES, MOST_MEMORY = 8, 1 / 16

# Edges from which a row is a warp's, and blocks', here and in the searches. A piece of a row of a few
# hundred edges leaves most warps of its block without work.
SEPARATORS = (64, 512)

# Blocks of a kernel on a multiprocessor, and their threads.
_BLOCKS, _THREADS = 4, 512

# Levels are there up to a multiple of it.
_LOOKED_AT = SIZES["betweenness_levels.cu"]["LOOKED_AT"]

_COUNTS = 24  # bytes of Counts of degree_lists.cuh


class Others(Protocol):
    """Ghosts of own vertices on other ranks, and those that are here."""

    def plan(self, exchanges: Sequence[Sequence[tuple[Passed, Any]]]) -> None:
        """What is to travel, each with the values of all vertices; they are queued in this order."""

    def exchange(self) -> None:
        """Queue the next one: values are copied to ghosts, or added to those of their owners."""


class LevelSweeps:
    """The sums, and what a batch of sources needs; of a whole graph, or of a rank's own vertices.

    For each source of a batch 29 bytes a vertex, and pieces of long rows. 8 bytes an own vertex.

    Parameters
    ----------
    own : int
        Vertices that stand before the others.
    pairs : sequence of (pulled, pushed)
        Rows by own vertices, which get values, and by all from whom they come: away from the
        sources, and of directed graphs back.
    sources : int
        Of a batch, at most.

    Attributes
    ----------
    sources : int
    level : uint8 array, shape (sources, at least the number of vertices)
        Of the batch that is worked on; `narrow` knows those of own vertices.
    through : float64 array, of own vertices
        From all sources.
    """

    def __init__(
        self, own: int, pairs: Sequence[tuple[Adjacency, Adjacency]], sources: int
    ) -> None:
        self._n = n = pairs[0][0].num_vertices
        self._own, self.sources, self._pairs = own, sources, len(pairs)
        self._most = launch.num_multiprocessors() * _BLOCKS * _THREADS
        stride = -(-n // _LOOKED_AT) * _LOOKED_AT
        self.level = cupy.full((sources, stride), UNREACHED, np.uint8)
        self._paths, self._share, self._sums = (
            cupy.empty((sources, n), np.float64) for _ in range(3)
        )
        self.through = cupy.empty(own, np.float64)
        self._infinite = cupy.empty(1, np.uint64)
        most = max((rows for pair in pairs for rows in pair), key=lambda rows: rows.num_edges)
        lists, separators = degree_lists(most, sources, SEPARATORS)
        points = 2 * (MOST_LEVELS + 1)
        self._steps = cupy.empty(points * sources * STEP.itemsize, np.uint8)
        self._planned = cupyx.empty_pinned(self._steps.size, np.uint8)
        self._counts = cupy.empty(points * sources * _COUNTS, np.uint8)
        self._entries = cupy.empty(len(pairs) * sources * SUMS.itemsize, np.uint8)
        self._seen = cupyx.empty_pinned(self._entries.size, np.uint8)
        every = [*pairs[0], *pairs[-1]]
        # Of a rank's edges there may be more in one direction.
        wide = max((each.offsets.dtype for each in every), key=lambda dtype: dtype.itemsize)
        rows = [
            word
            for each, number in zip(every, (own, n, own, n), strict=True)
            for word in (each.offsets.astype(wide, copy=False), each.neighbours, number)
        ]
        self._held = [
            self.level, stride, n, own, self._paths, self._share, self._sums, self.through, *lists,
            lists[1].size // sources, *map(int, separators), *rows, self._infinite,
        ]  # fmt: skip
        self._given = launch.struct(self._held)
        types = integer_types(every[0].neighbours.dtype, wide)
        module = cuda("betweenness_levels", defines=types)
        names = "narrow", "begin", "survey", "turn", "pull_level", "push_level"
        self._narrow, self._begin, self._survey, self._turn, *self._adds = (
            launch.loaded(module.kernel(name)) for name in names
        )
        self.clear()

    def clear(self) -> None:
        """Begin a run."""
        self.through.fill(0)
        self._infinite.fill(0)

    def narrow(self, source: int, found: Any) -> None:
        """Queue that levels of own vertices become bytes; ``found``: int32, -1 where not reached."""
        self._flat(self._narrow, self._own, (found, np.uint64(self._own), self.level[source]))

    def survey(self, sources: int) -> None:
        """Queue what comes before the levels, once all vertices have theirs, and that the host is told."""
        number = np.uint64(sources)
        self._flat(self._begin, self._n, (self._given, number))
        for each in (self._share, self._sums):
            each[:sources].fill(0)
        self._entries.fill(0)
        for pair, entries in enumerate(self._of_pairs(self._entries)):
            self._flat(
                self._survey, max(self._n, _THREADS) * sources,
                (self._given, number, np.uint64(pair), entries),
            )  # fmt: skip
        self._entries.get(out=self._seen, blocking=False)

    def _of_pairs(self, entries: Any) -> Any:
        return entries.reshape(self._pairs, self.sources * SUMS.itemsize)

    @property
    def _found(self) -> np.ndarray:
        """Entries of rows by pair and source, once what `survey` has queued is done."""
        found: np.ndarray = self._of_pairs(self._seen).view(SUMS)
        return found

    def sizes(self, sources: int) -> list[list[int]]:
        """Own vertices of each level, once what `survey` has queued is done; the deepest are together."""
        found = self._found["vertices"][0, :sources, :UNREACHED]
        levels = [int(np.flatnonzero(each).max(initial=-1)) + 1 for each in found]
        return [each[:number].tolist() for each, number in zip(found, levels, strict=True)]

    def sweep(
        self, sizes: Sequence[Sequence[int]], *, endpoints: bool, others: Others | None = None
    ) -> int:
        """Queue that dependencies are added, once what `survey` has queued is done; edges to be read.

        Parameters
        ----------
        sizes : sequence of sequences of int
            Vertices of each level of each source, on all ranks; the first ones of those surveyed.
        endpoints : bool
            Whether a path goes through its two ends as well.
        others : Others, optional
            Where not all vertices are own ones.
        """
        ends = [endpoints * (sum(each) - 1) for each in sizes]
        steps, points = planned(
            sizes, self._found[:, : len(sizes)], ends, on_ranks=others is not None
        )
        self._planned[: steps.nbytes] = steps.reshape(-1).view(np.uint8)
        self._steps[: steps.nbytes].set(self._planned[: steps.nbytes])
        counts = self._counts[: steps.size * _COUNTS]
        counts.fill(0)
        number = np.uint64(len(sizes))
        places = zip(
            range(self._steps.data.ptr, self._steps.data.ptr + steps.nbytes, steps.strides[0]),
            range(counts.data.ptr, counts.data.ptr + counts.size, len(sizes) * _COUNTS),
            points,
            strict=True,
        )
        values = self._paths, self._share
        # Worked out while the device is at what comes before.
        exchanges = [
            [(each, self._sums if each.gathers else values[point.back]) for each in some]
            for point in points
            for some in point.passed
            if some
        ]
        was_back = False
        for step, count, point in places:
            if point.back and not was_back:
                self._sums[: len(sizes)].fill(0)
                was_back = True
            args = self._given, np.uint64(step), np.uint64(count), number, np.uint32(point.back)
            for late in range(2):
                if point.turns[late]:
                    self._flat(self._turn, self._n, (*args, np.uint32(late)))
                if point.passed[late]:
                    assert others is not None
                    if exchanges:
                        others.plan(exchanges)
                        exchanges = []
                    others.exchange()
            for kernel, read in zip(self._adds, (point.pulls, point.pushes), strict=True):
                self._flat(kernel, read, args)
        return sum(point.pulls + point.pushes for point in points)

    def is_infinite(self) -> bool:
        """Whether a number of paths was."""
        return bool(self._infinite[0])

    def _flat(self, kernel: Kernel, items: int, args: tuple[Any, ...]) -> None:
        """Launch a kernel in which each thread takes several of many items."""
        launch.flat(kernel, min(items, self._most), args, threads=_THREADS)


def batch(n: int, num_edges: int, more: int = 0) -> int:
    """Sources of a batch, so that their arrays are a small part of the memory; at least 1.

    ``n``, ``num_edges``: vertices and edges that are here. ``more``: bytes for each source.
    """
    _, total = cupy.cuda.runtime.memGetInfo()
    each = 29 * n + 8 * (num_edges // PIECE + min(n, num_edges // SEPARATORS[1])) + more
    return max(min(MOST_SOURCES, int(MOST_MEMORY * total) // (each + 1)), 1)
