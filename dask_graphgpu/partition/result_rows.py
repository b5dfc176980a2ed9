"""Which rows of a result each partition has, and which of these each rank makes."""

from __future__ import annotations

import numpy as np


def rank_of(partition: int, of: int, size: int) -> int:
    """The rank that makes one of ``of`` partitions of a result."""
    return partition * size // of


def first_of_each(of: int, size: int) -> list[int]:
    """The first partition that each rank makes, and ``of``."""
    return [-(-rank * of // size) for rank in range(size + 1)]


def bounds_of(total: int, of: int) -> np.ndarray:
    """The row with which each of ``of`` partitions begins, about as many rows each, and ``total``."""
    return np.array([i * total // of for i in range(of + 1)], np.int64)


def made_rows(rank: int, total: int, of: int, size: int) -> tuple[int, int]:
    """The places of the rows that a rank makes: the first, and the one after the last."""
    first = first_of_each(of, size)
    return first[rank] * total // of, first[rank + 1] * total // of
