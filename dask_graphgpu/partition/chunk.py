"""What one partition of a frame becomes before the ids of all partitions are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from dask_graphgpu.partition.ids import Names, distinct_rows, shift
from dask_graphgpu.partition.weight_fault import WeightFault


@dataclass(frozen=True, eq=False)
class EdgeChunk:
    """Edges whose ends are codes into ``names``; arrays of one length, codes unsigned.

    They are NumPy's; of integers from a narrow range in cuDF frames they may be CuPy's.
    ``fault``: what is wrong with the weights among ``columns``. ``read``: the times, as of `time.time`, at which
    reading began and had ended.
    """

    source: np.ndarray
    destination: np.ndarray
    names: Names
    columns: dict[str, np.ndarray] = field(default_factory=dict)
    fault: WeightFault | None = None
    read: tuple[float, float] | None = None

    def __len__(self) -> int:
        return len(self.source)

    def to_host(self) -> EdgeChunk:
        """The same in host memory."""
        columns = {name: to_host(column) for name, column in self.columns.items()}
        ends = to_host(self.source), to_host(self.destination)
        return EdgeChunk(*ends, self.names, columns, self.fault, self.read)

    def __sizeof__(self) -> int:  # by which Dask places tasks and spills
        arrays = [self.source, self.destination, *self.columns.values()]
        return self.names.nbytes + sum(array.nbytes for array in arrays)


@dataclass(frozen=True, eq=False)
class UncodedEdges:
    """Edges whose ends are strings as they were read, without nulls; otherwise as `EdgeChunk`."""

    source: pa.Array
    destination: pa.Array
    columns: dict[str, np.ndarray] = field(default_factory=dict)
    fault: WeightFault | None = None
    read: tuple[float, float] | None = None

    def __len__(self) -> int:
        return len(self.source)

    @property
    def names(self) -> Names:
        """No table: the ids stand in the edges."""
        return Names((self.source.type,), 0, table=())


@dataclass(frozen=True, eq=False)
class VertexChunk:
    """Rows of the vertices frame: codes into ``names``, columns, and which of their rows are null.

    ``first_row``: the place of the first of them in the whole frame, of a frame that is an argument
    of a run on ranks.
    """

    vertex: np.ndarray
    names: Names
    columns: dict[str, np.ndarray] = field(default_factory=dict)
    nulls: dict[str, np.ndarray] = field(default_factory=dict)
    first_row: int = 0

    def __len__(self) -> int:
        return len(self.vertex)

    def __sizeof__(self) -> int:  # by which Dask places tasks and spills
        arrays = [self.vertex, *self.columns.values(), *self.nulls.values()]
        return self.names.nbytes + sum(array.nbytes for array in arrays)

    def ids(self) -> list[pa.Array]:
        """The user's ids of the rows, an array an id column."""
        names = self.names
        if names.first is not None:
            return [shift(self.vertex, names.first, names.types[0])]
        assert names.table is not None
        return [column.take(pa.array(self.vertex)) for column in names.table]

    def id_at(self, row: int) -> tuple[Any, ...]:
        """The user's id of one row."""
        return tuple(column[row].as_py() for column in self.ids())


def reading(chunks: Sequence[Any]) -> dict[str, float]:
    """Seconds from the first chunk's reading to the end of the last one's, as "read"; empty where nobody knows."""
    spans = [chunk.read for chunk in chunks if getattr(chunk, "read", None) is not None]
    return (
        {"read": max(span[1] for span in spans) - min(span[0] for span in spans)} if spans else {}
    )


def to_host(array: Any) -> np.ndarray:
    """An array of NumPy's or CuPy's in host memory."""
    host: np.ndarray = array.get() if hasattr(array, "get") else array
    return host


def united(chunks: Sequence[EdgeChunk]) -> list[EdgeChunk]:
    """The same edges under one table of ids, which holds an id once, not once a chunk."""
    chunks = [chunk for chunk in chunks if len(chunk)]
    if len(chunks) < 2 or any(chunk.names.table is None for chunk in chunks):
        return list(chunks)
    tables = [chunk.names.table for chunk in chunks if chunk.names.table is not None]
    table, rows = distinct_rows([list(column) for column in zip(*tables, strict=True)])
    names = Names(chunks[0].names.types, len(table[0]), table=tuple(table))
    rows = [row.astype(np.uint32) for row in rows]
    return [
        replace(
            chunk,
            names=names,
            source=row.take(chunk.source),
            destination=row.take(chunk.destination),
        )
        for chunk, row in zip(chunks, rows, strict=True)
    ]
