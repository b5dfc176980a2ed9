"""From frames to a partition: what is read, lazily on Dask frames, at once on others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from dask.base import is_dask_collection, tokenize

from dask_graphgpu.errors import InvalidArgument, InvalidEdges
from dask_graphgpu.io import parquet
from dask_graphgpu.io.edges import named, no_edges, read_edges
from dask_graphgpu.io.frames import on_device, with_columns
from dask_graphgpu.io.partitions import BUILD, CHUNK, called, of_partitions
from dask_graphgpu.io.schema import EdgeSchema, id_type, is_integer
from dask_graphgpu.io.vertices import read_vertices
from dask_graphgpu.kernels.cpu.threads import for_blocks, num_threads
from dask_graphgpu.partition.build import build, build_edge_list
from dask_graphgpu.partition.chunk import EdgeChunk, VertexChunk, united
from dask_graphgpu.partition.edge_list import EdgeList
from dask_graphgpu.partition.empty import built
from dask_graphgpu.partition.host_memory import freed_at_once, give_back
from dask_graphgpu.partition.id_table import IdTable
from dask_graphgpu.partition.layout import Form, Layout
from dask_graphgpu.partition.paged import limits as paged_limits
from dask_graphgpu.partition.paged.limits import Limits
from dask_graphgpu.partition.partition import Partition
from dask_graphgpu.partition.repeats import Repeats
from dask_graphgpu.partition.weight_fault import WeightFault
from dask_graphgpu.stages import Stage

_TASKS = 8  # to read files by, of a thread: some row groups take longer than others


@dataclass(frozen=True)
class Needs:
    """What an algorithm reads of a graph, and how its rows are best built.

    ``by`` : whether rows are built by "source" or "destination"; None: as most methods read them, where the edges lie.
    ``tells_apart`` : whether the weight is read, though nothing is made of it, because two rows in opposite
    directions are one undirected edge where their weights are the same, and else two; see `undirected.settle`.
    ``judged`` : whether something is made of weights that are carried, which are to be finite and not negative.
    ``absent`` : a column that the frame has not, and would be read if it had: no file of it has it then.
    ``form`` : in which form the edges are built for one call; a graph that is kept has rows.
    """

    weight: bool = False
    edge_columns: tuple[str, ...] = ()
    vertex_columns: tuple[str, ...] = ()
    by: str | None = None
    tells_apart: bool = False
    judged: bool = False
    absent: str | None = None
    form: Form = "rows"

    @property
    def carried(self) -> tuple[str, ...]:
        """Columns that an edge carries, by the names that they have there."""
        return (*(["weight"] if self.weight or self.tells_apart else []), *self.edge_columns)

    def require_weights(self, fault: WeightFault | None) -> None:
        """Raise InvalidEdges where what is wrong with the weights of a graph matters."""
        if fault is not None and "weight" in self.carried and (self.judged or fault.lost):
            raise InvalidEdges(fault.message)


@dataclass(frozen=True, eq=False)
class ValueFrame:
    """A frame with values of vertices: only its id columns, and columns of values.

    ``what`` : the frame, as messages say it.
    """

    frame: Any
    ids: tuple[str, ...]
    values: tuple[str, ...]
    what: str

    @classmethod
    def of(
        cls, frame: Any, ids: Sequence[str], values: Sequence[str], what: str = "the vertices frame"
    ) -> ValueFrame:
        columns = dict.fromkeys([*ids, *values])
        return cls(with_columns(frame, columns), tuple(ids), tuple(values), what)


def columns_read(schema: EdgeSchema, needs: Needs) -> tuple[str, ...]:
    """The columns of an edge frame that are needed."""
    weight = [str(schema.weight)] if needs.weight or needs.tells_apart else []
    return tuple(dict.fromkeys([*schema.source, *schema.destination, *weight, *needs.edge_columns]))


def edge_frame(frame: Any, schema: EdgeSchema, needs: Needs) -> Any:
    """The frame with only the columns that are needed."""
    return with_columns(frame, columns_read(schema, needs))


def pieces_of(frame: Any, schema: EdgeSchema, needs: Needs) -> list[parquet.Piece] | None:
    """The Parquet files that an edge frame is nothing but, to read what is needed; None of other frames."""
    if not is_dask_collection(frame):
        return None
    found = parquet.pieces(frame, columns_read(schema, needs))
    return found and [replace(piece, without=needs.absent) for piece in found]


def ingest(
    frame: Any,
    schema: EdgeSchema,
    vertices: Any,
    vertex_ids: Sequence[str],
    layout: Layout,
    needs: Needs,
    limits: Limits | None = None,
) -> Any:
    """The partition of a graph; a Delayed one of Dask frames.

    Equal arguments give equal keys, so results computed together share one partition. With
    ``limits`` its edges go to disk.
    """
    by = needs.by or ("source" if limits is None else "destination")
    layout = replace(
        layout, by="source" if layout.layered else by
    )  # layers are found along the edges
    carried = needs.carried
    lazy = is_dask_collection(frame) or is_dask_collection(vertices)
    vertex_chunks = (
        []
        if vertices is None
        else vertex_chunks_of(ValueFrame.of(vertices, vertex_ids, needs.vertex_columns), lazy)
    )
    found = pieces_of(frame, schema, needs)
    edges = edge_frame(frame, schema, needs) if found is None else columns_read(schema, needs)
    if limits is not None:
        given = found, edges, schema, carried, vertex_chunks, layout, limits, needs.form
        return _lazily(_to_pages, *given) if lazy else built(_to_pages, *given)
    kind = _Kind.of(schema.on_device)
    if found is not None:
        return _lazily(
            _from_parquet, found, edges, schema, carried, vertex_chunks, layout, needs.form
        )
    chunks = chunks_of(edges, lazy, kind.read_edges, schema, carried)
    build_of = _lazily if lazy else built
    if schema.on_device:
        return build_of(kind.build, chunks, vertex_chunks, layout)
    return build_of(_in_form, chunks, vertex_chunks, layout, needs.form)


def _lazily(build: Callable[..., Any], *arguments: Any) -> Any:
    """A task that builds a partition: `built`, later."""
    return called(built, build, *arguments, key=BUILD + tokenize(build, arguments))


@dataclass(frozen=True)
class _Kind:
    """What reads and builds, for frames in the memory of the host or of the GPU."""

    read_edges: Callable[..., Any]
    read_vertices: Callable[..., Any]
    build: Callable[..., Any]

    @classmethod
    def of(cls, on_device: bool) -> _Kind:
        if not on_device:
            return cls(read_edges, read_vertices, build)
        from dask_graphgpu.io import device_frames
        from dask_graphgpu.partition.device import build as device

        return cls(device_frames.read_edges, device_frames.read_vertices, device.build)


def vertex_chunks_of(given: ValueFrame, lazy: bool) -> Any:
    """Chunks of a frame with one row a vertex, one a partition; to be made where ``lazy``."""
    read = _Kind.of(on_device(given.frame)).read_vertices
    return chunks_of(given.frame, lazy, read, given.ids, given.values, given.what)


def chunks_of(
    frame: Any,
    lazy: bool,
    read: Callable[..., Any],
    *arguments: Any,
    first: Any = (),
) -> Any:
    """What ``read`` makes of ``first``, each partition of a frame and ``arguments``, one a partition.

    To be made where ``lazy``.
    """
    if is_dask_collection(frame):
        return of_partitions(frame, read, *arguments, first=first)
    whole = (*first, frame, *arguments, "partition 0")
    if not lazy:
        stage = Stage("reading", 1)
        stage.say("")
        made = [read(*whole)]
        stage.step()
        return made
    return [called(read, *whole, key=CHUNK + tokenize(read, whole))]


def _from_parquet(
    found: list[parquet.Piece],
    columns: tuple[str, ...],
    schema: EdgeSchema,
    carried: tuple[str, ...],
    vertices: list[VertexChunk],
    layout: Layout,
    form: Form,
) -> Partition | EdgeList:
    """Read files on the threads and build the partition, or the list of edges that stands for it.

    One task, so that codes are dropped as soon as they are in rows: Dask would hold what other
    tasks give until this one has ended.
    """
    chunks = read_parquet_edges(found, columns, schema, carried)
    return _in_form(chunks, vertices, layout, form)


def _in_form(
    chunks: list[EdgeChunk], vertices: Sequence[VertexChunk], layout: Layout, form: Form
) -> Partition | EdgeList:
    """What is built in host memory of chunks."""
    if form == "list":
        return build_edge_list(chunks, vertices)
    return build(chunks, vertices, layout, form)


def beyond_memory(frame: Any, schema: EdgeSchema, layout: Layout, needs: Needs) -> Limits | None:
    """The limits of a graph that has to go to disk to keep them; None: it may be in memory.

    Told by the rows in Parquet footers, or of a pandas frame; nothing is read.

    Raises
    ------
    InvalidArgument
        There is a limit, and only computing the frame would tell its rows.
    """
    limits = paged_limits.configured()
    if limits is None or schema.on_device:
        return None
    if is_dask_collection(frame):
        found = pieces_of(frame, schema, needs)
        if found is None:
            raise InvalidArgument(
                "graphgpu.host-memory-limit is set, and the edge frame is computed, so nobody knows "
                "how large it is: write it with .to_parquet() and give "
                "dd.read_parquet(...).graph(), or set the limit to null"
            )
        rows = parquet.num_rows(found)
    else:
        rows = len(edge_frame(frame, schema, needs))
    carried = 8 * len(needs.carried)
    size = paged_limits.in_memory_bytes(rows, carried, directed=schema.directed)
    if size <= limits.memory:
        return None
    if layout.layered:
        raise InvalidArgument(
            "layout='layered' is of edges in memory, and the graph needs more than "
            "graphgpu.host-memory-limit: use layout='rows', or raise the limit"
        )
    return replace(limits, enough=size)


def _to_pages(
    found: list[parquet.Piece] | None,
    whole: Any,
    schema: EdgeSchema,
    carried: tuple[str, ...],
    vertices: list[VertexChunk],
    layout: Layout,
    limits: Limits,
    form: Form,
) -> Any:
    """Build the partition on disk, of Parquet files (``whole`` has the columns) or a pandas frame."""
    from dask_graphgpu.partition.paged import build as paged

    def chunks() -> Iterator[EdgeChunk]:
        if found is None:
            size = limits.run_length
            for lo in range(0, len(whole), size):
                where = f"rows {lo} to {min(lo + size, len(whole))}"
                yield read_edges(whole.iloc[lo : lo + size], schema, carried, where)
            return
        with freed_at_once():
            for piece in found:
                for table, where in parquet.read_tables(piece, whole, _strings(schema)):
                    yield read_edges(table, schema, carried, where)
                    give_back()

    with freed_at_once():
        build_of = paged.numbered if form == "list" else paged.build
        return build_of(chunks, vertices, layout, limits)


def _strings(schema: EdgeSchema) -> list[str]:
    """Id columns that hold strings."""
    ids = (*schema.source, *schema.destination)
    return [name for name, dtype in schema.dtypes if name in ids and not is_integer(dtype)]


def read_parquet_edges(
    found: list[parquet.Piece],
    columns: tuple[str, ...],
    schema: EdgeSchema,
    carried: tuple[str, ...],
    *,
    told: bool = True,
    repeats: Repeats | None = None,
) -> list[Any]:
    """Edges of Parquet files, read on the threads; ``columns`` are those of the frame, ``told`` as of `Stage`.

    Each an `EdgeChunk`, or with ``repeats``, as `read_edges` has it, `UncodedEdges`.

    Of files without rows one chunk without edges, which says what they would carry.
    """
    began = time.time()
    strings = _strings(schema)
    pieces = parquet.split(found, _TASKS * num_threads())
    stage = Stage("reading", len(pieces), told=told)
    expected = 2 * parquet.most_rows(pieces)
    table = IdTable(expected, id_type(schema.ids[0])) if len(schema.ids) == 1 else None
    columnwise = len(pieces) < num_threads()  # else threads have row groups enough

    def read(lo: int, hi: int) -> list[tuple[Any, str]]:
        made = []
        for piece in pieces[lo:hi]:
            for rows, where in parquet.read_tables(piece, columns, strings, threads=columnwise):
                made.append((read_edges(rows, schema, carried, where, table, repeats), where))
            stage.step()
        return made

    def united_blocks(lo: int, hi: int) -> list[EdgeChunk]:
        return united([chunk for chunk, _ in read(lo, hi)])

    cuts = np.arange(len(pieces) + 1)
    if table is None:
        chunks = [chunk for block in for_blocks(united_blocks, cuts) for chunk in block]
    else:
        given = [each for block in for_blocks(read, cuts) for each in block if len(each[0])]
        give_back(sum(len(chunk) for chunk, _ in given))  # what reading has left behind
        chunks = named(given, table, schema) if given else []
    first, *others = chunks or [no_edges(schema, carried)]
    return [replace(first, read=(began, time.time())), *others]
