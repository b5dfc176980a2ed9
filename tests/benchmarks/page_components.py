"""Components of Parquet files beyond the memory limit in one call, each in a process of its own.

    python tests/benchmarks/page_components.py edges.parquet --limit 64MB --old FOLDER --turns 3

Prints Markdown: least of the turns, in which versions take turns; seconds, processor seconds, MB written to
disk, and by how many MB anonymous memory grows at most. Each process has done the job on a small part before.
``--old`` : another version of this package to compare with.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

_SMALL = 100_000  # rows of the job before


def child(path: str, limit: str) -> None:
    """Do the job once on few rows and once on all; print what the second took."""
    import dask
    import dask.dataframe as dd
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    import dask_graphgpu  # noqa: F401  registers .graph

    def job(read: str) -> int:
        frame = dd.read_parquet(read)
        source, destination = frame.columns[:2]
        graph = frame.graph(source=source, destination=destination)
        found = graph.weakly_connected_components().compute()
        return int(found["component"].nunique())

    with tempfile.TemporaryDirectory() as folder:
        dask.config.set(
            {"graphgpu.spill-directories": [folder], "scheduler": "synchronous"}
            | {"graphgpu.host-memory-limit": "1MB", "graphgpu.page-bytes": 4096}
        )
        few = Path(folder) / "few.parquet"
        pq.write_table(ds.dataset(path).head(_SMALL), few, row_group_size=1 << 12)
        dask.config.set({"graphgpu.host-memory-limit": "8MB"})
        job(str(few))
        dask.config.set({"graphgpu.host-memory-limit": limit, "graphgpu.page-bytes": 1 << 20})
        pa.default_memory_pool().release_unused()
        idle, peak, done = _status("RssAnon"), [0], threading.Event()

        def watch() -> None:
            while not done.wait(0.002):
                peak[0] = max(peak[0], _status("RssAnon"))

        thread = threading.Thread(target=watch, daemon=True)
        written, start, used = _written(), time.perf_counter(), time.process_time()
        thread.start()
        components = job(path)
        row = {
            "s": time.perf_counter() - start,
            "processor s": time.process_time() - used,
            "MB written": (_written() - written) / 1e6,
        }
        done.set()
        thread.join()
        row |= {"MB of memory": (peak[0] - idle) / 1e6, "components": components}
    print(json.dumps(row))


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024


def _written() -> int:
    lines = Path("/proc/self/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("wchar"))


def main() -> None:
    """Print a table row for each version."""
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path, help="a Parquet file, or a folder of them")
    parser.add_argument("--limit", required=True, help="graphgpu.host-memory-limit")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--old", type=Path, help="folder of another version of this package")
    options = parser.parse_args()
    sides = {"now": None} | ({"before": options.old} if options.old else {})
    found: dict[str, list[dict[str, float]]] = {name: [] for name in sides}
    for _ in range(options.turns):
        for name, old in sides.items():
            path = {} if old is None else {"PYTHONPATH": str(old)}
            command = [sys.executable, __file__, "--child", str(options.path), options.limit]
            done = subprocess.run(
                command, env=os.environ | path, capture_output=True, text=True, check=False
            )
            if done.returncode:
                raise SystemExit(f"{name} failed: {done.stderr[-2000:]}")
            found[name].append(json.loads(done.stdout.splitlines()[-1]))
    columns = [*found["now"][0]]
    print("| version | " + " | ".join(columns) + " |")
    print("| --- " * (len(columns) + 1) + "|")
    for name, rows in found.items():
        least = (f"{min(row[column] for row in rows):.2f}" for column in columns)
        print(f"| {name} | " + " | ".join(least) + " |", flush=True)


if __name__ == "__main__":
    main()
