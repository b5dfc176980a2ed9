"""One rank of a run, on its worker: it is opened, runs as a task, and may be aborted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from distributed import Status, Worker, get_worker
from distributed.utils import sync

from dask_graphgpu.cluster.calls import ask, ask_scheduler
from dask_graphgpu.cluster.haste import hurried
from dask_graphgpu.cluster.holdings import Name, held, holdings
from dask_graphgpu.cluster.on_scheduler import fail, free_locks, start_again
from dask_graphgpu.cluster.wanted import watched
from dask_graphgpu.errors import RankLost, RanksAborted
from dask_graphgpu.interrupting import stopped_by
from dask_graphgpu.partition.host_memory import kept

if TYPE_CHECKING:
    from dask_graphgpu.exchange.joining import Address
    from dask_graphgpu.exchange.mesh import AbortEvent, Listener, Mesh

_AFTER = 1.0  # seconds that a leader has to do itself what is done after it

_HANGS = 1.0  # seconds in which a worker that only seems lost answers

_freeing: set[asyncio.Future[None]] = set()  # which asyncio itself would forget

_led: dict[str, list[asyncio.Future[Any]]] = {}  # what ranks of runs that are led from here return


class WorkerPaused(Exception):
    """A worker starts no tasks, for want of memory."""


@dataclass(frozen=True)
class Meeting:
    """What the ranks of a run have to know to find together.

    Attributes
    ----------
    run : str
        Its name.
    leader : str
        The task that leads it.
    led_from : str
        The worker that this task runs on.
    workers : tuple of str
        Addresses of the workers of all ranks.
    table : tuple of (host, port)
        Where each rank listens.
    token : bytes
        The secret of the run.
    start_timeout, idle_timeout : float
        Seconds; see `Mesh`.
    again : str or None
        A run that loses a worker is started again, after the task of this name; None: it is not.
    """

    run: str
    leader: str
    led_from: str
    workers: tuple[str, ...]
    table: tuple[Address, ...]
    start_timeout: float
    idle_timeout: float
    token: bytes
    again: str | None = None


@dataclass(frozen=True, eq=False)
class _Opened:
    """A place that is ready for a rank."""

    listener: Listener
    aborted: AbortEvent

    def __del__(self) -> None:
        self.listener.close()


def open_rank(run: str, leader: str, needs: Name | None, *, dask_worker: Worker) -> Address | None:
    """Listen for the peers of a rank that will run here for the task ``leader``.

    None where the worker does not hold what the rank ``needs``.

    Raises
    ------
    WorkerPaused
    """
    if dask_worker.status == Status.paused:
        raise WorkerPaused(
            f"it is paused, as its process takes {dask_worker.monitor.get_process_memory()} bytes, "
            f"its limit being {dask_worker.memory_manager.memory_limit}; use more or larger workers"
        )
    if needs is not None and not holdings(dask_worker).has(needs):
        return None
    from dask_graphgpu.exchange.mesh import AbortEvent, Listener  # at first use, as all of it

    opened = _Opened(Listener(_host(dask_worker.address)), AbortEvent())
    held = holdings(dask_worker)

    def over() -> None:
        _unwanted(dask_worker, opened.aborted)

    held.put(("rank", run), opened, leader, frozenset({"processing"}), over)
    return opened.listener.address


def _unwanted(worker: Worker, aborted: AbortEvent) -> None:
    """End a rank that nobody wants any more; one whose worker closes is lost, and others may go on without it."""
    if worker.status in (Status.running, Status.paused):
        aborted.set("the run was cancelled")
    else:
        aborted.set("it is closing", lost=True)
    _free_locks(worker)


def _free_locks(worker: Worker) -> None:
    """Give back workers that the leader of a run, which may have died, has taken."""

    async def free() -> None:
        with suppress(Exception):  # whoever next wants the workers does the same
            await asyncio.sleep(_AFTER)
            await ask_scheduler(worker, free_locks)

    task = asyncio.ensure_future(free())
    _freeing.add(task)
    task.add_done_callback(_freeing.discard)


def _host(address: str) -> str:
    """The interface by which others reach a worker."""
    scheme, _, place = address.partition("://")
    return "127.0.0.1" if scheme == "inproc" else place.rsplit(":", 1)[0].strip("[]")


def abort_rank(run: str, reason: str, *, dask_worker: Worker) -> None:
    """End a rank: in its next step if it runs, and for good if it has not started."""
    with suppress(KeyError):
        holdings(dask_worker).get(("rank", run)).aborted.set(reason)


@contextmanager
def returns(run: str, size: int) -> Iterator[list[asyncio.Future[Any]]]:
    """What each rank of a run returns, as soon as it tells; on the event loop of its leader."""
    made = [asyncio.get_running_loop().create_future() for _ in range(size)]
    _led[run] = made
    try:
        yield made
    finally:
        del _led[run]
        for each in made:
            each.cancel()


def returned(run: str, rank: int, result: Any, *, dask_worker: Worker) -> None:
    """Hear what a rank returns, if anybody still waits for it."""

    def hear(waiting: asyncio.Future[Any]) -> None:
        if not waiting.done():
            waiting.set_result(result)

    if run in _led:
        waiting = _led[run][rank]
        waiting.get_loop().call_soon_threadsafe(hear, waiting)  # which need not be the worker's


async def _tell(worker: Worker, meeting: Meeting, rank: int, result: Any) -> None:
    """Tell who leads a run what a rank returns: to ask Dask for it takes as long as a small run."""
    told = meeting.run, rank, result
    if worker.address == meeting.led_from:
        returned(*told, dask_worker=worker)
        return
    with suppress(Exception):  # the result of the task says it too
        await ask(worker, meeting.led_from, returned, *told)


def run_rank(meeting: Meeting, rank: int, function: Callable[..., Any], *arguments: Any) -> Any:
    """The task of a rank: ``function(ranks, *arguments)``.

    Raises
    ------
    RankLost, RanksAborted
        The run has ended on another rank, or from outside.
    Exception
        What the function raises; the other ranks end as well.
    """
    from dask_graphgpu.exchange.mesh import Mesh

    worker = get_worker()
    held = holdings(worker)
    try:
        opened = held.get(("rank", meeting.run))
    except KeyError:
        # Dask runs a task again when the worker that held its result has died.
        raise RanksAborted(
            f"rank {rank} has no part in a run any more: a rank is not run again by itself", rank
        ) from None
    try:
        with (
            hurried(),
            kept(),
            _told(worker, meeting),
            watched(worker, lambda: _unwanted(worker, opened.aborted)),
            Mesh(
                opened.listener,
                rank,
                meeting.table,
                meeting.token,
                timeout=meeting.start_timeout,
                idle_timeout=meeting.idle_timeout,
                tls=_tls(worker),
                aborted=opened.aborted,
            ) as ranks,
        ):
            result = _until_aborted(ranks, opened.aborted, function, *arguments)
        worker.loop.add_callback(_tell, worker, meeting, rank, result)
        return result
    finally:
        with suppress(KeyError):
            held.pop(("rank", meeting.run))


def _until_aborted(
    ranks: Mesh, aborted: AbortEvent, function: Callable[..., Any], *arguments: Any
) -> Any:
    """What a rank returns; when the run is aborted, also in the middle of a step's work, it raises as in a step."""
    try:
        with stopped_by(aborted):
            return function(ranks, *arguments)
    except KeyboardInterrupt:
        ranks.check()
        raise


