"""Parts of aggregates as int64 scalars, which is how they travel between ranks."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

from dask_graphgpu.engine.aggregates import Part

# What a value is; the flags of a part are this and, for overflow, 4.
_NONE, _INTEGER, _FLOAT, _OVERFLOWS = 0, 1, 2, 4
_BITS = 3


def scalars_of(parts: int) -> int:
    """How many scalars so many parts take: one for the flags of all, two for each value."""
    return 1 + 2 * parts if parts else 0


def packed(parts: Sequence[Part]) -> list[int]:
    """Integers within int64. A value may be beyond it: the sum of 2**31 of them is not too large."""
    flags, values = 0, []
    for i, part in enumerate(parts):
        kind, high, low = _NONE, 0, 0
        if isinstance(part.value, float):
            kind, high = _FLOAT, struct.unpack("q", struct.pack("d", part.value))[0]
        elif part.value is not None:
            kind, high, low = _INTEGER, part.value >> 32, part.value & 0xFFFFFFFF
        flags |= (kind | (_OVERFLOWS if part.overflows else 0)) << _BITS * i
        values += [high, low]
    return [flags, *values] if parts else []


def unpacked(scalars: Sequence[int]) -> list[Part]:
    """The parts that `packed` was given."""
    return list(_unpacked(scalars)) if scalars else []


def _unpacked(scalars: Sequence[int]) -> Iterator[Part]:
    flags, *values = scalars
    for i, (high, low) in enumerate(zip(values[::2], values[1::2], strict=True)):
        flag = flags >> _BITS * i
        kind, overflows = flag & 3, bool(flag & _OVERFLOWS)
        if kind == _FLOAT:
            yield Part(struct.unpack("d", struct.pack("q", high))[0], overflows)
        else:
            yield Part((high << 32) + low if kind == _INTEGER else None, overflows)
