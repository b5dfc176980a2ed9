"""Path counts and dependencies of one source after another on one of several GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import cupy
import cupyx
import numpy as np

from dask_graphgpu.engine.device_ranks.border import DeviceBorder
from dask_graphgpu.engine.device_ranks.by_level import ByLevel
from dask_graphgpu.engine.device_ranks.search import LEVELS_TOLD, Search
from dask_graphgpu.engine.device_ranks.view import RankDeviceView
from dask_graphgpu.engine.gpu.level_sweeps import MOST_LEVELS, LevelSweeps, batch
from dask_graphgpu.engine.path_failures import MANY_PATHS, check

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.view import RankView


class Accumulation:
    """The sums, and what a batch of sources needs; all ranks call it alike. Kept from one run to the next.

    Parameters
    ----------
    view : RankView
    border : DeviceBorder
    sources : int
        Of a run.

    Attributes
    ----------
    sources : int
        Of a batch, at most.
    most : int
        What that may be, of runs of more sources.
    """

    def __init__(self, view: RankView, border: DeviceBorder, sources: int) -> None:
        self._ranks, self._border, self._own = view.ranks, border, view.num_owned
        self._n = view.num_vertices
        every = [
            RankDeviceView.of(view.toward(direction))
            for direction in ("out", "in")[: 1 + view.directed]
        ]
        pairs = [(here.into, here.out) for here in every]
        edges = max(pulled.num_edges for pulled, _ in pairs)
        ghosts = border.ghosts[-1][1] - border.ghosts[0][0]
        travelling = (16 + border.vertices.itemsize) * (len(border.vertices) + ghosts)
        self.most = int(view.ranks.min(batch(self._n, edges, travelling)))
        self.sources = max(min(sources, self.most), 1)
        self._sweeps = LevelSweeps(self._own, pairs, self.sources)
        self._by_level = ByLevel(border, self._sweeps.level, MOST_LEVELS, 4 * MOST_LEVELS)
        border.make_room([self._sweeps.level[0]])
        # Vertices of each level of each source, on all ranks.
        self._sizes = cupy.empty((self.sources, LEVELS_TOLD), np.uint64)
        self._told_sizes = cupyx.empty_pinned(self._sizes.shape, np.uint64)
        self._told = cupy.cuda.Event(disable_timing=True)

    def clear(self) -> None:
        """Begin a run."""
        self._sweeps.clear()

    def forget(self) -> None:
        """Nothing is recorded."""

    def take(self, source: int, search: Search) -> None:
        """Queue that what a search has found is taken over, as of a source of a batch."""
        search.tell_sizes(self._sizes[source])
        self._sweeps.narrow(source, search.level)
        self._border.refresh([self._sweeps.level[source, : self._n]])

    def add(self, levels: Sequence[int], *, endpoints: bool) -> int:
        """Add the dependencies of the sources of a batch; edges that were read.

        ``levels``: how many each has, at most `MOST_LEVELS`.
        """
        self._by_level.sort(len(levels), max(levels))
        self._sizes.get(out=self._told_sizes, blocking=False)
        self._sweeps.survey(len(levels))
        self._told.record()
        self._border.link.wait(self._told)
        sizes = [
            each[:number].tolist() for each, number in zip(self._told_sizes, levels, strict=False)
        ]
        read = self._sweeps.sweep(sizes, endpoints=endpoints, others=self._by_level)
        self._border.link.settle()
        return read

    def sums(self, *, stays: bool) -> Any:
        """Of all sources; shape (num_vertices,), right for own vertices, on the device where it ``stays``.

        Raises
        ------
        IntegerOverflow
            On all ranks: a number of paths is infinite.
        """
        if self._ranks.max(int(self._sweeps.is_infinite())):
            check(MANY_PATHS, None)
        own = self._sweeps.through
        found = (cupy if stays else np).zeros(self._n)
        found[: self._own] = own if stays else own.get()
        return found
