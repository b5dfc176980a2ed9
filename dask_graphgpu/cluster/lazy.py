"""Graph methods on ranks as Dask frames: the graph of tasks, made without doing any work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from dask.base import is_dask_collection, tokenize

from dask_graphgpu.cluster import watch
from dask_graphgpu.cluster.haste import hurry_client
from dask_graphgpu.cluster.parcels import leave
from dask_graphgpu.cluster.tasks import Spread, build_graph, build_here, run_graph, take
from dask_graphgpu.cluster.waiting import other_key
from dask_graphgpu.cluster.work import Job, Recipe
from dask_graphgpu.ingest import (
    Needs,
    ValueFrame,
    chunks_of,
    columns_read,
    edge_frame,
    pieces_of,
)
from dask_graphgpu.io.edges import read_edges
from dask_graphgpu.io.lazy_frames import EmptyResult, frame_of
from dask_graphgpu.io.partitions import BUILD, NAME, called
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.io.vertices import read_vertices
from dask_graphgpu.partition.layout import Layout


def build(
    frame: Any,
    schema: EdgeSchema,
    vertices: Any,
    vertex_ids: Sequence[str],
    layout: Layout,
    needs: Needs,
    spread: Spread,
    partitioner: str | Callable[..., Any],
) -> Any:
    """A graph on ranks; a Delayed one of Dask frames.

    Equal arguments give equal keys, so results computed together share one build.
    """
    layout = replace(layout, by="source")  # a rank has rows of both directions
    carried, columns = needs.carried, columns_read(schema, needs)
    lazy = is_dask_collection(frame) or is_dask_collection(vertices)
    pieces = pieces_of(frame, schema, needs)
    edges = edge_frame(frame, schema, needs) if pieces is None else None
    recipe = Recipe(schema, carried, layout, partitioner, needs.form != "list", pieces, columns)
    key = None
    if lazy:
        key = BUILD + tokenize(
            _named(edges),
            _named(vertices),
            vertex_ids,
            needs.vertex_columns,
            needs.absent,
            recipe,
            spread,
        )
    chunks: Any = []
    if pieces is None:
        chunks = _chunks(key, edges, _reader(schema), schema, carried)
    given: Any = []
    if vertices is not None:
        values = ValueFrame.of(vertices, vertex_ids, needs.vertex_columns)
        given = _chunks(key, values.frame, read_vertices, values.ids, values.values, values.what)
    if key is None:
        return build_here(spread.ranks or 1, recipe, chunks, given)
    return called(build_graph, spread, recipe, chunks, given, key=key)


def opened(recipe: Recipe, spread: Spread) -> Any:
    """A saved graph on ranks, Delayed: each opens its share. Equal arguments give equal keys."""
    return called(build_graph, spread, recipe, [], [], key=BUILD + tokenize("open", recipe, spread))


def _reader(schema: EdgeSchema) -> Callable[..., Any]:
    """What makes a chunk of a partition of the edge frame."""
    if not schema.on_device:
        return read_edges
    from dask_graphgpu.io.device_frames import read_edges_of_rank

    return read_edges_of_rank


def run(
    spread: Spread,
    held: Any,
    job: Job,
    frames: dict[str, ValueFrame],
    kept: str,
    reads: Sequence[str],
) -> Any:
    """The result of an algorithm: a Dask frame, or at once a frame where the graph is at hand.

    ``kept``: what tells a graph that is kept from others with the same key. ``reads``: the folders
    that are read for it.
    """
    lazy = is_dask_collection(held)
    token = (
        tokenize(
            kept,
            held.key,
            job,
            [(name, _named(each.frame), each.ids) for name, each in frames.items()],
        )
        if lazy
        else ""
    )
    key = f"{NAME}-{job.name}-{token}" if lazy else None

    def chunks(key: str | None) -> dict[str, Any]:
        return {
            name: _chunks(key, each.frame, read_vertices, each.ids, each.values, each.what)
            for name, each in frames.items()
        }

    def arguments(key: str) -> tuple[Any, ...]:
        return spread, held, job, chunks(key)

    if key is None:
        (part,) = run_graph(spread, held, job, chunks(None))  # type: ignore[misc]  # it is at hand
        return part
    watch.expect(key)
    hurry_client()
    empty = EmptyResult(job.columns, job.schema)
    return frame_of(empty, job.npartitions, key, run_graph, arguments, take, reads, other_key)


def _chunks(owner: str | None, frame: Any, read: Callable[..., Any], *arguments: Any) -> Any:
    """Chunks of a frame, one a partition: to be made for the task ``owner``, unless it is None."""
    if owner is None:
        chunks = chunks_of(frame, False, read, *arguments)
        return called(list, chunks).compute() if is_dask_collection(frame) else chunks
    return chunks_of(frame, True, leave, *arguments, first=(owner, read))


def _named(frame: Any) -> Any:
    """What tells a frame from others: of a Dask frame its name, which holds files' checksums."""
    return frame._name if is_dask_collection(frame) else frame
