"""Ranks that what is built can keep, while every run has connections of its own."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from dask_graphgpu.errors import RanksAborted
from dask_graphgpu.exchange.ranks import Ranks


class Relay(Ranks):
    """Hands every step to the ranks of the run that goes on.

    Parameters
    ----------
    rank, size : int

    Attributes
    ----------
    seconds : float
        In steps of the run that goes on or was the last: to send, to receive, and to wait for the
        other ranks; ``waited`` is of this run too.
    """

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size
        self.seconds = 0.0
        self._to: Ranks | None = None

    @contextmanager
    def to(self, ranks: Ranks) -> Iterator[Relay]:
        """Hand steps to these ranks for as long as the context lasts."""
        self._to, self.seconds, self.waited = ranks, 0.0, 0.0
        try:
            yield self
        finally:
            self._to = None

    def step(
        self, send: Sequence[np.ndarray | None], scalars: np.ndarray
    ) -> tuple[list[np.ndarray], np.ndarray]:
        if self._to is None:
            raise RanksAborted(f"rank {self.rank} takes a step when no run is going on", self.rank)
        start, waited = time.perf_counter(), self._to.waited
        try:
            return self._to.step(send, scalars)
        finally:
            self.seconds += time.perf_counter() - start
            self.waited += self._to.waited - waited

    def check(self) -> None:
        if self._to is not None:
            self._to.check()

    def abort(self, reason: str) -> None:
        if self._to is not None:
            self._to.abort(reason)

    def close(self) -> None:
        if self._to is not None:
            self._to.close()
