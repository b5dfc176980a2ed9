"""Running an algorithm on a partition, at once or as Dask tasks."""

from __future__ import annotations

import dataclasses
import gc
import importlib
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from types import ModuleType
from typing import Any, TypeVar

from dask.base import is_dask_collection, tokenize

from dask_graphgpu import engine as engines
from dask_graphgpu import where
from dask_graphgpu.algorithms import Algorithm
from dask_graphgpu.algorithms.algorithm import check_names_no_vertex
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.vertex_labels import group_columns
from dask_graphgpu.algorithms.vertex_values import FrameColumns
from dask_graphgpu.checkpoint import Checkpointing, call_of
from dask_graphgpu.cluster import lazy, watch
from dask_graphgpu.cluster.handing import Handed, hand_in
from dask_graphgpu.cluster.haste import hurry_client
from dask_graphgpu.cluster.tasks import take
from dask_graphgpu.cluster.waiting import other_key
from dask_graphgpu.cluster.work import Job
from dask_graphgpu.errors import InvalidArgument, briefly
from dask_graphgpu.ingest import Needs, ValueFrame, vertex_chunks_of
from dask_graphgpu.inputs import Input
from dask_graphgpu.interrupting import check, interruptible, stoppable, stopping
from dask_graphgpu.io.arrow_frames import settled
from dask_graphgpu.io.frames import check_frame, is_frame, meta_of, on_device, unlike
from dask_graphgpu.io.lazy_frames import EmptyResult, frame_of
from dask_graphgpu.io.naming import named
from dask_graphgpu.io.partitions import Parts, called
from dask_graphgpu.io.reads import folders_read
from dask_graphgpu.io.results import ColumnType, Table
from dask_graphgpu.io.schema import EdgeSchema, find_vertex_columns
from dask_graphgpu.partition.device import memory
from dask_graphgpu.partition.edge_list import EdgeList
from dask_graphgpu.partition.empty import EmptyPartition
from dask_graphgpu.partition.host_memory import give_back
from dask_graphgpu.partition.layout import Form, form_of
from dask_graphgpu.partition.partition import Partition
from dask_graphgpu.partition.result_rows import bounds_of
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

T = TypeVar("T")


def call(
    algorithm: Algorithm, graph: Input, engine: str, keeping: Checkpointing | None = None
) -> Any:
    """The result of an algorithm: a frame as the graph's own, a Dask frame when it is lazy."""
    return at_once(graph, engine, _call, algorithm, graph, engine, keeping)


_COMPILED = ("auto", "cpu")  # engines whose code on the host Ctrl-C does not reach


def at_once(graph: Input, engine: str, function: Callable[..., T], *arguments: Any) -> T:
    """What a function makes of a graph; where the CPU engine does it now, Ctrl-C ends it at once."""
    if graph.lazy or engine not in _COMPILED or graph.schema.on_device:
        return function(*arguments)
    return interruptible(function, *arguments)


