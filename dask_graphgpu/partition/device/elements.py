"""Array operations on the GPU that are compiled once for all types: ``kernels/cuda/arrays.cu``.

CuPy compiles each of its own for each type at its first call, a tenth of a second or more. What is said to take NumPy
arrays as well does what NumPy does of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from dask_graphgpu.kernels.cpu.threads import copy_blocks, for_blocks
from dask_graphgpu.partition.device.launching import TILE, Struct, column, contiguous, launch
from dask_graphgpu.partition.device.module import module_of
from dask_graphgpu.partition.searching import first_places

_array = partial(launch, "arrays")


def places_in(order: Any, dtype: Any, size: int | None = None, none: Any = None) -> Any:
    """Where each of ``0..size`` stands in ``order``, which has each at most once; default: it is a permutation.

    A number that is not in ``order`` gets ``none``; if that is not given, anything.
    """
    xp, n = module_of(order), len(order) if size is None else size
    places = xp.empty(n, dtype) if none is None else filled(xp, n, none, dtype)
    _array("invert", len(order), column(contiguous(order)), len(order), column(places))
    return places


def gathered(values: Any, index: Any) -> Any:
    """``values[index]``, of values of up to 8 bytes and an index that is not negative."""
    if isinstance(values, np.ndarray):
        # NumPy may crash where memory runs out in `values[index]`.
        return values.take(np.asarray(index).astype(np.intp, copy=False), axis=0)
    if values.ndim > 1:
        return values[index]
    out = module_of(values).empty(len(index), values.dtype)
    columns = [column(contiguous(each)) for each in (values, index)]
    _array("gather", len(index), *columns, len(index), column(out))
    return out


def scattered(values: Any, index: Any, size: int) -> Any:
    """Each value at its place of ``0..size``; of those for one place any, elsewhere any number."""
    out = module_of(values).empty(size, values.dtype)
    if isinstance(values, np.ndarray):
        out[index] = values
        return out
    given = [column(contiguous(each)) for each in (values, index)]
    _array("scatter", len(index), *given, len(index), column(out))
    return out


def converted(values: Any, dtype: Any) -> Any:
    """``values`` in another type; themselves where it is theirs."""
    old, new, n = values.dtype, np.dtype(dtype), values.size
    if old == new:
        return values
    if isinstance(values, np.ndarray):
        return values.astype(new)
    values, out = contiguous(values), module_of(values).empty(values.shape, new)
    if old.kind in "iub" and new.kind in "iu":
        _array("convert_integers", n, column(values), _sign(old), n, column(out))
    elif old.kind in "iub" and new == np.float64:
        _array("integers_to_floats", n, column(values), _sign(old), n, out)
    elif (old, new) == (np.float32, np.float64):
        _array("widen_floats", n, values, n, out)
    elif (old, new) == (np.float64, np.float32):
        _array("narrow_floats", n, values, n, out)
    else:
        return values.astype(new)
    return out


def whole(values: Any, bits: int, dtype: Any) -> Any:
    """Numbers times ``2**bits``, rounded to integers without a sign."""
    out, given = module_of(values).empty(len(values), dtype), converted(values, np.float64)
    _array("whole", len(values), contiguous(given), bits % 2**64, len(values), column(out))
    return out


def not_negative(values: Any) -> Any:
    """Which integers are 0 or more."""
    if isinstance(values, np.ndarray):
        return values >= 0
    out, given = module_of(values).empty(values.shape, bool), contiguous(values)
    _array("not_negative", values.size, column(given), values.size, out)
    return out


def added(a: Any, b: Any) -> Any:
    """The sums of integers of 64 bits; of NumPy arrays by all threads."""
    out = module_of(a).empty(len(a), a.dtype)
    if not isinstance(a, np.ndarray):
        _array("add", len(a), a, b, len(a), out)
        return out

    def add(lo: int, hi: int) -> None:
        np.add(a[lo:hi], b[lo:hi], out=out[lo:hi])

    for_blocks(add, copy_blocks(len(a), out.itemsize))
    return out


def less(values: Any, by: Any) -> Any:
    """The differences of integers without a sign, of the type of the first; of NumPy arrays as well."""
    if isinstance(values, np.ndarray):
        return values - by
    out, n = module_of(values).empty(len(values), values.dtype), len(values)
    _array("subtract", n, *(column(contiguous(each)) for each in (values, by)), n, column(out))
    return out


def turned(values: Any) -> Any:
    """Integers without a sign, none of them 0, as others that are in the order of their falling sizes."""
    out, n = module_of(values).empty(len(values), values.dtype), len(values)
    _array("subtract", n, column(None), column(contiguous(values)), n, column(out))
    return out


def lengths(offsets: Any) -> Any:
    """Of segments, of the type of the offsets, integers."""
    return less(offsets[1:], offsets[:-1])


def offsets_of(lengths: Any, dtype: Any) -> Any:
    """Where segments of such lengths, not negative, begin, and where the last one ends; of NumPy arrays as well."""
    if isinstance(lengths, np.ndarray):
        return np.append(0, np.cumsum(lengths)).astype(dtype)
    xp, n = module_of(lengths), len(lengths)
    num_tiles, offsets = -(-n // TILE), xp.zeros(n + 1, dtype)
    tiles, given = xp.empty(num_tiles + 1, np.uint64), column(contiguous(lengths))
    _array("add_tiles", num_tiles * TILE, given, n, tiles, threads=TILE)
    _array("sum_tiles", 1, tiles, num_tiles, threads=TILE)
    _array("place_lengths", num_tiles * TILE, given, n, tiles, column(offsets), threads=TILE)
    return offsets


def alike(a: Any, b: Any, *, same: bool = True) -> Any:
    """Which integers without a sign are the ``same`` as others, or are not; of NumPy arrays as well."""
    if isinstance(a, np.ndarray):
        return (a == b) == same
    mask, n = module_of(a).empty(len(a), bool), len(a)
    given = [column(contiguous(each)) for each in (a, b)]
    _array("compare", n, *given, int(same), n, mask)
    return mask


def between(values: Any, least: int, most: int | None = None) -> Any:
    """Which integers without a sign are at least so large, and less than ``most``."""
    mask, n = module_of(values).empty(len(values), bool), len(values)
    limit = 2**64 - 1 if most is None else most
    _array("between", n, column(contiguous(values)), least, limit, n, mask)
    return mask


def _sign(dtype: np.dtype[Any]) -> int:
    """The bit that says that an integer is negative; 0 where none is."""
    return 1 << (8 * dtype.itemsize - 1) if dtype.kind == "i" else 0


def counted_up(xp: Any, n: int, dtype: Any) -> Any:
    """``0..n``."""
    if xp is np:
        return np.arange(n, dtype=dtype)
    places = xp.empty(n, dtype)
    _array("count_up", n, n, column(places))
    return places


def find_id(ids: Any, value: int) -> tuple[int, int]:
    """From where to where ascending ids, of whose type it is, have a value."""
    places, item = module_of(ids).empty(2, np.uint64), ids.dtype.itemsize
    given = column(contiguous(ids))
    _array("find_id", 1, given, len(ids), _sign(ids.dtype), value % 2 ** (8 * item), places)
    first, end = places.tolist()
    return first, end


def find_ids(ids: Any, values: Any) -> Any:
    """Where ascending ids, each once, have values of their type, int64; -1 where they do not.

    Of NumPy arrays as well.
    """
    if isinstance(ids, np.ndarray):
        places = first_places(ids, values)
        there = places < len(ids)
        there[there] = ids[places[there]] == values[there]
        return np.where(there, places, -1)
    places = module_of(ids).empty(len(values), np.int64)
    given = column(contiguous(ids)), len(ids), _sign(ids.dtype), column(contiguous(values))
    _array("find_ids", len(values), *given, len(values), places)
    return places


def changes(values: Any) -> Any:
    """Which values differ from the one before; the first does."""
    n, changed = len(values), module_of(values).empty(len(values), bool)
    _array("mark_changes", n, column(contiguous(values)), n, changed)
    return changed


def first_edges(offsets: Any, neighbours: Any) -> Any:
    """Which edges are the first of their row to their neighbour; rows are in order."""
    first, num_rows = changes(neighbours), len(offsets) - 1
    _array("mark_starts", num_rows, column(contiguous(offsets)), num_rows, first)
    return first


def segments(offsets: Any, total: int, dtype: Any) -> Any:
    """As of `arrays.segments`."""
    numbers, size = module_of(offsets).empty(total, dtype), len(offsets) - 1
    _array("segments", total, column(contiguous(offsets)), size, total, column(numbers))
    return numbers


def mark(index: Any, marks: Any) -> None:
    """``marks[index] = 1``, of bytes; of NumPy arrays as well."""
    if isinstance(marks, np.ndarray):
        marks[index] = 1
        return
    fill_some(marks, index, 1)


def filled(xp: Any, n: int, value: Any, dtype: Any) -> Any:
    """``xp.full(n, value, dtype)``."""
    out = xp.empty(n, dtype)
    fill(out, value)
    return out


def copied(values: Any) -> Any:
    """A copy of contiguous values; CuPy's own compiles a kernel for it."""
    return values.copy() if isinstance(values, np.ndarray) else _one_behind_another([values])


