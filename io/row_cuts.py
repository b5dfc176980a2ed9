"""Where the rows of all ranks, of which each has some in order, are cut into parts of so many rows each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dask_graphgpu.exchange.ranks import Ranks

_BITS = 8  # of a key that are found in a round


def cuts_in_order(ranks: Ranks, keys: tuple[np.ndarray, ...], bounds: np.ndarray) -> np.ndarray:
    """How many of a rank's rows are before each of some places in the order of the rows of all ranks. Collective.

    Parameters
    ----------
    keys : tuple of int64 or uint64 arrays, shape (rows,)
        What rows are ordered by, the first counts most: this rank's, in order, from 0 to below 2**63. Rows that are
        equal in all stand in the order of the ranks.
    bounds : int64
        Ascending places; the same on all ranks.

    Returns
    -------
    ndarray of int64, shape (bounds,)

    Notes
    -----
    A radix selection. Each round finds eight more bits of the keys of the rows that stand at the places: all ranks
    count the rows with each value of these bits. That is a message of 2 KB a bound, and as many rounds as the keys have
    bytes.
    """
    length = len(keys[0])
    # The row at a bound is known by its highest bits. Of each bound: the rows of this rank that agree with it in these,
    # and how many such rows of all ranks come before it.
    first, last = np.zeros(len(bounds), np.int64), np.full(len(bounds), length, np.int64)
    before = np.array(bounds, np.int64)
    for key in keys:
        bits = int(ranks.max(int(key.max(initial=0)))).bit_length()
        known = np.zeros(len(bounds), key.dtype)
        while bits:
            width = min(bits, _BITS)
            bits -= width
            values = np.arange(1, 1 << width, dtype=key.dtype) << key.dtype.type(bits)
            inner = [
                lo + np.searchsorted(key[lo:hi], start + values)
                for lo, hi, start in zip(first, last, known, strict=True)
            ]
            ends = np.column_stack(
                [first, np.array(inner, np.int64).reshape(-1, len(values)), last]
            )
            every = np.sum(ranks.all_gather(np.diff(ends, axis=1)), axis=0).cumsum(axis=1)
            digit = (every <= before[:, None]).sum(axis=1)
            digit = np.minimum(digit, (1 << width) - 1)  # a place behind the last row
            row = np.arange(len(bounds))
            before -= np.where(digit, every[row, digit - 1], 0)
            known += digit.astype(key.dtype) << key.dtype.type(bits)
            first, last = ends[row, digit], ends[row, digit + 1]
    equal = np.stack(ranks.all_gather(last - first))
    before -= equal[: ranks.rank].sum(axis=0)
    return first + np.clip(before, 0, last - first)
