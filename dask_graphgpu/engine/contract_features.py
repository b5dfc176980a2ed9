"""The contract of engines: what vertices have of their neighbours; see `contract`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report


class Features(Protocol):
    """What algorithms call to bring values of neighbours together."""

    def neighbour_statistics(
        self,
        view: View,
        values: np.ndarray,
        direction: str,
        wanted: Sequence[str],
        report: Report,
    ) -> dict[str, np.ndarray] | None:
        """Sums and extremes of several columns of values over the neighbours of every vertex.

        Parameters
        ----------
        view : View
            An edge counts as often as it is there.
        values : float64 array of shape (num_vertices, columns)
            NaN where there is none. On ranks those of own vertices count.
        direction : {"in", "out", "both"}
            Neighbours are those that edges come from, lead to, or both. Of an undirected view all are the same.
        wanted : sequence of {"sum", "weight", "count", "min", "max"}
            Of the values that are there: the sum, with weights that of weights times values; the sum of the weights;
            how many; the least and the largest.

        Returns
        -------
        dict of float64 arrays of shape (num_vertices, columns), int64 ones of counts; or None
            What is wanted. Of no values a sum is 0, the least infinite, the largest infinite below 0.
            None: a vertex program for each of them is to be run.
        """
