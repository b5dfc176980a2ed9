"""A run on the ranks of a cluster, as the task that leads it sees it.

The leader takes the workers, opens a place for a rank on each, starts one task a rank, and waits. A
rank that fails ends the others through their connections; the leader finds out which error is the
cause, lets go of everything, and raises that.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

from dask._task_spec import Task
from dask.highlevelgraph import HighLevelGraph, Layer, MaterializedLayer
from distributed import Client, Reschedule, Worker, get_client, get_worker, secede
from distributed.core import Status
from distributed.utils import sync

from dask_graphgpu.cluster import on_scheduler
from dask_graphgpu.cluster.calls import (
    ANSWER,
    WorkerLeft,
    WorkerSilent,
    ask,
    ask_scheduler,
    silence_of,
    this_task,
)
from dask_graphgpu.cluster.haste import hurry_scheduler
from dask_graphgpu.cluster.holdings import Name
from dask_graphgpu.cluster.parcels import ChunksGone, leave
from dask_graphgpu.cluster.rank import (
    Meeting,
    WorkerPaused,
    abort_rank,
    lost_rank,
    open_rank,
    returns,
    run_rank,
    tell_of_loss,
)
from dask_graphgpu.cluster.silence import MORE
from dask_graphgpu.cluster.wanted import wanted
from dask_graphgpu.errors import InvalidArgument, RankLost, RanksAborted

if TYPE_CHECKING:
    from dask_graphgpu.exchange.joining import Address

_LOOK = 0.25  # seconds between two looks at whether the run is still wanted
_COME_BACK = 10.0  # seconds for workers to start, or to have memory again
_AGAIN = 30.0  # seconds for workers that were lost to be started again: a busy machine takes long
_NOTICE = 3.0  # seconds in which the scheduler notices that a worker has died
_LAST_WORDS = 3.0  # seconds that ranks have to end after the first error
_MOMENT = 0.5  # seconds for the error of a rank that seems lost to come, or for what it returned
# States of a worker that has not gone; of one that has, the locks are given back for it.
_ALIVE = (Status.running, Status.paused)
# Ranks start before other tasks of their workers: those of the same run wait for them.
_PRIORITY = 100

_telling: set[asyncio.Future[None]] = set()  # which asyncio itself would forget


def lead(
    name: str,
    workers: Sequence[str] | int | None,
    function: Callable[..., Any],
    arguments: Callable[[tuple[str, ...]], Sequence[tuple[Any, ...]]],
    timeouts: tuple[float, float],
    needs: Name | None = None,
    again: bool = False,
) -> tuple[tuple[str, ...], list[Any]]:
    """Run ``function(ranks, *arguments(workers)[i])`` on each of some workers at the same time.

    Called in a task, which holds no thread of its worker meanwhile. Workers that another run has
    taken are waited for.

    Parameters
    ----------
    name : str
        Of the tasks: ``<name>-rank-<i>``.
    workers : addresses, number or None
        Rank i runs on the worker ``workers[i]``. A number: on so many; None: on all.
    arguments : function
        Is given the addresses, and gives the arguments of each rank.
    timeouts : pair of float
        Seconds that the ranks have to come together, and that one may be silent.
    needs : name, optional
        Of what each worker holds for the task ``needs[1]``. Where one does not, or is gone, that
        task is run again, and then this one.
    again : bool
        The same when a worker dies in the run; see `losses`.

    Returns
    -------
    workers : tuple of str
    results : list
        What each rank returned; small, as it comes here.

    Raises
    ------
    InvalidArgument
        The cluster has fewer workers.
    RankLost
        A worker has died, hangs or does not answer; the message names it.
    Exception
        The first error of a rank, with a note that names it.
    """
    worker = get_worker()
    client = get_client()
    secede()
    leader = _Leader(worker, client, name, timeouts, needs, again)
    results: list[Any] = client.sync(leader.run, workers, function, arguments)
    return leader.addresses, results


def losses(worker: Worker) -> int:
    """How often the task that calls has led a run that was started again."""
    found: int = sync(worker.loop, ask_scheduler, worker, on_scheduler.losses, this_task(worker))
    return found


class _Leader:
    def __init__(
        self,
        worker: Worker,
        client: Client,
        name: str,
        timeouts: tuple[float, float],
        needs: Name | None,
        again: bool,
    ) -> None:
        self.worker, self.client, self.name, self.timeouts = worker, client, name, timeouts
        self.needs, self.again = needs, again
        self.addresses: tuple[str, ...] = ()
        self.key = this_task(worker)
        self.run_id = secrets.token_hex(16)
        self.lock = on_scheduler.lock_id(self.key, worker.address, self.run_id)

    async def run(
        self,
        workers: Sequence[str] | int | None,
        function: Callable[..., Any],
        arguments: Callable[..., Sequence[tuple[Any, ...]]],
    ) -> list[Any]:
        self.addresses = await self._choose(workers)
        try:
            await self._take()
            meeting = await self._open()
            results = await self._ranks(meeting, function, arguments(self.addresses))
        except BaseException:
            with suppress(Exception):  # the scheduler is gone, and with it the locks
                await ask_scheduler(self.worker, on_scheduler.free_lock, self.lock)
            raise
        self._free()
        return results

    def _free(self) -> None:
        """Give the workers back, without waiting for the answer: who next wants them sees to it."""

        async def free() -> None:
            while self.worker.status in _ALIVE:
                with suppress(Exception):
                    await ask_scheduler(self.worker, on_scheduler.free_lock, self.lock)
                    return
                await asyncio.sleep(_LOOK)

        _keep(free())

    # -- steps of a run --------------------------------------------------------------------------

    async def _choose(self, workers: Sequence[str] | int | None) -> tuple[str, ...]:
        """Addresses of the workers, by one look at the cluster.

        The worker of this task is one of them, so that there is one fewer to depend on. Workers may
        be about to start; those that were killed a moment ago are, mostly.
        """
        if workers is not None and not isinstance(workers, int):
            return tuple(workers)
        start = time.monotonic()
        while True:
            found = (await self.worker.scheduler.identity(n_workers=-1))["workers"]
            running = sorted(a for a, each in found.items() if each["status"] == "running")
            silence = await silence_of(self.worker)
            if workers is None or len(running) >= workers:
                break
            waited = time.monotonic() - start
            if waited > _COME_BACK:
                lost = await ask_scheduler(self.worker, on_scheduler.lost_lately, _AGAIN)
                paused = [a for a, each in found.items() if each["status"] == "paused"]
                if paused and len(running) + len(paused) >= workers:
                    raise RankLost(
                        f"ranks={workers}, and of {len(found)} workers {len(paused)} are paused, as their "
                        f"processes take more memory than they may ({', '.join(paused)}); use fewer ranks, or "
                        "more or larger workers",
                        address=paused[0],
                    )
                if not lost or waited > _AGAIN:
                    raise InvalidArgument(
                        f"ranks={workers}, and the cluster has {len(running)} workers: a rank is a "
                        "worker of its own; give fewer ranks or ranks='auto', or start more workers"
                    )
            self._check_wanted()
            await asyncio.sleep(_LOOK)
        here = self.worker.address
        # One that gives no sign of life is the last to be asked.
        awake = {address for address in running if silence.get(address, 0.0) < MORE}
        if workers is None:
            running = [address for address in running if address in awake] or running
        chosen = sorted(running, key=lambda a: (a != here, a not in awake))[:workers]
        return tuple(sorted(chosen))

    async def _take(self) -> None:
        """Wait until no other run has a rank on these workers."""
        request = self.worker.scheduler.multi_lock_acquire(
            locks=list(self.addresses), id=self.lock, num_locks=len(self.addresses)
        )
        asked = asyncio.ensure_future(request)
        try:
            while not (await asyncio.wait({asked}, timeout=2 * _LOOK))[0]:
                self._check_wanted()
                await ask_scheduler(self.worker, on_scheduler.free_locks)
            asked.result()
        finally:
            asked.cancel()

    async def _open(self) -> Meeting:
        """Have all workers listen."""
        # That their tasks start at once is asked for meanwhile.
        hurry = asyncio.ensure_future(hurry_scheduler(self.worker, self.addresses))
        table = await asyncio.gather(*map(self._open_one, range(len(self.addresses))))
        await hurry
        if None in table:
            await self._make_again()
        return Meeting(
            run=self.run_id,
            leader=self.key,
            led_from=self.worker.address,
            workers=tuple(self.addresses),
            table=tuple(table),  # type: ignore[arg-type]  # not None
            start_timeout=self.timeouts[0],
            idle_timeout=self.timeouts[1],
            token=secrets.token_bytes(32),
            again=self.needs[1] if self.needs is not None and self.again else None,
        )

    async def _open_one(self, rank: int) -> Address | None:
        """Where a worker listens; None where it does not have what its rank needs.

        A connection that was kept from earlier may have been closed, and then another one is made;
        or the worker has just died, which the scheduler may not know yet; or it is paused for a
        moment.
        """
        asked = self.run_id, self.key, self.needs
        idle = self.timeouts[1] + _NOTICE
        patience = idle if idle < ANSWER else None
        start = time.monotonic()
        while True:
            try:
                return await ask(
                    self.worker,
                    self.addresses[rank],
                    open_rank,
                    *asked,
                    patience=patience,
                    idle_timeout=self.timeouts[1],
                )
            except (OSError, TimeoutError) as error:
                left = isinstance(error, WorkerLeft)
                if left and self.needs is not None:
                    return None
                over = isinstance(error, WorkerSilent) or time.monotonic() > start + _NOTICE
                if left or over:
                    raise self._lost(rank, str(error)) from None
            except WorkerPaused as error:
                if time.monotonic() > start + _COME_BACK:
                    raise self._lost(rank, str(error)) from None
            await asyncio.sleep(_LOOK)

    async def _ranks(
        self, meeting: Meeting, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]
    ) -> list[Any]:
        """Start a task a rank and wait for them."""
        layers: dict[str, Layer] = {}
        for rank, address in enumerate(self.addresses):
            key = f"{self.name}-rank-{rank}-{self.run_id}"
            task = Task(key, run_rank, meeting, rank, function, *arguments[rank])
            # And nowhere else, so that it is never stolen, however busy this worker is.
            where = {"workers": [address], "allow_other_workers": False}
            layers[key] = MaterializedLayer({key: task}, annotations=where)
        # One graph: the scheduler takes a millisecond or two for each.
        graph = HighLevelGraph(layers, {key: set() for key in layers})
        futures = self.client.get(graph, list(layers), sync=False, priority=_PRIORITY, retries=0)
        with returns(meeting.run, len(futures)) as told:
            return await self._wait(meeting, futures, told)

    async def _wait(
        self, meeting: Meeting, futures: Sequence[Any], told: Sequence[asyncio.Future[Any]]
    ) -> list[Any]:
        """What the ranks return; raises when one does, or nobody wants the run."""
        ends = [asyncio.ensure_future(_end(*each)) for each in zip(futures, told, strict=True)]
        try:
            await self._watch(ends)
            return [end.result() for end in ends]
        except BaseException as error:
            self._abort(error)
            await self._last_words(ends, error)
            cause = self._cause(ends, error)
            # When what the run needs was lost too, the scheduler has this task wait for it.
            cancelled = isinstance(error, Reschedule)
            if isinstance(cause, RankLost) and (cancelled or meeting.again is not None):
                with suppress(Exception):
                    cancelled |= await tell_of_loss(self.worker, meeting, cause, True)
            if isinstance(cause, ChunksGone):
                await ask_scheduler(self.worker, on_scheduler.leave_again, self.key, leave)
                cancelled = True
            for end in ends:
                end.cancel()
            with suppress(Exception):
                await asyncio.wait_for(self.client.cancel(futures, force=True), ANSWER)
            raise (Reschedule() if cancelled else cause) from None

    async def _watch(self, ends: Sequence[asyncio.Future[Any]]) -> None:
        """Wait for all ranks to end well; raise when one does not, or nobody wants the run."""
        waiting = set(ends)
        looked = time.monotonic()
        while waiting:
            done, waiting = await asyncio.wait(
                waiting, timeout=_LOOK, return_when=asyncio.FIRST_EXCEPTION
            )
            for end in done:
                end.result()
            self._check_wanted()
            if waiting and time.monotonic() > looked + 1.0:
                await self._check_workers(ends)
                looked = time.monotonic()

    # -- looks -----------------------------------------------------------------------------------

    def _check_wanted(self) -> None:
        """Raise Reschedule when the task was cancelled.

        It has no effect then, unless somebody has asked for the same again meanwhile: Dask takes
        this task for the new one, and runs it anew.
        """
        if not wanted(self.worker, self.key):
            raise Reschedule

    async def _check_workers(self, ends: Sequence[asyncio.Future[Any]]) -> None:
        """Raise RankLost for a worker that has left the cluster, or fallen silent, before its rank has ended."""
        silence = await silence_of(self.worker)
        for rank, end in enumerate(ends):
            silent = silence.get(self.addresses[rank])
            if end.done():
                continue
            if silent is None:
                raise self._lost(rank, "it has left the cluster")
            if silent > self.timeouts[1] + MORE:
                raise self._lost(rank, f"it has been silent for {silent:.1f} s")

    async def _make_again(self) -> NoReturn:
        """Have what the ranks need made again, and this task run again after that."""
        assert self.needs is not None
        await ask_scheduler(self.worker, on_scheduler.lose, self.needs[1])
        raise Reschedule

    # -- the end ---------------------------------------------------------------------------------

    def _abort(self, error: BaseException) -> None:
        """Tell all ranks to end, without waiting for their answers."""
        reason = f"{type(error).__name__}: {error}" if str(error) else "the run was cancelled"

        async def tell(address: str) -> None:
            with suppress(Exception):
                await ask(self.worker, address, abort_rank, self.run_id, reason)

        for address in self.addresses:
            _keep(tell(address))

    async def _last_words(self, ends: Sequence[asyncio.Future[Any]], first: BaseException) -> None:
        """Wait for the ranks to end; for those that others have lost, a moment only.

        One that has left with an error of its own looks lost to its peers, and says so itself.
        """
        start = time.monotonic()
        while time.monotonic() < start + _LAST_WORDS:
            errors = [*_errors(ends).values(), first]
            lost = {error.rank for error in errors if isinstance(error, RankLost)}
            if time.monotonic() < start + _MOMENT:
                lost.clear()
            waiting = [end for rank, end in enumerate(ends) if rank not in lost and not end.done()]
            if not waiting:
                return
            await asyncio.wait(waiting, timeout=_LOOK, return_when=asyncio.FIRST_COMPLETED)

    def _cause(self, ends: Sequence[asyncio.Future[Any]], first: BaseException) -> BaseException:
        """Of the errors of all ranks, the one that the others come from."""
        errors = _errors(ends)
        for rank, error in errors.items():
            if not isinstance(error, RankLost | ChunksGone | RanksAborted | CancelledError):
                error.add_note(f"raised by rank {rank} on worker {self.addresses[rank]}")
                return error
        # A rank that has ended by itself only seemed lost to a peer.
        here = {rank for rank, error in errors.items() if not isinstance(error, RankLost)}
        lost = [error for error in (*errors.values(), first) if isinstance(error, RankLost)]
        gone = [error for error in errors.values() if isinstance(error, ChunksGone)]
        for cause in (*(error for error in lost if error.rank not in here), *gone, *lost):
            if isinstance(cause, RankLost) and cause.rank is not None:
                told = cause.address in self.addresses  # in these words, by who leads the run
                return cause if told else self._lost(cause.rank, str(cause))
            return cause
        return RanksAborted("the run was cancelled") if isinstance(first, CancelledError) else first

    def _lost(self, rank: int, why: str) -> RankLost:
        return lost_rank(rank, self.addresses, why)


def _keep(call: Coroutine[Any, Any, None]) -> None:
    """Have something done that nobody waits for."""
    task = asyncio.ensure_future(call)
    _telling.add(task)
    task.add_done_callback(_telling.discard)


async def _end(future: Any, told: asyncio.Future[Any]) -> Any:
    """What a rank returned, as it tells; what its task raised.

    The result of the task is not asked for unless the rank is not heard: the questions of several
    futures are one for Dask, and to stop one would stop all.
    """
    task = asyncio.ensure_future(future.exception())
    try:
        await asyncio.wait({task, told}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        task.cancel()
    if not told.done() and future.status == "finished":
        await asyncio.wait({told}, timeout=_MOMENT)
    return told.result() if told.done() else await future


def _errors(ends: Sequence[asyncio.Future[Any]]) -> dict[int, BaseException]:
    """What the ranks that have ended have raised."""
    found = {
        rank: end.exception() for rank, end in enumerate(ends) if end.done() and not end.cancelled()
    }
    return {rank: error for rank, error in found.items() if error is not None}
