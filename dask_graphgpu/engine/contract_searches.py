"""The contract of engines: searches, paths, and the centralities that are made of them; see `contract`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np

    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report


class Searches(Protocol):
    """What algorithms call to go along paths."""

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
            -1 where not reached. None: they are to be made one after another. Of a view that is `RankView.answering`
            the rows that it asks for, of a result with a row for each source and vertex, shape (rows,); or None.
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
            None: make a search from one end instead. So it is where a direction is forced, where edges are looked
            at by layers, where in-edges would have to be made for the first such path on a graph, and where all
            paths are infinite or too long for int64.
        """

    def nearest(
        self, view: View, targets: np.ndarray, k: int, limit: float | None, report: Report
    ) -> tuple[np.ndarray, np.ndarray]:
        """The nearest of some targets for each vertex, along the edges.

        Parameters
        ----------
        view : View
            Lengths are its weights; without any, every edge counts one.
        targets : ndarray of dense ids
            Each once, in the order of the user's ids.
        k : int
        limit : number, optional
            Targets further away are left out.

        Returns
        -------
        distance : int64 or float64 array, shape (num_vertices, k)
        target : int64 array, shape (num_vertices, k)
            Places in ``targets``; -1 where there are no more. The nearest first, of equal ones that of the smaller
            place. Right for own vertices.

        Raises
        ------
        IntegerOverflow
            A distance does not fit int64.
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
            Whether to sum up over edges; not on several ranks with GPUs, and not where edges lie beyond memory.

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
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sums of the sources' dependencies on every edge: as `betweenness` with ``edges``.

        Returns
        -------
        tuple of ndarray, shape (edges,)
            Sources and destinations (dense ids), and sums; of an undirected graph both directions or those from the
            smaller id. On ranks each gives some, of a view that is `RankView.answering` those of its rows or any.
        """
