"""Jobs: Parquet edges or a saved graph in, Parquet or a saved graph out.

The command line is one way to describe them.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.output import write_parquet
from dask_graphgpu.io.read import read_parquet
from dask_graphgpu.io.schema import EdgeSchema, find_columns, is_integer
from dask_graphgpu.loading import load
from dask_graphgpu.report import last_report
from dask_graphgpu.store.saved import is_saved, read

# Arguments of algorithms that are vertex ids, as text until the types of the frame are known.
IDS = ("source", "target")


@dataclass(frozen=True)
class GraphOptions:
    """The graph of a step: which edges, and how to read them. Steps with equal options share it.

    Attributes
    ----------
    edges
        Parquet file, folder or URL, or the folder of a saved graph.
    columns
        The id columns of sources, then as many of destinations; empty: by name.
    vertices
        Parquet file or folder of a vertices frame.
    others
        Further options of ``ddf.graph``, as pairs.
    saved
        Options of `dask_graphgpu.load`, as pairs; for saved graphs only.
    """

    edges: str
    columns: tuple[str, ...] = ()
    vertices: str | None = None
    others: tuple[tuple[str, Any], ...] = ()
    saved: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Step:
    """One graph method, its graph, and what becomes of the result.

    Attributes
    ----------
    algorithm
        Name of the method of Graph; "build" saves the graph.
    arguments
        Of the method; ids are text, as on the command line.
    output
        Folder for the result.
    top
        How many rows to print.
    report
        File for the report of the run as CSV; "-" is the standard output.
    """

    algorithm: str
    graph: GraphOptions
    arguments: Mapping[str, Any] = field(default_factory=dict)
    output: str | None = None
    top: int | None = None
    report: str | None = None


def run(steps: Sequence[Step], *, progress: bool = False) -> None:
    """Run steps one after the other.

    Parameters
    ----------
    steps
        A graph that several of them use is partitioned once, for all.
    progress
        Show a progress bar on the standard error.

    Raises
    ------
    GraphError
        A step failed; results of the steps before it are written.
    """
    uses = Counter(step.graph for step in steps)
    made: dict[GraphOptions, _Graph] = {}
    with _progress_bar() if progress else nullcontext():
        for step in steps:
            graph = made.get(step.graph) or _graph(step.graph)
            if uses[step.graph] > 1 and step.graph not in made:
                kept = {c for s in steps if s.graph == step.graph for c in _edge_columns(s)}
                held = graph.handle.persist(columns=sorted(kept))
                graph = made[step.graph] = _Graph(held, graph.schema)
            _run_step(step, graph)
            uses[step.graph] -= 1
            if not uses[step.graph]:
                made.pop(step.graph, None)  # its memory is free for the next graph


@dataclass(frozen=True)
class _Graph:
    handle: Any
    schema: EdgeSchema


def _progress_bar() -> Any:
    from dask.diagnostics.progress import ProgressBar

    return ProgressBar(out=sys.stderr)


def _graph(options: GraphOptions) -> _Graph:
    if is_saved(options.edges):
        return _saved_graph(options)
    if options.saved:
        raise InvalidArgument(
            f"{options.saved[0][0]} is an option for saved graphs, and {options.edges} is none"
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
    edges = read_parquet(options.edges)
    schema = find_columns(edges._meta, **named)
    named |= dict(options.others)
    if options.vertices is not None:
        named["vertices"] = read_parquet(options.vertices)
    return _Graph(edges.graph(**named), schema)


def _saved_graph(options: GraphOptions) -> _Graph:
    """A saved graph, which has to be what the other options say, where they say anything."""
    others = dict(options.others)
    graph = load(options.edges, engine=others.get("engine", "auto"), **dict(options.saved))
    found = read(options.edges, stale="ignore")
    schema, layout = found.schema, found.layout
    asked = {
        "columns": (options.columns or None, (*schema.source, *schema.destination)),
        "weight": (others.get("weight", schema.weight), schema.weight),
        "undirected": (not others.get("directed", True) or None, not layout.directed),
        "vertices": (options.vertices, "those that were saved"),
    }
    for name in ("duplicates", "order"):
        asked[name] = (
            None if others.get(name) == "auto" else others.get(name),
            getattr(layout, name),
        )
    for name, (wanted, given) in asked.items():
        if wanted != given and (wanted is not None or name == "weight"):
            raise InvalidArgument(
                f"{name} is {wanted!r} and the saved graph {options.edges} has {given!r}: leave it "
                "out, or build the graph anew with it"
            )
    return _Graph(graph, schema)


def _edge_columns(step: Step) -> list[str]:
    """Columns that a build step keeps."""
    return [name for name in step.arguments.get("edge_columns", "").split(",") if name]


def _run_step(step: Step, graph: _Graph) -> None:
    if step.algorithm == "build":
        assert step.output is not None
        graph.handle.save(step.output, columns=_edge_columns(step))
        return
    arguments = {
        name: _argument(name, value, graph.schema) for name, value in step.arguments.items()
    }
    result = getattr(graph.handle, step.algorithm)(**arguments)
    if step.output is not None:
        result = read_parquet(str(write_parquet(result, step.output)))
    if step.top is not None:
        print(top(result, step.top).to_string(index=False))
    elif step.output is None:
        result.compute()
    if step.report is not None:
        last_report().to_csv(sys.stdout if step.report == "-" else step.report, index=False)


def _argument(name: str, value: Any, schema: EdgeSchema) -> Any:
    """An argument as the method takes it."""
    if name in IDS:
        ids = [vertex_id(text, schema, name) for text in value]
        return ids[0] if len(ids) == 1 else ids
    if name == "personalization" and Path(value).exists():
        return read_parquet(value)
    return value


def vertex_id(text: str, schema: EdgeSchema, name: str = "source") -> Any:
    """A vertex id written as text, in the type of the frame's ids.

    Several id columns are separated by commas, with quotes around what holds a comma, as in CSV.

    Raises
    ------
    InvalidArgument
        The text is no integer where ids are integers, or has too few or too many parts.
    """
    several = len(schema.ids) > 1
    parts = next(csv.reader([text])) if several else [text]
    if len(parts) != len(schema.ids):
        raise InvalidArgument(
            f"{name} {text!r} has {len(parts)} parts; an id has {len(schema.ids)}, for "
            f"{','.join(schema.source)}: separate them with commas"
        )
    values = []
    for part, dtype in zip(parts, schema.ids, strict=True):
        try:
            values.append(int(part) if is_integer(dtype) else part)
        except ValueError:
            raise InvalidArgument(
                f"{name} {text!r} is not an integer, and the vertex ids of these edges are ({dtype})"
            ) from None
    return tuple(values) if several else values[0]


# Columns that rank the rows of a result: whether the largest come first.
_LARGEST_FIRST = {"rank": True, "core_number": True, "degree": True, "distance": False}


def top(result: Any, n: int) -> Any:
    """The ``n`` first rows of a result: the largest ranks, degrees or core numbers, the shortest distances.

    Of components, the ``n`` with the most vertices.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    InvalidArgument
        The result has no such column.
    """
    for column, largest in _LARGEST_FIRST.items():
        if column in result.columns:
            first = result.nlargest if largest else result.nsmallest
            return _computed(first(n, column))
    component = [c for c in result.columns if str(c).split("_")[0] == "component"]
    if not component:
        raise InvalidArgument(
            f"top needs a result with one of {[*_LARGEST_FIRST, 'component']}; this one has {list(result.columns)}"
        )
    sizes = _computed(result.groupby(component).size()).rename("vertices").reset_index()
    return sizes.sort_values(
        ["vertices", *component], ascending=[False, *(True for _ in component)]
    ).head(n)


def _computed(frame: Any) -> Any:
    return frame.compute() if hasattr(frame, "compute") else frame
