"""The rows of a result for which a condition holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dask_graphgpu.io.result_table import schema_of
from dask_graphgpu.io.tables.where import Where


def kept(frame: Any, condition: str) -> Any:
    """The rows of a frame of pandas or Dask for which a condition, such as ``rank > 0.001``, holds; of Dask's lazily.

    Raises
    ------
    InvalidArgument
        It is no condition, or names a column that the frame has not; see `Where.of`.
    """
    if isinstance(frame, pd.DataFrame):
        return _kept(frame, Where.of(condition, schema_of(frame), "the result"))
    where = Where.of(condition, schema_of(frame._meta), "the result")
    return frame.map_partitions(_kept, where, meta=frame._meta)


def _kept(part: pd.DataFrame, where: Where) -> pd.DataFrame:
    table = pa.Table.from_pandas(part[where.columns], preserve_index=False)
    places = table.append_column("", pa.array(np.arange(len(part))))
    rows: pd.DataFrame = part.iloc[where.kept(places)[""].to_numpy()]
    return rows
