"""Path counts and dependencies level by level, once a search has found the levels (betweenness_levels.cu)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import cupy
import cupyx
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.degree_lists import degree_lists
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.kernels.cuda_build import Kernel
from dask_graphgpu.partition.csr import Adjacency

# Levels of a search, at most; places of a byte are left for deeper ones and for what is not reached.
MOST_LEVELS = 250

# Edges of a pull that take as long as one of a push, whose sums are atomics.
PUSH_COST = 2.0

# Blocks of a kernel on a multiprocessor, and their threads.
_BLOCKS, _THREADS = 4, 512

_UNREACHED = 255  # as the level of a vertex
_LOOKED_AT = 128  # levels are there up to a multiple of it
_SUMS = np.dtype([(name, np.uint64, _UNREACHED + 1) for name in ("vertices", "pulled", "pushed")])


class Others(Protocol):
    """Ghosts of own vertices on other ranks, and those that are here."""

    def send(self, level: int, array: Any) -> None:
        """Have own vertices' values of a level at their ghosts."""

    def gather(self, level: int, array: Any) -> None:
        """Have ghosts' values of a level added to those of their owners."""


class LevelSweeps:
    """The sums, and what a source needs; of a whole graph, or of a rank's own vertices.

    33 bytes an own vertex and 25 another, and lists of `degree_lists`.

    Parameters
    ----------
    n : int
        Vertices, the own ones before the others.
    own : int
    toward, back : LevelRows
        By which sums go away from the source, and back; of an undirected graph the same.

    Attributes
    ----------
    level : uint8 array, at least n
        Of the source that is worked on; `narrow` knows those of own vertices.
    """

    def __init__(self, n: int, own: int, toward: LevelRows, back: LevelRows) -> None:
        self._n, self._own, self._toward, self._back = n, own, toward, back
        self._every = [toward] if back is toward else [toward, back]
        self._flat = _Flat()
        self.level = cupy.full(-(-n // _LOOKED_AT) * _LOOKED_AT, _UNREACHED, np.uint8)
        # Number of shortest paths, what each path to a vertex hands back, and sums of either.
        self._paths, self._share, self._sums = (cupy.empty(n, np.float64) for _ in range(3))
        self.through = cupy.empty(own, np.float64)  # from all sources
        self._infinite = cupy.empty(1, np.uint64)  # whether a number of paths is
        self._counts = cupy.empty((2 * MOST_LEVELS, 3), np.uint64)
        names = "narrow", "begin", "count_level", "finish_level"
        self._narrow, self._begin, self._count, self._finish = map(toward.kernel, names)
        self.clear()

    def clear(self) -> None:
        """Begin a run."""
        self.through.fill(0)
        self._infinite.fill(0)

    def narrow(self, found: Any) -> None:
        """Queue that levels of own vertices become bytes; ``found``: int32, -1 where not reached."""
        self._flat(self._narrow, self._own, (found, np.uint64(self._own), self.level))

    def survey(self) -> None:
        """Queue what comes before the levels, once all vertices have theirs."""
        self._counts.fill(0)
        arrays = self._paths, self._share, self._sums
        self._flat(self._begin, self._n, (self.level, np.uint64(self._n), *arrays))
        for rows in self._every:
            rows.survey(self.level)

    @property
    def sizes(self) -> list[int]:
        """Own vertices of each level, once what `survey` has queued is done; the deepest are together."""
        found = self._toward.vertices
        sizes: list[int] = found[: int(np.flatnonzero(found).max(initial=-1)) + 1].tolist()
        return sizes

    def sweep(self, sizes: Sequence[int], ends: int, others: Others | None = None) -> int:
        """Queue that dependencies are added, once what `survey` has queued is done; edges to be read.

        Parameters
        ----------
        sizes : sequence of int
            Vertices of each level, on all ranks.
        ends : int
            Paths that begin in the source, to be added where paths go through both ends; else 0.
        others : Others, optional
            Where not all vertices are own ones.
        """
        own, deepest = np.uint64(self._own), len(sizes) - 1
        self._queued, read = 0, 0
        for depth in range(1, deepest + 1):
            rows = self._toward, self._back
            read += self._add(rows, depth, depth - 1, sizes, self._paths, others)
            counted = self._sums, self._paths, self._infinite
            self._flat(self._count, self._own, (self.level, own, np.uint64(depth), *counted))
        self._sums.fill(0)
        for depth in range(deepest, 0 if ends == 0 else -1, -1):
            if 0 < depth < deepest:
                rows = self._back, self._toward
                read += self._add(rows, depth, depth + 1, sizes, self._share, others)
            # Of what begins in the source all ends there too.
            more = np.float64(ends if depth == 0 else ends > 0)
            finished = self._paths, self._sums, self._share, self.through
            self._flat(
                self._finish, self._own, (self.level, own, np.uint64(depth), more, *finished)
            )
        return read

    def _add(
        self,
        rows: tuple[LevelRows, LevelRows],
        level: int,
        other: int,
        sizes: Sequence[int],
        values: Any,
        others: Others | None,
    ) -> int:
        """Queue one level of a sweep; ``rows``: for its direction and against it."""
        # Of ghosts what they give comes here, or what they get goes away: of the level that is smaller.
        gathers = others is not None and sizes[level] < sizes[other]
        if others is not None and not gathers and other > 0:  # all know of the source
            others.send(other, values)
        counts, self._queued = self._counts[self._queued], self._queued + 1
        arrays = values, self._sums
        read = rows[gathers].add(level, other, self.level, counts, arrays, turned=gathers)
        if others is not None and gathers:
            others.gather(level, self._sums)
        return read

    def is_infinite(self) -> bool:
        """Whether a number of paths was."""
        return bool(self._infinite[0])


class LevelRows:
    """Edges by both of their ends, and lists of those of a level.

    Parameters
    ----------
    pulled, pushed : Adjacency
        By own vertices, which get values, and by all from whom they come.
    own : int
    defines : mapping
        The types of their arrays.
    """

    def __init__(
        self, pulled: Adjacency, pushed: Adjacency, own: int, defines: dict[str, str]
    ) -> None:
        self._own, self._pulled, self._pushed = own, pulled, pushed
        self._n = n = pulled.num_vertices
        self._flat = _Flat()
        lists, separators = degree_lists(pulled)
        self._lists = (*lists, np.uint64(n), *separators)
        self._module = cuda("betweenness_levels", defines=defines)
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
        self._flat(self._survey, self._n, (level, *sizes, *offsets, self._sums))
        self._sums.get(out=self._seen, blocking=False)

    @property
    def vertices(self) -> np.ndarray:
        """Own ones of each level, once what `survey` has queued is done."""
        found: np.ndarray = self._of_level["vertices"][0, :_UNREACHED]
        return found

    def add(
        self,
        level: int,
        other: int,
        levels: Any,
        counts: Any,
        arrays: tuple[Any, Any],
        *,
        turned: bool,
    ) -> int:
        """Queue that vertices of a level get the values of their neighbours of another one.

        They look for them, or are looked for, whichever takes less; how many edges that reads. Own
        vertices get those of all, or, ``turned``, all get those of own ones. Of neighbours on further
        levels values are zero, or sums have been taken. ``counts``: three words of zeros. ``arrays``:
        the values, and the sums to which they are added.
        """
        ways = ("pulled", self._pulled, self._own), ("pushed", self._pushed, self._n)
        (to, taking, takers), (of, giving, givers) = reversed(ways) if turned else ways
        pulls, pushes = int(self._of_level[to][0, level]), int(self._of_level[of][0, other])
        if not pulls or not pushes:
            return 0
        if pulls <= PUSH_COST * pushes:
            read, rows, number, kernel, listed = pulls, taking, takers, self._pull, level
        else:
            read, rows, number, kernel, listed = pushes, giving, givers, self._push, other
        lists = (*self._lists, counts)
        self._flat(
            self._list, number, (rows.offsets, np.uint64(number), levels, np.uint64(listed), *lists)
        )
        self._flat(kernel, read, (rows.offsets, rows.neighbours, *arrays, *lists))
        return read


class _Flat:
    """Launches in which each thread takes several of many items."""

    def __init__(self) -> None:
        self._most = launch.num_multiprocessors() * _BLOCKS * _THREADS

    def __call__(self, kernel: Kernel, items: int, args: tuple[Any, ...]) -> None:
        launch.flat(kernel, min(items, self._most), args, threads=_THREADS)
