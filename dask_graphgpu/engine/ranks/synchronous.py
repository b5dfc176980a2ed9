"""Supersteps on many ranks: each gathers and applies for its own vertices, then values travel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from struct import Struct

import numpy as np

from dask_graphgpu.engine.aggregates import Partial, joined
from dask_graphgpu.engine.cpu.arrays import Arrays
from dask_graphgpu.engine.cpu.search import INTO_COST
from dask_graphgpu.engine.cpu.synchronous import Synchronous
from dask_graphgpu.exchange.ranks import MOST_SCALARS
from dask_graphgpu.functions import parameters, plain
from dask_graphgpu.partition.ranks.view import RankView
from dask_graphgpu.report import Report

# What a value is; the flags of a part are this and, for overflow, 4.
_NONE, _INTEGER, _FLOAT, _OVERFLOWS = 0, 1, 2, 4
_BITS = 3

_DOUBLE, _LONG = Struct("d"), Struct("q")


def fit(scalars: int) -> int:
    """How many parts so many scalars hold: two for each value, and one for the flags of all."""
    return (scalars - 1) // 2


def packed(parts: Sequence[Partial]) -> list[int]:
    """Integers within int64. A value may be beyond it: the sum of 2**31 of them is not too large."""
    flags, values = 0, []
    for i, part in enumerate(parts):
        kind, high, low = _NONE, 0, 0
        if isinstance(part.value, float):
            kind, high = _FLOAT, _LONG.unpack(_DOUBLE.pack(part.value))[0]
        elif part.value is not None:
            kind, high, low = _INTEGER, part.value >> 32, part.value & 0xFFFFFFFF
        flags |= (kind | (_OVERFLOWS if part.overflows else 0)) << _BITS * i
        values += [high, low]
    return [flags, *values] if parts else []


def unpacked(scalars: Sequence[int]) -> list[Partial]:
    """The parts that `packed` was given."""
    parts = []
    for i in range(1, len(scalars), 2):
        flag = scalars[0] >> _BITS * (i // 2)
        kind, overflows, high = flag & 3, bool(flag & _OVERFLOWS), scalars[i]
        if kind == _FLOAT:
            parts.append(Partial(_DOUBLE.unpack(_LONG.pack(high))[0], overflows))
        else:
            parts.append(Partial((high << 32) + scalars[i + 1] if kind else None, overflows))
    return parts


_COUNTS = 2

# Parts of aggregates that travel with the values.
_FIT = fit(MOST_SCALARS - _COUNTS)


class RankSynchronous(Synchronous):
    """Steps for the superstep loop, of one rank.

    After `apply` one exchange brings to the ghosts of active vertices what compute reads of a
    sender; a ghost that got nothing is not active. Counts and the aggregates that are known by then
    travel along, so that the loop goes the same way on all ranks.

    Parameters
    ----------
    arrays : Arrays
        Over a view of `RankView.toward`, with values that are right for ghosts too.
    whole : RankView
    """

    def __init__(self, arrays: Arrays, whole: RankView, report: Report) -> None:
        program = arrays.binding.program
        compute = parameters(plain(program.compute, "compute"), "compute")
        self._ranks, self._border = whole.ranks, whole.border
        self._sent = [name for name in program.changing if f"source_{name}" in compute]
        # Aggregates that apply gave and that did not fit in beside the values.
        self._own: dict[tuple[str, int], Partial] = {}
        super().__init__(arrays, report)
        # What does not travel keeps its first values at ghosts.
        for name, new in arrays.new.items():
            new[arrays.owned :] = arrays.state[name][arrays.owned :]

    def resume(self, columns: Mapping[str, np.ndarray]) -> None:
        super().resume(columns)
        arrays = self.arrays
        sent = [arrays.state[name] for name in self._sent]
        got, _ = self._border.refresh(sent, arrays.active)
        arrays.active[arrays.owned :] = 0
        arrays.active[got.astype(np.intp)] = 1

    def _start(self, active: int, edges: int) -> None:
        self._active_here = active
        counts = self._ranks.scalars([active, edges])
        super()._start(*counts.sum(axis=0).tolist())

    def _finish(self, active: int, edges: int) -> None:
        """Bring values to ghosts, and counts and aggregates to all ranks."""
        arrays = self.arrays
        self._active_here = active
        parts = list(self._known.items())
        travelling, self._own = parts[:_FIT], dict(parts[_FIT:])
        scalars = [active, edges, *packed([part for _, part in travelling])]
        got, every = self._border.refresh(
            [arrays.new[name] for name in self._sent], arrays.active, np.array(scalars, np.int64)
        )
        arrays.active[arrays.owned :] = 0
        arrays.active[got.astype(np.intp)] = 1
        counts = every.tolist()
        super()._finish(sum(of[0] for of in counts), sum(of[1] for of in counts))
        self._known = self._joined([key for key, _ in travelling], [of[_COUNTS:] for of in counts])

    def _joined(
        self, keys: Sequence[tuple[str, int]], every: Sequence[Sequence[int]]
    ) -> dict[tuple[str, int], Partial]:
        """Aggregates over all ranks; ``every``: what came from each."""
        of_ranks = zip(*map(unpacked, every), strict=True)
        return {
            key: joined(self.program, key[0], parts)
            for key, parts in zip(keys, of_ranks, strict=True)
        }

    def _part(self, name: str) -> Partial:
        key = name, self.arrays.superstep
        part = self._own.pop(key, None)
        own = super()._part(name) if part is None else part
        scalars = np.array(packed([own]), np.int64)
        _, every = self._ranks.step([None] * self._ranks.size, scalars)
        return self._joined([key], every.tolist())[key]

    @property
    def _frontier_size(self) -> int:
        return self._active_here

    def direction(self) -> str:
        """As on one rank, but that the rows to push along are made only once that pays."""
        direction, view = super().direction(), self.binding.view
        if direction == "pull" or self.forced != "auto" or view.rows.has("source"):
            return direction
        saved = (1 - self.active_edges / max(self.binding.graph_edges, 1)) * view.num_edges
        return direction if view.note_missed(saved) > INTO_COST * view.num_edges else "pull"
