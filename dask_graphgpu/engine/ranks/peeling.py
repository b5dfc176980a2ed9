"""Core numbers on many ranks: all peel the same level, and tell each other which border vertices go.

References
----------
.. [1] Batagelj, Zaversnik. An O(m) algorithm for cores decomposition of networks. 2003.
.. [2] Montresor, De Pellegrini, Miorandi. Distributed k-core decomposition. IEEE TPDS 24 (2013).
"""

from __future__ import annotations

import time

import numpy as np

from dask_graphgpu.engine.ranks.ghost_frontier import News
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.partition.ranks.view import RankView
from dask_graphgpu.report import Report


def core_numbers(view: RankView, report: Report) -> np.ndarray:
    """Core number of every vertex in the simple undirected graph; collective.

    Returns
    -------
    ndarray of int64, shape (num_local,)
        Right for ghosts too.

    Notes
    -----
    Vertices of degree k go, for k = 0, 1, 2 ... [1]_: on each rank all that it knows of, then the others are told
    which of their ghosts have gone, until none does; k is then the lowest degree that is left anywhere. Every row is
    read once, and every border vertex told once, by its place. There are as many exchanges as levels and more, a few
    hundred on skewed graphs. To come down from estimates that are too high [2]_ takes some tens, but reads rows ten
    times as often. A path whose vertices alternate between ranks takes an exchange for each of them either way.
    """
    return _core_numbers(view, view.graph_vertices, report).astype(np.int64)


def k_core(view: RankView, k: int, report: Report) -> np.ndarray:
    """Whether each vertex is in the k-core: bool, shape (num_local,), right for ghosts too.

    As `core_numbers`, but that it ends before level k. Collective.
    """
    inside: np.ndarray = _core_numbers(view, min(max(k, 0), view.graph_vertices), report) >= k
    return inside


def _core_numbers(view: RankView, most: int, report: Report) -> np.ndarray:
    """Core numbers, ``most`` for all that are higher."""
    peeling = _Peeling(view, most)
    k = int(view.ranks.min(peeling.least))
    while k < most:
        k = peeling.level(k, report)
    core = np.zeros(view.num_vertices, peeling.degree.dtype)
    np.minimum(peeling.degree, most, out=core[: view.num_owned])
    return view.at_ghosts(core)


class _Peeling:
    """What is left of a rank's vertices.

    Attributes
    ----------
    degree : int32 or int64, shape (num_owned,)
        As kernels have it.
    least : int
        The lowest degree there is here, at most ``most``.
    """

    def __init__(self, view: RankView, most: int) -> None:
        self._kernels, self._view, self._most = kernels.rank_peeling, view, most
        self._rows, owned = view.symmetric, view.num_owned
        kind = self._rows.neighbours.dtype
        # The same type on all ranks.
        self.degree = self._rows.degrees[:owned].astype(
            np.int32 if view.graph_vertices < 2**31 else np.int64
        )
        self._counts = np.bincount(self.degree, minlength=1)
        self.least = int(kernels.rank_peeling.next_level(-1, self._counts, most))
        self._alive, self._left = np.arange(owned, dtype=kind), owned
        self._stack = np.empty(owned, kind)
        self._news = News(view)
        self._told = np.empty(len(view.shared), kind)

    def level(self, k: int, report: Report) -> int:
        """Take away all that have core number ``k``; the next level, the same on all ranks. Collective."""
        start, rows, view = time.perf_counter(), self._rows, self._view
        self._left, top = self._kernels.begin_level(
            k, self._alive, self._left, self.degree, self._stack
        )
        fallen, frontier, edges, exchanges, going_on = self._stack[:0], 0, 0, 0, True
        while going_on:
            gone, told, read = self._kernels.peel(
                k, self._stack, top, fallen, rows.offsets, rows.neighbours, view.num_owned,
                self.degree, self._counts, self._news.shared, self._told,
            )  # fmt: skip
            top = 0
            self.least = int(self._kernels.next_level(k, self._counts, self._most))
            scalars = np.array([told, self.least], np.int64)
            fallen, every = self._news.tell(self._told[:told], scalars)
            frontier, edges, exchanges = frontier + gone, edges + read, exchanges + 1
            going_on = bool(every[:, 0].any())
        ids = rows.neighbours.itemsize
        report.advance(
            "peel", supersteps=exchanges, frontier=frontier, edges=edges,
            bytes=edges * (ids + self.degree.itemsize) + self._left * 2 * ids,
            seconds=time.perf_counter() - start,
        )  # fmt: skip
        return int(every[:, 1].min())
