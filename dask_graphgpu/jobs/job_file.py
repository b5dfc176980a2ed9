"""Job files: TOML whose keys are the options of the command line."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Sequence
from typing import Any

import click

from dask_graphgpu.jobs.options import STEPS, parameters_of, step_of
from dask_graphgpu.jobs.steps import Step
from dask_graphgpu.jobs.wording import guess

_RUN_OPTIONS = {"progress", "traceback"}
_PAIRS = {"name", "type"}  # texts with a sign = on the command line, tables in a file
_LISTS = {"columns", "edge_columns"}  # texts with commas on the command line, lists in a file


def steps_of_file(text: bytes, name: str, resume: bool = False) -> list[Step]:
    """The steps of a job file, all of them checked as far as words can be.

    Parameters
    ----------
    text
        TOML. Each [[step]] is one algorithm, or build; keys above the first step hold for all of them.
    name
        Of the file, for errors.
    resume
        Go on from the checkpoints of steps that have some.

    Raises
    ------
    click.UsageError
        It is no TOML, a key is unknown, or a value is not of its kind.
    """
    try:
        keys = tomllib.loads(text.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{name} is not TOML: {error}") from error
    tables = keys.pop("step", [{}])
    if not isinstance(tables, list) or not tables or not all(isinstance(t, dict) for t in tables):
        raise click.UsageError("step has to be a list of tables: write [[step]] above each.")
    steps = [_step_of_table({**keys, **table}, i + 1) for i, table in enumerate(tables)]
    if not resume:
        return steps
    return [
        dataclasses.replace(step, resume=step.resume or step.checkpoint is not None)
        for step in steps
    ]


def _step_of_table(table: dict[str, Any], number: int) -> Step:
    """Read the keys of a step as if they had been typed on the command line."""
    name, edges = table.pop("algorithm", None), table.pop("edges", None)
    name = name.replace("-", "_") if isinstance(name, str) else name
    try:
        if not isinstance(name, str) or name not in STEPS:
            meant = guess(name, STEPS) if isinstance(name, str) else ""
            raise click.UsageError(f"algorithm is {name!r}; allowed are {', '.join(STEPS)}.{meant}")
        if not isinstance(edges, str):
            raise click.UsageError(f"edges is {edges!r}; give a path.")
        command = click.Command(name, params=parameters_of(name))
        options = {p.name: p for p in command.params if p.name not in _RUN_OPTIONS | {"edges"}}
        words: list[str] = []
        for key, value in table.items():
            option = options.get(key.replace("-", "_"))
            if not isinstance(option, click.Option):
                known = sorted(map(str, options))
                meant = guess(key, known) or f" There are {', '.join(known)}."
                raise click.UsageError(f"{key!r} is no key of {name}.{meant}")
            words += _words(option, key, value)
        context = command.make_context(name, [*words, "--", edges])
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
    if option.name in _PAIRS and isinstance(value, dict):
        value = [f"{old}={new}" for old, new in value.items()]
    if option.name in _LISTS and isinstance(value, list) and all(isinstance(v, str) for v in value):
        value = ",".join(value)
    values = value if option.multiple and isinstance(value, list) else [value]
    if option.is_flag or not all(isinstance(v, str | int | float) for v in values):
        raise click.UsageError(
            f"{key} is {value!r}; give {'true or false' if option.is_flag else 'a text or a number'}."
        )
    return [f"{option.opts[0]}={v}" for v in values]