@contextmanager
def _told(worker: Worker, meeting: Meeting) -> Iterator[None]:
    """End the leading task for its worker when that is the one that is lost.

    A process that hangs would keep the task for as long as the scheduler believes in it: minutes.
    A worker that answers only seems lost: its rank has gone for a reason that the leader finds.
    """
    try:
        yield
    except RankLost as error:
        if error.rank is not None and meeting.workers[error.rank] == meeting.led_from:
            lost = lost_rank(error.rank, meeting.workers, str(error))
            with suppress(Exception):
                if not sync(worker.loop, _answers, worker, meeting.led_from):
                    sync(worker.loop, tell_of_loss, worker, meeting, lost, False)
        raise


async def _answers(worker: Worker, address: str) -> bool:
    try:
        await ask(worker, address, held, patience=_HANGS)
    except (OSError, TimeoutError):
        return False
    return True


async def tell_of_loss(worker: Worker, meeting: Meeting, lost: RankLost, sure: bool) -> bool:
    """Have the scheduler end the leading task with an error; True where it starts it again."""
    told = meeting.leader, meeting.led_from, lost, sure
    if meeting.again is None:
        await ask_scheduler(worker, fail, *told)
        return False
    return await ask_scheduler(worker, start_again, *told, meeting.again, meeting.run)


def lost_rank(rank: int, workers: Sequence[str], why: str) -> RankLost:
    """The error of a run that has lost a rank."""
    return RankLost(
        f"rank {rank} of {len(workers)} on worker {workers[rank]} is lost: {why}; compute it again, "
        "on this worker once it is back, or on those that are left",
        rank,
        workers[rank],
    )


def _tls(worker: Worker) -> Any:
    """Contexts to connect and to listen with; None on a cluster without TLS."""
    security = worker.security
    connect = security.get_connection_args("worker").get("ssl_context")
    listen = security.get_listen_args("worker").get("ssl_context")
    return None if connect is None or listen is None else (connect, listen)
