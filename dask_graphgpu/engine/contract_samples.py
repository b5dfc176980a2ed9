"""The contract of an engine: random walks and samples of neighbours; see `engine.contract`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np

    from dask_graphgpu.engine.walking import SampleRule, WalkRule
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report


class Samples(Protocol):
    """What draws random edges; vertices are given and told by their places in the order of the user's ids."""

    def random_walks(
        self, view: View, walks: np.ndarray, starts: np.ndarray, rule: WalkRule, report: Report
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Walks from some vertices, the same on all engines.

        Parameters
        ----------
        view : View
            With repeated edges, each of which may be taken.
        walks : int64 array, shape (k,)
            Their numbers, ascending; on ranks each gives some of them.
        starts : int64 array, shape (k,)
        rule : WalkRule

        Returns
        -------
        walk : int64 array
        step : int32 array
            0 for the start.
        vertex : unsigned array
            One row a vertex of a walk, ordered by walk and step; on ranks each gives some of them.
        """

    def neighbor_sample(
        self,
        view: View,
        batches: np.ndarray,
        seeds: np.ndarray,
        rule: SampleRule,
        report: Report,
        until: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        """Edges that lead to some vertices, and to where these come from, and so on: the same on all engines.

        Parameters
        ----------
        view : View
            With repeated edges, each of which may be drawn.
        batches : int64 array, shape (k,)
            The batch of each seed; on ranks each gives some of them.
        seeds : int64 array, shape (k,)
        rule : SampleRule
        until : int64 or float64 array, shape (k,), optional
            The bound of each seed, whose batch has no other one: edges of a larger ``rule.time`` are not drawn.

        Returns
        -------
        batch : int64 array
        hop : int32 array
            From 1 on.
        source, destination : unsigned arrays
        columns : dict of name to array
            The weight, where the view has weights, and where there are bounds the times. One row an edge that was
            drawn, ordered by batch, hop, destination and source; on ranks each gives those to its own vertices.
        """
