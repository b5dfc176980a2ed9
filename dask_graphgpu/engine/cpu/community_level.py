"""Levels of Louvain and Leiden: the graph itself, then one whose vertices are communities of the one before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.partition.csr import Adjacency, at_ends, from_edges, offsets_of
from dask_graphgpu.partition.view import View

AT_ONCE = 1 << 25  # entries of rows that are read before a look whether the call is to stop

EXACT = 2**53  # whole numbers below this, and sums of them, are exact as float64


@dataclass(frozen=True, eq=False)
class Level:
    """A graph whose vertices are communities of the one before; arrays as in ``kernels/cpu/communities.py``.

    All of its rows are in memory; those of a `paged_level.PagedLevel` lie on disk.
    """

    offsets: np.ndarray  # uint64
    neighbours: np.ndarray
    weight: np.ndarray
    loops: np.ndarray
    degree: np.ndarray

    def __len__(self) -> int:
        return len(self.loops)

    @property
    def ids(self) -> np.dtype[Any]:
        """Type of vertices."""
        return self.neighbours.dtype

    @property
    def weighted(self) -> bool:
        return len(self.weight) > 0

    @property
    def entry_bytes(self) -> int:
        return self.ids.itemsize + self.weight.itemsize * self.weighted

    @property
    def edges(self) -> tuple[np.ndarray, ...]:
        """What kernels take first."""
        return self.offsets, self.neighbours, self.weight

    @cached_property
    def room(self) -> int:
        """Slots of a table for the longest row; see ``kernels/cpu/tallies.py``."""
        longest = int(np.diff(self.offsets).max(initial=0))
        return int(kernels.tallies.room_for(min(longest, len(self))))

    def blocks(self, lo: int, hi: int) -> np.ndarray:
        """Bounds of blocks of rows of about as many entries, from one to before another."""
        return lo + edge_blocks(self.offsets[lo : hi + 1].view(np.int64))

    def sweep(self) -> Iterator[tuple[int, int, Level]]:
        """The level with some rows at hand, from one to before another, until all were there: here at once."""
        yield 0, len(self), self

    def along(
        self, listed: np.ndarray, cuts: np.ndarray, beside: np.ndarray | None = None
    ) -> Iterator[tuple[int, int, Level]]:
        """The level with the rows of some listed vertices at hand, until all were there: here at once.

        Parameters
        ----------
        cuts : int64 array
            What is listed between two of them has its rows at hand at the same time.
        beside : int64 array, optional
            Bytes that are taken as well for what is listed before each cut.

        Yields
        ------
        tuple
            Those between which cuts are at hand, first and last.
        """
        yield 0, len(cuts) - 1, self

    def ahead(self, ring: np.ndarray, head: int, left: int) -> tuple[Level, int]:
        """The level with the rows of the first of a ring at hand, and how many entries may be read: here all."""
        return self, AT_ONCE

    def above(self, count: int, *, weighted: bool = True) -> Above:
        """What takes the rows of a level of so many vertices, in their order."""
        return Above()

    def rows_within(
        self, labels: np.ndarray, chosen: np.ndarray, lo: int, hi: int
    ) -> tuple[np.ndarray, ...]:
        """Offsets, neighbours and weights of the rows from one to before another that `within` keeps."""
        offsets = self.offsets[lo : hi + 1].view(np.int64)
        begin, end = offsets[[0, -1]].tolist()
        offsets, neighbours = offsets - begin, self.neighbours[begin:end]
        source = np.repeat(labels[lo:hi], np.diff(offsets))
        kept = at_ends(chosen, source) & (source == at_ends(labels, neighbours))
        weight = self.weight[begin:end][kept] if self.weighted else self.weight
        return offsets_of(kept)[offsets].view(np.uint64), neighbours[kept], weight

    @classmethod
    def first(cls, view: View, *, in_order: bool) -> Level:
        """The graph itself, its vertices in the order of the user's ids, and ``in_order`` those of each row, too."""
        rows = _in_order(view) if in_order else _joined(view)
        weight = np.empty(0) if rows.weight is None else rows.weight.astype(np.float64, copy=False)
        n = rows.num_vertices
        made = cls(rows.offsets.view(np.uint64), rows.neighbours, weight, np.empty(n), np.empty(n))
        weigh(made, directed=view.directed)
        return made


class SomeLevel(Protocol):
    """What both kinds of levels have; see `Level`."""

    def __len__(self) -> int: ...
    @property
    def offsets(self) -> np.ndarray: ...
    @property
    def loops(self) -> np.ndarray: ...
    @property
    def degree(self) -> np.ndarray: ...
    @property
    def ids(self) -> np.dtype[Any]: ...
    @property
    def weighted(self) -> bool: ...
    @property
    def entry_bytes(self) -> int: ...
    @property
    def room(self) -> int: ...
    def sweep(self) -> Iterator[tuple[int, int, Level]]: ...
    def along(
        self, listed: np.ndarray, cuts: np.ndarray, beside: np.ndarray | None = None
    ) -> Iterator[tuple[int, int, Level]]: ...
    def ahead(self, ring: np.ndarray, head: int, left: int) -> tuple[Level, int]: ...
    def above(self, count: int, *, weighted: bool = True) -> Any: ...


