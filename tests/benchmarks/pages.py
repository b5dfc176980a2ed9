"""PageRank, components, HITS and label propagation on edges in pages on disk, beside what the disk gives alone.

    python tests/benchmarks/pages.py [--edges 64000000] [--directories A [B C]] [--engine gpu --on-device 40MB]

The edges take four times the limit of memory on disk, and the page cache is passed by. ``disk`` is the
rate of plain reads of one large file there, taken before each run, ``run`` the bytes of a PageRank, of HITS or of
label propagation of a fixed number of iterations, or of as many runs of components, over its seconds, ``share`` the
one over the other: of several rounds, the one with the median share.
With ``--engine gpu`` edges go on to a GPU, which may take as much
of its memory as ``--on-device`` says.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dask
import dask.dataframe as dd
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import dask_graphgpu
from dask_graphgpu.partition.paged.huge_pages import aligned

_BLOCK = 4 << 20
_WAYS = [(_BLOCK, 1), (_BLOCK, 2), (1 << 20, 4), (1 << 20, 8)]
_DEGREE = 256


def write_edges(path: Path, edges: int) -> None:
    """Random edges, equally many a vertex, in row groups that fit small limits."""
    rng = np.random.default_rng(1)
    schema = pa.schema({"src": pa.int64(), "dst": pa.int64()})
    with pq.ParquetWriter(path, schema) as writer:
        for lo in range(0, edges, 1 << 20):
            rows = min(1 << 20, edges - lo)
            ends = rng.integers(0, max(edges // _DEGREE, 2), (2, rows))
            table = pa.table({"src": ends[0], "dst": ends[1]}, schema)
            writer.write_table(table, row_group_size=max(edges // 512, 1))


def disk_rate(folder: Path, size: int) -> float:
    """Bytes a second of reading a file from end to end past the page cache: the best of some ways.

    Large blocks one or two at a time, or smaller ones, more of them, into memory in huge pages, by
    which the disk is fastest.
    """
    path = folder / "sequential"
    data = np.random.default_rng(0).bytes(_BLOCK)
    blocks = max(size // _BLOCK, 1)
    with path.open("wb") as file:
        for _ in range(blocks):
            file.write(data)
        file.flush()
        os.fsync(file.fileno())
    best = 0.0
    file_number = os.open(path, os.O_RDONLY | os.O_DIRECT)
    memory = aligned(2 * _BLOCK)
    memory[:] = 1  # is there before the time is taken
    for block, depth in _WAYS:
        parts = range(blocks * _BLOCK // block)

        def read(i: int, block: int = block, parts: range = parts, depth: int = depth) -> None:
            into = memory[i * block : (i + 1) * block]
            for part in parts[i::depth]:
                os.preadv(file_number, [into], part * block)

        with ThreadPoolExecutor(depth) as readers:
            list(readers.map(read, range(depth)))
            start = time.perf_counter()
            list(readers.map(read, range(depth)))
            best = max(best, blocks * _BLOCK / (time.perf_counter() - start))
    os.close(file_number)
    path.unlink()
    return best


def measure(
    path: Path,
    edges: int,
    directories: list[Path],
    iterations: int,
    rounds: int,
    engine: str = "cpu",
    on_device: str | None = None,
) -> Iterator[dict[str, object]]:
    """Rates in bytes a second, and seconds, of each method."""
    for directory in directories:
        directory.mkdir(parents=True, exist_ok=True)
    settings = {
        # A quarter of what the edges take on disk.
        "graphgpu.host-memory-limit": edges,
        "graphgpu.page-bytes": 1 << (edges // 24).bit_length() - 1,
        "graphgpu.spill-directories": [str(directory) for directory in directories],
        "graphgpu.device-memory-limit": on_device,
    }
    with dask.config.set(settings):
        start = time.perf_counter()
        graph = dd.read_parquet(path).graph(duplicates="keep", engine=engine).persist()
        built = time.perf_counter() - start
        calls = {
            "pagerank": lambda n: graph.pagerank(tolerance=0, max_iterations=n).compute(),
            "components": lambda n: graph.weakly_connected_components().compute(),
            "hits": lambda n: graph.hits(tolerance=0, max_iterations=n).compute(),
        }
        if engine == "cpu":
            calls["label_propagation"] = lambda n: graph.label_propagation(n).compute()
        for name, call in calls.items():
            call(1)  # compiles
            taken = []
            for _ in range(rounds):
                disk = disk_rate(directories[0], 4 * edges)
                # As many passes, whatever a call has.
                seconds = size = passes = 0.0
                while passes < iterations:
                    call(iterations)
                    report = dask_graphgpu.last_report()
                    passes += len(report)
                    seconds += report["seconds"].sum()
                    size += report.attrs["disk_bytes"]
                taken.append((size / seconds / disk, disk, seconds / passes))
            share, disk, mean = sorted(taken)[rounds // 2]
            yield {
                "method": name,
                "directories": len(directories),
                "build s": built,
                "pass s": mean,
                "disk GB/s": disk / 1e9,
                "run GB/s": share * disk / 1e9,
                "share": share,
                "of all rounds": f"{min(taken)[0]:.2f} to {max(taken)[0]:.2f}",
            }


def main() -> None:
    """Print a table row for one directory, and one for all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", type=int, default=64_000_000)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--engine", default="cpu")
    parser.add_argument("--on-device", help="graphgpu.device-memory-limit")
    parser.add_argument("--directories", type=Path, nargs="*", help="default: three on one disk")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folders = options.directories or [Path(temporary) / str(i) for i in range(3)]
        path = Path(temporary) / "edges.parquet"
        write_edges(path, options.edges)
        first = True
        for chosen in (folders[:1], folders):
            given = options.iterations, options.rounds, options.engine, options.on_device
            for row in measure(path, options.edges, chosen, *given):
                if first:
                    print("| " + " | ".join(row) + " |")
                    print("| " + " | ".join("---" for _ in row) + " |")
                first = False
                told = [f"{v:.3f}" if isinstance(v, float) else str(v) for v in row.values()]
                print("| " + " | ".join(told) + " |", flush=True)


if __name__ == "__main__":
    main()
