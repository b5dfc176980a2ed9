"""A partition with the changes since it was built, copied but for what they touch."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cached_property

import numpy as np

from dask_graphgpu.partition.as_given import AsGiven
from dask_graphgpu.partition.build import dense_dtype, vertex_columns
from dask_graphgpu.partition.csr import Adjacency, all_below, offsets_of
from dask_graphgpu.partition.empty import NoVertices
from dask_graphgpu.partition.grown_vertices import listed_vertices, merged_ids
from dask_graphgpu.partition.growth import Growth
from dask_graphgpu.partition.ids import Names, VertexIds
from dask_graphgpu.partition.layered import find_levels
from dask_graphgpu.partition.order import falling_degree
from dask_graphgpu.partition.partition import Partition, Prepared
from dask_graphgpu.partition.resettled import both_ways, resettled, rows_between, stays_mirrored
from dask_graphgpu.partition.row_merge import Edges, Renumbering, merged, places_of
from dask_graphgpu.partition.rows import Rows
from dask_graphgpu.partition.rowwise import count_loops, count_neighbours, merge_repeats, row_ids


def is_mergeable(growth: Growth) -> bool:
    """Whether changes can be put into the rows one pair of vertices after the other.

    Not where an undirected frame had each edge in both directions and has not any more: then something is to be
    remembered of every edge.
    """
    aside = growth.base.as_given
    return aside is None or aside.turned is not None or stays_mirrored(growth)


def merged_partition(growth: Growth) -> Partition:
    """The partition that building the rows anew gives, of a growth that `is_mergeable`.

    Vertices are in the order of a build, so that sums are those of a build to the last digit: those whose degree has
    not changed keep their order, and rows are nearly in order when they have been renumbered. Rows under a rule for
    repeats are made of those that are there, where somebody asks for them.
    Cost: O(V + E), about two passes over the edges, or four where vertices are in the order of degrees.

    Raises
    ------
    NoVertices
        Nothing is left.
    """
    began = time.monotonic()
    base = growth.base
    columns, place, there = merged_ids(growth)
    number = len(columns[0])
    if not number:
        raise NoVertices
    dtype = dense_dtype(number)
    position, fell, dense = None, np.empty(0, bool), place
    if base.order == "degree":
        before, now = _degrees(growth)
        of_ids = np.empty(number, np.int64)
        of_ids[place[there]] = now[there]
        position = falling_degree(of_ids, dtype)
        dense = position[place]
        fell = now[: len(before)] < before
        fell = fell if fell.any() else fell[:0]
    of_old = np.full(number, -1, np.int64)
    kept = np.flatnonzero(there[: base.num_vertices])
    of_old[dense[kept]] = kept
    ids = VertexIds(columns, position)
    changed = _Changed(growth, Renumbering(dense, of_old, fell), ids.rank)
    listed = [chunk for chunk in listed_vertices(growth, _names(ids), dense) if len(chunk)]
    about = vertex_columns(listed, [all_below(number, dtype)], number)
    about = replace(about, repeated=base.vertex_columns.repeated)
    rows, aside = changed.as_given
    left = growth.size.rows > len(growth.source)  # rows of before, whose weights may be at fault
    levels = None
    if base.layout.layered:
        root = None if base.layout.root is None else ids.find_number(base.layout.root)
        levels = find_levels(rows, number, ids.rank, root, None)
    made = Partition(
        ids, rows, base.layout, about, growth.size.rows, changed.prepared(), levels=levels,
        fault=base.fault if left else None, as_given=aside,
    )  # fmt: skip
    made.derive = changed.rows_under
    if levels is not None:
        made.order_by_layers()
    made.took = {"build": time.monotonic() - began}
    return made


def _names(ids: VertexIds) -> Names:
    table = tuple(ids.columns)
    return Names(tuple(column.type for column in table), len(ids), table=table)


def _degrees(growth: Growth) -> tuple[np.ndarray, np.ndarray]:
    """How many ends of rows of the frame are at each old vertex, and at each number now."""
    base = growth.base
    given, aside = base.use_given(), base.as_given
    if base.layout.directed:
        before = given.degrees + count_neighbours(given)
    elif aside is None or aside.turned is None:
        before = 2 * given.degrees
    else:
        before = given.degrees + count_loops(given)  # of which one entry is both ends
        for end in (aside.rows, aside.neighbours):
            before += np.bincount(end, minlength=len(before))
    now = np.zeros(growth.num_numbered, np.int64)
    now[: len(before)] = before
    for end in (growth.source, growth.destination):
        now += np.bincount(end, minlength=len(now))
    if len(growth.gone[0]):
        if base.layout.directed:
            places = places_of(given, *growth.gone_cells(base.layout.by == "source"))
            rows, neighbours = (
                np.searchsorted(given.offsets, places, "right") - 1,
                given.neighbours[places],
            )
        else:
            gone = rows_between(base, *growth.gone)
            rows, neighbours = gone.rows, gone.neighbours
        for end in (rows, neighbours):
            now -= np.bincount(end, minlength=len(now))
    return before, now


class _Changed:
    """What of the rows of a partition has changed, and the rows made of it.

    Parameters
    ----------
    growth : Growth
    vertices : Renumbering
    rank
        As of `VertexIds`, of the vertices that are there now.
    """

    def __init__(self, growth: Growth, vertices: Renumbering, rank: np.ndarray | None) -> None:
        self._growth, self._base, self._vertices = growth, growth.base, vertices
        self._rank, self._directed = rank, growth.base.layout.directed
        self._by = growth.base.layout.by
        self._other = "destination" if self._by == "source" else "source"

    @property
    def given(self) -> Adjacency:
        """All rows of the frame, of an undirected one each edge at both ends."""
        return self.as_given[0]

    @cached_property
    def as_given(self) -> tuple[Adjacency, AsGiven | None]:
        """`given`, and what it does not say of the frame."""
        aside = self._base.as_given
        if aside is None or aside.turned is None:
            return self._all_rows(self._by, self._base.use_given()), aside
        return resettled(self._growth, self._vertices, self._rank, self._touched_pairs)

    def prepared(self) -> Prepared | None:
        """Whether no row is repeated, as far as that is known."""
        if self._base.is_plain():
            rows, neighbours = self._added_pairs
            return Prepared(len(places_of(self.given, rows, neighbours)) == len(rows))
        # Where rows have gone, repeats may have.
        return None if len(self._growth.gone[0]) else Prepared(plain=False)

    def rows_under(self, rule: str, names: tuple[str, ...]) -> Rows | None:
        """The rows under a rule, made of those that there were; None where there were none."""
        key = rule, names
        held = self._base.held_rows(*key)
        if held is None and rule in ("one", "min", "max") and self._base.is_plain():
            held = self._base.held_rows("any", tuple(self._base.given.columns))
        if held is None:
            return None
        if rule in ("any", "keep"):
            columns = {name: self.given.columns[name] for name in names}
            given = Adjacency(self.given.offsets, self.given.neighbours, columns)
            merge = self._all_rows
        else:
            sub = self._touched(rule, names)
            names = tuple(sub.columns)

            def merge(by: str, old: Adjacency) -> Adjacency:
                return self._settled(by, old, sub)

            given = merge(self._by, held.adjacency(self._by, names))
        rows = Rows(given, by=self._by, directed=self._directed)
        if self._directed and held.has(self._other):
            rows.take_other(lambda: merge(self._other, held.adjacency(self._other, names)))
        return rows

    def _all_rows(self, by: str, old: Adjacency) -> Adjacency:
        """Rows of the frame, by source or by destination, with the columns of ``old``."""
        growth, dense = self._growth, self._vertices.dense
        ends = dense[growth.source], dense[growth.destination]
        forward = by == "source" or not self._directed
        new = Edges(*(ends if forward else ends[::-1]), growth.columns)
        lost = np.sort(places_of(old, *growth.gone_cells(by == "source")))
        return merged(old, self._vertices, lost, new)

    @cached_property
    def _touched_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Sources and destinations of the pairs of old vertices whose rows have changed, by their old dense ids."""
        growth, old = self._growth, self._base.num_vertices
        inside = (growth.source < old) & (growth.destination < old)
        pairs = [
            np.concatenate([gone, added[inside]])
            for gone, added in zip(growth.gone, (growth.source, growth.destination), strict=True)
        ]
        first = growth.distinct(*pairs)
        return pairs[0][first], pairs[1][first]

    @cached_property
    def _added_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and neighbours, in the direction that is given, of the pairs with an added row; ascending."""
        growth, dense = self._growth, self._vertices.dense
        ends = dense[growth.source], dense[growth.destination]
        if not self._directed:
            ends = both_ways(*ends)
        rows, neighbours = ends if self._by == "source" else ends[::-1]
        keys = np.unique(rows.astype(np.uint64) << np.uint64(32) | neighbours.astype(np.uint64))
        return (keys >> np.uint64(32)).astype(np.int64), keys.astype(np.uint32).astype(dense.dtype)

    def _touched(self, rule: str, names: tuple[str, ...]) -> Adjacency:
        """What a rule makes of the rows of the pairs with an added row."""
        given = self.given
        rows, neighbours = self._added_pairs
        places = places_of(given, rows, neighbours)
        of_rows = np.searchsorted(given.offsets, places, "right") - 1
        sub = Adjacency(
            offsets_of(np.bincount(of_rows, minlength=given.num_vertices)),
            given.neighbours[places],
            {name: given.columns[name][places] for name in names},
        )
        return merge_repeats(sub, rule, always=True)

    def _settled(self, by: str, old: Adjacency, sub: Adjacency) -> Adjacency:
        """Rows under a rule: ``old`` ones with those of ``sub`` in the place of all that have changed."""
        ends = self._touched_pairs if self._directed else both_ways(*self._touched_pairs)
        lost = np.sort(places_of(old, *(ends if by == "source" else ends[::-1])))
        rows, neighbours = row_ids(sub), sub.neighbours
        new = Edges(*((rows, neighbours) if by == self._by else (neighbours, rows)), sub.columns)
        return merged(old, self._vertices, lost, new)
