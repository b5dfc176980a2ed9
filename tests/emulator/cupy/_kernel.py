"""Kernels: libraries of the host by emulated.build, launched by its runtime."""

import ctypes
import itertools
import os
import sys
import threading
import time

import numpy as np
from emulated import build

from cupy._array import ndarray
from cupy._device import BLOCKS_PER_SM, SMS, CUDARuntimeError, current, local
from cupy._memory import kept

SEED = int(os.environ.get("GRAPHGPU_EMULATOR_SEED", "0"))
VERBOSE = int(os.environ.get("GRAPHGPU_EMULATOR_VERBOSE", "0"))
_seeds = itertools.count(1)
_by_pointer = {}
times = {}


class CUDADriverError(RuntimeError):
    pass


class _Kernel:
    def __init__(self, function):
        self.ptr = ctypes.cast(function, ctypes.c_void_p).value


class Function:
    """A kernel of a module."""

    num_regs = 32
    local_size_bytes = 0
    const_size_bytes = 0
    max_threads_per_block = 1024

    def __init__(self, module, name, cooperative):
        self.name, self._module, self._cooperative = name, module, cooperative
        library = module._library
        try:
            self._call = getattr(library, f"emu_call_{name}")
            sizes = getattr(library, f"emu_sizes_{name}")
        except AttributeError:
            raise CUDADriverError(f"CUDA_ERROR_NOT_FOUND: named symbol not found: {name}") from None
        self._top = ctypes.c_uint.in_dll(library, "emu_shared_top")
        number = sizes(None)
        out = (ctypes.c_uint * (number + 1))()
        sizes(out)
        self._sizes = list(out)[:number]
        self._pointer = ctypes.cast(self._call, ctypes.c_void_p).value
        self.kernel = _Kernel(self._call)
        _by_pointer[self.kernel.ptr] = self
        self._dynamic = 48 << 10
        self.shared_size_bytes = 0

    @property
    def max_dynamic_shared_size_bytes(self):
        return self._dynamic

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, size):
        if size > 227 << 10:
            raise CUDADriverError("CUDA_ERROR_INVALID_VALUE: invalid argument")
        self._dynamic = size

    def occupancy(self, threads, shared):
        if threads > 1024 or shared > min(self._dynamic, 227 << 10):
            return 0
        fits = 2048 // max(threads, 32)
        if shared:
            fits = min(fits, (228 << 10) // shared)
        return min(fits, BLOCKS_PER_SM)

    def __call__(
        self, grid, block, args, *, shared_mem=0, stream=None, enable_cooperative_groups=False
    ):
        grid = tuple(int(g) for g in grid) + (1,) * (3 - len(grid))
        block = tuple(int(b) for b in block) + (1,) * (3 - len(block))
        cooperative = self._cooperative
        if len(args) != len(self._sizes):
            raise TypeError(
                f"{self.name}: {len(args)} arguments, the kernel takes {len(self._sizes)}"
            )
        packed, keep = [], []
        for i, (arg, size) in enumerate(zip(args, self._sizes, strict=True)):
            if isinstance(arg, ndarray):
                if arg._device != local.device and arg.size:
                    raise CUDARuntimeError(
                        700,
                        f"{self.name}: argument {i} is of device {arg._device}, the launch of {local.device}",
                    )
                data = np.uint64(arg.data.ptr).tobytes()
                keep.append(arg)
            elif isinstance(arg, np.generic):
                data = arg.tobytes()
            elif isinstance(arg, np.ndarray):
                raise TypeError(f"Unsupported type {type(arg)}")
            elif isinstance(arg, bool):
                data = np.bool_(arg).tobytes()
            elif isinstance(arg, int):
                data = np.int64(arg).tobytes()
            elif isinstance(arg, float):
                data = np.float64(arg).tobytes()
            elif arg is None:
                data = bytes(8)
            elif hasattr(arg, "ptr"):
                data = np.uint64(arg.ptr).tobytes()
                keep.append(arg)
            else:
                raise TypeError(f"Unsupported type {type(arg)}")
            if len(data) != size and not (
                isinstance(arg, np.void) and len(data) > size
            ):  # the rest is not read
                raise TypeError(
                    f"{self.name}: argument {i} has {len(data)} bytes, the kernel takes {size}: {arg!r:.200}"
                )
            packed.append(data)
        threads = block[0] * block[1] * block[2]
        if not all(grid) or not 0 < threads <= 1024:
            raise CUDADriverError(
                f"CUDA_ERROR_INVALID_VALUE: {self.name}: grid {grid}, block {block}"
            )
        if shared_mem > self._dynamic:
            raise CUDADriverError(
                f"CUDA_ERROR_INVALID_VALUE: {self.name}: {shared_mem} bytes of shared memory"
            )
        blocks = grid[0] * grid[1] * grid[2]
        if cooperative and blocks > self.occupancy(threads, shared_mem) * SMS:
            raise CUDADriverError(
                f"CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE: {self.name}: {blocks} blocks of {threads} threads"
            )
        data = b"".join(each + bytes(-len(each) % 16) for each in packed)
        stream = current() if stream is None else stream
        keep = kept(keep)

        def step():
            def run():
                self._run(grid, block, data, packed, shared_mem, cooperative, blocks)

            run.keep = keep
            return run

        stream.enqueue(step)

    def _run(self, grid, block, data, packed, shared, cooperative, blocks):
        room = ctypes.create_string_buffer(len(data) + 16)
        base = -(-ctypes.addressof(room) // 16) * 16
        ctypes.memmove(base, data, len(data))
        places, at = (ctypes.c_void_p * (len(packed) + 1))(), base
        for i, each in enumerate(packed):
            places[i] = at
            at += -(-len(each) // 16) * 16
        sizes = (ctypes.c_uint * 6)(*grid, *block)
        error = ctypes.create_string_buffer(1024)
        resident = blocks if cooperative else (3 if SEED else 1)
        seed = (
            (SEED * 0x9E3779B97F4A7C15 + next(_seeds) * 0xBF58476D1CE4E5B9) % 2**64 | 1
            if SEED
            else 0
        )
        began = time.perf_counter()
        if VERBOSE > 1:
            os.write(
                2,
                f"emulator: {threading.current_thread().name}, device {local.device}, {self.name}, "
                f"grid {grid}, block {block}\n".encode(),
            )
        bad = build.runtime().emu_launch(
            self._pointer, places, sizes, resident, self._top.value, shared, seed, error, len(error)
        )
        if VERBOSE:
            n, t = times.get(self.name, (0, 0.0))
            times[self.name] = n + 1, t + time.perf_counter() - began
        if bad:
            raise CUDARuntimeError(
                700, f"kernel {self.name}, grid {grid}, block {block}: {error.value.decode()}"
            )


if VERBOSE:
    import atexit

    @atexit.register
    def _told():
        for name, (n, t) in sorted(times.items(), key=lambda x: -x[1][1])[:30]:
            print(f"emulator: {name}: {n} launches, {t:.2f} s", file=sys.stderr)


class RawModule:
    def __init__(self, *, path=None, code=None, enable_cooperative_groups=False, **_):
        if path is None:
            raise NotImplementedError("RawModule of a text")
        try:
            self._library = build.load(path)
        except ValueError as error:
            raise CUDADriverError(f"CUDA_ERROR_INVALID_IMAGE: {error}") from error
        self._cooperative = enable_cooperative_groups

    def get_function(self, name):
        return Function(self, name, self._cooperative)


class RawKernel:
    def __init__(self, *_, **__):
        raise NotImplementedError("RawKernel")


def occupancy(pointer, threads, shared):
    return _by_pointer[int(pointer)].occupancy(threads, shared)
