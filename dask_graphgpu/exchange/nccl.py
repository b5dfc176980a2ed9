"""Messages between the GPUs of ranks, by NCCL."""

from __future__ import annotations

import atexit
import os
import socket
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import cupy
import numpy as np
from cupy.cuda import nccl, runtime

from dask_graphgpu.errors import EngineUnavailable
from dask_graphgpu.exchange.idle import NAME_BYTES, Idle, Party, new_name
from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.kernels.device_streams import lent_stream, stream_of

_NOT_READY = 600  # cudaErrorNotReady
_FIRST = -5  # the highest priority that streams have on any device; others take the nearest one
_LOOK = 0.005  # seconds between two looks at the other ranks while the device is waited for
_LEAVING = 1.0  # seconds for a call of NCCL to return when a peer is lost, before it is left behind

# One communicator is ended at a time. Of ranks that are threads of one process NCCL ends all, and
# frees their memory, in the call for the last one, where those for the others may not have returned.
_ending = threading.Lock()


class Communicator:
    """One of NCCL; ``nccl`` is that of CuPy."""

    def __init__(self, made: Any) -> None:
        self.nccl = made
        self._ended = False

    def abort(self) -> None:
        """End it, once, without waiting for the peers.

        Never within a group of calls or a recording, nor while another thread is in one of its calls,
        whose memory would be freed.
        """
        with _ending:
            if not self._ended:
                self._ended = True
                self.nccl.abort()


