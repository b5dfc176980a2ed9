"""Breadth-first search over edges in host memory: each level by the rows of either side that are fewer.

References
----------
.. [1] Beamer, Asanovic, Patterson. Direction-optimizing breadth-first search. SC 2012.
.. [2] Min et al. EMOGI: efficient memory-access for out-of-memory graph-traversal in GPUs. VLDB 2020.
"""

from __future__ import annotations

import time
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine import hops, limits
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.copies import bring
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.options import configured_direction
from dask_graphgpu.engine.tiered.level_rows import FEW, IN_PLACE, LONG_ROWS, MOST_ROWS, edges_of
from dask_graphgpu.engine.tiered.programs import check_settings, run
from dask_graphgpu.engine.tiered.rows import TieredRows
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Of tier_bfs.cu: bytes of struct Search, and its first words.
_SEARCH_BYTES = 512
_WORDS = (
    "depth", "found", "pulls", "read", "crept", "passed", "walked", "behind", "surveyed",
    "of front", "over the link of front", "rows of front", "of left", "over the link of left",
)  # fmt: skip


def bfs(view: View, source: int, *, cutoff: int | None, targets: Any, report: Report) -> Any:
    """Hops from a source, as `engine.gpu.bfs`; ``targets`` do not end it earlier.

    Where the view has layers, it sweeps over them. In asynchronous rounds there is no ``cutoff``: InvalidArgument.

    Raises
    ------
    EngineUnavailable
        A direction other than "push", which keeps vertices without a level from looking for one.

    Notes
    -----
    A level of few edges is searched from the one before without the host, rows being read where they lie [2]_. For
    another one the rows of its vertices are brought, or where rows are in-edges too and these take less over the link,
    those of the vertices that have no level yet [1]_. See kernels/cuda/tier_bfs.cu.
    """
    if view.levels is not None:
        return hops.in_place(run, view, source, cutoff, report)
    if limits.configured_rounds() == "asynchronous":
        return hops.in_supersteps(run, hops.PROGRAM, view, source, cutoff, report)

    check_settings(
        "the graph needs more than graphgpu.device-memory-limit, and its edges come in parts",
        "raise the limit",
    )
    vertex, what = np.dtype(np.int32).itemsize, "the search"
    return TieredRows.run(
        view, "tier_bfs", {}, vertex, what, report,
        lambda rows: _searched(rows, view, source, cutoff, report),
    )  # fmt: skip


def _searched(rows: TieredRows, view: View, source: int, cutoff: int | None, report: Report) -> Any:
    here, tier, n = DeviceView.of(view), rows.tier, np.uint64(rows.n)
    level, ids = cupy.empty(rows.n, np.int32), here.id_dtype
    search, most = cupy.empty(_SEARCH_BYTES // 8, np.uint64), min(rows.n, MOST_ROWS)
    listed = cupy.empty(2 * (most + LONG_ROWS), ids)
    lists, no_lists = launch.struct([listed, most]), launch.struct([0, 0])
    edges = edges_of(tier)
    pulls = np.uint32(not view.directed and configured_direction() == "auto")
    transfer = rows.transfer
    few = np.uint64(FEW if transfer.reads else 0)
    last = np.uint64(2**64 - 1 if cutoff is None else cutoff)
    behind = np.uint64(view.num_edges - tier.cut.resident)
    go, stream = rows.along("level_part", level, search), cupy.cuda.get_current_stream()
    words, seen = tier.kept.take(len(_WORDS), np.uint64), cupy.cuda.Event(disable_timing=True)
    rows.over_vertices("start_search", edges, ids.type(source), level, search, lists)
    before, began = dict.fromkeys(_WORDS, 0), time.perf_counter()
    try:
        while True:
            rows.together("creep", edges, level, search, lists, last, few)
            rows.over_vertices("survey", edges, level, search, no_lists, shared=True)
            given = n, behind, pulls, level, search, rows.active
            rows.over_vertices("choose_rows", *given, shared=True)
            bring(search, words[: len(_WORDS)], stream)
            seen.record(stream)
            seen.synchronize()
            found = dict(zip(_WORDS, words.tolist(), strict=False))
            now = time.perf_counter()
            _note(report, before, found, ids.itemsize, rows.n, now - began)
            transfer.read((found["behind"] - before["behind"]) * ids.itemsize)
            before, began = found, now
            if not found["found"]:
                return rows.to_caller(level)
            crossing = found[f"over the link of {'left' if found['pulls'] else 'front'}"]
            if transfer.reads and crossing <= IN_PLACE:
                transfer.in_place(go, crossing)
            else:
                transfer.superstep(rows.active, go)
            rows.over_vertices("next_level", search, alone=1)
            rows.over_vertices("survey", edges, level, search, lists, shared=True)
    finally:
        stream.synchronize()  # what is on its way to the words
        tier.kept.give_back(words)


def _note(
    report: Report, before: dict[str, int], found: dict[str, int], ids: int, n: int, seconds: float
) -> None:
    """Note the parts of the level before, and levels without the host since."""
    done = {word: found[word] - before[word] for word in _WORDS}
    if before["found"]:
        report.advance(
            "pull" if before["pulls"] else "push", supersteps=1, frontier=before["found"],
            edges=done["read"], bytes=done["read"] * (ids + 4) + n * 16, seconds=seconds,
        )  # fmt: skip
        seconds = 0.0  # in those of the parts
    if done["crept"]:
        report.advance(
            "push", supersteps=done["crept"], frontier=done["passed"], edges=done["walked"],
            bytes=done["walked"] * (ids + 4), seconds=seconds,
        )  # fmt: skip
