"""The edges of a partition under one rule for repeated rows."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Mapping

import numpy as np

from dask_graphgpu.partition.csr import (
    Adjacency,
    both_ways,
    count_loops,
    count_neighbours,
    merge_repeats,
    sum_neighbours,
    sum_rows,
    transpose,
    union,
    without_loops,
)


class View:
    """What an engine sees of a graph: adjacencies, each made once when it is first asked for.

    Parameters
    ----------
    rows : Adjacency
        The edges, repeated rows already merged; of an undirected graph, both directions.
    by : "source" or "destination"
        What a row of ``rows`` is.
    vertex_columns : mapping of name to array of shape (num_vertices,)
        Columns of the user's vertices frame, in dense order.
    user_rank : array of shape (num_vertices,), optional
        Place of each dense id in the order of the user's ids; None when that is the dense order.
    """

    def __init__(
        self,
        rows: Adjacency,
        *,
        by: str = "source",
        directed: bool = True,
        vertex_columns: Mapping[str, np.ndarray] | None = None,
        user_rank: np.ndarray | None = None,
    ) -> None:
        self.directed = directed
        self.num_vertices = rows.num_vertices
        self.num_edges = rows.num_edges
        self.vertex_columns: Mapping[str, np.ndarray] = vertex_columns or {}
        self.user_rank = user_rank
        self._made = {"out" if by == "source" or not directed else "into": rows}
        self._lock = threading.RLock()

    @classmethod
    def of(
        cls,
        out: Adjacency,
        *,
        directed: bool = True,
        vertex_columns: Mapping[str, np.ndarray] | None = None,
        user_rank: np.ndarray | None = None,
    ) -> View:
        """A view of rows by source as they are."""
        return cls(out, directed=directed, vertex_columns=vertex_columns, user_rank=user_rank)

    def with_columns(self, columns: Mapping[str, np.ndarray]) -> View:
        """The same edges, shared, under other vertex columns."""
        other = copy.copy(self)
        other.vertex_columns = columns
        return other

    @property
    def out(self) -> Adjacency:
        """Rows by source (CSR)."""
        return self._adjacency("out", lambda: transpose(self._made["into"]))

    @property
    def into(self) -> Adjacency:
        """Rows by destination (CSC); the same object as `out` when undirected."""
        if not self.directed:
            return self.out
        return self._adjacency("into", lambda: transpose(self._made["out"]))

    @property
    def has_into(self) -> bool:
        """Whether `into` costs nothing."""
        return not self.directed or "into" in self._made

    @property
    def symmetric(self) -> Adjacency:
        """Both directions of every edge, without repeats, self-loops and columns."""

        def make() -> Adjacency:
            rows = merge_repeats(self._any(), "one")
            if self.directed:
                rows = union(rows, transpose(rows), "one")
            return without_loops(rows)

        return self._adjacency("symmetric", make)

    @property
    def is_weighted(self) -> bool:
        return self._any().weight is not None

    @property
    def max_weight(self) -> int | float | None:
        """Largest weight, a Python number; None without weights or edges."""
        weight = self._any().weight
        return None if weight is None or not len(weight) else weight.max().item()

    def degrees(self, direction: str) -> np.ndarray:
        """Number of edges "out" of or "in" to each vertex, or "both" added; int64."""
        return self._per_vertex(direction, lambda a: a.degrees, count_neighbours)

    def weighted_degrees(self, direction: str) -> np.ndarray:
        """Weight of the edges "out" of or "in" to each vertex, or "both" added.

        int64 or float64; the degrees when there are no weights.
        """
        if not self.is_weighted:
            return self.degrees(direction)
        return self._per_vertex(direction, sum_rows, sum_neighbours)

    def loops(self) -> np.ndarray:
        """Number of self-loops at each vertex, int64."""
        return count_loops(self._any())

    def made(self) -> list[Adjacency]:
        """The adjacencies made so far."""
        return list(self._made.values())

    def _adjacency(self, name: str, make: Callable[[], Adjacency]) -> Adjacency:
        with self._lock:
            if name not in self._made:
                self._made[name] = make()
            return self._made[name]

    def _any(self) -> Adjacency:
        """Whichever adjacency has all edges."""
        made = self._made.get("out") or self._made.get("into")
        assert made is not None
        return made

    def _per_vertex(
        self,
        direction: str,
        of_rows: Callable[[Adjacency], np.ndarray],
        of_neighbours: Callable[[Adjacency], np.ndarray],
    ) -> np.ndarray:
        """A sum over each vertex's edges, from whichever adjacency is there."""
        if not self.directed:
            return of_rows(self.out)
        if direction == "both":
            return of_rows(self._any()) + of_neighbours(self._any())
        name = {"out": "out", "in": "into"}[direction]
        made = self._made.get(name)
        return of_neighbours(self._any()) if made is None else of_rows(made)


def view_under(
    rule: str,
    rows: Adjacency,
    *,
    by: str,
    directed: bool,
    vertex_columns: Mapping[str, np.ndarray],
    user_rank: np.ndarray | None,
) -> View:
    """Apply the rule for repeated rows and, when undirected, give every edge both directions.

    An undirected graph may come with each edge once or in both directions: when the merged edges
    equal their own mirror image, weights included, they are taken as given in both.
    """
    merged = rows if rule == "keep" else merge_repeats(rows, rule)
    if not directed:
        mirror = transpose(merged)
        if not _same(merged, mirror):
            plain = set(merged.columns) <= {"weight"}
            merged = union(merged, mirror, rule) if plain else both_ways(merged)
    return View(
        merged, by=by, directed=directed, vertex_columns=vertex_columns, user_rank=user_rank
    )


def _same(a: Adjacency, b: Adjacency) -> bool:
    """Whether two adjacencies hold the same edges; float weights to the rounding of a sum."""
    if not (np.array_equal(a.offsets, b.offsets) and np.array_equal(a.neighbours, b.neighbours)):
        return False
    if a.weight is None or b.weight is None:
        return True
    a, b = merge_repeats(a, "sum"), merge_repeats(b, "sum")  # "keep" leaves repeats in any order
    assert a.weight is not None
    assert b.weight is not None
    if a.weight.dtype.kind == "f":
        return bool(np.allclose(a.weight, b.weight, rtol=1e-9, atol=0.0))
    return bool(np.array_equal(a.weight, b.weight))
