"""CUDA sources to cubins: joined into one text, compiled by NVRTC, linked with Python functions.

Nothing here needs a GPU. A text without Python functions is compiled to machine code at once; with
them it goes to LTO-IR, as they do by Numba, and nvJitLink joins both with the calls inlined.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import sys
import tempfile
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import FunctionType
from typing import Any

from dask_graphgpu.errors import EngineUnavailable, GraphError
from dask_graphgpu.kernels import cache_folder, prebuilt
from dask_graphgpu.kernels.compiled import note_compiled, note_seconds
from dask_graphgpu.kernels.sizes import SIZES

FOLDER = Path(__file__).parent / "cuda"
_INCLUDE = re.compile(r'#include "([\w.]+)"')
_CALLED = ("device_math.py", "cpu/convert.py")  # what generated modules import for GPUs
_STANDARD = "c++17"  # part of the cache's key, as all that code depends on


@dataclass(frozen=True)
class DeviceFunction:
    """A Python function as a device function of C linkage.

    Attributes
    ----------
    name : its symbol, declared in CUDA C++ as ``extern "C" __device__``
    function : in a generated module, whose name is the digest of its text
    signature : of Numba, as in ``"int32(int64, CPointer(float64))"``
    """

    name: str
    function: FunctionType
    signature: str

    @property
    def identity(self) -> str:
        """What tells it from all others, in any process."""
        module = self.function.__module__
        if not module.startswith(cache_folder.PROGRAM):
            raise ValueError(f"{self.name}: {module} is not a generated module")
        return f"{self.name} {module} {self.function.__qualname__} {self.signature}"

    @property
    def text(self) -> str:
        """What its code is made of, whichever release of Numba made it."""
        parts = [
            f"Python {sys.version_info.major}.{sys.version_info.minor}",  # the text has its bytecode
            f"{self.name} {self.function.__qualname__} {self.signature}",
            self.function.__globals__["__source__"],
            *((Path(__file__).parent / called).read_text() for called in _CALLED),
        ]
        return "\n".join(parts)


def joined(source: str, defines: Mapping[str, str], text: str) -> str:
    """``source``.cu with its own headers pasted where they are first included, each behind its `SIZES`."""
    seen: set[str] = set()

    def pasted(given: str, name: str) -> str:
        """A text with what it includes; the compiler is told which line is whose."""
        sizes = SIZES.get(name, {}).items()
        parts = [f"constexpr int {size} = {value};" for size, value in sizes]
        parts.append(f'#line 1 "{name}"')
        for number, line in enumerate(given.splitlines(), 1):
            included = _INCLUDE.fullmatch(line)
            if included is None:
                parts.append(line)
            elif included[1] not in seen:
                seen.add(included[1])
                parts.append(pasted((FOLDER / included[1]).read_text(), included[1]))
                parts.append(f'#line {number + 1} "{name}"')
            else:
                parts.append("")
        return "\n".join(parts)

    head = "".join(f"#define {name} {value}\n" for name, value in sorted(defines.items()))
    file = f"{source}.cu"
    return f"{head}{pasted(text, 'generated')}\n{pasted((FOLDER / file).read_text(), file)}\n"


def texts(whole: str, functions: Sequence[DeviceFunction]) -> list[str]:
    """What the machine code of a joined text is made of: see `prebuilt`."""
    return [f"{_STANDARD}\n{whole}", *(function.text for function in functions)]


def cubin(
    source: str,
    arch: str,
    *,
    defines: Mapping[str, str],
    text: str,
    functions: Sequence[DeviceFunction],
) -> bytes:
    """Machine code of a source for one architecture, as ``sm_90``; kept on disk.

    Raises
    ------
    EngineUnavailable
        NVRTC, nvJitLink or numba-cuda is not installed.
    GraphError
        The text does not compile; the message has the compiler's log.
    numba.core.errors.NumbaError
        A function does not.
    """
    whole = joined(source, defines, text)
    parts = [arch, _STANDARD, *versions(), *(f.identity for f in functions), whole]
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
    path = _kept(key)
    if path is not None:
        with contextlib.suppress(OSError):
            code = path.read_bytes()
            if hashlib.sha256(code[32:]).digest() == code[:32]:
                return code[32:]
    code = _compiled(source, whole, arch, functions)
    if path is not None:
        try:
            cache_folder.write(path, hashlib.sha256(code).digest() + code)
        except OSError as error:
            cache_folder.warn_not_kept(str(error))
    return code


@cache
def versions() -> tuple[str, ...]:
    """Of all that has a part in the machine code."""
    try:
        import cuda.core
        import numba_cuda
        from cuda.bindings import nvjitlink, nvrtc
    except ImportError as error:
        raise EngineUnavailable(
            f"the GPU engine needs the package {error.name!r}: pip install 'dask-graphgpu[gpu]'"
        ) from error
    return (
        f"nvrtc {nvrtc.nvrtcVersion()[1:]}",
        f"nvjitlink {nvjitlink.version()}",
        f"numba-cuda {numba_cuda.__version__}",
        f"cuda.core {cuda.core.__version__}",
    )


def _kept(key: str) -> Path | None:
    try:
        entry = cache_folder.entry(cache_folder.CUDA + key)
    except OSError as error:  # a full disk
        cache_folder.warn_not_kept(str(error))
        return None
    return None if entry is None else entry / "cubin"


def _compiled(source: str, whole: str, arch: str, functions: Sequence[DeviceFunction]) -> bytes:
    from cuda.core import Linker, LinkerOptions, ObjectCode, Program, ProgramOptions

    linked = [ObjectCode.from_ltoir(_ltoir(function, arch)) for function in functions]
    link_time = bool(linked)
    options = ProgramOptions(
        name=f"{source}.cu",
        arch=arch,
        std=_STANDARD,
        relocatable_device_code=link_time,
        link_time_optimization=link_time,
        device_as_default_execution_space=True,
    )
    # Closed by the thread that made them: nvJitLink (13.0 and 13.5) crashes at the next link of a thread if another one
    # destroyed its last. Left to whoever frees them last, that may be one that looks at the frames of all threads, as
    # the profiler of Dask's workers does.
    began = time.perf_counter()
    try:
        with contextlib.closing(Program(whole, "c++", options)) as program:
            compiled = program.compile("ltoir" if link_time else "cubin")
    except Exception as error:  # cuda.core raises RuntimeError or a class of its bindings
        raise GraphError(
            f"kernels/cuda/{source}.cu does not compile for {arch}: {error}"
        ) from error
    if link_time:
        joining = LinkerOptions(arch=arch, link_time_optimization=True)
        with contextlib.closing(Linker(compiled, *linked, options=joining)) as linker:
            compiled = linker.link("cubin")
    note_seconds(time.perf_counter() - began)
    return bytes(compiled.code)


def _ltoir(function: DeviceFunction, arch: str) -> bytes:
    from numba import cuda

    note_compiled()
    digits = arch.removeprefix("sm_").rstrip("af")
    code, _ = cuda.compile(
        function.function,
        function.signature,
        device=True,
        abi="c",
        abi_info={"abi_name": function.name},
        output="ltoir",
        cc=(int(digits[:-1]), int(digits[-1])),
        forceinline=True,
    )
    return bytes(code.code if hasattr(code, "code") else code)


class Kernel:
    """A kernel of a module; launched by `engine.gpu.launch`."""

    def __init__(self, module: Module, name: str) -> None:
        self.module, self.name = module, name
        self.resident: dict[tuple[int, int, int], int] = {}  # blocks, by what the launch asks

    def function(self, *, cooperative: bool) -> Any:
        """CuPy's kernel, for a launch of one kind."""
        return self.module.function(self.name, cooperative)


