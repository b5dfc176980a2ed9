"""Parts of aggregates as int64 scalars, which is how they travel between ranks."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct

from dask_graphgpu.engine.aggregates import Partial

# What a value is; the flags of a part are this and, for overflow, 4.
_NONE, _INTEGER, _FLOAT, _OVERFLOWS = 0, 1, 2, 4
_BITS = 3

_DOUBLE, _LONG = Struct("d"), Struct("q")


def fit(scalars: int) -> int:
    """How many parts so many scalars hold: two for each value, and one for the flags of all."""
    return (scalars - 1) // 2


def packed(parts: Sequence[Partial]) -> list[int]:
    """Integers within int64. A value may be beyond it: the sum of 2**31 of them is not too large."""
    flags, values = 0, []
    for i, part in enumerate(parts):
        kind, high, low = _NONE, 0, 0
        if isinstance(part.value, float):
            kind, high = _FLOAT, _LONG.unpack(_DOUBLE.pack(part.value))[0]
        elif part.value is not None:
            kind, high, low = _INTEGER, part.value >> 32, part.value & 0xFFFFFFFF
        flags |= (kind | (_OVERFLOWS if part.overflows else 0)) << _BITS * i
        values += [high, low]
    return [flags, *values] if parts else []


def unpacked(scalars: Sequence[int]) -> list[Partial]:
    """The parts that `packed` was given."""
    parts = []
    for i in range(1, len(scalars), 2):
        flag = scalars[0] >> _BITS * (i // 2)
        kind, overflows, high = flag & 3, bool(flag & _OVERFLOWS), scalars[i]
        if kind == _FLOAT:
            parts.append(Partial(_DOUBLE.unpack(_LONG.pack(high))[0], overflows))
        else:
            parts.append(Partial((high << 32) + scalars[i + 1] if kind else None, overflows))
    return parts