def _call(algorithm: Algorithm, graph: Input, engine: str, keeping: Checkpointing | None) -> Any:
    schema = graph.schema
    engine = engines.of_frames(engine, on_device=schema.on_device)
    columns = named(
        algorithm.result_columns(schema), schema, where.name_of(algorithm), algorithm.columns
    )
    engines.check(engine)
    where.check(algorithm, "cpu" if engine == "auto" else engine)
    if keeping is not None and engine == "interpreted":
        raise InvalidArgument(
            f"checkpoint= is of the engines 'cpu', 'gpu' and 'hybrid'; this graph's is {engine!r}: leave "
            "it out, or use one of these"
        )
    needs = needs_of(algorithm, graph, engine)
    graph.check(needs)
    graph = graph.settled(needs)
    algorithm, given = _take_frames(algorithm, schema)
    held = graph.on_ranks(needs, engine)
    if held is not None:
        where.check(algorithm, "ranks, gpu" if engine == "gpu" else "ranks")
        job = Job(algorithm, needs, columns, schema, graph.npartitions, engine, keeping)
        return lazy.run(*held, job, given, graph.token, _read(graph, given, keeping))
    if graph.limits(needs) is not None:
        engines.check_paged(engine)
        on_gpu = f", {engine}" if engine in ("gpu", "hybrid") else ""
        where.check(algorithm, f"disk{on_gpu}", engine)
    partition = graph.partition(needs)
    frames = {
        name: vertex_chunks_of(each, graph.lazy or is_dask_collection(each.frame))
        for name, each in given.items()
    }
    if not graph.lazy:
        frames = {
            name: called(list, chunks).compute() if isinstance(chunks, Parts) else chunks
            for name, chunks in frames.items()
        }
        if isinstance(partition, EmptyPartition):
            return _of_no_vertex(algorithm, columns, schema, frames)
        table, ids = execute(algorithm, partition, schema, needs, engine, frames, keeping)
        return results_of(schema).to_frame(table, columns, ids, schema)
    of = graph.npartitions
    arguments = columns, of, algorithm, partition, schema, needs, engine, frames, keeping
    token = tokenize(graph.token, *arguments[1:])  # which give the columns
    key = f"dask-graphgpu-{where.name_of(algorithm)}-{token}"
    watch.expect(key)
    hurry_client()
    rows = None if graph.num_vertices is None else algorithm.num_rows(graph.num_vertices, schema)
    empty, reads = EmptyResult(columns, schema, rows), _read(graph, given, keeping)
    return frame_of(empty, of, key, _execute_in_parts, lambda _: arguments, take, reads, other_key)


def needs_of(algorithm: Algorithm, graph: Input, engine: str = "auto") -> Needs:
    """What an algorithm reads of a graph."""
    return Needs(
        weight=algorithm.reads_weight(graph.schema),
        edge_columns=tuple(algorithm.edge_columns()),
        vertex_columns=tuple(algorithm.vertex_columns()),
        by=algorithm.by,
        tells_apart=_counts_rows(algorithm, graph, graph.schema),
        judged=_judges_weights(algorithm, graph),
        absent=_hidden_weight(algorithm, graph),
        form=_form(algorithm, graph, engine),
    )


def _form(algorithm: Algorithm, graph: Input, engine: str) -> Form:
    schema = graph.schema
    return form_of(
        algorithm.edge_form,
        graph.layout,
        engine=engine,
        on_device=schema.on_device,
        partitioner=graph.partitioner,
        rule=algorithm.rule,
        weight=schema.weight_kind if algorithm.reads_weight(schema) else None,
    )


def _read(
    graph: Input, given: dict[str, ValueFrame], keeping: Checkpointing | None
) -> tuple[str, ...]:
    """Folders that a run reads: those of the graph, of frames among the arguments, a checkpoint's."""
    checkpoint = () if keeping is None else (str(keeping.choice.path),)
    return (*graph.reads, *folders_read(each.frame for each in given.values()), *checkpoint)


def _counts_rows(algorithm: Algorithm, graph: Input, schema: EdgeSchema) -> bool:
    """Whether it matters how many edges repeated rows of an undirected graph are."""
    chosen = algorithm.rule if graph.layout.duplicates == "auto" else graph.layout.duplicates
    weighted, directed = schema.weight is not None, schema.directed
    return algorithm.edge_form != "list" and weighted and not directed and chosen in ("sum", "keep")


def _judges_weights(algorithm: Algorithm, graph: Input) -> bool:
    """Whether a method reads weights, and more is made of them than that they are given back."""
    merged = graph.layout.duplicates not in ("auto", "keep")
    read = algorithm.reads_weight(graph.schema) or "weight" in algorithm.edge_columns()
    return read and (merged or not algorithm.returns_weight)


