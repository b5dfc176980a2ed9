"""Triangles on many ranks: rows of remote neighbours come by parts and go again.

References
----------
.. [1] Latapy. Main-memory triangle computations for very large (sparse (power-law)) graphs. TCS 407 (2008).
.. [2] Sanders, Uhl. Engineering a distributed-memory triangle counting algorithm. IPDPS 2023.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.engine.cpu.triangles import count_into, oriented, ways_of, work_of
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.ranks.ghost_rows import rows_of_ghosts, split_by_room
from dask_graphgpu.partition.ranks.view import RankView
from dask_graphgpu.report import Report


def triangles(view: RankView, report: Report) -> np.ndarray:
    """Triangles that each vertex is in, as the CPU engine's `triangles`. Collective.

    Returns
    -------
    array of int64, shape (num_vertices,)
        Right for own vertices.

    Notes
    -----
    Every edge is kept at its lower end: of fewer neighbours in the whole graph, then the larger number [1]_. A triangle
    is found by the rank of its lowest vertex, from the rows of this and of the middle one. Rows of ghosts come from
    their owners, no more at once than the rank has of its own; what lies beyond all vertices of the rank is dropped.
    Counts at ghosts go to their owners in the end [2]_.
    """
    return _Counting(view, report, kernels.triangles.count).run()


def neighbour_arcs(view: RankView, report: Report) -> np.ndarray:
    """Edges that join two neighbours of each vertex, as the CPU engine's `neighbour_arcs`. Collective."""
    if not view.directed:
        return 2 * triangles(view, report)
    return _Counting(view, report, kernels.triangles.count_arcs).run()


class _Counting:
    """Rows of higher neighbours of own vertices, and what is counted over them."""

    def __init__(self, view: RankView, report: Report, kernel: Any) -> None:
        self.view, self.report, self.kernel = view, report, kernel
        self.own = view.num_owned
        rows = view.symmetric
        degree = view.at_ghosts(rows.degrees.copy())
        # Rows of ghosts are empty.
        own_rows = Adjacency(np.minimum(rows.offsets, rows.offsets[self.own]), rows.neighbours)
        self.up, self.lengths = oriented(own_rows, degree, view.numbers)
        # How long the rows of ghosts are on their owners.
        view.at_ghosts(self.lengths)
        self.ways: tuple[np.ndarray, ...] = ()
        if kernel is kernels.triangles.count_arcs:
            self.ways = (ways_of(self.up, view.out, view.into),)
        self.counts = np.zeros(view.num_vertices, np.int64)

    def run(self) -> np.ndarray:
        """What is found at every vertex, right for own ones."""
        self._count(self.up, self.ways)
        parts = self._parts()
        nobody = np.empty(0, np.int64)
        for i in range(int(self.view.ranks.max(len(parts)))):
            some = parts[i] if i < len(parts) else nobody
            far, ways = rows_of_ghosts(self.view, self.up, self.lengths, some, self.ways)
            if far.num_edges:
                self._count(far, ways)
        found = self.own + np.flatnonzero(self.counts[self.own :])
        told, _ = self.view.border.tell_owners(found, self.counts[found])
        for ids, counts in told:
            self.counts[ids.astype(np.intp)] += counts
        return self.counts

    def _count(self, far: Adjacency, ways: tuple[np.ndarray, ...]) -> None:
        work = work_of(self.up, far)
        count_into(self.counts, self.up, far, work, self.kernel, self.ways, ways, self.report)

    def _parts(self) -> list[np.ndarray]:
        """Ghosts whose rows are needed, ascending, as many at once as there is room for."""
        wanted = np.zeros(self.view.num_vertices, np.bool_)
        second = np.repeat(self.up.degrees > 1, self.up.degrees)  # a triangle needs two
        wanted[self.up.neighbours[second].astype(np.intp)] = True
        wanted &= self.lengths > 0
        wanted[: self.own] = False
        return split_by_room(np.flatnonzero(wanted), self.lengths, self.up.num_edges)
