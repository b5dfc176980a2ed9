"""Supersteps over pages: pull, page after page; notify-pull reads those pages only that matter.

What a run of a vertex program may be asked then, and the memory that it takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial

import numpy as np

from dask_graphgpu.engine.cpu.arrays import Arrays
from dask_graphgpu.engine.cpu.edges import rows_on_disk
from dask_graphgpu.engine.cpu.merge_path import PART, Parts
from dask_graphgpu.engine.cpu.synchronous import EdgesInMemory, Synchronous
from dask_graphgpu.engine.keeping import Keeper
from dask_graphgpu.engine.options import configured_direction
from dask_graphgpu.engine.paged.mid_superstep import Halfway
from dask_graphgpu.engine.paged.rates import rates_of
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.errors import EngineUnavailable
from dask_graphgpu.kernels.cpu import frontier
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.paged.rows import PagedRows
from dask_graphgpu.partition.paged.window import Window
from dask_graphgpu.report import Report

# Passes over all edges that notify-pull would have saved before rows are turned over for it: to
# turn them over writes and reads every edge twice.
TURN = 4


class EdgesOnDisk(EdgesInMemory):
    """How a superstep goes along edges that lie on disk.

    Parts are those of the edges in memory, and each is gathered in one go, so that sums are the same
    bit for bit.
    """

    _slower: float | None = None

    def __init__(self, arrays: Arrays, report: Report, keeper: Keeper | None = None) -> None:
        self._arrays, self._report, self._keeper = arrays, report, keeper
        self._halfway = Halfway(keeper)
        self._noted: dict[int, int] = {}

    def direction(self, superstep: Synchronous) -> str:
        binding = self._arrays.binding
        if superstep.forced != "auto":
            return superstep.forced
        share = superstep.active_edges / max(binding.graph_edges, 1)
        if share > 1 / 2 or share > 1 / (2 * self._random_cost()):
            return "pull"
        if not binding.has_send:
            edges = binding.graph_edges
            if binding.view.note_missed(edges) < TURN * edges:
                return "pull"
        return "notify-pull"

    def gather(self, superstep: Synchronous, kernel: str, marked: np.ndarray) -> tuple[int, bool]:
        parts, arrays = superstep.parts, self._arrays
        edges = rows_on_disk(arrays.binding.gather)
        # Bounds of groups of parts that come to about what a thread works on at a time.
        size = max(edges.span_edges // PART, 1)
        groups = np.append(np.arange(0, len(parts), size), len(parts))
        spans = np.stack([parts.edges[groups[:-1]], parts.edges[groups[1:]]], 1).astype(np.int64)
        if kernel == "gather_some":
            spans = _needed(spans, marked, parts, groups)
        halfway = self._halfway
        halfway.begin(len(spans))
        needed = halfway.needed(parts, groups)
        spans = np.where(needed[:, None], spans, spans[:, :1])
        offsets, emitted = edges.offsets.view(np.uint64), superstep.emitted
        into, write = superstep.gathered, partial(self._write, superstep, groups)

        def gather(i: int, held: Mapping[str, np.ndarray]) -> list[tuple[bool, int]]:
            within, lo = edges.among(held), int(groups[i])
            if not needed[i]:
                halfway.passed(i, bad=False, write=write)
                return []
            found: list[tuple[bool, int]] = arrays.run(
                kernel, even_blocks(int(groups[i + 1]) - lo, work=PART) + lo, within, parts.rows,
                parts.edges, offsets, within.neighbours, emitted, arrays.active, marked, *into,
            )  # fmt: skip
            halfway.passed(i, bad=any(bad for bad, _ in found), write=write)
            return found

        results = self._window.each(spans, gather)
        self._note(self._window)
        found = superstep.folded([block for of_group in results for block in of_group])
        halfway.end(superstep.messages, superstep.received)
        return found

    def _write(self, superstep: Synchronous, groups: np.ndarray) -> None:
        """Have the state before this superstep kept, with what there is of the messages."""
        arrays, parts = self._arrays, superstep.parts
        fold = partial(arrays.lowered.kernel("fold"), parts.rows)
        columns = self._halfway.columns(
            parts, groups, superstep.messages, superstep.received,
            lambda *into: bool(fold(*into, *superstep.partial)),
        )  # fmt: skip
        if columns is not None and self._keeper is not None:
            kept = superstep.kept() | columns
            self._keeper.write(arrays.superstep - 1, kept, arrays.aggregates)

    def resume(self, columns: Mapping[str, np.ndarray]) -> None:
        self._halfway.resume(columns)

    def release(self) -> None:
        if "_window" in vars(self):  # there was a pass
            self._window.release()

    def notified(self, superstep: Synchronous) -> np.ndarray:
        edges, marked = rows_on_disk(self._arrays.binding.send), np.zeros(self._arrays.n, np.uint8)
        active, ends, total = superstep.frontier()
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
        self._report.disk_bytes += window.read_bytes - self._noted.get(id(window), 0)
        self._noted[id(window)] = window.read_bytes

    def _random_cost(self) -> float:
        """How many times as long a page takes by itself as in a pass: Garaph's k, measured once."""
        if self._slower is None:
            self._window.release()  # one window's memory is counted on
            rates = rates_of(rows_on_disk(self._arrays.binding.gather))
            self._slower = rates.random
            self._report.disk_bytes += rates.read_bytes
        return self._slower

    @cached_property
    def _window(self) -> Window:
        named = self._arrays.lowered.arguments["gather_some"]
        read = {name.replace("column_", "column ", 1) for name in named} | {"neighbours"}
        edges = rows_on_disk(self._arrays.binding.gather)
        return Window({n: array for n, array in edges.arrays.items() if n in read}, stays=True)

    @cached_property
    def _notices(self) -> Window:
        edges = rows_on_disk(self._arrays.binding.send)
        return Window({"neighbours": edges.arrays["neighbours"]})


