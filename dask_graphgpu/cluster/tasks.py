"""The Dask tasks of a graph on ranks: one builds it, one runs an algorithm, one takes a partition.

On a cluster the first two lead ranks on its workers; computed without one they run the ranks as
threads of this process.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import pandas as pd
from distributed import Worker, get_worker
from distributed.utils import sync

from dask_graphgpu.cluster import watch
from dask_graphgpu.cluster.calls import ask, this_task, this_worker
from dask_graphgpu.cluster.gang import lead, losses
from dask_graphgpu.cluster.handing import Handed, hand_in_some
from dask_graphgpu.cluster.haste import hurried
from dask_graphgpu.cluster.holdings import RUN, holdings
from dask_graphgpu.cluster.parcels import collect, deal, deal_placed
from dask_graphgpu.cluster.share import Share
from dask_graphgpu.cluster.work import (
    BuiltGraph,
    Job,
    Recipe,
    build_share,
    current_gpu,
    run_share,
    size_of,
)
from dask_graphgpu.engine.driver import least_memory
from dask_graphgpu.errors import EngineUnavailable, RankLost, briefly
from dask_graphgpu.exchange.local import run_local
from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.partition.chunk import VertexChunk
from dask_graphgpu.partition.result_rows import rank_of
from dask_graphgpu.report import Report

_LARGE = 600.0  # seconds for a partition of a result to come from another worker


@dataclass(frozen=True)
class Spread:
    """How a graph is spread.

    Attributes
    ----------
    ranks : int or None
        None: one on each worker that there is when it is built.
    why : str
        Who says so, for `Graph.explain`.
    start_timeout, idle_timeout : float
        Seconds that ranks have to come together, and that one may be silent.
    """

    ranks: int | None
    why: str
    start_timeout: float
    idle_timeout: float

    @property
    def timeouts(self) -> tuple[float, float]:
        return self.start_timeout, self.idle_timeout


@dataclass(frozen=True)
class Held:
    """A graph whose shares lie on workers, for as long as the task that gave this is not forgotten."""

    name: str
    workers: tuple[str, ...]
    built: BuiltGraph


@dataclass(eq=False)
class HeldHere:
    """A graph whose shares lie in this process."""

    shares: list[Share]
    built: BuiltGraph
    lock: threading.Lock = field(default_factory=threading.Lock)  # one run at a time

    def __reduce__(self) -> NoReturn:
        raise EngineUnavailable(
            "the ranks of a graph without a cluster are threads of the process that built it, and it was "
            "to be copied or sent to another: use ranks=1, Dask's scheduler 'threads', or a cluster"
        )


@dataclass(frozen=True)
class Ran:
    """A result whose partitions lie on workers, for as long as the task is not forgotten."""

    name: str
    workers: tuple[str, ...]
    npartitions: int
    idle_timeout: float  # of the workers


# -- build ----------------------------------------------------------------------------------------


@briefly
def build_graph(
    spread: Spread, recipe: Recipe, edges: Sequence[Any], vertices: Sequence[Any]
) -> Held | HeldHere:
    """Build the shares of a graph of chunks, or of parcels on a cluster's workers."""
    if this_worker() is None:
        return build_here(spread.ranks or 1, recipe, edges, vertices)

    def arguments(workers: tuple[str, ...]) -> list[tuple[Any, ...]]:
        return [
            (key, recipe, *chunks)
            for chunks in zip(deal(edges, workers), deal(vertices, workers), strict=True)
        ]

    key = this_task(get_worker())
    workers, sizes = lead(
        "dask-graphgpu-build", spread.ranks, _build_rank, arguments, spread.timeouts
    )
    return Held(key, workers, built_of(sizes, workers))


def build_here(
    number: int, recipe: Recipe, edges: Sequence[Any], vertices: Sequence[Any]
) -> HeldHere:
    """Build the shares of a graph of chunks by threads of this process."""
    own, rest = deal(edges, [None] * number), deal(vertices, [None] * number)
    del edges

    def work(ranks: Ranks) -> Share:
        return build_share(ranks, recipe, own[ranks.rank], rest[ranks.rank], device=ranks.rank)

    shares = run_local(number, work)
    return HeldHere(shares, built_of([size_of(share) for share in shares], [""] * number))


def _build_rank(
    ranks: Ranks, key: str, recipe: Recipe, edges: Sequence[Any], vertices: Sequence[Any]
) -> Any:
    """Build a share and leave it in the worker's holdings."""
    chunks = collect(edges, ranks.idle_timeout)
    share = build_share(ranks, recipe, chunks, collect(vertices, ranks.idle_timeout))
    held = holdings(get_worker())
    held.drop("share", key)
    held.put(("share", key), share, key, RUN)
    return size_of(share)


def built_of(each: Sequence[BuiltGraph], workers: Sequence[str]) -> BuiltGraph:
    """What is known of a graph, of what each of its workers says."""
    shares = [
        replace(built.shares[0], where=worker) for built, worker in zip(each, workers, strict=True)
    ]
    return replace(each[0], shares=tuple(shares))


