"""Devices, streams, events and graphs: what is queued runs on the thread that queues it, or waits for a peer."""

import itertools
import os
import threading
import time
import types
import weakref
from collections import deque

GPUS = int(os.environ.get("GRAPHGPU_EMULATOR_GPUS", "2"))
SMS = int(os.environ.get("GRAPHGPU_EMULATOR_SMS", "2"))
BLOCKS_PER_SM = int(os.environ.get("GRAPHGPU_EMULATOR_BLOCKS_PER_SM", "1"))
MEMORY = int(float(os.environ.get("GRAPHGPU_EMULATOR_MEMORY", 4 << 30)))
LAZY = os.environ.get("GRAPHGPU_EMULATOR_LAZY", "0") == "1"
TIMEOUT = float(os.environ.get("GRAPHGPU_EMULATOR_TIMEOUT", "120"))

_NAMES = {
    2: "cudaErrorMemoryAllocation: out of memory",
    1: "cudaErrorInvalidValue: invalid argument",
    101: "cudaErrorInvalidDevice: invalid device ordinal",
    600: "cudaErrorNotReady: device not ready",
    700: "cudaErrorIllegalAddress: an illegal memory access was encountered",
    702: "cudaErrorLaunchTimeout: the launch timed out",
    900: "cudaErrorStreamCaptureUnsupported",
    719: "cudaErrorLaunchFailure",
    720: "cudaErrorCooperativeLaunchTooLarge",
    910: "cudaErrorGraphExecUpdateFailure",
}


class CUDARuntimeError(RuntimeError):
    def __init__(self, status, text=""):
        self.status = status
        super().__init__(f"{_NAMES.get(status, status)}{': ' + text if text else ''}")

    def __reduce__(self):
        return type(self), (self.status,)


CUDARuntimeError.__module__ = "cupy_backends.cuda.api.runtime"


class _Local(threading.local):
    def __init__(self):
        self.device = 0
        self.entered = []
        self.streams = {}  # current one, by device
        self.left = []
        self.capture = None


local = _Local()


class _Attributes(dict):
    def __missing__(self, name):
        raise KeyError(name)


_ATTRIBUTES = {
    "MultiProcessorCount": SMS,
    "MaxSharedMemoryPerBlockOptin": 227 << 10,
    "MaxSharedMemoryPerBlock": 48 << 10,
    "MaxSharedMemoryPerMultiprocessor": 228 << 10,
    "MaxThreadsPerMultiProcessor": 2048,
    "MaxThreadsPerBlock": 1024,
    "WarpSize": 32,
    "L2CacheSize": 50 << 20,
    "CooperativeLaunch": 1,
    "ComputeCapabilityMajor": 9,
    "ComputeCapabilityMinor": 0,
    "MaxBlocksPerMultiprocessor": 32,
    "MaxRegistersPerMultiprocessor": 65536,
    "ReservedSharedMemoryPerBlock": 1024,
    "ClockRate": 1000000,
    "MemoryClockRate": 1000000,
    "CanMapHostMemory": 1,
    "UnifiedAddressing": 1,
    "ConcurrentManagedAccess": 1,
    "PageableMemoryAccess": 0,
    "AsyncEngineCount": 3,
}


class Device:
    def __init__(self, device=None):
        self.id = local.device if device is None else int(device)

    def _check(self):
        if not 0 <= self.id < GPUS:
            raise CUDARuntimeError(101)

    def __int__(self):
        return self.id

    def __eq__(self, other):
        return isinstance(other, Device) and other.id == self.id

    def __hash__(self):
        return hash(self.id)

    def __repr__(self):
        return f"<CUDA Device {self.id}>"

    def __enter__(self):
        self._check()
        local.entered.append(local.device)
        local.device = self.id
        return self

    def __exit__(self, *_):
        local.device = local.entered.pop()

    def use(self):
        self._check()
        local.device = self.id

    def synchronize(self):
        for stream in list(_streams):
            if stream.device_id == self.id:
                stream.synchronize()

    @property
    def attributes(self):
        return _Attributes(_ATTRIBUTES)

    @property
    def compute_capability(self):
        return "90"

    @property
    def mem_info(self):
        from cupy import _memory

        return _memory.mem_info(self.id)

    @property
    def pci_bus_id(self):
        return f"0000:{self.id:02X}:00.0"


_numbers = itertools.count(1 << 20)
_streams = weakref.WeakSet()
_by_pointer = weakref.WeakValueDictionary()
_events = weakref.WeakValueDictionary()


_news = threading.Condition()
_news_number = 0


def tell():
    """Something has come that others may wait for."""
    global _news_number
    with _news:
        _news_number += 1
        _news.notify_all()


def await_news(seen, seconds):
    with _news:
        if _news_number == seen:
            _news.wait(seconds)


def news():
    return _news_number


def waits(until):
    """Until it is so, for as long as a test may take."""
    began = time.monotonic()
    while True:
        seen = _news_number
        if until():
            return
        if time.monotonic() > began + TIMEOUT:
            raise CUDARuntimeError(702, "the emulator waits for something that does not come")
        await_news(seen, 0.005)


