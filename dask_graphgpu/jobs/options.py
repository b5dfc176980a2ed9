"""Options of ``dask graph``: what there are, and the steps that they come to."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import click

from dask_graphgpu.algorithms import ALGORITHMS as METHODS
from dask_graphgpu.checkpoint import Checkpoint
from dask_graphgpu.errors import guess
from dask_graphgpu.features import ALLOWED
from dask_graphgpu.io.objects.object_folder import is_object
from dask_graphgpu.io.objects.storage_options import StorageOptions
from dask_graphgpu.jobs.cluster_options import cluster_parameters
from dask_graphgpu.jobs.durations import seconds_of
from dask_graphgpu.jobs.graph_options import graph_options, table_options
from dask_graphgpu.jobs.keep_ids import GROUPED
from dask_graphgpu.jobs.list_option import ListOption
from dask_graphgpu.jobs.method_options import algorithm_options
from dask_graphgpu.jobs.steps import GraphOptions, Step, path_or_ids
from dask_graphgpu.jobs.storage import options_of, storage_parameter
from dask_graphgpu.jobs.update_step import UPDATE, update_options, update_step

# A vertex program is Python: it cannot be given here.
ALGORITHMS = {name: kind for name, kind in METHODS.items() if name != "run"}
BUILD = "build"  # the step that saves a graph
FEATURES = "features"  # that of several methods in one frame
STEPS = sorted([*ALGORITHMS, BUILD, FEATURES, UPDATE])
_GIVEN = (
    "ranks",
    "partitioner",
    "layout",
    "root",
    "npartitions",
)  # options of graphs that say nothing by default
_STEP_OPTIONS = {"output", "top", "report", "changes"}


def _interval(text: str) -> tuple[str, int | float]:
    """How often a checkpoint is written: an argument of `Checkpoint` and its value."""
    if text.isdecimal() and int(text):
        return "supersteps", int(text)
    seconds = seconds_of(text) if not text.isdecimal() else None
    if seconds is not None:
        return "seconds", seconds
    raise click.BadParameter(
        f"{text!r}; give a number of supersteps, such as 100, or a time, such as 30s, 5min or 1h."
    )


def _new_name(text: str) -> tuple[str, str]:
    """A column of a method and the name that it is to have."""
    old, equals, new = text.partition("=")
    if not (old and equals and new):
        raise click.BadParameter(f"{text!r}; give the column and its new name, such as rank=score.")
    return old, new


def _methods(text: str) -> dict[str, dict[str, Any]]:
    """Methods whose results come together, with no arguments yet."""
    names = [name.strip().replace("-", "_") for name in text.split(",")]
    allowed = [name for name in ALLOWED if name in ALGORITHMS]
    for name in names:
        if name not in allowed:
            raise click.BadParameter(
                f"{name!r}; allowed are {', '.join(allowed)}.{guess(name, allowed)}"
            )
    if len(set(names)) < len(names):
        raise click.BadParameter(f"{text!r} names a method twice.")
    return {name: {} for name in names}


def common_options() -> list[click.Parameter]:
    """Parameters that every algorithm has."""
    return [
        *graph_options(),
        _kept_option(),
        *_result_options(),
        *_single_options(),
        *run_options(),
    ]


def _kept_option() -> click.Option:
    """The parameter that has a step take only what is new."""
    return click.Option(
        ["--saved"],
        metavar="DIR",
        help="Saved graph that is kept up to date with EDGES: only files that are new are read, and the method goes on "
        "from the result at --output.",
    )


def _result_options() -> list[click.Parameter]:
    """Parameters that say what becomes of a result."""
    option = click.Option
    return [
        option(
            ["--output"],
            metavar="DIR",
            help="Folder for the result as Parquet; an earlier result there is replaced in one step.",
        ),
        option(
            ["--keep"],
            metavar="CONDITION",
            help='Rows of the result that are kept, such as "rank > 0.001"; written as --where is.',
        ),
        ListOption(
            ["--partition-by"],
            metavar="COL,COL",
            help="Write folders by the values of these columns, such as label=7/, at a URL row groups; for columns of "
            "few values.",
        ),
        option(
            ["--top"],
            type=click.IntRange(min=1),
            metavar="N",
            help="Print the first N rows: the largest ranks, the shortest distances and so on.",
        ),
        option(
            ["--report"],
            metavar="FILE",
            help="Write what the run did, superstep by superstep, as CSV; - prints it.",
        ),
    ]


def name_option() -> click.Option:
    """The parameter that renames columns of a method."""
    return click.Option(
        ["--name"],
        type=_new_name,
        multiple=True,
        metavar="OLD=NEW",
        help="Rename a column that the method makes, as in rank=score; may be repeated.",
    )


def _single_options() -> list[click.Parameter]:
    """Parameters of a step that runs a single algorithm."""
    option = click.Option
    return [
        name_option(),
        option(
            ["--checkpoint"],
            metavar="DIR",
            help="Folder for the saved state of a long run; deleted when the result is there.",
        ),
        option(
            ["--every"],
            type=_interval,
            multiple=True,
            metavar="N|TIME",
            help="How often the state is saved: every N supersteps, or a time such as 30s, 5min or 1h. Default: 1min.",
        ),
        option(
            ["--resume"],
            is_flag=True,
            help="Continue from the checkpoint, or start anew if there is none.",
        ),
    ]


def _group_options() -> list[click.Parameter]:
    """Parameters of a step whose result has groups."""
    option = click.Option
    return [
        option(
            ["--keep-ids"],
            metavar="PATH",
            help="Earlier result whose ids groups keep, also the one at --output that is replaced.",
        ),
        option(
            ["--changes"],
            metavar="DIR",
            help="Folder for what has become of each group, as Parquet: kept, grown, merged, split and so on.",
        ),
    ]


def _features_options() -> list[click.Parameter]:
    """Parameters of the step that puts several results into one frame."""
    methods = ListOption(
        ["--methods"],
        type=_methods,
        required=True,
        metavar="NAME,NAME",
        help="Methods with a row for each vertex, such as pagerank,degree; job files give them arguments.",
    )
    return [methods, *graph_options(), _kept_option(), *_result_options(), *run_options()]


def _build_options() -> list[click.Parameter]:
    """Parameters of the step that saves a graph."""
    return [
        *graph_options(),
        ListOption(
            ["--edge-columns"],
            metavar="COL,COL",
            help="Edge columns to keep for vertex programs.",
        ),
        click.Option(
            ["--output"],
            metavar="DIR",
            required=True,
            help="Folder for the saved graph; an earlier one there is replaced in one step.",
        ),
        *run_options(),
    ]


def _update_options() -> list[click.Parameter]:
    """Parameters of the step that updates a saved graph."""
    return [
        click.Argument(["edges"], required=False),
        *table_options(),
        *update_options(),
        click.Option(["--output"], metavar="DIR", required=True, help="The saved graph."),
        storage_parameter(),
        *run_options(),
    ]


def parameters_of(name: str) -> list[click.Parameter]:
    """All parameters of a step: of an algorithm by its name, of "build", "features" or "update"."""
    if name == UPDATE:
        return _update_options()
    if name in (BUILD, FEATURES):
        return _build_options() if name == BUILD else _features_options()
    groups = _group_options() if name in GROUPED else []
    return [*algorithm_options(ALGORITHMS[name]), *common_options(), *groups]


@functools.cache
def _common_names() -> frozenset[str | None]:
    return frozenset(parameter.name for parameter in [*common_options(), *_group_options()])


def run_options() -> list[click.Parameter]:
    """Parameters that say where a job runs, and what it tells meanwhile."""
    return [
        *cluster_parameters(),
        click.Option(
            ["--progress/--no-progress"],
            default=None,
            help="Progress bar on standard error. Default: only on a terminal.",
        ),
        click.Option(
            ["--log"],
            type=click.Choice(["text", "json", "none"]),
            default="text",
            help="What is said on standard error: a line for each step, or one of JSON for each event. Default: text.",
        ),
        click.Option(
            ["--log-file"],
            metavar="FILE",
            help="Add each event to a file, as a line of JSON.",
        ),
        click.Option(
            ["--summary"],
            is_flag=True,
            help="Write totals of the job beside its output, as OUTPUT.summary.json.",
        ),
        click.Option(
            ["--quiet", "-q"],
            is_flag=True,
            help="Say nothing but errors: --log none --no-progress.",
        ),
        click.Option(["--traceback"], is_flag=True, help="Print the Python traceback of an error."),
    ]


def step_of(algorithm: str, given: dict[str, Any]) -> Step:
    """A step of parsed options."""
    if algorithm == UPDATE:
        return update_step(given, _table(given))
    if not any(given.get(name) is not None for name in _STEP_OPTIONS):
        raise click.UsageError("The result would be thrown away: give --output, --top or --report.")
    if given.get("changes") and not given.get("keep_ids"):
        raise click.UsageError(
            "--changes tells what became of earlier groups: give --keep-ids too."
        )
    if given["unweighted"] and given["weight"] is not None:
        raise click.UsageError("--weight and --unweighted exclude each other.")
    for name, arguments in given.get("methods", {}).items():
        fields = dataclasses.fields(ALGORITHMS[name])
        needed = [f.name for f in fields if f.default is dataclasses.MISSING]
        if missing := [each for each in needed if each not in arguments]:
            raise click.UsageError(
                f"{name} needs {' and '.join(missing)}: give it in a job file, below [step.methods.{name}]."
            )
    options = options_of(given)
    checkpoint = _checkpoint(given, options)
    if given.get("partition_by") and not given.get("output"):
        raise click.UsageError("--partition-by is of what is written: give --output DIR.")
    others = {name: given[name] for name in ("duplicates", "order", "engine")}
    others["directed"] = not given["undirected"]
    others |= {name: given[name] for name in _GIVEN if given[name] is not None}
    if given["unweighted"] or given["weight"] is not None:
        others["weight"] = given["weight"]
    saved = {"stale": given["stale"], "verify": given["verify"] or None}
    return Step(
        algorithm,
        GraphOptions(
            given["edges"],
            tuple(given["columns"].split(",")) if given["columns"] else (),
            given["vertices"],
            tuple(others.items()),
            tuple((name, value) for name, value in saved.items() if value is not None),
            _table(given),
            options,
            given.get("saved"),
        ),
        arguments_of(given),
        output=given.get("output"),
        top=given.get("top"),
        report=given.get("report"),
        keep=given.get("keep"),
        partition_by=tuple(filter(None, (given.get("partition_by") or "").split(","))),
        checkpoint=checkpoint,
        resume=bool(given.get("resume")),
        keep_ids=given.get("keep_ids"),
        changes=given.get("changes"),
    )


def arguments_of(given: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a method among parsed options."""
    found = {
        k: path_or_ids(k, v)
        for k, v in given.items()
        if k not in _common_names() and v is not None and v != ()
    }
    if "draw" in found:
        if "sources" in found:
            raise click.UsageError("--draw and --sources exclude each other.")
        found["sources"] = found.pop("draw")
    if given.get("name"):
        found["columns"] = dict(given["name"])
    return found


def _table(given: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """How the edges are read, of parsed options."""
    said = {
        name: given[name] for name in ("format", "where", "separator") if given[name] is not None
    }
    if given["no_header"]:
        said["header"] = False
    if given["type"]:
        said["types"] = tuple(given["type"])
    return tuple(said.items())


def _checkpoint(given: dict[str, Any], options: StorageOptions) -> Checkpoint | None:
    """Where a step keeps its state, of parsed options."""
    path, every = given.get("checkpoint"), given.get("every") or (("seconds", 60.0),)
    if path is None:
        for name in ("every", "resume"):
            if given.get(name):
                raise click.UsageError(f"--{name} needs a checkpoint: give --checkpoint DIR too.")
        return None
    if len(dict(every)) < len(every):
        raise click.UsageError("--every: give one time, one number of supersteps, or one of each.")
    chosen = dict(every)
    asked = options if is_object(path) else None
    return Checkpoint(path, chosen.get("seconds"), chosen.get("supersteps"), asked)
