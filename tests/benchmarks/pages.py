"""PageRank on edges in pages on disk, beside what the disk gives when nothing else is done.

    python tests/benchmarks/pages.py [--edges 64000000] [--directories A [B C]]

The page cache is left out: pages are dropped from it when they were written and when they were read.
``disk`` is the rate of plain reads of one large file there, ``run`` the bytes of a PageRank (a fixed
number of iterations) over its seconds, ``share`` the one over the other.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

import dask
import dask.dataframe as dd
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import dask_graphgpu

_BLOCK = 4 << 20
_DEGREE = 64


def write_edges(path: Path, edges: int) -> None:
    """Random edges, equally many a vertex, in row groups that fit small limits."""
    rng = np.random.default_rng(1)
    schema = pa.schema({"src": pa.int64(), "dst": pa.int64()})
    with pq.ParquetWriter(path, schema) as writer:
        for lo in range(0, edges, 1 << 20):
            rows = min(1 << 20, edges - lo)
            ends = rng.integers(0, max(edges // _DEGREE, 2), (2, rows))
            table = pa.table({"src": ends[0], "dst": ends[1]}, schema)
            writer.write_table(table, row_group_size=1 << 17)


def disk_rate(folder: Path, size: int) -> float:
    """Bytes a second of reading a file from end to end, not from the page cache."""
    path = folder / "sequential"
    block = np.random.default_rng(0).bytes(_BLOCK)
    with path.open("wb") as file:
        for _ in range(max(size // _BLOCK, 1)):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    into, total = bytearray(_BLOCK), 0
    with path.open("rb", buffering=0) as file:
        start = time.perf_counter()
        while read := file.readinto(into):
            total += read
        seconds = time.perf_counter() - start
    path.unlink()
    return total / seconds


def measure(path: Path, edges: int, directories: list[Path], iterations: int) -> dict[str, float]:
    """Rates in bytes a second, and seconds."""
    for directory in directories:
        directory.mkdir(parents=True, exist_ok=True)
    settings = {
        # A quarter of what the edges take on disk, but for what the vertices need at least.
        "graphgpu.host-memory-limit": max(edges, 160 * (edges // _DEGREE) + 24_000_000),
        "graphgpu.page-bytes": 1 << 20,
        "graphgpu.spill-directories": [str(directory) for directory in directories],
    }
    disk = disk_rate(directories[0], 4 * edges)
    with dask.config.set(settings):
        start = time.perf_counter()
        graph = dd.read_parquet(path).graph(duplicates="keep").persist()
        built = time.perf_counter() - start
        graph.pagerank(tolerance=0, max_iterations=1).compute()  # compiles
        graph.pagerank(tolerance=0, max_iterations=iterations).compute()
        report = dask_graphgpu.last_report()
    rate = report.attrs["disk_bytes"] / report["seconds"].sum()
    return {
        "directories": len(directories),
        "build s": built,
        "superstep s": report["seconds"].mean(),
        "disk GB/s": disk / 1e9,
        "run GB/s": rate / 1e9,
        "share": rate / disk,
    }


def main() -> None:
    """Print a table row for one directory, and one for all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", type=int, default=64_000_000)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--directories", type=Path, nargs="*", help="default: three on one disk")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folders = options.directories or [Path(temporary) / str(i) for i in range(3)]
        path = Path(temporary) / "edges.parquet"
        write_edges(path, options.edges)
        for i, chosen in enumerate([folders[:1], folders]):
            row = measure(path, options.edges, chosen, options.iterations)
            if i == 0:
                print("| " + " | ".join(row) + " |")
                print("| " + " | ".join("---" for _ in row) + " |")
            print("| " + " | ".join(f"{value:.3f}" for value in row.values()) + " |", flush=True)


if __name__ == "__main__":
    main()
