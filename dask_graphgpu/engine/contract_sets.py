"""The contract of engines: colors of vertices; see `contract`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np

    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report


class Sets(Protocol):
    """What algorithms call to part vertices into sets without neighbours."""

    def first_free_colors(
        self, view: View, priority: np.ndarray, report: Report
    ) -> np.ndarray | None:
        """The first color of each vertex that no neighbour before it has.

        Parameters
        ----------
        view : View
            Only `symmetric` is used: direction, repeats and self-loops do not count.
        priority : int64 array of shape (num_vertices,)
            The smaller the earlier; no two are the same.

        Returns
        -------
        int64 array of shape (num_vertices,), or None
            None: a vertex program is to be run.
        """
