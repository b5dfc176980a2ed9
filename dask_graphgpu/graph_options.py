"""What a graph of frames is asked for: columns and options, checked together."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from dask.base import is_dask_collection

from dask_graphgpu import config
from dask_graphgpu import engine as engines
from dask_graphgpu.arguments import as_id, check_choice, check_flag, is_whole, refuse, said
from dask_graphgpu.cluster.placement import check_partitioner, check_ranks
from dask_graphgpu.errors import InvalidArgument, InvalidEdges, InvalidVertices
from dask_graphgpu.inputs import Frames
from dask_graphgpu.io.frames import check_frame, meta_of, on_device, unlike
from dask_graphgpu.io.hidden_columns import takes_all_columns
from dask_graphgpu.io.schema import (
    Columns,
    Unset,
    find_columns,
    find_vertex_columns,
    holding_vertices,
)
from dask_graphgpu.partition.layout import Layout

DUPLICATES = ("auto", "min", "max", "sum", "one", "keep")
ORDERS = ("auto", "input", "degree")
LAYOUTS = ("rows", "layered")
_MOST_PARTITIONS = 1 << 20  # of which Dask makes a task each before anything runs


def checked(
    frame: Any,
    *,
    source: Columns | Unset,
    destination: Columns | Unset,
    weight: str | Unset | None,
    directed: bool,
    vertices: Any,
    duplicates: str,
    order: str,
    engine: str,
    ranks: int | str,
    partitioner: str | Callable[..., Any],
    layout: str,
    root: Any,
    npartitions: int | None,
) -> tuple[Frames, str]:
    """The frames and options of a `Graph`, whose docstring says what they are, and the engine.

    Raises
    ------
    InvalidEdges, InvalidVertices, InvalidArgument, EngineUnavailable
    """
    check_frame(frame, "the edge frame is", InvalidEdges)
    check_choice("duplicates", duplicates, DUPLICATES)
    check_choice("layout", layout, LAYOUTS)
    check_flag("directed", directed)
    config.check_names()
    order = config.chosen("order", order, ORDERS)
    engine = config.chosen("engine", engine, engines.NAMES)
    engines.check(engine)
    schema = find_columns(meta_of(frame), source, destination, weight)
    schema = dataclasses.replace(schema, directed=bool(directed))
    if not (is_dask_collection(frame) and takes_all_columns(frame)):
        schema = dataclasses.replace(schema, hidden_weight=None)
    engines.of_frames(engine, on_device=schema.on_device)
    if duplicates == "one" and schema.weight is not None:
        raise InvalidArgument(
            "duplicates='one' does not say which weight repeated edges get: choose 'min', "
            "'max' or 'sum', or give weight=None"
        )
    ids: tuple[str, ...] = ()
    if vertices is not None:
        check_frame(vertices, "the vertices frame is", InvalidVertices)
        if on_device(vertices) != schema.on_device:
            raise InvalidVertices(unlike("the vertices frame", vertices))
        ids = find_vertex_columns(meta_of(vertices), schema)
        schema = holding_vertices(schema, meta_of(vertices), ids)
    made = Layout(
        directed=bool(directed),
        duplicates=duplicates,
        order=order,
        layered=layout == "layered",
        root=_as_root(root, layout),
    )
    partitioner = check_partitioner(partitioner)
    number, asked = check_ranks(ranks), not isinstance(ranks, str)
    least = number if isinstance(number, int) else 1
    engines.check_layout(engine, schema.on_device, layered=made.layered, ranks=least)
    about = schema, made, number, asked, partitioner
    found = Frames(frame, vertices, ids, *about, check_npartitions(npartitions))
    if npartitions is not None and not found.lazy:
        raise InvalidArgument(
            f"npartitions={npartitions} is of Dask frames, and the edge frame is a {type(frame).__name__}, of which "
            "a result is one frame: leave it out"
        )
    return found, engine


def check_npartitions(value: Any) -> int | None:
    """The argument ``npartitions`` as a plain number. Raises InvalidArgument: it is none."""
    if value is None:
        return None
    if not (is_whole(value) and 1 <= value <= _MOST_PARTITIONS):
        refuse("npartitions", value, f"is a whole number from 1 to {_MOST_PARTITIONS:,}")
    return int(value)


def _as_root(root: Any, layout: str) -> Any:
    """The id of a root as plain Python values, which a saved graph can hold."""
    if root is not None and layout != "layered":
        raise InvalidArgument(
            f"root={said(root)} is of layers, and layout={layout!r}: give layout='layered' too"
        )
    if root is None:
        return None
    return as_id("root", tuple(root) if isinstance(root, list) else root)
