"""Jobs: Parquet edges or a saved graph in, Parquet or a saved graph out.

The command line is one way to describe them.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from dask.diagnostics.progress import ProgressBar
from pyarrow.parquet import read_metadata

from dask_graphgpu.algorithms import ALGORITHMS
from dask_graphgpu.errors import InvalidArgument, InvalidVertices
from dask_graphgpu.io.naming import own_names
from dask_graphgpu.io.output import local_path, write_parquet, write_text
from dask_graphgpu.io.read import read_table
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.jobs.paths import check_paths
from dask_graphgpu.jobs.ranking import ranking, top
from dask_graphgpu.jobs.step_graph import StepGraph, graph_of, read_values
from dask_graphgpu.jobs.steps import IDS, GraphOptions, Step, is_path
from dask_graphgpu.jobs.vertex_ids import vertex_id
from dask_graphgpu.loading import load
from dask_graphgpu.report import last_report


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
    made: dict[GraphOptions, StepGraph] = {}
    asked: dict[int, _Asked] = {}
    for i, step in enumerate(steps):
        if i not in waiting:
            made[step.graph] = made.get(step.graph) or graph_of(step.graph)
            asked[i] = _ask(step, made[step.graph])
    uses = Counter(step.graph for step in steps)
    held: set[GraphOptions] = set()
    with _progress_bar() if progress else nullcontext():
        for i, step in enumerate(steps):
            graph = made.get(step.graph) or graph_of(step.graph)
            if i in waiting:
                asked[i] = _ask(step, graph)
            if uses[step.graph] > 1 and step.graph not in held:
                kept = {c for s in steps if s.graph == step.graph for c in _edge_columns(s)}
                graph = StepGraph(graph.handle.persist(columns=sorted(kept)), graph.schema)
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


# The lazy result of a step's method, and the names in it of the columns that the method makes; None of builds.
_Asked = tuple[Any, dict[str, str]] | None


def _progress_bar() -> Any:
    return ProgressBar(out=sys.stderr)


def _edge_columns(step: Step) -> list[str]:
    """Columns that a build step keeps."""
    return [name for name in step.arguments.get("edge_columns", "").split(",") if name]


def _ask(step: Step, graph: StepGraph) -> _Asked:
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
        ranking(names)
    return result, names


def _run_step(step: Step, graph: StepGraph, asked: _Asked) -> None:
    if asked is None:
        assert step.output is not None
        graph.handle.save(step.output, columns=_edge_columns(step))
        return
    result, names = asked
    if step.output is not None:
        written = write_parquet(result, step.output)
    if step.top is not None:
        if step.output is not None:
            result = read_table(str(written))
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
    return read_values(value, schema) if is_path(value) else value
