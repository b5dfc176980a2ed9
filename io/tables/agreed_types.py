"""One schema for files whose types differ."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import pyarrow as pa

from dask_graphgpu.io.schema import plain_type

_INDEX = re.compile(r"__index_level_\d+__")  # what pandas calls a column for rows that have no name


def agreed_schema(schemas: Sequence[pa.Schema], ids: Collection[str]) -> pa.Schema:
    """The columns of the first file in types that hold those of all files.

    ``ids`` : columns that stay integers where only some files have floats.
    """
    types: dict[str, list[pa.DataType]] = {}
    for schema in schemas:
        for field in schema:
            types.setdefault(field.name, []).append(field.type)
    agreed = {
        name: _common(kinds, name in ids) if len(set(kinds)) > 1 else kinds[0]
        for name, kinds in types.items()
    }
    fields = [field for field in schemas[0] if not _INDEX.fullmatch(field.name)]
    return pa.schema([(field.name, agreed[field.name]) for field in fields])


def _common(kinds: list[pa.DataType], integers: bool) -> pa.DataType:
    """A type that holds others; the first where there is none, and reading names the file then."""
    plain = list(dict.fromkeys(plain_type(kind) for kind in kinds if not pa.types.is_null(kind)))
    if integers:
        plain = [kind for kind in plain if not pa.types.is_floating(kind)] or plain
    if not plain:
        return kinds[0]
    try:
        fields = [pa.schema([("column", kind)]) for kind in plain]
        return pa.unify_schemas(fields, promote_options="permissive").field(0).type
    except pa.ArrowException:
        return plain[0]
