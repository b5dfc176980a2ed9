"""A progress bar of graph methods while they are computed, here or on a cluster."""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import dataclass, replace
from typing import Any, Self, TextIO

from dask_graphgpu import report as reports
from dask_graphgpu import stages
from dask_graphgpu.bars import Bar, NotebookBars, Shower, TextBars, in_notebook
from dask_graphgpu.cluster import watch
from dask_graphgpu.report import Advance, Report
from dask_graphgpu.stages import StageSteps

_MOST = 64  # runs and stages that are remembered


@dataclass(frozen=True)
class _Going:
    """What is known of a run, or a stage before one, that goes on or has ended.

    ``done`` are its supersteps or steps, of ``limit`` if that is known. ``stage``: whether it is one.
    """

    name: str
    done: int = 0
    limit: int | None = None
    detail: str = ""
    stage: bool = False
    ended: bool = False
    began: float = 0.0
    seconds: float | None = None  # that it took

    def bar(self, key: Any) -> Bar:
        seconds = time.monotonic() - self.began if self.seconds is None else self.seconds
        text = self.name
        if self.stage:
            text += f" {self.done:,} of {self.limit:,}" if self.limit and not self.detail else ""
            text += f": {self.detail}" if self.detail else ""
        elif self.done:
            text += f" superstep {self.done:,}"
            text += "" if self.ended else f" | {self.detail}"
        part = None if self.limit is None else min(self.done, self.limit) / max(self.limit, 1)
        return Bar(key, text, 1.0 if self.ended else part, seconds, self.stage, self.ended)


class ProgressBar:
    """Shows how far the graph method is that is being computed; a context manager.

    Opt-in, as Dask's own bar: for what is computed inside of the context, or from `register` to
    `unregister`. It follows what goes on in this process, and on the cluster of the client that is
    active when it begins: reading, building, and the run. A line a run: the superstep, the vertices that are active
    in it, and the time; with a bar of how much is done where the number of supersteps is known, as with
    ``tolerance=0``, and else one that moves. A run that has ended is full. In a notebook it is one output, which
    changes.

    Parameters
    ----------
    minimum : float
        Seconds that reading, building or a run takes before it is shown.
    dt : float
        Seconds between two looks.
    out : text file, optional
        Default: in a notebook its output, elsewhere the standard output.

    Examples
    --------
    >>> import pandas as pd, dask_graphgpu
    >>> edges = pd.DataFrame({"src": [0, 1], "dst": [1, 2]})
    >>> with dask_graphgpu.ProgressBar(minimum=1.0):
    ...     ranks = edges.graph.pagerank()
    """

    def __init__(self, minimum: float = 0.0, dt: float = 0.1, out: TextIO | None = None) -> None:
        self._minimum, self._dt = minimum, dt
        self._shower: Shower = (
            NotebookBars()
            if out is None and in_notebook()
            else TextBars(sys.stdout if out is None else out)
        )
        self._lock, self._showing = threading.Lock(), threading.Lock()
        self._going: dict[Any, _Going] = {}
        self._shown: tuple[Any, _Going] | None = None  # what was shown last, as it was then
        self._stop = threading.Event()
        self._drawing: threading.Thread | None = None

    def __enter__(self) -> Self:
        self.register()
        return self

    def __exit__(self, *_: object) -> None:
        self.unregister()

    def register(self) -> None:
        """Show what is computed from now on."""
        if self._drawing is not None:
            return
        self._stop.clear()
        self._drawing = threading.Thread(target=self._draw, name="graph-progress", daemon=True)
        self._drawing.start()
        reports.watchers.append(self._advanced)
        stages.followers.append(self._staged)
        self._unfollow = watch.follow(self._told)

    def unregister(self) -> None:
        """Show no more; what was shown last ends with a new line."""
        if self._drawing is None:
            return
        reports.watchers.remove(self._advanced)
        stages.followers.remove(self._staged)
        self._unfollow()
        self._stop.set()
        self._drawing.join()
        self._drawing = None
        self._look()
        self._shower.close()
        self._shown = None
        self._going.clear()

    def _advanced(self, report: Report, advance: Advance | None) -> None:
        """A run in this process has advanced, or ended."""
        with self._lock:
            known = self._known(report.number, _Going(report.algorithm))
            if advance is None:
                known = replace(known, ended=True)
            else:
                done, active = known.done + advance.supersteps, f"{int(advance.frontier):,} active"
                known = replace(known, done=done, detail=active, limit=report.limit)
            self._note(report.number, known)
        if advance is None:
            self._look()  # before who waits for the result says something

    def _staged(self, progress: StageSteps) -> None:
        """Some steps of a stage are done, here or on the cluster."""
        key = (progress.stage, progress.key)
        with self._lock:
            known = self._known(key, _Going(progress.stage, limit=progress.of, stage=True))
            done = known.done + progress.steps
            detail, ended = progress.detail or known.detail, done == progress.of
            self._note(key, replace(known, done=done, detail="" if ended else detail, ended=ended))

    def _told(self, event: dict[str, Any]) -> None:
        """A run on the cluster has advanced or ended, or a stage there."""
        if "stage" in event:
            self._staged(StageSteps(**event["stage"]))
            return
        with self._lock:
            known = self._known(event["run"], _Going(event["algorithm"]))
            active, ended = f"{event['frontier']:,} active", event.get("ended", False)
            about = {"done": event["superstep"], "limit": event["limit"]}
            self._note(event["run"], replace(known, **about, detail=active, ended=ended))
        if ended:
            self._look()

    def _known(self, key: Any, new: _Going) -> _Going:
        known = self._going.get(key)
        if known is None or known.ended:  # it is run again
            return replace(new, began=time.monotonic())
        return known

    def _note(self, key: Any, going: _Going) -> None:
        if going.ended:
            going = replace(going, seconds=time.monotonic() - going.began)
        self._going.pop(key, None)
        self._going[key] = going  # the last one last
        if len(self._going) > _MOST:
            del self._going[next(iter(self._going))]

    def _draw(self) -> None:
        while not self._stop.wait(self._dt):
            self._look()

    def _look(self) -> None:
        """Show what has advanced last."""
        with self._showing:
            with self._lock:
                if not self._going:
                    return
                key, going = next(reversed(self._going.items()))
            if self._shown == (key, going) and going.ended:
                return
            bar = going.bar(key)
            if bar.seconds >= self._minimum:
                self._shower.show(bar)
                self._shown = key, going
