"""What happens in a job, as events: a dict each, told to whoever shows or keeps them.

`docs/reference/job-events.md` lists the events and their keys.
"""

from __future__ import annotations

import resource
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from glob import glob
from pathlib import Path
from typing import Any

from dask_graphgpu.io.objects.storage_options import redacted
from dask_graphgpu.jobs.steps import GraphOptions, Step

Event = dict[str, Any]
_TOTALS = ("rows", "files", "bytes")
_EVERY = 1.0  # seconds between two supersteps that are told of


class Journal:
    """Tells of a job while it runs; from any thread.

    Parameters
    ----------
    told
        Functions that are given each event.
    steps
        How many steps the job has.
    """

    def __init__(self, told: Sequence[Callable[[Event], None]] = (), steps: int = 0) -> None:
        self._told, self._of = told, steps
        self._lock = threading.RLock()
        self._began = self._step_began = time.monotonic()
        self._next = 0.0  # when a superstep is told of again
        self._graph: GraphOptions | None = None  # of the step
        self._read: set[GraphOptions] = set()  # graphs that have been told of
        self._step: dict[str, Any] = {}
        self._methods: list[str] = []
        self._steps = 0
        self._supersteps = 0
        self._totals = dict.fromkeys(_TOTALS, 0)
        self._failed: dict[str, Any] = {}

    def begin(self, number: int, step: Step, version: str) -> None:
        """A step begins; events that follow are of it."""
        self._step = {"step": number, "steps": self._of, "method": step.algorithm}
        self._methods.append(step.algorithm)
        self._step_began, self._next, self._graph = time.monotonic(), 0.0, step.graph
        self.tell("started", version=version, options=options_of(step))

    def tell(self, event: str, **facts: Any) -> None:
        """Tell of an event of the step that runs; facts that are None are left out."""
        if event == "written":
            facts["seconds"] = round(time.monotonic() - self._step_began, 3)
            for name in _TOTALS:
                self._totals[name] += facts[name]
        elif event == "done":
            self._steps += 1
            self._supersteps += facts.get("supersteps") or 0
        elif event == "failed":
            facts["message"] = redacted(facts["message"])
            self._failed = {"error": facts["error"], "message": facts["message"]}
        self._hand_out(event, {**self._step, **facts})

    def built(self, took: Mapping[str, float], graph: Mapping[str, int]) -> None:
        """Tell once of each graph what was read and built; ``took`` and ``graph`` as of `Report`."""
        with self._lock:
            if self._graph is None or self._graph in self._read or not graph:
                return
            self._read.add(self._graph)
        if "read" in took:
            size = bytes_of_files(self._graph.edges)
            self.tell("read", rows=graph["edges"], bytes=size, seconds=round(took["read"], 3))
        if "build" in took:
            self.tell("built", **graph, seconds=round(took["build"], 3))

    def superstep(self, algorithm: str, number: int, active: int) -> None:
        """Tell that a run of a method has come to a superstep, at most once a second."""
        with self._lock:
            now = time.monotonic()
            if now < self._next:
                return
            self._next = now + _EVERY
        seconds = round(now - self._step_began, 3)
        self.tell("superstep", algorithm=algorithm, number=number, active=active, seconds=seconds)

    def end(self, code: int) -> Event:
        """Tell the summary, the last event, and give it; ``code`` is the exit code."""
        facts = {
            "methods": self._methods,
            "steps": self._of,
            "steps_done": self._steps,
            "supersteps": self._supersteps,
            "seconds": round(time.monotonic() - self._began, 3),
            **self._totals,
            **self._failed,
            "exit_code": code,
        }
        self._step = {}
        return self._hand_out("summary", facts)

    def _hand_out(self, event: str, facts: Mapping[str, Any]) -> Event:
        made = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "event": event,
            "elapsed": round(time.monotonic() - self._began, 3),
            "peak_memory": peak_memory(),
            **{name: value for name, value in facts.items() if value is not None},
        }
        with self._lock:
            for told in self._told:
                told(made)
        return made