def fill(to: Any, value: Any) -> None:
    """``to[:] = value``."""
    _array("fill", to.size, _bits(value, to.dtype), to.size, column(to))


def fill_some(to: Any, index: Any, value: Any) -> None:
    """``to[index] = value``."""
    given = column(contiguous(index)), len(index), column(to)
    _array("fill_some", len(index), _bits(value, to.dtype), *given)


def copy_some(values: Any, index: Any, to: Any) -> None:
    """``to[index] = values[index]``, of one type; of NumPy arrays as well."""
    if isinstance(to, np.ndarray):
        to[index] = values[index]
        return
    given = column(contiguous(values)), column(contiguous(index))
    _array("copy_some", len(index), *given, len(index), column(to))


def mark_others(values: Any, none: Any, marks: Any) -> None:
    """Mark, in bytes, where values are not ``none``."""
    given = column(contiguous(values)), _bits(none, values.dtype)
    _array("mark_others", values.size, *given, values.size, marks)


def kept(values: Any, marks: Any) -> Any:
    """Values where they are marked, 0 elsewhere."""
    out, n = module_of(values).empty(values.shape, values.dtype), values.size
    _array("keep_marked", n, column(contiguous(values)), contiguous(marks), n, column(out))
    return out


def _bits(value: Any, dtype: Any) -> int:
    """Those of a value of a type."""
    given = np.array(value, dtype)
    return int(given.view(f"u{given.dtype.itemsize}"))


