"""A progress bar of graph methods while they are computed, here or on a cluster."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self, TextIO

from dask.utils import format_time

from dask_graphgpu import report as reports
from dask_graphgpu.cluster import watch
from dask_graphgpu.report import Advance, Report

_WIDTH = 40
_MARK = 6  # of a run whose end is not known
_MOST = 64  # runs that are remembered


@dataclass
class _Run:
    """What is known of a run that goes on."""

    algorithm: str
    superstep: int
    frontier: int
    limit: int | None
    began: float


class ProgressBar:
    """Shows how far the graph method is that is being computed; a context manager.

    Opt-in, as Dask's own bar: for what is computed inside of the context, or from `register` to
    `unregister`. It follows runs in this process, and those on the cluster of the client that is
    active when it begins. A line a run: the superstep, the vertices that are active in it, and the
    time; with a bar of how much is done where the number of supersteps is known, as with
    ``tolerance=0``, and else one that moves.

    Parameters
    ----------
    minimum : float
        Seconds that a run takes before it is shown.
    dt : float
        Seconds between two looks.
    out : text file, optional
        Default: the standard output.

    Examples
    --------
    >>> import pandas as pd, dask_graphgpu
    >>> edges = pd.DataFrame({"src": [0, 1], "dst": [1, 2]})
    >>> with dask_graphgpu.ProgressBar(minimum=1.0):
    ...     ranks = edges.graph.pagerank()
    """

    def __init__(self, minimum: float = 0.0, dt: float = 0.1, out: TextIO | None = None) -> None:
        self._minimum, self._dt = minimum, dt
        self._out: TextIO | None = sys.stdout if out is None else out  # None: it is closed
        self._lock = threading.Lock()
        self._runs: dict[Any, _Run] = {}
        self._shown: Any = None  # the run of the line that is not ended
        self._length = 0
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
        self._unfollow = watch.follow(self._told)

    def unregister(self) -> None:
        """Show no more; what was shown last ends with a new line."""
        if self._drawing is None:
            return
        reports.watchers.remove(self._advanced)
        self._unfollow()
        self._stop.set()
        self._drawing.join()
        self._drawing = None
        self._look()
        if self._shown is not None:
            self._write("\n")
            self._shown = None
        self._runs.clear()

    def _advanced(self, report: Report, advance: Advance) -> None:
        """A run in this process has advanced."""
        with self._lock:
            known = self._runs.get(report.number)
            superstep = (known.superstep if known else 0) + advance.supersteps
            frontier = int(advance.frontier)
            self._note(report.number, report.algorithm, superstep, frontier, report.limit)

    def _told(self, event: dict[str, Any]) -> None:
        """A run on the cluster has."""
        with self._lock:
            about = (event[name] for name in ("algorithm", "superstep", "frontier", "limit"))
            self._note(event["run"], *about)

    def _note(
        self, key: Any, algorithm: str, superstep: int, frontier: int, limit: int | None
    ) -> None:
        known = self._runs.pop(key, None)
        began = time.monotonic() if known is None else known.began
        self._runs[key] = _Run(algorithm, superstep, frontier, limit, began)  # the last one last
        if len(self._runs) > _MOST:
            del self._runs[next(iter(self._runs))]

    def _draw(self) -> None:
        while not self._stop.wait(self._dt):
            self._look()

    def _look(self) -> None:
        """Draw the line of the run that has advanced last."""
        with self._lock:
            if not self._runs:
                return
            key, run = next(reversed(self._runs.items()))
        seconds = time.monotonic() - run.began
        if seconds < self._minimum:
            return
        if self._shown not in (None, key):
            self._write("\n")
            self._length = 0
        self._shown = key
        line = f"{_bar(run, seconds)} | {run.algorithm} superstep {run.superstep:,}"
        line += f" | {run.frontier:,} active | {format_time(seconds)}"
        self._write("\r" + line.ljust(self._length))
        self._length = len(line)

    def _write(self, text: str) -> None:
        if self._out is None:
            return
        with suppress(ValueError, OSError):  # the file has been closed, its reader has gone
            self._out.write(text)
            self._out.flush()


def _bar(run: _Run, seconds: float) -> str:
    if run.limit is None:
        place = int(4 * seconds) % (_WIDTH - _MARK + 1)
        return f"[{' ' * place}{'#' * _MARK}{' ' * (_WIDTH - _MARK - place)}]"
    done, limit = min(run.superstep, run.limit), max(run.limit, 1)
    return f"[{'#' * (_WIDTH * done // limit):{_WIDTH}}] | {100 * done // limit}%"