def peak_memory() -> int:
    """Most bytes that this process has had in memory at a time; workers of a cluster are not in it."""
    with suppress(OSError, StopIteration):  # Linux, where getrusage begins with what the parent had
        with open("/proc/self/status", encoding="ascii") as status:
            line = next(line for line in status if line.startswith("VmHWM:"))
        return 1024 * int(line.split()[1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) if sys.platform == "darwin" else 1024 * int(peak)


def options_of(step: Step) -> dict[str, Any]:
    """The options of a step as plain values, without passwords that are in URLs."""
    given = {
        "edges": step.graph.edges,
        "columns": list(step.graph.columns) or None,
        "vertices": step.graph.vertices,
        **dict(step.graph.others),
        **dict(step.graph.saved),
        **dict(step.graph.table),
        **dict(step.arguments),
        "saved": step.graph.kept,
        "output": step.output,
        "top": step.top,
        "report": step.report,
        "keep": step.keep,
        "partition_by": list(step.partition_by) or None,
        "resume": step.resume or None,
        "keep_ids": step.keep_ids,
        "changes": step.changes,
    }
    if step.checkpoint is not None:
        given["checkpoint"] = str(step.checkpoint.path)
    return {name: _plain(value) for name, value in given.items() if value is not None}


def _plain(value: Any) -> Any:
    """A value that JSON has, without the credentials of a URL."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, bool | int | float) or value is None:
        return value
    return redacted(str(value))


def bytes_of_files(path: str) -> int | None:
    """Bytes of the local files that a path of edges names; None: it is a URL, or they have gone."""
    if "://" in path:
        return None
    whole = Path(path).expanduser()
    try:
        found = [Path(name) for name in glob(str(whole))] if "*" in path else [whole]
        files = [f for each in found for f in (each.rglob("*") if each.is_dir() else [each])]
        return sum(file.stat().st_size for file in files if file.is_file())
    except OSError:
        return None


def line_of(event: Event) -> str | None:
    """The line that says what a step did, or what is waited for; None: of other events there is none."""
    if event["event"] == "note":
        return str(event["message"])
    if event["event"] == "graph":
        return _kept(event)
    if event["event"] != "done":
        return None
    rows, output = event.get("rows"), event.get("path")
    if event["method"] == "update":
        return f"update: {_changed(event)} in {output}, {_duration(event['seconds'])}"
    if event["method"] == "build":
        what = f"{event['edges']:,} edges and {event['vertices']:,} vertices in {output}"
    else:
        what = f"{rows:,} row{'s' * (rows != 1)} {'shown' if output is None else 'in ' + output}"
        if event.get("vertices") is not None:
            what += f", from {event['vertices']:,} vertices and {event['edges']:,} edges"
    if "groups" in event:
        counts = ", ".join(f"{number:,} {word}" for word, number in event["groups"].items())
        what += f", {'ids kept' if event['kept_ids'] else 'no ids to keep yet'}: {counts or 'no groups'}"
    if "since" in event:
        what += f", from the earlier result of generation {event['since']}"
    elif "in_full" in event:
        what += f", in full: {event['in_full']}"
    return f"{event['method']}: {what}, {_duration(event['seconds'])}"


def _kept(event: Event) -> str:
    """What was done to a graph that is kept up to date, in words."""
    number = event["files"]
    files = f"{number:,} file{'s' * (number != 1)}"
    size = f"{event['edges']:,} edges and {event['vertices']:,} vertices"
    if event["how"] == "built":
        return f"graph: built of {files}, {size} in {event['path']}: {event['why']}"
    what = f"{event['rows']:,} rows of {files} appended" if number else "no file is new"
    return f"graph: {what}, {size} in {event['path']}"


def _changed(event: Event) -> str:
    """What an update has done, in words."""
    size = f"{event['edges']:,} edges and {event['vertices']:,} vertices"
    if "appended" not in event:
        return f"compacted, {size}"
    counts = (
        f"{event['appended']:,} rows appended, {event['removed']:,} removed, {event['not_found']:,} not found, "
        f"{event['new_vertices']:,} new vertices"
    )
    return f"{counts}; {size}"


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 0.1 else f"{max(1000 * seconds, 1):.0f} ms"