class Module:
    """A loaded cubin; ``compiled`` gives another one where the driver refuses it."""

    def __init__(self, code: bytes, compiled: Callable[[], bytes] | None = None) -> None:
        # CuPy loads from a file, and reads it at the first use on each device.
        self._file = tempfile.NamedTemporaryFile(suffix=".cubin")
        weakref.finalize(self, self._file.close)
        self._compiled = compiled
        self._write(code)
        self._functions: dict[tuple[str, bool], Any] = {}
        self._modules: dict[bool, Any] = {}
        self._kernels: dict[str, Kernel] = {}
        self._lock = threading.Lock()

    def kernel(self, name: str) -> Kernel:
        """The kernel ``extern "C" __global__ void name``."""
        return self._kernels.setdefault(name, Kernel(self, name))

    def function(self, name: str, cooperative: bool) -> Any:
        """CuPy's kernel; a module is cooperative as a whole there."""
        with self._lock:
            if (name, cooperative) not in self._functions:
                self._functions[name, cooperative] = self._found(name, cooperative)
            return self._functions[name, cooperative]

    def _found(self, name: str, cooperative: bool) -> Any:
        import cupy

        try:
            if cooperative not in self._modules:
                self._modules[cooperative] = cupy.RawModule(
                    path=self._file.name, enable_cooperative_groups=cooperative
                )
            return self._modules[cooperative].get_function(name)
        except cupy.cuda.driver.CUDADriverError as error:
            if self._compiled is None:
                raise
            warnings.warn(
                f"machine code that came with the package cannot be used here ({error}): {name} is compiled instead.",
                RuntimeWarning,
                stacklevel=2,
            )
            compiled, self._compiled = self._compiled, None
            self._write(compiled())
            self._modules.clear()
            return self._found(name, cooperative)

    def _write(self, code: bytes) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._file.write(code)
        self._file.flush()


_modules: dict[tuple[Any, ...], Module] = {}
_lock = threading.Lock()  # threads may run programs at once; each is compiled once


def loaded(
    source: str,
    arch: str,
    *,
    defines: Mapping[str, str],
    text: str,
    functions: Sequence[DeviceFunction],
) -> Module:
    """The module of a source, loaded once a process: as it came with the package, else built."""
    key = (source, arch, *sorted(defines.items()), text, *(f.identity for f in functions))
    if key not in _modules:
        with _lock:
            if key not in _modules:
                build = partial(
                    cubin, source, arch, defines=defines, text=text, functions=functions
                )
                code = prebuilt.code(arch, texts(joined(source, defines, text), functions))
                _modules[key] = Module(build()) if code is None else Module(code, build)
    return _modules[key]
