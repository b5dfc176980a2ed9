"""Methods that are given an earlier result as labels: the answer for the graph alone, united with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dask.base import is_dask_collection, tokenize

from dask_graphgpu import execute, since, where
from dask_graphgpu.algorithms import Algorithm
from dask_graphgpu.checkpoint import Checkpointing
from dask_graphgpu.cluster.handing import Handed
from dask_graphgpu.cluster.tasks import take
from dask_graphgpu.cluster.waiting import other_key
from dask_graphgpu.cluster.watch import unasked
from dask_graphgpu.errors import briefly
from dask_graphgpu.ingest import chunks_of
from dask_graphgpu.inputs import Input
from dask_graphgpu.io.frames import meta_of
from dask_graphgpu.io.label_rows import LabelRows, found_labels, joined, read_labels
from dask_graphgpu.io.lazy_frames import EmptyResult, frame_of
from dask_graphgpu.io.naming import named
from dask_graphgpu.io.partitions import NAME, called
from dask_graphgpu.io.reads import folders_read
from dask_graphgpu.io.results import ColumnType, names_of
from dask_graphgpu.io.schema import EdgeSchema, holding_vertices
from dask_graphgpu.partition.united_groups import Grouped, united

_GROUP = "component"  # the column of a result that says a vertex's group


def call(
    algorithm: Algorithm, graph: Input, engine: str, keeping: Checkpointing | None = None
) -> Any:
    """As `execute.call`, of an algorithm that may have an earlier result: ``labels``, or one of an update."""
    if getattr(algorithm, "since", None) is not None:
        return execute.at_once(graph, engine, since.call, algorithm, graph)
    if getattr(algorithm, "labels", None) is None:
        return execute.call(algorithm, graph, engine, keeping)
    return execute.at_once(graph, engine, _call, algorithm, graph, engine)


def _call(algorithm: Any, graph: Input, engine: str) -> Any:
    frame, ids, labels = found_labels(algorithm.labels, graph.schema, [_GROUP], "labels")
    method = where.name_of(algorithm)
    schema = holding_vertices(graph.schema, meta_of(frame), ids, "labels")
    columns = named(algorithm.result_columns(schema), schema, method, algorithm.columns)
    alone = replace(algorithm, labels=None, columns=None)
    answer = execute.call(alone, graph, engine)
    made = named(alone.result_columns(graph.schema), graph.schema, method)
    own = (names_of(key, kind, graph.schema) for key, kind in made.items())
    given = [
        (frame, ids, labels, "labels"),
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
    return since.groups_in_parts(columns, of, schema, *united(grouped))
