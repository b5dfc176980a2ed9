"""What `ranks.build` does for each edge, with edges in host memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.as_given import AsGiven
from dask_graphgpu.partition.csr import Adjacency, Coo, from_coo, mirror_sum
from dask_graphgpu.partition.ranks.ghosts import Ghosts
from dask_graphgpu.partition.ranks.numbering import EdgeRun
from dask_graphgpu.partition.ranks.shuffle import Entries, Tables, shuffle
from dask_graphgpu.partition.row_sort import each, num_blocks
from dask_graphgpu.partition.undirected import undirected


class OnHost:
    """The passes over the edges of a rank, and where its vertices are sorted, by `at_work`.

    What is known of vertices is in host memory between them.
    """

    def at_work(self, array: np.ndarray) -> Any:
        """An array where passes over it are made."""
        return array

    def mark(self, codes: Any, present: np.ndarray) -> None:
        """Note in ``present`` which codes occur."""
        for_blocks(kernels.csr.mark, even_blocks(len(codes)), codes, present)

    def count(
        self, runs: Sequence[EdgeRun], tables: Sequence[np.ndarray], size: int, dtype: np.dtype[Any]
    ) -> np.ndarray:
        """How often each of a rank's vertices is a source and a destination, shape (2, size)."""
        # Each thread has counters of its own, which are not to outweigh the edges.
        edges = sum(map(len, runs))
        blocks = max(min(num_blocks(edges), edges // (2 * size + 1)), 1)
        counts = np.zeros((blocks, 2, size), dtype)

        def count(block: int) -> None:
            for run in runs:
                lo, hi = (len(run) * k // blocks for k in (block, block + 1))
                table = run.codes.of(tables)
                kernels.shuffle.count(lo, hi, run.source, table, counts[block, 0])
                kernels.shuffle.count(lo, hi, run.destination, table, counts[block, 1])

        each(count, blocks)
        total: np.ndarray = counts[0] if blocks == 1 else counts.sum(axis=0, dtype=dtype)
        return total

    def mirror_sum(self, runs: Sequence[EdgeRun], tables: Tables, name: str | None) -> np.uint64:
        """As `csr.mirror_sum`, of this rank's edges."""
        coo = [
            Coo(run.source, run.destination, run.codes.of(tables.places), run.columns)
            for run in runs
        ]
        return mirror_sum(coo, name)

    def shuffle(
        self,
        ranks: Ranks,
        runs: list[EdgeRun],
        tables: Tables,
        bounds: np.ndarray,
        ways: Sequence[str],
        kinds: dict[str, np.dtype[Any]],
    ) -> list[Entries]:
        """As `ranks.shuffle.shuffle`."""
        return shuffle(ranks, runs, tables, bounds, ways, kinds)

    def remote(
        self, neighbours: Sequence[Any], first: np.uint64, last: np.uint64, total: int
    ) -> np.ndarray:
        """A bitmap over ``total`` places: those that occur but for ``first`` to ``last``."""
        words = np.zeros(-(-total // 64), np.uint64)
        for places in neighbours:
            for_blocks(
                kernels.shuffle.note_remote, even_blocks(len(places)), places, first, last, words
            )
        return words

    def to_local(self, ghosts: Ghosts, neighbours: Sequence[Any]) -> None:
        """Replace places by local ids."""
        given = ghosts.first, ghosts.last, ghosts.words, ghosts.before
        for places in neighbours:
            for_blocks(kernels.shuffle.to_local, even_blocks(len(places)), places, *given)

    def rows(self, entries: list[Entries], num_local: int) -> Adjacency:
        """Rows over all local vertices of the last of ``entries``, which goes half-way."""
        last = entries.pop()
        dtype = last.neighbours.dtype
        runs = [Coo(last.rows, last.neighbours, np.empty(0, dtype), last.columns)]
        del last
        return from_coo(num_local, runs, dtype)

    def settled(self, entries: list[Entries], numbers: np.ndarray) -> tuple[Adjacency, AsGiven]:
        """Rows of an undirected graph over all local vertices, of entries by both ends, which go.

        Beside them is what they do not say of the rows of the frame whose sources are here.

        ``numbers`` : of the local vertices, in the order of the user's ids.
        """
        dtype = entries[0].neighbours.dtype
        none = np.empty(0, dtype)
        runs = [
            Coo(each.rows, each.neighbours, none, each.columns, back)
            for each, back in zip(entries, (False, True), strict=True)
        ]
        entries.clear()
        return undirected(len(numbers), runs, dtype, numbers, both=False)
