"""The rows of a result for which a condition holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from dask.base import is_dask_collection

from dask_graphgpu.io.result_table import arrow_of, schema_of
from dask_graphgpu.io.tables.where import Where


def kept(frame: Any, condition: str) -> Any:
    """The rows of a frame for which a condition, such as ``rank > 0.001``, holds; of Dask frames lazily.

    Raises
    ------
    InvalidArgument
        It is no condition, or names a column that the frame has not; see `Where.of`.
    """
    if not is_dask_collection(frame):
        return _kept(frame, Where.of(condition, schema_of(frame), "the result"))
    where = Where.of(condition, schema_of(frame._meta), "the result")
    return frame.map_partitions(_kept, where, meta=frame._meta)


def _kept(part: Any, where: Where) -> Any:
    table = arrow_of(part[where.columns])
    places = table.append_column("", pa.array(np.arange(len(part))))
    return part.iloc[where.kept(places)[""].to_numpy()]
