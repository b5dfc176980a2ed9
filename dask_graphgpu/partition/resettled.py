"""Rows of an undirected graph after a change: which rows of the frame are the same edges is decided anew where it fell.

That depends on all rows between two vertices, and on no others. So what is between the pairs that have changed goes
from the rows, and comes again as building decides it of the rows of the frame that are between them now.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dask_graphgpu.partition.as_given import AsGiven, find_cells, packed
from dask_graphgpu.partition.csr import Adjacency, Coo, mirrored
from dask_graphgpu.partition.growth import Growth, among
from dask_graphgpu.partition.partition import Partition
from dask_graphgpu.partition.row_merge import Edges, Renumbering, merged, places_of
from dask_graphgpu.partition.rowwise import row_ids
from dask_graphgpu.partition.undirected import undirected

_ONES = np.array([bin(byte).count("1") for byte in range(256)], np.int64)  # set bits of a byte


def stays_mirrored(growth: Growth) -> bool:
    """Whether a frame that has each edge in both directions still has."""
    no_table = growth.source[:0]
    return mirrored([Coo(growth.source, growth.destination, no_table, growth.columns)])


def rows_between(base: Partition, first: np.ndarray, second: np.ndarray) -> Edges:
    """The rows of the frame of an undirected graph between distinct pairs of vertices, either way.

    Those with the same ends are in the order of the frame. Cost: the rows of the pairs, and a pass over the bits of
    `AsGiven.turned`.
    """
    return _rows_at(
        base, places_of(base.use_given(), *_both_ways(first, second)), _keys(first, second)
    )


def _rows_at(base: Partition, entries: np.ndarray, keys: np.ndarray) -> Edges:
    """`rows_between`, by the places of all that is between the pairs, and by their `_keys`."""
    given, aside = base.given, base.use_as_given()
    if aside.turned is not None:
        entries = entries[~_turned_at(aside.turned, entries)]
    rows, neighbours = _rows_of(given, entries), given.neighbours[entries]
    columns = {name: column[entries] for name, column in given.columns.items()}
    if not len(aside.places):
        return Edges(rows, neighbours, columns)
    kept = _forward_before(aside.turned, entries)
    places = kept + np.searchsorted(aside.places - np.arange(len(aside.places)), kept, "right")
    left = np.flatnonzero(among(_keys(aside.rows, aside.neighbours), np.sort(keys)))
    order = np.argsort(np.concatenate([places, aside.places[left]]))
    return Edges(
        np.concatenate([rows, aside.rows[left].astype(np.int64)])[order],
        np.concatenate([neighbours, aside.neighbours[left]])[order],
        {n: np.concatenate([c, aside.columns[n][left]])[order] for n, c in columns.items()},
    )


def _rows_of(rows: Adjacency, entries: np.ndarray) -> np.ndarray:
    """The row that each of some entries is in; int64."""
    found: np.ndarray = np.searchsorted(rows.offsets, entries, "right") - 1
    return found


def resettled(
    growth: Growth,
    vertices: Renumbering,
    rank: np.ndarray | None,
) -> tuple[Adjacency, AsGiven]:
    """The rows that are there now, and what they do not say.

    Parameters
    ----------
    rank
        As of `undirected.undirected`.
    """
    base, dense = growth.base, vertices.dense
    given, aside = base.use_given(), base.use_as_given()
    assert aside.turned is not None
    touched = _touched(growth)
    keys, gone = _keys(*touched), np.sort(_keys(*growth.gone))
    lost = np.sort(places_of(given, *_both_ways(*touched)))
    stay = lost
    if len(gone):
        stay = lost[~among(_keys(_rows_of(given, lost), given.neighbours[lost]), gone)]
    old = _rows_at(base, stay, keys[~among(keys, gone)])
    none = np.empty(0, dense.dtype)
    runs = [
        Coo(dense[old.rows], dense[old.neighbours], none, old.columns),
        Coo(dense[growth.source], dense[growth.destination], none, growth.columns),
    ]
    between, more = undirected(len(vertices.of_old), runs, dense.dtype, rank)
    assert more.turned is not None
    # Names of users' columns do not meet that of the bits.
    carried = {f"={name}": column for name, column in given.columns.items()}
    carried["turned"] = np.unpackbits(aside.turned, count=given.num_edges)
    added = {f"={name}": column for name, column in between.columns.items()}
    added["turned"] = np.unpackbits(more.turned, count=between.num_edges)
    rows = merged(
        Adjacency(given.offsets, given.neighbours, carried),
        vertices,
        lost,
        Edges(row_ids(between), between.neighbours, added),
    )
    turned = packed(rows.columns.pop("turned"))
    columns = {name: rows.columns[f"={name}"] for name in given.columns}
    rows = Adjacency(rows.offsets, rows.neighbours, columns)
    untouched = ~among(_keys(aside.rows, aside.neighbours), np.sort(keys))
    left = [
        _left_out(given, aside, untouched, dense),
        _left_out(between, more, np.ones(len(more.places), bool), None),
    ]
    return rows, _with_places(rows, turned, left)


def _touched(growth: Growth) -> tuple[np.ndarray, np.ndarray]:
    """The distinct pairs of vertices of the old partition between which rows have come or gone."""
    old = growth.base.num_vertices
    inside = (growth.source < old) & (growth.destination < old)
    first = np.concatenate([growth.gone[0], growth.source[inside]])
    second = np.concatenate([growth.gone[1], growth.destination[inside]])
    places = growth.distinct(first, second)
    return first[places], second[places]


def _both_ways(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and neighbours of the cells of pairs, which are in the rows of both ends; a loop is in one."""
    others = first != second
    return np.concatenate([first, second[others]]), np.concatenate([second, first[others]])


