"""Frames of an update: rows to append and ends of rows to remove, checked and encoded as a partition needs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from dask.base import is_dask_collection

from dask_graphgpu.errors import InvalidEdges
from dask_graphgpu.ingest import Needs, edge_frame
from dask_graphgpu.io.arrow_frames import taken
from dask_graphgpu.io.edges import read_edges
from dask_graphgpu.io.frames import check_frame, meta_of
from dask_graphgpu.io.schema import EdgeSchema, find_columns, is_number, require_columns
from dask_graphgpu.partition.chunk import EdgeChunk
from dask_graphgpu.partition.growth import Change
from dask_graphgpu.partition.ids import distinct_rows
from dask_graphgpu.partition.partition import Partition
from dask_graphgpu.store.source import stated

_APPENDED, _REMOVED = "the appended rows", "the rows to remove"


class ChangedRows:
    """The frames of an update, read and checked as far as that needs no graph.

    Parameters
    ----------
    append, remove : frame or None
    schema : EdgeSchema
        Of the saved graph.
    edge_columns : tuple of str
        That it holds beside the weight.

    Attributes
    ----------
    source : dict or None
        The files that appended rows came from, as `store.source.stated` gives them.

    Raises
    ------
    InvalidEdges
        A column is missing, or ids or weights are none.
    """

    def __init__(
        self, append: Any, remove: Any, schema: EdgeSchema, edge_columns: tuple[str, ...]
    ) -> None:
        weighted = replace(schema, weight=schema.weight if schema.carries_weight else None)
        needs = Needs(schema.carries_weight, edge_columns)
        self.source, self._schema = None, weighted
        self._added = self._removed = None
        if append is not None:
            frame = _chosen(append, weighted, needs, _APPENDED)
            self.source = stated([frame])
            self._added = _read(frame, weighted, needs, _APPENDED)
            if self._added.fault is not None:
                raise InvalidEdges(self._added.fault.message)
        if remove is not None:
            bare = replace(schema, weight=None)
            self._removed = _read(_chosen(remove, bare, Needs(), _REMOVED), bare, Needs(), _REMOVED)

    def change(self, base: Partition) -> Change:
        """The change, in the types of a partition.

        Raises
        ------
        InvalidEdges
            These do not hold a value.
        """
        kinds = [column.type for column in base.ids.columns]
        sides = []
        for chunk, what in ((self._added, _APPENDED), (self._removed, _REMOVED)):
            none = [pa.array([], kind) for kind in kinds]
            sides += [none, none] if chunk is None else _ends(chunk, kinds, self._schema, what)
        ids, codes = distinct_rows([list(column) for column in zip(*sides, strict=True)])
        numbers = [code.astype(np.int64) for code in codes]
        given = base.given
        columns = {
            name: column[:0]
            if self._added is None
            else self._as_held(name, column, given.num_edges)
            for name, column in given.columns.items()
        }
        return Change(tuple(ids), (numbers[0], numbers[1]), (numbers[2], numbers[3]), columns)

    def _as_held(self, name: str, held: np.ndarray, edges: int) -> np.ndarray:
        """A column of the appended rows in the type of that of the graph, which may hold wider integers."""
        assert self._added is not None
        values = self._added.columns[name]
        column = self._schema.weight if name == "weight" else name
        declared = dict(self._schema.dtypes)[str(column)]
        if not len(values):
            return held[:0]
        if not edges or not is_number(declared):
            return values
        wanted = np.dtype(getattr(declared, "numpy_dtype", declared))
        if wanted.kind in "iu" and wanted.itemsize == 8:
            wanted = values.dtype if values.dtype.kind in "iu" else np.dtype(np.int64)
        made = values.astype(wanted)
        if not np.array_equal(made, values, equal_nan=values.dtype.kind == "f"):
            raise InvalidEdges(
                f"column {column!r} of {_APPENDED} has values that {declared} does not hold, which is the type of that "
                "of the saved graph: convert them, or build the graph anew"
            )
        return made


def _chosen(frame: Any, schema: EdgeSchema, needs: Needs, what: str) -> Any:
    """The columns of a frame that are read, after a look at these."""
    frame = taken(frame)
    check_frame(frame, f"{what} are", InvalidEdges)
    require_columns(meta_of(frame), list(needs.edge_columns))
    find_columns(meta_of(frame), schema.source, schema.destination, schema.weight)
    return edge_frame(frame, schema, needs)


def _read(frame: Any, schema: EdgeSchema, needs: Needs, what: str) -> EdgeChunk:
    """The rows of a frame, checked as those of an edge frame are."""
    meta = meta_of(frame)
    found = find_columns(meta, schema.source, schema.destination, schema.weight)
    rows: pd.DataFrame = frame.compute() if is_dask_collection(frame) else frame
    chunk = read_edges(rows, found, needs.carried, what)
    if chunk.names.first is None:
        return chunk
    names, ends = chunk.names.as_table([chunk.source, chunk.destination])
    return replace(chunk, names=names, source=ends[0], destination=ends[1])


def _ends(
    chunk: EdgeChunk, kinds: Sequence[pa.DataType], schema: EdgeSchema, what: str
) -> list[list[pa.Array]]:
    """Ids of sources and of destinations, a column each, of some types."""
    assert chunk.names.table is not None
    table = []
    for k, (column, kind) in enumerate(zip(chunk.names.table, kinds, strict=True)):
        if not len(column):
            table.append(pa.array([], kind))
            continue
        both = [column.type, kind]
        if pa.types.is_integer(kind) != pa.types.is_integer(column.type):
            raise InvalidEdges(
                f"the ids {schema.source[k]!r} and {schema.destination[k]!r} of {what} are {both[0]}, and those of the "
                f"saved graph are {both[1]}: convert them"
            )
        try:
            table.append(column.cast(kind))
        except pa.ArrowInvalid as error:
            raise InvalidEdges(
                f"the ids {schema.source[k]!r} and {schema.destination[k]!r} of {what} do not fit {kind}, which is the "
                f"type of those of the saved graph ({error}): convert them, or build the graph anew"
            ) from None
    return [
        [column.take(pa.array(codes)) for column in table]
        for codes in (chunk.source, chunk.destination)
    ]
