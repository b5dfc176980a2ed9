"""What runs of monotone programs on the CPU share: values, and who has one."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dask_graphgpu.engine.buckets import no_limit
from dask_graphgpu.engine.cpu.arrays import Arrays
from dask_graphgpu.engine.keeping import Keeper, Kept
from dask_graphgpu.engine.state import State
from dask_graphgpu.functions import INT64_MAX
from dask_graphgpu.report import Report


class Improving:
    """A run that improves values where they stand, in whatever order.

    Parameters
    ----------
    arrays : Arrays
    sources : int64 array, optional
        Vertices that send first; None: all.
    cutoff : number, optional
        Messages of a higher priority are dropped.
    report : Report

    Attributes
    ----------
    stamp : int32, shape (n,)
        The round in which a vertex has last got to send; ``now`` is the round.
    late : uint8, shape (n,), or empty
        Whether a vertex has got the value that stands for none.
    rounds, read : int
        Rounds and edges read so far.
    """

    def __init__(
        self, arrays: Arrays, sources: np.ndarray | None, cutoff: Any, report: Report
    ) -> None:
        self.arrays, self.binding, self.report = arrays, arrays.binding, report
        self.program = arrays.binding.program
        self.whole = self.binding.whole_priorities
        n = arrays.n
        self.start = np.arange(n) if sources is None else sources
        self.stamp = np.zeros(n, np.int32)
        self.late = np.zeros(n if self.program.has_reached else 0, np.uint8)
        if sources is not None and self.late.size:
            self.late[sources] = 1
        self.dropping = cutoff is not None
        self.cutoff = self._limit(cutoff)
        self.now = 0
        self.rounds = 0
        self.read = 0

    def keep(self, keeper: Keeper | None) -> None:
        """Have the values kept if that is due; of vertices that have one, any may have to send."""
        if keeper is not None and keeper.due(self.rounds):
            keeper.write(self.rounds, self.kept(), {})

    def kept(self) -> dict[str, np.ndarray]:
        first = self.program.first
        return {f"state {first}": self.arrays.state[first], "reached": self.has_value()}

    def _limit(self, value: Any) -> Any:
        """A bound of priorities in their type; None: no bound."""
        if value is None or (self.whole and value >= INT64_MAX):
            return no_limit(self.whole)
        if self.whole:
            return int(np.floor(value)) if isinstance(value, float) else int(value)
        return float(value)

    def _note(
        self, direction: str, kernel: str, edges: Any, made: tuple[int, int, int], began: float
    ) -> None:
        """Add a row to the report; ``made``: rounds, vertices that sent first, edges read."""
        rounds, size, read = made
        self.rounds += rounds
        self.read += read
        item = self.binding.message.itemsize
        self.report.advance(
            direction, supersteps=rounds, frontier=size, edges=read,
            bytes=read * self.arrays.edge_bytes(kernel, edges, item),
            seconds=time.perf_counter() - began,
        )  # fmt: skip

    def has_value(self, vertices: Any = slice(None)) -> np.ndarray:
        """Which of these vertices have a value, bool."""
        values = self.arrays.state[self.program.first][vertices]
        if not self.program.has_reached:
            return np.ones(len(values), bool)
        found: np.ndarray = values != self.binding.identity(values.dtype)
        found |= self.late[vertices].view(bool)
        return found

    def result(self) -> State:
        """The fields as they are."""
        state = State()
        state.update(self.arrays.state)
        if self.program.has_reached:
            state.reached = self.has_value()
            for column in state.values():
                column[~state.reached] = 0
        state.supersteps = self.rounds
        return state


def resumed(arrays: Arrays, kept: Kept) -> np.ndarray | None:
    """Put kept values of own vertices into the arrays; who has to send again, None: all.

    Values only improve, so it does no harm that those send again that have sent before.
    """
    own, first = arrays.owned, arrays.binding.program.first
    arrays.state[first][:own] = kept.columns[f"state {first}"][:own]
    if not arrays.binding.program.has_reached:
        return None
    return np.flatnonzero(kept.columns["reached"][:own])
