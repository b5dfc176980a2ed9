"""One rank's share of a graph, as stored."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.partition import rowwise
from dask_graphgpu.partition.as_given import AsGiven, check_columns
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.layered import Layered, Levels
from dask_graphgpu.partition.layout import Layout
from dask_graphgpu.partition.partition import Key, VertexColumns, chosen_rule
from dask_graphgpu.partition.ranks.ids import RankIds
from dask_graphgpu.partition.ranks.local import Local
from dask_graphgpu.partition.ranks.view import RankView
from dask_graphgpu.partition.weight_fault import WeightFault


@dataclass(frozen=True, eq=False)
class Shares:
    """How a graph is dealt to ranks; each array is int64 of shape (size,), the same on all ranks.

    Attributes
    ----------
    vertices : vertices that the rank owns
    edges : entries of all rows that it holds; of a directed graph those of both directions
    border : ghosts, remote vertices at the other ends of its edges
    """

    vertices: np.ndarray
    edges: np.ndarray
    border: np.ndarray

    @property
    def imbalance(self) -> float:
        """The most edges of a rank over the mean; 1 of a graph without edges."""
        total = int(self.edges.sum())
        return float(self.edges.max() * len(self.edges) / total) if total else 1.0

    @classmethod
    def of(cls, ranks: Ranks, local: Local, out: Adjacency, into: Adjacency) -> Shares:
        """Tell all ranks what this one holds. Collective."""
        edges = out.num_edges + (0 if into is out else into.num_edges)
        border = local.border
        return cls(*ranks.scalars([border.num_owned, edges, border.num_ghosts]).T)


class RankPartition:
    """The vertices that a rank owns, and all rows of the edge frame that have one of them.

    Parameters
    ----------
    ids : RankIds
    local : Local
        The vertices that are here, and the border with other ranks.
    out, into : Adjacency
        Rows of the own vertices by source and by destination, repeats included; ghosts' rows are
        empty. Of an undirected graph one object with both directions of every edge.
    layout : Layout
    order : "input" or "degree"
        The order of own vertices: that of their numbers, or falling degree.
    vertex_columns : VertexColumns
        Of shape (num_local,), with values at own vertices.
    num_rows : int
        Of the whole edge frame.
    shares : Shares
    levels : Levels, optional
        The layer of each vertex that is here, of a layered graph.
    fault : WeightFault, optional
        What is wrong with the weights of the whole graph.
    as_given : AsGiven, optional
        Of an undirected graph what its rows do not say of those of the frame whose sources are owned.
    """

    def __init__(
        self,
        ids: RankIds,
        local: Local,
        out: Adjacency,
        into: Adjacency,
        layout: Layout,
        order: str,
        vertex_columns: VertexColumns,
        num_rows: int,
        shares: Shares,
        levels: Levels | None = None,
        fault: WeightFault | None = None,
        as_given: AsGiven | None = None,
    ) -> None:
        self.ids = ids
        self.border = local.border
        self.numbers = local.numbers
        self.out = out
        self.into = into
        self.layout = layout
        self.order = order
        self.vertex_columns = vertex_columns
        self.num_rows = num_rows
        self.shares = shares
        self.levels = levels
        self.fault = fault
        self.as_given = as_given
        self.took: dict[
            str, float
        ] = {}  # seconds to "read" what this rank has read, and to "build"
        self._plain: bool | None = None  # whether nothing repeats on any rank; None: not known yet
        self._rows: dict[Key, _Rows] = {}
        self._views: dict[tuple[Key, tuple[str, ...]], RankView] = {}
        self.made: dict[Any, Any] = {}  # further things on demand, of which others know

    @property
    def ranks(self) -> Ranks:
        """The ranks as this one sees them."""
        return self.border.ranks

    @property
    def num_vertices(self) -> int:
        """Of the whole graph."""
        return len(self.ids)

    @property
    def num_owned(self) -> int:
        """Vertices that this rank owns."""
        return self.border.num_owned

    @property
    def edge_bytes(self) -> int:
        """Of an entry of a row, with all that it carries."""
        columns = self.out.columns.values()
        return self.numbers.dtype.itemsize + sum(column.dtype.itemsize for column in columns)

    @property
    def nbytes(self) -> int:
        """Bytes on this rank of ids, rows, columns and the border."""
        rows = [self.out, self.into]
        rows += [each for held in self._rows.values() for each in (held.out, held.into)]
        arrays = [self.numbers, *self.vertex_columns.columns.values(), *self.border.sends]
        arrays += [] if self.levels is None else [self.levels.level]
        arrays += [] if self.as_given is None else self.as_given.arrays
        arrays += [array for layered in self.layers() for array in layered.arrays()]
        for adjacency in rows:
            arrays += [adjacency.offsets, adjacency.neighbours, *adjacency.columns.values()]
        return self.ids.nbytes + sum({id(array): array.nbytes for array in arrays}.values())

    def order_by_layers(self) -> None:
        """As `Partition.order_by_layers`. Collective."""
        self.view("min").toward("out").layered("source")

    def layers(self) -> list[Layered]:
        """The edges by layers as far as they are made, under every rule."""
        return [layered for view in self._views.values() for layered in view.layers()]

    def anew(self) -> RankPartition:
        """The same share without what was made of its rows on demand.

        That is collective, and after a run that has failed some ranks may have more of it than others.
        """
        other = copy.copy(self)
        other._plain, other._rows, other._views, other.made = None, {}, {}, {}
        return other

    def view(self, rule: str, weight: bool = True, columns: tuple[str, ...] = ()) -> RankView:
        """The edges with repeated rows merged by ``rule``, unless the user chose another rule.

        Edges carry their weight (if ``weight``, and there are weights) and the named columns.
        Views share rows as far as the rules do not differ on this graph. Collective the first time
        that a rule is asked for.

        Raises
        ------
        IntegerOverflow
            Summed weights do not fit.
        InvalidArgument
            As of `Partition.view`.
        """
        held = tuple(self.out.columns)
        key = chosen_rule(self.layout, held, rule, weight, columns)
        names = key[1]
        if self._plain is None:
            repeats = rowwise.repeats(self.out)  # an edge is in the row of its source once
            self._plain = not self.ranks.max(int(repeats))
        if self._plain:
            key = ("any", held)
        if key not in self._rows:
            self._rows[key] = self._rows_under(*key)
        rows = self._rows[key]
        # Summing the repeats of edges without weights gives them one.
        names = names if self._plain else tuple(rows.out.columns)
        if (key, names) not in self._views:
            check_columns(self.out, self.as_given, names if columns else (), self._any)
            self._views[key, names] = self._view_of(rows, names)
        return self._views[key, names]

    def _any(self, found: bool) -> bool:
        return bool(self.ranks.max(int(found)))

    def _rows_under(self, rule: str, names: tuple[str, ...]) -> _Rows:
        def merged(rows: Adjacency) -> Adjacency:
            rows = _shown(rows, names)
            if rule in ("any", "keep"):
                return rows
            # Some rank has repeats, so that all have the columns of merged rows.
            return rowwise.merge_repeats(rows, rule, always=True)

        out = merged(self.out)
        into = merged(self.into) if self.layout.directed else out
        return _Rows(out, into, int(self.ranks.sum(out.num_edges)))

    def _view_of(self, rows: _Rows, names: tuple[str, ...]) -> RankView:
        out = _shown(rows.out, names)
        return RankView(
            self.ranks,
            self.border,
            self.numbers,
            self.num_owned,
            self.num_vertices,
            directed=self.layout.directed,
            out=out,
            into=_shown(rows.into, names) if self.layout.directed else out,
            vertex_columns=self.vertex_columns,
            graph_edges=rows.graph_edges,
            levels=self.levels,
            by_degree=self.order == "degree",
            own_order=self.ids.places.ascending,
        )


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows under a rule; ``graph_edges`` as of `RankView`."""

    out: Adjacency
    into: Adjacency
    graph_edges: int


def _shown(rows: Adjacency, names: tuple[str, ...]) -> Adjacency:
    """The rows with these columns only."""
    if tuple(rows.columns) == names:
        return rows
    return Adjacency(rows.offsets, rows.neighbours, {name: rows.columns[name] for name in names})
