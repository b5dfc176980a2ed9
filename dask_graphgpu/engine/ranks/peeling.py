"""Core numbers on many ranks: each peels its own vertices, then estimates of borders travel.

References
----------
.. [1] Montresor, De Pellegrini, Miorandi. Distributed k-core decomposition. IEEE TPDS 24 (2013).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.view import RankView
    from dask_graphgpu.report import Report

# Reads, for each edge of the rank, in which vertices are looked at one by one before all are peeled anew instead.
# Peeling reads every edge once, but it writes as well, which takes about three times as long as a read in a look.
MOST_READS = 4


def core_numbers(view: RankView, report: Report) -> np.ndarray:
    """Core number of every vertex in the simple undirected graph; collective.

    Parameters
    ----------
    view : RankView
        Only `symmetric` is used: direction, repeats and self-loops do not count.
    report : Report
        Gets a row, "peel", for what is done between two exchanges.

    Returns
    -------
    ndarray of int64, shape (num_local,)
        Right for ghosts too.

    Notes
    -----
    A core number depends on those of the neighbours only: it is the largest k for which k of them
    have core numbers of at least k. So each rank takes estimates of its ghosts, degrees at first,
    finds what its own vertices can have at most with these, and tells the others which came down,
    until none does [1]_. At first all vertices are peeled; then those are looked at that have lost
    too many neighbours as high as they are. Where that would be as many as all, all are peeled anew.

    A peeling costs O(V + E) of the rank, and there are some tens of exchanges. A long path whose
    vertices alternate between ranks takes one for each of them: it comes down from its ends.
    """
    return _core_numbers(view, view.graph_vertices, report).astype(np.int64)


def k_core(view: RankView, k: int, report: Report) -> np.ndarray:
    """Whether each vertex is in the k-core: bool, shape (num_local,), right for ghosts too.

    As `core_numbers`, but that no estimate is higher than k, so that fewer come down. Collective.
    """
    inside: np.ndarray = _core_numbers(view, min(max(k, 0), view.graph_vertices), report) >= k
    return inside


def _core_numbers(view: RankView, most: int, report: Report) -> np.ndarray:
    """Core numbers, ``most`` for all that are higher."""
    start = time.perf_counter()
    estimates = _Estimates(view, most)
    looks, read = estimates.peel()
    while True:
        fallen, changed = estimates.tell()
        report.advance(
            "peel", supersteps=1, frontier=looks, edges=read, bytes=estimates.nbytes(looks, read),
            seconds=time.perf_counter() - start,
        )  # fmt: skip
        if not changed:
            return estimates.estimate
        start = time.perf_counter()
        looks, read = estimates.lower(fallen)


class _Estimates:
    """What is known of core numbers on one rank; it is nowhere too low, and comes down.

    Parameters
    ----------
    view : RankView
    most : int
        No estimate is higher.

    Attributes
    ----------
    estimate : int32 or int64, shape (num_local,)
    """

    def __init__(self, view: RankView, most: int) -> None:
        from dask_graphgpu.kernels.cpu import h_index as kernels

        self._kernels, self._view, self._most = kernels, view, most
        self._rows, owned = view.symmetric, view.num_owned
        # The same type on all ranks.
        dtype = np.int32 if view.graph_vertices < 2**31 else np.int64
        self._degree = self._rows.degrees[:owned]
        self.estimate = view.at_ghosts(np.minimum(self._rows.degrees, most).astype(dtype))
        self._known = self.estimate[owned:].copy()  # of ghosts, before the last exchange
        self._shared = np.zeros(owned, np.bool_)
        self._shared[view.shared] = True
        self._lowered = np.zeros(owned, np.bool_)  # since the last exchange
        self._enough = np.empty(owned, dtype)
        self._waiting = np.zeros(owned, np.bool_)
        self._queue = np.empty(owned, self._rows.neighbours.dtype)
        self._counts = np.zeros(min(self._degree.max(initial=0), most) + 1, dtype)

    def peel(self) -> tuple[int, int]:
        """Bring own vertices down to what the ghosts allow; vertices and edges that were read."""
        rows, view = self._rows, self._view
        own = self.estimate[: view.num_owned]
        before = own.copy()
        own[:] = self._degree
        alive = np.arange(view.num_vertices, dtype=rows.neighbours.dtype)
        read = self._kernels.peel(
            rows.offsets, rows.neighbours, view.num_owned, self._most, self.estimate, self._enough,
            alive,
        )  # fmt: skip
        self._lowered |= own != before
        return view.num_vertices, read

    def lower(self, fallen: np.ndarray) -> tuple[int, int]:
        """As `peel`, after these ghosts have come down."""
        rows, view = self._rows, self._view
        looks, read, done = self._kernels.lower(
            fallen, self._known, MOST_READS * rows.num_edges, rows.offsets, rows.neighbours,
            view.num_owned, self.estimate, self._enough, self._lowered, self._waiting, self._queue,
            self._counts,
        )  # fmt: skip
        self._known[fallen - view.num_owned] = self.estimate[fallen]
        if done:
            return looks, read
        self._waiting[:] = False
        more = self.peel()
        return looks + more[0], read + more[1]

    def tell(self) -> tuple[np.ndarray, bool]:
        """Tell the ghosts of own vertices what has come down; collective, one exchange.

        Returns
        -------
        fallen
            The ghosts here that have come down.
        changed : bool
            Whether any has on any rank.
        """
        changed = self._lowered & self._shared
        fallen, every = self._view.border.refresh(
            [self.estimate], changed, np.array([changed.any()], np.int64)
        )
        self._lowered[:] = False
        return fallen, bool(every.any())

    def nbytes(self, looks: int, read: int) -> int:
        """Bytes that so many vertices and edges take, modelled."""
        ids, value = self._queue.itemsize, self.estimate.itemsize
        return read * (ids + value) + looks * (16 + 2 * ids)
