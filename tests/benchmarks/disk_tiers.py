"""PageRank and components by both engines on one R-MAT graph whose edges lie on disk, beside the disk's own rate.

    python tests/benchmarks/disk_tiers.py [--scale 22] [--share 0.25] [--directories A [B C]]

The edges take four times the limit of memory on disk, and the page cache is passed by. They are made on
a GPU and written straight to pages, as building a large graph takes minutes. ``disk`` is the rate of plain
reads of a file of that size there (`pages.disk_rate`), taken between the runs of the engines, which take
turns; ``share`` the bytes of a run over its seconds over that: of several rounds, the median. What a run
reads once, for edges that stay on the device, is taken out by runs of two lengths. *anonymous* is how much
the process's own memory rose at most beyond what it was before the runs, over the limit.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import numpy as np
from pages import disk_rate
from tier_graphs import rmat

from dask_graphgpu import config
from dask_graphgpu.algorithms import pagerank
from dask_graphgpu.engine import paged, tiered
from dask_graphgpu.engine.gpu.sizes import bytes_of_vertices
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.paged.folder import SpillFolder
from dask_graphgpu.partition.paged.limits import Limits
from dask_graphgpu.partition.paged.rows import PagedRows, PagedView
from dask_graphgpu.partition.paged.sort import RowWriter
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

ENGINES = {"CPU": paged, "GPU": tiered}
RANKS = pagerank.power_program("float32", weighted=False, personal=False)


def on_disk(view: View, limits: Limits) -> PagedView:
    """The same undirected graph in pages."""
    rows, n = view.out, view.num_vertices
    made = RowWriter(n, rows.neighbours.dtype, {}, SpillFolder(limits.directories), limits)
    cuts = np.searchsorted(rows.offsets, np.arange(0, rows.num_edges, 1 << 24))
    for first, last in zip(cuts, [*cuts[1:], n], strict=True):
        lo, hi = rows.offsets[first], rows.offsets[last]
        made.append(
            int(first), Adjacency(rows.offsets[first : last + 1] - lo, rows.neighbours[lo:hi])
        )
    return PagedView(PagedRows(made.close(), directed=False), user_rank=view.user_rank)


class Anonymous:
    """The process's own memory, looked at every few milliseconds."""

    def __init__(self) -> None:
        self._before, self.most, self._ends = _anonymous(), 0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._ends.wait(0.005):
            self.most = max(self.most, _anonymous() - self._before)

    def end(self) -> int:
        """Bytes that it rose by at most."""
        self._ends.set()
        self._thread.join()
        return self.most


def _anonymous() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) << 10
    return 0


def methods(view: View) -> dict[str, Callable[[Any, int], Report]]:
    """PageRank, of so many iterations, and components, as often."""

    def ranks(engine: Any, passes: int) -> Report:
        report = Report("pagerank")
        state = engine.run(
            RANKS, view, RunOptions(constants={"tolerance": 0.0}, max_supersteps=passes,
            exact_supersteps=True, report=report),
        )  # fmt: skip
        _ = state[RANKS.first]
        return report

    def components(engine: Any, passes: int) -> Report:
        report = Report("components")
        for _ in range(passes):
            engine.components(view, report=report)
        return report

    return {"pagerank": ranks, "components": components}


def measure(
    view: View,
    directories: list[Path],
    share: float,
    rounds: int,
    passes: int,
    names: list[str] | None,
    engines: list[str],
) -> None:
    """Print a line for each method and engine."""
    size = view.out.neighbours.nbytes
    limit = size // 4
    page = min(config.num_bytes("page-bytes"), 1 << (limit // 24).bit_length() - 1)
    limits = Limits(limit, tuple(map(str, directories)), page)
    began = time.perf_counter()
    there = on_disk(view, limits)
    wrote = time.perf_counter() - began
    room = bytes_of_vertices(Binding(RANKS, there, {"tolerance": 0.0})) + int(share * size)
    with dask.config.set({"graphgpu.device-memory-limit": room}):
        for name, run in methods(there).items():
            if names and name not in names:
                continue
            found: dict[str, list[tuple[float, float, float]]] = {each: [] for each in engines}
            for each in engines:
                run(ENGINES[each], 1)  # compiles
            watch = Anonymous()
            for turn in range(rounds):
                disk = disk_rate(directories[0], size)
                for each in engines[:: 1 if turn % 2 else -1]:
                    took, read = [], []
                    for length in (1, 1 + passes):
                        began = time.perf_counter()
                        report = run(ENGINES[each], length)
                        took.append(time.perf_counter() - began)
                        read.append(report.disk_bytes)
                    # Of what is beyond the first pass, which also brings the resident edges.
                    seconds, size_of = took[1] - took[0], read[1] - read[0]
                    found[each].append((size_of / seconds / disk, disk, seconds / passes))
            anonymous = watch.end() / limit
            for each, taken in found.items():
                part, disk, seconds = sorted(taken)[len(taken) // 2]
                print(
                    f"| {name} | {each} | {len(directories)} | {seconds * 1e3:.0f} | {disk / 1e9:.2f} | "
                    f"{part * disk / 1e9:.2f} | {part:.2f} ({min(taken)[0]:.2f} to "
                    f"{max(taken)[0]:.2f}) | {anonymous:.2f} |",
                    flush=True,
                )
    print(f"({wrote:.1f} s to write {size / 1e9:.2f} GB in pages of {page >> 10} KiB)", flush=True)


def main() -> None:
    """One directory, then all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=int, default=22)
    parser.add_argument("--edge-factor", type=int, default=16)
    parser.add_argument("--share", type=float, default=0.1, help="of the edges, on the device")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--passes", type=int, default=4)
    parser.add_argument("--directories", type=Path, nargs="*", help="default: three on one disk")
    parser.add_argument("--methods", nargs="*", help="default: both")
    parser.add_argument("--engines", nargs="*", default=[*ENGINES], choices=[*ENGINES])
    given = parser.parse_args()
    view, _ = rmat(given.scale, given.edge_factor, weighted=False)
    print(f"R-MAT {given.scale}: {view.num_vertices:,} vertices, {view.num_edges:,} edges")
    print("| method | engine | directories | pass ms | disk GB/s | run GB/s | share | anonymous |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        folders = given.directories or [Path(temporary) / str(i) for i in range(3)]
        for chosen in (folders[:1], folders)[: len(folders)]:
            for folder in chosen:
                folder.mkdir(parents=True, exist_ok=True)
            measure(
                view, chosen, given.share, given.rounds, given.passes, given.methods, given.engines
            )


if __name__ == "__main__":
    main()
