"""How a superstep that pulls is launched: by rows, by blocks of sources, by shards."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.arrays import Arrays
from dask_graphgpu.engine.gpu.blocked import FAR_THREADS, Blocked, sizes
from dask_graphgpu.engine.gpu.blocked import THREADS as BLOCKED_THREADS
from dask_graphgpu.engine.gpu.shards import THREADS as SHARD_THREADS
from dask_graphgpu.engine.gpu.shards import Shards, shared_bytes
from dask_graphgpu.engine.gpu.worklists import PULL_THREADS, PullLists
from dask_graphgpu.engine.schedule import configured_gather, configured_replication

_RESIDENT = 2048  # threads that a multiprocessor holds

Launch = Callable[[], None]


class Gathers:
    """What `Superstep` knows of the edges that messages come along."""

    arrays: Arrays
    messages: Any
    marked: Any
    every: bool
    in_shards: bool
    in_blocks: bool
    emitted_or_none: Any
    launch: Callable[..., Launch]

    def _gather_steps(self, run: Any, directions: set[str], into: tuple[Any, Any]) -> list[Launch]:
        """The launches that put the messages to all vertices, or to those that are marked, together."""
        if self.in_shards:
            return [self._shards_step(run, into)]
        if self.in_blocks:
            return self._blocked_steps(run, self.emitted_or_none, into)
        return self._rows_steps(run, directions, into)

    # -- by rows ---------------------------------------------------------------------------------

    def _rows_steps(self, run: Any, directions: set[str], into: tuple[Any, Any]) -> list[Launch]:
        pull, of_parts, of_joins = self._pull_lists()
        kernels: list[tuple[str, tuple[Any, ...]]] = [("all", ())] if "pull" in directions else []
        if not self.every:
            kernels.append(("some", (self.arrays.active, self.marked)))
        steps = []
        for name, more in kernels:
            given = (run, pull, self.emitted_or_none, *more, *into)
            steps.append(self.launch(f"pull_{name}", of_parts, *given, threads=PULL_THREADS))
            if of_joins:
                steps.append(self.launch(f"join_{name}", of_joins, *given, threads=PULL_THREADS))
        return steps

    def _pull_lists(self) -> tuple[Any, int, int]:
        """Struct Pull of program_pull.cuh, and blocks that pull and that put parts together."""
        arrays = self.arrays
        edges = arrays.edges("gather")
        lists: PullLists = arrays.edge_view.made(
            ("pull lists", id(edges.offsets)), partial(PullLists.of, edges)
        )
        # RowValue: a value, its shadow and a flag.
        self.row_values = cupy.empty(3 * lists.num_parts, np.float64)
        pointers: tuple[Any, ...] = (
            edges.offsets, edges.neighbours, lists.rows, lists.part_row, lists.part_begin,
            lists.part_slot, self.row_values, lists.long_rows, lists.long_slots,
        )  # fmt: skip
        self._held = pointers
        long = lists.long_rows.size
        words = [*pointers, lists.num_parts, long, *lists.numbers]
        resident = _RESIDENT // PULL_THREADS * launch.num_multiprocessors()
        blocks = (-(-warps * 32 // PULL_THREADS) for warps in (lists.num_warps, long))
        of_parts, of_joins = (min(number, resident) for number in blocks)
        return launch.struct(words), of_parts, of_joins

    # -- by shards -------------------------------------------------------------------------------

    def _shards_step(self, run: Any, into: tuple[Any, Any]) -> Launch:
        given = (self.shards.struct(), self.emitted_or_none, self.arrays.active, *into)
        size: dict[str, Any] = {"threads": SHARD_THREADS, "shared": shared_bytes()}
        return self.launch("pull_shards", self.shards.num_items, run, *given, **size)

    @cached_property
    def shards(self) -> Shards:
        """The rows of `gather`, cut for accumulators of a message's size."""
        edges, replication = self.arrays.edges("gather"), configured_replication()
        capacity = shared_bytes() // self.messages.dtype.itemsize
        return self.arrays.edge_view.made(
            ("shards", id(edges.offsets), capacity, replication),
            partial(Shards.of, edges, capacity, replication),
        )

    # -- by blocks of sources --------------------------------------------------------------------

    def _takes_blocks(self) -> bool:
        """Make the blocks of sources, and room for what is sent. Not if memory is short, unless asked."""
        try:
            self.far_values = cupy.empty(self.blocked.num_values, self.messages.dtype)
        except MemoryError:
            if configured_gather() == "blocks":
                raise
            return False
        return True

    def _blocked_steps(
        self, run: Any, emitted: Any, into: tuple[Any, Any]
    ) -> list[Callable[[], None]]:
        """The launches of a gather by blocks of sources."""
        return self._blocked_in_two(run, emitted, into, 0, 0, [])

    def _blocked_in_two(
        self,
        run: Any,
        emitted: Any,
        into: tuple[Any, Any],
        split: int,
        spare: int,
        between: list[Launch],
    ) -> list[Launch]:
        """As `_blocked_steps`, where blocks of sources from ``split`` on are known after ``between``.

        ``spare`` : multiprocessors that are left to others until then. With a split of 0 there is
        nothing between.
        """
        item, blocked = self.messages.dtype.itemsize, self.blocked
        self.far_sums = cupy.empty(max(1, blocked.num_sums), np.float64)  # or of int64
        whole = launch.num_multiprocessors()
        resident = max(1, _RESIDENT // BLOCKED_THREADS) * whole
        early = max(1, whole - spare)
        self._senders = [(blocked.num_senders, blocked.sender_tiles)]
        if split:
            cuts = (0, split, early), (split, blocked.num_sources, blocked.num_senders)
            self._senders = [(cut[2], blocked.senders(*cut)) for cut in cuts]

        def launched(
            name: str,
            blocks: int,
            *args: Any,
            places: int = 0,
            threads: int = BLOCKED_THREADS,
            tiles: Any = blocked.sender_tiles,
        ) -> Callable[[], None]:
            shared = item * (places + 1) if places else 0
            size: dict[str, Any] = {"threads": threads, "shared": shared}
            given = blocked.struct(self.far_values, self.far_sums, tiles)
            return self.launch(name, blocks, run, given, *args, **size, source="program_blocked")

        def send(number: int, tiles: Any) -> Launch:
            sources = np.uint64(blocked.num_sources)
            return launched("send_far", number, emitted, sources, places=blocked.block, tiles=tiles)

        steps = [launched("sum_near", early, emitted, *into, places=blocked.block)]
        if blocked.num_far:
            sent = [send(*each) for each in self._senders]
            summed = launched("sum_far", resident, *into, places=blocked.room, threads=FAR_THREADS)
            steps += [*sent[:-1], *between, sent[-1], summed]
        else:
            steps += between
        if blocked.num_long:
            blocks = min(whole, -(-blocked.num_long * 32 // BLOCKED_THREADS))
            steps.append(launched("join_far", blocks, *into))
        return steps

    @cached_property
    def blocked(self) -> Blocked:
        """The rows of `gather`, by blocks of sources whose values fit shared memory."""
        edges, of = self.arrays.edges("gather"), sizes(self.messages.dtype.itemsize)
        return self.arrays.edge_view.made(
            ("blocked", id(edges.offsets), of), partial(Blocked, edges, *of)
        )
