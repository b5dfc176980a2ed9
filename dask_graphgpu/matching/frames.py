"""What is written back: a frame with other ids, and the report as a frame of the same kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

from dask_graphgpu.io.frames import on_device
from dask_graphgpu.io.results import ids_as
from dask_graphgpu.matching.columns import GroupColumns
from dask_graphgpu.matching.renaming import REPORT


def with_ids(frame: Any, ids: Sequence[pa.Array], columns: GroupColumns) -> Any:
    """A frame of pandas or cuDF with other ids of its groups; the rest is not copied."""
    made = frame.copy(deep=False)
    if on_device(frame):
        found = type(frame).from_arrow(pa.table(list(ids), list(columns.group)))
        found.index = frame.index
        for name in columns.group:
            made[name] = found[name]
        return made
    for name, values, dtype in zip(columns.group, ids, columns.dtypes, strict=True):
        column = pd.Series(ids_as(values, dtype, nullable=False))
        column.index = frame.index
        made[name] = column
    return made


def report_frame(report: Sequence[Sequence[pa.Array]], columns: GroupColumns, like: Any) -> Any:
    """The report as a frame, of pandas or cuDF as another is."""
    names = [_names(name, len(part), columns) for name, part in zip(REPORT, report, strict=True)]
    if on_device(like):
        arrays = [array for part in report for array in part]
        return type(like).from_arrow(pa.table(arrays, [name for part in names for name in part]))
    arrow = isinstance(columns.dtypes[0], pd.ArrowDtype)
    made = {}
    for name, shown, part in zip(REPORT, names, report, strict=True):
        for i, (column, values) in enumerate(zip(shown, part, strict=True)):
            if name in ("old", "new", "id"):
                made[column] = ids_as(values, columns.dtypes[i], nullable=True)
            else:
                made[column] = values.to_pandas(types_mapper=pd.ArrowDtype if arrow else None)
    return pd.DataFrame(made)


def _names(name: str, number: int, columns: GroupColumns) -> list[str]:
    return [name] if number == 1 else [f"{name}_{each}" for each in columns.group]
