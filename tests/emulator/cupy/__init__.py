"""CuPy as far as this emulator needs it: arrays of NumPy's, kernels by emulated.build."""

import numpy as _np

__version__ = "14.2.0"

from numpy import (
    bool_,
    can_cast,
    complex64,
    complex128,
    dtype,
    e,
    finfo,
    float16,
    float32,
    float64,
    iinfo,
    inf,
    int8,
    int16,
    int32,
    int64,
    intp,
    isscalar,
    nan,
    newaxis,
    pi,
    promote_types,
    result_type,
    uint8,
    uint16,
    uint32,
    uint64,
)
from numpy import (
    ndim as _ndim,
)

from cupy import _array as _core
from cupy import _device, _memory, _operators
from cupy._array import _new, _Ufunc, ndarray, of_result, wrapped
from cupy._device import current as _current

bool = _np.bool_


def empty(shape, dtype=float, order="C"):
    return _new(shape, dtype, order)


def zeros(shape, dtype=float, order="C"):
    made = _new(shape, dtype, order)
    made.fill(0)
    return made


def ones(shape, dtype=float, order="C"):
    made = _new(shape, dtype, order)
    made.fill(1)
    return made


def full(shape, fill_value, dtype=None, order="C"):
    if dtype is None:
        dtype = (
            fill_value.dtype if isinstance(fill_value, ndarray) else _np.asarray(fill_value).dtype
        )
    made = _new(shape, dtype, order)
    if isinstance(fill_value, ndarray):
        made[...] = fill_value
    else:
        made.fill(
            fill_value
            if not isinstance(fill_value, _np.generic)
            else _np.asarray(fill_value).astype(dtype)[()]
        )
    return made


def empty_like(a, dtype=None, *, shape=None, **_):
    return _new(*_like(a, dtype, shape))


def zeros_like(a, dtype=None, *, shape=None, **_):
    return zeros(*_like(a, dtype, shape))


def ones_like(a, dtype=None, *, shape=None, **_):
    return ones(*_like(a, dtype, shape))


def full_like(a, fill_value, dtype=None, *, shape=None, **_):
    shape, dtype = _like(a, dtype, shape)
    return full(shape, fill_value, dtype)


def _like(a, dtype, shape):
    return a.shape if shape is None else shape, a.dtype if dtype is None else dtype


def arange(*args, dtype=None):
    args = [x.item() if isinstance(x, ndarray) else x for x in args]
    made = _np.arange(*args, dtype=dtype)
    return of_result(made, [])


def asarray(a, dtype=None, order=None, blocking=False):
    if isinstance(a, ndarray):
        if a._device != _device.local.device:
            with a.device:
                host = a.get()
            return asarray(host, dtype)
        return a if dtype is None else a.astype(dtype, copy=False)
    if hasattr(a, "__cuda_array_interface__"):
        raise NotImplementedError("__cuda_array_interface__")
    if isinstance(a, (list, tuple)) and any(isinstance(x, ndarray) for x in a):
        a = [x.get() for x in a]
    host = _np.asarray(a, dtype=dtype)
    made = _new(host.shape, host.dtype)
    if _device.local.capture is not None:
        raise _device.CUDARuntimeError(900, "asarray while a stream is captured")
    made.set(host)
    return made


def array(a, dtype=None, copy=True, order="K", subok=False, ndmin=0, blocking=False):
    if isinstance(a, ndarray):
        return a.astype(a.dtype if dtype is None else dtype) if copy else asarray(a, dtype)
    return asarray(a, dtype)


asanyarray = asarray


def ascontiguousarray(a, dtype=None):
    a = asarray(a, dtype)
    return a if a.flags.c_contiguous else a.copy()


def asnumpy(a, stream=None, order="C", out=None, *, blocking=True):
    if isinstance(a, ndarray):
        return a.get(stream=stream, order=order, out=out, blocking=blocking)
    if out is not None:
        out[...] = a
        return out
    return _np.asarray(a)


def copyto(dst, src, casting="same_kind", where=None):
    if where is not None:
        dst[where] = src[where] if isinstance(src, ndarray) and src.ndim else src
    else:
        dst[...] = src


def get_array_module(*args):
    import sys

    return sys.modules[__name__] if any(isinstance(a, ndarray) for a in args) else _np


def argsort(a, axis=-1, kind=None):
    return a.argsort(axis)


def sort(a, axis=-1, kind=None):
    made = a.copy()
    made.sort(axis)
    return made


def where(condition, x=None, y=None):
    if x is None:
        return wrapped(_np.nonzero)(condition)
    return wrapped(_np.where)(condition, x, y)


def get_default_memory_pool():
    return _memory.default_pool


def get_default_pinned_memory_pool():
    return _memory.default_pinned


def may_share_memory(a, b):
    return _np.may_share_memory(a._a, b._a)


shares_memory = may_share_memory


def array_equal(a, b):
    return wrapped(_np.array_equal)(a, b)


def lexsort(keys):
    return wrapped(_np.lexsort)(keys)


def searchsorted(a, v, *given, **named):
    if isinstance(v, _np.generic):
        raise TypeError("CuPy's searchsorted refuses a scalar of NumPy's: give an array")
    return wrapped(_np.searchsorted)(a, v, *given, **named)


from cupy import cuda
from cupy._kernel import RawKernel, RawModule


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    found = getattr(_np, name)
    if isinstance(found, _np.ufunc):
        found = _Ufunc(found)
    elif callable(found) and not isinstance(found, type):
        found = wrapped(found, name)
    globals()[name] = found
    return found