def _needed(spans: np.ndarray, marked: np.ndarray, parts: Parts, groups: np.ndarray) -> np.ndarray:
    """The spans, empty where no row is marked: the kernel reads no edge of such a row."""
    upto, rows = np.append(0, np.cumsum(marked, dtype=np.int64)), parts.rows.astype(np.int64)
    told = upto[rows[groups[1:]] + 1] > upto[rows[groups[:-1]]]
    chosen: np.ndarray = np.where(told[:, None], spans, spans[:, :1])
    return chosen


def check_direction() -> None:
    """Raise EngineUnavailable on ``graphgpu.direction`` "push"."""
    if configured_direction() == "push":
        raise EngineUnavailable(
            "graphgpu.direction is 'push', and the edges of this graph lie in pages on disk, which "
            "are pulled: use 'auto', 'pull' or 'notify-pull', or raise graphgpu.host-memory-limit"
        )


def check_memory(binding: Binding, needed: int) -> None:
    """Raise LimitTooSmall where what a run takes beside pages is more than is allowed."""
    rows = binding.view.rows
    assert isinstance(rows, PagedRows)
    needed += rows.limits.window_bytes(1 + len(binding.edges.columns))
    rows.limits.require(needed, f"the program on {binding.view.num_vertices:,} vertices")


def bytes_of_vertices(binding: Binding, *, keeps: bool = False) -> int:
    """What a run takes beside pages; ``keeps``: with checkpoints."""
    state = sum(dtype.itemsize for dtype in binding.dtypes.values())
    state += sum(binding.dtypes[name].itemsize for name in binding.program.changing)
    # Messages, what is sent, marks, degrees, offsets and counts of the rows.
    vertex = state + 2 * binding.message.itemsize + 4 + 3 * 8
    if keeps:  # what the rows have got in the middle of a superstep, and whether it is all
        vertex += binding.message.itemsize + 8 + 1
    return binding.view.num_vertices * vertex
