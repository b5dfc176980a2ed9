"""``dask graph``: runs graph jobs of the command line and of a TOML file."""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
import traceback as tracebacks
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import click
import dask

from dask_graphgpu import __version__
from dask_graphgpu.errors import GraphError, InvalidArgument, guess
from dask_graphgpu.io.objects.storage_options import redacted
from dask_graphgpu.jobs.cluster_options import cluster_of
from dask_graphgpu.jobs.clusters import ClusterOptions
from dask_graphgpu.jobs.job import run_steps
from dask_graphgpu.jobs.job_file import job_of_keys, keys_of_file
from dask_graphgpu.jobs.journal import Journal
from dask_graphgpu.jobs.options import (
    ALGORITHMS,
    BUILD,
    FEATURES,
    parameters_of,
    run_options,
    step_of,
)
from dask_graphgpu.jobs.shown import journal_of
from dask_graphgpu.jobs.steps import Step
from dask_graphgpu.jobs.storage import options_of, read_job, storage_parameter
from dask_graphgpu.jobs.update_step import UPDATE
from dask_graphgpu.jobs.warming import WEIGHTS, checked, warm
from dask_graphgpu.jobs.wording import in_options
from dask_graphgpu.partition.paged.folder import remove_all

_LAST_STREAM = 2  # standard error


