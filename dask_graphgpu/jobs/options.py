"""Options of ``dask graph``: what there are, and the steps that they come to."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import types
from typing import Any, get_args, get_type_hints

import click

from dask_graphgpu.algorithms import ALGORITHMS as METHODS
from dask_graphgpu.checkpoint import Checkpoint
from dask_graphgpu.io.table_kind import FORMATS
from dask_graphgpu.io.text_options import TYPES
from dask_graphgpu.jobs.steps import IDS, GraphOptions, Step

# A vertex program is Python: it cannot be given here.
ALGORITHMS = {name: kind for name, kind in METHODS.items() if name != "run"}
BUILD = "build"  # the step that saves a graph
STEPS = sorted([*ALGORITHMS, BUILD])
_GIVEN = ("ranks", "partitioner", "layout", "root")  # options of graphs that say nothing by default
_STEP_OPTIONS = {"output", "top", "report"}
_COMMON_FIELDS = {"columns", "checkpoint", "resume"}  # of methods, whose options all commands have
_TIME = re.compile(r"(\d+|\d*\.\d+|\d+\.)\s*(s|min|h)")
_SECONDS = {"s": 1, "min": 60, "h": 3600}


def _number(text: str) -> int | float:
    """An integer where the text is one, so that large ones stay exact; else a float."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise click.BadParameter(f"{text!r} is not a number.")


def _number_or_text(text: str) -> int | float | str:
    try:
        return _number(text)
    except click.BadParameter:
        return text


def _interval(text: str) -> tuple[str, int | float]:
    """How often a checkpoint is written: an argument of `Checkpoint` and its value."""
    if text.isdecimal() and int(text):
        return "supersteps", int(text)
    if time := _TIME.fullmatch(text):
        return "seconds", float(time[1]) * _SECONDS[time[2]]
    raise click.BadParameter(
        f"{text!r}; give a number of supersteps, such as 100, or a time, such as 30s, 5min or 1h."
    )


def _new_name(text: str) -> tuple[str, str]:
    """A column of a method and the name that it is to have."""
    old, equals, new = text.partition("=")
    if not (old and equals and new):
        raise click.BadParameter(f"{text!r}; give the column and its new name, such as rank=score.")
    return old, new


def _column_type(text: str) -> tuple[str, str]:
    """A column of a file of text and the type that it is to have."""
    name, equals, kind = text.rpartition("=")
    if not (name and equals and kind in TYPES):
        raise click.BadParameter(
            f"{text!r}; give a column and one of {', '.join(TYPES)}, such as weight=float."
        )
    return name, kind


def table_options() -> list[click.Parameter]:
    """Parameters that say how a table of edges is read."""
    option = click.Option
    return [
        option(
            ["--format"],
            type=click.Choice(FORMATS),
            help="What the edges are kept as. Default: as the names of files say.",
        ),
        option(
            ["--where"],
            metavar="CONDITION",
            help="Edges that are read, such as \"day >= 2026-11-01 and kind in ('a', 'b')\".",
        ),
        option(
            ["--separator"],
            metavar="CHARACTER",
            help="Between columns of CSV. Default: a comma; a tab in .tsv.",
        ),
        option(
            ["--no-header"],
            is_flag=True,
            help="The first line of CSV is data: columns are called 0, 1 and so on.",
        ),
        option(
            ["--type"],
            type=_column_type,
            multiple=True,
            metavar="COL=TYPE",
            help=f"Type of a column of CSV, one of {', '.join(TYPES)}; may be repeated.",
        ),
    ]


