"""Path counts and dependencies of one source after another on one of several GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import cupy
import numpy as np

from dask_graphgpu.engine.device_ranks.border import DeviceBorder
from dask_graphgpu.engine.device_ranks.by_level import ByLevel
from dask_graphgpu.engine.device_ranks.view import RankDeviceView
from dask_graphgpu.engine.gpu.level_sweeps import MOST_LEVELS, LevelRows, LevelSweeps
from dask_graphgpu.engine.path_failures import MANY_PATHS, check

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.view import RankView


class Accumulation:
    """The sums, and what a source needs; all ranks call it alike. Kept from one run to the next.

    Parameters
    ----------
    view : RankView
    border : DeviceBorder
    """

    def __init__(self, view: RankView, border: DeviceBorder) -> None:
        self._ranks, self._border, self._own = view.ranks, border, view.num_owned
        self._n = view.num_vertices
        rows = [
            LevelRows(here.into, here.out, self._own, here.defines)
            for direction in ("out", "in")[: 1 + view.directed]
            for here in [RankDeviceView.of(view.toward(direction))]
        ]
        self._sweeps = LevelSweeps(self._n, self._own, rows[0], rows[-1])
        self._by_level = ByLevel(border, MOST_LEVELS)
        border.make_room([self._sweeps.level])
        self._told = cupy.cuda.Event(disable_timing=True)

    def clear(self) -> None:
        """Begin a run."""
        self._sweeps.clear()

    def forget(self) -> None:
        """Nothing is recorded."""

    def add(self, found: Any, sizes: Sequence[int], *, endpoints: bool) -> int:
        """Add the dependencies of a source; edges that were read.

        Parameters
        ----------
        found : int32 array
            Level of each own vertex, -1 where not reached.
        sizes : sequence of int
            Vertices of each level, on all ranks; at most `MOST_LEVELS`.
        """
        sweeps, by_level = self._sweeps, self._by_level
        sweeps.narrow(found)
        self._border.refresh([sweeps.level])
        by_level.sort(sweeps.level, len(sizes))
        sweeps.survey()
        self._told.record()
        self._border.link.wait(self._told)
        by_level.take(len(sizes))
        read = sweeps.sweep(sizes, sum(sizes) - 1 if endpoints else 0, by_level)
        self._border.link.settle()
        return read

    def sums(self) -> np.ndarray:
        """Of all sources, on the host; shape (num_vertices,), right for own vertices.

        Raises
        ------
        IntegerOverflow
            On all ranks: a number of paths is infinite.
        """
        if self._ranks.max(int(self._sweeps.is_infinite())):
            check(MANY_PATHS, None)
        found = np.zeros(self._n)
        found[: self._own] = cupy.asnumpy(self._sweeps.through)
        return found
