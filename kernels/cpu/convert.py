"""Conversions of what a user's function returns, and the test of an integer for overflow.

They refuse, while a program is compiled, what would silently lose a fraction. They are instructions
rather than functions of their own, because Numba compiles every function for every program anew.
"""

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.core.types.misc import unliteral
from numba.extending import intrinsic

_INT64_MAX = 9223372036854775807


def _cast(context, builder, signature, arguments):
    """The one argument, in the type that is returned."""
    return context.cast(builder, arguments[0], signature.args[0], signature.return_type)


@intrinsic
def to_int(context, value):
    """``value`` as int64; integers and bools only."""
    if isinstance(value, (types.Integer, types.Boolean)):
        return types.int64(unliteral(value)), _cast
    raise TypingError(f"returns {value} where a whole number is declared")


@intrinsic
def to_float(context, value):
    """``value`` as float64; numbers only."""
    if isinstance(value, (types.Integer, types.Boolean, types.Float)):
        return types.float64(unliteral(value)), _cast
    raise TypingError(f"returns {value} where a number is declared")


@intrinsic
def to_bool(context, value):
    """``value`` as a truth value; bools and integers only."""
    if isinstance(value, (types.Integer, types.Boolean)):
        return types.boolean(unliteral(value)), _cast
    raise TypingError(f"returns {value} where True or False is declared")


@intrinsic
def wrapped(context, value, shadow):
    """Whether int64 arithmetic that gave ``value`` has wrapped around.

    ``shadow`` is the same arithmetic in float64. Wrapping moves a value by a multiple of 2**64,
    rounding by far less than 2**62; NaN (from infinities) counts as wrapped.
    """

    def generate(context, builder, signature, arguments):
        value = context.cast(builder, arguments[0], signature.args[0], types.float64)
        most = arguments[1].type(2.0**62)
        above = builder.fcmp_unordered(">", builder.fsub(value, arguments[1]), most)
        below = builder.fcmp_unordered(">", builder.fsub(arguments[1], value), most)
        return builder.or_(above, below)

    return types.boolean(unliteral(value), types.float64), generate


@intrinsic
def raised_limit(context, least, delta):
    """``least + delta`` without passing the end of int64; ``delta`` is at least 1 there."""

    def generate(context, builder, signature, arguments):
        least, delta = arguments
        most = ir.Constant(least.type, _INT64_MAX)
        passes = builder.icmp_signed(">", least, builder.sub(most, delta))
        return builder.select(passes, most, builder.add(least, delta))

    return types.int64(types.int64, types.int64), generate