class DeviceLink:
    """A connection of this rank's GPU to those of all others; made by all ranks at once.

    Collectives are queued on the current stream, and called by all ranks in the same order, as
    those of `Ranks`. NCCL waits for a peer that has died for ever, so whoever waits for the device
    does it by `wait`, which asks the ranks whether the peers are still there.

    Parameters
    ----------
    ranks : Ranks
        By which the ranks find together, and know of each other's end.

    Attributes
    ----------
    stream : cupy.cuda.Stream
        For runs over it.
    failed : bool
        It was aborted, or closed; another one has to be made.

    Raises
    ------
    EngineUnavailable
        Two ranks have the same GPU, or NCCL is not installed on one.
    RankLost, RanksAborted
        A rank has gone before all GPUs were connected.
    """

    arrays = cupy  # the module of the arrays that it sends

    def __init__(self, ranks: Ranks) -> None:
        self.ranks = ranks
        _check_devices(ranks)
        # Multicast memory of NVLink takes long to set up and fails where it is not permitted.
        os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
        party = Party(cupy.cuda.Device().id, ranks.size, ranks.rank)
        name, communicator = IDLE.take(party, ranks) or _new(ranks)
        self._communicator, self._comm = communicator, communicator.nccl
        # NCCL does not end a communicator that graphs use. Whoever is to end them must not hold what
        # was recorded, which holds this link.
        self._graphs: dict[object, Any] = {}
        self._passing: list[Recorded] = []
        self.stream = stream_of(self)
        # Its kernels are to begin before those that are queued behind what is under way. They ask for few
        # multiprocessors, which are there as soon as a few blocks have ended.
        self._second = stream_of(self, _FIRST)
        self._events: list[Any] = []
        self._end = weakref.finalize(self, _end, communicator, self._graphs, party, name)
        self._end.atexit = False

    @property
    def failed(self) -> bool:
        return not self._end.alive

    def all_gather(self, own: Any, into: Any) -> None:
        """Every rank's array, which has the same size everywhere; ``into``: shape (size, ...)."""
        self._comm.allGather(own.data.ptr, into.data.ptr, own.nbytes, nccl.NCCL_UINT8, _stream())

    def swap(self, pairs: Sequence[tuple[Sequence[Any], Sequence[Any]]]) -> None:
        """Send arrays to peers and receive arrays from them, all at once.

        Parameters
        ----------
        pairs : sequence of (to send, to receive)
            Each has an array for every rank, contiguous; an empty one sends nothing. What a rank
            sends is as long as what its peer is to receive.
        """
        stream, byte = _stream(), nccl.NCCL_UINT8
        nccl.groupStart()
        try:
            for sent, received in pairs:
                for peer in range(self.ranks.size):
                    if sent[peer].nbytes:
                        self._comm.send(sent[peer].data.ptr, sent[peer].nbytes, byte, peer, stream)
                    if received[peer].nbytes:
                        place, size = received[peer].data.ptr, received[peer].nbytes
                        self._comm.recv(place, size, byte, peer, stream)
        finally:
            nccl.groupEnd()

    def beside(self, step: Callable[[], None]) -> None:
        """Queue a step on a second stream, where it begins when all is done that is queued so far.

        What is queued on the current stream from here to `join` may be done before the step, after
        it, or at the same time. Within what is `recorded`, the second stream is recorded as well from
        the event on that it waits for, and `join` has to follow.
        """
        begins, ends = (cupy.cuda.Event(disable_timing=True) for _ in range(2))
        begins.record()
        self._second.wait_event(begins)
        with self._second:
            step()
        ends.record(self._second)
        self._events = [begins, ends]

    def join(self) -> None:
        """What is queued on the current stream from here on begins when the step `beside` is done."""
        cupy.cuda.get_current_stream().wait_event(self._events[1])

    def recorded(self, step: Callable[[], None], *, lasts: bool = False) -> Recorded:
        """What ``step`` queues, the same each time, as a CUDA graph: a few microseconds to queue.

        It is recorded at its first call, on a stream that is not the default one. Recording waits
        for nothing: kernels have to be loaded, and memory allocated, before. `forget` ends it, but
        where it ``lasts``.
        """
        made = Recorded(self._graphs, step)
        if not lasts:
            self._passing.append(made)
        return made

    def forget(self) -> None:
        """End what was `recorded` for one run."""
        for made in self._passing:
            made.forget()
        self._passing.clear()

    def settle(self) -> None:
        """Return when all is done that is queued on the current stream; raises as `wait`."""
        event = cupy.cuda.Event(disable_timing=True)
        event.record()
        self.wait(event)

    def wait(self, event: Any) -> None:
        """Return when the device has come to an event.

        Raises
        ------
        RankLost, RanksAborted
            A peer has gone. The link is of no further use then.
        CUDARuntimeError, NcclError
            The device has failed, or the connection.
        """
        looked = time.monotonic()
        try:
            while (status := runtime.eventQuery(event.ptr)) != 0:
                if status != _NOT_READY:
                    runtime.check_status(status)
                if time.monotonic() > looked + _LOOK:
                    self.ranks.check()
                    self._comm.check_async_error()
                    looked = time.monotonic()
                time.sleep(0)  # ranks may be threads that share one interpreter
        except BaseException:
            self.abort()
            raise

    def close(self) -> None:
        """Leave the connection to the next link, when all that was queued is done on all ranks.

        What becomes of a link that nobody holds any more, too.
        """
        self._end()
        IDLE.tidy()

    def abort(self) -> None:
        """End what the device waits for, and would for ever; once."""
        if self._end.detach() is not None:
            self._graphs.clear()
            # To destroy a communicator waits for the peers, who may not be at it; this does not.
            self._communicator.abort()


class Recorded:
    """A step that is queued as a CUDA graph."""

    def __init__(self, graphs: dict[object, Any], step: Callable[[], None]) -> None:
        self._graphs, self._step, self._key = graphs, step, object()

    def __call__(self) -> None:
        self.prepare()
        self._graphs[self._key].launch()

    def prepare(self) -> None:
        """Record it now, if it is not yet: a peer may wait for what is to be done by then."""
        if self._key not in self._graphs:
            stream = cupy.cuda.get_current_stream()
            stream.begin_capture()
            try:
                self._step()
            except BaseException:
                with suppress(runtime.CUDARuntimeError):
                    stream.end_capture()  # NCCL ends no communicator that a recording uses
                raise
            self._graphs[self._key] = stream.end_capture()

    def forget(self) -> None:
        """End the graph; what is queued of it is still done."""
        self._graphs.pop(self._key, None)


# Communicators of links that are over; one holds memory of the GPU.
IDLE = Idle(most=2)
# One that is collected at the end of the process would be destroyed, which waits for its peers.
atexit.register(IDLE.end)


