"""Pictures of a small graph, by the layouts of NetworkX, and of its colours and widths."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dask_graphgpu.accessor import graph as graph_of
from dask_graphgpu.arguments import check_choice, check_flag, is_whole, refuse
from dask_graphgpu.as_networkx import ids_of
from dask_graphgpu.at_hand import at_hand
from dask_graphgpu.drawn_values import (
    NUMBERS,
    VertexValues,
    colour_values,
    different,
    have_colours,
)
from dask_graphgpu.errors import InvalidArgument, briefly
from dask_graphgpu.graphs import Graph
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.optional import imported

_MOST = 2_000  # edges that a picture shows
_LABELLED = 60  # vertices with their ids beside them, at most
_MARK = 60  # the size of what stands in a legend
_NO_VALUE = "0.75"  # the colour of vertices without one

_LAYOUTS = {
    "spring": lambda nx, graph, seed: nx.spring_layout(graph, seed=seed, weight=None),
    "kamada_kawai": lambda nx, graph, seed: nx.kamada_kawai_layout(graph, weight=None),
    "circular": lambda nx, graph, seed: nx.circular_layout(graph),
    "shell": lambda nx, graph, seed: nx.shell_layout(graph),
    "spectral": lambda nx, graph, seed: nx.spectral_layout(graph, weight=None),
}


@briefly
def draw(
    edges: Any,
    *,
    color: str | None = None,
    vertices: Any = None,
    labels: bool | str | None = None,
    edge_labels: bool = False,
    layout: str = "spring",
    seed: int = 0,
    ax: Any = None,
    **options: Any,
) -> Any:
    """Draw a small graph, such as an ego network, a path or a community, with matplotlib.

    Parameters
    ----------
    edges : Graph or frame
        A graph, or a frame with a row an edge, such as the result of ``graph.ego(center)``, of any library that
        `graph` takes. At most 2,000 rows. Edges with weights are the wider the larger their weight; of repeated
        ones the sum counts.
    color : str, optional
        A column of ``vertices`` by which they are coloured: up to 20 different texts, or 10 truth values or whole
        numbers, get a colour each, other numbers a scale. Make texts of numbers that are names, such as of many
        communities.
    vertices : frame, optional
        A frame with the id column (as of `Graph`) and the columns ``color`` and ``labels``. It may have rows of
        other vertices, so the result of a method on the whole graph will do. Vertices without a row are grey.
    labels : bool or str, optional
        Write the ids beside the vertices, or what a column of ``vertices`` says, such as names; nothing beside
        those that it says nothing of. Default: the ids, where there are at most 60.
    edge_labels : bool
        Write the weights beside the edges; of repeated ones the sum.
    layout : {"spring", "kamada_kawai", "circular", "shell", "spectral"}
        Where vertices stand: a layout of NetworkX's.
    seed : int
        Of the layout "spring": the same seed gives the same picture.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure.
    **options
        Of a frame, as of `graph`: ``source``, ``destination``, ``weight``, ``directed``.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InvalidArgument
        There are more than 2,000 edges, no colours for so many values, or no weights to write.
    InvalidEdges, InvalidVertices
        As of `Graph`.
    MissingPackage
        matplotlib or NetworkX is not installed: ``pip install 'dask-graphgpu[plot]'``.

    Examples
    --------
    >>> near = graph.ego("Rome", radius=2)  # doctest: +SKIP
    >>> draw(near, directed=False, color="community", vertices=graph.louvain())  # doctest: +SKIP
    """
    check_choice("layout", layout, tuple(_LAYOUTS))
    if not (is_whole(seed) and 0 <= seed < 2**32):
        refuse("seed", seed, "is a whole number of at least 0 and below 2**32")
    check_flag("edge_labels", edge_labels)
    if not isinstance(labels, str):
        check_flag("labels", labels, optional=True)
    named = [name for name in (color, labels) if isinstance(name, str)]
    if bool(named) != (vertices is not None):
        raise InvalidArgument(
            "color= and labels= name columns of the frame vertices=, by which vertices are coloured and which is "
            "written beside them: give the frame and such a name, or neither"
        )
    nx = imported("networkx", "plot", "draw()")
    plt = imported("matplotlib.pyplot", "plot", "draw()")
    if isinstance(edges, Graph):
        if options:
            raise InvalidArgument(
                f"{', '.join(f'{name}=' for name in options)}: of a Graph, which has them already; they are of frames"
            )
        graph = edges
    else:
        graph = graph_of(edges, **options)
    schema = graph._input.schema
    if edge_labels and schema.weight is None:
        raise InvalidArgument(
            "edge_labels=True writes weights, and the edges have none: give weight="
        )
    ids, rows = at_hand(graph._input, graph._engine, _MOST, "draw()")
    drawn = _graph_of(nx, ids_of(ids, schema.vertex), rows, schema)
    columns = VertexValues(vertices, named, schema) if named else None
    found = None if columns is None or color is None else colour_values(columns, color, list(drawn))
    beside = _labels(labels, columns, list(drawn))
    if ax is None:
        _, ax = plt.subplots(figsize=(7, 5), layout="constrained")
    places = _LAYOUTS[layout](nx, nx.Graph(drawn), seed)
    size = max(30.0, min(260.0, 6000.0 / max(len(drawn), 1)))
    _draw_edges(nx, drawn, places, size, ax)
    _draw_vertices(drawn, places, found, color, size, ax)
    for each, text in beside.items():
        above = {"xytext": (0, 0.6 * math.sqrt(size)), "textcoords": "offset points"}
        ax.annotate(text, places[each], **above, ha="center", fontsize=8)
    if edge_labels:
        _write_weights(nx, drawn, places, ax)
    ax.margins(0.1)
    ax.set_axis_off()
    return ax


def _labels(
    labels: bool | str | None, columns: VertexValues | None, vertices: list[Any]
) -> dict[Any, str]:
    """What is written beside which vertices."""
    if columns is not None and isinstance(labels, str):
        said = zip(vertices, columns.of(labels, vertices), strict=True)
        return {each: _text(value) for each, value in said if value is not None}
    if labels or (labels is None and len(vertices) <= _LABELLED):
        return {each: _text(each) for each in vertices}
    return {}


def _graph_of(nx: Any, vertices: list[Any], edges: Any, schema: EdgeSchema) -> Any:
    """What is drawn: one edge between two vertices, in each direction if it has one.

    Of all its rows: "width", the sum of the absolute weights that are finite; "weight", the sum of the weights.
    """
    graph = nx.DiGraph() if schema.directed else nx.Graph()
    graph.add_nodes_from(vertices)
    ends = zip(ids_of(edges, schema.source), ids_of(edges, schema.destination), strict=True)
    weights = [1.0] * len(edges) if schema.weight is None else edges[schema.weight].tolist()
    for (source, destination), weight in zip(ends, weights, strict=True):
        known = graph.edges.get((source, destination), {"width": 0.0, "weight": 0})
        weight = math.nan if weight is None else weight
        added = abs(float(weight)) if math.isfinite(weight) else 0.0
        graph.add_edge(
            source, destination, width=known["width"] + added, weight=known["weight"] + weight
        )
    return graph


def _draw_edges(nx: Any, graph: Any, places: Any, size: float, ax: Any) -> None:
    given = np.array([width for _, _, width in graph.edges.data("width")], dtype=float)
    most = given.max(initial=0.0)
    uneven = most > 0 and given.min() < most
    widths = 0.6 + 3.4 * given / most if uneven else np.full(len(given), 1.0)
    nx.draw_networkx_edges(
        graph,
        places,
        ax=ax,
        width=widths.tolist(),
        edge_color="0.55",
        node_size=size,
        arrows=graph.is_directed(),
    )


def _write_weights(nx: Any, graph: Any, places: Any, ax: Any) -> None:
    """The weights beside the edges; those of the two directions between two vertices apart from each other."""
    texts = {(a, b): _text(weight) for a, b, weight in graph.edges.data("weight")}
    both = graph.is_directed() and any(a != b and graph.has_edge(b, a) for a, b in graph.edges)
    nx.draw_networkx_edge_labels(
        graph, places, texts, ax=ax, font_size=7, label_pos=0.3 if both else 0.5, rotate=False
    )


def _draw_vertices(
    graph: Any, places: Any, found: list[Any] | None, name: str | None, size: float, ax: Any
) -> None:
    """Points, in the colours of the values of ``name``, of which None is none; or all in one."""
    if not len(graph):
        return
    at = np.array([places[each] for each in graph], dtype=float).reshape(-1, 2)
    style = {"s": size, "zorder": 2, "edgecolors": "white", "linewidths": 0.7}
    if found is None:
        ax.scatter(*at.T, color="C0", **style)
        return
    known = np.array([value is not None for value in found], dtype=bool)
    if not known.all():
        ax.scatter(*at[~known].T, color=_NO_VALUE, label="no value", **style)
    kinds = different(found)
    if not have_colours(kinds):
        numbers = [float(value) for value in found if value is not None]
        shown = ax.scatter(*at[known].T, c=numbers, cmap="viridis", **style)
        ax.figure.colorbar(shown, ax=ax, label=name, shrink=0.7)
        return
    maps = imported("matplotlib", "plot", "draw()").colormaps
    colours = maps["tab10" if len(kinds) <= NUMBERS else "tab20"]
    for i, kind in enumerate(kinds):
        mine = np.array([value is not None and value == kind for value in found], dtype=bool)
        ax.scatter(*at[mine].T, color=[colours(i)], label=_text(kind), **style)
    smaller = math.sqrt(_MARK / size)
    ax.legend(title=name, fontsize=8, title_fontsize=8, loc="best", markerscale=smaller)


def _text(value: Any) -> str:
    """An id or a value as a text that matplotlib does not take for mathematics."""
    text = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    if isinstance(value, float) and math.isfinite(value):
        text = f"{value:g}"
    return text.replace("$", r"\$")
