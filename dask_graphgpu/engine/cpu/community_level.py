"""Levels of Louvain and Leiden: the graph itself, then one whose vertices are communities of the one before."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.partition.csr import Adjacency, at_ends, from_edges, offsets_of
from dask_graphgpu.partition.view import View

# Entries, about, of a piece of a large community, whose rows are added up by one thread.
PIECE = 1 << 14

EXACT = 2**53  # whole numbers below this, and sums of them, are exact as float64


@dataclass(frozen=True, eq=False)
class Level:
    """A graph whose vertices are communities of the one before; arrays as in ``kernels/cpu/communities.py``."""

    offsets: np.ndarray  # uint64
    neighbours: np.ndarray
    weight: np.ndarray
    loops: np.ndarray
    degree: np.ndarray

    def __len__(self) -> int:
        return len(self.loops)

    @property
    def edges(self) -> tuple[np.ndarray, ...]:
        """What kernels take first."""
        return self.offsets, self.neighbours, self.weight

    @cached_property
    def room(self) -> int:
        """Slots of a table for the longest row; see ``kernels/cpu/tallies.py``."""
        longest = int(np.diff(self.offsets).max(initial=0))
        return int(kernels.tallies.room_for(min(longest, len(self))))

    @property
    def blocks(self) -> np.ndarray:
        """Bounds of blocks of about as many entries."""
        return edge_blocks(self.offsets.view(np.int64))

    def connected(self, labels: np.ndarray) -> tuple[np.ndarray, int]:
        """Numbered labels of what is joined by edges within communities, and how many there are."""
        parts = np.empty_like(labels)
        kernels.communities.connected_parts(*self.edges, labels, parts)
        return renumbered(parts)

    def within(self, labels: np.ndarray, chosen: np.ndarray) -> Level:
        """The edges within communities whose label is among the ``chosen``; loops and degrees stay."""
        offsets = self.offsets.view(np.int64)
        source = np.repeat(labels, np.diff(offsets))
        kept = at_ends(chosen, source) & (source == at_ends(labels, self.neighbours))
        weight = self.weight[kept] if len(self.weight) else self.weight
        rows = offsets_of(kept)[offsets].view(np.uint64), self.neighbours[kept], weight
        return Level(*rows, self.loops, self.degree)

    @classmethod
    def first(cls, view: View, *, in_order: bool) -> Level:
        """The graph itself, its vertices in the order of the user's ids, and ``in_order`` those of each row, too."""
        rows = _in_order(view) if in_order else _joined(view)
        weight = np.empty(0) if rows.weight is None else rows.weight.astype(np.float64, copy=False)
        loops, degree = np.empty(rows.num_vertices), np.empty(rows.num_vertices)
        # A loop is once in the rows of an undirected graph, and was put twice into those of a directed one.
        for_blocks(
            kernels.communities.weigh, edge_blocks(rows.offsets), rows.offsets, rows.neighbours, weight,
            1.0 if view.directed else 2.0, loops, degree,
        )  # fmt: skip
        return cls(rows.offsets.view(np.uint64), rows.neighbours, weight, loops, degree)

    def aggregated(self, labels: np.ndarray, count: int) -> Level:
        """A level with a vertex for each of ``count`` labels.

        Notes
        -----
        Which sums are added in which order depends on the level alone. Memory: 8 bytes and a label for each entry of
        this level, and the same for each of the next one.
        """
        n, entries = len(self), len(self.neighbours)
        by_label = from_edges(n, labels, np.arange(n, dtype=labels.dtype))
        members, starts = by_label.neighbours, by_label.offsets[: count + 1]
        most = max(PIECE * n // (entries + n), 1)
        first = offsets_of(-(-np.diff(starts) // most))
        pieces = int(first[-1])
        community = np.repeat(np.arange(count, dtype=labels.dtype), np.diff(first))
        space = np.empty(pieces, np.int64)
        cut = members, starts, first, most
        by_community = edge_blocks(starts)
        for_blocks(kernels.aggregating.entries_of_pieces, by_community, self.offsets, *cut, space)
        spaces = offsets_of(space)
        rows = spaces, np.empty(entries, labels.dtype), np.empty(entries)
        found = np.empty(pieces, np.int64), np.empty(pieces), np.empty(pieces)
        for_blocks(
            kernels.aggregating.sum_pieces, edge_blocks(spaces), *self.edges, self.loops, self.degree, labels,
            *cut, community, *rows, *found,
        )  # fmt: skip
        lengths, loops, degree = found
        if pieces > count:
            lengths, loops, degree = np.empty(count, np.int64), np.empty(count), np.empty(count)
            for_blocks(
                kernels.aggregating.join_pieces, edge_blocks(spaces[first]), first, *rows, *found, lengths,
                loops, degree,
            )  # fmt: skip
        offsets = offsets_of(lengths)
        kept = int(offsets[-1])
        neighbours, weight = np.empty(kept, labels.dtype), np.empty(kept)
        for_blocks(
            kernels.aggregating.compact,
            edge_blocks(offsets),
            first,
            *rows,
            offsets,
            neighbours,
            weight,
        )
        return Level(offsets.view(np.uint64), neighbours, weight, loops, degree)


def _in_order(view: View) -> Adjacency:
    """Rows of both directions of every edge, vertices and neighbours in the order of the user's ids."""
    rows, rank = view.out, view.user_rank
    if not view.directed and rank is None:
        return rows
    source, destination = view.sources(), rows.neighbours
    columns = {} if rows.weight is None else {"weight": rows.weight}
    if rank is not None:
        source, destination = at_ends(rank, source), at_ends(rank, destination)
    if view.directed:
        both = np.concatenate([source, destination])
        source, destination = both, np.concatenate([destination, source])
        columns = {name: np.concatenate([c, c]) for name, c in columns.items()}
    return from_edges(view.num_vertices, source, destination, columns)


def _joined(view: View) -> Adjacency:
    """Rows of both directions of every edge, vertices in the order of the user's ids.

    Rows are sorted by neighbours and weights only where it may matter in which order weights are added up.
    """
    out, rank, weights = view.out, view.user_rank, view.out.weight
    largest = view.max_weight or 0
    exact = weights is None or (weights.dtype.kind != "f" and 2 * largest * out.num_edges < EXACT)
    if not view.directed and rank is None and exact:
        return out
    parts = [out, view.into] if view.directed else [out]
    n, dtype = view.num_vertices, out.neighbours.dtype
    none, unweighted = np.empty(0, dtype), np.empty(0)
    place = none
    lengths = out.degrees + view.into.degrees if view.directed else out.degrees
    if rank is not None:
        rank = rank.astype(dtype, copy=False)
        place = np.empty_like(rank)
        place[rank.astype(np.intp, copy=False)] = np.arange(n, dtype=dtype)
        lengths = lengths.take(place)
    offsets = offsets_of(lengths)
    given = [
        (part.offsets.view(np.uint64), part.neighbours, unweighted if part.weight is None else part.weight)
        for part in parts
    ]  # fmt: skip
    if not view.directed:
        given.append((np.empty(0, np.uint64), none, given[0][2][:0]))
    neighbours = np.empty(offsets[-1], dtype)
    weight = np.empty(0 if weights is None else offsets[-1])
    blocks = edge_blocks(offsets)
    for_blocks(
        kernels.communities.join_rows, blocks, place, none if rank is None else rank, *given, offsets,
        neighbours, weight,
    )  # fmt: skip
    if not exact:
        for_blocks(kernels.communities.sort_rows, blocks, offsets, neighbours, weight)
    return Adjacency(offsets, neighbours, {} if weights is None else {"weight": weight})


def renumbered(labels: np.ndarray) -> tuple[np.ndarray, int]:
    """The same labels as 0, 1, 2 ... in the order in which they come, and how many there are."""
    numbers = np.empty_like(labels)
    return numbers, int(kernels.communities.renumber(labels, numbers))
