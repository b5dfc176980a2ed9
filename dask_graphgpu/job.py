"""Jobs: Parquet edges or a saved graph in, Parquet or a saved graph out.

The command line is one way to describe them.
"""

from __future__ import annotations

import csv
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from dask.diagnostics.progress import ProgressBar
from pyarrow.parquet import read_metadata

from dask_graphgpu.algorithms import ALGORITHMS
from dask_graphgpu.errors import InvalidArgument, InvalidEdges, InvalidVertices
from dask_graphgpu.io.frames import meta_of
from dask_graphgpu.io.naming import own_names
from dask_graphgpu.io.output import local_path, write_parquet, write_text
from dask_graphgpu.io.read import read_parquet
from dask_graphgpu.io.schema import EdgeSchema, default_ids, find_columns, is_integer
from dask_graphgpu.loading import load
from dask_graphgpu.preflight import check_paths
from dask_graphgpu.report import last_report
from dask_graphgpu.steps import IDS, GraphOptions, Step, is_path
from dask_graphgpu.store.saved import is_saved

_INTEGER = re.compile(r"\s*[+-]?[0-9]+\s*")


def run(
    steps: Sequence[Step], *, progress: bool = False, done: Callable[[str], None] | None = None
) -> None:
    """Check all steps, then run one after the other.

    Parameters
    ----------
    steps
        A graph that several of them use is partitioned once, for all. The edges of a step may be
        the output of an earlier one; what needs them is checked when it is there.
    progress
        Show a progress bar on the standard error.
    done
        Is told of every step that has written something, in a line.

    Raises
    ------
    GraphError
        A step failed; results of the steps before it are written.
    """
    waiting = check_paths(steps)
    made: dict[GraphOptions, _Graph] = {}
    asked: dict[int, _Asked] = {}
    for i, step in enumerate(steps):
        if i not in waiting:
            made[step.graph] = made.get(step.graph) or _graph(step.graph)
            asked[i] = _ask(step, made[step.graph])
    uses = Counter(step.graph for step in steps)
    held: set[GraphOptions] = set()
    with _progress_bar() if progress else nullcontext():
        for i, step in enumerate(steps):
            graph = made.get(step.graph) or _graph(step.graph)
            if i in waiting:
                asked[i] = _ask(step, graph)
            if uses[step.graph] > 1 and step.graph not in held:
                kept = {c for s in steps if s.graph == step.graph for c in _edge_columns(s)}
                graph = _Graph(graph.handle.persist(columns=sorted(kept)), graph.schema)
                made[step.graph] = graph
                held.add(step.graph)
            first = asked.pop(i)
            started = time.monotonic()
            _run_step(step, graph, _ask(step, graph) if step.graph in held else first)
            if step.output is not None and done is not None:
                done(f"{step.algorithm}: {_written(step)}, {time.monotonic() - started:.1f} s")
            uses[step.graph] -= 1
            if not uses[step.graph]:
                made.pop(step.graph, None)  # its memory is free for the next graph


@dataclass(frozen=True)
class _Graph:
    handle: Any
    schema: EdgeSchema


# The lazy result of a step's method, and the names in it of the columns that the method makes; None of builds.
_Asked = tuple[Any, dict[str, str]] | None


def _progress_bar() -> Any:
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
    edges = read_parquet(options.edges, options.columns or default_ids())
    weight = named.get("weight")
    for option, names in {"columns": options.columns, "weight": [weight] if weight else []}.items():
        for name in names:
            if name not in edges.columns:
                raise InvalidArgument(
                    f"{option} names {name!r}, and {options.edges} has {[str(c) for c in edges.columns]}"
                )
    try:
        schema = find_columns(meta_of(edges), **named)
    except InvalidEdges as error:
        if "neither columns" not in str(error):
            raise
        raise InvalidArgument(f"{options.edges}: {error}") from error
    named |= dict(options.others)
    if "root" in named:
        named["root"] = vertex_id(named["root"], schema, "root")
    if options.vertices is not None:
        named["vertices"] = read_parquet(options.vertices)
    try:
        return _Graph(edges.graph(**named), schema)
    except InvalidVertices as error:  # its columns, since nothing is read yet
        raise InvalidArgument(f"vertices {options.vertices}: {error}") from error


def _saved_graph(options: GraphOptions) -> _Graph:
    """A saved graph, which has to be what the other options say, where they say anything."""
    others = dict(options.others)
    if others.get("ranks", 1) not in (1, "auto"):
        raise InvalidArgument(
            f"ranks is {others['ranks']!r} and {options.edges} a saved graph, which is on one rank: "
            "leave it out, or give the edges that it was built from"
        )
    graph = load(options.edges, engine=others.get("engine", "auto"), **dict(options.saved))
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


def _ask(step: Step, graph: _Graph) -> _Asked:
    """Ask for the result of a step; refuses what can be refused before any work is done."""
    if step.algorithm == "build":
        return None
    arguments = {
        name: _argument(name, value, graph.schema) for name, value in step.arguments.items()
    }
    if step.checkpoint is not None:
        arguments |= {"checkpoint": step.checkpoint, "resume": step.resume}
    try:
        result = getattr(graph.handle, step.algorithm)(**arguments)
        made = ALGORITHMS[step.algorithm](**arguments)
        columns = made.result_columns(graph.schema)
        names = own_names(columns, graph.schema, step.algorithm, made.columns)
    except InvalidVertices as error:
        for name, value in arguments.items():
            if isinstance(value, str) and f"no column {value!r}" in str(error):
                raise InvalidArgument(
                    f"{name}: {error}; the path of a frame has a / in it or ends in .parquet, as in "
                    f"./{value}"
                ) from error
        raise
    if step.top is not None:
        _ranking(names)
    return result, names


