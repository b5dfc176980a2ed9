"""``dask graph``: graph jobs on the command line and from a TOML file."""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
import sys
import tomllib
import traceback as tracebacks
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NoReturn, get_args, get_type_hints

import click

from dask_graphgpu.algorithms import ALGORITHMS as METHODS
from dask_graphgpu.checkpoint import Checkpoint
from dask_graphgpu.errors import GraphError, InvalidArgument
from dask_graphgpu.job import run
from dask_graphgpu.partition.paged.folder import remove_all
from dask_graphgpu.steps import IDS, GraphOptions, Step
from dask_graphgpu.wording import guess, in_options

# A vertex program is Python: it cannot be given here.
ALGORITHMS = {name: kind for name, kind in METHODS.items() if name != "run"}

_GIVEN = ("ranks", "partitioner", "layout", "root")  # options of graphs that say nothing by default
_BUILD = "build"  # the step that saves a graph
_LAST_STREAM = 2  # standard error
_STEP_OPTIONS = {"output", "top", "report"}
_RUN_OPTIONS = {"progress", "traceback"}
_LISTS = {"columns", "edge_columns"}  # texts with commas on the command line, lists in a file
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


def _graph_options() -> list[click.Parameter]:
    """Parameters that say what the graph is."""
    option = click.Option
    return [
        click.Argument(["edges"]),
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
            help="Parquet frame of vertices: keeps those without edges.",
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


def _common_options() -> list[click.Parameter]:
    """Parameters that every algorithm has."""
    option = click.Option
    return [
        *_graph_options(),
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
        *_run_options(),
    ]


def _run_options() -> list[click.Parameter]:
    return [
        click.Option(
            ["--progress/--no-progress"],
            default=None,
            help="Progress bar on standard error. Default: where that is a terminal.",
        ),
        click.Option(["--traceback"], is_flag=True, help="Show where an error came from."),
    ]


def _algorithm_options(algorithm: type) -> list[click.Parameter]:
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


class _Graph(click.Group):
    """A command an algorithm, made when it is asked for, beside ``run``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*sorted(ALGORITHMS), *super().list_commands(ctx)]

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _usage_in_one_line("graph"):
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with _usage_in_one_line(ctx.command_path):
            return super().invoke(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and name[:1] not in "-/":
            names = self.list_commands(ctx)
            raise click.UsageError(f"No such command {name!r}.{guess(name, names)}", ctx)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        cmd_name = cmd_name.replace("-", "_")
        if cmd_name not in ALGORITHMS:
            return super().get_command(ctx, cmd_name)
        algorithm = ALGORITHMS[cmd_name]
        return click.Command(
            cmd_name,
            params=[*_common_options(), *_algorithm_options(algorithm)],
            callback=lambda **given: _run(
                [_step(cmd_name, given)], given["progress"], given["traceback"]
            ),
            help=(algorithm.__doc__ or "").strip().splitlines()[0]
            + "\n\nEDGES is a Parquet file, a folder of them, a URL or a saved graph.",
        )


@click.group(cls=_Graph, name="graph")
def graph() -> None:
    """Graph algorithms from Parquet to Parquet.

    Exit codes: 0 done, 1 failed, 2 bad usage, 130 interrupted.
    """
    _fill_standard_streams()


@graph.command(
    _BUILD,
    params=[
        *_graph_options(),
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
        *_run_options(),
    ],
)
def build(**given: Any) -> None:
    """Build a graph and save it.

    EDGES is a Parquet file, a folder of them or a URL. Every other command takes the folder in place of EDGES, and
    opens it at once.
    """
    _run([_step(_BUILD, given)], given["progress"], given["traceback"])


@graph.command("run", params=_run_options())
@click.argument("job", type=click.File("rb"))
@click.option("--resume", is_flag=True, help="Go on from the checkpoints of steps that have some.")
@click.pass_context
def run_job(
    ctx: click.Context, job: Any, resume: bool, progress: bool | None, traceback: bool
) -> None:
    """Run the steps of a TOML file.

    Its keys are the options of the command line. Each [[step]] is one algorithm, or build; keys above the first step
    hold for all of them. Paths are relative to the current folder.
    """
    try:
        keys = tomllib.load(job)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{job.name} is not TOML: {error}") from error
    steps = keys.pop("step", [{}])
    if not isinstance(steps, list) or not steps or not all(isinstance(s, dict) for s in steps):
        raise click.UsageError("step has to be a list of tables: write [[step]] above each.")
    # Everything is checked before the first step begins.
    parsed = [_step_of_table(ctx, {**keys, **step}, i + 1) for i, step in enumerate(steps)]
    if resume:
        parsed = [
            dataclasses.replace(step, resume=step.resume or step.checkpoint is not None)
            for step in parsed
        ]
    _run(parsed, progress, traceback)


def _step_of_table(ctx: click.Context, table: dict[str, Any], number: int) -> Step:
    """Read the keys of a step as if they had been typed on the command line."""
    name, edges = table.pop("algorithm", None), table.pop("edges", None)
    names = sorted([*ALGORITHMS, _BUILD])
    name = name.replace("-", "_") if isinstance(name, str) else name
    command = graph.get_command(ctx, name) if isinstance(name, str) and name in names else None
    try:
        if command is None:
            meant = guess(name, names) if isinstance(name, str) else ""
            raise click.UsageError(f"algorithm is {name!r}; allowed are {', '.join(names)}.{meant}")
        if not isinstance(edges, str):
            raise click.UsageError(f"edges is {edges!r}; give a path.")
        options = {p.name: p for p in command.params if p.name not in _RUN_OPTIONS | {"edges"}}
        words: list[str] = []
        for key, value in table.items():
            option = options.get(key.replace("-", "_"))
            if not isinstance(option, click.Option):
                known = sorted(map(str, options))
                meant = guess(key, known) or f" There are {', '.join(known)}."
                raise click.UsageError(f"{key!r} is no key of {name}.{meant}")
            words += _words(option, key, value)
        context = command.make_context(name, [*words, "--", edges], parent=ctx)
        return _step(name, context.params)
    except click.UsageError as error:
        raise click.UsageError(f"step {number}: {error.format_message()}") from error


def _words(option: click.Option, key: str, value: Any) -> Sequence[str]:
    """A key and its value as words of the command line."""
    if isinstance(value, bool):
        if not option.is_flag:
            raise click.UsageError(f"{key} is {str(value).lower()}; it is no switch.")
        names = option.opts if value else option.secondary_opts
        return names[:1]  # a switch without a --no- form is off unless it is given
    if option.name == "name" and isinstance(value, dict):
        value = [f"{old}={new}" for old, new in value.items()]
    if option.name in _LISTS and isinstance(value, list) and all(isinstance(v, str) for v in value):
        value = ",".join(value)
    values = value if option.multiple and isinstance(value, list) else [value]
    if option.is_flag or not all(isinstance(v, str | int | float) for v in values):
        raise click.UsageError(
            f"{key} is {value!r}; give {'true or false' if option.is_flag else 'a text or a number'}."
        )
    return [f"{option.opts[0]}={v}" for v in values]


def _step(algorithm: str, given: dict[str, Any]) -> Step:
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
    common = {p.name for p in _common_options()}
    arguments = {k: v for k, v in given.items() if k not in common and v is not None and v != ()}
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
        ),
        arguments,
        output=given.get("output"),
        top=given.get("top"),
        report=given.get("report"),
        checkpoint=checkpoint,
        resume=bool(given.get("resume")),
    )


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


def _run(steps: list[Step], progress: bool | None, traceback: bool) -> None:
    """Run steps; what goes wrong becomes one line and an exit code."""
    try:
        shown = sys.stderr is not None and (sys.stderr.isatty() if progress is None else progress)
        run(steps, progress=shown, done=_say)
    except KeyboardInterrupt:
        _leave()
    except Exception as error:
        if traceback:
            tracebacks.print_exc()
        text = f"{type(error).__name__}: {error}"
        if isinstance(error, GraphError):
            text = in_options(str(error))
        raise _Failure(text, exit_code=2 if isinstance(error, InvalidArgument) else 1) from error


def _say(line: str) -> None:
    """Print a line on the standard error, which may be closed."""
    with suppress(OSError, ValueError):
        click.echo(line, err=True)


def _leave() -> NoReturn:
    """End the program at once: Python would wait for threads, and those that compute know of no Ctrl-C."""
    click.echo("Interrupted.", err=True)
    remove_all()
    if sys.stdout is not None:
        with suppress(OSError):  # its reader has gone away
            sys.stdout.flush()
    os._exit(130)


def _fill_standard_streams() -> None:
    """Open nothing in place of standard streams that are closed.

    Else the next file that is opened gets the number of one, and what a library says there.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= _LAST_STREAM:
        os.set_inheritable(number, True)
    os.close(number)


@contextmanager
def _usage_in_one_line(command: str) -> Iterator[None]:
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:  # the help itself
        raise
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else command
        raise _Failure(f"{error.format_message()} See {where} --help.", exit_code=2) from error


class _Failure(click.ClickException):
    """Ends the program with one line on standard error."""

    def __init__(self, text: str, exit_code: int) -> None:
        super().__init__(" ".join(text.split()))
        self.exit_code = exit_code  # type: ignore[misc]  # click declares it for the class only