def graph_options() -> list[click.Parameter]:
    """Parameters that say what the graph is."""
    option = click.Option
    return [
        click.Argument(["edges"]),
        *table_options(),
        option(
            ["--columns"],
            metavar="SRC,DST",
            help="Id columns: of the source, then of the destination.",
        ),
        option(
            ["--weight"], metavar="COL", help="Weight column. Default: weight, where there is one."
        ),
        option(["--unweighted"], is_flag=True, help="Ignore weights."),
        option(["--undirected"], is_flag=True, help="Edges go both ways."),
        option(
            ["--vertices"],
            metavar="PATH",
            help="Frame of vertices: keeps those without edges.",
        ),
        option(
            ["--duplicates"],
            type=click.Choice(["auto", "min", "max", "sum", "one", "keep"]),
            default="auto",
            help="What repeated rows become. Default: what suits the algorithm.",
        ),
        option(
            ["--order"],
            type=click.Choice(["auto", "input", "degree"]),
            default="auto",
            help="Order of vertices in memory; the answer is the same.",
        ),
        option(
            ["--engine"],
            type=click.Choice(["auto", "cpu", "gpu", "hybrid", "interpreted"]),
            default="auto",
            help="Engine that computes. Default: auto.",
        ),
        option(
            ["--ranks"],
            type=_number_or_text,
            metavar="N",
            help="Ranks that share the graph: workers of a cluster, or threads. Default: auto.",
        ),
        option(
            ["--partitioner"],
            type=click.Choice(["balanced", "random", "biased_random", "metis"]),
            help="Which rank owns a vertex; the answer is the same. Default: balanced.",
        ),
        option(
            ["--layout"],
            type=click.Choice(["rows", "layered"]),
            help="How edges are held; the answer is the same. Default: rows.",
        ),
        option(["--root"], metavar="ID", help="Vertex from which layers are counted."),
        option(
            ["--stale"],
            type=click.Choice(["error", "ignore"]),
            help="What to do when a saved graph's Parquet has changed since. Default: error.",
        ),
        option(["--verify"], is_flag=True, help="Compare a saved graph's checksums first."),
    ]


def common_options() -> list[click.Parameter]:
    """Parameters that every algorithm has."""
    option = click.Option
    return [
        *graph_options(),
        option(
            ["--name"],
            type=_new_name,
            multiple=True,
            metavar="OLD=NEW",
            help="Another name for a column that the method makes, such as rank=score.",
        ),
        option(["--output"], metavar="DIR", help="Folder for the result, replaced as one step."),
        option(
            ["--top"],
            type=click.IntRange(min=1),
            metavar="N",
            help="Print the N first rows of the result.",
        ),
        option(
            ["--report"],
            metavar="FILE",
            help="Write a row a superstep as CSV; - is standard output.",
        ),
        option(
            ["--checkpoint"],
            metavar="DIR",
            help="Folder in which a long run writes its state down, until it has its result.",
        ),
        option(
            ["--every"],
            type=_interval,
            multiple=True,
            metavar="N|TIME",
            help="How often: after so many supersteps, or 30s, 5min, 1h. Default: 1min.",
        ),
        option(
            ["--resume"],
            is_flag=True,
            help="Go on from the checkpoint; from the start if there is none.",
        ),
        *run_options(),
    ]


def _build_options() -> list[click.Parameter]:
    """Parameters of the step that saves a graph."""
    return [
        *graph_options(),
        click.Option(
            ["--edge-columns"],
            metavar="COL,COL",
            help="Further columns of edges to keep, for vertex programs.",
        ),
        click.Option(
            ["--output"],
            metavar="DIR",
            required=True,
            help="Folder for the saved graph, replaced as one step.",
        ),
        *run_options(),
    ]


def parameters_of(name: str) -> list[click.Parameter]:
    """All parameters of a step: of an algorithm by its name, or of "build"."""
    if name == BUILD:
        return _build_options()
    return [*common_options(), *algorithm_options(ALGORITHMS[name])]


@functools.cache
def _common_names() -> frozenset[str | None]:
    return frozenset(parameter.name for parameter in common_options())


def run_options() -> list[click.Parameter]:
    """Parameters that say how a job shows how far it is, and where errors came from."""
    return [
        click.Option(
            ["--progress/--no-progress"],
            default=None,
            help="Progress bar on standard error. Default: where that is a terminal.",
        ),
        click.Option(["--traceback"], is_flag=True, help="Show where an error came from."),
    ]


