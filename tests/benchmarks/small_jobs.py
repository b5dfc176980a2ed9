"""Jobs of small graphs, Parquet to Parquet, beside what they cannot do without, in one process.

    python tests/benchmarks/small_jobs.py --rows 1000 --times 200

*plain* : Arrow reads the file, the engine builds the graph and runs the method, Arrow writes the answer, each called
directly. *call* : ``write_parquet(read_table(path).graph(...).method(), out)``. *command* : ``dask graph METHOD``.

Prints Markdown: milliseconds, the least and the median of so many times, in which they take turns, and the least
milliseconds of the processor. Every file is read once, so that nothing is known of it before; where files lie
(``--folder``) decides what syncing them takes.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import dask_graphgpu  # noqa: F401  registers .graph
from dask_graphgpu.execute import execute
from dask_graphgpu.ingest import Needs
from dask_graphgpu.inputs import Frames
from dask_graphgpu.io.edges import read_edges
from dask_graphgpu.io.output import write_parquet
from dask_graphgpu.io.results import to_frame
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.io.tables.read import read_table
from dask_graphgpu.jobs.cli import graph as command_line
from dask_graphgpu.partition.build import build

WAYS = ("plain", "call", "command")
_WARM = 5  # jobs before


def write_edges(path: Path, rows: int, kind: str) -> None:
    """Random edges with about as many ids."""
    ends = np.random.default_rng(1).integers(0, rows, (2, rows))
    columns: Any = [[f"id-{v:012}" for v in end] for end in ends] if kind == "strings" else ends
    pq.write_table(pa.table({"src": columns[0], "dst": columns[1]}), path)


def plain(path: Path, method: str) -> Callable[[Path, Path], None]:
    """What reads, runs and writes without Dask, all that can be known before found out for ``path``."""
    from dask_graphgpu.algorithms import ALGORITHMS
    from dask_graphgpu.io.naming import named

    asked: Any = ALGORITHMS[method]()
    frames: Frames = read_table(str(path)).graph()._input  # type: ignore[assignment]
    schema: EdgeSchema = frames.schema
    columns = named(asked.result_columns(schema), schema, method, asked.columns)
    needs = Needs(by=asked.by)

    def run(source: Path, out: Path) -> None:
        read = pq.read_table(source).to_pandas(types_mapper=_arrow)
        chunk = read_edges(read, schema, needs.carried, "the file")
        partition = build([chunk], [], frames.layout)
        table, ids = execute(asked, partition, schema, needs, "auto", {})
        frame = to_frame(table, columns, ids, schema)
        pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), f"{out}.parquet")

    return run


def _arrow(kind: pa.DataType) -> Any:
    import pandas as pd

    return pd.ArrowDtype(kind)


def call(_: Path, method: str) -> Callable[[Path, Path], None]:
    def run(source: Path, out: Path) -> None:
        edges = read_table(str(source)).graph(source="src", destination="dst")
        write_parquet(getattr(edges, method)(), out)

    return run


def command(_: Path, method: str) -> Callable[[Path, Path], None]:
    def run(source: Path, out: Path) -> None:
        with contextlib.redirect_stderr(io.StringIO()):
            command_line.main([method, str(source), "--output", str(out)], standalone_mode=False)

    return run


def main() -> None:
    """Print a table row for each kind of ids, method and way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--ids", nargs="*", default=["integers", "strings"])
    parser.add_argument("--methods", nargs="*", default=["weakly_connected_components", "pagerank"])
    parser.add_argument("--folder", type=Path, help="where files lie; default: the system's")
    options = parser.parse_args()
    print("| ids | method | way | least ms | median ms | least processor ms |")
    print("| --- | --- | --- | --- | --- | --- |")
    for kind in options.ids:
        for method in options.methods:
            with tempfile.TemporaryDirectory(dir=options.folder) as temporary:
                found = measured(Path(temporary), kind, method, options.rows, options.times)
            for way in WAYS:
                passed, used = zip(*found[way], strict=True)
                figures = min(passed), statistics.median(passed), min(used)
                cells = [kind, method, way, *(f"{each:.1f}" for each in figures)]
                print("| " + " | ".join(cells) + " |")


def measured(
    folder: Path, kind: str, method: str, rows: int, times: int
) -> dict[str, list[tuple[float, float]]]:
    """Milliseconds of each way, by turns: passed, and of the processor."""
    first, given = folder / "edges.parquet", folder / "given"
    given.mkdir()
    write_edges(first, rows, kind)
    runs = {way: globals()[way](first, method) for way in WAYS}
    found: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
    for turn in range(_WARM + times):
        for way, run in runs.items():
            source = given / f"{way}-{turn}.parquet"
            shutil.copy(first, source)
            start, used = time.perf_counter(), time.process_time()
            run(source, folder / way)
            passed = time.perf_counter() - start, time.process_time() - used
            if turn >= _WARM:
                found[way].append((1000 * passed[0], 1000 * passed[1]))
            source.unlink()
    return found


if __name__ == "__main__":
    main()
