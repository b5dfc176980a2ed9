"""The edges of one call as they were read: for a method that no rows of neighbours are built for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from dask_graphgpu.partition.ids import VertexIds
from dask_graphgpu.partition.weight_fault import WeightFault


@dataclass(frozen=True, eq=False)
class ListedEdges:
    """Edges in any order; an end is the code ``first + source[i]``, or ``first + destination[i]``, of a table."""

    source: np.ndarray
    destination: np.ndarray
    table: int
    first: int

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True, eq=False)
class EdgeList:
    """Vertices with their ids, and the edges in the order of the frame; what a run sees is the same.

    Dense ids are in the order of the user's ids. It is built for one call, and nobody keeps it.

    Attributes
    ----------
    ids : VertexIds
    runs : sequence of ListedEdges
        The edges, each once as it was given; what they carry is left out.
    tables : sequence of arrays
        Which vertex each code is; an empty one: codes are vertices.
    id_dtype : uint32 or uint64
        Of dense ids.
    fault : WeightFault, optional
        What is wrong with the weights.
    took : dict of str to float
        Seconds to "read" the frames and to "build" this.
    """

    ids: VertexIds
    runs: Sequence[ListedEdges]
    tables: Sequence[np.ndarray]
    id_dtype: np.dtype[Any]
    fault: WeightFault | None
    took: dict[str, float] = field(default_factory=dict)

    paged: ClassVar[bool] = False
    on_device: ClassVar[bool] = False

    @property
    def num_vertices(self) -> int:
        return len(self.ids)

    @property
    def num_rows(self) -> int:
        """Edges."""
        return sum(map(len, self.runs))

    @property
    def nbytes(self) -> int:
        """Bytes of the ids and of the edges."""
        ends = sum(run.source.nbytes + run.destination.nbytes for run in self.runs)
        return self.ids.nbytes + ends + sum(table.nbytes for table in self.tables)

    def __sizeof__(self) -> int:  # by which Dask places tasks and spills
        return self.nbytes
