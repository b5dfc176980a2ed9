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
from dask_graphgpu.engine.walking import SampleRule
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.partition.csr import offsets_of
from dask_graphgpu.partition.ranks.view import AnyView
from dask_graphgpu.report import Report

Sample = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]


def neighbor_sample(
    view: AnyView, batches: np.ndarray, seeds: np.ndarray, rule: SampleRule, report: Report
) -> Sample:
    """Edges that lead to some vertices, and to where these come from, and so on; see the contract. Collective.

    Notes
    -----
    A batch and a vertex are one key. In each hop the edges of all keys that are new are drawn at once [2]_: of a disk
    the pages that they are in are read, and each rank draws for its own vertices, to which others send the keys.
    """
    rows = RowsById(view, view.into, report, weighted=view.is_weighted)
    n = view.graph_vertices
    new = _distinct(rows, batches * n + seeds, n)
    seen, found = new, []
    for hop in range(len(rule.fanout)):
        start = time.perf_counter()
        drawn = _Hop(rows, rule, hop, n).of(new)
        keys, sources = drawn[:2]
        found.append((np.full(len(keys), hop + 1, np.int32), *drawn))
        came = _distinct(rows, keys - keys % n + sources.astype(np.int64), n)
        report.advance(
            "sample", supersteps=1, frontier=len(new), edges=len(keys),
            bytes=len(keys) * sources.itemsize, seconds=time.perf_counter() - start,
        )  # fmt: skip
        new = np.setdiff1d(came, seen, assume_unique=True)
        seen = np.concatenate([seen, new])
    hops, keys, source, weight = (np.concatenate(each) for each in zip(*found, strict=True))
    order = np.argsort(keys // n, kind="stable")
    keys = keys[order]
    destination = (keys % n).astype(source.dtype)
    carried = weight[order] if view.is_weighted else None
    return keys // n, hops[order], source[order], destination, carried


def _distinct(rows: RowsById, keys: np.ndarray, n: int) -> np.ndarray:
    """Keys of own vertices, ascending; of ranks those of all. Collective."""
    mine = np.unique(keys)
    return np.unique(rows.to_owners(mine % n, mine))


class _Hop:
    """Draws edges of one hop; a key is a batch times ``n`` and a vertex."""

    def __init__(self, rows: RowsById, rule: SampleRule, hop: int, n: int) -> None:
        self._rows, self._rule, self._hop, self._n = rows, rule, hop, n

    def of(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The key, the neighbour and the weight, if any, of each edge drawn; ordered by key and place in the row."""
        vertices, kind = keys % self._n, self._rows.weight_dtype
        found = [(keys[:0], np.empty(0, self._rows.dtype), np.empty(0, kind))]
        for part in self._rows.parts(vertices):
            row = self._rows.rows_of(vertices)
            some = np.flatnonzero((row >= part.first) & (row < part.last))
            found.append(self._drawn(keys[some], row[some] - part.first, part))
        key, source, weight = (np.concatenate(each) for each in zip(*found, strict=True))
        if len(found) <= 2:
            return key, source, weight
        order = np.argsort(key, kind="stable")
        return key[order], source[order], weight[order] if len(weight) else weight

    def _drawn(
        self, keys: np.ndarray, row: np.ndarray, part: Part
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As `of`, from rows at hand."""
        offsets = part.rows.offsets
        starts = offsets_of(self._rule.lengths(offsets[row + 1] - offsets[row], self._hop))
        edges = np.empty(starts[-1], np.int64)
        for_blocks(
            kernels.neighbor_sample.sample, edge_blocks(starts), keys // self._n, keys % self._n,
            row, offsets, starts, self._hop, self._rule.replaces(self._hop),
            np.uint64(self._rule.seed), edges,
        )  # fmt: skip
        key = np.repeat(keys, np.diff(starts))
        edges = edges[np.lexsort((edges, key))]
        weight = part.rows.weight
        return key, part.rows.neighbours[edges], edges[:0] if weight is None else weight[edges]
