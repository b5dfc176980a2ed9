"""Methods that go on from their result of an earlier generation of a saved graph, by what has changed since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from dask.base import is_dask_collection, tokenize

from dask_graphgpu import execute, where
from dask_graphgpu.algorithms import CoreNumber, WeaklyConnectedComponents
from dask_graphgpu.cluster.handing import Handed, hand_in
from dask_graphgpu.cluster.tasks import take
from dask_graphgpu.cluster.waiting import other_key
from dask_graphgpu.errors import InvalidArgument, briefly
from dask_graphgpu.ingest import Needs, chunks_of
from dask_graphgpu.inputs import Built, Input
from dask_graphgpu.io.label_rows import LabelRows, found_labels, joined, read_labels
from dask_graphgpu.io.lazy_frames import EmptyResult, frame_of
from dask_graphgpu.io.naming import named
from dask_graphgpu.io.partitions import NAME
from dask_graphgpu.io.reads import folders_read
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.partition.cores_since import cores_since
from dask_graphgpu.partition.empty import EmptyPartition
from dask_graphgpu.partition.growth import Growth
from dask_graphgpu.partition.regrouped import regrouped
from dask_graphgpu.partition.result_rows import bounds_of
from dask_graphgpu.partition.string_entries import taken
from dask_graphgpu.partition.united_groups import Grouped, united
from dask_graphgpu.store.changes import check_known, growth_since, rows_since
from dask_graphgpu.store.saved import Saved, open_growth, open_partition

# Of each method the argument that takes its earlier result, and the column of that.
_GIVEN: dict[type, tuple[str, str]] = {
    CoreNumber: ("start", "core_number"),
    WeaklyConnectedComponents: ("labels", "component"),
}

# Core numbers are made anew at once where more rows have come and gone than so many, and than this part of all.
_FEW, _PART = 1 << 12, 512
# What to do where there is no log.
_WITHOUT = {
    "labels": "give labels= to the graph of the edges that are new",
    "start": "and start=, to peel the whole graph",
}


@dataclass(frozen=True)
class _Asked:
    """``of`` frames of a result, with as many rows each, on a saved graph as it is; ``since`` : an update before."""

    columns: dict[str, ColumnType]
    of: int
    schema: EdgeSchema
    saved: Saved
    since: int

    @property
    def path(self) -> Any:
        return str(self.saved.path) if isinstance(self.saved.path, Path) else self.saved.path

    def growths(self) -> tuple[Growth, Growth]:
        """The graph as it is, and what has changed since."""
        return open_growth(self.path, self.saved.fingerprint), growth_since(self.saved, self.since)


def call(algorithm: Any, graph: Input) -> Any:
    """The result on a saved graph as it is, of the one of the generation ``since``."""
    argument, column = _GIVEN[type(algorithm)]
    frame, ids, values = found_labels(
        getattr(algorithm, argument), graph.schema, [column], argument
    )
    saved = graph.saved if isinstance(graph, Built) else None
    if saved is None:
        raise InvalidArgument(
            f"since={algorithm.since} is of saved graphs, and this one is {graph.state}: save it and update it, or "
            f"leave since= out: {_WITHOUT[argument]}"
        )
    check_known(saved, algorithm.since)
    schema, method = graph.schema, where.name_of(algorithm)
    columns = named(algorithm.result_columns(schema), schema, method, algorithm.columns)
    of, empty = graph.npartitions, EmptyResult(columns, schema, graph.num_vertices)
    name = frame._name if is_dask_collection(frame) else frame
    asked = _Asked(columns, of, schema, saved, int(algorithm.since))
    key = f"{NAME}-{method}-since-{tokenize(name, ids, values, asked)}"
    reads = *graph.reads, *folders_read([frame])
    make = _cores if isinstance(algorithm, CoreNumber) else _regrouped

    def arguments(_: str) -> tuple[Any, ...]:
        return asked, chunks_of(frame, True, read_labels, ids, values, argument)

    return frame_of(empty, of, key, make, arguments, take, reads, other_key)


@briefly
def _regrouped(asked: _Asked, parts: Sequence[LabelRows]) -> list[Any] | Handed:
    """Frames of components."""
    growth, news = asked.growths()
    labels = Grouped.of(*joined(parts, "labels"), "labels")
    ids, first = united(regrouped(growth, news, labels))
    size = growth.size
    if len(first) != size.vertices:
        raise InvalidArgument(
            f"labels are not those of generation {asked.since}: with what has changed since they are of {len(first):,} "
            f"vertices, and the graph has {size.vertices:,}; give the components of the whole graph at since="
        )
    execute.tell_of_no_run("weakly_connected_components", size.rows, size.vertices)
    return groups_in_parts(asked.columns, asked.of, asked.schema, ids, first)


@briefly
def _cores(asked: _Asked, parts: Sequence[LabelRows]) -> list[Any] | Handed:
    """Frames of core numbers; peels where too much has changed."""
    columns, of, schema, saved = asked.columns, asked.of, asked.schema, asked.saved
    ids, (given, *more) = joined(parts, "start")
    if more or not (pa.types.is_integer(given.type) and (pc.min(given).as_py() or 0) >= 0):
        raise InvalidArgument(
            f"start: {given.type} in place of core numbers, which are integers of at least 0"
        )
    found = None
    if rows_since(saved, asked.since) <= max(saved.rows // _PART, _FEW):
        found = cores_since(*asked.growths(), ids, np.asarray(given.cast(pa.int64())))
    if found is not None:
        execute.tell_of_no_run("core_number", saved.rows, saved.vertices)
        vertices, core = found
        values: Table = {"core_number": Values(core)}
        return in_parts(columns, of, schema, {"vertex": vertices}, values)
    partition = open_partition(asked.path, saved.fingerprint)
    if isinstance(partition, EmptyPartition):
        return hand_in([execute.results_of(schema).empty_frame(columns, schema)] * of)
    table, numbers = execute.execute(CoreNumber(), partition, schema, Needs(), "cpu", {})
    cuts = pairwise(bounds_of(saved.vertices, of).tolist())
    made = execute.results_of(schema)
    return hand_in([made.to_frame(table, columns, numbers, schema, slice(*cut)) for cut in cuts])


def groups_in_parts(
    columns: dict[str, ColumnType],
    of: int,
    schema: EdgeSchema,
    ids: list[pa.Array],
    first: np.ndarray,
) -> list[Any] | Handed:
    """As `in_parts`, of vertices and, by its row, the smallest one in the component of each."""
    vertices = {"vertex": ids, "component": [taken(column, first) for column in ids]}
    return in_parts(columns, of, schema, vertices, {})


def in_parts(
    columns: dict[str, ColumnType],
    of: int,
    schema: EdgeSchema,
    vertices: dict[str, list[pa.Array]],
    values: Table,
) -> list[Any] | Handed:
    """``of`` frames, with as many rows each: ids of vertices, and values of these."""
    kind = execute.results_of(schema)

    def frame(lo: int, hi: int) -> Any:
        part = {name: [column[lo:hi] for column in table] for name, table in vertices.items()}
        numbers = {name: Values(column.data[lo:hi]) for name, column in values.items()}
        return kind.assemble(numbers, part, columns, schema, lo)

    total = len(vertices["vertex"][0])
    return hand_in([frame(*cut) for cut in pairwise(bounds_of(total, of).tolist())])
