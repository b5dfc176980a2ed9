"""The partition of a whole graph, which every rank can read, as of a saved one, dealt to the ranks."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.partition.build import dense_dtype
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.empty import EmptyPartition, NoVertices
from dask_graphgpu.partition.partition import Partition, VertexColumns
from dask_graphgpu.partition.ranks.agree import Agreed
from dask_graphgpu.partition.ranks.build import share_of
from dask_graphgpu.partition.ranks.homes import Homes
from dask_graphgpu.partition.ranks.numbering import Codes, EdgeRun, Numbered
from dask_graphgpu.partition.ranks.on_host import OnHost
from dask_graphgpu.partition.ranks.owner import chosen
from dask_graphgpu.partition.ranks.partition import RankPartition
from dask_graphgpu.stages import Stage


def deal(
    ranks: Ranks,
    whole: Partition | EmptyPartition,
    partitioner: str | Callable[..., Any] = "balanced",
) -> RankPartition:
    """Take the share of this rank of a graph. Collective.

    Each rank takes part of the rows: vertices have numbers already, so that no id is read but by the home of its
    vertex, and edges go to their owners as in a build. Where arrays are mapped, each is looked at by one rank before
    any uses it. Cost: as `dask_graphgpu.partition.ranks.build.build` without its numbering; 10 bytes and the width of
    an id for each vertex of the graph, for a time.

    Parameters
    ----------
    whole : Partition
        The same on all ranks.
    partitioner : as of `build`
    """
    began = time.monotonic()
    partition = chosen(partitioner)
    if isinstance(whole, EmptyPartition):
        raise NoVertices
    stage = Stage("building", 3, told=ranks.rank == 0)
    stage.say("opening the share of a saved graph")
    _look(ranks, whole)
    source, destination, columns = _edges(whole, ranks.rank, ranks.size)
    agreed = Agreed(
        types=tuple(column.type for column in whole.ids.columns),
        columns={name: column.dtype for name, column in columns.items()},
        vertex_columns={},
        num_rows=whole.num_rows,
        num_vertex_rows=0,
        chunks=ranks.size,
        span=None,
        fault=whole.fault,
    )
    numbered = [_numbered(ranks, whole, source, destination, columns)]
    del source, destination, columns
    layout = replace(whole.layout, by="source")  # a rank has rows of both directions
    values = _columns_of(whole)
    made = share_of(numbered, agreed, layout, partition, "neighbours", OnHost(), stage, values)
    made.took = {"build": time.monotonic() - began}
    stage.step()
    return made


def _look(ranks: Ranks, whole: Partition) -> None:
    """Have each mapped array looked at by one rank. Collective: all have been when it returns."""
    if whole.origin is None:
        return
    given, ids, aside = whole.given, whole.ids, whole.as_given
    arrays = [given.offsets, given.neighbours, *given.columns.values(), *ids.columns]
    arrays += [each for each in (ids.position, ids.rank) if each is not None]
    arrays += [] if aside is None else aside.arrays
    for array in arrays[ranks.rank :: ranks.size]:
        whole.origin.before_use(array)
    ranks.barrier()


def _edges(
    whole: Partition, rank: int, size: int
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Sources and destinations of a rank's part of the rows of the frame, by dense id, and what they carry."""
    given = whole.given
    lo, hi = (given.num_edges * each // size for each in (rank, rank + 1))
    rows, neighbours = _rows_of(given, lo, hi), given.neighbours[lo:hi]
    columns = {name: column[lo:hi] for name, column in given.columns.items()}
    if whole.layout.directed:
        ends = (rows, neighbours) if whole.layout.by == "source" else (neighbours, rows)
        return *ends, columns
    aside = whole.as_given
    assert aside is not None
    if aside.turned is None:  # each row of the frame stands as it was given
        return rows, neighbours, columns
    first = lo // 8
    bits = np.unpackbits(aside.turned[first : -(-hi // 8)])[lo - 8 * first : hi - 8 * first]
    forward = bits == 0
    rows, neighbours = rows[forward], neighbours[forward]
    columns = {name: column[forward] for name, column in columns.items()}
    left = slice(*(len(aside.places) * each // size for each in (rank, rank + 1)))
    if not len(aside.places[left]):
        return rows, neighbours, columns
    return (
        np.concatenate([rows, aside.rows[left].astype(rows.dtype)]),
        np.concatenate([neighbours, aside.neighbours[left].astype(neighbours.dtype)]),
        {name: np.concatenate([c, aside.columns[name][left]]) for name, c in columns.items()},
    )


def _rows_of(given: Adjacency, lo: int, hi: int) -> np.ndarray:
    """The row of each of some entries."""
    first, end = np.searchsorted(given.offsets, [lo, hi], side="right") - 1
    bounds = np.clip(given.offsets[first : end + 2].astype(np.int64), lo, hi)
    rows = np.arange(first, first + len(bounds) - 1, dtype=given.neighbours.dtype)
    return np.repeat(rows, np.diff(bounds))


def _numbered(
    ranks: Ranks,
    whole: Partition,
    source: np.ndarray,
    destination: np.ndarray,
    columns: dict[str, np.ndarray],
) -> Numbered:
    """Some edges of a graph whose vertices have their numbers: places in the order of the ids."""
    ids, n = whole.ids, whole.num_vertices
    starts = np.arange(ranks.size + 1) * n // ranks.size
    homes = Homes(ranks, starts, np.dtype(dense_dtype(n)))
    here = [column.slice(homes.first, homes.num_here) for column in ids.columns]
    splits = [tuple(c[start].as_py() for c in ids.columns) for start in starts[1:-1].tolist()]
    occurs = np.zeros(n, bool)
    for end in (source, destination):
        occurs[end] = True
    if ids.rank is not None:
        occurs = occurs.take(ids.in_user_order())
    numbers = np.flatnonzero(occurs).astype(homes.dtype)
    if not len(source):
        return Numbered(homes, here, splits, numbers, [], [])
    place = np.maximum(np.cumsum(occurs, dtype=homes.dtype), 1)
    place -= 1  # what stands for vertices that do not occur is looked up with the others
    table = place if ids.rank is None else place.take(ids.rank)
    run = EdgeRun(source, destination, Codes(0, slice(None)), columns)
    return Numbered(homes, here, splits, numbers, [table], [run])


def _columns_of(whole: Partition) -> Callable[[np.ndarray, int], VertexColumns]:
    """What gives a rank the columns of the vertices that it owns."""
    held, position = whole.vertex_columns, whole.ids.position

    def columns_of(own: np.ndarray, num_local: int) -> VertexColumns:
        dense = own if position is None else position.take(own)

        def ours(column: np.ndarray) -> np.ndarray:
            values = np.zeros(num_local, column.dtype)
            values[: len(own)] = column.take(dense)
            return values

        columns = {name: ours(column) for name, column in held.columns.items()}
        known = {name: ours(column) for name, column in held.known.items()}
        listed = None if held.listed is None else ours(held.listed)
        return VertexColumns(
            columns, held.missing, held.repeated, known, whole.num_vertices, listed
        )

    return columns_of
