"""The contract of an engine: what its module has to have, each function once.

Engines are modules: `cpu`, `gpu`, `paged` (edges in pages on disk), `tiered` (edges beyond the memory of the
GPU), `ranks` and `device_ranks` (one of several ranks), `hybrid` and `interpret`. Not
all have all functions: see docs/reference/where.md. On ranks ``view`` is a `RankView`, dense ids are numbers of
vertices, arrays over vertices are over those that are here, and all ranks call a function together. On a GPU
arrays may be CuPy's. ``report`` gets rows of what was done.

A function that gives None, where that is allowed, has done nothing: the caller goes the usual way.
Where edges lie beyond memory, or the GPU's, all raise LimitTooSmall if not even what belongs to vertices fits
``graphgpu.host-memory-limit`` or ``graphgpu.device-memory-limit``, and SpillError if pages cannot be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np

    from dask_graphgpu.engine.cluster_shapes import Shapes
    from dask_graphgpu.engine.communities import Start
    from dask_graphgpu.engine.options import RunOptions
    from dask_graphgpu.engine.score_levels import Level
    from dask_graphgpu.engine.state import State
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.program import VertexProgram
    from dask_graphgpu.report import Report


class Engine(Protocol):
    """What algorithms call; arguments and results are those of every engine."""

    def run(self, program: VertexProgram, view: View, options: RunOptions) -> State:
        """Run a vertex program.

        Returns
        -------
        State
            Fields in dense order.

        Raises
        ------
        ProgramError
            A function does not compile, or reads what the graph does not have.
        IntegerOverflow
            An integer does not fit and the program does not say ``wraps=True``.
        NotConverged
            ``max_supersteps`` came before the end.
        """

    def run_each(
        self, program: VertexProgram, view: View, sources: np.ndarray, options: RunOptions
    ) -> list[State] | None:
        """Run a vertex program from each of several sources; what `run` gives of each.

        ``options`` say what else is asked. None: they are to be run one after another.
        """

    def bfs(
        self,
        view: View,
        source: int,
        *,
        cutoff: int | None,
        targets: np.ndarray | None,
        report: Report,
    ) -> np.ndarray:
        """Hops from `source` along the edges.

        Parameters
        ----------
        source : int
            Dense id.
        cutoff : int, optional
            Vertices further away stay unreached.
        targets : ndarray of dense ids, optional
            The search may stop once all of them are reached; what is not nearer than the last of them is then left
            unreached.

        Returns
        -------
        ndarray of int32, shape (num_vertices,)
            -1 where not reached.
        """

    def multi_bfs(
        self,
        view: View,
        sources: np.ndarray,
        *,
        cutoff: int | None,
        targets: np.ndarray | None,
        report: Report,
    ) -> np.ndarray | None:
        """Hops from each of several sources along the edges.

        Parameters
        ----------
        sources : ndarray of dense ids
            One may be there several times.
        cutoff : as of `bfs`
        targets : ndarray of dense ids, optional
            The searches may stop once each has reached all of them.

        Returns
        -------
        ndarray of int32, shape (sources, num_vertices), or None
            -1 where not reached. None: they are to be made one after another.
        """

    def predecessors(
        self,
        view: View,
        source: int,
        distance: np.ndarray,
        reached: np.ndarray,
        *,
        hops: bool,
        report: Report,
    ) -> np.ndarray:
        """Predecessor of every vertex on a shortest path from `source`.

        Parameters
        ----------
        source : int
            Dense id.
        distance : ndarray, shape (num_vertices,)
            What the search found: hops, or sums of weights in the type in which they were summed.
        reached : ndarray of bool, shape (num_vertices,)
        hops : bool
            Whether every edge counts one, and weights are ignored.

        Returns
        -------
        ndarray of the type of the neighbours, shape (num_vertices,)
            Dense ids; a vertex's own id where it has none (the source, unreached vertices).
        """

    def path(
        self, view: View, source: int, target: int, predecessor: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """The vertices on the path that predecessors make, without the source.

        Returns
        -------
        vertices : dense ids, from the source on
        left : int64
            How many edges of the path come after each.
        length : int
            Edges of the path.
        """

    def path_counts(
        self, view: View, source: int, level: np.ndarray, *, dtype: str, report: Report
    ) -> np.ndarray:
        """Number of paths of fewest edges from `source` to every vertex.

        Parameters
        ----------
        view : View
            Without repeated edges, which would count as often as they occur.
        source : int
            Dense id.
        level : ndarray of int32, shape (num_vertices,)
            What `bfs` found; -1 where not reached. Of a search that stopped early the counts of the
            vertices that have a level are right all the same.
        dtype : {"int64", "float64"}
            Of a count. float64 is exact up to 2**53 and infinite beyond 1.8e308.

        Returns
        -------
        ndarray of `dtype`, shape (num_vertices,)
            1 at the source, 0 where not reached.

        Raises
        ------
        IntegerOverflow
            A count does not fit int64.
        """

    def two_sided_path(
        self, view: View, source: int, target: int, *, hops: bool, report: Report
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None] | None:
        """The path that `predecessors` of a search from `source` make to `target`.

        Parameters
        ----------
        source, target : int
            Dense ids.
        hops : bool
            Whether every edge counts one, and weights are ignored.

        Returns
        -------
        tuple of arrays, each of shape (edges of the path,), or None
            Dense ids that edges come from, and lead to; distances of the latter from the source (int64 or
            float64); weights of the edges, None for `hops`. No edges: `target` is `source` or not reached.
            None: a search from one end is to be made, because a direction is forced, edges are looked at by
            layers, in-edges would have to be made for the first such path on a graph, or the only paths are too
            long for int64, or infinite.
        """

    def betweenness(
        self,
        view: View,
        sources: np.ndarray,
        *,
        weighted: bool,
        endpoints: bool,
        edges: bool,
        report: Report,
    ) -> np.ndarray:
        """Sums of the sources' dependencies on every vertex, or on every edge.

        The dependency of s on v is the sum over all t of the part of the shortest paths from s to t that go
        through v.

        Parameters
        ----------
        view : View
            Without repeated edges.
        sources : ndarray of dense ids
        weighted : bool
            Whether the length of a path is the sum of the weights of the view, not the number of its edges.
        endpoints : bool
            Whether a path goes through its two ends as well.
        edges : bool
            Whether to sum up over edges.

        Returns
        -------
        ndarray of float64
            Shape (num_vertices,), or for edges (num_edges,) in the order of ``view.out``; both directions of an
            undirected edge have the sum of both.

        Raises
        ------
        InvalidEdges
            A weight is zero, or so small beside a distance that the sum absorbs it.
        IntegerOverflow
            A distance does not fit the type of the weights; the number of shortest paths to a vertex is beyond
            1.8e308.
        """

    def edge_betweenness(
        self, view: View, sources: np.ndarray, *, weighted: bool, report: Report
    ) -> np.ndarray:
        """Sums of the sources' dependencies on every edge: as `betweenness` with ``edges``."""

    def pagerank(
        self,
        view: View,
        personal: np.ndarray | None,
        start: np.ndarray | None,
        dtype: Any,
        *,
        damping: float,
        tolerance: float,
        max_iterations: int,
        report: Report,
    ) -> np.ndarray | None:
        """What the vertex program of PageRank gives after its supersteps.

        Parameters
        ----------
        view : View
            Weights are used where it has some.
        personal : float64 array of shape (num_vertices,), optional
            Where jumps lead to, of sum 1; default: anywhere.
        start : float64 array of shape (num_vertices,), optional
            Ranks to begin with, of sum 1; default: equal ones.
        dtype : float64 or float32
            Of ranks; sums of rows are float64.
        damping, tolerance, max_iterations : number

        Returns
        -------
        ndarray of `dtype`, shape (num_vertices,), or None
            None: the program is to be run, because a direction is forced, edges are looked at by layers, or one
            row is a large part of what a thread has to do, and has to be cut.

        Raises
        ------
        NotConverged
            The iterations came to an end first.
        """

    def hits(
        self, view: View, tolerance: float, max_iterations: int, report: Report
    ) -> tuple[np.ndarray, np.ndarray]:
        """Hub and authority score of every vertex, each with sum 1; all 0 without edges.

        Parameters
        ----------
        view : View
            Weights are used where it has some.
        tolerance : float
            Ends when the hub scores changed by less than this in sum; 0: after all iterations.
        max_iterations : int

        Returns
        -------
        hub, authority : float64 arrays of shape (num_vertices,)

        Raises
        ------
        NotConverged
            The iterations came to an end first.
        """

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

    def triangles(self, view: View, report: Report) -> np.ndarray:
        """Triangles that each vertex of the simple undirected graph is in: int64, shape (num_vertices,).

        Parameters
        ----------
        view : View
            Only `symmetric` is used: direction, repeats and self-loops do not count.
        """

    def neighbour_arcs(self, view: View, report: Report) -> np.ndarray:
        """Edges that join two neighbours of each vertex: int64, shape (num_vertices,).

        Neighbours are those of the simple undirected graph. Of a directed view the edges between two of
        them count by direction; of an undirected one in both.
        """

    def jaccard_of_pairs(
        self, view: View, first: np.ndarray, second: np.ndarray, report: Report
    ) -> np.ndarray:
        """Part of the neighbours of either of two vertices that are those of both: float64.

        Parameters
        ----------
        view : View
            Only `symmetric` is used: direction, repeats and self-loops do not count.
        first, second : integer arrays of one length
            Dense ids.
        """

    def jaccard_two_hop(
        self, view: View, report: Report
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As `jaccard_of_pairs`, of all pairs of vertices with a neighbour in common.

        Returns
        -------
        first, second : arrays of the type of the neighbours
            Dense ids, first before second in the order of the user's ids; ordered by both.
        values : float64
        """

    def louvain(
        self,
        view: View,
        resolution: float,
        seed: int,
        report: Report,
        start: Start | None = None,
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
    ) -> tuple[np.ndarray, float]:
        """Communities as `louvain`, of which every one is connected.

        What was found by moving vertices is refined before its communities become vertices: they become
        as many vertices as they have well-connected parts, which can then leave. ``iterations`` times,
        each from the communities of the one before, and fewer when one changes nothing. From a ``start`` the first of
        them refines nothing, and vertices that are fixed stay together whatever joins them.
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

    def best_links(
        self, view: View, edges: tuple[Any, Any, Any], report: Report
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Edges of which no two share an end, taken by falling weight, then by their ends.

        Parameters
        ----------
        view : View
            Directed: a vertex may be the source of one edge and the destination of another.
        edges : tuple of arrays
            What `edges_among` gives of all vertices, with weights.

        Returns
        -------
        tuple of ndarray
            Some of these, in host memory; on ranks all on the first one.
        """

    def edges_among(self, view: View, inside: np.ndarray) -> tuple[np.ndarray, np.ndarray, Any]:
        """Edges with both ends in a set of vertices.

        Parameters
        ----------
        view : View
            Only `out` is used.
        inside : array of bool, shape (num_vertices,)

        Returns
        -------
        tuple of array
            Sources and destinations (dense ids), ordered by the places of both in the order of the
            user's ids, equal ones as in `out`; of an undirected graph every edge once, the end that
            comes first as source. And their weights; None of a view without.
        """

    def small_ego(
        self, view: View, center: int, radius: int, report: Report
    ) -> tuple[np.ndarray, np.ndarray, Any] | None:
        """Edges of which both ends are near a vertex, as `edges_among` after `bfs`.

        Parameters
        ----------
        center : int
            Dense id.
        radius : int
            Near are vertices that so many edges lead to, at most.

        Returns
        -------
        tuple of array, or None
            As of `edges_among`. None where these vertices have more edges than one thread is to go along, or
            the search is to be by layers or to pull: after at most a few ten thousand edges.
        """
