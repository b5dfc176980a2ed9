"""The contract of engines: which vertices are similar by their neighbours; see `contract`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np

    from dask_graphgpu.engine.similarity import Similarity
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report


class Similarities(Protocol):
    """What algorithms call to compare the neighbours of vertices."""

    def similar(
        self, view: View, chosen: Any, asked: Similarity, report: Report
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Partners of some vertices, with which they have neighbours in common.

        Parameters
        ----------
        view : View
            Only `symmetric` is used: direction, repeats and self-loops do not count.
        chosen : array of bool, shape (num_vertices,)
            Which vertices get partners; on ranks those of own vertices count.
        asked : Similarity
            ``report.left_out`` gets what its cut-off passes over.

        Returns
        -------
        first, second : integer arrays
            Dense ids; by the first in the order of the user's ids, then as ``asked.top_k`` says. Each rank has the
            pairs of which it owns the first.
        score : float64

        Notes
        -----
        Memory of ``top_k`` pairs a vertex and of one batch of walks; without it, of all pairs.
        """
