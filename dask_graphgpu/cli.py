"""``dask graph``: runs graph jobs of the command line and of a TOML file."""

from __future__ import annotations

import dataclasses
import functools
import os
import sys
import tomllib
import traceback as tracebacks
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import click

from dask_graphgpu.algorithms import ALGORITHMS as METHODS
from dask_graphgpu.cli_options import (
    algorithm_options,
    common_options,
    graph_options,
    run_options,
    step_of,
)
from dask_graphgpu.errors import GraphError, InvalidArgument
from dask_graphgpu.job import run
from dask_graphgpu.partition.paged.folder import remove_all
from dask_graphgpu.steps import Step
from dask_graphgpu.wording import guess, in_options

# A vertex program is Python: it cannot be given here.
ALGORITHMS = {name: kind for name, kind in METHODS.items() if name != "run"}

_BUILD = "build"  # the step that saves a graph
_LAST_STREAM = 2  # standard error
_RUN_OPTIONS = {"progress", "traceback"}
_LISTS = {"columns", "edge_columns"}  # texts with commas on the command line, lists in a file


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
        return _command(cmd_name)


@functools.cache
def _command(name: str) -> click.Command:
    """The command of an algorithm."""
    algorithm = ALGORITHMS[name]
    return click.Command(
        name,
        params=[*common_options(), *algorithm_options(algorithm)],
        callback=lambda **given: _run(
            [step_of(name, given)], given["progress"], given["traceback"]
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
    ],
)
def build(**given: Any) -> None:
    """Build a graph and save it.

    EDGES is a Parquet file, a folder of them or a URL. Every other command takes the folder in place of EDGES, and
    opens it at once.
    """
    _run([step_of(_BUILD, given)], given["progress"], given["traceback"])


@graph.command("run", params=run_options())
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
        return step_of(name, context.params)
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
