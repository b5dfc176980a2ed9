"""A partition with the changes since it was built, copied but for what they touch."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from dask_graphgpu.partition.as_given import AsGiven, find_cells
from dask_graphgpu.partition.build import dense_dtype, listed_vertices, vertex_columns
from dask_graphgpu.partition.csr import Adjacency, all_below
from dask_graphgpu.partition.empty import NoVertices
from dask_graphgpu.partition.grown_vertices import merged_ids
from dask_graphgpu.partition.growth import Growth
from dask_graphgpu.partition.ids import Names, VertexIds
from dask_graphgpu.partition.layered import find_levels
from dask_graphgpu.partition.order import falling_degree
from dask_graphgpu.partition.partition import Partition, Prepared
from dask_graphgpu.partition.resettled import resettled, rows_between, stays_mirrored
from dask_graphgpu.partition.row_merge import Edges, Renumbering, merged, places_of
from dask_graphgpu.partition.rowwise import count_loops, count_neighbours


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
    not changed keep their order, and rows are nearly in order when they have been renumbered.
    Cost: O(V + E): the edges are copied, and in the order of degrees what is out of order in its row is sorted.

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
    rows, aside = _rows(growth, Renumbering(dense, of_old, fell), ids.rank)
    listed = [
        chunk for chunk in listed_vertices(base.vertex_columns, _names(ids), dense) if len(chunk)
    ]
    about = vertex_columns(listed, [all_below(number, dtype)], number)
    about = replace(about, repeated=base.vertex_columns.repeated)
    left = growth.size.rows > len(growth.source)  # rows of before, whose weights may be at fault
    levels = None
    if base.layout.layered:
        root = None if base.layout.root is None else ids.find_number(base.layout.root)
        levels = find_levels(rows, number, ids.rank, root, None)
    made = Partition(
        ids, rows, base.layout, about, growth.size.rows, _prepared(growth, dense, rows), levels=levels,
        fault=base.fault if left else None, as_given=aside,
    )  # fmt: skip
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
            places = places_of(given, *growth.gone_cells(_is_forward(base)))
            rows = np.searchsorted(given.offsets, places, "right") - 1
            ends = rows, given.neighbours[places]
        else:
            gone = rows_between(base, *growth.gone)
            ends = gone.rows, gone.neighbours
        for end in ends:
            now -= np.bincount(end, minlength=len(now))
    return before, now


def _rows(
    growth: Growth, vertices: Renumbering, rank: np.ndarray | None
) -> tuple[Adjacency, AsGiven | None]:
    """All rows of the frame, of an undirected one each edge at both ends, and what these do not say of it."""
    base, dense, aside = growth.base, vertices.dense, growth.base.as_given
    if aside is not None and aside.turned is not None:
        return resettled(growth, vertices, rank)
    ends = dense[growth.source], dense[growth.destination]
    forward = _is_forward(base)
    new = Edges(*(ends if forward else ends[::-1]), growth.columns)
    given = base.use_given()
    lost = np.sort(places_of(given, *growth.gone_cells(forward)))
    return merged(given, vertices, lost, new), aside


def _is_forward(base: Partition) -> bool:
    """Whether rows of the frame are in the rows of their sources."""
    return base.layout.by == "source" or not base.layout.directed


def _prepared(growth: Growth, dense: np.ndarray, rows: Adjacency) -> Prepared | None:
    """Whether nothing repeats; None: whoever asks is to look."""
    if not growth.base.is_plain():
        # Where rows have gone, repeats may have.
        return None if len(growth.gone[0]) else Prepared(plain=False)
    first = growth.distinct(growth.source, growth.destination)
    ends = dense[growth.source[first]], dense[growth.destination[first]]
    cells = ends if _is_forward(growth.base) else ends[::-1]
    begin, end = find_cells(rows, *cells)
    return Prepared(int((end - begin).max(initial=0)) <= 1)
