"""What happens in a job, as events: a dict each, told to whoever shows or keeps them.

`docs/reference/job-events.md` lists the events and their keys.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from dask_graphgpu.io.storage_options import redacted
from dask_graphgpu.jobs.steps import Step

Event = dict[str, Any]
_TOTALS = ("rows", "files", "bytes")


class Journal:
    """Tells of a job while it runs.

    Parameters
    ----------
    told
        Functions that are given each event.
    """

    def __init__(self, told: Sequence[Callable[[Event], None]] = ()) -> None:
        self._told = told
        self._began = time.monotonic()
        self._step: dict[str, Any] = {}
        self._steps = 0
        self._supersteps = 0
        self._totals = dict.fromkeys(_TOTALS, 0)
        self._failed: dict[str, Any] = {}

    def begin(self, number: int, step: Step, of: int, version: str) -> None:
        """A step begins; events that follow are of it."""
        self._step = {"step": number, "steps": of, "method": step.algorithm}
        self.tell("started", version=version, options=options_of(step))

    def tell(self, event: str, **facts: Any) -> None:
        """Tell of an event of the step that runs; facts that are None are left out."""
        if event == "written":
            for name in _TOTALS:
                self._totals[name] += facts[name]
        elif event == "done":
            self._steps += 1
            self._supersteps += facts.get("supersteps") or 0
        elif event == "failed":
            self._failed = {"error": facts["error"], "message": facts["message"]}
        self._hand_out(event, {**self._step, **facts})

    def end(self, code: int) -> Event:
        """Tell the summary, the last event, and give it; ``code`` is the exit code."""
        facts = {
            "method": self._step.get("method"),
            "steps": self._step.get("steps"),
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
        for told in self._told:
            told(made)
        return made


def peak_memory() -> int:
    """Most bytes that this process has had in memory at a time; workers of a cluster are not in it."""
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
        **dict(step.arguments),
        "output": step.output,
        "top": step.top,
        "report": step.report,
        "resume": step.resume or None,
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


def line_of(event: Event) -> str | None:
    """The line that says what a step did, or what is waited for; None: of other events there is none."""
    if event["event"] == "note":
        return str(event["message"])
    if event["event"] != "done":
        return None
    rows, output = event.get("rows"), event.get("path")
    if event["method"] == "build":
        what = f"{event['edges']:,} edges and {event['vertices']:,} vertices in {output}"
    else:
        what = f"{rows:,} row{'s' * (rows != 1)} {'shown' if output is None else 'in ' + output}"
        if event.get("vertices") is not None:
            what += f", from {event['vertices']:,} vertices and {event['edges']:,} edges"
    return f"{event['method']}: {what}, {event['seconds']:.1f} s"
