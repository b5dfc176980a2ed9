"""Ask for memory before it is read.

A processor sees by itself that memory is read in order, but only within a page of 4 KiB, and anew in
each: what the disk has just written is in no cache near it, and half of the time goes to waiting.
"""

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from dask_graphgpu.kernels.compile import jit

_READ, _KEEP, _DATA = 0, 3, 1


@intrinsic
def prefetch(typingctx, array, index):
    """Have a processor fetch the line of 64 bytes that element `index`, a uint64, is in.

    Nothing is read: the index may be beyond the array.
    """
    if not isinstance(array, types.Array) or array.ndim != 1 or index != types.uint64:
        raise TypingError(
            f"prefetch works on a one-dimensional array and a uint64, not {array}, {index}."
        )

    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        place = builder.bitcast(builder.gep(data, [args[1]]), cgutils.voidptr_t)
        _call_prefetch(builder, place)
        return context.get_dummy_value()

    return types.void(array, index), codegen


@intrinsic
def prefetch_at(typingctx, address):
    """`prefetch` of what is at an address, a uint64."""
    if address != types.uint64:
        raise TypingError(f"an address is a uint64, not {address}.")

    def codegen(context, builder, signature, args):
        _call_prefetch(builder, builder.inttoptr(args[0], cgutils.voidptr_t))
        return context.get_dummy_value()

    return types.void(address), codegen


def _call_prefetch(builder, place):
    word = ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, word, word, word])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    builder.call(function, [place, word(_READ), word(_KEEP), word(_DATA)])


@jit
def prefetch_between(array, start, stop):
    """`prefetch` of the elements from `start` to `stop`, both uint64.

    They should fit the cache beside what else is read.
    """
    line = np.uint64(64 // array.itemsize)
    while start < stop:
        prefetch(array, start)
        start += line