class Stream:
    null: "Stream"

    def __init__(self, null=False, non_blocking=False, ptds=False, priority=None, *, _device=None):
        self.device_id = local.device if _device is None else _device
        self.ptr = 0 if null else next(_numbers)
        self.non_blocking, self.priority = non_blocking, priority
        self._queue = deque()
        self._running = None  # of what has begun and waits
        self._lock = threading.RLock()
        self._inside = False
        self.error = None
        self.freed = deque()  # memory that its next array may get
        _streams.add(self)
        if not null:
            _by_pointer[self.ptr] = self

    # -- which is current

    def __enter__(self):
        local.left.append((local.device, local.streams.get(local.device)))
        local.streams[self.device_id if self.ptr else local.device] = self
        return self

    def __exit__(self, *_):
        device, stream = local.left.pop()
        if stream is None:
            local.streams.pop(device, None)
        else:
            local.streams[device] = stream

    def use(self):
        local.streams[self.device_id] = self
        return self

    # -- the queue. A step is called when it is queued, and gives None, or a generator that yields while it waits.

    def enqueue(self, step):
        if local.capture is not None:
            local.capture.append(step)
            return
        self._enqueue(step)

    def in_turn(self, work):
        """Do what waits for nothing behind all that is queued; from anywhere: captured or not, in a finalizer, too."""
        if self.idle:
            work()
        else:
            self._queue.append(work)

    def _enqueue(self, step):
        """``step()`` gives what runs: a function without arguments that may give a generator."""
        work = step()
        with self._lock:
            self._queue.append(work)
            if not LAZY and not self._inside:
                self.progress()

    def progress(self, most=1 << 60):
        """Do what can be done; whether all is."""
        if not self._lock.acquire(blocking=False):
            return False  # another thread is at it
        try:
            if self._inside:
                return False
            self._inside = True
            begun = self._running is not None  # others may have seen that it waits
            try:
                device, local.device = local.device, self.device_id
                captured, local.capture = local.capture, None
                try:
                    while (self._queue or self._running is not None) and most > 0:
                        if self._running is None:
                            made = self._queue.popleft()()
                            most -= 1
                            if isinstance(made, types.GeneratorType):
                                self._running = made
                        if self._running is not None:
                            try:
                                next(self._running)
                                return False
                            except StopIteration:
                                self._running = None
                            except BaseException:
                                self._running = None
                                raise
                finally:
                    local.device, local.capture = device, captured
            finally:
                self._inside = False
                if begun:
                    tell()
            return not self._queue
        finally:
            self._lock.release()

    @property
    def idle(self):
        return not self._queue and self._running is None and not self._inside

    def synchronize(self):
        if local.capture is not None:
            raise CUDARuntimeError(900, "a wait while a stream is captured")
        if self.idle:
            return
        waits(lambda: self.progress() or self.idle)

    @property
    def done(self):
        return self.progress(1) or self.idle

    def wait_event(self, event):
        if local.capture is not None:
            return  # the order of what is captured is that in which it was queued

        def made():
            mark = event._mark  # the record that there is now

            def run():
                if mark is None or mark.done:
                    return None

                def gen():
                    while not mark.done:
                        mark.stream.progress()
                        if not mark.done:
                            yield

                return gen()

            return run

        self._enqueue(made)

    def record(self, event=None):
        event = Event() if event is None else event
        event.record(self)
        return event

    def add_callback(self, callback, arg):
        self.enqueue(lambda: lambda: callback(self, 0, arg) and None)

    def launch_host_func(self, callback, arg):
        self.enqueue(lambda: lambda: callback(arg) and None)

    # -- graphs

    def begin_capture(self, mode=None):
        if self.ptr == 0:
            raise CUDARuntimeError(900, "the default stream cannot be captured")
        if local.capture is not None:
            raise CUDARuntimeError(900, "there is a capture already")
        local.capture = []

    def end_capture(self):
        steps, local.capture = local.capture, None
        return Graph(steps)

    def is_capturing(self):
        return local.capture is not None


class Graph:
    def __init__(self, steps):
        self._steps = steps

    def launch(self, stream=None):
        stream = current() if stream is None else stream
        for step in self._steps:
            stream._enqueue(step)

    def upload(self, stream=None):
        pass


_null = {}
_null_lock = threading.Lock()


def null_of(device):
    with _null_lock:
        if device not in _null:
            _null[device] = Stream(null=True, _device=device)
        return _null[device]


class _Null(Stream):
    def __init__(self):
        pass

    def __getattribute__(self, name):
        return getattr(null_of(local.device), name)


def current(device=None):
    device = local.device if device is None else device
    found = local.streams.get(device)
    if found is None or type(found) is _Null:
        found = null_of(device)
    return found


def of_pointer(pointer):
    return null_of(local.device) if not pointer else _by_pointer[int(pointer)]


def others_busy(device):
    return any(s.device_id == device and not s.idle for s in list(_streams))


class _Mark:
    __slots__ = ("__weakref__", "done", "stream", "time")

    def __init__(self, stream):
        self.done, self.stream, self.time = False, stream, 0.0


class Event:
    def __init__(self, block=False, disable_timing=False, interprocess=False):
        self._timed = not disable_timing
        self._mark = None
        self.ptr = next(_numbers)
        _events[self.ptr] = self

    def record(self, stream=None):
        stream = current() if stream is None else stream
        if local.capture is not None:
            return
        mark = _Mark(stream)
        self._mark = mark

        def made():
            def run():
                mark.time, mark.done = time.perf_counter(), True

            return run

        stream._enqueue(made)

    @property
    def done(self):
        mark = self._mark
        if mark is None or mark.done:
            return True
        mark.stream.progress(1 if LAZY else 1 << 60)
        return mark.done

    def synchronize(self):
        if local.capture is not None:
            raise CUDARuntimeError(900, "a wait while a stream is captured")
        mark = self._mark
        if mark is None or mark.done:
            return

        def until():
            mark.stream.progress()
            return mark.done

        waits(until)


def event_of(pointer):
    return _events[pointer]


def get_elapsed_time(start, end):
    return 1e3 * (end._mark.time - start._mark.time)


Stream.null = _Null()
