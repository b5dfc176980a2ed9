"""The contract of engines: which vertices belong together; see `contract`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np

    from dask_graphgpu.engine.cluster_shapes import Shapes
    from dask_graphgpu.engine.communities import Start
    from dask_graphgpu.engine.score_levels import Level
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report


class Groups(Protocol):
    """What algorithms call to find components, cores and communities."""

    def components(self, view: View, report: Report) -> np.ndarray:
        """Component of every vertex, the direction of edges ignored.

        Returns
        -------
        ndarray of the type of the neighbours, shape (num_vertices,)
            Dense id of the component's member that is smallest in the order of the user's ids. The same for any
            number of threads.
        """

    def strong_components(self, view: View, report: Report) -> np.ndarray:
        """Strongly connected component of every vertex.

        Parameters
        ----------
        view : View
            Without repeated edges; undirected: its components.

        Returns
        -------
        ndarray of the type of the neighbours, shape (num_vertices,)
            Dense id of the component's member that is smallest in the order of the user's ids.
        """

    def core_numbers(self, view: View, report: Report) -> np.ndarray:
        """Core number of every vertex in the simple undirected graph.

        Parameters
        ----------
        view : View
            Only `symmetric` is used: direction, repeats and self-loops do not count.

        Returns
        -------
        ndarray of int64, shape (num_vertices,)
        """

    def k_core(self, view: View, k: int, report: Report) -> np.ndarray:
        """Whether each vertex is in the k-core: bool, shape (num_vertices,).

        As `core_numbers`, but vertices of degree below `k` are taken away at once, and only their edges are read.
        """

    def trussness(self, view: View, report: Report) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Every edge of the simple undirected graph, and the largest k of the k-trusses that it is in.

        Returns
        -------
        first, second : arrays of the type of the neighbours
            The ends of each edge, by dense ids, first before second in the order of the user's ids; ordered by both.
        trussness : int64
            At least 2.
        """

    def bridges(self, view: View, report: Report) -> tuple[np.ndarray, np.ndarray]:
        """Edges of the simple undirected graph without which their ends are not joined.

        Returns
        -------
        first, second : arrays of the type of the neighbours
            By dense ids, first before second in the order of the user's ids; ordered by both.
        """

    def num_blocks(self, view: View, report: Report) -> np.ndarray:
        """How many biconnected components of the simple undirected graph each vertex is in: int64, (num_vertices,)."""

    def biconnected_edges(
        self, view: View, report: Report
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Every edge of the simple undirected graph, and its biconnected component.

        Returns
        -------
        first, second : arrays of the type of the neighbours
            As of `bridges`.
        component : int64
            From 0 on, in the order of the first edge of each.
        """

    def louvain(
        self,
        view: View,
        resolution: float,
        seed: int,
        report: Report,
        start: Start | None = None,
        finer: list[Any] | None = None,
    ) -> tuple[np.ndarray, float]:
        """Communities by moving vertices, then whole communities.

        Parameters
        ----------
        view : View
            Weights of both directions and of repeated edges add up; without weights an edge is 1.
        resolution : float
            Above 0; the larger, the smaller the communities.
        seed : int
            Of the order in which vertices are looked at.
        start : Start, optional
            What vertices move from, by dense id, on ranks of own vertices: labels are the dense id, or the number, of a
            vertex that has the label. By default each is alone.
        finer : list, optional
            Is given arrays as ``community``, the finest first: communities of the levels before, of which each lies in
            one of the next.

        Returns
        -------
        community : array of the type of the neighbours, shape (num_vertices,)
            Dense id of the community's member that is smallest in the order of the user's ids.
        modularity : float
            At this resolution; 0 without edges.
        """

    def leiden(
        self,
        view: View,
        resolution: float,
        seed: int,
        iterations: int,
        report: Report,
        start: Start | None = None,
        finer: list[Any] | None = None,
    ) -> tuple[np.ndarray, float]:
        """Communities as `louvain`, of which every one is connected.

        What was found by moving vertices is refined before its communities become vertices: they become
        as many vertices as they have well-connected parts, which can then leave. ``iterations`` times,
        each from the communities of the one before, and fewer when one changes nothing. From a ``start`` the first of
        them refines nothing, and vertices that are fixed stay together whatever joins them. ``finer`` ones are
        the parts that became vertices in the last iteration.
        """

    def smaller_communities(
        self,
        view: View,
        labels: np.ndarray,
        max_size: int,
        resolution: float,
        seed: int,
        iterations: int | None,
        report: Report,
    ) -> tuple[list[np.ndarray], float]:
        """Communities that are too large, divided by rising resolutions, each within itself.

        Parameters
        ----------
        labels : array
            As of a `Start`.
        max_size : int
            Vertices of a community, at most.
        iterations : int or None
            Of `leiden`; None: by `louvain`.

        Returns
        -------
        communities : list of array
            After each step that divided some, as `louvain` gives them. None of the last is larger than ``max_size``;
            without a step none was before.
        modularity : float
            Of the last ones, at ``resolution``.
        """

    def label_propagation(
        self, view: View, iterations: int, report: Report, start: np.ndarray | None = None
    ) -> np.ndarray:
        """The label of every vertex after some supersteps, in which all change together.

        Parameters
        ----------
        view : View
            Rows without repeats. Of a directed view out- and in-edges count, so that two vertices with
            an edge in each direction count each other twice.
        iterations : int
            Supersteps; fewer when one changes nothing.
        start : array, optional
            Labels at first: dense ids, on ranks numbers, of own vertices. By default the vertices themselves.

        Returns
        -------
        ndarray of the type of the neighbours, shape (num_vertices,)
            A dense id that was a label at first.
        """

    def spanning_forest(
        self, view: View, report: Report, *, largest: bool = False
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The edges of the minimum spanning forest, directions ignored.

        Parameters
        ----------
        view : View
            Weighted or not; without weights all edges weigh the same.
        largest : bool
            The maximum spanning forest instead.

        Returns
        -------
        tuple of ndarray, shape (edges of the forest,)
            The ends of each edge, by their places in the order of the user's ids, the smaller first; its weight.
        """

    def components_at(
        self,
        view: View,
        forest: tuple[Any, Any, Any],
        thresholds: Sequence[float | None],
        max_size: int | None,
        report: Report,
    ) -> list[Level]:
        """Components of the edges of at least each of some weights.

        Parameters
        ----------
        forest : tuple of arrays
            What `spanning_forest` gives as the maximum one.
        thresholds : sequence
            In any order; None: all edges.
        max_size : int, optional
            The most vertices of a component. Edges of one weight join vertices all together, or not at all where
            too many would come together.

        Returns
        -------
        list of Level
            Of each threshold, in host memory.
        """

    def cluster_batches(self, view: View, cluster: np.ndarray) -> Iterator[np.ndarray]:
        """Sets of vertices, of whole clusters each, whose edges memory is to hold at once.

        Parameters
        ----------
        cluster : integers, shape (num_vertices,)
            Of each vertex, right for ghosts too.

        Yields
        ------
        array of bool, shape (num_vertices,)
            In host memory; on ranks one that has all vertices.
        """

    def cluster_shapes(
        self,
        view: View,
        edges: tuple[Any, Any, Any],
        cluster: np.ndarray,
        inside: np.ndarray,
        report: Report,
    ) -> Shapes:
        """What each cluster of vertices looks like within.

        Parameters
        ----------
        edges : tuple of arrays
            What `edges_among` gives of these vertices.
        cluster : as of `cluster_batches`
        inside : array of bool
            One of `cluster_batches`.

        Returns
        -------
        Shapes
            Of the clusters inside, in host memory, in any order; on ranks each gives some of them.
        """
