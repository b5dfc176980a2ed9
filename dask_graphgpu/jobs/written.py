"""What a step has left in its output: rows, files and bytes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dask_graphgpu.io.objects.object_folder import ObjectFolder
from dask_graphgpu.io.output import num_rows
from dask_graphgpu.io.place import Place
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


def written(algorithm: str, output: Place) -> OutputSize:
    """What is in the output of a step that is done."""
    sizes = output.all_sizes() if isinstance(output, ObjectFolder) else _sizes(output)
    if algorithm == "build":
        plan = load(output).explain()
        return OutputSize(plan.rows or 0, len(sizes), sum(sizes), plan.vertices)
    return OutputSize(num_rows(output), len(sizes), sum(sizes))


def _sizes(folder: Path) -> list[int]:
    """Bytes of the files in a local folder."""
    return [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
