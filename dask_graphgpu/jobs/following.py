"""The runs of a job, followed while they go on, here or on a cluster: what a journal is told of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dask_graphgpu import report as reports
from dask_graphgpu.cluster import watch
from dask_graphgpu.cluster.queued import told_of_waiting
from dask_graphgpu.jobs.journal import Journal
from dask_graphgpu.report import Advance, Report


@contextmanager
def followed(journal: Journal) -> Iterator[None]:
    """Have a journal told of graphs and supersteps of all runs, in this process and on the active client's cluster.

    Also of waiting for others there.
    """
    supersteps: dict[int, int] = {}  # of each run in this process

    def advanced(report: Report, advance: Advance | None) -> None:
        journal.built(report.took, report.graph)
        if advance is not None:
            done = supersteps.get(report.number, 0) + advance.supersteps
            supersteps[report.number] = done
            journal.superstep(report.algorithm, done, int(advance.frontier))

    def told(event: dict[str, Any]) -> None:
        if "superstep" in event and not event.get("ended"):
            journal.superstep(event["algorithm"], event["superstep"], event["frontier"])

    reports.watchers.append(advanced)
    end = watch.follow(told)
    try:
        with told_of_waiting(lambda message: journal.tell("note", message=message)):
            yield
    finally:
        end()
        reports.watchers.remove(advanced)
