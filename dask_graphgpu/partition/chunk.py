"""What one partition of a frame becomes before the ids of all partitions are known."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from dask_graphgpu.partition.ids import Names


@dataclass(frozen=True, eq=False)
class EdgeChunk:
    """Edges whose ends are codes into ``names``; arrays of one length, codes unsigned."""

    source: np.ndarray
    destination: np.ndarray
    names: Names
    columns: dict[str, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.source)

    @property
    def nbytes(self) -> int:
        return int(
            self.source.nbytes
            + self.destination.nbytes
            + sum(column.nbytes for column in self.columns.values())
        )


@dataclass(frozen=True, eq=False)
class VertexChunk:
    """Rows of the vertices frame: codes into ``names``, columns, and which of their rows are null."""

    vertex: np.ndarray
    names: Names
    columns: dict[str, np.ndarray] = field(default_factory=dict)
    nulls: dict[str, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.vertex)

    def ids(self) -> list[pa.Array]:
        """The user's ids of the rows, an array an id column."""
        names, (codes,) = self.names.as_table([self.vertex])
        assert names.table is not None
        return [column.take(pa.array(codes)) for column in names.table]
