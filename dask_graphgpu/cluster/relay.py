"""Ranks that what is built can keep, while every run has connections of its own."""

from __future__ import annotations

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
    """

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size
        self._to: Ranks | None = None

    @contextmanager
    def to(self, ranks: Ranks) -> Iterator[Relay]:
        """Hand steps to these ranks for as long as the context lasts."""
        self._to = ranks
        try:
            yield self
        finally:
            self._to = None

    def step(
        self, send: Sequence[np.ndarray | None], scalars: np.ndarray
    ) -> tuple[list[np.ndarray], np.ndarray]:
        if self._to is None:
            raise RanksAborted(f"rank {self.rank} takes a step when no run is going on", self.rank)
        return self._to.step(send, scalars)

    def abort(self, reason: str) -> None:
        if self._to is not None:
            self._to.abort(reason)

    def close(self) -> None:
        if self._to is not None:
            self._to.close()
