"""Memory of the devices, which is the host's."""

import contextlib
import ctypes
import mmap
import os
import threading
import weakref

import numpy as np

from cupy import _device
from cupy._device import local

FRESH = int(os.environ.get("GRAPHGPU_EMULATOR_FRESH", "a7"), 16)
GUARD = os.environ.get("GRAPHGPU_EMULATOR_GUARD", "0") == "1"
_UNIT = 512
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_long,
]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_libc.aligned_alloc.restype = ctypes.c_void_p
_libc.aligned_alloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
_libc.free.argtypes = [ctypes.c_void_p]
_CANARY = 64
_MARK = b"\xc5" * _CANARY
problems = []


def _rounded(size):
    return max(1, -(-size // _UNIT)) * _UNIT


class _Raw:
    """Bytes with something behind that says whether they were overrun."""

    def __init__(self, size):
        self.size = size
        if GUARD:
            page = mmap.PAGESIZE
            self._whole = -(-size // page) * page + page
            self._start = _libc.mmap(
                None,
                self._whole,
                mmap.PROT_READ | mmap.PROT_WRITE,
                mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
                -1,
                0,
            )
            end = self._start + self._whole - page
            _libc.mprotect(end, page, 0)
            self.ptr = end - -(-size // 16) * 16
            self._canary = end - (self.ptr + size)
        else:
            self._canary = _CANARY
            self._start = _libc.aligned_alloc(_UNIT, -(-(size + _CANARY) // _UNIT) * _UNIT)
            self.ptr = self._start
        ctypes.memset(self.ptr, FRESH, size)  # so that nobody takes fresh memory for zeros
        ctypes.memset(self.ptr + size, 0xC5, self._canary)

    def free(self):
        if self._start is None:
            return
        if ctypes.string_at(self.ptr + self.size, self._canary) != _MARK[: self._canary]:
            problems.append(f"{self.size} bytes of device memory were overrun")
            os.write(2, f"\nemulator: {problems[-1]}\n".encode())
        if GUARD:
            _libc.munmap(self._start, self._whole)
        else:
            _libc.free(self._start)
        self._start = None


def kept(*arrays):
    """What a step holds of the arrays that it uses: with queues that run late nothing, as on a GPU."""
    return None if _device.LAZY else arrays


_graveyard = {}
_grave_lock = threading.Lock()


def _bury(raw, device):
    """Free it, when nothing is queued that may use it."""
    try:
        if not _device.others_busy(device):
            raw.free()
            with _grave_lock:
                old = _graveyard.pop(device, [])
            for each in old:
                each.free()
            return
    except Exception:  # the end of the process
        return
    with _grave_lock:
        _graveyard.setdefault(device, []).append(raw)


_used = {}
_used_lock = threading.RLock()


def mem_info(device):
    with _used_lock:
        return max(0, _device.MEMORY - _used.get(device, 0)), _device.MEMORY


class OutOfMemoryError(MemoryError):
    def __init__(self, size, total, limit=0):
        self._size, self._total, self._limit = size, total, limit
        super().__init__(
            f"Out of memory allocating {size:,} bytes (allocated so far: {total:,} bytes, "
            f"limit set to: {limit:,} bytes)."
        )

    def __reduce__(self):
        return type(self), (self._size, self._total, self._limit)


OutOfMemoryError.__module__ = "cupy.cuda.memory"


_STALE = 0x5B  # what is written over memory that somebody else may have by now


def _freed(raw, stream, size, pool):
    with _used_lock:
        _used[stream.device_id] = _used.get(stream.device_id, 0) - size
        if pool is not None:
            pool["used"] -= size
    if _device.LAZY and _device.others_busy(stream.device_id):
        stream.freed.append(raw)
    else:
        _bury(raw, stream.device_id)


def _taken_again(stream):
    """The pool gives an array on a stream memory that was freed on it, which may be written to in the stream's turn."""
    while stream.freed:
        raw = stream.freed.popleft()
        stream.in_turn(lambda raw=raw: ctypes.memset(raw.ptr, _STALE, raw.size) and None)
        _bury(raw, stream.device_id)


def _unpinned(raw, device):
    if _device.LAZY:
        ctypes.memset(raw.ptr, _STALE, raw.size)  # who asks next gets it at once
    _bury(raw, device)


class BaseMemory:
    pass


class Memory(BaseMemory):
    def __init__(self, size, _pool=None):
        self.device_id = local.device
        self.size = size
        rounded = _rounded(size)
        with _used_lock:
            if _used.get(self.device_id, 0) + rounded > _device.MEMORY:
                raise OutOfMemoryError(size, _used.get(self.device_id, 0))
            _used[self.device_id] = _used.get(self.device_id, 0) + rounded
            if _pool is not None:
                _pool["used"] += rounded
        raw = _Raw(size)
        self.ptr = raw.ptr
        stream = _device.current()
        _taken_again(stream)
        weakref.finalize(self, _freed, raw, stream, rounded, _pool).atexit = False

    @property
    def device(self):
        return _device.Device(self.device_id)


class _Nothing(BaseMemory):
    ptr = size = 0

    def __init__(self):
        self.device_id = local.device

    @property
    def device(self):
        return _device.Device(self.device_id)


class UnownedMemory(BaseMemory):
    def __init__(self, ptr, size, owner, device_id=-1):
        self.ptr, self.size, self._owner = ptr, size, owner
        self.device_id = local.device if device_id < 0 else device_id

    @property
    def device(self):
        return _device.Device(self.device_id)


class MemoryPointer:
    __slots__ = ("__weakref__", "mem", "ptr")

    def __init__(self, mem, offset):
        self.mem, self.ptr = mem, mem.ptr + offset

    @property
    def device_id(self):
        return self.mem.device_id

    @property
    def device(self):
        return _device.Device(self.mem.device_id)

    def __int__(self):
        return self.ptr

    def __add__(self, offset):
        return MemoryPointer(self.mem, self.ptr - self.mem.ptr + offset)

    def memset(self, value, size):
        ctypes.memset(self.ptr, value, size)


class MemoryPool:
    def __init__(self, allocator=None):
        self._pools = {}
        self._limits = {}

    def _of(self):
        return self._pools.setdefault(local.device, {"used": 0})

    def malloc(self, size):
        size = int(size)
        if size == 0:
            return MemoryPointer(_Nothing(), 0)
        pool, limit = self._of(), self._limits.get(local.device, 0)
        if limit and pool["used"] + _rounded(size) > limit:
            raise OutOfMemoryError(_rounded(size), pool["used"], limit)
        return MemoryPointer(Memory(size, pool), 0)

    def used_bytes(self):
        return self._of()["used"]

    def total_bytes(self):
        return self._of()["used"]

    def free_bytes(self):
        return 0

    def n_free_blocks(self):
        return 0

    def free_all_blocks(self, stream=None):
        pass

    def free_all_free(self):
        pass

    def set_limit(self, size=None, fraction=None):
        self._limits[local.device] = (
            int(_device.MEMORY * fraction) if fraction is not None else int(size or 0)
        )

    def get_limit(self):
        return self._limits.get(local.device, 0)


default_pool = MemoryPool()
_allocator = [default_pool.malloc]
_of_thread = threading.local()


def get_allocator():
    return getattr(_of_thread, "allocator", None) or _allocator[0]


def set_allocator(allocator=None):
    _allocator[0] = allocator or (lambda size: MemoryPointer(Memory(size), 0))


@contextlib.contextmanager
def using_allocator(allocator=None):
    before = getattr(_of_thread, "allocator", None)
    _of_thread.allocator = allocator or (lambda size: MemoryPointer(Memory(size), 0))
    try:
        yield
    finally:
        _of_thread.allocator = before


def alloc(size):
    return get_allocator()(size)


# -- pinned memory

_pinned = weakref.WeakSet()
_pinned_lock = threading.Lock()


class PinnedMemory:
    def __init__(self, size, flags=0):
        self.size = size
        raw = _Raw(size)
        self.ptr = raw.ptr
        self.device_id = local.device
        with _pinned_lock:
            _pinned.add(self)
        weakref.finalize(self, _unpinned, raw, self.device_id).atexit = False


class PinnedMemoryPointer(np.ndarray):
    """Bytes; with the memory for as long as there are arrays over it."""

    def __new__(cls, mem, offset=0):
        owner = (ctypes.c_char * (mem.size - offset)).from_address(mem.ptr + offset)
        owner._memory = mem
        made = np.frombuffer(owner, np.uint8).view(cls)
        made.mem = mem
        return made

    def __array_finalize__(self, other):
        self.mem = getattr(other, "mem", None)

    @property
    def ptr(self):
        return self.ctypes.data


def is_pinned(array):
    place = array.__array_interface__["data"][0]
    with _pinned_lock:
        return any(m.ptr <= place < m.ptr + m.size for m in list(_pinned))


def pinned_over(array):
    """An array of the host; where it is pinned and queues run late, one that does not hold its memory."""
    if not (_device.LAZY and array.size and array.flags.c_contiguous and is_pinned(array)):
        return array
    raw = (ctypes.c_char * array.nbytes).from_address(array.__array_interface__["data"][0])
    return np.frombuffer(raw, array.dtype).reshape(array.shape)


class PinnedMemoryPool:
    def malloc(self, size):
        return PinnedMemoryPointer(PinnedMemory(size), 0)

    def free_all_blocks(self):
        pass

    def n_free_blocks(self):
        return 0


default_pinned = PinnedMemoryPool()


def alloc_pinned_memory(size):
    return default_pinned.malloc(size)


def empty_pinned(shape, dtype=float, order="C"):
    shape = (int(shape),) if np.ndim(shape) == 0 else tuple(int(s) for s in shape)
    count = int(np.prod(shape, dtype=np.int64))
    dtype = np.dtype(dtype)
    if not count:
        return np.empty(shape, dtype)
    mem = alloc_pinned_memory(count * dtype.itemsize)
    return np.frombuffer(mem, dtype, count).reshape(shape, order=order)
