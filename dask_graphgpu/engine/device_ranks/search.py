"""Breadth-first search on one of several GPUs: buffers, and the launches of a level (rank_bfs.cu)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import cupy
import cupyx
import numpy as np

from dask_graphgpu.engine.device_ranks.border import DeviceBorder
from dask_graphgpu.engine.device_ranks.segments import Segments
from dask_graphgpu.engine.device_ranks.view import RankDeviceView
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.bfs import BLOCKS, DIRECTIONS, PUSH_COST, VERTEX_COST
from dask_graphgpu.engine.gpu.degree_lists import SEPARATORS, degree_lists
from dask_graphgpu.engine.gpu.runs import LaunchState
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.ranks.view import RankView, TowardView
from dask_graphgpu.report import Report

# Levels that are queued as one CUDA graph before the host looks whether the search is over, behind as
# many others: of a search that has come so deep, and before. Those behind the last level send the
# border in vain, and most searches of large graphs have few.
AHEAD, FEW_AHEAD, DEEP = 16, 2, 32

# Levels of which it is told how many vertices they have.
LEVELS_TOLD = 256

_THREADS, _MOST_BLOCKS = 512, 4  # of a block; blocks that fill a multiprocessor
_HEADER = 8  # words of Told
_COSTS = np.float32(PUSH_COST), np.float32(VERTEX_COST)


class Search:
    """What searches on a share need, and the levels of the last one; kept from one to the next.

    Parameters
    ----------
    view : RankView
    toward : TowardView
        Of ``view``, for the direction in which is searched.
    border : DeviceBorder
    separators : pair of int
        Edges from which a row is a warp's, and blocks', unless the user has others.

    Attributes
    ----------
    level : int32 array, shape (num_vertices,)
        Hops in the last search, -1 where not reached; right for own vertices.
    levels : int
        Those of the last search that have vertices.
    """

    def __init__(
        self,
        view: RankView,
        toward: TowardView,
        border: DeviceBorder,
        separators: tuple[int, int] = SEPARATORS,
    ) -> None:
        self._link = border.link
        here = RankDeviceView.of(toward)
        out, into, n, ids = here.out, here.into, here.n, here.id_dtype
        self._ids = ids
        self.level = cupy.full(n, -1, np.int32)  # and so it stays at ghosts
        self._state = LaunchState([("done", np.uint64), ("levels", np.uint64)], DIRECTIONS)
        self._sizes, self.levels = cupy.zeros(LEVELS_TOLD, np.uint64), 0
        self._asked = cupy.empty(3, np.int64)
        self._asking = cupyx.empty_pinned(3, np.int64)
        self._seen = [cupyx.empty_pinned(self._state.size, np.uint8) for _ in range(2)]
        ghosts = np.diff(view.border.ghosts).tolist()
        counts, rank = [len(vertices) for vertices in view.border.sends], view.ranks.rank
        sends = Segments(counts, rank, header=_HEADER)
        self._sends, self._ghosts = sends, Segments(ghosts, rank, header=_HEADER)
        self._packed = cupy.zeros(sends.words, np.uint32)
        self._received = cupy.zeros(self._ghosts.words, np.uint32)
        lists, (medium, large) = degree_lists(out, separators=separators)
        numbers = here.made("numbers", lambda: cupy.asarray(view.numbers.astype(ids, copy=False)))
        self._held = [
            out.offsets, out.neighbours, into.offsets, into.neighbours, n, view.num_owned,
            view.graph_vertices, toward.graph_edges, numbers, here.degrees("out"),
            view.ranks.rank, view.ranks.size, *sends.picks(view.border.sends),
            *sends.arrays, *self._ghosts.arrays, self._packed, self._received, self._asked,
            self.level, self._sizes, cupy.empty(2 * ((n + 31) // 32), np.uint32), *lists, int(medium),
            int(large), cupy.empty(2 * n, ids), self._state.memory,
        ]  # fmt: skip
        given = launch.struct(self._held)
        module = cuda("rank_bfs", defines={**here.defines, "BLOCKS": str(BLOCKS)})
        threads = launch.num_multiprocessors() * _THREADS

        def queued(name: str, *more: Any, blocks: int = BLOCKS) -> Callable[[], None]:
            kernel, args = launch.loaded(module.kernel(name)), (given, *more)
            return lambda: launch.flat(kernel, blocks * threads, args, threads=_THREADS)

        # Those that only wait for memory.
        clear, start = (queued(name, blocks=_MOST_BLOCKS) for name in ("clear", "start"))
        pack = queued("pack", *_COSTS, blocks=_MOST_BLOCKS)
        level = queued("take", *_COSTS), queued("work", *_COSTS), pack, self._exchange
        few = FEW_AHEAD * level
        self._start = self._recorded(clear, start, pack)
        self._first = self._recorded(self._exchange, *few)
        self._few, self._many = self._recorded(*few), self._recorded(*AHEAD * level)
        self._begun = False

    def begin(self, source: int, cutoff: int | None, forced: int) -> None:
        """Queue what a `run` needs no peer for, which may begin before it."""
        self._asking[:] = source, -1 if cutoff is None else cutoff, forced
        self._asked.set(self._asking)
        self._start()
        self._begun = True

    def run(self, source: int, cutoff: int | None, forced: int, report: Report) -> None:
        """Find the hops from a number, that with which it was begun. Collective."""
        if not self._begun:
            self.begin(source, cutoff, forced)
        self._begun = False
        state, runs = self._state.of(self._searched())
        item, n = self._ids.itemsize, self.level.size
        for run in runs:
            run.note(report, run.edges * (item + 1) + 5 * n)
        self.levels = int(state["levels"])

    def tell_sizes(self, into: Any) -> None:
        """Queue that the sizes of the last search's levels are copied.

        ``into``: uint64 array, shape (LEVELS_TOLD,); gets the vertices of the whole graph on each of
        the first `levels`, and then what means nothing.
        """
        into[...] = self._sizes

    def forget(self) -> None:
        """End what was recorded."""
        for each in (self._start, self._first, self._few, self._many):
            each.forget()
        del self._start, self._first, self._few, self._many  # they hold this

    def _searched(self) -> np.ndarray:
        """The state after the last level: levels are queued, some of them in vain."""
        looks: deque[tuple[Any, np.ndarray]] = deque()
        state, seen = self._state.memory[: self._state.size], list(self._seen)
        queued = 0
        while True:
            (self._many if queued >= DEEP else self._few if queued else self._first)()
            queued += FEW_AHEAD
            looks.append((cupy.cuda.Event(disable_timing=True), seen[0]))
            seen.reverse()  # the other one may be waited for
            state.get(out=looks[-1][1], blocking=False)
            looks[-1][0].record()
            if len(looks) == 1:
                continue
            event, found = looks.popleft()
            self._link.wait(event)
            if self._state.of(found)[0]["done"]:
                self._link.settle()  # what is queued waits for the peers too
                return found

    def _exchange(self) -> None:
        self._link.swap([(self._sends.of(self._packed), self._ghosts.of(self._received))])

    def _recorded(self, *steps: Callable[[], None]) -> Any:
        def step() -> None:
            for queue in steps:
                queue()

        return self._link.recorded(step, lasts=True)
