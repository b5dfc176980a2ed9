"""What a step has left in its output: rows, files and bytes."""

from __future__ import annotations

from dataclasses import dataclass

from pyarrow.parquet import read_metadata

from dask_graphgpu.io.output import local_path
from dask_graphgpu.jobs.steps import Step
from dask_graphgpu.loading import load


@dataclass(frozen=True)
class OutputSize:
    """An output: its rows (edges of a saved graph), its files and their bytes.

    ``vertices`` : of a saved graph.
    """

    rows: int
    files: int
    bytes: int
    vertices: int | None = None


def written(step: Step) -> OutputSize | None:
    """What is in the output of a step that is done; None: it has none."""
    if step.output is None:
        return None
    folder = local_path(step.output, "output")
    files = [path for path in folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    if step.algorithm == "build":
        plan = load(step.output).explain()
        return OutputSize(plan.rows or 0, len(files), size, plan.vertices)
    rows = sum(read_metadata(path).num_rows for path in files if path.suffix == ".parquet")
    return OutputSize(rows, len(files), size)
