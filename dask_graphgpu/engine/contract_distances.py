"""The contract of engines: how near vertices are to all others; see `contract`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np

    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report


class DistanceSums(Protocol):
    """What algorithms call to add up distances of many vertices."""

    def hop_sums(self, view: View, sources: np.ndarray, *, report: Report) -> np.ndarray | None:
        """Sums over searches from many sources: of how many reach each vertex, and of their hops.

        Parameters
        ----------
        sources : ndarray of dense ids
            Each once.

        Returns
        -------
        float64 array of shape (num_vertices, 5), or None
            Of the sources that reach a vertex, but for itself: how many, sum of the hops, of their squares, of
            their inverses, of the squares of these. Right for own vertices. None: the levels of `multi_bfs` or `bfs`
            are to be added up.
        """

    def hyperball(
        self, view: View, hashes: np.ndarray, precision: int, direction: str, *, report: Report
    ) -> np.ndarray:
        """Estimates of how many vertices are within each distance of every vertex, added up.

        Parameters
        ----------
        view : View
            Weights are not used.
        hashes : int64 array of shape (num_vertices,)
            Of vertices, of as many bits as `hyperloglog.BITS`; on ranks right for ghosts, too.
        precision : int
            There are ``2 ** precision`` registers a vertex.
        direction : {"in", "out"}
            Along which edges others are near: those that lead to the vertex, or from it.

        Returns
        -------
        float64 array of shape (num_vertices, 6)
            How many vertices there are at any distance, the vertex itself included; the sum of their distances, and
            of the inverses of these. Then sums over distances of by how much the square of the number of vertices
            within it has grown, times the distance, its square, and one over its square. Right for own vertices,
            and the same in every engine up to rounding.
        """
