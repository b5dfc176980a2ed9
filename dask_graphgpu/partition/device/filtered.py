"""As `partition.filtered`, with edges in the memory of the GPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from dask_graphgpu.partition.bounds import Bound, within
from dask_graphgpu.partition.build import dense_dtype
from dask_graphgpu.partition.device.arrays import blocks, choose, module_of, unpacked
from dask_graphgpu.partition.device.build import DevicePartition, DeviceVertices, of_numbered
from dask_graphgpu.partition.device.csr import row_ids
from dask_graphgpu.partition.device.memory import told
from dask_graphgpu.partition.device.numbering import Numbering, ends_of, taken_rows
from dask_graphgpu.partition.empty import NoVertices
from dask_graphgpu.partition.partition import VertexColumns
from dask_graphgpu.stages import Stage


@told("taking a part of a graph on the GPU")
def filtered(partition: DevicePartition, column: str, low: Bound, high: Bound) -> DevicePartition:
    """The partition that building the rows with ``low <= column < high`` gives.

    Cost: a pass over the edges, and a sort of those that stay; ids are not compared.

    Raises
    ------
    NoVertices
        There is no row, and no vertex that a vertices frame has named.
    OutOfDeviceMemory
    """
    source, destination, columns = _rows_of(partition, column, low, high)
    ids, about = partition.ids, partition.vertex_columns
    which = source[:0] if about.listed is None else module_of(source).flatnonzero(about.listed)
    ends = source, destination, which
    if ids.rank is not None:
        ends = tuple(ids.rank[each] for each in ends)
    vertices = _vertices(about, which, ends[2])
    numbering = [_numbered(ids.columns, *ends, bool(vertices))]
    del source, destination, ends
    stage = Stage("building", 2)
    made = of_numbered(numbering, [columns], vertices, partition.layout, stage)
    made.vertex_columns = replace(made.vertex_columns, repeated=about.repeated)
    stage.step()
    return made


def values_of(partition: DevicePartition, column: str) -> Iterator[Any]:
    """The values of a column in all rows of the frame, in arrays."""
    values, aside = partition.given.columns[column], partition.as_given
    if aside is None or aside.turned is None:
        yield values
        return
    yield choose(values, ~unpacked(aside.turned, len(values)))
    if len(aside.places):
        yield aside.columns[column]


def _rows_of(
    partition: DevicePartition, column: str, low: Bound, high: Bound
) -> tuple[Any, Any, dict[str, Any]]:
    """Sources, destinations and columns of the rows of the frame with values within bounds."""
    given, aside, layout = partition.given, partition.as_given, partition.layout
    keep = within(given.columns[column], low, high)
    if aside is not None and aside.turned is not None:
        keep &= ~unpacked(aside.turned, given.num_edges)
    ends = choose(row_ids(given), keep), choose(given.neighbours, keep)
    columns = {name: choose(values, keep) for name, values in given.columns.items()}
    if layout.directed and layout.by == "destination":
        ends = ends[::-1]
    if aside is None or not len(aside.places):
        return *ends, columns
    xp = module_of(keep)
    left = within(aside.columns[column], low, high)
    more = choose(aside.rows, left), choose(aside.neighbours, left)
    source, destination = (xp.concatenate(both) for both in zip(ends, more, strict=True))
    joined = {
        name: xp.concatenate([values, choose(aside.columns[name], left)])
        for name, values in columns.items()
    }
    return source, destination, joined


def _numbered(
    columns: Sequence[Any], source: Any, destination: Any, listed: Any, framed: bool
) -> Numbering:
    """Ends of edges and, if there is a frame of them, vertices, all of which are places in ascending ids."""
    xp, codes = module_of(source), [source, destination, *([listed] if framed else [])]
    ends = ends_of(xp, codes[:2], len(columns[0]))
    there = ends.any(axis=0)
    for part in blocks(len(listed)):
        there[listed[part]] = True
    found = xp.flatnonzero(there)
    if not len(found):
        raise NoVertices
    table = (xp.maximum(xp.cumsum(there), 1) - 1).astype(dense_dtype(len(found)))
    ids = [taken_rows(column, found) for column in columns]
    return Numbering(ids, codes, table, ends[:, found])


def _vertices(about: VertexColumns, which: Any, rows: Any) -> list[DeviceVertices]:
    """What the vertices frame says of the vertices ``which``, which are ``rows`` of ids."""
    if about.listed is None:
        return []
    columns = {name: column[which] for name, column in about.columns.items()}
    gaps = {name: ~about.known[name][which] for name in about.known}
    return [DeviceVertices((rows,), columns, gaps)]
