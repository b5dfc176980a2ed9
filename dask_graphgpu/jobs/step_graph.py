"""The graph of a step: a table of edges or a saved graph, as options describe it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from dask_graphgpu.errors import InvalidArgument, InvalidEdges, InvalidVertices
from dask_graphgpu.io.frames import meta_of
from dask_graphgpu.io.objects.object_folder import is_object
from dask_graphgpu.io.objects.storage_options import StorageOptions, redacted
from dask_graphgpu.io.schema import EdgeSchema, default_ids, find_columns, is_integer
from dask_graphgpu.io.tables.file_frames import parts_of
from dask_graphgpu.io.tables.read import files_of, read_table
from dask_graphgpu.io.tables.text_options import TextOptions
from dask_graphgpu.io.tables.text_part import TextPart
from dask_graphgpu.jobs.steps import GraphOptions
from dask_graphgpu.jobs.vertex_ids import vertex_id
from dask_graphgpu.loading import load
from dask_graphgpu.store.saved import is_saved

_OF_SAVED = (
    "engine",
    "ranks",
    "partitioner",
    "npartitions",
)  # options that a saved graph is opened with
_PIECE = 1 << 24  # bytes of edges for which a file of a result is worth its while, compressed
_FIRST_TWO = ("0", "1")  # columns of a file of text that does not name them
_PAIRS = (*zip(default_ids()[::2], default_ids()[1::2], strict=True), _FIRST_TWO)


@dataclass(frozen=True)
class StepGraph:
    """A graph, and the columns of its edges."""

    handle: Any
    schema: EdgeSchema


def graph_of(options: GraphOptions, only: Collection[str] | None = None) -> StepGraph:
    """The graph that options describe; its edges are not read yet.

    ``only`` : as of `read_table`, of its edges.

    Raises
    ------
    GraphError
        Its files cannot be read, or are not what the options say.
    """
    if is_saved(options.edges, options.options_for(options.edges)):
        return _saved_graph(options)
    if options.saved:
        raise InvalidArgument(
            f"{options.saved[0][0]} is an option for saved graphs, and {redacted(options.edges)} is none"
        )
    named = _ends(options)
    edges = read_edges(options, only)
    if not options.columns and {*edges.columns} & {*_FIRST_TWO, *default_ids()} == {*_FIRST_TWO}:
        named = {"source": _FIRST_TWO[0], "destination": _FIRST_TWO[1]}
    named |= {name: value for name, value in options.others if name == "weight"}
    schema = _schema_of(options, edges, named)
    named |= dict(options.others)
    if "root" in named:
        named["root"] = vertex_id(named["root"], schema, "root")
    if options.vertices is not None:
        given = options.options_for(options.vertices)
        named["vertices"] = read_values(options.vertices, schema, _types(options), options=given)
    for name in _types(options):
        if not any(name in frame.columns for frame in (edges, named.get("vertices", edges))):
            raise InvalidArgument(
                f"type names {name!r}, and {redacted(options.edges)} has {[str(c) for c in edges.columns]}"
            )
    if "npartitions" not in named:
        named["npartitions"] = _few_partitions(options, edges)
    try:
        return StepGraph(edges.graph(**named), schema)
    except InvalidVertices as error:  # its columns, since nothing is read yet
        raise InvalidArgument(f"vertices {options.vertices}: {error}") from error


def _ends(options: GraphOptions) -> dict[str, Any]:
    """The id columns of both ends, where options name them."""
    k, odd = divmod(len(options.columns), 2)
    if odd:
        raise InvalidArgument(
            f"columns {','.join(options.columns)!r} are {len(options.columns)}; name the source's and as many of "
            "the destination, such as src,dst"
        )
    return {"source": options.columns[:k], "destination": options.columns[k:]} if k else {}


def _schema_of(options: GraphOptions, edges: Any, named: Mapping[str, Any]) -> EdgeSchema:
    """The columns of an edge frame, some of them ``named``; an error says which there are."""
    weight = named.get("weight")
    for option, names in {"columns": options.columns, "weight": [weight] if weight else []}.items():
        for name in names:
            if name not in edges.columns:
                raise InvalidArgument(
                    f"{option} names {name!r}, and {redacted(options.edges)} has {[str(c) for c in edges.columns]}"
                    f"{_without_header(edges)}"
                )
    try:
        return find_columns(meta_of(edges), **named)
    except InvalidEdges as error:
        if "neither columns" not in str(error):
            raise
        shown = redacted(options.edges)
        raise InvalidArgument(f"{shown}: {error}{_without_header(edges)}") from error


def _few_partitions(options: GraphOptions, edges: Any) -> int | None:
    """Partitions of results, not more than one for `_PIECE` bytes of local files; None: as many as the edges have."""
    if edges.npartitions == 1 or is_object(options.edges):
        return None
    kind, files = files_of(options.edges, dict(options.table).get("format"))
    if kind in ("delta", "iceberg"):
        return None
    few = -(-sum(file.size for file in files) // _PIECE)
    return max(few, 1) if few < edges.npartitions else None


def read_edges(
    options: GraphOptions, only: Collection[str] | None = None, *, text_ids: bool = False
) -> Any:
    """The edge frame.

    ``only`` : as of `read_table`. ``text_ids`` : whether ids in files of text are text, whatever they look like.
    """
    table = dict(options.table)
    k = len(options.columns) // 2
    alike = tuple(zip(options.columns[:k], options.columns[k:], strict=True))
    text = TextOptions(
        table.get("separator"),
        table.get("header", True),
        _types(options),
        alike or _PAIRS,
        text_ids=text_ids,
    )
    edges = read_table(
        options.edges,
        options.columns or [name for pair in _PAIRS for name in pair],
        form=table.get("format"),
        where=table.get("where"),
        text=text,
        storage_options=options.options_for(options.edges),
        only=only,
    )
    parts = parts_of(edges)
    if parts and not any(isinstance(part, TextPart) for part in parts):
        text.check_unused(edges.columns, options.edges)
    return edges


def _without_header(edges: Any) -> str:
    """What to say of a frame whose columns are called like rows; "" of any other."""
    rows = any(str(name).strip().isdecimal() and name not in _FIRST_TWO for name in edges.columns)
    return "; if the first line is a row, give --no-header" if rows else ""


def read_values(
    path: str,
    schema: EdgeSchema,
    types: Mapping[str, str] | None = None,
    options: StorageOptions | None = None,
) -> Any:
    """A frame of values of vertices, or of pairs of them, whose ids are as those of the edges."""
    ids = {"vertex", "first", "second", *schema.source, *schema.destination}
    is_text = not any(map(is_integer, schema.ids))
    text = TextOptions(types=types or {}, text_ids=is_text)
    return read_table(path, ids, text=text, storage_options=options)


def _types(options: GraphOptions) -> dict[str, str]:
    """Types of columns of files of text."""
    return dict(dict(options.table).get("types", ()))


def _saved_graph(options: GraphOptions) -> StepGraph:
    """A saved graph, which has to be what the other options say, where they say anything."""
    if options.table:
        raise InvalidArgument(
            f"{options.table[0][0]} says how a table is read, and {redacted(options.edges)} is a saved graph: "
            "leave it out, or build the graph anew with it"
        )
    if options.kept is not None:
        raise InvalidArgument(
            f"saved keeps a graph of the edges in {redacted(options.kept)}, and {redacted(options.edges)} is one "
            "itself: leave saved out, or give the edges"
        )
    others = dict(options.others)
    given = options.options_for(options.edges)
    graph = load(
        options.edges,
        storage_options=given,
        **{name: others[name] for name in _OF_SAVED if name in others},
        **dict(options.saved),
    )
    schema, layout = graph._input.schema, graph._input.layout
    asked = {
        "columns": (options.columns or None, (*schema.source, *schema.destination)),
        "weight": (others.get("weight", schema.weight), schema.weight),
        "undirected": (not others.get("directed", True) or None, not layout.directed),
        "vertices": (options.vertices, "those that were saved"),
    }
    if others.get("layout", "rows") == "layered":
        asked["layout"] = ("layered", "layered" if layout.layered else "rows")
    if "root" in others:
        asked["root"] = (vertex_id(others["root"], schema, "root"), layout.root)
    for name in ("duplicates", "order"):
        asked[name] = (
            None if others.get(name) == "auto" else others.get(name),
            getattr(layout, name),
        )
    for name, (wanted, held) in asked.items():
        if wanted != held and (wanted is not None or name == "weight"):
            raise InvalidArgument(
                f"{name} is {wanted!r} and the saved graph {redacted(options.edges)} has {held!r}: leave it "
                "out, or build the graph anew with it"
            )
    return StepGraph(graph, schema)
