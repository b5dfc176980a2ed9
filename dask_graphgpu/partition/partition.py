"""A partition: the vertices and edges of one rank, as stored."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from dask_graphgpu.errors import InvalidVertices
from dask_graphgpu.partition.as_given import AsGiven, check_columns
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.ids import VertexIds
from dask_graphgpu.partition.layered import Layered, Levels
from dask_graphgpu.partition.layout import Layout
from dask_graphgpu.partition.rows import BeforeUse, Rows
from dask_graphgpu.partition.view import View
from dask_graphgpu.partition.weight_fault import WeightFault

Key = tuple[str, tuple[str, ...]]  # a rule for repeated rows, and names of edge columns


@dataclass(frozen=True, eq=False)
class VertexColumns(Mapping[str, np.ndarray]):
    """Columns of the vertices frame in dense order; reading one with gaps is an error.

    ``known`` holds, of columns with gaps, which vertices have a value. ``num_vertices`` is that of
    the whole graph where the columns hold a part of it. ``listed``: which vertices the frame names;
    None without a frame, and where nobody asks.
    """

    columns: Mapping[str, np.ndarray] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)
    repeated: int = 0
    known: Mapping[str, np.ndarray] = field(default_factory=dict)
    num_vertices: int | None = None
    listed: np.ndarray | None = None

    def with_gaps(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """A column, and which vertices have a value in it; the others hold anything."""
        self._check(name)
        if not self.missing[name]:
            return self.columns[name], np.ones_like(self.columns[name], bool)
        if name not in self.known:
            raise InvalidVertices(
                f"column {name!r} of the vertices frame has no value for {self.missing[name]} "
                "vertices, and a saved graph does not hold for which: give a frame"
            )
        return self.columns[name], self.known[name]

    def __getitem__(self, name: str) -> np.ndarray:
        self._check(name)
        if self.missing[name]:
            of = len(self.columns[name]) if self.num_vertices is None else self.num_vertices
            raise InvalidVertices(
                f"column {name!r} of the vertices frame has no value for {self.missing[name]} of "
                f"{of} vertices; give one row with a value for every id of "
                "the edges"
            )
        return self.columns[name]

    def _check(self, name: str) -> None:
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

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)


@dataclass(frozen=True, eq=False)
class Prepared:
    """What a partition has made of its rows on demand.

    Attributes
    ----------
    plain : bool
        Whether no rule for repeated rows makes a difference.
    rows : dict
        The rows under a rule and with some edge columns, by (rule, columns).
    """

    plain: bool
    rows: dict[Key, Rows] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Origin:
    """The folder that a partition's arrays are mapped from.

    ``path`` is a text, or a folder of an object store. ``reopen(path, fingerprint)`` gives the
    partition again, in this process or in another one.
    ``before_use`` is called with mapped arrays that are about to be read, and may raise.
    """

    path: Any
    fingerprint: str
    nbytes: int
    reopen: Callable[[Any, str], Any]
    before_use: BeforeUse


def chosen_rule(
    layout: Layout, held: tuple[str, ...], rule: str, weight: bool, columns: tuple[str, ...]
) -> Key:
    """What an algorithm that asks for ``rule`` gets of edges that hold some columns."""
    chosen = rule if layout.duplicates == "auto" else layout.duplicates
    names = tuple(n for n in held if n in columns or (n == "weight" and weight))
    if not names and chosen in ("min", "max"):
        chosen = "one"  # without weights there is nothing to choose between repeats
    return chosen, names


class Partition:
    """Vertices with their ids, and all rows of the edge frame sorted into rows of neighbours.

    Parameters
    ----------
    ids : VertexIds
    rows : Adjacency
        Every row of the frame, repeats included, by ``layout.by``; of an undirected graph, both
        directions of every edge.
    layout : Layout
    vertex_columns : VertexColumns
    num_rows : int
        Of the edge frame.
    prepared : Prepared, optional
        What was made of ``rows`` before, so that it need not be made again.
    origin : Origin, optional
        Where the arrays are mapped from; None: they are in memory.
    levels : Levels, optional
        The layer of each vertex, of a layered graph.
    fault : WeightFault, optional
        What is wrong with the weights.
    as_given : AsGiven, optional
        What the rows of an undirected graph do not say of those of the frame.
    """

    paged: ClassVar[bool] = False  # whether the edges lie in pages on disk
    rows_kind: ClassVar[type[Rows]] = Rows

    def __init__(
        self,
        ids: VertexIds,
        rows: Adjacency,
        layout: Layout,
        vertex_columns: VertexColumns,
        num_rows: int,
        prepared: Prepared | None = None,
        origin: Origin | None = None,
        levels: Levels | None = None,
        fault: WeightFault | None = None,
        as_given: AsGiven | None = None,
    ) -> None:
        self.ids = ids
        self.layout = layout
        self.vertex_columns = vertex_columns
        self.num_rows = num_rows
        self.given = rows
        self.origin = origin
        self.levels = levels
        self.fault = fault
        self.as_given = as_given
        self.took: dict[str, float] = {}  # seconds to "read" the frames and to "build" this
        # Whether nothing repeats; None: not known yet.
        self._plain: bool | None = None if prepared is None else prepared.plain
        self._rows = {} if prepared is None else dict(prepared.rows)
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        # Sent to another process or to disk without what is made on demand, which holds locks;
        # mapped arrays are mapped there again.
        if self.origin is not None:
            return self.origin.reopen, (self.origin.path, self.origin.fingerprint)
        parts = (self.ids, self.given, self.layout, self.vertex_columns, self.num_rows)
        given = (*parts, None, None, self.levels, self.fault, self.as_given)
        return type(self), given, {"took": self.took}

    def __sizeof__(self) -> int:
        # By which Dask places tasks and spills: what is mapped is the system's to drop.
        return self.nbytes - (0 if self.origin is None else self.origin.nbytes)

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
        given = self.given
        arrays = [given.offsets, given.neighbours, *given.columns.values()]
        arrays += [array for rows in self._rows.values() for array in rows.arrays()]
        arrays += [] if self.levels is None else [self.levels.level]
        arrays += [] if self.as_given is None else self.as_given.arrays
        return self.ids.nbytes + sum({id(array): array.nbytes for array in arrays}.values())

    def on_host(self) -> Partition:
        """The same in host memory."""
        return self

    def view(self, rule: str, weight: bool = True, columns: tuple[str, ...] = ()) -> View:
        """The edges with repeated rows merged by ``rule``, unless the user chose another rule.

        Edges carry their weight (if ``weight``, and there are weights) and the named columns.
        Views share rows as far as the rules do not differ on this graph.

        Raises
        ------
        InvalidArgument
            The graph is undirected, and one edge was given with several values of a named column.
        """
        _, rows, names = self.under(rule, weight, columns)
        if columns and self.as_given is not None:
            check_columns(self.use_given(), self.use_as_given(), columns, bool)
        self.use_vertices()
        return View(
            rows,
            names=names,
            vertex_columns=self.vertex_columns,
            user_rank=self.ids.rank,
            levels=self.levels,
        )

    def use_vertices(self) -> None:
        """Have what the partition says of its vertices looked at, which is about to be read.

        Raises
        ------
        InvalidSavedGraph
            It is mapped from a file that is damaged.
        """
        if self.origin is not None:
            places = (self.ids.position, self.ids.rank)
            level = [] if self.levels is None else [self.levels.level]
            self.origin.before_use(*self.ids.columns, *places, *level)

    def use_given(self) -> Adjacency:
        """The rows as they were given, looked at, to be read. Raises as `use_vertices`."""
        if self.origin is not None:
            columns = self.given.columns.values()
            self.origin.before_use(self.given.offsets, self.given.neighbours, *columns)
        return self.given

    def use_as_given(self) -> AsGiven:
        """What the rows of an undirected graph do not say, looked at, to be read. Raises as `use_vertices`."""
        assert self.as_given is not None
        if self.origin is not None:
            self.origin.before_use(*self.as_given.arrays)
        return self.as_given

    def order_by_layers(self) -> None:
        """Have the edges by layers at hand, of repeated rows the lightest.

        Where nothing repeats they are those of every rule; of others they are made when asked for.
        """
        assert self.levels is not None
        self.under("min")[1].layered("source", self.levels)

    def layers(self) -> list[Layered]:
        """The edges by layers as far as they are made, under every rule."""
        with self._lock:
            return [made for rows in self._rows.values() for made in rows.layers().values()]

    def under(
        self, rule: str, weight: bool = True, columns: tuple[str, ...] = ()
    ) -> tuple[Key, Rows, tuple[str, ...]]:
        """What `view` shows: rows, the key that they are kept under, and names of columns."""
        held = tuple(self.given.columns)
        chosen, names = chosen_rule(self.layout, held, rule, weight, columns)
        with self._lock:
            if self._plain is None:
                self._plain = not self.rows_kind.rowwise.repeats(self.given)
            key = ("any", held) if self._plain else (chosen, names)
            if key not in self._rows:
                self._rows[key] = self._rows_under(*key)
            rows = self._rows[key]
        # Summing the repeats of edges without weights gives them one.
        return key, rows, names if self._plain else rows.names

    def is_plain(self) -> bool | None:
        """Whether no rule for repeated rows makes a difference; None: not known yet."""
        return self._plain

    def _rows_under(self, rule: str, names: tuple[str, ...]) -> Rows:
        given = self.use_given()
        columns = {name: given.columns[name] for name in names}
        rows = Adjacency(given.offsets, given.neighbours, columns)
        if rule not in ("any", "keep"):
            rows = self.rows_kind.rowwise.merge_repeats(rows, rule)
        return self.rows_kind(rows, by=self.layout.by, directed=self.layout.directed)
