"""What a run did: one row for each time the engine advanced."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import count

import pandas as pd
from dask.utils import format_bytes, format_time

from dask_graphgpu.errors import GraphError
from dask_graphgpu.kernels.compiled import seconds_compiling
from dask_graphgpu.markup import grid

_COLUMNS = ["superstep", "direction", "supersteps", "frontier", "edges", "bytes", "seconds"]
_ROWS = 20  # of a report that a notebook shows

# Told of every advance of rank 0 of a run in this process that is not watched from elsewhere; last of None, which is
# its end.
watchers: list[Callable[[Report, Advance | None], None]] = []

_numbers = count()

_last: tuple[float, Report] | None = None  # when it was published
_elsewhere: list[Callable[[float], tuple[float, Report] | None]] = []
_lock = threading.Lock()


@dataclass(frozen=True)
class Advance:
    """Any number of supersteps between two looks of the loop at the frontier."""

    direction: str
    supersteps: int
    frontier: int
    edges: int
    bytes: int
    seconds: float


@dataclass(frozen=True)
class Split:
    """Where the time of a rank has gone, in seconds that add up to all of it [1]_.

    Attributes
    ----------
    work
        With its own vertices and edges, and on its part of the result.
    package
        To make messages of values, and to put what came where it belongs.
    exchange
        To send and to receive.
    synchronization
        To wait for other ranks.

    References
    ----------
    .. [1] Pan, Wang, Wu, Yang, Owens. Multi-GPU graph analytics. IPDPS 2017: W + C + H g + S l.
    """

    work: float
    package: float
    exchange: float
    synchronization: float

    @property
    def seconds(self) -> float:
        return self.work + self.package + self.exchange + self.synchronization


@dataclass
class Report:
    """The advances of one run, in order; ``watch`` is told of each, and of the end.

    ``rank`` is whose report it is, ``ranks`` how many there were, and ``split`` where the time of
    each has gone, of a run on several. ``limit``: supersteps of a run whose number is known.
    ``memory``: bytes that a run on a GPU held beside the graph at most, where they are counted.
    ``disk_bytes``: what was read of edges that lie on disk, for which a GPU's run waited ``disk_waited``
    seconds. ``moved``: of edges in host memory, by the
    way in which a GPU got them, the parts, the supersteps that had any, and their bytes.
    ``sides``: what the "gpu" and the "cpu" have done of a run that they share. ``compiled``: seconds
    that compiling took, which no advance counts. ``took``: seconds to "read" and to "build" the graph. ``graph``:
    how many "edges" and "vertices" it has, and its "bytes" where it is on one rank. ``ignored``: rows of frames among
    the arguments, by argument, whose ids are no vertices. ``left_out``: "vertices" that a cut-off passes over as
    neighbours in common, and the ordered "pairs" of vertices that have one in common, each time.
    ``number`` tells the reports of a process apart.
    """

    algorithm: str
    advances: list[Advance] = field(default_factory=list)
    watch: Callable[[Report, Advance | None], None] | None = None
    rank: int = 0
    ranks: int = 1
    split: tuple[Split, ...] = ()
    limit: int | None = None
    memory: int | None = None
    disk_bytes: int = 0
    disk_waited: float = 0.0
    moved: dict[str, dict[str, int]] = field(default_factory=dict)
    sides: dict[str, dict[str, int]] = field(default_factory=dict)
    graph: dict[str, int] = field(default_factory=dict)
    ignored: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    compiled: float = 0.0
    took: dict[str, float] = field(default_factory=dict)
    number: int = field(default_factory=_numbers.__next__, compare=False)
    _clock: float = field(default_factory=seconds_compiling, compare=False, repr=False)
    _owed: float = field(default=0.0, compare=False, repr=False)

    def advance(
        self,
        direction: str,
        *,
        supersteps: int,
        frontier: int,
        edges: int,
        bytes: int,  # noqa: A002  named as the report's column
        seconds: float,
    ) -> None:
        """Note one advance.

        ``bytes`` is modelled: what the arrays that were touched imply (bytes an edge times edges,
        plus state times vertices), not what a counter of the machine saw.
        """
        made = Advance(direction, supersteps, frontier, edges, bytes, self._computing(seconds))
        self.advances.append(made)
        if self.watch is not None:
            self.watch(self, made)
        elif self.rank == 0:
            for watcher in list(watchers):
                watcher(self, made)

    def end(self) -> None:
        """Tell who watches that the run is over, with None in the place of an advance."""
        if self.watch is not None:
            self.watch(self, None)
        elif self.rank == 0:
            for watcher in list(watchers):
                watcher(self, None)

    def _computing(self, seconds: float) -> float:
        """Seconds of an advance without what compiling has taken since the last one."""
        now = seconds_compiling()
        self.compiled += now - self._clock
        self._owed += now - self._clock
        self._clock = now
        taken = min(self._owed, seconds)
        self._owed -= taken
        return seconds - taken

    def mark(self) -> tuple[int, dict[str, dict[str, int]]]:
        """What `back_to` takes, to forget what comes after."""
        return len(self.advances), {way: dict(of) for way, of in self.moved.items()}

    def back_to(self, mark: tuple[int, dict[str, dict[str, int]]]) -> None:
        """Forget what a part of the run has noted that is done again."""
        number, self.moved = mark
        del self.advances[number:]

    def bare(self) -> Report:
        """The same without the watch, to be sent elsewhere."""
        return replace(self, watch=None)

    @property
    def seconds(self) -> dict[str, float]:
        """Those of each part: as of ``attrs["seconds"]`` of `last_report`."""
        run = sum(advance.seconds for advance in self.advances)
        return {**self.took, "compile": self.compiled, "run": run}

    def to_frame(self) -> RunReport:
        """One row an advance; ``superstep`` is the number of the first superstep in it."""
        frame = RunReport([vars(a) for a in self.advances], columns=_COLUMNS[1:])
        first = frame["supersteps"].cumsum() - frame["supersteps"] + 1
        frame.insert(0, "superstep", first.astype("int64"))
        frame.attrs["algorithm"] = self.algorithm
        frame.attrs["ranks"] = self.ranks
        frame.attrs["compile_seconds"] = self.compiled
        frame.attrs["seconds"] = self.seconds
        frame.attrs["memory"] = self.memory
        frame.attrs["graph"] = dict(self.graph)
        frame.attrs["ignored"] = dict(self.ignored)
        frame.attrs["left_out"] = dict(self.left_out)
        frame.attrs["disk_bytes"] = self.disk_bytes
        frame.attrs["moved"] = {way: dict(of) for way, of in self.moved.items()}
        frame.attrs["sides"] = {side: dict(of) for side, of in self.sides.items()}
        frame.attrs["split"] = [{**asdict(split), "seconds": split.seconds} for split in self.split]
        return frame

    def publish(self) -> None:
        """Make this the report that `last_report` gives."""
        global _last
        with _lock:
            _last = time.time(), self


@contextmanager
def unpublished() -> Iterator[None]:
    """Have `last_report` not tell of runs in this process that are made inside, for something else."""
    global _last
    with _lock:
        before = _last
    try:
        yield
    finally:
        with _lock:
            _last = before


class RunReport(pd.DataFrame):
    """The frame that `last_report` gives, with a summary of the run where a notebook shows it.

    What is made of it, such as a part of its rows, is a plain ``pandas.DataFrame``.
    """

    @property
    def _constructor(self) -> type[pd.DataFrame]:
        return pd.DataFrame

    def summary(self) -> str:
        """The run in a line: the method, its supersteps, edges, bytes, and the seconds of each part."""
        about = self.attrs
        steps, edges = int(self["supersteps"].sum()), int(self["edges"].sum())
        told = [f"{about['algorithm']}: {steps:,} supersteps", f"{edges:,} edges read"]
        told.append(f"{format_bytes(int(self['bytes'].sum()))} moved")
        told += [f"{part} {format_time(taken)}" for part, taken in about["seconds"].items()]
        ranks = f"on {about['ranks']} ranks"
        return ", ".join(told + [ranks] * (about["ranks"] > 1))

    def _repr_html_(self) -> str:
        if list(self.columns) != _COLUMNS or "seconds" not in self.attrs:  # it was made another
            return str(self.to_html(max_rows=_ROWS))
        rows = []
        for first, way, number, active, edges, size, seconds in self.head(_ROWS).values.tolist():
            counts = [f"{first:,}", way, f"{number:,}", f"{active:,}", f"{edges:,}"]
            rows.append([*counts, format_bytes(size), format_time(seconds)])
        if len(self) > _ROWS:
            rows.append([f"{len(self) - _ROWS:,} more rows", *[""] * (len(_COLUMNS) - 1)])
        return grid(_COLUMNS, rows, self.summary())


def elsewhere(ask: Callable[[float], tuple[float, Report] | None]) -> None:
    """Have `last_report` ask a function for runs in other processes: when the last ended, its report.

    It is told when the last one in this process ended, and raises GraphError where it cannot know of a later one.
    """
    _elsewhere.append(ask)


def last_report() -> RunReport:
    """The report of the graph method that finished last, in this process or for it on a cluster.

    Returns
    -------
    RunReport
        A pandas.DataFrame, which notebooks show with a line about the whole run; `plot_report` draws it.
        One row for each time the engine advanced: ``superstep`` (number of the first one in it),
        ``direction``, ``supersteps`` (how many it ran before it came back), ``frontier`` (active
        vertices at its start), ``edges`` read, ``bytes`` moved (modelled from the arrays touched)
        and ``seconds``, without those that compiling took. ``attrs["algorithm"]`` names the method.
        ``attrs["graph"]`` has the number of ``edges`` (rows) and ``vertices`` of the graph, and its ``bytes`` (not on
        several ranks). ``attrs["ignored"]`` has, by argument, the rows of a frame such as ``initial`` whose ids are
        no vertices of the graph. ``attrs["left_out"]`` has the ``vertices`` that a ``degree_cutoff`` has passed over
        as neighbours in common, and the ordered ``pairs`` of vertices that have one of them in common, each time.
        ``attrs["seconds"]`` has the seconds of each part: to "read" and "build" the graph, for this run or when it
        was persisted (not of a saved one), "compile", which is ``attrs["compile_seconds"]`` too, and "run".
        ``attrs["disk_bytes"]`` is what was read of edges that lie in pages on disk. With ``engine="hybrid"``,
        ``attrs["sides"]`` has a dict for "gpu" and one for "cpu": the ``supersteps`` in which it went along edges, in
        how many of these it was ``alone``, and how many ``pages`` and ``edges`` it went along.

    Raises
    ------
    GraphError
        No graph method has finished: a lazy result was not computed yet. Or one was asked of a cluster since, whose
        client is closed or asynchronous.

    Notes
    -----
    What Dask's scheduler "processes" computes has no report here. Of a run on several ranks it is
    the report of rank 0; ``attrs["ranks"]`` is how many there were.
    ``attrs["split"]`` has a dict for each of them, of seconds: ``work``, ``package`` (messages made,
    and what came combined), ``exchange`` (sending and receiving), ``synchronization`` (waiting for
    others), and ``seconds``, which is their sum: all that the rank took.
    """
    return latest().to_frame()


def latest() -> Report:
    """What `last_report` makes a frame of; raises as it does."""
    with _lock:
        found = [] if _last is None else [_last]
    since = found[0][0] if found else 0.0
    found += [made for ask in _elsewhere if (made := ask(since)) is not None]
    if not found:
        raise GraphError("no graph method has finished yet: compute a result first")
    return max(found, key=lambda each: each[0])[1]
