"""Who is told of the events of a job: lines of text, lines of JSON, a file, and the summary beside the output."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

import click

from dask_graphgpu.errors import GraphError, InvalidArgument
from dask_graphgpu.io.output import write_text
from dask_graphgpu.jobs.journal import Event, Journal, line_of
from dask_graphgpu.jobs.steps import Step

Sink = Callable[[Event], None]


@contextmanager
def journal_of(given: Mapping[str, Any], steps: Sequence[Step]) -> Iterator[Journal]:
    """The journal of a job whose options say who is told.

    Raises
    ------
    InvalidArgument
        The log file cannot be written, or there is no output for a summary to lie beside.
    """
    told: list[Sink] = []
    if not given["quiet"] and given["log"] != "none":
        told.append(_say_json if given["log"] == "json" else _say_text)
    if given["summary"]:
        told.append(_beside(_last_written(steps)))
    if given["log_file"] is None:
        yield Journal(told, len(steps))
        return
    try:
        file = Path(given["log_file"]).expanduser().open("a", encoding="utf-8")
    except OSError as error:
        raise InvalidArgument(
            f"--log-file {given['log_file']} cannot be written: {error.strerror}"
        ) from error
    with file:
        yield Journal([*told, lambda event: _write(file, json.dumps(event))], len(steps))


def _say_text(event: Event) -> None:
    line = line_of(event)
    if line is not None:
        _write(sys.stderr, line)


def _say_json(event: Event) -> None:
    _write(sys.stderr, json.dumps(event))


def _write(file: TextIO | None, line: str) -> None:
    """Write a line to a stream that may be closed, or whose reader may have gone."""
    if file is not None:
        with suppress(OSError, ValueError):
            print(line, file=file, flush=True)


def _last_written(steps: Sequence[Step]) -> Step:
    """The last step that has an output."""
    for step in reversed(steps):
        if step.output is not None:
            return step
    raise InvalidArgument("--summary is written beside the output of a step: give --output too")


def _beside(step: Step) -> Sink:
    """Who writes the summary beside the output of a step."""
    assert step.output is not None
    path, options = f"{step.output.rstrip('/')}.summary.json", step.options_for(step.output)

    def write(event: Event) -> None:
        if event["event"] != "summary":
            return
        try:
            write_text(path, json.dumps(event, indent=2) + "\n", options)
        except GraphError as error:  # the job has its result
            click.echo(f"Warning: the summary is missing: {error}", err=True)

    return write
