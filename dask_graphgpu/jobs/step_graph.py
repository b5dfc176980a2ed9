"""The graph of a step: Parquet edges or a saved graph, as options describe it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dask_graphgpu.errors import InvalidArgument, InvalidEdges, InvalidVertices
from dask_graphgpu.io.frames import meta_of
from dask_graphgpu.io.read import read_parquet
from dask_graphgpu.io.schema import EdgeSchema, default_ids, find_columns
from dask_graphgpu.io.storage_options import redacted
from dask_graphgpu.jobs.steps import GraphOptions
from dask_graphgpu.jobs.vertex_ids import vertex_id
from dask_graphgpu.loading import load
from dask_graphgpu.store.saved import is_saved


@dataclass(frozen=True)
class StepGraph:
    """A graph, and the columns of its edges."""

    handle: Any
    schema: EdgeSchema


def graph_of(options: GraphOptions) -> StepGraph:
    """The graph that options describe; its edges are not read yet.

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
    named: dict[str, Any] = {}
    if options.columns:
        k, odd = divmod(len(options.columns), 2)
        if odd:
            raise InvalidArgument(
                f"columns {','.join(options.columns)!r} are {len(options.columns)}; name the source's and as many of "
                "the destination, such as src,dst"
            )
        named = {"source": options.columns[:k], "destination": options.columns[k:]}
    named |= {name: value for name, value in options.others if name == "weight"}
    given = options.options_for(options.edges)
    edges = read_parquet(options.edges, options.columns or default_ids(), given)
    weight = named.get("weight")
    for option, names in {"columns": options.columns, "weight": [weight] if weight else []}.items():
        for name in names:
            if name not in edges.columns:
                raise InvalidArgument(
                    f"{option} names {name!r}, and {redacted(options.edges)} has {[str(c) for c in edges.columns]}"
                )
    try:
        schema = find_columns(meta_of(edges), **named)
    except InvalidEdges as error:
        if "neither columns" not in str(error):
            raise
        raise InvalidArgument(f"{redacted(options.edges)}: {error}") from error
    named |= dict(options.others)
    if "root" in named:
        named["root"] = vertex_id(named["root"], schema, "root")
    if options.vertices is not None:
        given = options.options_for(options.vertices)
        named["vertices"] = read_parquet(options.vertices, options=given)
    try:
        return StepGraph(edges.graph(**named), schema)
    except InvalidVertices as error:  # its columns, since nothing is read yet
        raise InvalidArgument(f"vertices {options.vertices}: {error}") from error


def _saved_graph(options: GraphOptions) -> StepGraph:
    """A saved graph, which has to be what the other options say, where they say anything."""
    others = dict(options.others)
    if others.get("ranks", 1) not in (1, "auto"):
        raise InvalidArgument(
            f"ranks is {others['ranks']!r} and {redacted(options.edges)} a saved graph, which is on one rank: "
            "leave it out, or give the edges that it was built from"
        )
    given = options.options_for(options.edges)
    graph = load(
        options.edges,
        storage_options=given,
        engine=others.get("engine", "auto"),
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
