"""Jobs: Parquet edges or a saved graph in, Parquet or a saved graph out.

The command line is one way to describe them.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import Any

from dask.base import persist

from dask_graphgpu import __version__
from dask_graphgpu.algorithms import ALGORITHMS, Algorithm
from dask_graphgpu.errors import GraphError, InvalidArgument, InvalidVertices
from dask_graphgpu.features import features_asked
from dask_graphgpu.io.hive_output import check_partition_columns, write_by
from dask_graphgpu.io.kept_rows import kept
from dask_graphgpu.io.naming import own_names
from dask_graphgpu.io.objects.storage_options import redacted
from dask_graphgpu.io.output import write_parquet, write_text
from dask_graphgpu.io.place import Place
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.io.tables.read import read_table
from dask_graphgpu.jobs.earlier_result import about_step, beginning
from dask_graphgpu.jobs.following import followed
from dask_graphgpu.jobs.journal import Journal
from dask_graphgpu.jobs.keep_ids import KeptIds, counts, keeping_ids
from dask_graphgpu.jobs.kept_graph import brought_up, check_kept
from dask_graphgpu.jobs.paths import Looked, check_paths
from dask_graphgpu.jobs.ranking import top
from dask_graphgpu.jobs.step_graph import StepGraph, graph_of, read_values
from dask_graphgpu.jobs.steps import IDS, GraphOptions, Step, StepResult, is_path
from dask_graphgpu.jobs.update_step import UPDATE, UpdateStep
from dask_graphgpu.jobs.vertex_ids import vertex_id
from dask_graphgpu.jobs.written import written
from dask_graphgpu.progress import ProgressBar
from dask_graphgpu.report import last_report, latest


def run(
    steps: Sequence[Step], *, progress: bool = False, journal: Journal | None = None
) -> list[StepResult]:
    """Check all steps, then run one after the other.

    Parameters
    ----------
    steps
        A graph that several of them use is partitioned once, for all. The edges of a step may be
        the output of an earlier one; what needs them is checked when it is there.
    progress
        Show a progress bar on the standard error.
    journal
        Is told of what happens. Default: nobody is.

    Returns
    -------
    list of StepResult
        One for each step.

    Raises
    ------
    GraphError
        A step failed; results of the steps before it are written.
    """
    journal = journal or Journal(steps=len(steps))
    looked, made, asked = check(steps)
    results: list[StepResult] = []
    uses = Counter(step.graph for step in steps)
    held: dict[GraphOptions, set[str]] = {}  # and the edge columns that they have
    with followed(journal), ProgressBar(out=sys.stderr) if progress else nullcontext():
        for i, step in enumerate(steps):
            started = time.monotonic()
            journal.begin(i + 1, step, __version__)
            if step.algorithm == UPDATE:
                results.append(_update(journal, step, looked.outputs[i], started))
                continue
            graph = made.get(step.graph) or graph_of(step.graph)
            if i in looked.waiting:
                if step.graph in held and step.graph.kept is None:
                    graph = _with_columns(step, graph, held[step.graph])
                asked[i] = _ask(step, graph)
            if step.graph.kept is not None and step.graph not in held:
                graph = brought_up(step.graph, looked.kept[step.graph], journal)
                made[step.graph] = graph
                held[step.graph] = set()
            elif uses[step.graph] > 1 and step.graph not in held:
                there = [s for j, s in enumerate(steps) if j == i or j not in looked.waiting]
                sharing = [other for other in there if other.graph == step.graph]
                columns = {c for other in sharing for c in _columns_read(other, graph.schema)}
                graph = StepGraph(graph.handle.persist(columns=sorted(columns)), graph.schema)
                made[step.graph] = graph
                held[step.graph] = columns
            first = asked.pop(i)
            output = looked.outputs.get(i)
            now = _ask(step, graph, output) if step.graph in held else first
            facts = _run_step(step, graph, now, output, looked.changes.get(i))
            results.append(_done(journal, step, output, facts, time.monotonic() - started))
            uses[step.graph] -= 1
            if not uses[step.graph]:
                made.pop(step.graph, None)  # its memory is free for the next graph
    return results


def check(
    steps: Sequence[Step],
) -> tuple[Looked, dict[GraphOptions, StepGraph], dict[int, _Asked | None]]:
    """Refuse what can be refused before any work is done, as `run` does first.

    Returns
    -------
    Looked, dict, dict
        What `check_paths` has found; graphs; what the steps ask for that wait for no earlier one.

    Raises
    ------
    GraphError
    """
    looked = check_paths(steps)
    made: dict[GraphOptions, StepGraph] = {}
    asked: dict[int, _Asked | None] = {}
    for i, step in enumerate(steps):
        check_kept(step.graph)
        if step.algorithm == UPDATE:
            if i not in looked.waiting:
                UpdateStep(step, looked.outputs[i])
        elif i not in looked.waiting:
            made[step.graph] = made.get(step.graph) or graph_of(step.graph)
            asked[i] = _ask(step, made[step.graph])
    return looked, made, asked


@dataclass(frozen=True, eq=False)
class _Asked:
    """What is asked of a step's method.

    ``result`` : lazy. ``names`` : those in it of the columns that the method makes. ``makers`` : the method that makes
    each, of features one of several. ``ids`` : those that groups keep, if they do. ``about`` : what is kept beside the
    result. ``facts`` : what is told of how the method begins.
    """

    result: Any
    names: dict[str, str]
    makers: dict[str, type[Algorithm]]
    ids: KeptIds | None
    about: dict[str, Any] | None
    facts: dict[str, Any]


def _with_columns(step: Step, graph: StepGraph, columns: set[str]) -> StepGraph:
    """The graph that steps share if it has the edge columns that a step reads, else one for this step alone.

    What a step that waits for another one reads is not known when the shared graph is built.

    ``columns`` : those of the shared graph.
    """
    return graph if columns.issuperset(_columns_read(step, graph.schema)) else graph_of(step.graph)


def _edge_columns(step: Step) -> list[str]:
    """Columns that a build step keeps."""
    return [name for name in step.arguments.get("edge_columns", "").split(",") if name]


def _columns_read(step: Step, schema: EdgeSchema) -> Iterable[str]:
    """Edge columns that a step keeps or its method reads."""
    if step.algorithm == "build":
        return _edge_columns(step)
    arguments = _arguments(step, schema)
    if step.algorithm == "features":
        each = [feature.algorithm for feature in features_asked(arguments["methods"], schema)]
    else:
        each = [ALGORITHMS[step.algorithm](**arguments)]
    return (column for algorithm in each for column in algorithm.edge_columns())


def _ask(step: Step, graph: StepGraph, output: Place | None = None) -> _Asked | None:
    """Ask for the result of a step; refuses what can be refused before any work is done. None of builds.

    ``output`` : where the earlier result is of a step on a kept graph.
    """
    if step.algorithm == "build":
        return None
    arguments = _arguments(step, graph.schema)
    if step.checkpoint is not None:
        arguments |= {"checkpoint": step.checkpoint, "resume": step.resume}
    about, facts = None, {}
    saved = getattr(graph.handle._input, "saved", None)
    if step.graph.kept is not None and saved is not None:
        about = about_step(step, saved)
        names, _ = _columns(step.algorithm, arguments, graph.schema)
        if (begun := beginning(step, output, saved, names)) is not None:
            arguments |= begun.arguments
            facts = begun.told
    try:
        result = getattr(graph.handle, step.algorithm)(**arguments)
        names, makers = _columns(step.algorithm, arguments, graph.schema)
    except InvalidVertices as error:
        for name, value in arguments.items():
            if isinstance(value, str) and f"no column {value!r}" in str(error):
                raise InvalidArgument(
                    f"{name}: {error}; the path of a frame has a / in it or ends in .parquet, as in "
                    f"./{value}"
                ) from error
        raise
    ids = None
    if step.keep_ids is not None:
        ids = keeping_ids(step, result, names)
        result = ids.frame
    if step.partition_by:
        check_partition_columns(step.partition_by, result._meta)
    if step.keep is None:
        return _Asked(result, names, makers, ids, about, facts)
    try:
        return _Asked(kept(result, step.keep), names, makers, ids, about, facts)
    except InvalidArgument as error:
        raise InvalidArgument(str(error).replace("where", "keep", 1)) from error


def _columns(
    method: str, arguments: dict[str, Any], schema: EdgeSchema
) -> tuple[dict[str, str], dict[str, type[Algorithm]]]:
    """The columns that a method makes: what they are called in the result, and which method makes each."""
    if method == "features":
        found = features_asked(arguments["methods"], schema)[::-1]
        names = {name: shown for each in found for name, shown in each.names.items()}
        return names, {name: type(each.algorithm) for each in found for name in each.names}
    made = ALGORITHMS[method](**arguments)
    names = own_names(made.result_columns(schema), schema, method, made.columns)
    return names, dict.fromkeys(names, type(made))


def _run_step(
    step: Step,
    graph: StepGraph,
    asked: _Asked | None,
    output: Place | None,
    changes: Place | None,
) -> dict[str, Any]:
    """Run a step; gives what is to be told of it: how many rows it has shown or computed, where nothing is written."""
    if asked is None:
        graph.handle.save(output, columns=_edge_columns(step))
        return {}
    result, names, ids = asked.result, asked.names, asked.ids
    facts = dict(asked.facts)
    if ids is not None:
        # Before the output: a job that ends between the two has the same ids to keep when it runs again.
        result, report = persist(result, ids.report)
        facts |= {"groups": counts(report), "kept_ids": not ids.first}
        if changes is not None:
            write_parquet(report, changes)
    if output is not None:
        if step.partition_by:
            write_by(result, output, step.partition_by)
        else:
            write_parquet(result, output, about=asked.about)
    if step.top is not None:
        if step.output is not None:
            result = read_table(step.output, storage_options=step.options_for(step.output))
        first = top(result, step.top, names, asked.makers)
        facts["rows"] = len(first)
        _print(first.to_string(index=False) + "\n")
    elif step.output is None:
        facts["rows"] = len(result.compute())
    if step.report == "-":
        _print(last_report().to_csv(index=False))
    elif step.report is not None:
        write_text(step.report, last_report().to_csv(index=False), step.options_for(step.report))
    return facts


def _done(
    journal: Journal, step: Step, output: Place | None, found: Mapping[str, Any], seconds: float
) -> StepResult:
    """Tell what a step has written or else ``found``, and that it is done."""
    facts: dict[str, Any] = {**found, "seconds": round(seconds, 3)}
    made = None if output is None else written(step.algorithm, output)
    if made is not None:
        where = redacted(step.output or "")
        facts |= {"rows": made.rows, "path": where}
        about = {"rows": made.rows, "files": made.files, "bytes": made.bytes}
        journal.tell("written", path=where, **about)
        if made.vertices is not None:
            facts |= {"vertices": made.vertices, "edges": made.rows}
    if step.algorithm != "build":
        with suppress(GraphError):  # nobody knows: another process has run it
            report = latest()
            journal.built(report.seconds, report.graph)
            facts |= {"supersteps": int(sum(advance.supersteps for advance in report.advances))}
            facts |= {name: report.graph.get(name) for name in ("vertices", "edges")}
    journal.tell("done", **facts)
    return StepResult(step.algorithm, step.output, None if made is None else made.rows, seconds)


def _update(journal: Journal, step: Step, place: Place, started: float) -> StepResult:
    """Update a saved graph, and tell what was done."""
    done, graph = UpdateStep(step, place).run()
    seconds = time.monotonic() - started
    facts: dict[str, Any] = {"path": redacted(step.output or ""), "seconds": round(seconds, 3)}
    if done is not None:
        names = ("generation", "appended", "removed", "not_found", "new_vertices")
        facts |= {name: getattr(done, name) for name in names}
    rows = graph._input.saved.rows
    journal.tell("done", **facts, edges=rows, vertices=graph._input.num_vertices)
    return StepResult(step.algorithm, step.output, rows, seconds)


def _print(text: str) -> None:
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:
        # Whoever reads, such as head, has seen enough. What is still to be written to files is.
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)


def _arguments(step: Step, schema: EdgeSchema) -> dict[str, Any]:
    """Arguments as the method takes them; of a step of several those of each."""

    def taken(given: Mapping[str, Any]) -> dict[str, Any]:
        return {name: _argument(step, name, value, schema) for name, value in given.items()}

    if step.algorithm == "features":
        return {
            "methods": {name: taken(given) for name, given in step.arguments["methods"].items()}
        }
    return taken(step.arguments)


def _argument(step: Step, name: str, value: Any, schema: EdgeSchema) -> Any:
    """An argument as the method takes it."""
    if isinstance(value, tuple):
        ids = [vertex_id(text, schema, name) for text in value]
        return ids[0] if len(ids) == 1 and name in IDS and name != "sources" else ids
    if not is_path(name, value):
        return value
    return read_values(value, schema, options=step.options_for(value))
