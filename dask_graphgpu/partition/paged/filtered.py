"""As `partition.filtered`, with edges in pages on disk."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dask_graphgpu.partition.bounds import Bound, within
from dask_graphgpu.partition.filtered import Left, SomeRows, fault_left
from dask_graphgpu.partition.paged.build import on_disk
from dask_graphgpu.partition.paged.files import PagedArray
from dask_graphgpu.partition.paged.limits import in_memory_bytes
from dask_graphgpu.partition.paged.rows import PagedPartition, edges_of
from dask_graphgpu.partition.paged.sort import AboutEdges, Edges, PagedAdjacency, SortRoom
from dask_graphgpu.partition.paged.window import Window, even_spans
from dask_graphgpu.partition.partition import Partition

_TURNED = "\0turned"  # no name of a column


def filtered(
    partition: PagedPartition, column: str, low: Bound, high: Bound, number: int | None = None
) -> Partition:
    """The partition that building the rows with ``low <= column < high`` gives.

    It is in memory where it fits graphgpu.host-memory-limit beside what is there of the whole, else in new pages on
    the same disks. Cost: a pass over neighbours and the column, unless the ``number`` of rows is given; one over all
    edges, or two for new pages, which are sorted there as by a build; and one over the vertices. Ids are not compared.

    Raises
    ------
    NoVertices
    SpillError, LimitTooSmall
    """
    given, directed = partition.given, partition.layout.directed
    assert isinstance(given, PagedAdjacency)
    if number is None:
        values = values_of(partition, column)
        number = sum(int(np.count_nonzero(within(each, low, high))) for each in values)
    held = partition.nbytes + in_memory_bytes(number, carried_bytes(partition), directed=directed)
    if held <= given.limits.memory:
        return rows_in_memory(partition, column, low, high).partition()
    return _on_disk(partition, column, low, high, number)


def values_of(partition: PagedPartition, column: str) -> Iterator[np.ndarray]:
    """The values of a column in all rows of the frame, in arrays; of undirected edges a pass over all columns.

    An array is right until the next one is asked for.
    """
    given, aside = partition.given, partition.directions
    assert isinstance(given, PagedAdjacency)
    if aside is None or aside.turned is None:
        pages: Any = given.columns[column]
        for lo, hi, held in _runs({column: pages}, given.num_edges, given.page_edges):
            yield held[column][lo:hi]
        return
    for _, _, columns in rows_given(partition, (column,)):
        yield columns[column]


def rows_given(partition: PagedPartition, names: tuple[str, ...] | None = None) -> Iterator[Edges]:
    """Rows, neighbours and some columns (None: all) of the rows of the frame as they were given, in runs."""
    given, aside = partition.given, partition.directions
    assert isinstance(given, PagedAdjacency)
    given = given if names is None else given.with_columns(names)
    if aside is None or aside.turned is None:
        yield from edges_of(given)
        return
    turned: Any = aside.turned
    marked = replace(given, columns=given.columns | {_TURNED: turned})
    for rows, neighbours, columns in edges_of(marked):
        forward = columns.pop(_TURNED) == 0
        yield rows[forward], neighbours[forward], {n: c[forward] for n, c in columns.items()}
    left = aside.left
    for lo, hi, held in _runs(left, len(left["rows"]), given.page_edges):
        columns = {name: held[f"column {name}"][lo:hi] for name in given.columns}
        yield held["rows"][lo:hi], held["neighbours"][lo:hi], columns


def _runs(
    arrays: Mapping[str, PagedArray], total: int, step: int
) -> Iterator[tuple[int, int, dict[str, np.ndarray]]]:
    """Spans of ``step`` elements of some arrays of pages, each of which is there until the next one."""
    spans = even_spans(np.append(np.arange(0, total, step), total))
    for (lo, hi), held in zip(spans.tolist(), Window(arrays).over(spans), strict=True):
        if lo < hi:
            yield lo, hi, held


def _chosen(partition: PagedPartition, column: str, low: Bound, high: Bound) -> Iterator[Edges]:
    """Those of `rows_given` with values within bounds, in memory of their own."""
    for rows, neighbours, columns in rows_given(partition):
        keep = within(columns[column], low, high)
        if keep.any():
            yield rows[keep], neighbours[keep], {n: c[keep] for n, c in columns.items()}


def carried_bytes(partition: PagedPartition) -> int:
    """Bytes of what an edge carries."""
    return sum(each.dtype.itemsize for each in partition.given.columns.values())


def rows_in_memory(partition: PagedPartition, column: str, low: Bound, high: Bound) -> SomeRows:
    """The rows of the frame with values within bounds, in memory. One pass over all edges."""
    given, layout = partition.given, partition.layout
    none = np.empty(0, given.neighbours.dtype)
    found: list[Edges] = [(none, none, {n: np.empty(0, c.dtype) for n, c in given.columns.items()})]
    found += _chosen(partition, column, low, high)
    rows, neighbours = (np.concatenate([run[i] for run in found]) for i in (0, 1))
    turned = layout.directed and layout.by == "destination"
    ends = (neighbours, rows) if turned else (rows, neighbours)
    columns = {name: np.concatenate([run[2][name] for run in found]) for name in given.columns}
    about = partition.ids, partition.vertex_columns, layout, partition.fault
    return SomeRows(*about, *ends, columns)


def _on_disk(
    partition: PagedPartition, column: str, low: Bound, high: Bound, number: int
) -> PagedPartition:
    began, given, layout = time.monotonic(), partition.given, partition.layout
    assert isinstance(given, PagedAdjacency)
    about, limits = partition.vertex_columns, given.limits
    there = np.zeros(len(partition.ids), bool) if about.listed is None else about.listed.copy()
    faults = set()
    for rows, neighbours, columns in _chosen(partition, column, low, high):
        there[rows.astype(np.intp)] = there[neighbours.astype(np.intp)] = True
        faults.add(fault_left(partition.fault, columns))
    left = Left.of(partition.ids, about, there)
    size, place, dtype = len(left.ids), left.place, left.place.dtype

    def edges() -> Iterator[Edges]:
        for rows, neighbours, columns in _chosen(partition, column, low, high):
            yield place.take(rows), place.take(neighbours), columns

    kinds = {name: each.dtype for name, each in given.columns.items()}
    held = partition.nbytes + place.nbytes + limits.window_bytes(2 * len(given.arrays))
    room = SortRoom(given.folder, limits, held)
    made = on_disk(edges, AboutEdges(size, number, dtype, kinds), layout, room)
    fault = next((each for each in faults if each is not None), None)
    part = PagedPartition(
        left.ids, made[0], layout, left.vertices, number, fault=fault, directions=made[1]
    )
    part.took = {"build": time.monotonic() - began}
    return part