def _hidden_weight(algorithm: Algorithm, graph: Input) -> str | None:
    """The weight that only some files may have, if the method would read it."""
    hidden = graph.schema.hidden_weight
    if hidden is None:
        return None
    seen = dataclasses.replace(graph.schema, weight=hidden)
    read = algorithm.reads_weight(seen) or _counts_rows(algorithm, graph, seen)
    return hidden if read else None


def execute(
    algorithm: Algorithm,
    partition: Partition | EdgeList,
    schema: EdgeSchema,
    needs: Needs,
    engine: str,
    frames: dict[str, Any],
    keeping: Checkpointing | None = None,
) -> tuple[Table, Any]:
    """Run an algorithm on a partition and publish its report."""
    name = where.name_of(algorithm)
    engines.check(engine)  # here too: this may be another process than the caller's
    needs.require_weights(partition.fault)
    if engine == "gpu" and not isinstance(partition, EdgeList):
        memory.require_current(partition.given.neighbours, "the graph")
    report = Report(name, watch=watch.telling(), took=partition.took)
    report.graph = {
        "edges": int(partition.num_rows),
        "vertices": int(partition.num_vertices),
        "bytes": int(partition.nbytes),
    }
    compiled = engines.times_compiled() if partition.paged else 0
    given = {argument: list(chunks) for argument, chunks in frames.items()}
    with _memory_errors(name, engine):
        view = _seen(partition, algorithm, needs)
        module = _module(algorithm, partition, view, engine)
        run = Run(module, view, partition.ids, schema, report, given)
        run.stays = engine == "gpu" and not view.on_device and not partition.paged
        if keeping is not None:
            ids = partition.ids
            run.keeper = keeping.keeper(call_of(name, algorithm), ids, ids.rank, len(ids))
        table = algorithm.run(run)
        check(stopping())  # its caller has been told of Ctrl-C, and may go on from the checkpoint
        if run.keeper is not None:
            run.keeper.end()
    report.end()
    report.bare().publish()
    watch.tell_own_report(report)
    if partition.paged and engines.times_compiled() > compiled:
        del run, view  # frames of this run are kept, and by them its pages on disk
        gc.collect()
    return table, partition.ids


def _seen(partition: Partition | EdgeList, algorithm: Algorithm, needs: Needs) -> View | EdgeList:
    """What a run sees of a partition."""
    if isinstance(partition, EdgeList):
        return partition
    return partition.view(algorithm.rule, needs.weight, needs.edge_columns)


def _module(
    algorithm: Algorithm, partition: Partition | EdgeList, view: View | EdgeList, engine: str
) -> ModuleType:
    """What runs it where the edges are, or are to be."""
    if isinstance(view, EdgeList):
        return engines.load(engine)
    if partition.paged:
        return engines.load_paged(engine)
    if engine == "hybrid" and engines.on_device_alone(view):
        return engines.load("gpu")
    if engines.beyond_device(engine, view):
        where.check(algorithm, "host memory")
        return engines.load_tiered()
    return engines.load(engine)


def _memory_errors(name: str, engine: str) -> AbstractContextManager[None]:
    """What tells that the memory of the GPU has run out."""
    if engine not in ("gpu", "hybrid"):
        return nullcontext()
    return memory.told(f"{name} on the GPU")


@briefly
@stoppable
def _execute_in_parts(
    columns: dict[str, ColumnType],
    of: int,
    algorithm: Algorithm,
    partition: Partition | EdgeList | EmptyPartition,
    schema: EdgeSchema,
    needs: Needs,
    engine: str,
    frames: dict[str, Any],
    keeping: Checkpointing | None,
) -> list[Any] | Handed:
    """Run an algorithm; ``of`` frames, with as many rows of the result each."""
    if isinstance(partition, EmptyPartition):
        return hand_in([_of_no_vertex(algorithm, columns, schema, frames)] * of)
    table, ids = execute(algorithm, partition, schema, needs, engine, frames, keeping)
    total = len(next(iter(table.values())).data)
    give_back(total)  # what the run has left behind
    made = results_of(schema)
    cuts = (slice(*each) for each in pairwise(bounds_of(total, of).tolist()))
    return hand_in([made.to_frame(table, columns, ids, schema, rows) for rows in cuts])


