"""NCCL between the threads of a process: what is sent is copied at once, who receives waits for it.

Communicators are ended as NCCL allows it, or that is an error: once, outside of groups and of captures,
and when no captured graph uses them any more, for which NCCL would wait for ever.
"""

import ctypes
import gc
import threading
import time
import uuid
import weakref
from collections import defaultdict

from cupy import _device
from cupy._device import local

available = True
(
    NCCL_INT8,
    NCCL_UINT8,
    NCCL_INT32,
    NCCL_UINT32,
    NCCL_INT64,
    NCCL_UINT64,
    NCCL_FLOAT16,
    NCCL_FLOAT32,
    NCCL_FLOAT64,
) = range(9)
NCCL_CHAR, NCCL_INT, NCCL_FLOAT, NCCL_DOUBLE = 0, 2, 7, 8
NCCL_SUM, NCCL_PROD, NCCL_MAX, NCCL_MIN = range(4)
_SIZES = [1, 1, 4, 4, 8, 8, 2, 4, 8]
_GRAPHS = 5  # seconds in which what is queued of graphs that are no more is done
_NUMPY = ["int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"]


class NcclError(RuntimeError):
    def __init__(self, status, text=""):
        self.status = status
        super().__init__(f"NCCL_ERROR_{status}: {text}")


def get_version():
    return 22800


def get_build_version():
    return 22800


def get_unique_id():
    return tuple((uuid.uuid4().bytes * 8)[:128])


class _World:
    def __init__(self, size):
        self.size, self.joined = size, set()
        self.lock = threading.Condition()
        self.letters = {}  # by (from, to, number)


_worlds = {}
_lock = threading.Lock()


class _Group(threading.local):
    depth = 0
    calls = ()


_group = _Group()


def groupStart():
    if _group.depth == 0:
        _group.calls = []
    _group.depth += 1


def groupEnd():
    _group.depth -= 1
    if _group.depth == 0:
        calls, _group.calls = _group.calls, ()
        _run(calls)


def _do(call):
    if _group.depth:
        _group.calls.append(call)
    else:
        _run([call])


def _run(calls):
    """Queue calls (communicator, stream, kind, ...): all sends, then what is received."""
    streams = {}
    for call in calls:
        streams.setdefault(call[1], []).append(call)
    for pointer, mine in streams.items():
        _device.of_pointer(pointer).enqueue(_step(mine))


class _Use:
    """Of a communicator by a captured graph, which holds this."""


def _step(calls):
    use = _Use()
    if local.capture is not None:
        for comm in {call[0] for call in calls}:
            comm._uses.add(use)

    def made(
        use=use,
    ):  # at the time of the queueing: the numbers of messages follow the order of calls
        todo = []
        for comm, _, kind, place, size, peer in calls:
            key = (comm.rank, peer) if kind == "send" else (peer, comm.rank)
            number = comm._numbers[kind, peer]
            comm._numbers[kind, peer] += 1
            todo.append((comm, kind, place, size, (*key, number)))

        def run():
            waiting, told = [], False
            for comm, kind, place, size, key in todo:
                if comm._aborted:
                    continue
                if kind == "send":
                    data = ctypes.string_at(place, size)
                    with comm._world.lock:
                        comm._world.letters[key] = data
                    told = True
                else:
                    waiting.append((comm, place, size, key))
            if told:
                _device.tell()
            waiting = _received(waiting)
            return _waits(waiting) if waiting else None

        return run

    return made


def _received(waiting):
    left = []
    for comm, place, size, key in waiting:
        if comm._aborted:
            continue
        with comm._world.lock:
            data = comm._world.letters.pop(key, None)
        if data is None:
            left.append((comm, place, size, key))
            continue
        if len(data) != size:
            raise NcclError(
                4,
                f"rank {comm.rank} receives {size} bytes from rank {key[0]}, which sent {len(data)} (message {key[2]})",
            )
        ctypes.memmove(place, data, size)
    return left


def _waits(waiting):
    while True:
        waiting = _received(waiting)
        if not waiting:
            return
        yield


class NcclCommunicator:
    def __init__(self, ndev, commId, rank):
        name = bytes(commId)
        if len(name) != 128:
            raise NcclError(4, "the name of a communicator has 128 bytes")
        self.size, self.rank = ndev, rank
        self._aborted = False
        self._numbers = defaultdict(int)
        self._uses = weakref.WeakSet()
        self.device = local.device
        with _lock:
            self._world = _worlds.setdefault(name, _World(ndev))
        with self._world.lock:
            self._world.joined.add(rank)
            self._world.lock.notify_all()
            began = time.monotonic()
            while len(self._world.joined) < ndev and not self._aborted:
                self._world.lock.wait(0.05)
                if time.monotonic() > began + _device.TIMEOUT:
                    raise NcclError(6, "not all ranks have come")
        with _lock:
            _worlds.pop(name, None)

    def rank_id(self):
        return self.rank

    def device_id(self):
        return self.device

    def size_(self):
        return self.size

    def send(self, place, count, kind, peer, stream):
        self._check()
        _do((self, stream, "send", int(place), count * _SIZES[kind], peer))

    def recv(self, place, count, kind, peer, stream):
        self._check()
        _do((self, stream, "recv", int(place), count * _SIZES[kind], peer))

    def allGather(self, own, into, count, kind, stream):
        self._check()
        size = count * _SIZES[kind]
        groupStart()
        for peer in range(self.size):
            _do((self, stream, "send", int(own), size, peer))
        for peer in range(self.size):
            _do((self, stream, "recv", int(into) + peer * size, size, peer))
        groupEnd()

    def allReduce(self, own, into, count, kind, op, stream):
        raise NotImplementedError("allReduce")

    def _check(self):
        if self._aborted:
            raise NcclError(5, "the communicator was aborted")

    def check_async_error(self):
        pass

    def abort(self):
        self._end("aborted")

    def destroy(self):
        self._end("destroyed")

    finalize = destroy

    def _end(self, how):
        if self._aborted:
            raise NcclError(5, f"{how} a second time")
        if _group.depth:
            raise NcclError(5, f"{how} within a group of calls")
        if local.capture is not None:
            raise NcclError(5, f"{how} while a stream is captured")
        self._aborted = True
        _device.tell()
        began = time.monotonic()
        while self._uses:
            if time.monotonic() > began + _GRAPHS:
                raise NcclError(5, f"{how} while captured graphs use it")
            gc.collect()
            time.sleep(0.01)