def sum_tiles(tiles: Any) -> int:
    """Replace counts of tiles by how many are in those before, the last element by how many there are in all."""
    _array("sum_tiles", 1, tiles, len(tiles) - 1, threads=TILE)
    return int(tiles[-1])


def joined(parts: Sequence[Any], dtype: Any) -> Any:
    """Arrays of integers, one behind another, in another type."""
    out, place = module_of(parts[0]).empty(sum(map(len, parts)), dtype), 0
    for part in parts:
        n, to = len(part), out[place : place + len(part)]
        given = column(contiguous(part)), _sign(part.dtype), n
        _array("convert_integers", n, *given, column(to))
        place += n
    return out


def concatenated(parts: Sequence[Any]) -> Any:
    """Arrays of one type, one behind another; the array itself where there is one."""
    return parts[0] if len(parts) == 1 else _one_behind_another(parts)


def _one_behind_another(parts: Sequence[Any]) -> Any:
    bits = np.dtype(f"u{parts[0].dtype.itemsize}")
    return joined([part.view(bits) for part in parts], bits).view(parts[0].dtype)


def lengths_between(offsets: Any, least: int, most: int | None) -> Any:
    """Which segments have so many elements, fewer than ``most``."""
    n = len(offsets) - 1
    mask = module_of(offsets).empty(n, bool)
    limit = 2**64 - 1 if most is None else most
    _array("lengths_between", n, column(contiguous(offsets)), least, limit, n, mask)
    return mask


def places_of(mask: Any, *, behind: bool = False) -> Any:
    """Where a mask is true, in order, and ``behind`` that how long it is; of NumPy arrays as well."""
    if isinstance(mask, np.ndarray):
        found = np.flatnonzero(mask)
        return np.append(found, len(mask)) if behind else found
    xp, n, mask = module_of(mask), len(mask), contiguous(mask)
    num_tiles = -(-n // TILE)
    tiles = xp.empty(num_tiles + 1, np.uint64)
    _array("count_marks", num_tiles * TILE, mask, n, tiles, threads=TILE)
    places = xp.zeros(sum_tiles(tiles) + 1, np.int64)
    _array("list_marks", num_tiles * TILE, mask, n, tiles, places, threads=TILE)
    return places if behind else places[:-1]


def first_not_below(ascending: Any, values: Any, dtype: Any) -> Any:
    """First place of integers that is not below each value, neither negative; of NumPy arrays as well."""
    if isinstance(values, np.ndarray):
        return np.searchsorted(ascending, values.astype(ascending.dtype)).astype(dtype)
    out, n = module_of(values).empty(len(values), dtype), len(values)
    given = column(contiguous(ascending)), len(ascending), column(contiguous(values)), n
    _array("first_not_below", n, *given, column(out))
    return out


def extremes(values: Any, ends: Any, *, most: bool) -> Any:
    """The least or the largest number between each of ``ends``, int64, and the next; of 64 bits or less."""
    out, n = module_of(values).empty(len(ends) - 1, values.dtype), len(ends) - 1
    real = values.dtype.kind == "f"
    sign = 1 << (8 * values.dtype.itemsize - 1) if real else _sign(values.dtype)
    ordered = Struct((sign, real))
    _array("extremes", n * 32, column(contiguous(values)), ends, n, int(most), ordered, column(out))
    return out


def sums(values: Any, ends: Any) -> Any:
    """The sum between each of ``ends`` and the next, int64 or float64, always in the same order."""
    real, n = values.dtype.kind == "f", len(ends) - 1
    if real and values.dtype.itemsize < 4:
        values = values.astype(np.float32)
    out = module_of(values).empty(n, np.float64 if real else np.int64)
    given, cuts = column(contiguous(values)), column(contiguous(ends))
    if real:
        _array("sum_floats", n * 32, given, cuts, n, out)
    else:
        _array("sum_integers", n * 32, given, _sign(values.dtype), cuts, n, out)
    return out


def row_sums(values: Any) -> Any:
    """The sum of each row of a matrix, int64 or float64; of NumPy arrays as well."""
    real = values.dtype.kind == "f"
    if isinstance(values, np.ndarray):
        return values.sum(axis=1, dtype=np.float64 if real else np.int64)
    rows, columns = values.shape
    ends = module_of(values).asarray(np.arange(rows + 1) * columns)
    return sums(values.reshape(-1), ends)