def _of_no_vertex(
    algorithm: Algorithm, columns: dict[str, ColumnType], schema: EdgeSchema, frames: dict[str, Any]
) -> Any:
    """The result of a graph without a vertex; its run has nothing to report."""
    rows = {name: sum(map(len, chunks)) for name, chunks in frames.items()}
    check_names_no_vertex(algorithm, rows)
    tell_of_no_run(where.name_of(algorithm), 0, 0)
    return results_of(schema).empty_frame(columns, schema)


def tell_of_no_run(method: str, edges: int, vertices: int) -> None:
    """Publish the report of an answer that no engine was needed for."""
    report = Report(method, graph={"edges": edges, "vertices": vertices, "bytes": 0})
    report.publish()
    watch.tell_own_report(report)


def results_of(schema: EdgeSchema) -> Any:
    """The module that makes frames of the graph's kind."""
    name = "device_results" if schema.on_device else "results"
    return importlib.import_module(f"dask_graphgpu.io.{name}")


def _take_frames(
    algorithm: Algorithm, schema: EdgeSchema
) -> tuple[Algorithm, dict[str, ValueFrame]]:
    """Replace frames among the arguments by the names of their columns; the frames beside it."""
    frames: dict[str, ValueFrame] = {}
    changes: dict[str, Any] = {}
    for field in dataclasses.fields(algorithm):
        value = getattr(algorithm, field.name)
        if not (is_frame(value) or is_dask_collection(value)):
            continue
        check_frame(value, f"{field.name} is")
        if on_device(value) != schema.on_device:
            raise InvalidArgument(unlike(field.name, value))
        value = settled(value)
        if field.name in algorithm.pair_frames:
            frames |= _ends(field.name, value, schema)
            changes[field.name] = FrameColumns(())
            continue
        ids = find_vertex_columns(meta_of(value), schema, field.name)
        if field.name in algorithm.group_frames:
            given = [str(c) for c in value.columns]
            beside = algorithm.beside_groups(field.name)
            groups = group_columns(field.name, given, ids, beside, schema)
            frames[field.name] = ValueFrame.of(value, (*ids, *groups), beside, field.name)
            changes[field.name] = FrameColumns(beside, len(groups))
            continue
        rest = [str(c) for c in value.columns if c not in ids]
        number = algorithm.frame_columns(field.name)
        if not rest if number is None else len(rest) != number:
            wanted = {None: "at least one column", 1: "one column"}.get(number, f"{number} columns")
            raise InvalidArgument(
                f"{field.name}: a frame with the id column(s) {list(ids)} and {wanted} of values; it has "
                f"{[str(c) for c in value.columns]}"
            )
        value = algorithm.as_read(field.name, value, rest, schema)
        frames[field.name] = ValueFrame.of(value, ids, rest, field.name)
        changes[field.name] = FrameColumns(tuple(rest))
    if not frames:
        return algorithm, frames
    return dataclasses.replace(algorithm, **changes), frames


def _ends(name: str, frame: Any, schema: EdgeSchema) -> dict[str, ValueFrame]:
    """The ids of both vertices of a frame of pairs, as frames of their own."""
    given = [str(c) for c in frame.columns]
    ends = {"source": schema.source, "destination": schema.destination}
    for columns in ends.values():
        if not set(columns) <= set(given):
            raise InvalidArgument(
                f"{name}: a frame with the id columns {[*schema.source, *schema.destination]}, as "
                f"the edge frame has them; it has {given}"
            )
    return {
        f"{name} {end}": ValueFrame.of(frame, columns, (), name) for end, columns in ends.items()
    }
