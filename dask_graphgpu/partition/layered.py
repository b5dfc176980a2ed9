"""The layered edge list: edges in the order of the breadth-first level of their source [1]_.

A search from a root gives every vertex a level; layer i are the edges out of level i. Every edge is
kept. What the root does not reach follows as further trees, all at once: their roots are those that
no unreached vertex of higher degree leads to, so that every vertex is reached from one of them.

References
----------
.. [1] Zhu et al., "WolfPath: accelerating iterative traversing-based graph processing algorithms on
   GPU", Int. J. Parallel Programming 2018.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.partition.csr import Adjacency, offsets_of
from dask_graphgpu.partition.distinct import distinct
from dask_graphgpu.partition.row_sort import to_move

if TYPE_CHECKING:
    from dask_graphgpu.exchange.border import Border

_HIGHEST = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Levels:
    """The layer of each vertex that is here, of one numbering for all ranks.

    Attributes
    ----------
    root : int
        Number of the vertex of level 0; -1 of a graph without vertices.
    level : int32, shape (num_local,)
    num_layers : int
        Of the whole graph.
    seconds : float
        What it took to find them.
    """

    root: int
    level: np.ndarray
    num_layers: int
    seconds: float


@dataclass(frozen=True, eq=False)
class Layered:
    """Edges ordered by layer, within a layer by source.

    Attributes
    ----------
    starts : int64, shape (num_layers + 1,)
        Layer i are the edges ``starts[i]`` to ``starts[i + 1]``.
    sources, neighbours : uint32 or uint64, shape (num_edges,)
        Who sends, and to whom: dense ids, on several ranks local ids.
    level : int32, shape (num_vertices,)
    columns : dict of arrays, each of shape (num_edges,)
    seconds : float
        What it took to order them.
    """

    starts: np.ndarray
    sources: np.ndarray
    neighbours: np.ndarray
    level: np.ndarray
    columns: dict[str, np.ndarray] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def num_layers(self) -> int:
        return len(self.starts) - 1

    @property
    def num_edges(self) -> int:
        return len(self.neighbours)

    @cached_property
    def lengths(self) -> np.ndarray:
        """Edges of each layer, int64."""
        return np.diff(self.starts)

    def showing(self, names: tuple[str, ...]) -> Layered:
        """The same edges with these columns only."""
        return replace(self, columns={name: self.columns[name] for name in names})

    def arrays(self) -> list[np.ndarray]:
        """Every array that is held, for counting their bytes."""
        return [self.starts, self.sources, self.neighbours, *self.columns.values()]


def find_levels(
    out: Adjacency,
    num_owned: int,
    numbers: np.ndarray | None,
    root: int | None,
    border: Border | None,
) -> Levels:
    """Give every vertex a layer; collective where there is a border.

    Parameters
    ----------
    out : Adjacency
        Rows by source; on several ranks those of own vertices, which come first.
    num_owned : int
    numbers : array of shape (num_local,), optional
        Number of each vertex, the same on all ranks; None: its place.
    root : int, optional
        A number. Default: the vertex with the most out-edges, of these the one of smallest number.
    border : Border, optional
        None: there is one rank.

    Returns
    -------
    Levels
        Right for ghosts too.

    Notes
    -----
    Cost: two searches, one of the root's tree and one of the others; on several ranks each goes on
    by itself between exchanges, and a level that is too high is lowered.
    """
    began = time.perf_counter()
    n = len(out.offsets) - 1
    named = np.arange(n, dtype=out.neighbours.dtype) if numbers is None else numbers
    level, degree = np.full(n, -1, np.int32), out.degrees.copy()
    chosen = _highest(degree[:num_owned], named[:num_owned], border) if root is None else root
    if chosen < 0:
        return Levels(-1, level, 0, time.perf_counter() - began)
    _grow(out, num_owned, level, np.flatnonzero(named[:num_owned] == chosen), 0, border)
    if border is not None:
        border.refresh([level, degree])
    beaten = np.zeros(n, np.uint8)
    for_blocks(
        kernels.layered.mark_beaten, edge_blocks(out.offsets[: num_owned + 1]),
        out.offsets, out.neighbours, level, degree, named, beaten,
    )  # fmt: skip
    if border is not None:
        ghosts = num_owned + np.flatnonzero(beaten[num_owned:])
        told, _ = border.tell_owners(ghosts, np.empty((len(ghosts), 0), np.uint8))
        for ids, _ in told:
            beaten[ids.astype(np.intp)] = 1
    roots = np.flatnonzero((level[:num_owned] < 0) & (beaten[:num_owned] == 0))
    _grow(out, num_owned, level, roots, _most(level, border) + 1, border)
    if border is not None:
        border.refresh([level])
    return Levels(chosen, level, _most(level, border) + 1, time.perf_counter() - began)


def order_edges(rows: Adjacency, levels: Levels) -> Layered:
    """Edges of rows by their sender, in the order of layers. Cost: each edge is moved once."""
    began = time.perf_counter()
    order = np.argsort(levels.level, kind="stable").astype(rows.neighbours.dtype)
    places = offsets_of(rows.degrees.take(order))
    ends = np.searchsorted(levels.level.take(order), np.arange(levels.num_layers + 1))
    blocks = edge_blocks(places)

    def place(kernel: Callable[..., None], *arrays: np.ndarray) -> None:
        for_blocks(kernel, blocks, order, rows.offsets, places, *arrays)

    sources, neighbours = (np.empty_like(rows.neighbours) for _ in range(2))
    place(kernels.layered.place_edges, rows.neighbours, sources, neighbours)
    columns = {name: np.empty_like(column) for name, column in rows.columns.items()}
    for name, column in rows.columns.items():
        place(kernels.layered.place_column, *to_move(column, columns[name]))
    seconds = time.perf_counter() - began
    return Layered(places[ends], sources, neighbours, levels.level, columns, seconds)


def _highest(degree: np.ndarray, numbers: np.ndarray, border: Border | None) -> int:
    """Number of the vertex of highest degree, of these the smallest; -1 where there is no vertex."""
    best = [-1, -1]
    if len(degree):
        most = degree.max()
        best = [int(most), int(numbers[degree == most].min())]
    every = [best] if border is None else border.ranks.scalars(best).tolist()
    return max(((most, -number) for most, number in every), default=(-1, 1))[1] * -1


def _most(level: np.ndarray, border: Border | None) -> int:
    """The highest level; -1: there is none."""
    most = int(level.max(initial=-1))
    return most if border is None else int(border.ranks.max(most))


def _grow(
    out: Adjacency,
    num_owned: int,
    level: np.ndarray,
    roots: np.ndarray,
    depth: int,
    border: Border | None,
) -> None:
    """Give levels from ``depth`` on to what is reached from own ``roots``; ghosts' are not right."""
    dtype = out.neighbours.dtype
    lists = np.empty((2, num_owned), dtype)
    told = np.zeros(len(level), np.uint8)
    far = np.empty(len(level) - num_owned, dtype)
    pending = roots.astype(dtype)
    level[pending.astype(np.intp)] = depth
    while True:
        keys = level.take(pending)
        order = np.argsort(keys, kind="stable")
        *_, found, _ = kernels.bfs.settle(
            out.offsets, out.neighbours, level, pending[order], keys[order], _HIGHEST, -1,
            num_owned, lists, told, far,
        )  # fmt: skip
        if border is None:
            return
        ghosts = np.sort(far[:found])
        told[ghosts.astype(np.intp)] = 0
        came, every = border.tell_owners(ghosts, level.take(ghosts), np.array([found], np.int64))
        if not every.any():
            return
        lowered = [pending[:0]]
        for ids, values in came:
            lower = (level.take(ids) < 0) | (values < level.take(ids))
            level[ids[lower].astype(np.intp)] = values[lower]
            lowered.append(ids[lower].astype(dtype))
        pending = distinct(np.concatenate(lowered))
