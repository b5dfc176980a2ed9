"""The format of saved graphs: what their manifests say, and the schema of a graph as JSON values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dask_graphgpu.errors import InvalidSavedGraph
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.store.manifest import Kind

SAVED = Kind(
    name="saved graph",
    version=2,
    suffix=".arrow",
    writer="Graph.save or `dask graph build`",
    again="save the graph again",
    error=InvalidSavedGraph,
)


def schema_to_json(schema: EdgeSchema, edge_columns: Sequence[str]) -> dict[str, Any]:
    """The schema, with the dtypes of those columns that a saved graph holds."""
    weight = [] if schema.weight is None else [schema.weight]
    held = dict.fromkeys([*schema.source, *schema.destination, *weight, *edge_columns])
    dtypes = dict(schema.dtypes)
    return {
        "source": list(schema.source),
        "destination": list(schema.destination),
        "weight": schema.weight,
        "directed": schema.directed,
        "dtypes": [[name, _dtype_to_text(dtypes[name])] for name in held],
        "ids": [_dtype_to_text(dtype) for dtype in schema.ids],
    }


def schema_from_json(given: dict[str, Any]) -> EdgeSchema:
    """`schema_to_json` undone."""
    schema = EdgeSchema(
        tuple(given["source"]),
        tuple(given["destination"]),
        given["weight"],
        tuple((name, _dtype_from_text(text)) for name, text in given["dtypes"]),
        tuple(_dtype_from_text(text) for text in given["ids"]),
    )
    return replace(schema, directed=given["directed"])


def _dtype_to_text(dtype: Any) -> str:
    """A pandas dtype with its backend, which its own name leaves open; of categories, theirs."""
    if isinstance(dtype, pd.CategoricalDtype):
        return _dtype_to_text(dtype.categories.dtype)
    if isinstance(dtype, pd.StringDtype):
        return f"string:{dtype.storage}:{'NaN' if dtype.na_value is np.nan else 'NA'}"
    if isinstance(dtype, pd.ArrowDtype):
        kind = dtype.pyarrow_dtype
        return f"arrow:{kind.value_type if pa.types.is_dictionary(kind) else kind}"
    return f"{'numpy' if isinstance(dtype, np.dtype) else 'masked'}:{dtype}"


def _dtype_from_text(text: str) -> Any:
    backend, name, *missing = text.split(":")
    if backend == "string":
        return pd.StringDtype(name, na_value=np.nan if missing == ["NaN"] else pd.NA)
    if backend == "arrow":
        return pd.ArrowDtype(pa.type_for_alias(name))
    return np.dtype(name) if backend == "numpy" else pd.api.types.pandas_dtype(name)
