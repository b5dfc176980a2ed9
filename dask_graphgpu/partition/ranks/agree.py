"""What the chunks of all ranks hold together, and the types that fit all of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.partition.chunk import EdgeChunk, UncodedEdges, VertexChunk
from dask_graphgpu.partition.empty import NoVertices
from dask_graphgpu.partition.ids import Names, common_type
from dask_graphgpu.partition.weight_fault import WeightFault


@dataclass(frozen=True)
class Agreed:
    """Facts about all chunks of all ranks.

    Attributes
    ----------
    types : Arrow type of each id column
    columns, vertex_columns : name to dtype of what edges and rows of the vertices frame carry
    num_rows, num_vertex_rows : int
        Edges, and rows of the vertices frame.
    chunks : int
        How many hold edges.
    span : (int, int) or None
        Least id and one more than the greatest where all names are ranges of integers.
    fault : WeightFault or None
        What is wrong with the weights.
    uncoded : bool
        Whether some edges have strings that no table has been made of.
    """

    types: tuple[pa.DataType, ...]
    columns: dict[str, np.dtype[Any]]
    vertex_columns: dict[str, np.dtype[Any]]
    num_rows: int
    num_vertex_rows: int
    chunks: int
    span: tuple[int, int] | None
    fault: WeightFault | None
    uncoded: bool = False

    @property
    def occurrences(self) -> int:
        """How often an id stands anywhere."""
        return 2 * self.num_rows + self.num_vertex_rows


def agree(
    ranks: Ranks, edges: Sequence[EdgeChunk | UncodedEdges], vertices: Sequence[VertexChunk]
) -> Agreed:
    """Tell all ranks what this one's chunks are, and find what fits all. Collective.

    Chunks without rows say nothing, as readers give them any types; but when no edge stands
    anywhere, the first of them says what edges carry.

    Raises
    ------
    InvalidEdges
        On every rank: no type holds the ids of all chunks, or there is no vertex at all.
    """
    given = [json.loads(each) for each in ranks.all_gather_bytes(_told(edges, vertices))]
    num_rows = sum(each["rows"] for each in given)
    num_vertex_rows = sum(each["vertex_rows"] for each in given)
    if num_rows + num_vertex_rows == 0:
        raise NoVertices
    kinds = [*chain(*(each["types"] for each in given))]
    kinds += chain(*(each["vertex_types"] for each in given))
    types = tuple(
        common_type([pa.type_for_alias(name) for name in names], "the partitions")
        for names in zip(*kinds, strict=True)
    )
    spans = [each["span"] for each in given if each["rows"] + each["vertex_rows"]]
    span = None
    if all(each is not None for each in spans):
        span = min(each[0] for each in spans), max(each[1] for each in spans)
    told = [each["columns"] for each in given if each["rows"]]
    told = told or [each["columns"] for each in given if each["columns"]][:1]
    return Agreed(
        types,
        _held(told),
        _held([each["vertex_columns"] for each in given if each["vertex_rows"]]),
        num_rows,
        num_vertex_rows,
        sum(each["chunks"] for each in given),
        span,
        WeightFault.worst(each["fault"] and WeightFault(*each["fault"]) for each in given),
        any(each["uncoded"] for each in given),
    )


def _told(edges: Sequence[EdgeChunk | UncodedEdges], vertices: Sequence[VertexChunk]) -> bytes:
    """What one rank says, as JSON: whole numbers of any size, and types by their names."""
    full = [chunk for chunk in edges if len(chunk)]
    full_vertices = [chunk for chunk in vertices if len(chunk)]
    names = [chunk.names for chunk in full] + [chunk.names for chunk in full_vertices]
    carried = [chunk.columns for chunk in full] or [chunk.columns for chunk in edges[:1]]
    fault = WeightFault.worst(chunk.fault for chunk in full)
    told = {
        "types": _distinct(chunk.names for chunk in full),
        "vertex_types": _distinct(chunk.names for chunk in full_vertices),
        "columns": _kinds(carried),
        "vertex_columns": _kinds([chunk.columns for chunk in full_vertices]),
        "rows": sum(map(len, full)),
        "vertex_rows": sum(map(len, full_vertices)),
        "chunks": len(full),
        "span": _span(names),
        "fault": fault and (fault.message, fault.lost),
        "uncoded": any(isinstance(chunk, UncodedEdges) for chunk in full),
    }
    return json.dumps(told).encode()


def _distinct(names: Any) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(tuple(map(str, each.types)) for each in names))


def _kinds(carried: Sequence[dict[str, np.ndarray]]) -> dict[str, list[str]]:
    """The dtypes of each column, in the order in which chunks have them."""
    return {
        name: list(dict.fromkeys(columns[name].dtype.str for columns in carried))
        for name in (carried[0] if carried else ())
    }


def _held(told: Sequence[dict[str, list[str]]]) -> dict[str, np.dtype[Any]]:
    """The dtype that holds every rank's values of a column."""
    return {
        name: np.result_type(*(np.dtype(kind) for each in told for kind in each[name]))
        for name in (told[0] if told else ())
    }


def _span(names: Sequence[Names]) -> tuple[int, int] | None:
    starts = [each.first for each in names if each.first is not None]
    if not names or len(starts) < len(names):
        return None
    return min(starts), max(each.first + each.size for each in names if each.first is not None)
