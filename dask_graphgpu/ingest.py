"""From frames to a partition: what is read, lazily on Dask frames, at once on pandas frames."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
from dask.base import is_dask_collection
from dask.delayed import delayed

from dask_graphgpu.io import parquet
from dask_graphgpu.io.edges import read_edges
from dask_graphgpu.io.schema import EdgeSchema, is_integer
from dask_graphgpu.io.vertices import read_vertices
from dask_graphgpu.kernels.cpu.threads import num_threads
from dask_graphgpu.partition.build import Layout, build
from dask_graphgpu.partition.chunk import EdgeChunk, VertexChunk, united
from dask_graphgpu.partition.partition import Partition


@dataclass(frozen=True)
class Needs:
    """What an algorithm reads of a graph, and how its rows are best built."""

    weight: bool = False
    edge_columns: tuple[str, ...] = ()
    vertex_columns: tuple[str, ...] = ()
    by: str = "source"


def edge_frame(frame: Any, schema: EdgeSchema, needs: Needs) -> Any:
    """The frame with only the columns that are needed."""
    weight = [schema.weight] if needs.weight else []
    names = dict.fromkeys([*schema.source, *schema.destination, *weight, *needs.edge_columns])
    return frame[list(names)]


def ingest(
    frame: Any,
    schema: EdgeSchema,
    vertices: Any,
    vertex_ids: Sequence[str],
    layout: Layout,
    needs: Needs,
) -> Any:
    """The partition of a graph: a Partition of pandas frames, a Delayed one of Dask frames.

    Equal arguments give equal keys, so results computed together share one partition.
    """
    layout = replace(layout, by=needs.by)
    carried = (*(["weight"] if needs.weight else []), *needs.edge_columns)
    edges = edge_frame(frame, schema, needs)
    lazy = is_dask_collection(frame) or is_dask_collection(vertices)
    edge_chunks = _edge_chunks(edges, schema, carried, lazy)
    vertex_chunks = (
        [] if vertices is None else vertex_frame(vertices, vertex_ids, needs.vertex_columns, lazy)
    )
    if not lazy:
        return _build(edge_chunks, vertex_chunks, layout)
    return delayed(_build, pure=True)(edge_chunks, vertex_chunks, layout)


def vertex_frame(frame: Any, ids: Sequence[str], columns: Sequence[str], lazy: bool) -> list[Any]:
    """Chunks of a frame with one row a vertex, one a partition; Delayed where ``lazy``."""
    chosen = frame[list(dict.fromkeys([*ids, *columns]))]
    read: Any = delayed(read_vertices, pure=True) if lazy else read_vertices
    parts = chosen.to_delayed() if is_dask_collection(chosen) else [chosen]
    return [read(part, tuple(ids), tuple(columns), i) for i, part in enumerate(parts)]


def _edge_chunks(edges: Any, schema: EdgeSchema, carried: tuple[str, ...], lazy: bool) -> list[Any]:
    if not lazy:
        return [_read_partition(edges, schema, carried, 0)]
    if not is_dask_collection(edges):
        return [delayed(_read_partition, pure=True)(edges, schema, carried, 0)]
    found = parquet.pieces(edges)
    if found is None:
        parts = edges.to_delayed()
        read = delayed(_read_partition, pure=True)
        return [read(part, schema, carried, i) for i, part in enumerate(parts)]
    token = (edges._name, carried)  # holds the files' checksum, which a path alone does not
    read = delayed(_read_piece, pure=True)
    columns = tuple(edges.columns)
    return [
        read(piece, columns, schema, carried, i, token)
        for i, piece in enumerate(parquet.split(found, 2 * num_threads()))
    ]


def _read_partition(
    frame: pd.DataFrame, schema: EdgeSchema, carried: tuple[str, ...], partition: int
) -> list[EdgeChunk]:
    return [read_edges(frame, schema, carried, partition)]


def _read_piece(
    piece: parquet.Piece,
    columns: tuple[str, ...],
    schema: EdgeSchema,
    carried: tuple[str, ...],
    partition: int,
    token: Any,
) -> list[EdgeChunk]:
    strings = [
        name
        for name, dtype in schema.dtypes
        if name in (*schema.source, *schema.destination) and not is_integer(dtype)
    ]
    frames = parquet.read_pieces(piece, columns, strings)
    chunks = [read_edges(frame, schema, carried, partition) for frame in frames]
    return united(chunks)


def _build(edges: list[list[EdgeChunk]], vertices: list[VertexChunk], layout: Layout) -> Partition:
    return build(list(itertools.chain.from_iterable(edges)), vertices, layout)
