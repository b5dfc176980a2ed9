"""The format of saved graphs: what their manifests say, and the schema of a graph as JSON values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dask_graphgpu.errors import InvalidEdges, InvalidSavedGraph
from dask_graphgpu.io.schema import EdgeSchema, arrow_id_type
from dask_graphgpu.store.manifest import Kind
from dask_graphgpu.store.shape import Each, Maybe, is_count, is_number, one_of

_ZONED = re.compile(r"timestamp\[(\w+), tz=(.+)\]")
_SIDE = one_of("source", "destination")
_ROWS = {"offsets": str, "neighbours": str, "columns": Each(str)}
_LAYERED = {**_ROWS, "starts": str, "sources": str, "seconds": is_number}
del _LAYERED["offsets"]

SAVED = Kind(
    name="saved graph",
    version=5,
    suffix=".arrow",
    writer="Graph.save or `dask graph build`",
    again="save the graph again",
    error=InvalidSavedGraph,
    content={
        "library": str,
        "fingerprint": str,
        "npartitions": lambda value: is_count(value) and value > 0,
        "source_files": Maybe({"listed": Each([str]), "files": Each([is_count])}),
        "graph": {
            "source": [str],
            "destination": [str],
            "weight": Maybe(str),
            "directed": bool,
            "dtypes": [[str]],
            "ids": [str],
            "edge_columns": [str],
            "vertex_columns": [str],
        },
        "layout": {
            "directed": bool,
            "duplicates": one_of("auto", "keep", "min", "max", "sum", "one"),
            "order": one_of("auto", "input", "degree"),
            "by": _SIDE,
            "layered": bool,
        },
        "counts": {"rows": is_count, "vertices": is_count, "edges": is_count},
        "ids": [str],
        "position": Maybe(str),
        "rank": Maybe(str),
        "given": _ROWS,
        "fault": Maybe({"message": str, "lost": bool}),
        "plain": bool,
        "ready": [
            {
                "rule": str,
                "columns": [str],
                "held": Each(_ROWS, _SIDE),
                "symmetric": Maybe(_ROWS),
                "layered": Maybe(_LAYERED),
            }
        ],
        "levels": Maybe({"root": int, "layers": is_count, "seconds": is_number, "level": str}),
        "as_given": Maybe(
            {
                "turned": Maybe(str),
                "places": str,
                "rows": str,
                "neighbours": str,
                "columns": Each(str),
            }
        ),
        "vertices": {
            "columns": Each(str),
            "missing": Each(is_count),
            "repeated": is_count,
            "known": Each(str),
            "listed": Maybe(str),
        },
        "updates": {
            "generation": is_count,
            "base": is_count,
            "rows": is_count,
            "vertices": is_count,
            "log": [
                {
                    "number": is_count,
                    "added": Maybe(str),
                    "removed": Maybe(str),
                    "rows": is_count,
                    "pairs": is_count,
                }
            ],
        },
    },
    file={"type": str, "length": is_count, "checksum": str},
)


def schema_to_json(schema: EdgeSchema, edge_columns: Sequence[str]) -> dict[str, Any]:
    """The schema, with the dtypes of those columns that a saved graph holds."""
    weight = [] if schema.weight is None else [schema.weight]
    held = dict.fromkeys([*schema.source, *schema.destination, *weight, *edge_columns])
    dtypes = dict(schema.dtypes)
    if not schema.carries_weight:  # of which nothing is held
        dtypes |= dict.fromkeys(weight, np.dtype(object))
    return {
        "source": list(schema.source),
        "destination": list(schema.destination),
        "weight": schema.weight,
        "directed": schema.directed,
        "dtypes": [[name, _dtype_to_text(dtypes[name])] for name in held],
        "ids": [_dtype_to_text(dtype) for dtype in schema.ids],
    }


def schema_from_json(given: dict[str, Any]) -> EdgeSchema:
    """`schema_to_json` undone.

    Raises
    ------
    ValueError, TypeError, NotImplementedError, ArrowException
        It is of no edges: types that there are not, or columns that do not fit each other.
    """
    source, destination, weight = given["source"], given["destination"], given["weight"]
    dtypes = {name: _dtype_from_text(text) for name, text in given["dtypes"]}
    ids = [_dtype_from_text(text) for text in given["ids"]]
    if not len(source) == len(destination) == len(ids) > 0:
        raise ValueError("an edge joins two ids of as many columns")
    for name in [*source, *destination, *([] if weight is None else [weight])]:
        if name not in dtypes:
            raise ValueError(f"there is no type of column {name!r}")
    for kind in ids:
        try:
            arrow_id_type(kind)
        except InvalidEdges as error:
            raise ValueError(str(error)) from None
    schema = EdgeSchema(
        tuple(source), tuple(destination), weight, tuple(dtypes.items()), tuple(ids)
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
    backend, _, name = text.partition(":")
    if backend == "string":
        name, _, missing = name.partition(":")
        return pd.StringDtype(name, na_value=np.nan if missing == "NaN" else pd.NA)
    if backend == "arrow":
        if zoned := _ZONED.fullmatch(name):
            return pd.ArrowDtype(pa.timestamp(*zoned.groups()))
        return pd.ArrowDtype(pa.type_for_alias(name))
    return np.dtype(name) if backend == "numpy" else pd.api.types.pandas_dtype(name)