def _end(communicator: Communicator, graphs: dict[object, Any], party: Party, name: bytes) -> None:
    graphs.clear()
    IDLE.give(party, name, communicator)


def _new(ranks: Ranks) -> tuple[bytes, Communicator]:
    """A communicator that is connected to all peers, and its name. Collective."""
    own = new_name() + bytes(nccl.get_unique_id()) if ranks.rank == 0 else b""
    told = ranks.all_gather_bytes(own)[0]
    return told[:NAME_BYTES], _connected(ranks, told[NAME_BYTES:])


def _check_devices(ranks: Ranks) -> None:
    there = bool(nccl.available)
    if not ranks.min(int(there)):
        raise EngineUnavailable(
            "engine='gpu' on several ranks needs NCCL, which is missing "
            + ("on another rank" if there else "here")
            + ": install nvidia-nccl-cu13, or use ranks=1"
        )
    own = f"{socket.gethostname()} {runtime.deviceGetPCIBusId(cupy.cuda.Device().id)}"
    every = ranks.all_gather_bytes(own.encode())
    twice = [name for name, times in Counter(every).items() if times > 1]
    if twice:
        same = [rank for rank, name in enumerate(every) if name == twice[0]]
        raise EngineUnavailable(
            f"ranks {same} have the same GPU, and every rank needs one of its own: start a "
            "worker for each GPU, as dask_cuda.LocalCUDACluster does, or use fewer ranks"
        )


def _stream() -> int:
    pointer: int = cupy.cuda.get_current_stream().ptr
    return pointer


def _connected(ranks: Ranks, name: bytes) -> Communicator:
    """A communicator that is connected to all peers; raises when one of them is lost meanwhile.

    NCCL connects at the first message, in a call that cannot be ended from outside, so the first
    ones are sent here, in a thread. One that does not return is left behind, and the thread ends the
    communicator when it does: who ends it meanwhile frees what the call works with.
    """
    made: list[Communicator] = []
    failed: list[BaseException] = []
    lost = threading.Event()
    device = cupy.cuda.Device().id

    def work() -> None:
        with cupy.cuda.Device(device):
            try:
                made.append(Communicator(nccl.NcclCommunicator(ranks.size, name, ranks.rank)))
                _greet(made[0].nccl, ranks, lost)
            except BaseException as error:
                failed.append(error)
            if lost.is_set() or failed:
                for communicator in made:
                    communicator.abort()

    thread = threading.Thread(target=work, name="graph-nccl", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(_LOOK)
            ranks.check()
    except BaseException:
        lost.set()
        thread.join(_LEAVING)
        if not thread.is_alive():  # it may have been through before it was told
            for communicator in made:
                communicator.abort()
        raise
    if failed:
        raise EngineUnavailable(
            f"NCCL cannot connect the GPU of rank {ranks.rank} to the others: {failed[0]}"
        ) from failed[0]
    return made[0]


def _greet(communicator: Any, ranks: Ranks, lost: threading.Event) -> None:
    """One message of each kind that there will be; not to its end where a peer is ``lost``."""
    byte = nccl.NCCL_UINT8
    with lent_stream() as stream, stream:
        own, every = cupy.zeros(1, np.uint8), cupy.zeros(ranks.size, np.uint8)
        if lost.is_set():
            return
        communicator.allGather(own.data.ptr, every.data.ptr, 1, byte, stream.ptr)
        if lost.is_set():
            return
        nccl.groupStart()
        try:
            for peer in range(ranks.size):
                if peer != ranks.rank:
                    communicator.send(own.data.ptr, 1, byte, peer, stream.ptr)
                    communicator.recv(every.data.ptr + peer, 1, byte, peer, stream.ptr)
        finally:
            nccl.groupEnd()
        event = cupy.cuda.Event(disable_timing=True)
        event.record()
        while not lost.is_set() and (status := runtime.eventQuery(event.ptr)) != 0:
            if status != _NOT_READY:
                runtime.check_status(status)
            time.sleep(0)  # ranks may be threads that share one interpreter
