"""Rows of a result as they are written to Parquet: types, encodings, and the stamp by which they are known as ours."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dask_graphgpu.io.frames import on_device

_SAMPLE = 1000  # floats that are looked at
# In the metadata of the files that we write: only those may be replaced.
STAMP = {b"dask_graphgpu": b"result"}
_ABOUT = b"dask_graphgpu.about"


def as_table(partition: Any, schema: pa.Schema) -> pa.Table:
    """Some rows with the types of all, the metadata of their schema, and the stamp."""
    table = arrow_of(partition, schema)
    metadata = {**(schema.metadata or {}), **(table.schema.metadata or {})}
    return stamped(table.replace_schema_metadata(metadata))


def arrow_of(frame: Any, schema: pa.Schema | None = None) -> pa.Table:
    """A frame of pandas or cuDF, without its index; with the types of a schema, where there is one."""
    if not on_device(frame):
        return pa.Table.from_pandas(frame, schema=schema, preserve_index=False)
    table = frame.to_arrow(preserve_index=False)
    return table if schema is None else table.cast(schema)


def stamped(table: pa.Table) -> pa.Table:
    """A table with the stamp."""
    return table.replace_schema_metadata({**(table.schema.metadata or {}), **STAMP})


def is_stamped(metadata: Any) -> bool:
    """Whether the footer of a file has the stamp."""
    return bool(STAMP.items() <= (metadata.metadata or {}).items())


def encoding_of(table: pa.Table) -> dict[str, Any]:
    """How columns are written: integers by their differences; a dictionary of floats, if they repeat, and of the rest.

    Ids ascend and labels repeat, so that differences are few bits: ids take less than half of the time that they take
    as they are, and hardly room. A dictionary of floats that are all different takes twice the time.
    """
    integers, repeating = {}, []
    for field in table.schema:
        if pa.types.is_integer(field.type):
            integers[field.name] = "DELTA_BINARY_PACKED"
        elif not pa.types.is_floating(field.type) or _repeats(table[field.name]):
            repeating.append(field.name)
    return {"use_dictionary": repeating, "column_encoding": integers}


def _repeats(column: pa.ChunkedArray) -> bool:
    """Whether fewer than half of a sample of the values are different ones."""
    sample = column.take(np.linspace(0, len(column) - 1, min(len(column), _SAMPLE)).astype(int))
    return bool(2 * pc.count_distinct(sample, mode="all").as_py() < len(sample))


def schema_of(empty: Any, about: Any = None) -> pa.Schema:
    """One schema for all files, so that a partition without rows or values has the types of the others.

    ``about`` : JSON values that `about_of` is to give.
    """
    schema = arrow_of(empty.iloc[:0]).schema
    for i, field in enumerate(schema):
        if pa.types.is_null(field.type):  # an object column: of ids, only strings come as objects
            schema = schema.set(i, field.with_type(pa.string()))
    if about is None:
        return schema
    return schema.with_metadata({**(schema.metadata or {}), _ABOUT: json.dumps(about)})


def about_of(metadata: Any) -> Any:
    """What a footer says of a result beside its columns; None: nothing."""
    found = (metadata.metadata or {}).get(_ABOUT)
    return None if found is None else json.loads(found)
