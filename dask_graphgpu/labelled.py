"""Methods that are given an earlier result as labels: the answer for the graph alone, united with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from dask.base import is_dask_collection, tokenize

from dask_graphgpu import execute, where
from dask_graphgpu.algorithms import Algorithm
from dask_graphgpu.checkpoint import Checkpointing
from dask_graphgpu.cluster.handing import Handed, hand_in
from dask_graphgpu.cluster.tasks import take
from dask_graphgpu.cluster.waiting import other_key
from dask_graphgpu.cluster.watch import unasked
from dask_graphgpu.errors import InvalidArgument, briefly
from dask_graphgpu.ingest import chunks_of
from dask_graphgpu.inputs import Built, Input
from dask_graphgpu.io.arrow_frames import settled
from dask_graphgpu.io.frames import meta_of, on_device, unlike, with_columns
from dask_graphgpu.io.label_rows import LabelRows, find_label_columns, joined, read_labels
from dask_graphgpu.io.lazy_frames import EmptyResult, bounds_of, frame_of
from dask_graphgpu.io.naming import named
from dask_graphgpu.io.partitions import NAME, called
from dask_graphgpu.io.reads import folders_read
from dask_graphgpu.io.results import ColumnType, names_of
from dask_graphgpu.io.schema import EdgeSchema, find_vertex_columns, holding_vertices
from dask_graphgpu.partition.regrouped import regrouped
from dask_graphgpu.partition.string_entries import taken
from dask_graphgpu.partition.united_groups import Grouped, united
from dask_graphgpu.store.changes import check_known, growth_since
from dask_graphgpu.store.saved import Saved, open_growth

_GROUP = "component"  # the column of a result that says a vertex's group


def call(
    algorithm: Algorithm, graph: Input, engine: str, keeping: Checkpointing | None = None
) -> Any:
    """As `execute.call`, of an algorithm that may have ``labels``: a frame of any kind."""
    if getattr(algorithm, "labels", None) is None:
        return execute.call(algorithm, graph, engine, keeping)
    return execute.at_once(graph, engine, _call, algorithm, graph, engine)


def _call(algorithm: Any, graph: Input, engine: str) -> Any:
    frame, method = algorithm.labels, where.name_of(algorithm)
    if on_device(frame) != graph.schema.on_device:
        raise InvalidArgument(unlike("labels", frame))
    frame = settled(frame)
    ids = find_vertex_columns(meta_of(frame), graph.schema, "labels")
    labels = find_label_columns(
        [str(c) for c in frame.columns], ids, graph.schema, [_GROUP], "labels"
    )
    if algorithm.since is not None:
        return _call_since(algorithm, graph, frame, ids, labels)
    schema = holding_vertices(graph.schema, meta_of(frame), ids, "labels")
    columns = named(algorithm.result_columns(schema), schema, method, algorithm.columns)
    alone = replace(algorithm, labels=None, columns=None)
    answer = execute.call(alone, graph, engine)
    made = named(alone.result_columns(graph.schema), graph.schema, method)
    own = (names_of(key, kind, graph.schema) for key, kind in made.items())
    given = [
        (with_columns(frame, [*ids, *labels]), ids, labels, "labels"),
        (answer, *own, "the answer"),
    ]

    def chunks(_: str) -> list[Any]:
        return [chunks_of(each[0], graph.lazy, read_labels, *each[1:]) for each in given]

    if not graph.lazy:
        parts = [
            called(list, each).compute() if is_dask_collection(given[i][0]) else each
            for i, each in enumerate(chunks(""))
        ]
        return _united(columns, 1, schema, *parts)[0]
    of = max(each[0].npartitions for each in given if is_dask_collection(each[0]))
    named_frames = [each[0]._name if is_dask_collection(each[0]) else each[0] for each in given]
    token = tokenize(named_frames, [each[1:] for each in given], columns, schema, of)
    empty, reads = EmptyResult(columns, schema), (*graph.reads, *folders_read([frame]))

    def arguments(key: str) -> tuple[Any, ...]:
        return columns, of, schema, *chunks(key)

    key = f"{NAME}-{method}-with-labels-{token}"
    return frame_of(empty, of, key, _united, arguments, take, reads, _other_key)


def _call_since(
    algorithm: Any, graph: Input, frame: Any, ids: tuple[str, ...], labels: tuple[str, ...]
) -> Any:
    """As `_call`, of labels of an earlier generation of a saved graph."""
    saved = graph.saved if isinstance(graph, Built) else None
    if saved is None:
        raise InvalidArgument(
            f"since={algorithm.since} is of saved graphs, and this one is {graph.state}: save it and update it, or "
            "leave since= out and give the graph of the edges that are new"
        )
    check_known(saved, algorithm.since)
    schema, method = graph.schema, where.name_of(algorithm)
    columns = named(algorithm.result_columns(schema), schema, method, algorithm.columns)
    given = with_columns(frame, [*ids, *labels]), ids, labels, "labels"
    of, empty = graph.npartitions, EmptyResult(columns, schema, graph.num_vertices)
    name = given[0]._name if is_dask_collection(given[0]) else given[0]
    about = columns, of, schema, saved, int(algorithm.since)
    key = f"{NAME}-{method}-since-{tokenize(name, given[1:], about)}"
    reads = *graph.reads, *folders_read([frame])

    def arguments(_: str) -> tuple[Any, ...]:
        return *about, chunks_of(given[0], True, read_labels, *given[1:])

    return frame_of(empty, of, key, _regrouped, arguments, take, reads, other_key)


@briefly
def _regrouped(
    columns: dict[str, ColumnType],
    of: int,
    schema: EdgeSchema,
    saved: Saved,
    since: int,
    parts: Sequence[LabelRows],
) -> list[Any] | Handed:
    """As `_united`, of a saved graph and labels of a generation of it."""
    path = str(saved.path) if isinstance(saved.path, Path) else saved.path
    growth = open_growth(path, saved.fingerprint)
    labels = Grouped.of(*joined(parts, "labels"), "labels")
    ids, first = united(regrouped(growth, growth_since(saved, since), labels))
    if len(first) != growth.size.vertices:
        raise InvalidArgument(
            f"labels are not those of generation {since}: with what has changed since they are of {len(first):,} "
            f"vertices, and the graph has {growth.size.vertices:,}; give the components of the whole graph at since="
        )
    size = growth.size
    execute.tell_of_no_run("weakly_connected_components", size.rows, size.vertices)
    return _frames(columns, of, schema, ids, first)


def _other_key(key: str) -> str | None:
    """As `other_key`; the report to be shown stays that of the graph alone."""
    with unasked():
        return other_key(key)


@briefly
def _united(
    columns: dict[str, ColumnType],
    of: int,
    schema: EdgeSchema,
    *tables: Sequence[LabelRows],
) -> list[Any] | Handed:
    """``of`` frames with as many rows of the result each."""
    grouped = []
    for parts, what in zip(tables, ("labels", "the answer"), strict=True):
        grouped.append(Grouped.of(*joined(parts, what), what))
    return _frames(columns, of, schema, *united(grouped))


def _frames(
    columns: dict[str, ColumnType],
    of: int,
    schema: EdgeSchema,
    ids: list[pa.Array],
    first: np.ndarray,
) -> list[Any] | Handed:
    """``of`` frames of vertices and, by its row, the smallest one in the component of each."""
    vertices = {"vertex": ids, _GROUP: [taken(column, first) for column in ids]}
    kind = execute.results_of(schema)

    def frame(lo: int, hi: int) -> Any:
        part = {name: [column[lo:hi] for column in table] for name, table in vertices.items()}
        return kind.assemble({}, part, columns, schema, lo)

    return hand_in([frame(*cut) for cut in pairwise(bounds_of(len(first), of))])
