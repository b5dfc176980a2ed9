"""Messages between the GPUs of ranks, by NCCL."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import Counter
from collections.abc import Sequence
from typing import Any

import cupy
from cupy.cuda import nccl

from dask_graphgpu.errors import EngineUnavailable
from dask_graphgpu.exchange.ranks import Ranks

_LOOK = 0.005  # seconds between two looks at the other ranks while the device is waited for
_SPIN = 0.001  # seconds in which the device is asked again at once


class DeviceLink:
    """A connection of this rank's GPU to those of all others; made by all ranks at once.

    Collectives are queued on the current stream, and called by all ranks in the same order, as
    those of `Ranks`. NCCL waits for a peer that has died for ever, so whoever waits for the device
    does it by `wait`, which asks the ranks whether the peers are still there.

    Parameters
    ----------
    ranks : Ranks
        By which the ranks find together, and know of each other's end.

    Raises
    ------
    EngineUnavailable
        Two ranks have the same GPU, or NCCL is not installed on one.
    """

    def __init__(self, ranks: Ranks) -> None:
        self.ranks = ranks
        self.device = cupy.cuda.Device().id
        self._check_devices(ranks)
        # Multicast memory of NVLink takes long to set up and fails where it is not permitted.
        os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
        own = bytes(nccl.get_unique_id()) if ranks.rank == 0 else b""
        name = ranks.all_gather_bytes(own)[0]
        self._comm = _watched(ranks, lambda: nccl.NcclCommunicator(ranks.size, name, ranks.rank))
        self.failed = False
        # To destroy a communicator waits for the peers, who may not be at it; this does not.
        weakref.finalize(self, self._comm.abort).atexit = False

    @staticmethod
    def _check_devices(ranks: Ranks) -> None:
        there = bool(nccl.available)
        if not ranks.min(int(there)):
            raise EngineUnavailable(
                "engine='gpu' on several ranks needs NCCL, which is missing "
                + ("on another rank" if there else "here")
                + ": install nvidia-nccl-cu13, or use ranks=1"
            )
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        every = ranks.all_gather_bytes(bytes(properties["uuid"]))
        twice = [uuid for uuid, times in Counter(every).items() if times > 1]
        if twice:
            same = [rank for rank, uuid in enumerate(every) if uuid == twice[0]]
            raise EngineUnavailable(
                f"ranks {same} have the same GPU, and every rank needs one of its own: start a "
                "worker for each GPU, as dask_cuda.LocalCUDACluster does, or use fewer ranks"
            )

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
        stream = _stream()
        nccl.groupStart()
        try:
            for sent, received in pairs:
                for peer in range(self.ranks.size):
                    if sent[peer].nbytes:
                        self._comm.send(
                            sent[peer].data.ptr, sent[peer].nbytes, nccl.NCCL_UINT8, peer, stream
                        )
                    if received[peer].nbytes:
                        self._comm.recv(
                            received[peer].data.ptr,
                            received[peer].nbytes,
                            nccl.NCCL_UINT8,
                            peer,
                            stream,
                        )
        finally:
            nccl.groupEnd()

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
        """
        start = looked = time.monotonic()
        while not event.done:
            now = time.monotonic()
            if now > looked + _LOOK:
                looked = now
                try:
                    self.ranks.check()
                except BaseException:
                    self.abort()
                    raise
            if now > start + _SPIN:
                time.sleep(0)

    def abort(self) -> None:
        """End what the device waits for."""
        if not self.failed:
            self.failed = True
            self._comm.abort()


def _stream() -> int:
    pointer: int = cupy.cuda.get_current_stream().ptr
    return pointer


def _watched(ranks: Ranks, make: Any) -> Any:
    """What a call gives that waits for all ranks; raises when one of them is lost meanwhile.

    The call cannot be ended from outside: its thread is left behind then.
    """
    made: list[Any] = []
    device = cupy.cuda.Device().id

    def work() -> None:
        with cupy.cuda.Device(device):
            try:
                made.append(make())
            except BaseException as error:
                made.append(error)

    thread = threading.Thread(target=work, name="graph-nccl", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_LOOK)
        ranks.check()
    (found,) = made
    if isinstance(found, BaseException):
        raise EngineUnavailable(
            f"NCCL cannot connect the GPU of rank {ranks.rank} to the others: {found}"
        ) from found
    return found
