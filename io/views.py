"""Arrow's views of strings, of which it takes no rows and pandas knows nothing."""

from __future__ import annotations

import pyarrow as pa

from dask_graphgpu.io.schema import is_string_view


def without_views(table: pa.Table) -> pa.Table:
    """A table with large strings for views of strings."""
    schema = table.schema
    for place, field in enumerate(schema):
        if is_string_view(field.type):
            schema = schema.set(place, field.with_type(pa.large_string()))
    return table if schema is table.schema else table.cast(schema)
