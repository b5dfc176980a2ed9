"""Methods that look at the rows of both ends of edges, of a graph on disk: seconds, and bytes read.

    python tests/benchmarks/page_rows.py --scale 16 --edge-factor 64 --share 0.6

prints a Markdown table: for triangles, clustering coefficients of directed edges, and Jaccard coefficients of the ends
of 50,000 edges, the seconds of a call in memory, and on disk with a limit of so large a share of the bytes of all
edges in both directions, each the best of some; then the bytes that were read, over those of all edges. Answers are
compared with those in memory.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import pandas as pd
from graphs import rmat

from dask_graphgpu import last_report

PAIRS = 50_000


def best(graph: Any, call: Callable[[Any], Any], runs: int) -> tuple[float, Any]:
    """Seconds of the fastest run on a graph after one that is not counted, and the last answer."""
    call(graph)
    found = []
    for _ in range(runs):
        began = time.perf_counter()
        answer = call(graph)
        found.append(time.perf_counter() - began)
    return min(found), answer


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=int, default=16)
    parser.add_argument("--edge-factor", type=int, default=64)
    parser.add_argument("--share", type=float, default=0.6)
    parser.add_argument("--runs", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = rmat(given.scale, given.edge_factor, Path(folder)).path
        frame = pd.read_parquet(path, columns=["src", "dst"])
        pairs = frame.sample(min(PAIRS, len(frame)), random_state=1, ignore_index=True)
        calls: dict[str, tuple[bool, Callable[[Any], Any]]] = {
            "triangle_count": (False, lambda graph: graph.triangle_count()),
            "clustering_coefficient": (True, lambda graph: graph.clustering_coefficient()),
            "jaccard of pairs": (False, lambda graph: graph.jaccard(pairs)),
        }
        size = 2 * 4 * len(frame)
        limits = {
            "graphgpu.host-memory-limit": int(given.share * size),
            "graphgpu.page-bytes": 1 << 17,
            "graphgpu.spill-directories": str(Path(folder) / "pages"),
        }
        print(f"{len(frame):,} edges, a limit of {limits['graphgpu.host-memory-limit']:,} bytes\n")
        print("| method | in memory s | on disk s | read | passes |")
        print("| --- | --- | --- | --- | --- |")
        for name, (directed, call) in calls.items():
            seconds, wanted = best(frame.graph(directed=directed).persist(), call, given.runs)
            with dask.config.set(limits):
                on_disk, found = best(frame.graph(directed=directed).persist(), call, given.runs)
                told = last_report()
            pd.testing.assert_frame_equal(found, wanted, check_exact=True)
            read = told.attrs["disk_bytes"] / size
            print(
                f"| {name} | {seconds:.2f} | {on_disk:.2f} | {read:.2f} | {len(told)} |", flush=True
            )


if __name__ == "__main__":
    main()
