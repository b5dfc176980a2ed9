"""The edges of a partition under one rule for repeated rows."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from dask_graphgpu.exchange.alone import ALONE, NoBorder
from dask_graphgpu.exchange.border import Border
from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device.elements import converted
from dask_graphgpu.partition.device.elements import lengths as lengths_of
from dask_graphgpu.partition.layered import Layered, Levels
from dask_graphgpu.partition.rows import Rows


class View:
    """What an engine sees of a graph: its adjacencies, with the columns that are asked for.

    Parameters
    ----------
    rows : Rows
        The edges, shared with other views of them.
    names : sequence of str, optional
        The edge columns that show. Default: all.
    vertex_columns : mapping of name to array of shape (num_vertices,)
        Columns of the user's vertices frame, in dense order.
    user_rank : array of shape (num_vertices,), optional
        Place of each dense id in the order of the user's ids; None when that is the dense order.
    levels : Levels, optional
        The layer of each vertex, where edges are looked at by layers.

    Attributes
    ----------
    numbers : array of shape (num_vertices,), or None
        What programs see as the id of each vertex; None: the dense id.
    num_owned : int
        Vertices that get values here: those with the dense ids before, all but on several ranks.
    graph_vertices, graph_edges : int
        Vertices and edges of the whole graph.
    ranks : Ranks
        Who shares the graph; here nobody.
    on_ranks : bool
        Whether there are several ranks, or might be: ids are numbers then, and arrays in another order.
    paged : bool
        Whether edges lie in pages on disk.
    stays : bool
        See `staying`.
    """

    numbers: np.ndarray | None = None
    ranks: Ranks = ALONE
    on_ranks: ClassVar[bool] = False
    paged: ClassVar[bool] = False
    stays = False

    def __init__(
        self,
        rows: Rows,
        *,
        names: tuple[str, ...] | None = None,
        vertex_columns: Mapping[str, np.ndarray] | None = None,
        user_rank: np.ndarray | None = None,
        levels: Levels | None = None,
    ) -> None:
        self.rows = rows
        self.levels = levels
        self._names = rows.names if names is None else names
        self.directed = rows.directed
        self.num_vertices = self.num_owned = self.graph_vertices = rows.num_vertices
        self.num_edges = self.graph_edges = rows.num_edges
        self.vertex_columns: Mapping[str, np.ndarray] = vertex_columns or {}
        self.user_rank = user_rank

    @property
    def by_degree(self) -> bool:
        """Whether vertices are in the order of falling degrees; else in that of the user's ids."""
        return self.user_rank is not None

    @classmethod
    def of(
        cls,
        out: Adjacency,
        *,
        directed: bool = True,
        vertex_columns: Mapping[str, np.ndarray] | None = None,
        user_rank: np.ndarray | None = None,
    ) -> View:
        """A view of rows by source as they are; of an undirected graph, with both directions."""
        rows = Rows(out, directed=directed)
        return cls(rows, vertex_columns=vertex_columns, user_rank=user_rank)

    def staying(self) -> View:
        """The same, of which an engine on a GPU may leave answers there; others are as before."""
        other = copy.copy(self)
        other.stays = True
        return other

    def with_columns(self, columns: Mapping[str, np.ndarray]) -> View:
        """The same edges, shared, under other vertex columns."""
        other = copy.copy(self)
        other.vertex_columns = columns
        return other

    def with_user_numbers(self) -> View:
        """The same edges, shared; programs see as ids the places in the order of the user's ids."""
        assert self.user_rank is not None  # else they do
        other = copy.copy(self)
        other.numbers = self.user_rank.astype(self.id_dtype, copy=False)
        return other

    def with_edge_column(self, name: str, column: str) -> View:
        """The same edges with one column only, ``column``, under another name."""
        given = self.given()
        edges = Adjacency(given.offsets, given.neighbours, {name: given.columns[column]})
        rows = type(self.rows)(edges, by=self.rows.by, directed=self.directed)
        return View(
            rows,
            vertex_columns=self.vertex_columns,
            user_rank=self.user_rank,
            levels=self.levels,
        )

    def reversed(self) -> View:
        """Every edge the other way round; shared. An undirected view is given back as it is."""
        if not self.directed:
            return self
        other = copy.copy(self)
        other.rows, other.levels = self.rows.reversed(), None
        return other

    def undirected(self) -> View:
        """Every edge in both directions, made anew; a self-loop is in its vertex's row twice.

        An undirected view is given back as it is.
        """
        if not self.directed:
            return self
        given = self.given()
        rows = self.rows.rowwise.row_ids(given)
        both = self.rows.csr.from_edges(
            given.num_vertices,
            np.concatenate([rows, given.neighbours]),
            np.concatenate([given.neighbours, rows]),
            {name: np.concatenate([column, column]) for name, column in given.columns.items()},
        )
        return View(
            type(self.rows)(both, directed=False),
            vertex_columns=self.vertex_columns,
            user_rank=self.user_rank,
            levels=self.levels,
        )

    def simple(self) -> View:
        """What `symmetric` has, as a view of its own."""
        return View.of(self.symmetric, directed=False, user_rank=self.user_rank)

    def layered(self, by: str) -> Layered:
        """The edges by layers of their sources, or of their destinations; made once."""
        assert self.levels is not None
        return self.rows.layered(by, self.levels).showing(self._names)

    @property
    def out(self) -> Adjacency:
        """Rows by source (CSR)."""
        return self.rows.adjacency("source", self._names)

    @property
    def into(self) -> Adjacency:
        """Rows by destination (CSC); the same object as `out` when undirected."""
        return self.rows.adjacency("destination", self._names)

    @property
    def has_into(self) -> bool:
        """Whether `into` is there already."""
        return self.rows.has("destination")

    def note_missed(self, edges: float) -> float:
        """Add reads of edges that `into` would have saved; return their sum over all views of the rows."""
        return self.rows.note_missed(edges)

    @property
    def symmetric(self) -> Adjacency:
        """Both directions of every edge, without repeats, self-loops and columns."""
        return self.rows.symmetric()

    @property
    def on_device(self) -> bool:
        """Whether all arrays lie in the memory of a GPU."""
        return self.rows.on_device

    @property
    def id_dtype(self) -> np.dtype[Any]:
        """Of the ids that programs see: uint32 or uint64."""
        ids = self.given().neighbours if self.numbers is None else self.numbers
        return ids.dtype

    @property
    def is_weighted(self) -> bool:
        return "weight" in self._names

    @property
    def max_weight(self) -> int | float | None:
        """Largest weight, a Python number; None without weights or edges."""
        return self.rows.largest("weight") if self.is_weighted else None

    # -- what is asked of a view on several ranks, too --------------------------------------------

    @property
    def border(self) -> Border:
        """What brings values to copies of vertices on other ranks; here there are none."""
        return NoBorder(self.num_vertices, self.given().neighbours.dtype)

    def at_ghosts(self, values: np.ndarray) -> np.ndarray:
        """The same array, right for copies of others' vertices, too."""
        return values

    def places(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Indices, in arrays over vertices, of those of ``ids`` that are here; and which are: all."""
        return ids, np.ones(len(ids), bool)

    def named(self, places: np.ndarray) -> np.ndarray:
        """The ids by which answers name the vertices that have these indices."""
        return places

    # -- sums over the edges of a vertex -----------------------------------------------------------

    def degrees(self, direction: str) -> np.ndarray:
        """Number of edges "out" of or "in" to each vertex, or "both" added; int64, not to be written to."""

        def lengths(adjacency: Adjacency) -> np.ndarray:
            if not self.on_device:
                return adjacency.degrees
            wide: np.ndarray = converted(lengths_of(adjacency.offsets), np.int64)
            return wide

        def counts(_: Adjacency) -> np.ndarray:
            return self.rows.counts("neighbours")

        return self._per_vertex(direction, lengths, counts)

    def weighted_degrees(self, direction: str) -> np.ndarray:
        """Weight of the edges "out" of or "in" to each vertex, or "both" added.

        int64 or float64; the degrees when there are no weights.
        """
        if not self.is_weighted:
            return self.degrees(direction)
        rowwise = self.rows.rowwise
        return self._per_vertex(direction, rowwise.sum_rows, rowwise.sum_neighbours)

    def loops(self) -> np.ndarray:
        """Number of self-loops at each vertex, int64, not to be written to."""
        return self.rows.counts("loops")

    def loop_weights(self) -> np.ndarray:
        """Weight of the self-loops at each vertex, int64 or float64."""
        weights: np.ndarray = self.rows.rowwise.sum_loops(self.given())
        return weights

    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """The source and the destination of every edge of `out`."""
        return self.rows.rowwise.row_ids(self.out), self.out.neighbours

    def weights_between(self, sources: np.ndarray, destinations: np.ndarray) -> np.ndarray:
        """Weights of the edges from some vertices, each to one of its neighbours: of several the least."""
        weights: np.ndarray = self.rows.rowwise.least_weights(self.out, sources, destinations)
        return weights

    def given(self) -> Adjacency:
        """The direction that was given, which has all columns."""
        return self.rows.adjacency(self.rows.by, self._names)

    def _per_vertex(
        self,
        direction: str,
        of_rows: Callable[[Adjacency], np.ndarray],
        of_neighbours: Callable[[Adjacency], np.ndarray],
    ) -> np.ndarray:
        """A sum over each vertex's edges, from the direction that was given."""
        given = self.given()
        if not self.directed:
            return of_rows(given)
        if direction == "both":
            both: np.ndarray = of_rows(given) + of_neighbours(given)
            return both
        along = {"out": "source", "in": "destination"}[direction] == self.rows.by
        of = of_rows if along else of_neighbours
        return of(given)
