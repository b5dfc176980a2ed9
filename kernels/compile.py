"""The only way in to compilers: Numba for the CPU, NVRTC and nvJitLink for GPUs.

Kernels of the CPU release the GIL and are compiled once for all processes. Numba's own cache goes by
the file that a function stands in, so it does not see that another file changed whose functions were
inlined; it leaves what it has compiled for an old file beside the new; where it finds no folder
to write, or a torn file, every call fails; and processes that compile a function for different types
at once may take each other's machine code for their own. Here the key covers every kernel source,
files of another key are never touched, each signature has a file that says which it is, and a cache
that cannot be used means no more than compiling again.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import glob
import hashlib
import pickle
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numba
from numba.core import event
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    NullCache,
    _Cache,
    _CacheLocator,
)
from numba.core.serialize import dumps

from dask_graphgpu.kernels import cache_folder, cuda_build
from dask_graphgpu.kernels.compiled import note_compiled, note_seconds
from dask_graphgpu.kernels.cuda_build import DeviceFunction, Module

__all__ = ["DeviceFunction", "cuda", "cuda_cubin", "inner", "jit", "sources_stamp"]


class _NoCollection(event.Listener):
    """Numba compiles without Python's collector of cycles, which takes a sixth of the time or more.

    It is the more the more objects the process has, and there is little to collect. Numba tells of
    what it begins and ends under a lock of its own.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._collecting = False
        self._began = 0.0

    def on_start(self, event: Any) -> None:
        if self._depth == 0:
            self._began = time.perf_counter()
            self._collecting = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        note_compiled()
        if self._depth == 0:
            note_seconds(time.perf_counter() - self._began)
            if self._collecting:
                gc.enable()


event.register("numba:compile", _NoCollection())


