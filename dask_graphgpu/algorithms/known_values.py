"""Values from frames that may name ids that are no vertices, and from columns with gaps."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.vertex_values import FrameColumns, numbers_of, vertices_columns
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.partition import rowwise
from dask_graphgpu.partition.device.masks import count_true


def known_values(
    run: Run, name: str, value: FrameColumns, *, gaps: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Values in dense order, float64 of shape (num_vertices, columns), and which vertices the frame names.

    Ids that are no vertices are left out; the report says how many. Where ``gaps``, nulls are NaN. Collective.

    Raises
    ------
    InvalidArgument
        A value is null and may not be, or a vertex has two rows.
    """
    n, width = run.view.num_vertices, len(value.names)
    chunks = [chunk for chunk in run.frames[name] if len(chunk)]
    nulls = sum(int(each.sum()) for chunk in chunks for each in chunk.nulls.values())
    if nulls and not gaps:
        raise InvalidArgument(f"{name}: {nulls} of its values are null; fill or drop them")
    rows, known = numbers_of(run, [chunk.ids() for chunk in chunks])
    values = np.zeros((n, width), like=run.rows)
    times = np.zeros(n, np.uint64, like=run.rows)
    given = [values[:0]]
    for chunk in chunks:
        each = np.stack(
            [np.asarray(chunk.columns[c], np.float64, like=values) for c in value.names], axis=1
        )
        for column, null in chunk.nulls.items():
            each[np.asarray(null, like=values), value.names.index(column)] = np.nan
        given.append(each)
    rows, wanted = rows[known], np.concatenate(given)[known]
    ignored = len(known) - count_true(known)
    if run.ranks is None:
        add_at = run.view.rows.rowwise.add_at
    else:
        rows, (wanted,) = run.ids.to_owners(rows, [wanted])
        ignored, add_at = int(run.ranks.sum(ignored)), rowwise.add_at
    add_at(values, rows, wanted)
    add_at(times, rows, 1)
    if repeated := run.total(times > 1):
        raise InvalidArgument(
            f"{name}: {repeated} vertices have more than one row; drop the repeats"
        )
    run.report.ignored[name] = ignored
    return values, times > 0


def read_with_gaps(run: Run, name: str, value: Any) -> Any:
    """Values in dense order, float64 of shape (num_vertices, columns), NaN where there is none. Collective.

    Raises
    ------
    InvalidArgument
        A vertex has two rows.
    """
    if isinstance(value, FrameColumns):
        values, named = known_values(run, name, value, gaps=True)
        values[~named] = np.nan
        return values
    columns = map(run.view.vertex_columns.with_gaps, vertices_columns(value))
    known = [np.where(there, column.astype(np.float64), np.nan) for column, there in columns]
    return np.stack(known, axis=1)
