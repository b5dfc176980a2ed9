"""Path counts and dependencies of one source after another on one of several GPUs (rank_betweenness.cu)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cupy
import cupyx
import numpy as np

from dask_graphgpu.engine.device_ranks.border import DeviceBorder
from dask_graphgpu.engine.device_ranks.by_level import ByLevel
from dask_graphgpu.engine.device_ranks.view import RankDeviceView
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.degree_lists import degree_lists
from dask_graphgpu.engine.path_failures import MANY_PATHS, check
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.kernels.cuda_build import Kernel

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.view import RankView, TowardView

# Levels of a search, at most; places of a byte are left for what is not reached.
MOST_LEVELS = 250

# Edges of a pull that take as long as one of a push, whose sums are atomics.
PUSH_COST = 2.0

# Blocks of a kernel on a multiprocessor, and their threads.
_BLOCKS, _THREADS = 4, 512

_UNREACHED = 255  # as the level of a vertex
_LOOKED_AT = 128  # levels are there up to a multiple of it
_SUMS = np.dtype([(name, np.uint64, _UNREACHED + 1) for name in ("vertices", "pulled", "pushed")])


class Accumulation:
    """The sums, and what a source needs; all ranks call it alike. Kept from one run to the next.

    Parameters
    ----------
    view : RankView
    border : DeviceBorder
    """

    def __init__(self, view: RankView, border: DeviceBorder) -> None:
        self._ranks, self._border = view.ranks, border
        self._n, self._own = n, own = view.num_vertices, view.num_owned
        self._in = _Rows(view.toward("out"), own)
        self._out = _Rows(view.toward("in"), own) if view.directed else self._in
        self._every = [self._in] if self._out is self._in else [self._in, self._out]
        self._level = cupy.full(-(-n // _LOOKED_AT) * _LOOKED_AT, _UNREACHED, np.uint8)
        # Number of shortest paths, and what each path to a vertex hands back; right for ghosts too.
        self._paths, self._share = (cupy.empty(n, np.float64) for _ in range(2))
        # What an own vertex gets back, and what goes through it from all sources.
        self._total, self._through = (cupy.empty(own, np.float64) for _ in range(2))
        self._infinite = cupy.empty(1, np.uint64)  # whether a number of paths is
        self._counts = cupy.empty((2 * MOST_LEVELS, 3), np.uint64)
        self._by_level = ByLevel(border, MOST_LEVELS)
        border.make_room([self._level])
        names = "narrow", "begin", "finish_level"
        self._narrow, self._begin, self._finish = (self._in.kernel(name) for name in names)
        self._told = cupy.cuda.Event(disable_timing=True)

    def clear(self) -> None:
        """Begin a run."""
        self._through.fill(0)
        self._infinite.fill(0)

    def forget(self) -> None:
        """Nothing is recorded."""

    def add(self, found: Any, levels: int, *, endpoints: bool) -> int:
        """Add the dependencies of a source; edges that were read.

        Parameters
        ----------
        found : int32 array
            Level of each own vertex, -1 where not reached.
        levels : int
            Of all ranks, at most `MOST_LEVELS`.
        """
        level, paths, share, total = self._level, self._paths, self._share, self._total
        self._take(found, levels)
        read = 0
        counts = iter(self._counts)
        for depth in range(1, levels):
            if depth > 1:  # ghosts know of the source
                self._by_level.send(depth - 1, paths)
            read += self._in.add(depth, depth - 1, level, next(counts), paths, paths)
        for depth in range(levels - 1, 0, -1):
            if depth < levels - 1:
                self._by_level.send(depth + 1, share)
                read += self._out.add(depth, depth + 1, level, next(counts), share, total)
            self._finish_level(depth, float(endpoints))
        if endpoints:
            reached = int(self._ranks.sum(self._in.vertices))
            self._finish_level(0, float(reached - 1))
        self._border.link.settle()
        return read

    def sums(self) -> np.ndarray:
        """Of all sources, on the host; shape (num_vertices,), right for own vertices.

        Raises
        ------
        IntegerOverflow
            On all ranks: a number of paths is infinite.
        """
        if self._ranks.max(int(self._infinite[0])):
            check(MANY_PATHS, None)
        found = np.zeros(self._n)
        found[: self._own] = cupy.asnumpy(self._through)
        return found

    def _take(self, found: Any, levels: int) -> None:
        """Levels of ghosts, the order of the border by them, and what each level has of edges."""
        n, own, level = self._n, self._own, self._level
        _flat(self._narrow, own, (found, np.uint64(own), level))
        self._border.refresh([level])
        for rows in self._every:
            rows.survey(level)
        self._by_level.sort(level, levels)
        self._told.record()
        _flat(self._begin, n, (level, np.uint64(n), np.uint64(own), self._paths, self._total))
        self._counts.fill(0)
        self._border.link.wait(self._told)
        self._by_level.take(levels)

    def _finish_level(self, depth: int, ends: float) -> None:
        some = self._level, np.uint64(self._own), np.uint64(depth), np.float64(ends)
        arrays = self._paths, self._total, self._share, self._through, self._infinite
        _flat(self._finish, self._own, (*some, *arrays))


class _Rows:
    """Rows of own vertices, the same edges by their other ends, and lists of rows of a level."""

    def __init__(self, toward: TowardView, own: int) -> None:
        here = RankDeviceView.of(toward)
        self._n, self._own, self._pulled, self._pushed = here.n, own, here.into, here.out
        lists, separators = degree_lists(self._pulled)
        self._lists = (*lists, np.uint64(here.n), *separators)
        self._module = cuda("rank_betweenness", defines=here.defines)
        names = "survey", "list_level", "pull_level", "push_level"
        self._survey, self._list, self._pull, self._push = map(self.kernel, names)
        self._sums = cupy.empty(_SUMS.itemsize, np.uint8)
        self._seen = cupyx.empty_pinned(_SUMS.itemsize, np.uint8)
        self._of_level = self._seen.view(_SUMS)

    def kernel(self, name: str) -> Kernel:
        return launch.loaded(self._module.kernel(name))

    def survey(self, level: Any) -> None:
        """Queue that the entries of the rows of each level are added up, and told the host."""
        self._sums.fill(0)
        sizes = np.uint64(self._n), np.uint64(self._own)
        offsets = self._pulled.offsets, self._pushed.offsets
        _flat(self._survey, self._n, (level, *sizes, *offsets, self._sums))
        self._sums.get(out=self._seen, blocking=False)

    @property
    def vertices(self) -> int:
        """Own ones that were reached, once what `survey` has queued is done."""
        return int(self._of_level["vertices"].sum())

    def add(self, level: int, other: int, levels: Any, counts: Any, values: Any, sums: Any) -> int:
        """Queue that own vertices of a level get the values of their neighbours of another one.

        They look for them, or are looked for, whichever takes less; how many edges that reads.
        ``counts``: three words of zeros. ``sums``: to which the values are added.
        """
        of_level = self._of_level
        pulls, pushes = int(of_level["pulled"][0, level]), int(of_level["pushed"][0, other])
        if not pulls or not pushes:
            return 0
        if pulls <= PUSH_COST * pushes:
            rows, number, kernel, listed, asked = self._pulled, self._own, self._pull, level, other
        else:
            rows, number, kernel, listed, asked = self._pushed, self._n, self._push, other, level
        lists = (*self._lists, counts)
        some = rows.offsets, np.uint64(number), levels, np.uint64(listed)
        _flat(self._list, number, (*some, *lists))
        taken = rows.offsets, rows.neighbours, levels, np.uint64(asked), values, sums
        _flat(kernel, min(pulls, pushes), (*taken, *lists))
        return pulls if rows is self._pulled else pushes


def _flat(kernel: Kernel, items: int, args: tuple[Any, ...]) -> None:
    """Queue a kernel of which each block takes several parts of many items."""
    threads = min(items, launch.num_multiprocessors() * _BLOCKS * _THREADS)
    launch.flat(kernel, threads, args, threads=_THREADS)
