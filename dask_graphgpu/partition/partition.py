"""A partition: the vertices and edges of one rank, as stored."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dask_graphgpu.errors import InvalidVertices
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.ids import VertexIds
from dask_graphgpu.partition.view import View, view_under

if TYPE_CHECKING:
    from dask_graphgpu.partition.build import Layout


@dataclass(frozen=True, eq=False)
class VertexColumns(Mapping[str, np.ndarray]):
    """Columns of the vertices frame in dense order; reading one with gaps is an error."""

    columns: dict[str, np.ndarray] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)
    repeated: int = 0

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.columns:
            raise InvalidVertices(
                f"the vertices frame has no numeric column {name!r} that was read; it has "
                f"{sorted(self.columns)}"
            )
        if self.repeated:
            raise InvalidVertices(
                f"the vertices frame gives {self.repeated} ids more than once, so column {name!r} "
                "has no single value for them; drop the repeats"
            )
        if self.missing[name]:
            raise InvalidVertices(
                f"column {name!r} of the vertices frame has no value for {self.missing[name]} of "
                f"{len(self.columns[name])} vertices; give one row with a value for every id of "
                "the edges"
            )
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)


class Partition:
    """Vertices with their ids, and all rows of the edge frame sorted into rows of neighbours.

    Parameters
    ----------
    ids : VertexIds
    rows : Adjacency
        Every row of the frame, repeats included, by ``layout.by``, as given (an undirected graph
        is mirrored in its views).
    layout : Layout
    vertex_columns : VertexColumns
    """

    def __init__(
        self, ids: VertexIds, rows: Adjacency, layout: Layout, vertex_columns: VertexColumns
    ) -> None:
        self.ids = ids
        self.layout = layout
        self.vertex_columns = vertex_columns
        self._rows = rows
        self._views: dict[tuple[str, tuple[str, ...]], View] = {}
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        # Sent to another process or to disk without its views, which hold locks and are made again.
        return Partition, (self.ids, self._rows, self.layout, self.vertex_columns)

    def __sizeof__(self) -> int:
        return self.nbytes  # by which Dask places tasks and spills

    @property
    def num_vertices(self) -> int:
        return len(self.ids)

    @property
    def num_rows(self) -> int:
        """Rows of the edge frame."""
        return self._rows.num_edges

    @property
    def order(self) -> str:
        """Either "input", the order of the user's ids, or "degree"."""
        return "input" if self.ids.position is None else "degree"

    @property
    def nbytes(self) -> int:
        """Bytes of ids, rows and the views made so far."""
        made = [self._rows, *(a for view in self._views.values() for a in view.made())]
        arrays = [array for a in made for array in (a.offsets, a.neighbours, *a.columns.values())]
        return self.ids.nbytes + sum({id(array): array.nbytes for array in arrays}.values())

    def view(self, rule: str, weight: bool = True, columns: tuple[str, ...] = ()) -> View:
        """The edges with repeated rows merged by ``rule``, unless the user chose another rule.

        Edges carry their weight (if ``weight``, and there are weights) and the named columns.
        """
        chosen = rule if self.layout.duplicates == "auto" else self.layout.duplicates
        names = tuple(n for n in self._rows.columns if n in columns or (n == "weight" and weight))
        with self._lock:
            if (chosen, names) not in self._views:
                carried = {name: self._rows.columns[name] for name in names}
                self._views[chosen, names] = view_under(
                    chosen,
                    Adjacency(self._rows.offsets, self._rows.neighbours, carried),
                    by=self.layout.by,
                    directed=self.layout.directed,
                    vertex_columns=self.vertex_columns,
                    user_rank=self.ids.rank,
                )
            return self._views[chosen, names]
