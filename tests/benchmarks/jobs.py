"""Whole jobs, Parquet to Parquet, beside what polars or DuckDB with SciPy take, each in a process of its own.

    python tests/benchmarks/jobs.py --jobs pairs edges --millions 5 20 --cores 2 16 --turns 3

*pairs* : pairs of strings of 16 characters (as `entities.py` makes them) to a cluster for each string.
*edges* : integer edges, R-MAT with 2^20 ids, to PageRank by 20 iterations.

Prints Markdown: medians of the turns, in which contenders take turns; seconds, processor seconds, and by how
many GB memory grows at most above the imports. Each process has done the job on a small file before.
``--old FOLDER`` : another version of this package to compare with.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ITERATIONS = 20
DAMPING = 0.85
_FILE = 2_500_000  # rows of a file of edges
_SMALL = 10_000  # rows of the job before


# -- contenders: each gives a function that does a job from a folder to a path -----------------------


def ours(job: str, cores: int) -> Callable[[Path, Path], None]:
    import dask

    import dask_graphgpu  # noqa: F401  registers .graph
    from dask_graphgpu.io.output import write_parquet
    from dask_graphgpu.io.tables.read import read_table

    dask.config.set({"scheduler": "threads", "num_workers": cores, "graphgpu.threads": cores})

    def run(folder: Path, out: Path) -> None:
        frame = read_table(str(folder))
        source, destination = frame.columns
        graph = frame.graph(source=source, destination=destination)
        if job == "pairs":
            answer = graph.weakly_connected_components()
        else:
            answer = graph.pagerank(max_iterations=ITERATIONS, tolerance=0)
        write_parquet(answer, out)

    return run


def polars(job: str, cores: int) -> Callable[[Path, Path], None]:
    os.environ["POLARS_MAX_THREADS"] = str(cores)
    import polars as pl

    def run(folder: Path, out: Path) -> None:
        frame = pl.read_parquet(f"{folder}/*.parquet")
        source, destination = frame.columns
        ids = pl.concat([frame[source], frame[destination].rename(source)]).unique()
        ids = ids.alias("id").to_frame().with_row_index("number")
        ends = frame.join(ids, left_on=source, right_on="id").rename({"number": "source"})
        ends = ends.join(ids, left_on=destination, right_on="id")
        found = scipy_answer(job, ends["source"].to_numpy(), ends["number"].to_numpy(), len(ids))
        ids.select("id", answer=pl.Series(found)).write_parquet(f"{out}.parquet")

    return run


def duckdb(job: str, cores: int) -> Callable[[Path, Path], None]:
    import duckdb as db
    import pyarrow as pa

    def run(folder: Path, out: Path) -> None:
        with db.connect() as here:
            here.execute(f"set threads = {cores}")
            here.execute(f"create view e as select * from '{folder}/*.parquet'")
            source, destination = (row[0] for row in here.execute("describe e").fetchall())
            here.execute(
                "create table ids as select id, cast(row_number() over () - 1 as uinteger) as number "
                f'from (select "{source}" as id from e union select "{destination}" from e)'
            )
            ends = here.execute(
                "select a.number as source, b.number as destination from e "
                f'join ids a on e."{source}" = a.id join ids b on e."{destination}" = b.id'
            ).fetchnumpy()
            ((size,),) = here.execute("select count(*) from ids").fetchall()
            found = scipy_answer(job, ends["source"], ends["destination"], size)
            here.register("found", pa.table({"answer": found}))
            here.execute(
                "copy (select id, answer from ids positional join found) "
                f"to '{out}.parquet' (format parquet)"
            )

    return run


def scipy_answer(job: str, source: Any, destination: Any, size: int) -> Any:
    """Labels of components, or ranks, of numbered edges."""
    import numpy as np
    import scipy.sparse as sp
    from scipy.sparse.csgraph import connected_components

    if job == "pairs":
        ones = np.ones(len(source), np.int8)
        matrix = sp.coo_array((ones, (source, destination)), shape=(size, size)).tocsr()
        return connected_components(matrix, directed=False)[1]
    out = np.bincount(source, minlength=size)
    shares = 1.0 / out[source]
    pull = sp.csr_array((shares, (destination, source)), shape=(size, size))
    rank, dangling = np.full(size, 1 / size), out == 0
    for _ in range(ITERATIONS):
        rank = (1 - DAMPING) / size + DAMPING * (pull @ rank + rank[dangling].sum() / size)
    return rank


CONTENDERS = {"ours": ours, "polars + SciPy": polars, "DuckDB + SciPy": duckdb}


# -- one process --------------------------------------------------------------------------------------


def child(contender: str, job: str, folder: Path, cores: int) -> None:
    """Do a job once on a small file and once on a large one; print what the second took."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    run = CONTENDERS[contender](job, cores)
    with tempfile.TemporaryDirectory() as temporary:
        run(folder / "few", Path(temporary) / "few")
        Path("/proc/self/clear_refs").write_text("5")  # the most memory is counted anew
        idle = _memory("VmRSS")
        start, used = time.perf_counter(), time.process_time()
        run(folder / "many", Path(temporary) / "many")
        row = {
            "s": time.perf_counter() - start,
            "processor s": time.process_time() - used,
            "GB": (_memory("VmHWM") - idle) / 1e9,
        }
    print(json.dumps(row))


