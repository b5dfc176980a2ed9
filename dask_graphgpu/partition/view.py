"""The edges of a partition under one rule for repeated rows."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import numpy as np

from dask_graphgpu.partition.csr import Adjacency, merge_repeats, transpose, union, without_loops


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
        self._out = rows if by == "source" or not directed else None
        self._into = rows if by == "destination" or not directed else None
        self._symmetric: Adjacency | None = None
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

    @property
    def out(self) -> Adjacency:
        """Rows by source (CSR)."""
        with self._lock:
            if self._out is None:
                self._out = transpose(self.into)
            return self._out

    @property
    def into(self) -> Adjacency:
        """Rows by destination (CSC); the same object as `out` when undirected."""
        with self._lock:
            if self._into is None:
                self._into = transpose(self.out)
            return self._into

    @property
    def has_into(self) -> bool:
        return self._into is not None

    @property
    def symmetric(self) -> Adjacency:
        """Both directions of every edge, without repeats, self-loops and columns."""
        with self._lock:
            if self._symmetric is None:
                rows = merge_repeats(self._any(), "one")
                if self.directed:
                    rows = union(rows, transpose(rows), "one")
                self._symmetric = without_loops(rows)
            return self._symmetric

    @property
    def max_weight(self) -> int | float | None:
        """Largest weight, a Python number; None without weights or edges."""
        weight = self._any().weight
        return None if weight is None or not len(weight) else weight.max().item()

    def made(self) -> list[Adjacency]:
        """The adjacencies made so far."""
        return [a for a in (self._out, self._into, self._symmetric) if a is not None]

    def _any(self) -> Adjacency:
        """Whichever adjacency is there."""
        return self.out if self._out is not None else self.into


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
            merged = union(merged, mirror, rule)
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
    assert a.weight is not None and b.weight is not None
    if a.weight.dtype.kind == "f":
        return bool(np.allclose(a.weight, b.weight, rtol=1e-9, atol=0.0))
    return bool(np.array_equal(a.weight, b.weight))
