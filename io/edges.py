"""One partition of an edge frame, checked and turned into codes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dask_graphgpu.io.columns import (
    check_kind,
    check_text,
    column_of,
    id_array,
    number_array,
    weight_array,
)
from dask_graphgpu.io.frames import to_host
from dask_graphgpu.io.schema import (
    OR_NO_WEIGHTS,
    EdgeSchema,
    id_type,
    is_number,
    value_type,
)
from dask_graphgpu.io.times import is_time
from dask_graphgpu.io.views import without_views
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.chunk import EdgeChunk, UncodedEdges
from dask_graphgpu.partition.distinct import distinct
from dask_graphgpu.partition.id_table import IdTable
from dask_graphgpu.partition.ids import Names, common_type, distinct_rows
from dask_graphgpu.partition.repeats import Repeats


@overload
def read_edges(
    frame: pd.DataFrame | pa.Table,
    schema: EdgeSchema,
    columns: Sequence[str],
    where: str,
    table: IdTable | None = None,
) -> EdgeChunk: ...


@overload
def read_edges(
    frame: pd.DataFrame | pa.Table,
    schema: EdgeSchema,
    columns: Sequence[str],
    where: str,
    table: IdTable | None,
    repeats: Repeats | None,
) -> EdgeChunk | UncodedEdges: ...


def read_edges(
    frame: pd.DataFrame | pa.Table,
    schema: EdgeSchema,
    columns: Sequence[str],
    where: str,
    table: IdTable | None = None,
    repeats: Repeats | None = None,
) -> EdgeChunk | UncodedEdges:
    """Check a partition of the edge frame and encode its ids.

    Parameters
    ----------
    frame : pandas.DataFrame or pyarrow.Table
        Or cuDF's, whose columns are copied to the host.
    columns : sequence of str
        What an edge carries: "weight" (the schema's weight column) and names of other columns.
    table
        Of the ids of several partitions in one column: where these are not coded by their distance, codes are its
        own, and `named` gives the chunk its names.
    repeats
        Of these ids: as long as they are few, strings stay as they are.

    Raises
    ------
    InvalidEdges
        Nulls, values that the declared type does not hold, or damaged text. What is wrong with
        weights is said by the chunk's ``fault``.
    """
    began = time.time()
    frame = without_views(frame) if isinstance(frame, pa.Table) else to_host(frame)
    declared = dict(schema.dtypes)
    ids_given = {name: column_of(frame, name) for name in (*schema.source, *schema.destination)}
    if not len(frame):  # readers give empty partitions any dtype
        return no_edges(schema, columns)
    for name, column in ids_given.items():
        check_kind(column, name, declared[name], where)
    source, destination = (
        [id_array(ids_given[name], name, where, declared[name]) for name in side]
        for side in (schema.source, schema.destination)
    )
    uncoded = repeats is not None and repeats.are_few(source[0], destination[0])
    if uncoded:
        check_text((source[0], destination[0]), _text_of(schema), where)
    else:
        (source_codes, destination_codes), ids = encode([source, destination], table)
        check_text(ids.table or (), _text_of(schema), where)
    carried, fault = {}, None
    for name in columns:
        stored = schema.weight if name == "weight" else name
        assert stored is not None
        column = column_of(frame, stored)
        given = column, stored, where, declared[stored]
        if name == "weight":
            weight, fault = weight_array(*given)
            carried[name] = _narrowed(weight)
            continue
        check_kind(column, stored, declared[stored], where)
        instead = OR_NO_WEIGHTS if stored == schema.weight else ""
        carried[name] = number_array(*given, instead)
    read = began, time.time()
    if uncoded:
        return UncodedEdges(source[0], destination[0], carried, fault, read)
    return EdgeChunk(source_codes, destination_codes, ids, carried, fault, read)


def named(read: Sequence[tuple[Any, str]], table: IdTable, schema: EdgeSchema) -> list[Any]:
    """Chunks, and where each comes from: those with codes of the table get names, its ids in ascending order.

    Raises
    ------
    InvalidEdges
        Damaged text.
    """
    given = [(chunk, where) for chunk, where in read if chunk.names.pending]
    if not given:
        return [chunk for chunk, _ in read]
    ids = table.distinct(
        [codes for chunk, _ in given for codes in (chunk.source, chunk.destination)]
    )
    if not all(for_blocks(_is_sound, even_blocks(len(ids), work=8), ids)):
        for chunk, where in given:
            used = distinct(np.concatenate([chunk.source, chunk.destination]))
            check_text((ids.take(pa.array(used)),), _text_of(schema), where)
    names = Names((ids.type,), len(ids), table=(ids,), ascending=True)
    return [replace(chunk, names=names) if chunk.names.pending else chunk for chunk, _ in read]


def _is_sound(lo: int, hi: int, texts: pa.Array) -> bool:
    """Whether some texts are UTF-8."""
    try:
        texts[lo:hi].validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _text_of(schema: EdgeSchema) -> str:
    return f"text of the id columns {[*schema.source, *schema.destination]}"


def encode(
    sides: Sequence[Sequence[pa.Array]], shared: IdTable | None = None
) -> tuple[list[np.ndarray], Names]:
    """Give ids codes: several tables of ids over one set of names.

    Integers whose range fits 32 bits are coded by their distance from the smallest; everything
    else by a table of the distinct ids, ``shared`` where it is of their type.
    """
    width = len(sides[0])
    types = tuple(
        common_type([_value_type(side[k]) for side in sides], "sources and destinations")
        for k in range(width)
    )
    arrays = [
        [
            side[k]
            if pa.types.is_dictionary(side[k].type) or side[k].type == types[k]
            else side[k].cast(types[k])
            for side in sides
        ]
        for k in range(width)
    ]
    if width == 1 and pa.types.is_integer(types[0]):
        coded = _encode_range(arrays[0], types[0])
        if coded is not None:
            return coded
    if shared is not None and types == (shared.kind,):
        return [shared.codes(each) for each in arrays[0]], Names(types, 0)
    table, codes = distinct_rows(arrays)
    names = Names(types, len(table[0]), table=tuple(table))
    return [part.astype(np.uint32, copy=False) for part in codes], names


def _value_type(values: pa.Array) -> pa.DataType:
    return values.type.value_type if pa.types.is_dictionary(values.type) else values.type


def _encode_range(
    arrays: Sequence[pa.Array], kind: pa.DataType
) -> tuple[list[np.ndarray], Names] | None:
    """Codes of integers by distance from the smallest; None when they do not fit 32 bits."""
    if not all(map(len, arrays)):
        return None
    extremes = [pc.min_max(a).as_py() for a in arrays]
    first, last = min(e["min"] for e in extremes), max(e["max"] for e in extremes)
    if last - first >= 2**32:
        return None
    # Distances of less than 2**32 come out right of their lowest 32 bits alone.
    codes = [np.asarray(a).astype(np.uint32) for a in arrays]
    for code in codes:
        if first:
            code -= np.uint32(first % 2**32)
    return codes, Names((kind,), last - first + 1, first=first)


def _narrowed(weight: np.ndarray) -> np.ndarray:
    """64-bit integers in 32 bits where they fit: half of what every pass over the edges moves."""
    if weight.dtype not in (np.int64, np.uint64):
        return weight
    short = weight.min() >= 0 and weight.max() < 2**32
    return weight.astype(np.uint32 if short else np.int64)


def no_edges(schema: EdgeSchema, columns: Sequence[str]) -> EdgeChunk:
    """A chunk without edges, which would carry these columns."""
    none = np.empty(0, np.uint32)
    types = tuple(id_type(dtype) for dtype in schema.ids)
    table = tuple(pa.array([], t) for t in types)
    carried = {name: _nothing(schema, name) for name in columns}
    return EdgeChunk(none, none, Names(types, 0, table=table), carried)


def _nothing(schema: EdgeSchema, name: str) -> np.ndarray:
    """What no edge carries of a column, in the type in which edges would."""
    kind = schema.weight_kind if name == "weight" else dict(schema.dtypes)[name]
    if is_time(kind):
        return np.empty(0, np.int64)
    found = value_type(kind) if is_number(kind) else None
    return np.empty(0, np.float64 if found is None else found.to_pandas_dtype())
