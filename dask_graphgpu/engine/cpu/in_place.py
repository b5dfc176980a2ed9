"""Monotone programs on the CPU: values are improved where they stand, in near-far order or in rounds."""

from __future__ import annotations

import time
from functools import cached_property
from typing import Any

import numpy as np

from dask_graphgpu.engine.buckets import choose_delta, no_limit, raised, start_limit
from dask_graphgpu.engine.cpu.arrays import Arrays
from dask_graphgpu.engine.cpu.improving import Improving
from dask_graphgpu.engine.cpu.merge_path import Parts, edge_parts
from dask_graphgpu.engine.keeping import Keeper
from dask_graphgpu.engine.loop import overflow
from dask_graphgpu.engine.options import configured_direction
from dask_graphgpu.engine.state import State
from dask_graphgpu.kernels.cpu import frontier
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks, num_threads
from dask_graphgpu.report import Report

# Length of a list from which a round goes to the threads.
LONG_LIST = 1 << 12

# Edges of a stretch in near-far order below which the next one, before the state may be kept, is longer.
FEW_EDGES = 1 << 24

# Share of the edges that a list's vertices send over, above which a sweep over all in-edges is faster.
DENSE = 1 / 2

# Share of the vertices from which it is worth counting the edges of a list.
DENSE_LIST = 1 / 16


