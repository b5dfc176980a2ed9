"""A graph beyond the memory limit for a method that reads no rows: its edges stay in the files of the user."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, NoReturn

import numpy as np

from dask_graphgpu.partition.ids import VertexIds
from dask_graphgpu.partition.paged.rows import refuse_to_send
from dask_graphgpu.partition.paged.sort import Edges
from dask_graphgpu.partition.weight_fault import WeightFault


@dataclass(frozen=True, eq=False)
class UnsortedView:
    """Edges in any order, which are read of the files and numbered as they go by.

    Attributes
    ----------
    num_vertices : int
    id_dtype : dtype of ids
    runs : callable
        Gives the edges, some at a time, each time that it is called.
    held : int
        Bytes of the ids, and of what they are looked up in.
    """

    num_vertices: int
    id_dtype: np.dtype[Any]
    runs: Callable[[], Iterator[Edges]]
    held: int

    on_device: ClassVar[bool] = False


@dataclass(eq=False)
class UnsortedPartition:
    """In the place of a `PagedPartition`: the vertices with their ids, and no rows; nothing of it is on disk."""

    ids: VertexIds
    num_rows: int
    edges: UnsortedView
    fault: WeightFault | None
    took: dict[str, float] = field(default_factory=dict)

    paged: ClassVar[bool] = True

    def __reduce__(self) -> NoReturn:
        refuse_to_send()

    @property
    def num_vertices(self) -> int:
        return len(self.ids)

    @property
    def nbytes(self) -> int:
        """Bytes of ids, and of what they are looked up in."""
        return self.edges.held

    def view(self, rule: str, weight: bool = True, columns: tuple[str, ...] = ()) -> UnsortedView:
        """The edges, repeats included: they make no difference to a method that reads no rows."""
        return self.edges
