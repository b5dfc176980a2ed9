"""Rows whose neighbours are in the order of the user's ids, whatever the order of vertices is, a part at a time.

Draws from such rows are the same wherever a graph lies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dask_graphgpu.engine.cpu.edges import Paged, rows_on_disk
from dask_graphgpu.engine.walking import with_repeats_in_order
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.partition import rowwise
from dask_graphgpu.partition.csr import Adjacency, at_ends, from_edges
from dask_graphgpu.partition.ranks.view import AnyView, RankView
from dask_graphgpu.report import Report


@dataclass(frozen=True, eq=False)
class Part:
    """Rows ``first`` to ``last``, at hand.

    ``rows`` : their edges, neighbours as numbers. ``before`` : sums of weights within a row up to and with each edge,
    float64; empty where nobody asked.
    """

    first: int
    last: int
    rows: Adjacency
    before: np.ndarray


class RowsById:
    """The rows of a view by the numbers of vertices: their places in the order of the user's ids.

    Parameters
    ----------
    view : view
        Of a graph in memory, on disk, or a share of ranks.
    rows : Adjacency
        Its `out` or `into`.
    report : Report
        Gets what is read of a disk.
    weighted, sums : bool
        Whether the weights of edges are wanted, and sums of them.
    time : str, optional
        An edge column by which the edges of each row are ordered, and by neighbours where it is the same.

    Attributes
    ----------
    place : int64 array
        Row of each vertex of the graph by its number; of those of other ranks a row that no part has. Empty where
        it is the number.
    owner : uint32 array
        On ranks: which rank has each vertex, by its number. Else empty.
    names : list of str
        Columns of edges that parts have.
    dtype, dtypes : dtype, and of each column
        Of numbers, and of columns.
    whole : bool
        Whether one part has all rows.

    Notes
    -----
    Where the rows are in another order, they are sorted: a copy of the edges, of a disk one of a run at a time. On
    ranks each rank has 12 bytes for every vertex of the graph.
    """

    def __init__(
        self,
        view: AnyView,
        rows: Adjacency,
        report: Report,
        *,
        weighted: bool,
        sums: bool = False,
        time: str | None = None,
    ) -> None:
        self._view, self._rows, self._report = view, rows, report
        self._weighted, self._sums, self._time = weighted, sums, time
        names = ["weight"] if weighted else []
        self.names = names if time is None else list(dict.fromkeys([*names, time]))
        self.place, self.owner = np.empty(0, np.int64), np.empty(0, np.uint32)
        self.whole = not view.paged and not view.on_ranks
        own, rank = view.num_owned, view.user_rank
        self.dtypes = {name: rows.columns[name].dtype for name in self.names}
        self.dtype = rows.neighbours.dtype if rank is None else rank.dtype
        if isinstance(view, RankView):
            self.place = np.full(view.graph_vertices, view.num_vertices, np.int64)
            self.owner = np.empty(view.graph_vertices, np.uint32)
            for j, numbers in enumerate(view.ranks.all_gather(view.numbers[:own])):
                self.owner[numbers.astype(np.intp)] = j
        elif rank is not None:
            self.place = np.empty(own, np.int64)
        if rank is not None:
            self.place[rank[:own].astype(np.intp)] = np.arange(own)
        self._kept = None if view.paged else self._part(0, own, rows)

    def parts(self, wanted: np.ndarray) -> Iterator[Part]:
        """Parts that have some of the wanted vertices, which are numbers; of a disk no others are read."""
        if self._kept is not None:
            yield self._kept
            return
        shown = rows_on_disk(self._rows).with_columns(tuple(self.names))
        with Paged(shown, self._report) as passes:
            marked = np.zeros(self._rows.num_vertices, bool)
            marked[self.rows_of(wanted)] = True
            for lo, hi, rows in passes.over(passes.holding(marked)):
                yield self._part(lo, hi, rows)

    def rows_of(self, numbers: np.ndarray) -> np.ndarray:
        """The rows of some vertices."""
        return self.place[numbers] if len(self.place) else numbers

    def to_owners(self, numbers: np.ndarray, given: np.ndarray) -> np.ndarray:
        """What is given for some vertices, with those of all ranks that this one owns; on one rank all. Collective."""
        if not self._view.on_ranks:
            return given
        owner, ranks = self.owner[numbers], self._view.ranks
        order = np.argsort(owner, kind="stable")
        cuts = np.searchsorted(owner[order], np.arange(1, ranks.size))
        return np.concatenate(ranks.all_to_all(np.split(given[order], cuts)))

    def _part(self, lo: int, hi: int, rows: Adjacency) -> Part:
        bounds = rows.offsets[lo : hi + 1]
        edges = slice(int(bounds[0]), int(bounds[-1]))
        columns = {name: rows.columns[name][edges] for name in self.names}
        here = Adjacency(bounds - bounds[0], rows.neighbours[edges], columns)
        if (rank := self._view.user_rank) is not None:
            numbers = at_ends(rank, here.neighbours)
            n = max(self._view.graph_vertices, hi - lo)
            made = from_edges(n, rowwise.row_ids(here), numbers, columns)
            here = Adjacency(here.offsets, made.neighbours, made.columns)
        if self._time is not None:
            here = _in_order_of(here, self._time)
        elif self._weighted:
            weight = here.columns["weight"]
            weight = with_repeats_in_order(rowwise.row_ids(here), here.neighbours, weight)
            here = Adjacency(here.offsets, here.neighbours, {"weight": weight})
        before = np.empty(here.num_edges if self._sums else 0)
        if self._sums:
            given = here.offsets, here.columns["weight"], before
            for_blocks(kernels.walks.add_up, edge_blocks(here.offsets), *given)
        return Part(lo, hi, here, before)


def _in_order_of(rows: Adjacency, time: str) -> Adjacency:
    """Rows by neighbour, the edges of each by time, then by neighbour, then by weight."""
    order = np.empty(rows.num_edges, np.int64)
    blocks = edge_blocks(rows.offsets)
    for_blocks(kernels.neighbor_sample.order_rows, blocks, rows.offsets, rows.columns[time], order)
    neighbours = at_ends(rows.neighbours, order)
    columns = {name: at_ends(column, order) for name, column in rows.columns.items()}
    if "weight" in columns and time != "weight":
        row, times = rowwise.row_ids(rows), columns[time]
        new = (row[1:] != row[:-1]) | (times[1:] != times[:-1])
        group = np.concatenate([np.zeros(min(len(row), 1), np.int64), np.cumsum(new)])
        columns["weight"] = with_repeats_in_order(group, neighbours, columns["weight"])
    return Adjacency(rows.offsets, neighbours, columns)
