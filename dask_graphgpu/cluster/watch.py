"""What a run on a cluster tells its client: events while it goes on, and its report."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

import distributed
from distributed import Worker

from dask_graphgpu import report as reports
from dask_graphgpu.report import Advance, Report

TOPIC = "dask_graphgpu"
_REPORTS = "dask_graphgpu-reports"
_EVERY = 0.1  # seconds between two events

_mine: dict[str, None] = {}  # tasks of runs that this process has asked for, the last ones last
_MOST = 1000


class Telling:
    """Tells the client how far a run is, at most ten times a second.

    Parameters
    ----------
    run : str
        The task that leads it.
    """

    def __init__(self, worker: Worker, run: str) -> None:
        self._worker, self._run = worker, run
        self._supersteps = 0
        self._next = 0.0

    def __call__(self, report: Report, advance: Advance) -> None:
        self._supersteps += advance.supersteps
        if (now := time.monotonic()) < self._next:
            return
        self._next = now + _EVERY
        self._worker.log_event(
            TOPIC,
            {
                "run": self._run,
                "algorithm": report.algorithm,
                "superstep": self._supersteps,
                "direction": advance.direction,
                "frontier": int(advance.frontier),
                "edges": int(advance.edges),
                "seconds": float(advance.seconds),
            },
        )


def tell_report(worker: Worker, run: str, report: Report) -> None:
    """Leave the report of a run that has ended with the scheduler, for `last_report`."""
    rows = [[_plain(value) for value in asdict(advance).values()] for advance in report.advances]
    about = {"algorithm": report.algorithm, "ranks": report.ranks}
    about["exchange_seconds"] = report.exchange_seconds
    event = {"run": run, "about": about, "advances": rows}
    worker.log_event(_REPORTS, event)


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def expect(run: str) -> None:
    """Remember that this process has asked for a run."""
    _mine.pop(run, None)
    _mine[run] = None
    while len(_mine) > _MOST:
        del _mine[next(iter(_mine))]


def _latest() -> tuple[float, Report] | None:
    """When the run on a cluster that this process has asked for ended last, and its report."""
    if not _mine:
        return None
    try:
        client = distributed.get_client()
    except ValueError:
        return None
    if client.status != "running" or client.asynchronous:
        return None
    for when, event in reversed(client.get_events(_REPORTS)):
        if event["run"] in _mine:
            advances = [Advance(*row) for row in event["advances"]]
            return when, Report(advances=advances, **event["about"])
    return None


reports.elsewhere(_latest)
