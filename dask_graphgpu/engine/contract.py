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

from dask_graphgpu.engine.contract_distances import DistanceSums
from dask_graphgpu.engine.contract_features import Features
from dask_graphgpu.engine.contract_groups import Groups
from dask_graphgpu.engine.contract_patterns import Patterns
from dask_graphgpu.engine.contract_samples import Samples
from dask_graphgpu.engine.contract_searches import Searches
from dask_graphgpu.engine.contract_sets import Sets
from dask_graphgpu.engine.contract_similarity import Similarities

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from dask_graphgpu.engine.options import RunOptions
    from dask_graphgpu.engine.state import State
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.program import VertexProgram
    from dask_graphgpu.report import Report


class Engine(
    Searches, Groups, Similarities, Features, Samples, Patterns, Sets, DistanceSums, Protocol
):
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
            None: run the program instead. So it is where a direction is forced, where edges are looked at by
            layers, and where one row is so large a part of what a thread has to do that it has to be cut.

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

    def simple_degrees(self, view: View) -> np.ndarray:
        """Neighbours of each vertex in the simple undirected graph: integers, shape (num_vertices,)."""

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

    def best_links(
        self, view: View, edges: Callable[[], tuple[Any, Any, Any]], report: Report
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Edges of which no two share an end, taken by falling weight, then by their ends.

        Parameters
        ----------
        view : View
            Directed: a vertex may be the source of one edge and the destination of another.
        edges : callable
            Gives what `edges_among` does of all vertices, with weights, where an engine takes them all at once.

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
