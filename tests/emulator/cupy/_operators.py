"""Methods and operators of arrays that are NumPy's, one after another."""

import numpy as np

from cupy._array import _sync, _Ufunc, bare, ndarray, of_result


def _delegate(name):
    def method(self, *args, **kwargs):
        found = [self]
        given, named = bare(args, found), bare(kwargs, found)
        out = kwargs.get("out")
        _sync()
        with np.errstate(all="ignore"):
            result = getattr(self._a, name)(*given, **named)
        return out if out is not None else of_result(result, found)

    method.__name__ = name
    return method


for _name in (
    "sum prod min max mean std var any all cumsum cumprod argmin argmax nonzero take choose "
    "compress diagonal dot repeat searchsorted squeeze swapaxes trace transpose clip round conj ptp"
).split():
    setattr(ndarray, _name, _delegate(_name))


def _operators():
    binary = {
        "add": np.add,
        "sub": np.subtract,
        "mul": np.multiply,
        "truediv": np.true_divide,
        "floordiv": np.floor_divide,
        "mod": np.remainder,
        "pow": np.power,
        "lshift": np.left_shift,
        "rshift": np.right_shift,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "xor": np.bitwise_xor,
        "matmul": np.matmul,
        "divmod": None,
    }
    for name, f in binary.items():
        if f is None:
            continue
        u = _Ufunc(f)
        setattr(ndarray, f"__{name}__", lambda self, other, u=u: u(self, other))
        setattr(ndarray, f"__r{name}__", lambda self, other, u=u: u(other, self))

        def inplace(self, other, u=u, name=name):
            return u(self, other, out=self)

        setattr(ndarray, f"__i{name}__", inplace)
    for name, f in {
        "lt": np.less,
        "le": np.less_equal,
        "eq": np.equal,
        "ne": np.not_equal,
        "gt": np.greater,
        "ge": np.greater_equal,
    }.items():
        u = _Ufunc(f)
        setattr(ndarray, f"__{name}__", lambda self, other, u=u: u(self, other))
    for name, f in {
        "neg": np.negative,
        "pos": np.positive,
        "invert": np.invert,
        "abs": np.absolute,
    }.items():
        u = _Ufunc(f)
        setattr(ndarray, f"__{name}__", lambda self, u=u: u(self))


_operators()
