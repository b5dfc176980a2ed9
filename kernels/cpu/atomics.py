"""Atomic operations on elements of arrays, for kernels whose blocks run at once on several threads.

Numba has none for the CPU; LLVM has, and an intrinsic reaches it.

Each operation is indivisible on its one element and *relaxed* (LLVM: ``monotonic``): threads agree
on the order of the changes of one element, and nothing is said about the order in which changes of
different elements are seen. That is enough for values that only improve, for claims and for
counters. What one superstep wrote the next one sees because the fork and the join of the threads
between them order everything.

A plain read of an element that another thread may be changing is not indivisible, and the compiler
may take it out of a loop: use `atomic_load` there.

Arrays are one-dimensional. The index is not tested and negative indices do not count from the end;
indices that are unsigned are used as they are. The value is first converted to the type of the
array.
"""

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

_ORDER = "monotonic"


def _element_type(name, array, *, floats=True):
    """Type of the elements of `array`, or a typing error that says what `name` works on."""
    allowed = "integers or floats" if floats else "integers"
    if isinstance(array, types.Array) and array.ndim == 1 and array.mutable:
        element = array.dtype
        if isinstance(element, types.Integer) or (floats and isinstance(element, types.Float)):
            return element
    raise TypingError(
        f"{name} works on a writable one-dimensional array of {allowed}, not on {array}."
    )


def _word(element):
    """Integer of the same width: LLVM compares and exchanges no floats."""
    return ir.IntType(element.bitwidth)


def _pointer(context, builder, array_type, array, index, index_type):
    """Pointer to the element, as an integer word of its width."""
    element = cgutils.get_item_pointer(
        context,
        builder,
        array_type,
        context.make_array(array_type)(context, builder, array),
        [context.cast(builder, index, index_type, types.intp)],
        wraparound=False,
    )
    return builder.bitcast(element, _word(array_type.dtype).as_pointer())


def _load(builder, pointer, element):
    return builder.load_atomic(pointer, _ORDER, element.bitwidth // 8)


def _better(builder, element, op, new, old):
    """Whether `new` replaces `old`. False when either is NaN."""
    if isinstance(element, types.Float):
        return builder.fcmp_ordered(op, new, old)
    if element.signed:
        return builder.icmp_signed(op, new, old)
    return builder.icmp_unsigned(op, new, old)


def _improve(op):
    """Code generator of ``old = a[i]; if value <op> old: a[i] = value; return old``.

    A compare-and-exchange loop that starts with a read: what does not improve costs no write, so
    the cache line stays shared. It compares values, not bits, so floats of any sign are right.
    """

    def codegen(context, builder, signature, args):
        array_type, index_type, value_type = signature.args
        element = array_type.dtype
        pointer = _pointer(context, builder, array_type, args[0], args[1], index_type)
        value = context.cast(builder, args[2], value_type, element)
        word = builder.bitcast(value, _word(element))
        first = _load(builder, pointer, element)
        start = builder.block
        test = builder.append_basic_block("improve.test")
        swap = builder.append_basic_block("improve.swap")
        end = builder.append_basic_block("improve.end")
        builder.branch(test)
        builder.position_at_end(test)
        seen = builder.phi(_word(element))
        seen.add_incoming(first, start)
        old = builder.bitcast(seen, value.type)
        builder.cbranch(_better(builder, element, op, value, old), swap, end)
        builder.position_at_end(swap)
        result = builder.cmpxchg(pointer, seen, word, _ORDER)
        seen.add_incoming(builder.extract_value(result, 0), swap)
        builder.cbranch(builder.extract_value(result, 1), end, test)
        builder.position_at_end(end)
        return old

    return codegen


@intrinsic
def atomic_min(typingctx, array, index, value):
    """``old = array[index]; array[index] = min(old, value); return old``.

    NaN neither enters nor leaves.
    """
    element = _element_type("atomic_min", array)
    return element(array, index, value), _improve("<")


@intrinsic
def atomic_max(typingctx, array, index, value):
    """``old = array[index]; array[index] = max(old, value); return old``.

    NaN neither enters nor leaves.
    """
    element = _element_type("atomic_max", array)
    return element(array, index, value), _improve(">")


def _modify(op):
    """Code generator of one `atomicrmw`, which returns the old value."""

    def codegen(context, builder, signature, args):
        array_type, index_type, value_type = signature.args
        element = array_type.dtype
        pointer = _pointer(context, builder, array_type, args[0], args[1], index_type)
        value = context.cast(builder, args[2], value_type, element)
        if isinstance(element, types.Float):
            return builder.atomic_rmw(
                "f" + op, builder.bitcast(pointer, value.type.as_pointer()), value, _ORDER
            )
        return builder.atomic_rmw(op, pointer, value, _ORDER)

    return codegen


@intrinsic
def atomic_add(typingctx, array, index, value):
    """``old = array[index]; array[index] += value; return old``: fetch-and-add.

    Integers wrap around.
    """
    element = _element_type("atomic_add", array)
    return element(array, index, value), _modify("add")


@intrinsic
def atomic_or(typingctx, array, index, value):
    """``old = array[index]; array[index] |= value; return old``. Integers only."""
    element = _element_type("atomic_or", array, floats=False)
    return element(array, index, value), _modify("or")


@intrinsic
def atomic_load(typingctx, array, index):
    """``return array[index]``: whole even while another thread changes it, and read anew each time."""
    element = _element_type("atomic_load", array)

    def codegen(context, builder, signature, args):
        array_type, index_type = signature.args
        pointer = _pointer(context, builder, array_type, args[0], args[1], index_type)
        return builder.bitcast(_load(builder, pointer, element), context.get_value_type(element))

    return element(array, index), codegen


@intrinsic
def atomic_store(typingctx, array, index, value):
    """``array[index] = value``, whole even while another thread reads it."""
    element = _element_type("atomic_store", array)

    def codegen(context, builder, signature, args):
        array_type, index_type, value_type = signature.args
        pointer = _pointer(context, builder, array_type, args[0], args[1], index_type)
        value = context.cast(builder, args[2], value_type, element)
        builder.store_atomic(
            builder.bitcast(value, _word(element)), pointer, _ORDER, element.bitwidth // 8
        )
        return context.get_dummy_value()

    return types.void(array, index, value), codegen


@intrinsic
def atomic_compare_exchange(typingctx, array, index, expected, value):
    """``old = array[index]; if old == expected: array[index] = value; return old``. Integers only."""
    element = _element_type("atomic_compare_exchange", array, floats=False)

    def codegen(context, builder, signature, args):
        array_type, index_type, expected_type, value_type = signature.args
        pointer = _pointer(context, builder, array_type, args[0], args[1], index_type)
        expected_word = context.cast(builder, args[2], expected_type, element)
        word = context.cast(builder, args[3], value_type, element)
        return builder.extract_value(builder.cmpxchg(pointer, expected_word, word, _ORDER), 0)

    return element(array, index, expected, value), codegen


@intrinsic
def fence(typingctx):
    """What this thread wrote before is seen by whoever sees what it writes after, and the other way round."""

    def codegen(context, builder, signature, args):
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def nap(typingctx):
    """Sleep as short as the system can, some tens of microseconds: others have this processor meanwhile (POSIX)."""

    def codegen(context, builder, signature, args):
        word = ir.IntType(32)
        kind = ir.FunctionType(word, [word])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, "usleep"), [word(1)])
        return context.get_dummy_value()

    return types.void(), codegen
