"""What a run on a cluster tells its client: events while it goes on, and its report."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import Any

import distributed
from distributed import Worker

from dask_graphgpu import report as reports
from dask_graphgpu import stages
from dask_graphgpu.cluster.calls import running, this_task, this_worker
from dask_graphgpu.cluster.haste import send_with_next
from dask_graphgpu.errors import GraphError
from dask_graphgpu.interrupting import check, stopping
from dask_graphgpu.report import Advance, Report, Split
from dask_graphgpu.stages import StageSteps

TOPIC = "dask_graphgpu"
_REPORTS = "dask_graphgpu-reports"
_PROGRESS = "dask_graphgpu-progress"  # the same events, so that a user's handler stays the user's
_EVERY = 0.1  # seconds between two events

_mine: dict[
    str, float | None
] = {}  # tasks of runs that this process has asked for, the last ones last
_MOST = 1000

# Of a report, beside its advances and the ranks' times.
_ABOUT = (
    "algorithm", "ranks", "memory", "disk_bytes", "disk_waited", "moved", "sides", "graph", "compiled", "took",
    "ignored", "left_out",
)  # fmt: skip


class Telling:
    """Tells the client how far a run is, at most ten times a second; nothing of one that is over before.

    Parameters
    ----------
    run : str
        The task that leads it.
    """

    def __init__(self, worker: Worker, run: str) -> None:
        self._worker, self._run = worker, run
        self._supersteps = 0
        self._next = time.monotonic() + _EVERY

    def __call__(self, report: Report, advance: Advance | None) -> None:
        if advance is None:
            self._end(report)
            return
        self._supersteps += advance.supersteps
        if (now := time.monotonic()) < self._next:
            return
        self._next = now + _EVERY
        check(stopping())  # for engines that do not look themselves
        event = self._about(report) | {
            "direction": advance.direction,
            "frontier": int(advance.frontier),
            "edges": int(advance.edges),
            "seconds": float(advance.seconds),
        }
        self._worker.log_event([TOPIC, _PROGRESS], event)

    def _end(self, report: Report) -> None:
        """Tell bars that the run is over; it goes with the message that its task has ended, as `tell_report`."""
        event = self._about(report) | {"frontier": 0, "ended": True}
        _send_with_next(self._worker, _PROGRESS, event)

    def _about(self, report: Report) -> dict[str, Any]:
        """What all events of a run say."""
        return {
            "run": self._run,
            "algorithm": report.algorithm,
            "superstep": self._supersteps,
            "limit": report.limit,
        }


def _send_with_next(worker: Worker, topic: str, event: dict[str, Any]) -> None:
    """Leave an event with the scheduler, together with the next message: nothing is sent for it alone."""
    message = {"op": "log-event", "topic": topic, "msg": event}
    worker.loop.add_callback(send_with_next, worker.batched_stream, message)


def _telling_of_stages() -> Callable[[StageSteps], None] | None:
    """What tells the client of a stage of the task that calls; None outside of this package's tasks."""
    worker = this_worker()
    if worker is None:
        return None

    def told(progress: StageSteps) -> None:
        worker.log_event(_PROGRESS, {"stage": asdict(progress)})

    return told


def telling() -> Telling | None:
    """What tells of a run in the task that calls; None outside of a cluster's tasks."""
    found = running()
    return None if found is None else Telling(*found)


_followers: list[Callable[[dict[str, Any]], None]] = []


def follow(told: Callable[[dict[str, Any]], None]) -> Callable[[], None]:
    """Hand a function the events of all runs on the cluster of the active client; gives what ends it."""
    try:
        client = distributed.get_client()
    except ValueError:
        return lambda: None
    if not _followers:
        client.subscribe_topic(_PROGRESS, _hand_out)
    _followers.append(told)

    def end() -> None:
        _followers.remove(told)
        if not _followers and client.status == "running":
            client.unsubscribe_topic(_PROGRESS)

    return end


def _hand_out(event: tuple[float, dict[str, Any]]) -> None:
    for told in list(_followers):
        told(event[1])


def tell_report(worker: Worker, run: str, report: Report) -> None:
    """Leave the report of a run that has ended with the scheduler, for `last_report`.

    It goes with the message that the task of the run has ended: `Worker.log_event` would send it
    before, and have that one wait.
    """
    rows = [[_plain(value) for value in asdict(advance).values()] for advance in report.advances]
    about = {name: _plain(getattr(report, name)) for name in _ABOUT}
    split = [list(asdict(each).values()) for each in report.split]
    event = {"run": run, "about": about, "split": split, "advances": rows}
    _send_with_next(worker, _REPORTS, event)


def tell_own_report(report: Report) -> None:
    """As `tell_report`, of the run that is the task that calls; nothing outside of a cluster's tasks."""
    worker = this_worker()
    if worker is not None:
        tell_report(worker, this_task(worker), report)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value.item() if hasattr(value, "item") else value


def expect(run: str) -> None:
    """Remember that this process has asked for a run, and when, if a cluster may run it."""
    _mine.pop(run, None)
    _mine[run] = None
    with suppress(ValueError):  # there is no client
        distributed.Client.current()
        _mine[run] = time.time()
    while len(_mine) > _MOST:
        del _mine[next(iter(_mine))]


@contextmanager
def unasked() -> Iterator[None]:
    """Have `last_report` not tell of runs that this process asks for inside: they are for something else."""
    before = set(_mine)
    try:
        with reports.unpublished():
            yield
    finally:
        for run in set(_mine) - before:
            _mine.pop(run, None)


def _client() -> distributed.Client | None:
    """The active client."""
    try:
        client = distributed.get_client()
    except ValueError:
        return None
    return client if client.status == "running" else None


def _latest(since: float) -> tuple[float, Report] | None:
    """When the run on a cluster that this process has asked for ended last, and its report.

    Raises
    ------
    GraphError
        One was asked for after ``since``, and nobody can say now whether it has run.
    """
    if not _mine:
        return None
    client = _client()
    if client is None or client.asynchronous:
        if any(asked is not None and asked > since for asked in _mine.values()):
            raise GraphError(
                "a result was asked of a cluster since, and its client "
                + ("is closed" if client is None else "is asynchronous")
                + ": whether that has run, and its report, only a client that is neither can tell"
            )
        return None
    for when, event in reversed(client.get_events(_REPORTS)):
        if event["run"] in _mine:
            advances = [Advance(*row) for row in event["advances"]]
            split = tuple(Split(*seconds) for seconds in event["split"])
            return when, Report(advances=advances, split=split, **event["about"])
    return None


reports.elsewhere(_latest)
stages.elsewhere(_telling_of_stages)
