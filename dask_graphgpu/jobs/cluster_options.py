"""Options and keys that say on which cluster a job runs: ``--scheduler``, ``[cluster]`` and so on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from dask_graphgpu.jobs.clusters import ClusterOptions
from dask_graphgpu.jobs.durations import seconds_of

# Keys of a job file, what they may be, and how that is said.
_KINDS: dict[str, tuple[type, str]] = {
    "scheduler": (str, "an address, such as 'tcp://host:8786', or the path of a scheduler file"),
    "cluster": (str, "a kind, such as 'local', or a table [cluster] with kind = 'local'"),
    "workers": (int, "a number"),
    "wait": (str, "a time, such as '30s', '5min' or '1h'"),
}
KEYS = tuple(_KINDS)
# Those that may stand in the table [cluster], too.
_IN_TABLE = ("workers", "wait")


def _seconds(text: str) -> float:
    """A time, such as 30s, 5min or 1h, in seconds."""
    seconds = seconds_of(text)
    if seconds is None:
        raise click.BadParameter(f"{text!r}; give a time, such as 30s, 5min or 1h.")
    return seconds


def cluster_parameters() -> list[click.Parameter]:
    """Parameters that say which cluster computes."""
    return [
        click.Option(
            ["--scheduler"],
            metavar="ADDRESS|FILE",
            help="Compute on a running cluster: its address, such as tcp://host:8786, or its scheduler file.",
        ),
        click.Option(
            ["--cluster"],
            metavar="KIND",
            help="Start a cluster for the job: local, cuda, or module:Class, such as dask_jobqueue:SLURMCluster.",
        ),
        click.Option(
            ["--workers"],
            type=click.IntRange(min=1),
            metavar="N",
            help="Begin when so many workers are there; a cluster that is started is asked for them.",
        ),
        click.Option(
            ["--wait"],
            type=_seconds,
            metavar="TIME",
            help="How long to wait for a scheduler file and for workers, such as 30s or 1h. Default: 5min.",
        ),
    ]


def cluster_of(given: Mapping[str, Any], said: ClusterOptions | None = None) -> ClusterOptions:
    """What options of the command line say, and a job file where they say nothing.

    A scheduler or a cluster of the command line takes the place of either in the file.

    Raises
    ------
    click.UsageError
        Both a scheduler and a cluster are given.
    """
    said = said or ClusterOptions()
    scheduler, kind = given.get("scheduler"), given.get("cluster")
    if scheduler is not None and kind is not None:
        raise click.UsageError("--scheduler and --cluster exclude each other.")
    arguments = said.arguments if kind in (None, said.kind) else {}
    if scheduler is None and kind is None:
        scheduler, kind = said.scheduler, said.kind
    return ClusterOptions(
        scheduler,
        kind,
        arguments if kind is not None else {},
        given.get("workers") or said.workers,
        given.get("wait") or said.wait,
    )


def cluster_of_keys(keys: Mapping[str, Any]) -> ClusterOptions:
    """What the keys of a job file say, each read as its option is.

    Raises
    ------
    click.UsageError
        A value is not of its kind; the table lacks its kind; a key is given twice.
    """
    table = keys.get("cluster")
    arguments = dict(table) if isinstance(table, Mapping) else {}
    values = {name: keys[name] for name in KEYS if name in keys}
    if isinstance(table, Mapping):
        if "kind" not in arguments:
            raise click.UsageError(
                "[cluster] has no kind: local, cuda, or module:Class, such as dask_jobqueue:SLURMCluster."
            )
        values["cluster"] = arguments.pop("kind")
        for name in _IN_TABLE:
            if name in arguments:
                if name in values:
                    raise click.UsageError(f"{name} is given both above and in [cluster].")
                values[name] = arguments.pop(name)
    words = []
    for name, value in values.items():
        kinds, wanted = _KINDS[name]
        if isinstance(value, bool) or not isinstance(value, kinds):
            raise click.UsageError(f"{name} is {value!r}; give {wanted}.")
        words.append(f"--{name}={value}")
    command = click.Command("run", params=cluster_parameters())
    found = cluster_of(command.make_context("run", words).params)
    return ClusterOptions(found.scheduler, found.kind, arguments, found.workers, found.wait)