class InPlace(Improving):
    """One run of a monotone program: a state, and the vertices whose values are to be sent.

    Parameters
    ----------
    arrays, sources, cutoff, report
        As of `Improving`.
    targets : array, optional
        The run may end once the values of these are final.

    Attributes
    ----------
    frontier, num_active
        Those that send next, ``frontier[:num_active]``; in near-far order the near ones.
    num_far : int
        Length of the far list.
    limits : array of shape (2,)
        The priorities up to which vertices are near, and the lowest one of those that are far.
    """

    def __init__(
        self,
        arrays: Arrays,
        sources: np.ndarray | None,
        cutoff: Any,
        targets: np.ndarray | None,
        report: Report,
    ) -> None:
        super().__init__(arrays, sources, cutoff, report)
        self.edges = self.binding.send
        self.dtype = self.edges.neighbours.dtype
        n = arrays.n
        self.frontier = np.empty(n, self.dtype)
        self.queue = np.empty(n, self.dtype)
        self.num_active = len(self.start)
        self.frontier[: self.num_active] = self.start
        self.offsets = self.edges.offsets.view(np.uint64)
        self.targets = (
            np.empty(0, self.dtype) if targets is None else np.asarray(targets, self.dtype)
        )
        self.num_far = 0
        self.settled = 0

    def run(self, keeper: Keeper | None = None) -> State:
        """Run until no value improves; ``keeper`` gets the state whenever it is due."""
        if not self.ordered:
            self.relax(keeper)
            return self.result()
        delta = choose_delta(
            self.binding, self.arrays.state, self.arrays, self.start, self.whole, threads=num_threads()
        )  # fmt: skip
        self.begin_near_far(delta)
        until, buckets = no_limit(self.whole), 1
        if keeper is not None and not len(self.targets):
            until = self.limits[0].item()
        while True:
            read = self.read
            self.near_far(until)
            if until == no_limit(self.whole) or not self.num_far:
                return self.result()
            self.keep(keeper)
            if self.read - read < FEW_EDGES:
                buckets *= 2
            until = raised(self.limits[1].item(), buckets * delta, self.whole)

    @property
    def ordered(self) -> bool:
        """Whether values are sent in near-far order."""
        return self.program.priority is not None and configured_direction() == "auto"

    # -- near-far --------------------------------------------------------------------------------

    def begin_near_far(self, delta: Any) -> None:
        """Make the lists; ``delta`` is the width of a bucket."""
        n, start = self.arrays.n, self.start
        limit = start_limit(self.binding, self.arrays.state, start, delta, self.whole)
        self.delta = delta
        self.limits = np.array([limit] * 2, np.int64 if self.whole else np.float64)
        self.far, self.in_far = np.empty(n, self.dtype), np.zeros(n, np.uint8)

    def near_far(self, until: Any) -> None:
        """Send what is near, bucket after bucket, and leave that of a priority above ``until``."""
        arrays, kernel, status = self.arrays, self.arrays.lowered.kernel("near_far"), 2
        # The first list may be long; then serial rounds go on until a list is worth the threads.
        while status == 2:
            began, size = time.perf_counter(), self.num_active
            if self._is_long(size):
                marks = self.in_far, self.late
                read = self._block("near_block", marks, (self.limits[0].item(),))
                self.num_far = frontier.append_marked(self.in_far, self.far, self.num_far)
                self._report("near-far", 1, size, read, began)
                continue
            counts = np.array([size, self.now, 0, 0, self.num_far, self.settled], np.int64)
            status = kernel(
                self.frontier, self.queue, self.far, self.stamp, self.in_far, self.late, counts,
                self.limits, self.delta, until, self.cutoff, self.targets, self._most(),
                self.offsets, self.edges.neighbours, *arrays.named("near_far", self.edges),
            )  # fmt: skip
            self._take(counts)
            self.num_far, self.settled = int(counts[4]), int(counts[5])
            self._report("near-far", int(counts[3]), size, int(counts[2]), began)
            if status == 1:
                raise overflow(self.program, "compute")

    def arrive(self, vertices: np.ndarray, priorities: np.ndarray) -> None:
        """Have these send as well, whose values came from elsewhere; no limit stays above them."""
        least = priorities.min(initial=no_limit(self.whole)).item()
        limit = min(self.limits[0].item(), raised(least, self.delta, self.whole))
        self.limits[0] = limit
        near = priorities <= limit
        self.join(vertices[near])
        far = vertices[~near]
        far = far[self.in_far.take(far) == 0]
        self.in_far[far.astype(np.intp)] = 1
        self.far[self.num_far : self.num_far + len(far)] = far
        self.num_far += len(far)

    def join(self, vertices: np.ndarray) -> None:
        """Have vertices send next that would not so far."""
        end = self.num_active + len(vertices)
        self.frontier[self.num_active : end] = vertices
        self.num_active = end

    # -- rounds ----------------------------------------------------------------------------------

    def relax(self, keeper: Keeper | None = None) -> None:
        """Send in rounds until no value improves."""
        arrays, kernel = self.arrays, self.arrays.lowered.kernel("relax")
        while self.num_active:
            began, size = time.perf_counter(), self.num_active
            dense = self._is_dense(size)
            if dense or self._is_long(size):
                self._round(dense)
            else:
                counts = np.array([size, self.now, 0, 0], np.int64)
                most = max(size, min(self._most(), int(DENSE_LIST * arrays.n)))
                bad = kernel(
                    self.frontier, self.queue, self.stamp, self.late, counts, self.cutoff, most,
                    self.offsets, self.edges.neighbours, *arrays.named("relax", self.edges),
                )  # fmt: skip
                self._take(counts)
                self._report("push", int(counts[3]), size, int(counts[2]), began)
                if bad:
                    raise overflow(self.program, "compute")
            self.keep(keeper)

    def relax_once(self) -> None:
        """Send in one round."""
        if self.num_active:
            self._round(self._is_dense(self.num_active))

    def _round(self, dense: bool) -> None:
        """A round on threads, ``dense``: over all in-edges."""
        began, size = time.perf_counter(), self.num_active
        read = self._sweep() if dense else self._block("relax_block", (self.late,), ())
        self._report("pull" if dense else "push", 1, size, read, began)

    def _is_dense(self, size: int) -> bool:
        """Whether to look at all in-edges: only if they are there, and all that have values may send."""
        if (
            size < DENSE_LIST * self.arrays.n
            or self.dropping
            or self.program.active is not None
            or configured_direction() == "push"
            or not self.binding.has_gather
        ):
            return False
        return self._edges_of_frontier() > DENSE * self.edges.num_edges

    def _is_long(self, size: int) -> bool:
        return num_threads() > 1 and size > LONG_LIST

    def _most(self) -> int:
        """Longest list for a serial kernel."""
        return LONG_LIST if num_threads() > 1 else self.arrays.n

    def _take(self, counts: np.ndarray) -> None:
        """What a serial kernel left: after an odd number of rounds, the lists have changed places."""
        self.num_active, self.now = int(counts[0]), int(counts[1])
        if counts[3] % 2:
            self.frontier, self.queue = self.queue, self.frontier

    def _edges_of_frontier(self) -> int:
        return int(self.edges.degrees.take(self.frontier[: self.num_active]).sum())

    def _block(self, name: str, marks: tuple[Any, ...], limit: tuple[Any, ...]) -> int:
        """One round over the list on threads; return how many edges were read."""
        arrays, size = self.arrays, self.num_active
        active = self.frontier[:size]
        ends = np.cumsum(self.edges.degrees.take(active)).view(np.uint64)
        total = int(ends[-1])
        self.now += 1
        results = arrays.run(
            name, even_blocks(total), self.edges, active, ends, self.stamp, *marks, self.now,
            *limit, self.cutoff, self.offsets, self.edges.neighbours,
        )  # fmt: skip
        if any(results):
            raise overflow(self.program, "compute")
        self._list_stamped()
        return total

    def _sweep(self) -> int:
        """One round over all in-edges on threads; return how many there are."""
        edges, parts = self.binding.gather, self._parts
        self.now += 1
        results = self.arrays.run(
            "sweep", parts.blocks, edges, parts.rows, parts.edges, self.stamp, self.late, self.now,
            edges.offsets.view(np.uint64), edges.neighbours,
        )  # fmt: skip
        if any(results):
            raise overflow(self.program, "compute")
        self._list_stamped()
        return edges.num_edges

    @cached_property
    def _parts(self) -> Parts:
        return edge_parts(self.binding.gather.offsets)

    def _list_stamped(self) -> None:
        """Make the vertices stamped in this round the frontier."""
        blocks = even_blocks(self.arrays.n)
        found = for_blocks(frontier.count_stamped, blocks, self.stamp, self.now)
        places = dict(zip(blocks[:-1].tolist(), np.cumsum([0, *found]).tolist(), strict=False))

        def write(lo: int, hi: int) -> None:
            frontier.list_stamped(lo, hi, self.stamp, self.now, self.frontier, places[lo])

        for_blocks(write, blocks)
        self.num_active = sum(found)

    def _report(self, direction: str, rounds: int, size: int, edges: int, began: float) -> None:
        kernel = "near_far" if direction == "near-far" else "relax"
        self._note(direction, kernel, self.edges, (rounds, size, edges), began)
