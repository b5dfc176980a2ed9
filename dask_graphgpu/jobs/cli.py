"""``dask graph``: runs graph jobs of the command line and of a TOML file."""

from __future__ import annotations

import functools
import os
import sys
import traceback as tracebacks
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import click

from dask_graphgpu.errors import GraphError, InvalidArgument
from dask_graphgpu.jobs.job_file import steps_of_file
from dask_graphgpu.jobs.options import ALGORITHMS, BUILD, parameters_of, run_options, step_of
from dask_graphgpu.jobs.run import run
from dask_graphgpu.jobs.steps import Step
from dask_graphgpu.jobs.wording import guess, in_options
from dask_graphgpu.partition.paged.folder import remove_all

_LAST_STREAM = 2  # standard error


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
        params=parameters_of(name),
        callback=lambda **given: _run(
            [step_of(name, given)], given["progress"], given["traceback"]
        ),
        help=(algorithm.__doc__ or "").strip().splitlines()[0]
        + "\n\nEDGES is a file or folder of Parquet, CSV or Arrow, a Delta or Iceberg table, a URL or a saved graph.",
    )


@click.group(cls=_Graph, name="graph")
def graph() -> None:
    """Graph algorithms from tables to Parquet.

    Exit codes: 0 done, 1 failed, 2 bad usage, 130 interrupted.
    """
    _fill_standard_streams()


@graph.command(BUILD, params=parameters_of(BUILD))
def build(**given: Any) -> None:
    """Build a graph and save it.

    EDGES is a file or folder of Parquet, CSV or Arrow, a Delta or Iceberg table or a URL. Every other command takes the
    folder in place of EDGES, and opens it at once.
    """
    _run([step_of(BUILD, given)], given["progress"], given["traceback"])


@graph.command("run", params=run_options())
@click.argument("job", type=click.File("rb"))
@click.option("--resume", is_flag=True, help="Go on from the checkpoints of steps that have some.")
def run_job(job: Any, resume: bool, progress: bool | None, traceback: bool) -> None:
    """Run the steps of a TOML file.

    Its keys are the options of the command line. Each [[step]] is one algorithm, or build; keys above the first step
    hold for all of them. Paths are relative to the current folder.
    """
    # Everything is checked before the first step begins.
    _run(steps_of_file(job.read(), job.name, resume), progress, traceback)


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
