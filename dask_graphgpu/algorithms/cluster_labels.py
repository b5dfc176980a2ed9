"""Arguments that give every vertex a cluster: an earlier result, or a vertices column."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.vertex_values import FrameColumns, dense_ids, numbers_by_row
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.frames import is_frame


def check_clusters(name: str, value: Any) -> None:
    """Raise InvalidArgument unless ``value`` can give every vertex a cluster."""
    if not (isinstance(value, FrameColumns | str) or is_frame(value)):
        raise InvalidArgument(
            f"{name} is a {type(value).__name__}; give a frame with the id column(s) and the cluster of each "
            "vertex, as results have them, or the name of a column of the vertices frame"
        )


def read_clusters(run: Run, name: str, value: Any) -> Any:
    """A number for each vertex that is here, int64, the same for those of one cluster on all ranks.

    Vertices that a frame does not name are alone. Collective.

    Raises
    ------
    InvalidArgument
        A vertex has two rows.
    UnknownVertex
        An id or a cluster is no vertex.
    """
    if isinstance(value, str):
        column = run.view.vertex_columns[value]
        if column.dtype.kind == "f":
            column = (column.astype(np.float64) + 0.0).view(np.int64)  # of both zeros the same
        return run.view.at_ghosts(column.astype(np.int64))
    names = [f"{name} vertex", f"{name} label"]
    if run.ranks is None:
        rows, labels = (dense_ids(run, each) for each in names)
    else:
        _, _, (numbers, labels) = numbers_by_row(run, names)
        rows, (labels,) = run.ids.to_owners(numbers, [labels])
    n = run.view.num_vertices
    named = np.zeros_like(run.rows, bool, shape=n)
    named[rows] = True
    repeated = len(rows) - int(named.sum())
    if run.ranks is not None:
        repeated = int(run.ranks.sum(repeated))
    if repeated:
        raise InvalidArgument(
            f"{name}: {repeated} of its rows name a vertex again; drop the repeats"
        )
    own = run.dense(np.arange(n, like=run.rows)).astype(np.int64)
    codes = own + run.num_vertices  # of those that are alone
    codes[rows] = labels
    return run.view.at_ghosts(codes)
