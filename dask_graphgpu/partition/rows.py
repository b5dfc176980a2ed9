"""Edges by source and by destination, each sorted when it is first asked for."""

from __future__ import annotations

import threading

import numpy as np

from dask_graphgpu.partition.csr import (
    Adjacency,
    both_ways,
    merge_repeats,
    repeats,
    transpose,
    transpose_column,
    union,
    without_loops,
)


class Rows:
    """The edges of a graph, given in one direction; the other is made of it on demand.

    Neighbours are brought into the other direction once, and a column only when a view that shows
    it asks for that direction. Threads may share one object.

    Parameters
    ----------
    given : Adjacency
        Of an undirected graph, both directions of every edge.
    by : "source" or "destination"
        What a row of ``given`` is.
    """

    def __init__(self, given: Adjacency, *, by: str = "source", directed: bool = True) -> None:
        self.by = by
        self.directed = directed
        self.names = tuple(given.columns)
        self.num_vertices = given.num_vertices
        self.num_edges = given.num_edges
        self._columns = {by: dict(given.columns)}
        self._bare = {by: Adjacency(given.offsets, given.neighbours)}
        self._shown: dict[tuple[str, tuple[str, ...]], Adjacency] = {}
        self._symmetric: Adjacency | None = None
        self._lock = threading.RLock()

    def has(self, by: str) -> bool:
        """Whether this direction is there already."""
        return not self.directed or by in self._bare

    def adjacency(self, by: str, names: tuple[str, ...]) -> Adjacency:
        """Rows by "source" or "destination" with some columns; the same object every time."""
        by = by if self.directed else self.by
        with self._lock:
            if (by, names) not in self._shown:
                bare = self._direction(by)
                columns = {name: self._column(by, name) for name in names}
                self._shown[by, names] = Adjacency(bare.offsets, bare.neighbours, columns)
            return self._shown[by, names]

    def symmetric(self) -> Adjacency:
        """Both directions of every edge, without repeats, self-loops and columns."""
        with self._lock:
            if self._symmetric is None:
                rows = merge_repeats(self._bare[self.by], "one")
                if self.directed:
                    rows = union(rows, transpose(rows), "one")
                self._symmetric = without_loops(rows)
            return self._symmetric

    def arrays(self) -> list[np.ndarray]:
        """Every array that is held, for counting their bytes."""
        held = list(self._bare.values()) + ([self._symmetric] if self._symmetric else [])
        columns = [column for named in self._columns.values() for column in named.values()]
        return [array for a in held for array in (a.offsets, a.neighbours)] + columns

    def _direction(self, by: str) -> Adjacency:
        if by not in self._bare:
            self._bare[by] = transpose(self._bare[self.by])
        return self._bare[by]

    def _column(self, by: str, name: str) -> np.ndarray:
        held = self._columns.setdefault(by, {})
        if name not in held:
            given = self._bare[self.by]
            held[name] = transpose_column(
                given, self._columns[self.by][name], self._bare[by].offsets
            )
        return held[name]


def under_any_rule(rows: Adjacency, *, directed: bool) -> Adjacency | None:
    """The edges when no rule for repeated rows makes a difference, else None.

    Of an undirected graph, both directions of every edge come back. It may be given with each edge
    once or in both directions: rows that equal their own mirror image, columns included, are taken
    as given in both.
    """
    if repeats(rows):
        return None
    if directed:
        return rows
    mirror = transpose(rows)
    if _same(rows, mirror):
        return rows
    if repeats(union(rows, mirror, "keep")):
        return None
    return _mirrored(rows, mirror, "keep")


def under_rule(rule: str, rows: Adjacency, *, directed: bool) -> Adjacency:
    """Apply a rule for repeated rows; undirected edges come back in both directions."""
    merged = rows if rule == "keep" else merge_repeats(rows, rule)
    if directed:
        return merged
    mirror = transpose(merged)
    return merged if _same(merged, mirror) else _mirrored(merged, mirror, rule)


def _mirrored(rows: Adjacency, mirror: Adjacency, rule: str) -> Adjacency:
    plain = set(rows.columns) <= {"weight"}
    return union(rows, mirror, rule) if plain else both_ways(rows)


def _same(a: Adjacency, b: Adjacency) -> bool:
    """Whether two adjacencies hold the same edges; float columns to the rounding of a sum."""
    if not (np.array_equal(a.offsets, b.offsets) and np.array_equal(a.neighbours, b.neighbours)):
        return False
    if a.weight is None or b.weight is None:
        return all(np.array_equal(a.columns[name], b.columns[name]) for name in a.columns)
    a, b = merge_repeats(a, "sum"), merge_repeats(b, "sum")  # "keep" leaves repeats in any order
    assert a.weight is not None
    assert b.weight is not None
    if a.weight.dtype.kind == "f":
        return bool(np.allclose(a.weight, b.weight, rtol=1e-9, atol=0.0))
    return bool(np.array_equal(a.weight, b.weight))
