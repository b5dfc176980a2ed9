"""How edges that do not fit a GPU come to it in runs that are measured, and how long these may take."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import dask
import numpy as np

from dask_graphgpu.engine.tiered.limits import Cut
from dask_graphgpu.engine.tiered.transfer import Transfer

cut_of = Cut.of  # as it is where it is patched


class TooLong(Exception):
    """A run was given up in a superstep."""


class Limited(Transfer):
    """Gives a run up that takes longer than it may."""

    until = math.inf  # time.perf_counter()
    passed = 0  # supersteps of the run

    def superstep(self, *given: Any, **named: Any) -> None:
        """As of `Transfer`."""
        Limited.passed += 1
        if time.perf_counter() > Limited.until:
            raise TooLong
        super().superstep(*given, **named)


class Partitioned(Limited):
    """Every segment is streamed in every superstep."""

    def choose(self, rows: int, active: np.ndarray) -> list[str | None]:
        return ["stream"] * len(active)


@contextmanager
def on_device(share: float) -> Iterator[None]:
    """Have this share of the edges' bytes on the device, whatever of vertices is there beside them."""

    def cut(num_edges: int, edge: int, vertices: int, limit: int, what: str) -> Cut:
        return cut_of(num_edges, edge, 0, int(share * num_edges * edge), what)

    limit = dask.config.set({"graphgpu.device-memory-limit": "1TB"})
    with limit, patch.object(Cut, "of", cut):
        yield
