"""Device memory: where it comes from, whether there is enough, and what is said when there is not."""

from __future__ import annotations

import threading
import traceback
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from dask_graphgpu.errors import EngineUnavailable, GraphError, LimitTooSmall, OutOfDeviceMemory

# Bytes that what is asked for may take, whatever the device has: of `bounded`.
_room: ContextVar[int | None] = ContextVar("room", default=None)

_lock = threading.Lock()
_kept: weakref.WeakSet[Any] = weakref.WeakSet()


def keep(made: Any) -> None:
    """Note what holds memory only so that a later run is faster: `drop_kept` calls its ``drop()``.

    That says whether it held any.
    """
    with _lock:
        _kept.add(made)


def drop_kept() -> bool:
    """Have what was noted by `keep` let go of its memory. Return whether there was any."""
    import cupy

    with _lock:
        kept = list(_kept)
    dropped = [made.drop() for made in kept]
    cupy.get_default_memory_pool().free_all_blocks()
    return any(dropped)


def use_pool() -> None:
    """Put CUDA's own pool behind RMM unless somebody has chosen a resource.

    As cuDF comes, every array is asked of the driver and given back to it, which stops the device
    and takes longer than a search does. RMM is what cuDF shares with CuPy.
    """
    import rmm.mr

    with _lock:  # a pool that another thread has begun to use is not to be replaced
        if type(rmm.mr.get_current_device_resource()) is rmm.mr.CudaMemoryResource:
            rmm.mr.set_current_device_resource(rmm.mr.CudaAsyncMemoryResource())


def require_current(array: Any, what: str) -> None:
    """Refuse to work on an array that lies on a GPU which is not the current one.

    Raises
    ------
    EngineUnavailable
    """
    import cupy

    if not isinstance(array, cupy.ndarray):
        return
    there, current = array.device.id, cupy.cuda.Device().id
    if there != current:
        raise EngineUnavailable(
            f"{what} is in the memory of GPU {there}, and the current one is GPU {current}: use it "
            f"within `with cupy.cuda.Device({there}):`, or make it of frames on GPU {current}"
        )


@contextmanager
def bounded(num_bytes: int) -> Iterator[None]:
    """Have `require` and `free_bytes` know of so many bytes, of ``graphgpu.device-memory-limit``, at most."""
    token = _room.set(num_bytes)
    try:
        yield
    finally:
        _room.reset(token)


def require(num_bytes: int, what: str) -> None:
    """Refuse ``what`` before any of it is done if the device has not so much memory left.

    Raises
    ------
    OutOfDeviceMemory
    LimitTooSmall
        It is more than is `bounded`.
    """
    import cupy

    room = _room.get()
    if room is not None and num_bytes > room:
        raise LimitTooSmall(
            f"{what} needs {num_bytes:,} bytes of the GPU's memory, and graphgpu.device-memory-limit leaves "
            f"{max(room, 0):,} beside the graph's vertices: raise it, or use engine='cpu'"
        )
    free, total = _free()
    if num_bytes > free and drop_kept():
        free, total = _free()
    if num_bytes <= free:
        return
    try:
        cupy.cuda.alloc(num_bytes)  # RMM's pool may hold what the driver no longer counts as free
    except MemoryError as error:
        raise _refused(f"{what} needs {_gigabytes(num_bytes)}", free, total) from error


def has_room(num_bytes: int, what: str) -> bool:
    """Whether `require` would have it."""
    try:
        require(num_bytes, what)
    except OutOfDeviceMemory:
        return False
    return True


def retried(make: Callable[[], Any]) -> Any:
    """What ``make()`` gives; once more after `drop_kept` where the device refuses it the memory."""
    try:
        return make()
    except MemoryError as error:
        if not is_of_device(error):
            raise
        traceback.clear_frames(error.__traceback__)
    drop_kept()
    return make()


def free_bytes() -> int:
    """Bytes of the device that are to be had."""
    room, free = _room.get(), _free()[0]
    return free if room is None else max(min(free, room), 0)


def _free() -> tuple[int, int]:
    """Bytes of the device that are to be had, and all."""
    import cupy

    free, total = cupy.cuda.runtime.memGetInfo()
    return free + cupy.get_default_memory_pool().free_bytes(), total


@contextmanager
def told(what: str) -> Iterator[None]:
    """Tell what was being done when the memory of the device ran out; other errors as they are.

    Raises
    ------
    OutOfDeviceMemory
    """
    try:
        yield
    except MemoryError as error:
        if isinstance(error, GraphError) or not is_of_device(error):
            raise
        import cupy

        traceback.clear_frames(error.__traceback__)  # they hold the arrays that there were
        needs = f"{what} needs more memory than is left ({error})"
        raise _refused(needs, *cupy.cuda.runtime.memGetInfo()) from error


def is_of_device(error: MemoryError) -> bool:
    """Whether an error that is not one of ours comes from CuPy or RMM; NumPy's are of the host."""
    return type(error).__module__.startswith("cupy") or "bad_alloc" in str(error)


def _refused(needs: str, free: int, total: int) -> OutOfDeviceMemory:
    return OutOfDeviceMemory(
        f"{needs}, and of the GPU's {_gigabytes(total)} {_gigabytes(free)} are free: drop frames and "
        "graphs that are not needed, leave out columns, or use engine='cpu' with frames in host memory"
    )


def _gigabytes(num_bytes: int) -> str:
    return f"{num_bytes / 1e9:,.1f} GB"