def algorithm_options(algorithm: type) -> list[click.Parameter]:
    """An option for each field of an algorithm's dataclass, with the help of its docstring."""
    hints, texts = get_type_hints(algorithm), _parameter_texts(algorithm.__doc__ or "")
    options: list[click.Parameter] = []
    for field in dataclasses.fields(algorithm):
        if field.name in _COMMON_FIELDS:
            continue
        required = field.default is dataclasses.MISSING
        more: dict[str, Any] = {
            "required": required,
            "help": texts.get(field.name, "").replace("``", ""),
        }
        name = "--" + field.name.replace("_", "-")
        # None stands for "not given", so that the algorithm's own default holds.
        kinds = {
            k
            for k in get_args(hints[field.name]) or (hints[field.name],)
            if k is not types.NoneType
        }
        if field.name in IDS:
            more |= {"multiple": True, "metavar": "ID", "default": None if required else ()}
        elif Any in kinds:  # a frame, a column of the vertices frame, and where it says so a number
            more["metavar"] = "NUMBER|PATH|COL" if float in kinds else "PATH|COL"
            more["type"] = _number_or_text if float in kinds else str
        elif kinds == {bool}:
            name += f"/--no-{name[2:]}"
            more["default"] = None
        elif kinds == {int}:
            more["type"] = int
        elif float in kinds:
            more |= {"type": _number, "metavar": "NUMBER"}
        options.append(click.Option([name, field.name], **more))
        if field.name == "sources":
            options.append(
                click.Option(
                    ["--draw"],
                    type=click.IntRange(min=1),
                    metavar="N",
                    help="Draw so many sources at random, instead of --sources.",
                )
            )
    return options


def _parameter_texts(doc: str) -> dict[str, str]:
    """First sentence on each parameter of a numpydoc docstring; its type where nothing is said."""
    _, _, section = inspect.cleandoc(doc).partition("\nParameters\n----------\n")
    section = re.split(r"\n[^\n]+\n-+\n", section)[0]
    texts = {}
    for head, body in re.findall(r"^(\w[^\n]*)\n?((?:[ ]+[^\n]*\n?)*)", section, re.M):
        name, _, kind = head.partition(" : ")
        text = " ".join(body.split()) or f"One of {kind}"
        texts[name] = text.split(". ")[0].rstrip(".") + "."
    return texts


def step_of(algorithm: str, given: dict[str, Any]) -> Step:
    """A step of parsed options."""
    if not any(given.get(name) is not None for name in _STEP_OPTIONS):
        raise click.UsageError("Nothing would come of it: give --output, --top or --report.")
    if given["unweighted"] and given["weight"] is not None:
        raise click.UsageError("--weight and --unweighted exclude each other.")
    if given.get("draw") is not None and given.get("sources"):
        raise click.UsageError("--draw and --sources exclude each other.")
    checkpoint = _checkpoint(given)
    others = {name: given[name] for name in ("duplicates", "order", "engine")}
    others["directed"] = not given["undirected"]
    others |= {name: given[name] for name in _GIVEN if given[name] is not None}
    if given["unweighted"] or given["weight"] is not None:
        others["weight"] = given["weight"]
    saved = {"stale": given["stale"], "verify": given["verify"] or None}
    arguments = {
        k: v for k, v in given.items() if k not in _common_names() and v is not None and v != ()
    }
    if "draw" in arguments:
        arguments["sources"] = arguments.pop("draw")
    if given.get("name"):
        arguments["columns"] = dict(given["name"])
    return Step(
        algorithm,
        GraphOptions(
            given["edges"],
            tuple(given["columns"].split(",")) if given["columns"] else (),
            given["vertices"],
            tuple(others.items()),
            tuple((name, value) for name, value in saved.items() if value is not None),
            _table(given),
        ),
        arguments,
        output=given.get("output"),
        top=given.get("top"),
        report=given.get("report"),
        checkpoint=checkpoint,
        resume=bool(given.get("resume")),
    )


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


def _checkpoint(given: dict[str, Any]) -> Checkpoint | None:
    """Where a step keeps its state, of parsed options."""
    path, every = given.get("checkpoint"), given.get("every") or (("seconds", 60.0),)
    if path is None:
        for name in ("every", "resume"):
            if given.get(name):
                raise click.UsageError(f"--{name} is of a checkpoint: give --checkpoint DIR too.")
        return None
    if len(dict(every)) < len(every):
        raise click.UsageError("--every: give one time, one number of supersteps, or one of each.")
    chosen = dict(every)
    return Checkpoint(path, chosen.get("seconds"), chosen.get("supersteps"))
