"""Shortest paths that cannot be counted."""

from __future__ import annotations

from typing import Any

from dask_graphgpu.errors import IntegerOverflow, InvalidEdges
from dask_graphgpu.partition.device.masks import any_true

DONE, MANY_PATHS, LONG_PATHS = 0, 1, 2  # as in kernels/cpu/betweenness.py and its CUDA twin


def check_counts(*, failed: bool) -> None:
    """Raise IntegerOverflow where a number of shortest paths was larger than its type."""
    if failed:
        raise IntegerOverflow(
            "the number of shortest paths to a vertex does not fit int64; give dtype='float64', "
            "which is exact up to 2**53 and rounds beyond"
        )


def check_distances(*, failed: bool) -> None:
    """Raise IntegerOverflow where a distance was larger than its type."""
    if failed:
        raise IntegerOverflow("a distance does not fit int64; give float weights")


def check(code: int, lengths: Any) -> None:
    """Raise unless a search has ended well.

    Parameters
    ----------
    code : int
        `MANY_PATHS`: a count is infinite; `LONG_PATHS`: along an edge a distance does not grow, or
        grows too much.
    lengths : array, optional
        Of the edges; None: each is one.

    Raises
    ------
    InvalidEdges
        A weight is zero, or so small beside a distance that the sum absorbs it.
    IntegerOverflow
        A distance does not fit int64, or a count float64.
    """
    if code == MANY_PATHS:
        raise IntegerOverflow(
            "the number of shortest paths to a vertex is beyond 1.8e308, the largest float64"
        )
    if code == LONG_PATHS:
        if any_true(lengths == 0):
            raise InvalidEdges(
                "a weight is 0: with edges of no length the number of shortest paths is not "
                "defined; leave them out, give them a small weight, or use weighted=False"
            )
        check_distances(failed=lengths.dtype.kind != "f")
        raise InvalidEdges(
            "the weights are too far apart: a distance plus a weight is that distance again, or "
            "infinite; scale the weights, or give integers"
        )