def _memory(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024


# -- all of them --------------------------------------------------------------------------------------


def write(job: str, folder: Path, millions: float) -> None:
    """Write the data of a job: ``few`` rows, and ``many``."""
    from entities import write_pairs

    to = write_pairs if job == "pairs" else write_edges
    to(folder / "few", _SMALL)
    to(folder / "many", int(millions * 1e6))


def write_edges(folder: Path, rows: int) -> None:
    """R-MAT with a, b, c = .57, .19, .19, repeats and loops included."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir()
    rng = np.random.default_rng(1)
    for number, lo in enumerate(range(0, rows, _FILE)):
        ends = np.zeros((2, min(_FILE, rows - lo)), np.int64)
        for _ in range(20):
            drawn = rng.random(ends.shape[1])
            ends = 2 * ends + [drawn > 0.76, ((drawn > 0.57) & (drawn <= 0.76)) | (drawn > 0.95)]
        table = pa.table({"src": ends[0], "dst": ends[1]})
        pq.write_table(table, folder / f"{number}.parquet", row_group_size=1 << 20)


def measured(
    contender: str, job: str, folder: Path, cores: int, old: Path | None
) -> dict[str, float]:
    """What a process of its own prints."""
    paths = [str(old)] if old else []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, *sys.path[1:]])}
    command = [sys.executable, __file__, "--child", contender, job, str(folder), str(cores)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{contender} failed: {done.stderr[-2000:]}")
    row: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return row


def main() -> None:
    """Print a table row for each job, number of rows, number of cores and contender."""
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3], Path(sys.argv[4]), int(sys.argv[5]))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", nargs="*", default=["pairs", "edges"], choices=["pairs", "edges"])
    parser.add_argument("--millions", type=float, nargs="*", default=[5, 20], help="of rows")
    parser.add_argument("--cores", type=int, nargs="*", default=[2])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--contenders", nargs="*", default=[*CONTENDERS], choices=[*CONTENDERS])
    parser.add_argument("--old", type=Path, help="folder of another version of this package")
    options = parser.parse_args()
    sides = {name: (name, None) for name in options.contenders}
    sides |= {"ours before": ("ours", options.old)} if options.old else {}
    print("| job | million rows | cores | contender | s | processor s | GB |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for job in options.jobs:
        for millions in options.millions:
            with tempfile.TemporaryDirectory() as temporary:
                folder = Path(temporary)
                write(job, folder, millions)
                for cores in options.cores:
                    found: dict[str, list[dict[str, float]]] = {name: [] for name in sides}
                    for _ in range(options.turns):
                        for name, (contender, old) in sides.items():
                            found[name].append(measured(contender, job, folder, cores, old))
                    for name, rows in found.items():
                        middle = {
                            key: statistics.median(row[key] for row in rows) for key in rows[0]
                        }
                        cells = [job, f"{millions:g}", str(cores), name]
                        cells += [f"{middle[key]:.2f}" for key in ("s", "processor s", "GB")]
                        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
