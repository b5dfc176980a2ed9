"""A whole job: its steps on its cluster, for the command line and for Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
from distributed import Client

from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.objects.object_folder import is_object
from dask_graphgpu.io.objects.storage_options import StorageOptions, redacted
from dask_graphgpu.jobs.clusters import ClusterOptions, on_cluster
from dask_graphgpu.jobs.job_file import job_of_keys, keys_of_file
from dask_graphgpu.jobs.journal import Journal
from dask_graphgpu.jobs.run import check, run
from dask_graphgpu.jobs.shared_paths import check_shared
from dask_graphgpu.jobs.steps import Step, StepResult
from dask_graphgpu.jobs.storage import read_job


def run_job(
    job: str | Path | Mapping[str, Any],
    *,
    client: Client | None = None,
    resume: bool = False,
    progress: bool = False,
    storage_options: Mapping[str, Any] | None = None,
) -> list[StepResult]:
    """Run the steps of a job file, as ``dask graph run`` does.

    Parameters
    ----------
    job : path, URL or dict
        A TOML file, or its keys: ``{"edges": "edges/", "step": [{"algorithm": "pagerank", "output": "ranks/"}]}``.
        Paths are relative to the current folder.
    client : distributed.Client, optional
        The cluster that computes, in place of one that the job names. Default: that one; else the active client;
        else the scheduler at Dask's setting ``scheduler-address``; else this process. It stays connected.
    resume : bool
        Continue from the checkpoints of steps that have some.
    progress : bool
        Show a progress bar on the standard error.
    storage_options : dict, optional
        Of the object store that the job file is on, and of URLs in steps that have none of their own.

    Returns
    -------
    list of StepResult
        For each step its ``algorithm``, ``output`` (the folder, or None), ``rows`` written and ``seconds``;
        ``pandas.DataFrame(results)`` is a table of them.

    Raises
    ------
    InvalidArgument
        A key is unknown, a value is not allowed, or two paths of the job are in each other's way: nothing has run.
        The client is asynchronous or closed.
    ClusterUnavailable
        The cluster that the job names cannot be reached or started, or has too few workers in time.
    GraphError
        A step has failed; results of the steps before it are written.

    Notes
    -----
    A cluster that the job starts is ended when this returns or raises. Where it is one of this machine's processes, the
    script that calls this needs an ``if __name__ == "__main__":``, as the processes import it.

    Examples
    --------
    >>> from dask_graphgpu import run_job
    >>> results = run_job("job.toml")  # doctest: +SKIP
    >>> [(result.algorithm, result.rows) for result in results]  # doctest: +SKIP
    [('pagerank', 1000)]
    """
    try:
        options = StorageOptions(storage_options)
        keys = job if isinstance(job, Mapping) else _read(job, options)
        steps, cluster = job_of_keys(keys, resume, options)
    except click.UsageError as error:
        raise InvalidArgument(error.format_message()) from None
    return run_steps(steps, cluster, client=client, progress=progress)


def run_steps(
    steps: Sequence[Step],
    cluster: ClusterOptions,
    *,
    client: Client | None = None,
    progress: bool = False,
    journal: Journal | None = None,
) -> list[StepResult]:
    """Run steps on a cluster; ``journal`` is told what happens, and what is waited for.

    Raises
    ------
    GraphError
    """
    if cluster.kind is not None or cluster.workers is not None:
        check(steps)  # before anything is started or waited for
    tell = None if journal is None else partial(_note, journal)
    with on_cluster(cluster, client, tell) as active:
        if active is not None:
            check_shared(steps, active)
        return run(steps, progress=progress, journal=journal)


def _note(journal: Journal, line: str) -> None:
    journal.tell("note", message=line)


def _read(path: str | Path, options: StorageOptions) -> dict[str, Any]:
    if not isinstance(path, str | Path):
        raise InvalidArgument(
            f"job is a {type(path).__name__}; give the path of a TOML file, or a dict of its keys"
        )
    named = str(path)
    file = named if is_object(named) else str(Path(path).expanduser())
    return keys_of_file(read_job(file, options), redacted(named))
