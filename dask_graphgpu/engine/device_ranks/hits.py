"""Hubs and authorities by power iteration on several GPUs, each adding up the rows of its own vertices.

References
----------
.. [1] Kleinberg. Authoritative sources in a hyperlinked environment. J. ACM 46 (1999).
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import cupy
import cupyx
import numpy as np

from dask_graphgpu.engine.cuda.wrappers import c_type
from dask_graphgpu.engine.device_ranks.border import DeviceBorder
from dask_graphgpu.engine.device_ranks.view import RankDeviceView, connected
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.loop import check_converged
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.kernels.cuda_build import Kernel
from dask_graphgpu.kernels.sizes import THREADS
from dask_graphgpu.partition.device.host import to_new_memory
from dask_graphgpu.partition.device.masks import any_true
from dask_graphgpu.partition.device.memory import require
from dask_graphgpu.partition.ranks.view import RankView
from dask_graphgpu.report import Report


def hits(view: RankView, tolerance: float, max_iterations: int, report: Report) -> tuple[Any, Any]:
    """Hub and authority score of every vertex, each with sum 1; as `engine.cpu.hits`. Collective.

    Returns
    -------
    arrays of float64, shape (num_vertices,)
        Right for ghosts too. On the host, but of a view that is `RankView.staying`.

    Notes
    -----
    An iteration is two passes over the edges of own vertices, after each of which the scores of the border travel, 8
    bytes a ghost. It is queued as one CUDA graph, and the host looks once whether scores still change. 24 bytes a
    vertex or ghost and two ids an own vertex stay with the share for the next run.
    """
    key = "hits", view.toward("out").rows, view.toward("in").rows
    with connected(view, key) as (border, made):
        scores = Scores(view, border) if made is None else made
        try:
            return _iterated(scores, view, tolerance, max_iterations, report)
        finally:
            border.leave(key, scores)


def _iterated(
    scores: Scores, view: RankView, tolerance: float, max_iterations: int, report: Report
) -> tuple[Any, Any]:
    scores.begin()
    change, before = np.inf, 0
    for _ in range(max_iterations):
        start = time.perf_counter()
        change, hubs = scores.iterate(before)
        before = 1 - before
        report.advance(
            "pull", supersteps=1, frontier=view.num_owned, edges=scores.edges,
            bytes=scores.edges * 12 + view.num_vertices * 64, seconds=time.perf_counter() - start,
        )  # fmt: skip
        if change < tolerance or not (hubs or scores.any_hub(before)):
            break
    else:
        check_converged(tolerance, max_iterations, change)
    hub, authority = scores.scaled(before)
    return (hub, authority) if view.stays else (to_new_memory(hub), to_new_memory(authority))


class Scores:
    """The scores of a share, and what an iteration needs; all ranks call it alike. Kept from one run to the next.

    They are kept as they were added up, with what those of each rank sum to: that of all ranks divides them.

    Attributes
    ----------
    edges : int
        Of own vertices, in both directions.
    """

    def __init__(self, view: RankView, border: DeviceBorder) -> None:
        self._link, self._border, self._ranks = border.link, border, view.ranks
        self._n, self._own = view.num_vertices, view.num_owned
        self._start = 1 / max(view.graph_vertices, 1)
        require(
            self._n * 24 + self._own * 2 * view.id_dtype.itemsize, "finding hubs and authorities"
        )
        self._into = _Rows(view, "out")  # along the edges: from hubs to authorities
        self._out = _Rows(view, "in") if view.directed else self._into
        self.edges = self._into.num_edges + self._out.num_edges
        self._hub = cupy.empty((2, self._n), np.float64)
        self._authority = cupy.empty(self._n, np.float64)
        # What each rank's sum to, of hubs twice, and of authorities; and by how much hubs have changed.
        self._every = cupy.zeros((4, view.ranks.size), np.float64)
        self._seen = cupyx.empty_pinned(self._every.shape, np.float64)
        self._told = cupy.zeros(1, np.float64)
        self._fold, self._scale = self._into.kernel("fold"), self._into.kernel("scale_here")
        self._changes = self._into.kernel("add_changes")
        self._blocks = self._into.blocks
        self._parts = cupy.empty(self._blocks, np.float64)
        self._steps = [
            self._link.recorded(partial(self._queue, before), lasts=True) for before in (0, 1)
        ]
        border.make_room([self._authority])
        self._ranks.barrier()  # to allocate waits for devices, and a peer's may wait for this one

    def forget(self) -> None:
        """End what was recorded."""
        for step in self._steps:
            step.forget()
        del self._steps  # they hold this

    def begin(self) -> None:
        """Equal hubs, which sum to 1."""
        self._hub[0].fill(self._start)
        self._every[0].fill(1 / self._ranks.size)

    def iterate(self, before: int) -> tuple[float, float]:
        """Make hubs of those ``before``, 0 or 1: the others. By how much they changed, and what they summed to."""
        self._steps[before]()
        self._every.get(out=self._seen, blocking=False)
        self._link.settle()
        return float(sum(self._seen[3].tolist())), float(sum(self._seen[1 - before].tolist()))

    def any_hub(self, which: int) -> bool:
        """Whether the hub score of any vertex is not 0."""
        return bool(self._ranks.max(int(any_true(self._hub[which, : self._own] != 0))))

    def scaled(self, which: int) -> tuple[Any, Any]:
        """Hubs and authorities that sum to 1, each in memory of its own."""
        found = []
        for values, every in (
            (self._hub[which], self._every[which]),
            (self._authority, self._every[2]),
        ):
            found.append(cupy.empty(self._n, np.float64))
            self._launch(
                self._scale, np.uint64(self._n), every, np.uint64(every.size), values, found[-1]
            )
        return found[0], found[1]

    def _queue(self, before: int) -> None:
        """An iteration."""
        hub, authority, every = self._hub, self._authority, self._every
        self._pass(self._into, hub[before], every[before], authority, every[2])
        self._pass(self._out, authority, every[2], hub[1 - before], every[1 - before])
        size = np.uint64(self._ranks.size)
        self._launch(
            self._changes, np.uint64(self._own), size, hub[before], every[before], hub[1 - before],
            every[1 - before], self._parts,
        )  # fmt: skip
        self._tell(every[3])

    def _pass(self, rows: _Rows, values: Any, every: Any, sums: Any, every_sum: Any) -> None:
        """Add up own vertices' neighbours, and tell the other ranks."""
        rows.add_up(values, sums)
        own, size = np.uint64(self._own), np.uint64(self._ranks.size)
        self._launch(rows.add_own, own, every, size, sums, self._parts)
        self._tell(every_sum)
        self._border.refresh([sums])

    def _tell(self, every: Any) -> None:
        """Gather the sums of all ranks, each of which has one of each block."""
        launch.flat(
            self._fold, THREADS, (self._parts, np.uint64(self._blocks), self._told), threads=THREADS
        )
        self._link.all_gather(self._told, every)

    def _launch(self, kernel: Kernel, *args: Any) -> None:
        launch.flat(kernel, self._blocks * THREADS, args, threads=THREADS)


