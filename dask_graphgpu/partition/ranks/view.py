"""The share of a graph's edges that one rank has, under one rule for repeated rows."""

from __future__ import annotations

import copy
from bisect import bisect_left
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from dask_graphgpu.partition import csr, rowwise
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.distinct import distinct
from dask_graphgpu.partition.layered import Layered, Levels
from dask_graphgpu.partition.rows import Rows
from dask_graphgpu.partition.searching import first_places
from dask_graphgpu.partition.view import View

if TYPE_CHECKING:
    from dask_graphgpu.exchange.border import Border
    from dask_graphgpu.exchange.ranks import Ranks

T = TypeVar("T")

# Vertices that are looked for by a pass over the numbers each; more by bisection in their order.
_FEW = 8

_INT64_MAX = 2**63 - 1


class RankView:
    """What algorithms and the engine of ranks see of a graph: one rank's vertices and their edges.

    Arrays over vertices have an entry for each vertex that is here: first the rank's own ones, then
    copies of the remote ones at the other ends of their edges, the ghosts. The place in these arrays
    is a vertex's local id. Its number is its place in the order of the user's ids, the same on all
    ranks.

    What says that it is collective has to be called by all ranks in the same order.

    Parameters
    ----------
    ranks : Ranks
    border : Border
        Brings values of own vertices to their ghosts.
    numbers : uint32 or uint64, shape (num_local,)
        Number of each vertex that is here.
    num_owned : int
        The local ids before are the rank's own vertices.
    graph_vertices : int
        Vertices of the whole graph.
    directed : bool
    out, into : Adjacency
        All edges of the own vertices, by source and by destination; the rows of ghosts are empty.
        Of an undirected graph one object with both directions of every edge.
    vertex_columns : mapping of name to array of shape (num_local,), optional
        Columns of the user's vertices frame; what ghosts have means nothing.
    graph_edges : int
        Edges of the whole graph; of an undirected one the entries of all rows.
    levels : Levels, optional
        The layer of each vertex that is here, where edges are looked at by layers.
    by_degree : bool
        Whether own vertices are in the order of falling degrees; else in that of their numbers.
    own_order : integers, shape (num_owned,), optional
        Local ids of own vertices in the order of their numbers; None: that is the order they are in.

    Attributes
    ----------
    stays : bool
        See `staying`.
    answers : function or None
        See `answering`.
    """

    stays = False
    answers: Callable[[int], tuple[int, int]] | None = None
    on_ranks: ClassVar[bool] = True
    paged: ClassVar[bool] = False
    has_into: ClassVar[bool] = True

    def __init__(
        self,
        ranks: Ranks,
        border: Border,
        numbers: np.ndarray,
        num_owned: int,
        graph_vertices: int,
        *,
        directed: bool,
        out: Adjacency,
        into: Adjacency,
        vertex_columns: Mapping[str, np.ndarray] | None = None,
        graph_edges: int,
        levels: Levels | None = None,
        by_degree: bool = False,
        own_order: np.ndarray | None = None,
    ) -> None:
        self.levels = levels
        self.by_degree = by_degree
        self._own_order = own_order
        self.ranks = ranks
        self.border = border
        self.numbers = numbers
        self.num_owned = num_owned
        self.num_vertices = len(numbers)
        self.graph_vertices = graph_vertices
        self.graph_edges = graph_edges
        self.directed = directed
        self.out = out
        self.into = into
        self.vertex_columns: Mapping[str, np.ndarray] = vertex_columns or {}
        # What was worked out once, shared with the views that differ in vertex columns only.
        self._known: dict[Any, Any] = {}

    @property
    def id_dtype(self) -> np.dtype[Any]:
        """Of numbers: uint32 or uint64."""
        return self.numbers.dtype

    @property
    def user_rank(self) -> np.ndarray:
        """Place of each vertex in the order of the user's ids: its number."""
        return self.numbers

    @property
    def is_weighted(self) -> bool:
        return self.out.weight is not None

    @property
    def max_weight(self) -> int | float | None:
        """Largest weight of the whole graph; None without weights or edges. Collective at first."""
        return self._once("max_weight", self._max_weight)

    # -- other views -----------------------------------------------------------------------------

    def with_columns(self, columns: Mapping[str, np.ndarray]) -> RankView:
        """The same edges, shared, under other vertex columns."""
        other = copy.copy(self)
        other.vertex_columns = columns
        return other

    def staying(self) -> RankView:
        """The same, of which engines on GPUs leave answers there; others are as before."""
        other = copy.copy(self)
        other.stays = True
        return other

    def answering(self, made: Callable[[int], tuple[int, int]]) -> RankView:
        """The same, for rows that become those of a result, of which the rank makes a part.

        ``made(rows)`` says which, of so many that are in the result's order: the first, and the one after the last.
        Engines that can give any of the rows give these, in order, which then need not travel.
        """
        other = copy.copy(self)
        other.answers = made
        return other

    def with_edge_column(self, name: str, column: str) -> RankView:
        """The same edges with one column only, ``column``, under another name."""

        def renamed(edges: Adjacency) -> Adjacency:
            return Adjacency(edges.offsets, edges.neighbours, {name: edges.columns[column]})

        out = renamed(self.out)
        return self._of(out, renamed(self.into) if self.directed else out, self.directed)

    def undirected(self) -> RankView:
        """Every edge in both directions, made once; a self-loop is in its vertex's row twice.

        An undirected view is given back as it is.
        """
        if not self.directed:
            return self
        both: Adjacency = self._once("both", self._both)
        view = self._of(both, both, directed=False)
        view._known = self._once("of both", dict)
        return view

    def reversed(self) -> RankView:
        """Every edge the other way round, by rows, not by layers; shared."""
        made = self._of(self.into, self.out, self.directed)
        made.levels = None
        return made

    def within(self, parts: np.ndarray, left: np.ndarray) -> RankView:
        """The edges between vertices of one part, both of them ``left``; by rows. Collective.

        Parameters
        ----------
        parts, left : shape (num_local,)
            Right for ghosts too.
        """

        def kept(rows: Adjacency) -> Adjacency:
            source, neighbours = rowwise.row_ids(rows), rows.neighbours
            chosen = csr.at_ends(parts, source) == csr.at_ends(parts, neighbours)
            for ends in (source, neighbours):
                chosen &= csr.at_ends(left, ends)
            before = csr.offsets_of(chosen)
            return Adjacency(before[rows.offsets], neighbours[chosen])

        out = kept(self.out)
        made = self._of(out, kept(self.into) if self.directed else out, self.directed)
        made.levels = None
        made.graph_edges = int(self.ranks.sum(out.num_edges))
        return made

    def toward(self, direction: str) -> TowardView:
        """The edges over which messages come to own vertices, as a view of one rank sees them.

        Messages go along the edges ("out"), against them ("in") or both ways. In the view all of
        them go along: the rows of ``into`` are those of own vertices, the rows of ``out``, made when
        they are asked for, have the own vertices to which own ones and ghosts send. Collective the
        first time for a direction.
        """
        direction = direction if self.directed else "out"
        rows: Rows = self._once(("toward", direction), lambda: self._toward(direction))
        return TowardView(self, rows, direction)

    # -- sums over the edges of a vertex -----------------------------------------------------------

    def degrees(self, direction: str) -> np.ndarray:
        """Edges "out" of or "in" to each vertex, or "both" added; int64, right for ghosts too.

        Collective the first time for a direction.
        """
        direction = direction if self.directed else "out"

        def count() -> np.ndarray:
            return self.at_ghosts(self._sum(direction, lambda edges: edges.degrees))

        degrees: np.ndarray = self._once(("degrees", direction), count)
        return degrees

    def weighted_degrees(self, direction: str) -> np.ndarray:
        """Weight of the edges "out" of or "in" to each vertex, or "both" added.

        int64 or float64, right for ghosts too; the degrees when there are no weights. Collective the
        first time for a direction.
        """
        if not self.is_weighted:
            return self.degrees(direction)
        direction = direction if self.directed else "out"

        def add() -> np.ndarray:
            return self.at_ghosts(self._sum(direction, rowwise.sum_rows))

        degrees: np.ndarray = self._once(("weighted", direction), add)
        return degrees

    def at_ghosts(self, values: np.ndarray) -> np.ndarray:
        """The same array, in which ghosts have got what their owners have. Collective."""
        self.border.refresh([values])
        return values

    def loops(self) -> np.ndarray:
        """Number of self-loops at each own vertex, int64, shape (num_local,)."""
        return rowwise.count_loops(self.out)

    def loop_weights(self) -> np.ndarray:
        """Weight of the self-loops at each own vertex, int64 or float64, shape (num_local,)."""
        return rowwise.sum_loops(self.out)

    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """The source and the destination of every edge of `out`, local ids."""
        return rowwise.row_ids(self.out), self.out.neighbours

    def layers(self) -> list[Layered]:
        """The edges by layers as far as they are made, for every direction."""
        made = [rows for key, rows in self._known.items() if key[0] == "toward"]
        return [layered for rows in made for layered in rows.layers().values()]

    @property
    def shared(self) -> np.ndarray:
        """Local ids of the own vertices that are ghosts on other ranks, ascending."""
        ids: np.ndarray = self._once("shared", lambda: distinct(np.concatenate(self.border.sends)))
        return ids

    @property
    def symmetric(self) -> Adjacency:
        """Both directions of every edge, without repeats, self-loops and columns; ghosts' rows too.

        A row of an own vertex has all its neighbours, one of a ghost those that are own.
        """
        made: Adjacency = self._once("symmetric", self._symmetric)
        return made

    # -- numbers -----------------------------------------------------------------------------------

    def places(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Local ids of those vertices that are here, own or ghosts, and which of ``numbers`` are.

        Parameters
        ----------
        numbers : integers, shape (k,)

        Returns
        -------
        places : int64
            One for each that is here, in the order of ``numbers``.
        here : bool, shape (k,)
        """
        numbers = np.asarray(numbers)
        if not len(self.numbers):
            return np.empty(0, np.int64), np.zeros(len(numbers), bool)
        if len(numbers) <= _FEW and "order" not in self._known:
            # argmax stops at the first that is equal; where none is, it gives any place.
            found = [int((self.numbers == number).argmax()) for number in numbers.tolist()]
            places = np.array(found, np.int64)
        else:
            order = self.know_order(np.argsort)
            # Of another type they would have all numbers that are here converted, for each call.
            place = first_places(self.numbers, numbers.astype(self.id_dtype), order)
            places = order[np.minimum(place, len(order) - 1)].astype(np.int64)
        here = self.numbers[places] == numbers
        return places[here], here

    def own_place(self, number: int) -> int:
        """The local id of a vertex; -1 where this rank does not own it. O(log(num_owned))."""
        order: Any = range(self.num_owned) if self._own_order is None else self._own_order
        place = bisect_left(order, number, key=lambda local: int(self.numbers[local]))
        found = int(order[place]) if place < self.num_owned else -1
        return found if found >= 0 and self.numbers[found] == number else -1

    def named(self, places: np.ndarray) -> np.ndarray:
        """The numbers of the vertices that have these local ids."""
        numbers: np.ndarray = self.numbers.take(places)
        return numbers

    def know_order(self, argsort: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """The local ids in the order of their numbers, made once by ``argsort``; then `places` is quick."""
        order: np.ndarray = self._once("order", lambda: argsort(self.numbers))
        return order

    # -- how it is made ----------------------------------------------------------------------------

    def _once(self, key: Any, make: Callable[[], T]) -> T:
        if key not in self._known:
            self._known[key] = make()
        found: T = self._known[key]
        return found

    def _of(self, out: Adjacency, into: Adjacency, directed: bool) -> RankView:
        """Other edges between the same vertices."""
        return RankView(
            self.ranks,
            self.border,
            self.numbers,
            self.num_owned,
            self.graph_vertices,
            directed=directed,
            out=out,
            into=into,
            vertex_columns=self.vertex_columns,
            graph_edges=self.graph_edges * (1 if directed == self.directed else 2),
            levels=self.levels,
            by_degree=self.by_degree,
            own_order=self._own_order,
        )

    def _max_weight(self) -> int | float | None:
        weight = self.out.weight
        if weight is None:
            return None
        largest = (weight.max() if len(weight) else weight.dtype.type(0)).item()
        if isinstance(largest, int):  # larger ones are refused where a program reads them
            largest = min(largest, _INT64_MAX)
        found = self.ranks.scalars([len(weight), largest])
        return max((most for edges, most in found.tolist() if edges), default=None)

    def _sum(self, direction: str, of: Callable[[Adjacency], np.ndarray]) -> np.ndarray:
        """A new array of a sum over each own vertex's edges."""
        if direction == "both":
            both: np.ndarray = of(self.out) + of(self.into)
            return both
        return of(self.out if direction == "out" else self.into).copy()

    def _both(self) -> Adjacency:
        rows = [rowwise.row_ids(edges) for edges in (self.out, self.into)]
        columns = {
            name: np.concatenate([column, self.into.columns[name]])
            for name, column in self.out.columns.items()
        }
        return csr.from_edges(
            self.num_vertices,
            np.concatenate(rows),
            np.concatenate([self.out.neighbours, self.into.neighbours]),
            columns,
        )

    def _toward(self, direction: str) -> Rows:
        # So that a run does not come to these on one rank only.
        self.degrees(direction)
        _ = self.max_weight
        if direction == "both":
            edges = self.undirected().into
        else:
            edges = self.into if direction == "out" else self.out
        return Rows(edges, by="destination")

    def _symmetric(self) -> Adjacency:
        rows = rowwise.merge_repeats(self.out, "one")
        if self.directed:
            rows = rowwise.union(rows, rowwise.merge_repeats(self.into, "one"))
        rows = rowwise.without_loops(rows)
        remote = rows.neighbours >= self.num_owned
        if not remote.any():
            return rows
        # Ghosts are the last rows, so theirs stand behind those that are there.
        ghosts = csr.from_edges(
            self.num_vertices, rows.neighbours[remote], rowwise.row_ids(rows)[remote]
        )
        return Adjacency(
            rows.offsets + ghosts.offsets, np.concatenate([rows.neighbours, ghosts.neighbours])
        )


class TowardView(View):
    """The edges over which messages come to the own vertices of a rank; see `RankView.toward`.

    Attributes
    ----------
    numbers, num_owned, graph_vertices
        As of the `RankView`.
    graph_edges : int
        Edges of the whole graph over which messages go.
    """

    on_ranks: ClassVar[bool] = True

    def __init__(self, whole: RankView, rows: Rows, direction: str) -> None:
        super().__init__(rows, vertex_columns=whole.vertex_columns, levels=whole.levels)
        self.numbers = whole.numbers
        self.num_owned = whole.num_owned
        self.graph_vertices = whole.graph_vertices
        self.graph_edges = whole.graph_edges * (2 if direction == "both" else 1)
        self.ranks = whole.ranks
        self._whole, self._direction = whole, direction

    @property
    def by_degree(self) -> bool:
        """Whether own vertices are in that order."""
        return self._whole.by_degree

    @property
    def border(self) -> Border:
        return self._whole.border

    def at_ghosts(self, values: np.ndarray) -> np.ndarray:
        return self._whole.at_ghosts(values)

    def places(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._whole.places(ids)

    def named(self, places: np.ndarray) -> np.ndarray:
        return self._whole.named(places)

    @property
    def max_weight(self) -> int | float | None:
        """Of the whole graph."""
        return self._whole.max_weight

    def degrees(self, direction: str) -> np.ndarray:
        """Edges over which each vertex sends, ghosts too, int64, for direction "out"."""
        return self._whole.degrees(self._one_way(direction))

    def weighted_degrees(self, direction: str) -> np.ndarray:
        """Weight of the edges over which each vertex sends, ghosts too, for direction "out"."""
        return self._whole.weighted_degrees(self._one_way(direction))

    def _one_way(self, direction: str) -> str:
        assert direction == "out", direction
        return self._direction


# What drivers see that serve any number of ranks.
AnyView = View | RankView
