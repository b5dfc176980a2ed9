"""Arrays of a device: NumPy's over memory that is counted, which is not handed out as NumPy's."""

import ctypes
import functools

import numpy as np

from cupy import _device, _memory
from cupy._device import CUDARuntimeError, current, local


def _sync(out=False):
    if local.capture is not None:
        raise CUDARuntimeError(900, "an array operation while a stream is captured")
    current().synchronize()


def _over(memptr, shape, dtype, order="C"):
    dtype = np.dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    if count * dtype.itemsize == 0:
        return np.empty(shape, dtype)
    raw = (ctypes.c_char * (count * dtype.itemsize)).from_address(memptr.ptr)
    return np.frombuffer(raw, dtype, count).reshape(shape, order=order)


def _shape(shape):
    if isinstance(shape, ndarray):
        shape = shape.tolist()
    return (int(shape),) if np.ndim(shape) == 0 else tuple(int(s) for s in shape)


def _new(shape, dtype, order="C"):
    shape, dtype = _shape(shape), np.dtype(dtype)
    if dtype.kind not in "biufc":
        raise TypeError(f"Unsupported dtype {dtype}")
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    memptr = _memory.alloc(size)
    return ndarray._made(_over(memptr, shape, dtype, order), memptr, local.device)


def of_result(result, given):
    """What NumPy gave, on the device: a view of what was given stays one."""
    if isinstance(result, tuple):
        return tuple(of_result(each, given) for each in result)
    if isinstance(result, list):
        return [of_result(each, given) for each in result]
    if isinstance(result, np.generic):
        result = np.asarray(result)
    if not isinstance(result, np.ndarray):
        return result
    if result.size:
        for each in given:
            if np.may_share_memory(result, each._a):
                return ndarray._made(result, each._mem, each._device)
    made = _new(
        result.shape,
        result.dtype,
        "F" if result.flags.f_contiguous and not result.flags.c_contiguous else "C",
    )
    made._a[...] = result
    return made


def bare(value, found, *, host=False):
    """NumPy's own of what is given; arrays of the device are noted in ``found``."""
    if isinstance(value, ndarray):
        found.append(value)
        return value._a
    if type(value) in (list, tuple):
        return type(value)(bare(each, found, host=host) for each in value)
    if isinstance(value, dict):
        return {k: bare(v, found, host=host) for k, v in value.items()}
    if isinstance(value, np.ndarray) and not host:
        raise TypeError(
            f"Unsupported type {type(value)}: an array of the host where one of the device has to be"
        )
    if isinstance(value, _Ufunc):
        return value._f
    return value


def _check_devices(found):
    for each in found:
        if each._device != local.device and each.size:
            raise ValueError(
                f"Array device must be same as the current device: array device = {each._device} "
                f"while current = {local.device}"
            )


def wrapped(function, name=None, host=False):
    @functools.wraps(function, assigned=("__doc__",), updated=())
    def call(*args, **kwargs):
        found = []
        given = bare(args, found, host=host)
        named = bare(kwargs, found, host=host)
        out = kwargs.get("out")
        _sync()
        with np.errstate(all="ignore"):
            result = function(*given, **named)
        if out is not None:
            return out
        return of_result(result, found)

    call.__name__ = name or getattr(function, "__name__", "call")
    return call


class _Ufunc:
    def __init__(self, f):
        self._f = f
        self.__name__ = f.__name__

    def __call__(self, *args, out=None, **kwargs):
        if isinstance(out, tuple):
            (out,) = out
        if out is not None:
            found = []
            given = bare(args, found)
            _check_devices([*found, out])
            f, target, keep = self._f, out._a, _memory.kept(found, out)

            def step():
                def run():
                    with np.errstate(all="ignore"):
                        f(*given, out=target, **{"casting": "unsafe", **kwargs})

                run.keep = keep
                return run

            current().enqueue(step)
            return out
        return wrapped(self._f)(*args, **kwargs)

    def at(self, array, index, values=None):
        _sync()
        dtype = array.dtype
        allowed = {
            "add": ("int32", "uint32", "uint64", "float16", "float32", "float64"),
            "subtract": ("int32", "uint32"),
            "maximum": ("int32", "uint32", "int64", "uint64", "float32", "float64"),
            "minimum": ("int32", "uint32", "int64", "uint64", "float32", "float64"),
            "bitwise_or": ("int32", "uint32", "int64", "uint64"),
            "bitwise_and": ("int32", "uint32", "int64", "uint64"),
        }.get(self.__name__)
        if allowed is None or dtype.name not in allowed:
            raise TypeError(f"`{self.__name__}.at` does not support {dtype}")
        found = []
        index, values = bare(index, found, host=True), bare(values, found)
        self._f.at(array._a, index, np.asarray(values).astype(dtype))

    def reduce(self, array, axis=0, **kwargs):
        return wrapped(self._f.reduce)(array, axis=axis, **kwargs)

    def accumulate(self, array, axis=0, **kwargs):
        return wrapped(self._f.accumulate)(array, axis=axis, **kwargs)

    def outer(self, a, b):
        return wrapped(self._f.outer)(a, b)

    @property
    def nin(self):
        return self._f.nin