class _Rows:
    """The edges over which sums come to own vertices; ``direction``: as of `RankView.toward`."""

    def __init__(self, view: RankView, direction: str) -> None:
        here = RankDeviceView.of(view.toward(direction))
        edges, weight = here.into, here.into.weight
        self.num_edges = edges.num_edges
        kind = c_type(np.dtype(np.uint8) if weight is None else weight.dtype)
        self._module = cuda("rank_hits", defines={**here.defines, "WEIGHT": kind})
        self.add_own, self._sum = self.kernel("add_own"), self.kernel("sum_own")
        self.blocks = launch.resident_blocks(self._sum)
        todo, counts = cupy.empty(view.num_owned, here.id_dtype), cupy.zeros(2, np.uint64)
        self._given = (
            edges.offsets, edges.neighbours, launch.or_null(weight), np.uint64(view.num_owned), todo,
            counts,
        )  # fmt: skip
        listed = edges.offsets, np.uint64(view.num_owned), todo, counts
        self._launch(self.kernel("list_own"), *listed)

    def kernel(self, name: str) -> Kernel:
        """One that waits for nothing when it is launched."""
        return launch.loaded(self._module.kernel(name))

    def add_up(self, values: Any, sums: Any) -> None:
        """Queue that own vertices' sums are made of values of their neighbours."""
        self._launch(self._sum, *self._given, values, sums)

    def _launch(self, kernel: Kernel, *args: Any) -> None:
        launch.flat(kernel, self.blocks * THREADS, args, threads=THREADS)