def _keys(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """A number for each pair of vertices, the same either way."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    keys: np.ndarray = low.astype(np.uint64) << np.uint64(32) | high.astype(np.uint64)
    return keys


def _turned_at(turned: np.ndarray, entries: np.ndarray) -> np.ndarray:
    """Which of some entries were given from the neighbour."""
    found: np.ndarray = (turned[entries >> 3] >> (7 - (entries & 7)).astype(np.uint8)) & 1 > 0
    return found


def _forward_before(turned: np.ndarray | None, entries: np.ndarray) -> np.ndarray:
    """How many entries before each of some were given as they stand; int64."""
    assert turned is not None
    bits = np.append(turned, np.uint8(0))
    before = np.cumsum(_ONES[bits]) - _ONES[bits]
    byte = entries >> 3
    within = _ONES[bits[byte].astype(np.int64) >> (8 - (entries & 7))]
    found: np.ndarray = entries - before[byte] - within
    return found


def _left_out(
    rows: Adjacency, aside: AsGiven, which: np.ndarray, dense: np.ndarray | None
) -> tuple[AsGiven, np.ndarray]:
    """Some of the rows left out, under other numbers of vertices, and how many that are kept each is behind.

    These are counted among those with the same ends.
    """
    kept = (aside.places - np.arange(len(aside.places)))[which]
    ends = aside.rows[which], aside.neighbours[which]
    if len(kept):
        kept = kept - _forward_before(aside.turned, find_cells(rows, *ends)[0])
    source, destination = ends if dense is None else (dense[ends[0]], dense[ends[1]])
    columns = {name: column[which] for name, column in aside.columns.items()}
    return replace(aside, rows=source, neighbours=destination, columns=columns), kept


def _with_places(
    rows: Adjacency, turned: np.ndarray, left: list[tuple[AsGiven, np.ndarray]]
) -> AsGiven:
    """What rows do not say, of the rows left out, each with its place there."""
    some = [(aside, kept) for aside, kept in left if len(kept)]
    if not some:
        return AsGiven(turned)
    source = np.concatenate([aside.rows for aside, _ in some])
    destination = np.concatenate([aside.neighbours for aside, _ in some])
    behind = np.concatenate([kept for _, kept in some])
    order = np.lexsort((behind, destination, source))
    source, destination, behind = source[order], destination[order], behind[order]
    places = _forward_before(turned, find_cells(rows, source, destination)[0]) + behind
    columns = {
        name: np.concatenate([aside.columns[name] for aside, _ in some])[order]
        for name in rows.columns
    }
    return AsGiven(turned, places + np.arange(len(order)), source, destination, columns)
