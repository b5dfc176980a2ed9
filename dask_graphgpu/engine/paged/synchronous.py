"""Supersteps over pages: pull, page after page; notify-pull reads those pages only that matter."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np

from dask_graphgpu.engine.cpu.arrays import Arrays
from dask_graphgpu.engine.cpu.parts import PART
from dask_graphgpu.engine.cpu.synchronous import Synchronous
from dask_graphgpu.engine.keeping import Keeper
from dask_graphgpu.engine.paged.halfway import Halfway
from dask_graphgpu.engine.paged.rates import rates_of
from dask_graphgpu.engine.state import State
from dask_graphgpu.kernels.cpu import frontier
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.paged.sort import PagedAdjacency
from dask_graphgpu.partition.paged.window import Window
from dask_graphgpu.report import Report

# Passes over all edges that notify-pull would have saved before rows are turned over for it: to
# turn them over writes and reads every edge twice.
TURN = 4


class PagedSynchronous(Synchronous):
    """Steps for the superstep loop, on edges that lie on disk.

    Parts are those of the edges in memory, and each is gathered in one go, so that sums are the same
    bit for bit.
    """

    def __init__(self, arrays: Arrays, report: Report, keeper: Keeper | None = None) -> None:
        super().__init__(arrays, report)
        self._slower: float | None = None
        self._keeper = keeper
        self._halfway = Halfway(keeper, self.messages, self.received)

    def direction(self) -> str:
        if self.forced != "auto":
            return self.forced
        share = self.active_edges / max(self.binding.graph_edges, 1)
        if share > 1 / 2 or share > 1 / (2 * self._random_cost()):
            return "pull"
        if not self.binding.has_send:
            edges = self.binding.graph_edges
            if self.binding.view.note_missed(edges) < TURN * edges:
                return "pull"
        return "notify-pull"

    def _over_parts(
        self, kernel: str, edges: Adjacency, marked: np.ndarray, into: tuple[np.ndarray, ...]
    ) -> list[tuple[bool, int]]:
        assert isinstance(edges, PagedAdjacency)
        parts, arrays, groups = self._parts, self.arrays, self._groups
        spans = np.stack([parts.edges[groups[:-1]], parts.edges[groups[1:]]], 1).astype(np.int64)
        if kernel == "gather_some":
            spans = self._needed(spans, marked)
        halfway = self._halfway
        halfway.begin(len(spans))
        needed = halfway.needed(parts, groups)
        spans = np.where(needed[:, None], spans, spans[:, :1])
        offsets, emitted = edges.offsets.view(np.uint64), self.emitted

        def gather(i: int, held: Mapping[str, np.ndarray]) -> list[tuple[bool, int]]:
            within, lo = edges.among(held), int(groups[i])
            if not needed[i]:
                halfway.passed(i, bad=False, write=self._write)
                return []
            found: list[tuple[bool, int]] = arrays.run(
                kernel, even_blocks(int(groups[i + 1]) - lo, work=PART) + lo, within, parts.rows,
                parts.edges, offsets, within.neighbours, emitted, arrays.active, marked, *into,
            )  # fmt: skip
            halfway.passed(i, bad=any(bad for bad, _ in found), write=self._write)
            return found

        results = self._window.each(spans, gather)
        self._note(self._window)
        return [block for of_group in results for block in of_group]

    def _gather(self, direction: str) -> tuple[int, bool]:
        found = super()._gather(direction)
        self._halfway.end()
        return found

    def _write(self) -> None:
        """Have the state before this superstep kept, with what there is of the messages."""
        arrays = self.arrays
        fold = partial(arrays.lowered.kernel("fold"), self._parts.rows)
        columns = self._halfway.columns(
            self._parts, self._groups, lambda *into: bool(fold(*into, *self._partial))
        )
        if columns is not None and self._keeper is not None:
            self._keeper.write(arrays.superstep - 1, self.kept() | columns, arrays.aggregates)

    def resume(self, columns: Mapping[str, np.ndarray]) -> None:
        super().resume(columns)
        self._halfway.resume(columns)

    def result(self) -> State:
        if "_window" in vars(self):  # there was a pass
            self._window.release()
        return super().result()

    def _needed(self, spans: np.ndarray, marked: np.ndarray) -> np.ndarray:
        """The spans, empty where no row is marked: the kernel reads no edge of such a row."""
        upto = np.append(0, np.cumsum(marked, dtype=np.int64))
        rows, groups = self._parts.rows.astype(np.int64), self._groups
        told = upto[rows[groups[1:]] + 1] > upto[rows[groups[:-1]]]
        chosen: np.ndarray = np.where(told[:, None], spans, spans[:, :1])
        return chosen

    def _notified(self) -> np.ndarray:
        edges, marked = self.binding.send, np.zeros(self.arrays.n, np.uint8)
        assert isinstance(edges, PagedAdjacency)
        active, ends, total = self._frontier()
        if not total:
            return marked
        # Neighbouring rows that begin in one page are read together.
        first, last = edges.offsets.take(active), edges.offsets.take(active + active.dtype.type(1))
        page = first // edges.page_edges
        starts = np.flatnonzero(np.append(True, page[1:] != page[:-1]))
        stops = np.append(starts[1:], len(active))
        spans = np.stack([first[starts], last[stops - 1]], 1)
        upto = np.append(0, ends.astype(np.int64))

        def notify(i: int, held: Mapping[str, np.ndarray]) -> None:
            lo, hi = int(upto[starts[i]]), int(upto[stops[i]])
            for_blocks(
                frontier.notify, even_blocks(hi - lo) + lo, active, ends,
                edges.offsets.view(np.uint64), held["neighbours"], marked,
            )  # fmt: skip

        self._window.release()  # one window's memory is counted on
        self._notices.each(spans, notify)
        self._note(self._notices)
        return marked

    def _note(self, window: Window) -> None:
        """Add to the report what was read since the last time."""
        self.report.disk_bytes += window.read_bytes - self._noted.get(id(window), 0)
        self._noted[id(window)] = window.read_bytes

    @cached_property
    def _noted(self) -> dict[int, int]:
        return {}

    def _random_cost(self) -> float:
        """How many times as long a page takes by itself as in a pass: Garaph's k, measured once."""
        if self._slower is None:
            edges = self.binding.gather
            assert isinstance(edges, PagedAdjacency)
            self._window.release()  # one window's memory is counted on
            rates = rates_of(edges)
            self._slower = rates.random
            self.report.disk_bytes += rates.read_bytes
        return self._slower

    @cached_property
    def _groups(self) -> np.ndarray:
        """Bounds of groups of parts that come to about what a thread works on at a time."""
        edges: Any = self.binding.gather
        size = max(edges.span_edges // PART, 1)
        return np.append(np.arange(0, len(self._parts), size), len(self._parts))

    @cached_property
    def _window(self) -> Window:
        edges = self.binding.gather
        assert isinstance(edges, PagedAdjacency)
        named = self.arrays.lowered.arguments["gather_some"]
        read = {name.replace("column_", "column ", 1) for name in named} | {"neighbours"}
        arrays = {name: array for name, array in edges.arrays.items() if name in read}
        return Window(arrays, stays=True)

    @cached_property
    def _notices(self) -> Window:
        edges = self.binding.send
        assert isinstance(edges, PagedAdjacency)
        return Window({"neighbours": edges.arrays["neighbours"]})
