"""The ranks of a run that has only one: steps that cost a call, and a border that nothing crosses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dask_graphgpu.exchange.border import Border
from dask_graphgpu.exchange.ranks import NO_SCALARS, Ranks, check


class Alone(Ranks):
    """One rank, which has nobody to wait for, so that drivers need not ask how many there are."""

    rank, size = 0, 1

    def step(
        self, send: Sequence[np.ndarray | None], scalars: np.ndarray
    ) -> tuple[list[np.ndarray], np.ndarray]:
        return check(1, send, scalars), scalars[None].copy()

    def check(self) -> None:
        pass

    def abort(self, reason: str) -> None:
        pass

    def close(self) -> None:
        pass

    # Most of what drivers ask between supersteps: without arrays, which take longer than the answer.

    def sum(self, value: int | float) -> int | float:
        return value

    def min(self, value: int | float) -> int | float:
        return value

    def max(self, value: int | float) -> int | float:
        return value


ALONE = Alone()


class NoBorder(Border):
    """The border of all vertices of a graph: no vertex is a ghost anywhere.

    Parameters
    ----------
    num_vertices : int
    dtype : dtype
        Of local ids.
    """

    def __init__(self, num_vertices: int, dtype: np.dtype[np.generic]) -> None:
        # Without what looks for faults: there can be none, and a view makes one for each run.
        self.ranks, self.num_owned = ALONE, num_vertices
        self.ghosts = np.array([num_vertices, num_vertices])
        self.sends = [np.empty(0, dtype)]
        self.sent_bytes, self.seconds = 0, 0.0

    def refresh(
        self,
        arrays: Sequence[np.ndarray],
        changed: np.ndarray | None = None,
        scalars: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        return self.sends[0], (NO_SCALARS if scalars is None else scalars)[None]

    def tell_owners(
        self, ghosts: np.ndarray, values: np.ndarray, scalars: np.ndarray | None = None
    ) -> tuple[list[tuple[np.ndarray, np.ndarray]], np.ndarray]:
        every = (NO_SCALARS if scalars is None else scalars)[None]
        return [(self.sends[0], values[:0])], every
