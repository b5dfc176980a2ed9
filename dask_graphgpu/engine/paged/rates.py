"""How fast pages are read: in a row, and one by one."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from dask_graphgpu.partition.paged.sort import PagedAdjacency
from dask_graphgpu.partition.paged.window import Window

# Pages that are read one by one, and in a row at most.
SAMPLES, _IN_A_ROW = 4, 32


@dataclass(frozen=True)
class DiskRates:
    """What reading some pages has shown.

    Attributes
    ----------
    bytes : float
        A second, in a row; infinite of so few pages that they say nothing.
    random : float
        How many times as long a page takes by itself as in a row, at least 1: Garaph's k.
    read_bytes : int
        That were read to find out.
    """

    bytes: float
    random: float
    read_bytes: int


def rates_of(rows: PagedAdjacency) -> DiskRates:
    """The rates of the disks that some rows lie on, by pages of these.

    Raises
    ------
    SpillError
    """
    size, total = rows.page_edges, rows.num_edges
    pages = -(-total // size)
    if pages <= 2 * SAMPLES:
        return DiskRates(float("inf"), 1.0, 0)
    window = Window({"neighbours": rows.arrays["neighbours"]})
    scattered = np.random.default_rng(0).choice(pages, SAMPLES, replace=False) * size
    in_order = np.arange(min(_IN_A_ROW, pages - 1)) * size
    began = time.perf_counter()
    for first in scattered.tolist():
        _pass(window, np.array([[first, min(first + 1, total)]]))
    alone, before = (time.perf_counter() - began) / SAMPLES, window.read_bytes
    began = time.perf_counter()
    _pass(window, np.stack([in_order, in_order + size], 1))
    in_row = max((time.perf_counter() - began) / len(in_order), 1e-9)
    size_of_page = (window.read_bytes - before) / len(in_order)
    return DiskRates(size_of_page / in_row, max(alone / in_row, 1.0), window.read_bytes)


def _pass(window: Window, spans: np.ndarray) -> None:
    for _ in window.over(spans):
        pass
