"""Arrays that are mapped from files, each looked at when it is first used.

A kernel trusts offsets and neighbours: a wrong one would end the process, or give a wrong answer. What is not used is
not read.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from dask_graphgpu.errors import InvalidSavedGraph
from dask_graphgpu.io.place import Place
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.paged.files import words_of

_BLOCK = 1 << 20  # bytes under one checksum, which a cache holds

# Gives what is wrong with an array, in words; None: nothing.
Check: TypeAlias = Callable[[], str | None]


class Unread:
    """What of a folder's arrays is still to be looked at; called with arrays that are about to be used.

    Raises
    ------
    InvalidSavedGraph
        One of them is damaged.
    """

    def __init__(self, folder: Place) -> None:
        self._folder = folder
        self._names: dict[int, str] = {}
        self._arrays: list[Any] = []  # so that no other gets the id of one
        self._checks: dict[str, list[Check]] = {}
        self._lock = threading.RLock()

    def add(self, name: str, array: Any, *checks: Check) -> None:
        """An array of a file, and what to look at before it is used; of one file several times, all of it."""
        if id(array) not in self._names:
            self._names[id(array)] = name
            self._arrays.append(array)
        self._checks.setdefault(name, []).extend(checks)

    def __call__(self, *arrays: Any) -> None:
        with self._lock:
            for array in arrays:
                self._look(self._names.get(id(array), ""))

    def _look(self, name: str) -> None:
        for check in self._checks.get(name, []):
            wrong = check()
            if wrong is not None:
                raise InvalidSavedGraph(
                    f"{self._folder / name} is damaged: {wrong}; save the graph again"
                )
        self._checks.pop(name, None)


def checksum_differs(
    data: np.ndarray, checksum: str, beside: Callable[[int], None] | None = None
) -> str | None:
    """What is wrong with the bytes of a file whose checksum is known."""
    return None if checksum_of(data, beside) == checksum else "it is not what was written"


def checksum_of(data: np.ndarray, beside: Callable[[int], None] | None = None) -> str:
    """A checksum of bytes, in hexadecimal: that of the checksums of their blocks.

    ``beside(i)`` is called, on the threads, once block i has been read, and while the cache holds it.
    """
    number = -(-len(data) // _BLOCK)
    sums = np.zeros(-(-number // 4) * 4, np.uint64)

    def some(lo: int, hi: int) -> None:
        for i in range(lo, hi):
            sums[i] = kernels.checksum.checksum(words_of(data[i * _BLOCK : (i + 1) * _BLOCK]))
            if beside is not None:
                beside(i)

    for_blocks(some, even_blocks(number, work=_BLOCK))
    return f"{int(kernels.checksum.checksum(sums)):016x}"


def ascending(offsets: np.ndarray) -> str | None:
    """What is wrong with offsets whose ends are right."""
    wrong = sum(for_blocks(kernels.misplaced.falling, even_blocks(len(offsets) - 1), offsets))
    return f"{wrong:,} of its offsets fall" if wrong else None


def in_rows(
    offsets: np.ndarray, neighbours: np.ndarray, data: np.ndarray, checksum: str
) -> str | None:
    """What is wrong with the neighbours of rows that ascend, or with the bytes of the file that holds them.

    Cost: one pass over memory, as rows are looked at when the checksum has brought them into the cache.
    """
    n, size = len(offsets) - 1, neighbours.itemsize
    start = neighbours.ctypes.data - data.ctypes.data
    # The first row that begins in each block, and after the last one all that are left.
    first = np.arange(_BLOCK - start, len(data) - start, _BLOCK)
    rows = np.concatenate([[0], np.searchsorted(offsets[:-1], -(-first // size)), [n]])
    found: list[int] = []

    def look(i: int) -> None:
        found.append(
            kernels.misplaced.misplaced(rows[i], rows[i + 1], offsets, neighbours, np.uint64(n))
        )

    wrong = checksum_differs(data, checksum, look)
    if wrong is not None:
        return wrong
    if min(found, default=0) < 0:
        return "a neighbour is no vertex"
    return f"{sum(found):,} neighbours are not in their order" if sum(found) else None


def below(values: np.ndarray, bound: int, least: int = 0) -> str | None:
    """What is wrong with values that have to be from ``least`` on and below a bound."""

    def outside(lo: int, hi: int) -> bool:
        block = values[lo:hi]
        return bool(block.size) and not (least <= int(block.min()) and int(block.max()) < bound)

    if any(for_blocks(outside, even_blocks(len(values)))):
        return f"a value is not from {least} to {bound - 1:,}"
    return None


def readable(column: pa.Array) -> str | None:
    """What is wrong with a column of ids: strings that lead out of it, or are no text."""

    def look(lo: int, hi: int) -> None:
        column[lo:hi].validate(full=True)

    try:
        for_blocks(look, even_blocks(len(column), work=8))
    except pa.ArrowException as error:
        return str(error)
    return None
