"""Jobs on a cluster of processes of this machine: one rank, and a rank on each worker.

    python tests/benchmarks/cluster_jobs.py --millions 1 5 --workers 1 2 --ranks 1 2 --turns 3

Pairs of strings (as `entities.py` makes them) to a cluster for each, Parquet to Parquet. Prints Markdown: the least of
the turns, seconds and processor seconds of all processes (client, workers, nannies), and bytes of task results that
Dask moved between workers. A worker has one thread. No workers: one rank, without a cluster, on one thread.
``--keep-memory`` : have the allocator of the workers always keep what is given back, which Dask has it return at once;
ranks do so while they are at work.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import distributed
import psutil
from entities import write_pairs

import dask_graphgpu  # noqa: F401  registers .graph
from dask_graphgpu.io.output import write_parquet
from dask_graphgpu.io.tables.read import read_table

_SMALL = 10_000  # rows of the job before
# Settings of glibc, of which the second one would else be small for as long as the first is given.
KEEP = {"MALLOC_TRIM_THRESHOLD_": 1 << 32, "MALLOC_MMAP_THRESHOLD_": 1 << 25}


@contextmanager
def cluster(workers: int) -> Any:
    """A client of a cluster of so many processes; None without any."""
    if not workers:
        with dask.config.set({"scheduler": "threads", "graphgpu.threads": 1}):
            yield None
        return
    given = {"n_workers": workers, "threads_per_worker": 1, "memory_limit": 0}
    with (
        distributed.LocalCluster(dashboard_address=None, **given) as made,
        distributed.Client(made) as client,
    ):
        yield client


def job(folder: Path, out: Path, ranks: int) -> None:
    frame = read_table(str(folder))
    source, destination = frame.columns
    graph = frame.graph(source=source, destination=destination, ranks=ranks)
    write_parquet(graph.weakly_connected_components(), out)


def processor_seconds() -> float:
    """Of this process and of all that it has started and that run."""
    here = psutil.Process()
    times = [each.cpu_times() for each in (here, *here.children(recursive=True))]
    return sum(each.user + each.system for each in times)


def moved(client: Any) -> int:
    """Bytes of results that workers have sent each other."""
    if client is None:
        return 0

    def sent(dask_worker: Any) -> int:
        return int(dask_worker.transfer_outgoing_bytes_total)

    return sum(client.run(sent).values())


def measured(folder: Path, workers: int, ranks: int, turns: int) -> dict[str, float]:
    """The least of the turns of each figure."""
    rows = []
    with cluster(workers) as client, tempfile.TemporaryDirectory() as temporary:
        job(folder / "few", Path(temporary) / "few", ranks)
        for _ in range(turns):
            start, used, sent = time.perf_counter(), processor_seconds(), moved(client)
            job(folder / "many", Path(temporary) / "many", ranks)
            taken = time.perf_counter() - start
            rows.append((taken, processor_seconds() - used, (moved(client) - sent) / 1e6))
    seconds, processor, megabytes = (min(column) for column in zip(*rows, strict=True))
    return {"s": seconds, "processor s": processor, "MB moved": megabytes}


def main() -> None:
    """Print a table row for each size and cluster."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--millions", type=float, nargs="*", default=[1, 5], help="of pairs")
    parser.add_argument("--workers", type=int, nargs="*", default=[0, 1, 2, 2])
    parser.add_argument("--ranks", type=int, nargs="*", default=[1, 1, 1, 2], help="beside workers")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--keep-memory", action="store_true")
    options = parser.parse_args()
    if options.keep_memory:
        dask.config.set({"distributed.nanny.pre-spawn-environ": KEEP})
    print("| million pairs | workers | ranks | s | processor s | MB moved |")
    print("| --- | --- | --- | --- | --- | --- |")
    for millions in options.millions:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            write_pairs(folder / "few", _SMALL)
            write_pairs(folder / "many", int(millions * 1e6))
            for workers, ranks in zip(options.workers, options.ranks, strict=True):
                found = measured(folder, workers, ranks, options.turns)
                cells = [f"{millions:g}", str(workers), str(ranks)]
                cells += [f"{found['s']:.2f}", f"{found['processor s']:.2f}"]
                print("| " + " | ".join([*cells, f"{found['MB moved']:.0f}"]) + " |", flush=True)


if __name__ == "__main__":
    main()
