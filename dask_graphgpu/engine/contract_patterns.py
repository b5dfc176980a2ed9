"""The contract of engines: what paths and cycles of a few edges there are; see `contract`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np

    from dask_graphgpu.engine.cycle_search import CycleRule
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report


class Patterns(Protocol):
    """What algorithms call to list small parts of a graph of some form."""

    def cycles(
        self, view: View, edges: tuple[Any, Any, Any], rule: CycleRule, report: Report
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
        """Simple cycles of some edges.

        Parameters
        ----------
        view : View
            Whose edges they are.
        edges : tuple of arrays
            What `edges_among` gives: sources, destinations and the times in place of weights; not times, repeated
            edges count once. But vertices are named by their place in the order of the user's ids. On ranks each
            gives its own.
        rule : CycleRule

        Returns
        -------
        cycle : int64
            From 0 on; on ranks of all, and each has some of them.
        position : int32
        vertex : integers
            Places in the order of the user's ids.
        times : array of the type of the times, or None
            Of the edge that leaves the vertex.

        Raises
        ------
        InvalidArgument
            There are more than ``rule.limit``.
        """

    def directed_triangles(
        self, view: View, edges: tuple[Any, Any], report: Report
    ) -> tuple[dict[tuple[int, int], int], list[int]]:
        """Triangles by the directions of their edges, and pairs of edges of one vertex.

        Parameters
        ----------
        view : View
            Whose edges they are; of an undirected one they lead both ways.
        edges : tuple of arrays
            Sources and destinations of all edges, as `edges_among` gives them. On ranks each gives its own. Repeats and
            self-loops do not count.

        Returns
        -------
        sums, triangles
            What `triads.census` takes, of the whole graph.
        """

    def motif_counts(
        self, view: View, edges: tuple[Any, Any], size: int, report: Report
    ) -> np.ndarray:
        """Connected motifs of three or four vertices by class.

        Parameters
        ----------
        view, edges
            As of `directed_triangles`.

        Returns
        -------
        int64, shape (classes,)
            Of each class of `motif_classes.motif_classes`, of the whole graph.

        Raises
        ------
        IntegerOverflow
            Numbers that they are made of may be beyond 64 bits.
        """

    def vertex_motifs(
        self, view: View, edges: tuple[Any, Any], size: int, report: Report
    ) -> np.ndarray:
        """Connected motifs of three or four vertices that vertices are in; arguments and errors as of `motif_counts`.

        Returns
        -------
        int64, shape (vertices, classes)
            In dense order; on ranks of the own vertices.
        """
