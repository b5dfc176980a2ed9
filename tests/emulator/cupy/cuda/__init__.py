"""Devices, streams, memory and NCCL, by the names that CuPy gives them."""

from cupy._device import Device, Event, Graph, Stream, get_elapsed_time
from cupy._device import current as get_current_stream
from cupy._memory import (
    BaseMemory,
    Memory,
    MemoryPointer,
    MemoryPool,
    PinnedMemory,
    PinnedMemoryPointer,
    PinnedMemoryPool,
    UnownedMemory,
    alloc,
    alloc_pinned_memory,
    get_allocator,
    set_allocator,
    using_allocator,
)
from cupy.cuda import device, driver, memory, nccl, runtime, stream


def is_available():
    return True