def _run_step(step: Step, graph: _Graph, asked: _Asked) -> None:
    if asked is None:
        assert step.output is not None
        graph.handle.save(step.output, columns=_edge_columns(step))
        return
    result, names = asked
    if step.output is not None:
        written = write_parquet(result, step.output)
    if step.top is not None:
        if step.output is not None:
            result = read_parquet(str(written))
        _print(top(result, step.top, names).to_string(index=False) + "\n")
    elif step.output is None:
        result.compute()
    if step.report == "-":
        _print(last_report().to_csv(index=False))
    elif step.report is not None:
        write_text(step.report, last_report().to_csv(index=False))


def _written(step: Step) -> str:
    """What a step has written, and where."""
    assert step.output is not None
    if step.algorithm == "build":
        plan = load(step.output).explain()
        return f"{plan.rows:,} edges and {plan.vertices:,} vertices in {step.output}"
    files = local_path(step.output, "output").glob("*.parquet")
    rows = sum(read_metadata(file).num_rows for file in files)
    return f"{rows:,} rows in {step.output}"


def _print(text: str) -> None:
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:
        # Whoever reads, such as head, has seen enough. What is still to be written to files is.
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)


def _argument(name: str, value: Any, schema: EdgeSchema) -> Any:
    """An argument as the method takes it."""
    if name in IDS and not isinstance(value, int):  # a number of sources is how many to draw
        ids = [vertex_id(text, schema, name) for text in value]
        return ids[0] if len(ids) == 1 and name != "sources" else ids
    return read_parquet(value) if is_path(value) else value


def vertex_id(text: str, schema: EdgeSchema, name: str = "source") -> Any:
    """A vertex id written as text, in the type of the frame's ids.

    Several id columns are separated by commas, with quotes around what holds a comma, as in CSV.

    Raises
    ------
    InvalidArgument
        The text is no integer where ids are integers, or has too few or too many parts.
    """
    several = len(schema.ids) > 1
    try:
        parts = next(csv.reader([text])) if several else [text]
    except csv.Error as error:
        raise InvalidArgument(f"{name} {text!r} is no line of CSV: {error}") from None
    if len(parts) != len(schema.ids):
        raise InvalidArgument(
            f"{name} {text!r} has {len(parts)} parts; an id has {len(schema.ids)}, for "
            f"{','.join(schema.source)}: separate them with commas"
        )
    values = []
    for part, dtype in zip(parts, schema.ids, strict=True):
        try:
            if is_integer(dtype) and not _INTEGER.fullmatch(part):
                raise ValueError
            values.append(int(part) if is_integer(dtype) else part)
        except ValueError:  # also of a number with more digits than Python reads
            raise InvalidArgument(
                f"{name} {text!r} is not an integer, and the vertex ids of these edges are ({dtype})"
            ) from None
    return tuple(values) if several else values[0]


# Columns that rank the rows of a result: whether the largest come first.
_LARGEST_FIRST = {
    "rank": True,
    "betweenness": True,
    "core_number": True,
    "degree": True,
    "triangles": True,
    "clustering_coefficient": True,
    "jaccard": True,
    "authority": True,
    "paths": True,
    "width": True,
    "belief": True,
    "activation": True,
    "heat": True,
    "potential": True,
    "distance": False,
}

# Columns that say which group of vertices a row is in; several id columns have a name behind it.
_GROUPS = ("component", "label", "community")


def top(result: Any, n: int, names: Mapping[str, str]) -> Any:
    """The ``n`` first rows of a result: the largest ranks, degrees, widths and so on, the shortest distances.

    Of components, labels and the like, the ``n`` with the most vertices. ``names`` are those in the result of
    the columns that the method makes.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    InvalidArgument
        The result has no such column.
    """
    columns, largest_first = _ranking(names)
    if largest_first is not None:
        first = result.nlargest if largest_first else result.nsmallest
        return _computed(first(n, columns[0]))
    sizes = _computed(result.groupby(columns).size()).rename("vertices").reset_index()
    return sizes.sort_values(
        ["vertices", *columns], ascending=[False, *(True for _ in columns)]
    ).head(n)


def _ranking(names: Mapping[str, str]) -> tuple[list[str], bool | None]:
    """The column that ranks rows, and whether the largest come first; or those that say which group a row is in."""
    for column, largest_first in _LARGEST_FIRST.items():
        if column in names:
            return [names[column]], largest_first
    groups = [shown for name, shown in names.items() if name.split("_")[0] in _GROUPS]
    if not groups:
        raise InvalidArgument(
            f"top needs a result with one of {[*_LARGEST_FIRST, *_GROUPS]}; this one has {[*names.values()]}"
        )
    return groups, None


def _computed(frame: Any) -> Any:
    return frame.compute() if hasattr(frame, "compute") else frame