class Above:
    """Takes all rows of a level at once, which it has for its own then."""

    def append(
        self, first: int, offsets: np.ndarray, neighbours: np.ndarray, weight: np.ndarray
    ) -> None:
        self._rows = offsets.view(np.uint64), neighbours, weight

    def level(self, loops: np.ndarray, degree: np.ndarray) -> Level:
        return Level(*self._rows, loops, degree)


def weigh(level: SomeLevel, *, directed: bool) -> None:
    """Fill `loops` and `degree` of the graph itself."""
    # A loop is once in the rows of an undirected graph, and was put twice into those of a directed one.
    times = 1.0 if directed else 2.0
    for lo, hi, part in level.sweep():
        for_blocks(
            kernels.communities.weigh, part.blocks(lo, hi), *part.edges, times, level.loops, level.degree
        )  # fmt: skip


def connected(level: SomeLevel, labels: np.ndarray) -> tuple[np.ndarray, int]:
    """Numbered labels of what is joined by edges within communities, and how many there are."""
    parts = np.arange(len(level), dtype=labels.dtype)
    for lo, hi, part in level.sweep():
        kernels.communities.link_within(lo, hi, *part.edges, labels, parts)
    kernels.communities.to_roots(parts)
    return renumbered(parts)


def within(level: SomeLevel, labels: np.ndarray, chosen: np.ndarray) -> Any:
    """The edges within communities whose label is among the ``chosen``; loops and degrees stay."""
    made = level.above(len(level), weighted=level.weighted)
    for lo, hi, part in level.sweep():
        made.append(lo, *part.rows_within(labels, chosen, lo, hi))
    return made.level(level.loops, level.degree)


def weight_within(level: SomeLevel, labels: np.ndarray) -> float:
    """Weight of the entries within communities, loops included."""
    bits = kernels.communities.BLOCK_BITS
    sums = np.zeros(-(-len(level) >> bits))
    for lo, hi, part in level.sweep():
        blocks = np.arange(lo >> bits, -(-hi >> bits) + 1)
        for_blocks(
            kernels.communities.weight_within,
            blocks,
            lo,
            hi,
            *part.edges,
            level.loops,
            labels,
            sums,
        )
    return float(sum(sums.tolist()))


def exact_sums(view: View) -> bool:
    """Whether weights add up to the same in any order."""
    weights, largest = view.out.weight, view.max_weight or 0
    whole = weights is None or weights.dtype.kind != "f"
    return whole and 2 * largest * view.out.num_edges < EXACT


def _in_order(view: View) -> Adjacency:
    """Rows of both directions of every edge, vertices and neighbours in the order of the user's ids."""
    rows, rank = view.out, view.user_rank
    if not view.directed and rank is None:
        return rows
    source, destination = view.ends()
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
    out, rank, weights, exact = view.out, view.user_rank, view.out.weight, exact_sums(view)
    if not view.directed and rank is None and exact:
        return out
    parts = [out, view.into] if view.directed else [out]
    n, dtype = view.num_vertices, out.neighbours.dtype
    none = np.empty(0, dtype)
    place = none
    lengths = out.degrees + view.into.degrees if view.directed else out.degrees
    if rank is not None:
        rank = rank.astype(dtype, copy=False)
        place = np.empty_like(rank)
        place[rank.astype(np.intp, copy=False)] = np.arange(n, dtype=dtype)
        lengths = lengths.take(place)
    offsets = offsets_of(lengths)
    neighbours = np.empty(offsets[-1], dtype)
    weight = np.empty(0 if weights is None else offsets[-1])
    blocks = edge_blocks(offsets)
    for_blocks(
        kernels.communities.join_rows, blocks, place, none if rank is None else rank, *to_join(*parts),
        offsets, neighbours, weight,
    )  # fmt: skip
    if not exact:
        for_blocks(kernels.communities.sort_rows, blocks, offsets, neighbours, weight)
    return Adjacency(offsets, neighbours, {} if weights is None else {"weight": weight})


def to_join(*parts: Adjacency) -> tuple[tuple[np.ndarray, ...], ...]:
    """One adjacency or two as `join_rows` of ``kernels/cpu/communities.py`` takes them."""
    given: list[tuple[np.ndarray, ...]] = [
        (part.offsets.view(np.uint64), part.neighbours, np.empty(0) if part.weight is None else part.weight)
        for part in parts
    ]  # fmt: skip
    if len(given) == 1:
        given.append((np.empty(0, np.uint64), *(each[:0] for each in given[0][1:])))
    return tuple(given)


def renumbered(labels: np.ndarray) -> tuple[np.ndarray, int]:
    """The same labels as 0, 1, 2 ... in the order in which they come, and how many there are."""
    numbers = np.empty_like(labels)
    return numbers, int(kernels.communities.renumber(labels, numbers))
