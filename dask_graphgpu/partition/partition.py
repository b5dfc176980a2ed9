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
from dask_graphgpu.partition.rows import Rows, under_any_rule, under_rule
from dask_graphgpu.partition.view import View

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
        self,
        ids: VertexIds,
        rows: Adjacency,
        layout: Layout,
        vertex_columns: VertexColumns,
        num_rows: int | None = None,
    ) -> None:
        self.ids = ids
        self.layout = layout
        self.vertex_columns = vertex_columns
        self.num_rows = rows.num_edges if num_rows is None else num_rows  # of the edge frame
        self._given = rows
        self._plain: bool | None = None  # whether no rule makes a difference; None: not known yet
        self._rows: dict[tuple[str, tuple[str, ...]], Rows] = {}
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        # Sent to another process or to disk without what is made on demand, which holds locks.
        parts = (self.ids, self._given, self.layout, self.vertex_columns, self.num_rows)
        return Partition, parts

    def __sizeof__(self) -> int:
        return self.nbytes  # by which Dask places tasks and spills

    @property
    def num_vertices(self) -> int:
        return len(self.ids)

    @property
    def order(self) -> str:
        """Either "input", the order of the user's ids, or "degree"."""
        return "input" if self.ids.position is None else "degree"

    @property
    def nbytes(self) -> int:
        """Bytes of the ids and of the rows that are held."""
        given = self._given
        arrays = [given.offsets, given.neighbours, *given.columns.values()]
        arrays += [array for rows in self._rows.values() for array in rows.arrays()]
        return self.ids.nbytes + sum({id(array): array.nbytes for array in arrays}.values())

    def view(self, rule: str, weight: bool = True, columns: tuple[str, ...] = ()) -> View:
        """The edges with repeated rows merged by ``rule``, unless the user chose another rule.

        Edges carry their weight (if ``weight``, and there are weights) and the named columns.
        Views share rows as far as the rules do not differ on this graph.
        """
        chosen = rule if self.layout.duplicates == "auto" else self.layout.duplicates
        held = self._given.columns
        names = tuple(n for n in held if n in columns or (n == "weight" and weight))
        with self._lock:
            if self._plain is None:
                self._find_plain()
            key = ("any", tuple(held)) if self._plain else (chosen, names)
            if key not in self._rows:
                self._rows[key] = self._rows_under(*key)
            rows = self._rows[key]
        # Summing the repeats of edges without weights gives them one.
        names = names if self._plain else rows.names
        return View(rows, names=names, vertex_columns=self.vertex_columns, user_rank=self.ids.rank)

    def _find_plain(self) -> None:
        """Find out whether repeats are to be merged at all; if not, keep the rows ready for use."""
        found = under_any_rule(self._given, directed=self.layout.directed)
        self._plain = found is not None
        if found is not None:
            self._given = found

    def _rows_under(self, rule: str, names: tuple[str, ...]) -> Rows:
        columns = {name: self._given.columns[name] for name in names}
        rows = Adjacency(self._given.offsets, self._given.neighbours, columns)
        if rule != "any":
            rows = under_rule(rule, rows, directed=self.layout.directed)
        return Rows(rows, by=self.layout.by, directed=self.layout.directed)
