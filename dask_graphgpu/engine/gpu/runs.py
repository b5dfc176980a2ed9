"""State of a kernel that is one launch, and what it noted for the report (kernels/cuda/runs.cuh)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import cupy
import numpy as np

from dask_graphgpu.report import Report

# Bytes of the largest `State` of a kernel, which asserts it.
_STATE_BYTES = 4096

_RUN = np.dtype(
    [(name, np.uint64) for name in ("direction", "supersteps", "frontier", "edges", "nanoseconds")]
)
_RUNS = np.dtype([("number", np.uint64), ("time", np.uint64), ("run", _RUN, 32)])


class NotedRun(NamedTuple):
    """Supersteps in one direction; `frontier` is that of the first."""

    direction: str
    supersteps: int
    frontier: int
    edges: int
    seconds: float

    def note(self, report: Report, num_bytes: int, *, frontier: int | None = None) -> None:
        """Add it to a report, with the bytes that it touched; ``frontier``: another than its own."""
        report.advance(
            self.direction, supersteps=self.supersteps, edges=self.edges, bytes=num_bytes,
            frontier=self.frontier if frontier is None else frontier, seconds=self.seconds,
        )  # fmt: skip


class LaunchState:
    """Zeros at the launch; read once after it.

    Parameters
    ----------
    fields : sequence of (name, dtype)
        What stands in front of the runs.
    directions : mapping of int to str
        Names of what the kernel notes.
    """

    def __init__(self, fields: Sequence[tuple[str, Any]], directions: dict[int, str]) -> None:
        self.memory = cupy.zeros(_STATE_BYTES, cupy.uint8)
        self._dtype = np.dtype([*fields, ("runs", _RUNS)])
        self._directions = directions

    def read(self) -> tuple[Any, list[NotedRun]]:
        """Wait for the kernel. The fields by name, and the runs in order."""
        return self.of(cupy.asnumpy(self.memory[: self.size]))

    @property
    def size(self) -> int:
        """Bytes of all that is read."""
        return self._dtype.itemsize

    def of(self, words: np.ndarray) -> tuple[Any, list[NotedRun]]:
        """What `read` gives, of a copy of the first ``size`` bytes."""
        read = words.view(self._dtype)[0]
        noted = read["runs"]["run"][: int(read["runs"]["number"])].tolist()
        return read, [
            NotedRun(self._directions[direction], supersteps, frontier, edges, nanoseconds / 1e9)
            for direction, supersteps, frontier, edges, nanoseconds in noted
        ]
