"""Samples of neighbours, hop by hop, in memory, over pages on disk, and on ranks.

References
----------
.. [1] Hamilton, Ying, Leskovec. Inductive representation learning on large graphs. NIPS 2017.
.. [2] Bentley, Floyd. Programming pearls: a sample of brilliance. CACM 30 (1987).
"""

from __future__ import annotations

import time

import numpy as np

from dask_graphgpu.engine.cpu.rows_by_id import Part, RowsById
from dask_graphgpu.engine.room import require_room
from dask_graphgpu.engine.walking import SampleRule, edges_up_to
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.partition.csr import offsets_of
from dask_graphgpu.partition.distinct import distinct
from dask_graphgpu.partition.ranks.view import AnyView
from dask_graphgpu.report import Report

_EDGE = 48  # bytes of one that is drawn, while those of a hop are put in order
Columns = dict[str, np.ndarray]
Sample = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Columns]


def neighbor_sample(
    view: AnyView,
    batches: np.ndarray,
    seeds: np.ndarray,
    rule: SampleRule,
    report: Report,
    until: np.ndarray | None = None,
) -> Sample:
    """Edges that lead to some vertices, and to where these come from, and so on; see the contract. Collective.

    Notes
    -----
    A batch and a vertex are one key. In each hop the edges of all keys that are new are drawn at once [2]_: of a disk
    the pages that they are in are read, and each rank draws for its own vertices, to which others send the keys. Where
    there are bounds, the edges of a row are in the order of their times, so that a bisection finds which may be drawn;
    on ranks each has the bounds of all batches.
    """
    rows = RowsById(view, view.into, report, weighted=view.is_weighted, time=rule.time)
    limits = None if until is None else _of_all(view, batches, until)
    n = view.graph_vertices
    new = _distinct(rows, batches * n + seeds, n)
    seen, found = new, []
    for hop in range(len(rule.fanout)):
        start = time.perf_counter()
        drawn = _Hop(view, rows, rule, hop, limits).of(new)
        keys, sources = drawn[:2]
        found.append((np.full(len(keys), hop + 1, np.int32), *drawn))
        came = _distinct(rows, keys - keys % n + sources.astype(np.int64), n)
        report.advance(
            "sample", supersteps=1, frontier=len(new), edges=len(keys),
            bytes=len(keys) * sources.itemsize, seconds=time.perf_counter() - start,
        )  # fmt: skip
        new = np.setdiff1d(came, seen, assume_unique=True)
        seen = np.concatenate([seen, new])
    hops, keys, source, *carried = (np.concatenate(each) for each in zip(*found, strict=True))
    order = np.argsort(keys // n, kind="stable")
    keys = keys[order]
    destination = (keys % n).astype(source.dtype)
    columns = {name: each[order] for name, each in zip(rows.names, carried, strict=True)}
    return keys // n, hops[order], source[order], destination, columns


def _of_all(view: AnyView, batches: np.ndarray, until: np.ndarray) -> np.ndarray:
    """The bounds of all batches, on ranks of those that any rank has, by their numbers. Collective."""
    if view.on_ranks:
        batches, until = (
            np.concatenate(view.ranks.all_gather(given)) for given in (batches, until)
        )
    limits = np.empty(int(batches.max(initial=-1)) + 1, until.dtype)
    limits[batches] = until
    return limits


def _distinct(rows: RowsById, keys: np.ndarray, n: int) -> np.ndarray:
    """Keys of own vertices, ascending; of ranks those of all. Collective."""
    mine = distinct(keys)
    return distinct(rows.to_owners(mine % n, mine))


class _Hop:
    """Draws edges of one hop; a key is a batch times ``n`` and a vertex. ``limits`` : the bound of each batch."""

    def __init__(
        self, view: AnyView, rows: RowsById, rule: SampleRule, hop: int, limits: np.ndarray | None
    ) -> None:
        self._view, self._rows, self._rule, self._hop, self._limits = view, rows, rule, hop, limits
        self._n = view.graph_vertices

    def of(self, keys: np.ndarray) -> tuple[np.ndarray, ...]:
        """The key, the neighbour and the columns of each edge drawn; ordered by key and neighbour."""
        vertices = keys % self._n
        none = (np.empty(0, dtype) for dtype in (self._rows.dtype, *self._rows.dtypes.values()))
        found: list[tuple[np.ndarray, ...]] = [(keys[:0], *none)]
        for part in self._rows.parts(vertices):
            row = self._rows.rows_of(vertices)
            some = np.flatnonzero((row >= part.first) & (row < part.last))
            found.append(self._drawn(keys[some], row[some] - part.first, part))
        drawn = tuple(np.concatenate(each) for each in zip(*found, strict=True))
        if len(found) <= 2:
            return drawn
        order = np.argsort(drawn[0], kind="stable")
        return tuple(each[order] for each in drawn)

    def _drawn(self, keys: np.ndarray, row: np.ndarray, part: Part) -> tuple[np.ndarray, ...]:
        """As `of`, from rows at hand."""
        rows, batches = part.rows, keys // self._n
        begin = rows.offsets[row].astype(np.int64)
        degree = rows.offsets[row + 1].astype(np.int64) - begin
        if self._limits is not None:
            assert self._rule.time is not None
            degree = edges_up_to(
                rows.columns[self._rule.time], begin, degree, self._limits[batches]
            )
        starts = offsets_of(self._rule.lengths(degree, self._hop))
        require_room(self._view, _EDGE * int(starts[-1]), f"{starts[-1]:,} edges that are drawn")
        edges = np.empty(starts[-1], np.int64)
        for_blocks(
            kernels.neighbor_sample.sample, edge_blocks(starts), batches, keys % self._n,
            begin, degree, starts, self._hop, self._rule.replaces(self._hop),
            np.uint64(self._rule.seed), edges,
        )  # fmt: skip
        key = np.repeat(keys, np.diff(starts))
        if self._limits is None:
            edges = edges[np.lexsort((edges, key))]
        else:
            edges = edges[np.lexsort((edges, rows.neighbours[edges], key))]
        return (
            key,
            rows.neighbours[edges],
            *(rows.columns[name][edges] for name in self._rows.names),
        )