class _Graph(click.Group):
    """A command an algorithm, made when it is asked for, beside ``run``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [_shown(name) for name in [*sorted(ALGORITHMS), *super().list_commands(ctx)]]

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
        cmd_name = cmd_name.replace("-", "_")  # of Python and of job files, too
        if cmd_name not in ALGORITHMS:
            return super().get_command(ctx, cmd_name)
        return _command(cmd_name)


@functools.cache
def _command(name: str) -> click.Command:
    """The command of an algorithm."""
    what = (ALGORITHMS[name].__doc__ or name).strip().splitlines()[0]
    return click.Command(
        _shown(name),
        params=parameters_of(name),
        callback=lambda **given: _run([step_of(name, given)], given),
        help=f"{what}\n\nEDGES is a file or folder of Parquet, CSV or Arrow, a Delta or Iceberg table, a URL or a "
        "saved graph.",
        short_help=what,  # else the list of commands cuts it
    )


def _shown(name: str) -> str:
    """The name of a command: words with hyphens, as options are."""
    return name.replace("_", "-")


@click.group(cls=_Graph, name="graph")
@click.version_option(__version__, prog_name="dask_graphgpu", message="%(prog)s %(version)s")
def graph() -> None:
    """Graph algorithms from tables to Parquet.

    Exit codes: 0 done, 1 failed, 2 bad usage, 130 interrupted, 143 terminated.
    """
    _fill_standard_streams()


@graph.command(BUILD, params=parameters_of(BUILD))
def build(**given: Any) -> None:
    """Build a graph and save it.

    EDGES is a file or folder of Parquet, CSV or Arrow, a Delta or Iceberg table or a URL. Every other command takes the
    folder in place of EDGES, and opens it at once.
    """
    _run([step_of(BUILD, given)], given)


@graph.command(
    FEATURES,
    params=parameters_of(FEATURES),
    short_help="Several methods in one frame, a row for each vertex.",
)
def features(**given: Any) -> None:
    """Several methods in one frame, a row for each vertex.

    EDGES is what the other commands take. Columns that two methods name alike have the
    method's name before them.
    """
    _run([step_of(FEATURES, given)], given)


def _update_parameters() -> list[click.Parameter]:
    """Those of the step; the saved graph is named first."""
    others = [each for each in parameters_of(UPDATE) if each.name != "output"]
    return [click.Argument(["output"], metavar="SAVED"), *others]


@graph.command(
    params=_update_parameters(),
    short_help="Append rows to a saved graph, and remove some.",
)
def update(**given: Any) -> None:
    """Append rows to a saved graph, and remove some.

    SAVED is the folder or URL of the graph. The rows of EDGES, which is what `build` takes, are appended; it may be
    left out. Readers find the old graph or the new one.
    """
    _run([step_of(UPDATE, given)], given)


@graph.command("warm", short_help="Compile what methods need, for container images.")
@click.argument("methods", nargs=-1, metavar="[METHOD]...")
@click.option(
    "--engine",
    type=click.Choice(["cpu", "gpu"]),
    default="cpu",
    help="What the methods will run on; gpu compiles for the GPU of this machine. Default: cpu.",
)
@click.option(
    "--weight-type",
    "weights",
    type=click.Choice(WEIGHTS),
    multiple=True,
    default=("none", "float64"),
    help="Type of the weights to come; may be repeated. Default: none and float64.",
)
@click.option(
    "--directed/--undirected", default=None, help="Which graphs are to come. Default: both."
)
def warm_cache(
    methods: tuple[str, ...], engine: str, weights: tuple[str, ...], directed: bool | None
) -> None:
    """Compile what methods need, and keep it for later processes.

    Each METHOD runs on small made graphs, in processes of its own, on all cores. Without any: all that need no frame
    of yours. What is compiled lies in the folder of compiled code, graphgpu.cache-directory.
    """
    directions = (True, False) if directed is None else (directed,)
    with _failing_in_one_line({"traceback": False, "log": "text"}):
        for name, seconds in warm(checked(methods), engine, weights, directions):
            click.echo(f"{_shown(name)}: {seconds:.1f} s", err=True)


@graph.command("run", params=[storage_parameter(), *run_options()])
@click.argument("job")
@click.option("--resume", is_flag=True, help="Continue steps that have a checkpoint from it.")
def run_file(job: str, resume: bool, **given: Any) -> None:
    """Run the steps of a TOML file.

    JOB is its path or URL. Its keys are the options of the command line. Each [[step]] is one algorithm, or build; keys
    above the first step hold for all of them. Paths are relative to the current folder.
    """
    # Everything is checked before the first step begins.
    options = options_of(given)
    text = read_job(job, options)
    steps, cluster = job_of_keys(keys_of_file(text, redacted(job)), resume, options)
    _run(steps, given, cluster)


def _run(
    steps: list[Step], given: Mapping[str, Any], cluster: ClusterOptions | None = None
) -> None:
    """Run steps; what goes wrong becomes one line and an exit code."""
    progress = given["progress"]
    if progress is None:
        plain = given["log"] == "text" and not given["quiet"]
        progress = plain and sys.stderr is not None and sys.stderr.isatty()
    cluster = cluster_of(given, cluster)
    settings = {"graphgpu.tracebacks": "full" if given["traceback"] else "short"}
    with _failing_in_one_line(given), journal_of(given, steps) as journal:
        try:
            with _sigterm_as_ctrl_c(), dask.config.set(settings):
                shown = progress and sys.stderr is not None
                run_steps(steps, cluster, progress=shown, journal=journal)
        except KeyboardInterrupt as stopped:
            _leave(stopped, journal, given)
        except Exception as error:
            text, code = _text_and_code(error)
            journal.tell("failed", error=type(error).__name__, message=text)
            journal.end(code)
            raise
        journal.end(0)


@contextmanager
def _failing_in_one_line(given: Mapping[str, Any]) -> Iterator[None]:
    """What goes wrong becomes one line and an exit code; with ``--log json`` the events say it."""
    try:
        yield
    except Exception as error:
        if given["traceback"]:
            tracebacks.print_exc()
        text, code = _text_and_code(error)
        raise _Failure(text, code, silent=given["log"] == "json") from error


def _text_and_code(error: Exception) -> tuple[str, int]:
    """What is said of an error, and the exit code."""
    if not isinstance(error, GraphError):
        return f"{type(error).__name__}: {error}", 1
    return in_options(str(error)), 2 if isinstance(error, InvalidArgument) else 1


class _Terminated(KeyboardInterrupt):
    """SIGTERM, as a service manager or a batch system sends it."""


@contextmanager
def _sigterm_as_ctrl_c() -> Iterator[None]:
    """Have SIGTERM end the job as Ctrl-C does: what it has started is ended too."""

    def stop(*_: object) -> NoReturn:
        raise _Terminated

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _leave(stopped: KeyboardInterrupt, journal: Journal, given: Mapping[str, Any]) -> NoReturn:
    """End the program at once: Python would wait for threads, and those that compute know of no Ctrl-C."""
    terminated = isinstance(stopped, _Terminated)
    text, code = ("Terminated.", 143) if terminated else ("Interrupted.", 130)
    if given["log"] != "json":
        click.echo(text, err=True)
    journal.tell("failed", error=text.rstrip("."), message=text)
    journal.end(code)
    remove_all()
    if sys.stdout is not None:
        with suppress(OSError):  # its reader has gone away
            sys.stdout.flush()
    os._exit(code)


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

    def __init__(self, text: str, exit_code: int, *, silent: bool = False) -> None:
        super().__init__(" ".join(text.split()))
        self.exit_code = exit_code  # type: ignore[misc]  # click declares it for the class only
        self._silent = silent

    def show(self, file: Any = None) -> None:
        if not self._silent:
            super().show(file)