class _Data:
    __slots__ = ("device_id", "mem", "ptr")

    def __init__(self, array):
        self.ptr = array._a.__array_interface__["data"][0] if array._a.size or array._mem.ptr else 0
        self.mem, self.device_id = array._mem.mem, array._device

    @property
    def device(self):
        return _device.Device(self.device_id)

    def __int__(self):
        return self.ptr


class ndarray:
    __slots__ = ("__weakref__", "_a", "_device", "_mem")
    __array_priority__ = 100

    def __new__(cls, shape, dtype=float, memptr=None, strides=None, order="C"):
        shape = _shape(shape)
        if memptr is None:
            return _new(shape, dtype, order)
        made = object.__new__(cls)
        if strides is not None:
            raw = (
                ctypes.c_char * max(1, memptr.mem.size - (memptr.ptr - memptr.mem.ptr))
            ).from_address(memptr.ptr)
            a = np.ndarray(shape, dtype, raw, 0, strides)
        else:
            a = _over(memptr, shape, dtype, order)
        made._a, made._mem, made._device = a, memptr, memptr.device_id
        return made

    @classmethod
    def _made(cls, a, mem, device):
        made = object.__new__(cls)
        made._a, made._mem, made._device = a, mem, device
        return made

    # -- what it is

    data = property(_Data)
    device = property(lambda self: _device.Device(self._device))
    shape = property(lambda self: self._a.shape, lambda self, s: setattr(self._a, "shape", s))
    dtype = property(lambda self: self._a.dtype)
    size = property(lambda self: self._a.size)
    ndim = property(lambda self: self._a.ndim)
    nbytes = property(lambda self: self._a.nbytes)
    itemsize = property(lambda self: self._a.itemsize)
    strides = property(lambda self: self._a.strides)
    flags = property(lambda self: self._a.flags)
    T = property(lambda self: ndarray._made(self._a.T, self._mem, self._device))
    real = property(lambda self: ndarray._made(self._a.real, self._mem, self._device))
    base = property(lambda self: self._a.base)
    flat = property(lambda self: self.ravel())

    @property
    def __cuda_array_interface__(self):
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "descr": self.dtype.descr,
            "version": 3,
            "strides": None if self._a.flags.c_contiguous else self.strides,
            "data": (self.data.ptr, False),
            "stream": 1,
        }

    def __array__(self, *_, **__):
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to "
            "construct a NumPy array explicitly."
        )

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        function = _Ufunc(ufunc) if method == "__call__" else getattr(_Ufunc(ufunc), method)
        return function(*inputs, **kwargs)

    def __array_function__(self, function, types, args, kwargs):
        import cupy

        own = getattr(cupy, function.__name__, None)
        return (own or wrapped(function))(*args, **kwargs)

    def __len__(self):
        return len(self._a)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __hash__(self):
        raise TypeError("unhashable type: 'cupy.ndarray'")

    # -- to the host

    def get(self, stream=None, order="C", out=None, blocking=True):
        stream = current(self._device) if stream is None else stream
        if out is None:
            stream.synchronize() if local.capture is None else _sync()
            return self._a.copy(order if order != "A" else "K")
        if out.dtype != self.dtype or out.shape != self.shape:
            raise ValueError(f"out: {out.dtype}{out.shape}, array: {self.dtype}{self.shape}")
        source, target, keep = self._a, _memory.pinned_over(out), _memory.kept(self)

        def step():
            def run():
                target[...] = source

            run.keep = keep
            return run

        stream.enqueue(step)
        if blocking or not _memory.is_pinned(out):
            if local.capture is not None:
                raise CUDARuntimeError(900, "a copy that waits while a stream is captured")
            stream.synchronize()
        return out

    def set(self, array, stream=None):
        array = np.asarray(array)
        if array.dtype != self.dtype:
            raise TypeError(f"{array.dtype} array cannot be set to {self.dtype} array")
        if array.shape != self.shape:
            raise ValueError(f"Shape mismatch. Old shape: {self.shape}, new shape: {array.shape}")
        stream = current(self._device) if stream is None else stream
        source = _memory.pinned_over(array) if _memory.is_pinned(array) else array.copy()
        target, keep = self._a, _memory.kept(self)

        def step():
            def run():
                target[...] = source

            run.keep = keep
            return run

        stream.enqueue(step)

    def _host(self):
        current(self._device).synchronize() if local.capture is None else _sync()
        return self._a

    def item(self, *args):
        return self._host().item(*args)

    def tolist(self):
        return self._host().tolist()

    def __int__(self):
        return int(self._host())

    def __float__(self):
        return float(self._host())

    def __bool__(self):
        return bool(self._host())

    def __index__(self):
        return self._host().__index__()

    def __complex__(self):
        return complex(self._host())

    def tobytes(self, order="C"):
        return self._host().tobytes(order)

    def __repr__(self):
        return repr(self._host())

    def __str__(self):
        return str(self._host())

    def __format__(self, spec):
        return format(self._host().item() if self.ndim == 0 else self._host(), spec)

    def __reduce__(self):
        return _unpickled, (self.get(),)

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    # -- elements

    def __getitem__(self, index):
        found = [self]
        given = bare(index, found, host=True)
        fancy = (
            len(found) > 1
            or isinstance(index, (list, np.ndarray))
            or (isinstance(index, tuple) and any(isinstance(i, (list, np.ndarray)) for i in index))
        )
        if fancy:
            _sync()
        made = self._a[given]
        if isinstance(made, np.generic):  # an element: a view of no dimensions
            place = index if isinstance(index, tuple) else (index,)
            places = tuple(slice(int(i), int(i) + 1 or None) for i in place)
            return ndarray._made(self._a[places].reshape(()), self._mem, self._device)
        if fancy:
            return of_result(made, [])
        return ndarray._made(made, self._mem, self._device)

    def __setitem__(self, index, value):
        found = [self]
        given = bare(index, found, host=True)
        whole = given is Ellipsis or (isinstance(given, slice) and given == slice(None))
        value = bare(
            value, found, host=whole or (isinstance(value, np.ndarray) and value.ndim == 0)
        )
        if isinstance(value, np.ndarray) and not isinstance(value.base, ctypes.Array):
            value = value.copy() if len(found) == 1 else value
        target, keep = self._a, _memory.kept(found)

        def step():
            def run():
                with np.errstate(all="ignore"):
                    if isinstance(value, np.ndarray):
                        target[given] = value.astype(target.dtype, copy=False)
                    else:
                        target[given] = value

            run.keep = keep
            return run

        current(self._device).enqueue(step)

    def fill(self, value):
        found = [self]
        value = bare(value, found)
        target, keep = self._a, _memory.kept(found)

        def step():
            def run():
                target.fill(value)

            run.keep = keep
            return run

        current(self._device).enqueue(step)

    # -- everything else, as NumPy has it

    def copy(self, order="C"):
        _sync()
        made = _new(
            self.shape,
            self.dtype,
            "F" if order == "F" or (order in "AK" and self._a.flags.fnc) else "C",
        )
        made._a[...] = self._a
        return made

    def astype(self, dtype, order="K", casting=None, subok=None, copy=True):
        dtype = np.dtype(dtype)
        if not copy and dtype == self.dtype:
            return self
        _sync()
        made = _new(self.shape, dtype, "F" if self._a.flags.fnc else "C")
        with np.errstate(all="ignore"):
            made._a[...] = self._a.astype(dtype)
        return made

    def view(self, dtype=None):
        return ndarray._made(
            self._a.view() if dtype is None else self._a.view(dtype), self._mem, self._device
        )

    def ravel(self, order="C"):
        return self.reshape(-1, order=order)

    def flatten(self, order="C"):
        return self.ravel(order).copy()

    def reshape(self, *shape, order="C"):
        if len(shape) == 1 and not np.isscalar(shape[0]):
            shape = tuple(shape[0])
        made = self._a.reshape(shape, order=order)
        if self.size and not np.may_share_memory(made, self._a):
            return of_result(made, [])
        return ndarray._made(made, self._mem, self._device)

    def sort(self, axis=-1):
        _sync()
        self._a.sort(axis=axis, kind="stable")

    def argsort(self, axis=-1):
        _sync()
        return of_result(self._a.argsort(axis=axis, kind="stable"), [])

    def scatter_add(self, index, value):
        _Ufunc(np.add).at(self, index, value)


def _unpickled(array):
    import cupy

    return cupy.asarray(array)
