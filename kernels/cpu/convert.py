"""Conversions of what a user's function returns, and the test of an integer for overflow.

They refuse, while a program is compiled, what would silently lose a fraction.
"""

from numba import types
from numba.core.errors import TypingError
from numba.extending import overload

from dask_graphgpu.kernels.compile import jit


def to_int(value):
    """``value`` as int64; integers and bools only."""
    raise NotImplementedError("for compiled code only")


def to_float(value):
    """``value`` as float64; numbers only."""
    raise NotImplementedError("for compiled code only")


def to_bool(value):
    """``value`` as a truth value; bools and integers only."""
    raise NotImplementedError("for compiled code only")


@overload(to_int, inline="never")
def _to_int(value):
    if isinstance(value, (types.Integer, types.Boolean, types.IntegerLiteral)):
        return lambda value: types.int64(value)
    raise TypingError(f"returns {value} where a whole number is declared")


@overload(to_float, inline="never")
def _to_float(value):
    if isinstance(value, (types.Integer, types.Boolean, types.Float)):
        return lambda value: types.float64(value)
    raise TypingError(f"returns {value} where a number is declared")


@overload(to_bool, inline="never")
def _to_bool(value):
    if isinstance(value, (types.Integer, types.Boolean)):
        return lambda value: value != 0
    raise TypingError(f"returns {value} where True or False is declared")


@jit(inline="never")
def wrapped(value, shadow):
    """Whether int64 arithmetic that gave ``value`` has wrapped around.

    ``shadow`` is the same arithmetic in float64. Wrapping moves a value by a multiple of 2**64,
    rounding by far less than 2**62; NaN (from infinities) counts as wrapped.
    """
    return not (abs(types.float64(value) - shadow) <= 4611686018427387904.0)


@jit(inline="never")
def raised_limit(least, delta):
    """``least + delta`` without passing the end of int64; ``delta`` is at least 1 there."""
    if least > 9223372036854775807 - delta:
        return types.int64(9223372036854775807)
    return types.int64(least + delta)