def about(held: Held | HeldHere, on_gpus: bool) -> tuple[BuiltGraph, int | None]:
    """What is known of a graph, and if asked for, the bytes of a GPU of this process, where it has any."""
    return held.built, least_memory() if on_gpus else None


# -- run ------------------------------------------------------------------------------------------


@briefly
def run_graph(
    spread: Spread, held: Held | HeldHere, job: Job, frames: Mapping[str, Sequence[Any]]
) -> Ran | list[pd.DataFrame]:
    """Run an algorithm on a graph; publishes the report in the process that computes."""
    if isinstance(held, HeldHere):
        return _run_here(held, job, frames)

    def arguments(workers: tuple[str, ...]) -> list[tuple[Any, ...]]:
        dealt = _deal_frames(frames, workers)
        return [(key, worker.address, held.name, job, each) for each in dealt]

    worker = get_worker()
    key = this_task(worker)
    if job.keeping is not None and losses(worker):
        job = replace(job, keeping=replace(job.keeping, resume=True), resumed=True)
    with hurried():
        workers, reports = lead(
            f"dask-graphgpu-{job.name}",
            held.workers,
            _run_rank,
            arguments,
            spread.timeouts,
            ("share", held.name),
            again=job.keeping is not None,
        )
        watch.tell_report(worker, key, reports[0])
    return Ran(key, workers, job.npartitions, spread.idle_timeout)


def _deal_frames(
    frames: Mapping[str, Sequence[Any]], workers: Sequence[str | None]
) -> list[dict[str, list[tuple[int, Any]]]]:
    """The chunks or parcels of frames that each rank gets, by name of the frame, as of `deal_placed`."""
    dealt = {name: deal_placed(chunks, workers) for name, chunks in frames.items()}
    return [{name: each[rank] for name, each in dealt.items()} for rank in range(len(workers))]


def _collect_rows(
    dealt: Sequence[tuple[int, Any]], idle_timeout: float | None
) -> list[VertexChunk]:
    """The chunks, each with its place in the whole frame."""
    chunks = collect([chunk for _, chunk in dealt], idle_timeout)
    return [replace(chunk, first_row=row) for (row, _), chunk in zip(dealt, chunks, strict=True)]


def _run_here(held: HeldHere, job: Job, frames: Mapping[str, Sequence[Any]]) -> list[pd.DataFrame]:
    size = len(held.shares)
    dealt = _deal_frames(frames, [None] * size)

    home = current_gpu() if job.schema.on_device else None

    def work(ranks: Ranks) -> tuple[dict[int, pd.DataFrame], Report]:
        rank = ranks.rank
        given = {
            name: _collect_rows(chunks, ranks.idle_timeout) for name, chunks in dealt[rank].items()
        }
        return run_share(ranks, held.shares[rank], job, given, device=rank, home=home)

    with held.lock:
        results = run_local(size, work)
    results[0][1].publish()
    made = {i: frame for frames, _ in results for i, frame in frames.items()}
    return [made[i] for i in range(job.npartitions)]


def _run_rank(
    ranks: Ranks,
    key: str,
    led_from: str,
    graph: str,
    job: Job,
    frames: Mapping[str, Sequence[tuple[int, Any]]],
) -> Report | None:
    """Run on a share that the worker holds, and hand in the partitions of the result.

    They are held as well, for tasks that Dask has run elsewhere.
    """
    worker = get_worker()
    held = holdings(worker)
    share: Share = held.get(("share", graph))
    telling = watch.Telling(worker, key) if ranks.rank == 0 else None
    given = {name: _collect_rows(chunks, ranks.idle_timeout) for name, chunks in frames.items()}
    made, report = run_share(ranks, share, job, given, telling)
    held.drop("rows", key)
    for i, frame in made.items():
        held.put(("rows", key, str(i)), frame, key, RUN)
    hand_in_some(key, led_from, made, job.npartitions)
    return report.bare() if ranks.rank == 0 else None


# -- take -----------------------------------------------------------------------------------------


@briefly
def take(ran: Ran | list[pd.DataFrame] | Handed, i: int) -> pd.DataFrame:
    """One partition of a result."""
    with hurried():
        return _taken(ran, i)


def _taken(ran: Ran | list[pd.DataFrame] | Handed, i: int) -> pd.DataFrame:
    if not isinstance(ran, Ran):
        return ran[i]
    worker, name = get_worker(), ("rows", ran.name, str(i))
    where = ran.workers[rank_of(i, ran.npartitions, len(ran.workers))]
    try:
        if where == worker.address:
            return hand_over(name, dask_worker=worker)
        waiting = {"patience": _LARGE, "idle_timeout": ran.idle_timeout}
        frame: pd.DataFrame = sync(worker.loop, ask, worker, where, hand_over, name, **waiting)
        return frame
    except (KeyError, OSError, TimeoutError) as error:
        raise RankLost(
            f"partition {i} of a result is lost: it was on worker {where}, which has died or does "
            f"not answer ({error}); compute it again",
            address=where,
        ) from None


def hand_over(name: tuple[str, ...], *, dask_worker: Worker) -> pd.DataFrame:
    """A partition that this worker holds."""
    frame: pd.DataFrame = holdings(dask_worker).get(name)
    return frame
