"""Vertex ids that are written as text."""

from __future__ import annotations

import csv
import re
from typing import Any

from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.schema import EdgeSchema, is_integer

_INTEGER = re.compile(r"\s*[+-]?[0-9]+\s*")


def vertex_id(text: str, schema: EdgeSchema, name: str = "source") -> Any:
    """A vertex id written as text, in the type of the frame's ids.

    Several id columns are separated by commas, with quotes around what holds a comma, as in CSV.

    Raises
    ------
    InvalidArgument
        The text is no integer where ids are integers, or has too few or too many parts.
    """
    several = len(schema.ids) > 1
    try:
        parts = next(csv.reader([text])) if several else [text]
    except csv.Error as error:
        raise InvalidArgument(f"{name} {text!r} is no line of CSV: {error}") from None
    if len(parts) != len(schema.ids):
        raise InvalidArgument(
            f"{name} {text!r} has {len(parts)} parts; an id has {len(schema.ids)}, for "
            f"{','.join(schema.source)}: separate them with commas"
        )
    values = []
    for part, dtype in zip(parts, schema.ids, strict=True):
        try:
            if is_integer(dtype) and not _INTEGER.fullmatch(part):
                raise ValueError
            values.append(int(part) if is_integer(dtype) else part)
        except ValueError:  # also of a number with more digits than Python reads
            raise InvalidArgument(
                f"{name} {text!r} is not an integer, and the vertex ids of these edges are ({dtype})"
            ) from None
    return tuple(values) if several else values[0]
