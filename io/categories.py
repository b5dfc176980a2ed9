"""Types of categories that Dask has not read: of what a frame is made from they can be known."""

from __future__ import annotations

from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
from dask.dataframe.dask_expr._expr import AsType
from dask.dataframe.dask_expr.io.parquet import ReadParquet

from dask_graphgpu.io.frames import has_unknown_categories


def with_types(frame: Any) -> Any:
    """The empty frame of a Dask frame, with empty categories of their type instead of unknown ones.

    Parquet says the type in its schema, and what becomes categories has it before. Dask itself tells
    what comes of them further on: it is asked about the same frame, made from empty ones. Where
    it cannot say the categories stay unknown.
    """
    expr = frame.expr
    try:
        for kind, types in ((ReadParquet, _in_parquet), (AsType, _before)):
            for node in list(expr.find_operations(kind)):
                made = node._meta.copy()
                for name, dtype in types(node).items():
                    made[name] = pd.Categorical([], categories=pd.Index([], dtype=dtype))
                if isinstance(made, pd.DataFrame):
                    expr = expr.substitute(node, dd.from_pandas(made, npartitions=1).expr)
        return expr._meta
    except Exception:  # of Dask, about empty frames
        return frame._meta


def _in_parquet(node: ReadParquet) -> dict[str, Any]:
    """Types of the categories that a reader gives, by its columns."""
    schema, found = node._dataset_info["schema"], {}
    for name in _categories(node._meta):
        kind = schema.field(name).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        found[name] = pd.StringDtype(na_value=np.nan) if text else np.dtype(kind.to_pandas_dtype())
    return found


def _before(node: AsType) -> dict[str, Any]:
    """Types of columns before they are cast to categories."""
    given = node.frame._meta
    if not isinstance(given, pd.DataFrame):
        return {}
    columns = _categories(node._meta)
    return {
        n: given[n].dtype for n in columns if not isinstance(given[n].dtype, pd.CategoricalDtype)
    }


def _categories(meta: Any) -> list[str]:
    """Columns with categories that are unknown or of objects, of which nothing is known."""
    if not isinstance(meta, pd.DataFrame):
        return []
    return [
        str(name)
        for name, dtype in meta.dtypes.items()
        if isinstance(dtype, pd.CategoricalDtype)
        and (has_unknown_categories(dtype) or dtype.categories.dtype == object)
    ]
