"""From pairs of string ids in Parquet to a cluster id a record in Parquet, on workers of this machine.

    python tests/benchmarks/entities.py [--pairs 5 10 20] [--workers 2]

Millions of pairs of 16 characters, of records in clusters of two to about ten; as many records as
pairs, but for a sixth. ``bytes a pair`` is what the workers' memory grows by at most, together, from
before to the top of the call, ``processor s`` what they compute, which other work on the machine
lengthens less than ``s``.
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
from distributed import Client, LocalCluster

import dask_graphgpu  # noqa: F401  registers .graph

_WIDTH = 16
_FILE = 2_500_000


def names(numbers: np.ndarray) -> pa.Array:
    """Strings of 16 characters in no order, a different one for each number."""
    mixed = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)
    text = np.empty((len(mixed), _WIDTH), np.uint8)
    for i in range(_WIDTH):
        text[:, i] = digits[(mixed >> np.uint64(4 * i)) & np.uint64(15)]
    offsets = pa.py_buffer(np.arange(0, _WIDTH * len(mixed) + 1, _WIDTH, dtype=np.int32))
    return pa.Array.from_buffers(pa.string(), len(mixed), [None, offsets, pa.py_buffer(text)])


def write_pairs(folder: Path, pairs: int) -> int:
    """Matches, each of a record with one a few places on, and their number of clusters."""
    folder.mkdir()
    rng = np.random.default_rng(1)
    order = rng.permutation(pairs)  # files hold pairs of everywhere
    for number, lo in enumerate(range(0, pairs, _FILE)):
        left = order[lo : lo + _FILE]
        # Clusters are runs of records; a tenth of the records begins one.
        begins = (left * np.int64(2654435761) >> np.int64(7)) % 10 == 0
        right = np.where(begins, left, left + 1)
        table = pa.table({"left": names(left), "right": names(right)})
        pq.write_table(table, folder / f"{number}.parquet", row_group_size=1 << 19)
    every = np.arange(pairs, dtype=np.int64)
    alone = (every * np.int64(2654435761) >> np.int64(7)) % 10 == 0
    return int(alone.sum()) + int(not alone[-1])


def _restart() -> int:
    """Let the system count the most memory anew; what there is now, in bytes."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024


def _most() -> int:
    return _status("VmHWM")


def _processor() -> float:
    """Seconds of processors so far."""
    return time.process_time()


def measure(
    client: Client, folder: Path, workers: int, pairs: int, clusters: int
) -> dict[str, str]:
    """One call, from files to files."""

    def call(output: str) -> float:
        start = time.perf_counter()
        graph = dd.read_parquet(folder / "pairs").graph(
            source="left", destination="right", ranks=workers
        )
        graph.weakly_connected_components().to_parquet(folder / output)
        return time.perf_counter() - start

    before, idle = client.run(_restart), sum(client.run(_processor).values())
    seconds = call("clusters")
    most, used = client.run(_most), sum(client.run(_processor).values()) - idle
    frame = dd.read_parquet(folder / "clusters")
    found = (
        (frame["component"] == frame["vertex"]).sum().compute()
    )  # its smallest id names a cluster
    assert found == clusters, f"{found} clusters, and there are {clusters}"
    grown = sum(most[worker] - before[worker] for worker in before)
    return {
        "million pairs": f"{pairs / 1e6:g}",
        "workers": str(workers),
        "s": f"{seconds:.1f}",
        "processor s": f"{used:.1f}",
        "processor us a pair": f"{used / pairs * 1e6:.2f}",
        "GB": f"{grown / 1e9:.2f}",
        "bytes a pair": f"{grown / pairs:.0f}",
    }


def main() -> None:
    """Print a table row for each number of pairs, each on new workers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=float, nargs="*", default=[5, 10, 20], help="millions")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    threads = max((os.cpu_count() or 1) // options.workers, 1)
    settings = {"dataframe.convert-string": True, "distributed.worker.memory.terminate": False}
    for i, millions in enumerate(options.pairs):
        pairs = int(millions * 1e6)
        with (
            tempfile.TemporaryDirectory() as temporary,
            dask.config.set(settings),
            LocalCluster(
                n_workers=options.workers, threads_per_worker=threads, dashboard_address=":0"
            ) as cluster,
            Client(cluster) as client,
        ):
            folder = Path(temporary)
            clusters = write_pairs(folder / "few", 10_000)
            (folder / "few").rename(folder / "pairs")
            measure(client, folder, options.workers, 10_000, clusters)  # compiles
            (folder / "pairs").rename(folder / "few")
            clusters = write_pairs(folder / "pairs", pairs)
            row = measure(client, folder, options.workers, pairs, clusters)
        if i == 0:
            print("| " + " | ".join(row) + " |")
            print("| " + " | ".join("---" for _ in row) + " |")
        print("| " + " | ".join(row.values()) + " |", flush=True)


if __name__ == "__main__":
    main()