def jit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile ``function`` with Numba, without the GIL, and keep the result.

    Parameters
    ----------
    function : function
        A kernel, at the top level of its module. Given without parentheses or, with ``options``,
        by the decorator that the call returns.
    **options
        As of ``numba.njit``.
    """
    if function is None:
        return functools.partial(jit, **options)
    # Without what C code would call it by, which nobody asks for.
    kernel = numba.njit(nogil=True, no_cfunc_wrapper=True, **options)(function)
    if hasattr(kernel, "enable_caching"):  # NUMBA_DISABLE_JIT leaves the function
        kernel._cache = _KernelCache(function)
    return kernel


def inner(function: Callable[..., Any]) -> Any:
    """Compile a function that kernels alone call: without what Python would call it by."""
    return numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)


def cuda(
    source: str,
    *,
    defines: Mapping[str, str] | None = None,
    text: str = "",
    functions: Sequence[DeviceFunction] = (),
) -> Module:
    """Kernels of ``kernels/cuda/<source>.cu`` for the current device.

    Parameters
    ----------
    source : str
    defines : mapping of str to str
        Macros that the source is read with: the types that it is written over.
    text : str
        CUDA C++ that stands before the source.
    functions : sequence of DeviceFunction
        Python functions that the text calls.
    """
    return cuda_build.loaded(
        source, architecture(), defines=defines or {}, text=text, functions=functions
    )


def cuda_cubin(
    source: str,
    arch: str,
    *,
    defines: Mapping[str, str] | None = None,
    text: str = "",
    functions: Sequence[DeviceFunction] = (),
) -> bytes:
    """What `cuda` loads, for any architecture (as "sm_90") and without a GPU."""
    return cuda_build.cubin(source, arch, defines=defines or {}, text=text, functions=functions)


def architecture() -> str:
    """Of the current device, as "sm_90"."""
    import cupy

    return f"sm_{cupy.cuda.Device().compute_capability}"


def sources_stamp(folder: Path) -> str:
    """Digest of Python, Numba and every source in ``folder``; empty where there are no sources."""
    digest = hashlib.sha256(f"{sys.version}\n{numba.__version__}\n".encode())
    paths = sorted(folder.rglob("*.py"))
    for path in paths:
        name, text = path.relative_to(folder).as_posix().encode(), path.read_bytes()
        digest.update(b"%d %d\n" % (len(name), len(text)) + name + text)
    return digest.hexdigest()[:24] if paths else ""


# Now, before a source may change under a process that has imported it.
STAMP = sources_stamp(Path(__file__).parent)


class _Locator(_CacheLocator):
    """The entry of a function in the folder of compiled code: the kernels', or its program's."""

    def __init__(self, function: Any) -> None:
        module = function.__module__
        own = module.startswith(cache_folder.PROGRAM)
        path = cache_folder.entry(module if own else cache_folder.KERNELS + STAMP)
        if path is None:
            raise FileNotFoundError("the folder of compiled code is gone")
        self._path = str(path)
        self._py_file = function.__code__.co_filename  # for Numba's warnings
        self._line = function.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        return self._path

    def get_source_stamp(self) -> str:
        return STAMP

    def get_disambiguator(self) -> str:
        return str(self._line)


class _Files(CompileResultCacheImpl):
    """Names of the files of a function, by its full name: two modules may have the same last one."""

    def __init__(self, function: Any) -> None:
        # Not Numba's, which looks for a locator among classes of its own.
        self._lineno = function.__code__.co_firstlineno
        self._locator = _Locator(function)
        name = f"{function.__module__}.{function.__qualname__}"
        self._filename_base = self.get_filename_base(name, getattr(sys, "abiflags", ""))


class _Signatures:
    """The files of a function, one for each key: its types, and the processor that it is compiled for.

    Numba's have numbers, which an index gives to keys. Of two processes that read it before either has
    written it, both take the next number.
    """

    def __init__(self, folder: str, base: str) -> None:
        self._folder, self._base = Path(folder), base

    def _path(self, key: Any) -> Path:
        return (
            self._folder / f"{self._base}.{hashlib.sha256(str(key).encode()).hexdigest()[:24]}.nbc"
        )

    def load(self, key: Any) -> Any:
        """What was saved; None if nothing was."""
        try:
            data = self._path(key).read_bytes()
        except FileNotFoundError:
            return None
        of, found = pickle.loads(data)
        return found if of == key else None

    def save(self, key: Any, data: Any) -> None:
        """Keep it."""
        cache_folder.write(self._path(key), dumps((key, data)))

    def files(self) -> Iterator[Path]:
        """All of them."""
        return self._folder.glob(f"{glob.escape(self._base)}.*.nbc")

    def flush(self) -> None:
        """Remove all of them."""
        for path in self.files():
            path.unlink(missing_ok=True)


class _OwnFolder(FunctionCache):
    _impl_class = _Files

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file = _Signatures(self.cache_path, self._impl.filename_base)

    def has_some(self) -> bool:
        return any(self._cache_file.files())


class _KernelCache(_Cache):
    """Numba's cache of one function, opened when the function is first called."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self._opened: Any = None

    def _open(self) -> Any:
        if self._opened is None:
            self._opened = NullCache()
            if STAMP and cache_folder.folder() is not None:
                try:
                    self._opened = _OwnFolder(self._function)
                except OSError as error:
                    cache_folder.warn_not_kept(str(error))
        return self._opened

    @property
    def cache_path(self) -> Any:
        return self._open().cache_path

    def has_some(self) -> bool:
        """Whether code for some types is kept."""
        cache = self._open()
        return isinstance(cache, _OwnFolder) and cache.has_some()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        cache = self._open()
        try:
            return cache.load_overload(sig, target_context)
        except Exception:
            # Torn by a loss of power: there is no saying what reading it raises. Compiled again.
            with contextlib.suppress(OSError):
                cache.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            self._open().save_overload(sig, data)
        except OSError as error:  # a full disk
            cache_folder.warn_not_kept(str(error))

    def enable(self) -> None:
        self._open().enable()

    def disable(self) -> None:
        self._open().disable()

    def flush(self) -> None:
        self._open().flush()
