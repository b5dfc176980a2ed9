"""Bits of the words of a bitmap."""

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic


@intrinsic
def lowest_bit(typingctx, word):
    """Place of the lowest bit that is set in a uint64, as a uint64. Undefined for zero."""
    if word != types.uint64:
        raise TypingError(f"lowest_bit works on a uint64, not on {word}.")

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(word), codegen


@intrinsic
def count_bits(typingctx, word):
    """How many bits of a uint64 are set, as a uint64."""
    if word != types.uint64:
        raise TypingError(f"count_bits works on a uint64, not on {word}.")

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.uint64(word), codegen
