"""Job files: TOML whose keys are the options of the command line."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import click

from dask_graphgpu.errors import guess
from dask_graphgpu.io.objects.storage_options import StorageOptions
from dask_graphgpu.jobs.cluster_options import KEYS, cluster_of_keys
from dask_graphgpu.jobs.clusters import ClusterOptions
from dask_graphgpu.jobs.list_option import ListOption
from dask_graphgpu.jobs.method_options import algorithm_options, numbers
from dask_graphgpu.jobs.options import (
    ALGORITHMS,
    FEATURES,
    STEPS,
    arguments_of,
    name_option,
    parameters_of,
    run_options,
    step_of,
)
from dask_graphgpu.jobs.steps import Step
from dask_graphgpu.jobs.storage import words_of
from dask_graphgpu.jobs.update_step import UPDATE

_PAIRS = {"name", "type"}  # texts with a sign = on the command line, tables in a file


def keys_of_file(text: bytes, name: str) -> dict[str, Any]:
    """The keys of a job file; ``name`` is for errors.

    Raises
    ------
    click.UsageError
        It is no TOML.
    """
    try:
        return tomllib.loads(text.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{name} is not TOML: {error}.") from error


def job_of_keys(
    keys: Mapping[str, Any], resume: bool = False, options: StorageOptions | None = None
) -> tuple[list[Step], ClusterOptions]:
    """The steps of a job, all of them checked as far as words can be, and where it is to run.

    Parameters
    ----------
    keys
        Of a job file. Each [[step]] is one algorithm, or build; keys above the first step hold for all of them, but
        for those that name a cluster, which is the job's.
    resume
        Go on from the checkpoints of steps that have some.
    options
        Storage options of steps that have none.

    Raises
    ------
    click.UsageError
        A key is unknown, or a value is not of its kind.
    """
    shared = {name: value for name, value in keys.items() if name not in ("step", *KEYS)}
    if options:
        shared.setdefault("storage_options", dict(options))
    tables = keys.get("step", [{}])
    if not isinstance(tables, list) or not tables or not all(isinstance(t, dict) for t in tables):
        raise click.UsageError("step has to be a list of tables: write [[step]] above each.")
    cluster = cluster_of_keys(keys)
    steps = [_step_of_table({**shared, **table}, i + 1) for i, table in enumerate(tables)]
    if resume:
        steps = [
            dataclasses.replace(step, resume=step.resume or step.checkpoint is not None)
            for step in steps
        ]
    return steps, cluster


def _step_of_table(table: dict[str, Any], number: int) -> Step:
    """Read the keys of a step as if they had been typed on the command line."""
    name, edges = table.pop("algorithm", None), table.pop("edges", None)
    name = name.replace("-", "_") if isinstance(name, str) else name
    try:
        if not isinstance(name, str) or name not in STEPS:
            meant = guess(name, STEPS) if isinstance(name, str) else ""
            raise click.UsageError(f"algorithm is {name!r}; allowed are {', '.join(STEPS)}.{meant}")
        if not isinstance(edges, str) and not (name == UPDATE and edges is None):
            missing = "there is no key edges" if edges is None else f"edges is {edges!r}"
            raise click.UsageError(f"{missing}; give a path.{guess('edges', table)}")
        arguments = None
        if name == FEATURES and isinstance(table.get("methods"), dict | list):
            arguments = _arguments_of_methods(table["methods"])
            table = {**table, "methods": ",".join(arguments)}
        command = click.Command(name, params=parameters_of(name))
        for key in KEYS:
            if key in table:
                raise click.UsageError(
                    f"{key} is of the whole job: write it above the first [[step]]."
                )
        others = {"edges", *(p.name for p in run_options())}
        options = {str(p.name): p for p in command.params if p.name not in others}
        words = _words_of_keys(table, name, options)
        context = command.make_context(name, [*words, "--", *([edges] if edges else [])])
        given = context.params if arguments is None else {**context.params, "methods": arguments}
        return step_of(name, given)
    except click.UsageError as error:
        raise click.UsageError(f"step {number}: {error.format_message()}") from error


def _arguments_of_methods(methods: dict[str, Any] | list[Any]) -> dict[str, dict[str, Any]]:
    """Methods of a step of several with their arguments, as the command of each would read them."""
    given = methods if isinstance(methods, dict) else {str(name): {} for name in methods}
    found: dict[str, dict[str, Any]] = {}
    for key, table in given.items():
        name = key.replace("-", "_")
        if not isinstance(table, dict):
            raise click.UsageError(
                f"methods.{key} is {table!r}; give a table of its arguments, or {{}}."
            )
        found[name] = {}
        if name not in ALGORITHMS:  # as the option says, which reads the names
            continue
        params = [name_option(), *algorithm_options(ALGORITHMS[name])]
        words = _words_of_keys(table, name, {str(p.name): p for p in params})
        read = click.Command(name, params=params).make_context(name, words).params
        found[name] = arguments_of(read)
    return found


def _words_of_keys(
    table: dict[str, Any], name: str, options: Mapping[str, click.Parameter]
) -> list[str]:
    """The keys of a table and their values as words of the command line."""
    words: list[str] = []
    for key, value in table.items():
        option = options.get(key.replace("-", "_"))
        if not isinstance(option, click.Option):
            known = sorted(map(str, options))
            meant = guess(key, known) or f" There are {', '.join(known)}."
            raise click.UsageError(f"{key!r} is no key of {name}.{meant}")
        words += _words(option, key, value)
    return words


def _words(option: click.Option, key: str, value: Any) -> Sequence[str]:
    """A key and its value as words of the command line."""
    if isinstance(value, bool):
        if not option.is_flag:
            raise click.UsageError(f"{key} is {str(value).lower()}; it is no switch.")
        names = option.opts if value else option.secondary_opts
        return names[:1]  # a switch without a --no- form is off unless it is given
    if option.name == "storage_options":
        value = words_of(value)
    if option.name in _PAIRS and isinstance(value, dict):
        value = [f"{old}={new}" for old, new in value.items()]
    if isinstance(option, ListOption) and option.table and isinstance(value, dict):
        value = json.dumps(value)
    if getattr(option.type, "func", None) is numbers and isinstance(value, list):
        value = "".join(f"{each}," for each in value)
    values = value if option.multiple and isinstance(value, list) else [value]
    allowed = (
        str if isinstance(option, ListOption) and isinstance(value, list) else str | int | float
    )
    if option.is_flag or not all(isinstance(v, allowed) for v in values):
        raise click.UsageError(
            f"{key} is {value!r}; give {'true or false' if option.is_flag else 'a text or a number'}."
        )
    return [f"{option.opts[0]}={v}" for v in values]
