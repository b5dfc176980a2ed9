"""The passes of a build on the GPU, by kernels of its own: ``kernels/cuda/building.cu``.

What `numbering`, `build` and `csr` do of NumPy arrays by array operations, CuPy would compile one by one at a first
call, and go through memory in each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dask_graphgpu.partition.device.module import module_of

_TILE = 1024  # as in the source


class Struct(tuple[Any, ...]):
    """Words of a struct: integers, and arrays for pointers; None is the null pointer."""


def _launch(name: str, n: int, *arguments: Any, threads: int = 256) -> None:
    """Launch a thread for each of ``n`` items; Python's integers are of 64 bits."""
    from dask_graphgpu.kernels import compile as compilers
    from dask_graphgpu.kernels import device_launch

    words = [
        device_launch.struct(each)
        if isinstance(each, Struct)
        else np.uint64(each)
        if isinstance(each, int)
        else each
        for each in arguments
    ]
    device_launch.flat(compilers.cuda("building").kernel(name), n, words, threads=threads)


def _column(array: Any) -> Struct:
    """Struct Column or Output; None: an empty one."""
    return Struct((None, 0) if array is None else (array, array.dtype.itemsize))


def _contiguous(array: Any) -> Any:
    return array if array.flags.c_contiguous else array.copy()


def number(
    codes: Sequence[Any],
    num_ends: int,
    size: int,
    first: int,
    kind: Any,
    dtype_of: Callable[[int], type],
) -> tuple[Any, Any, Any]:
    """The vertices behind codes below ``size``, as of `numbering.number`.

    Parameters
    ----------
    codes : sequence of arrays of integers
        The first ``num_ends`` are in turn sources and destinations.
    first : int
        The id of code 0; ids are of dtype ``kind``.

    Returns
    -------
    tuple
        Ids, the table and ``ends``.
    """
    xp, codes = module_of(codes[0]), [_contiguous(code) for code in codes]
    counts = xp.zeros((2, size), np.uint64)
    for i, code in enumerate(codes[:num_ends]):
        _launch("count_codes", len(code), _column(code), len(code), counts[i % 2])
    marks = xp.zeros(size, np.uint8) if len(codes) > num_ends else None
    for code in codes[num_ends:]:
        _launch("mark_codes", len(code), _column(code), len(code), marks)
    occur = Struct((counts[0], counts[1], marks, size))
    num_tiles = -(-size // _TILE)
    tiles = xp.empty(num_tiles + 1, np.uint64)
    _launch("count_tiles", num_tiles * _TILE, occur, tiles, threads=_TILE)
    _launch("sum_tiles", 1, tiles, num_tiles, threads=_TILE)
    n = int(tiles[-1])
    table, ids = xp.zeros(size, dtype_of(n)), xp.empty(n, kind)
    ends = xp.empty((2, n), np.int64)
    made = Struct((*_column(table), *_column(ids), ends[0], ends[1], first % 2**64))
    _launch("number_tiles", num_tiles * _TILE, occur, tiles, made, threads=_TILE)
    return ids, table, ends


def counted(values: Any, size: int) -> Any:
    """How often each of ``0..size`` occurs, int64."""
    xp = module_of(values)
    counts = xp.zeros(size, np.int64)
    _launch("count_codes", len(values), _column(_contiguous(values)), len(values), counts)
    return counts


def order_of_degrees(ends: Any) -> tuple[Any, float]:
    """Degrees of vertices with their sign turned, and the sum of their squares."""
    xp, n = module_of(ends), ends.shape[1]
    falling, squares = xp.empty(n, np.int64), xp.empty(n, np.float64)
    _launch("square_degrees", n, ends[0], ends[1], n, falling, squares)
    return falling, float(squares.sum())


def places_in(order: Any, dtype: Any) -> Any:
    """Where each element stands in a permutation."""
    places = module_of(order).empty(len(order), dtype)
    _launch("invert", len(order), order, len(order), _column(places))
    return places


def gathered(values: Any, index: Any) -> Any:
    """``values[index]``, of values of up to 8 bytes and an index that is not negative."""
    if isinstance(values, np.ndarray) or values.ndim > 1:
        return values[index]
    out = module_of(values).empty(len(index), values.dtype)
    columns = [_column(_contiguous(each)) for each in (values, index)]
    _launch("gather", len(index), *columns, len(index), _column(out))
    return out


def converted(values: Any, dtype: Any) -> Any:
    """``values`` in another type; themselves where it is theirs."""
    old, new, n = values.dtype, np.dtype(dtype), len(values)
    if old == new:
        return values
    if isinstance(values, np.ndarray):
        return values.astype(new)
    values, out = _contiguous(values), module_of(values).empty(n, new)
    if old.kind in "iub" and new.kind in "iu":
        _launch("convert_integers", n, _column(values), _sign(old), n, _column(out))
    elif old.kind in "iub" and new == np.float64:
        _launch("integers_to_floats", n, _column(values), _sign(old), n, out)
    elif (old, new) == (np.float32, np.float64):
        _launch("widen_floats", n, values, n, out)
    elif (old, new) == (np.float64, np.float32):
        _launch("narrow_floats", n, values, n, out)
    else:
        return values.astype(new)
    return out


def not_negative(values: Any) -> Any:
    """Which integers are 0 or more."""
    if isinstance(values, np.ndarray):
        return values >= 0
    out, given = module_of(values).empty(values.shape, bool), _contiguous(values)
    _launch("not_negative", values.size, _column(given), values.size, out)
    return out


def _sign(dtype: np.dtype[Any]) -> int:
    """The bit that says that an integer is negative; 0 where none is."""
    return 1 << (8 * dtype.itemsize - 1) if dtype.kind == "i" else 0


def counted_up(xp: Any, n: int, dtype: Any) -> Any:
    """``0..n``."""
    if xp is np:
        return np.arange(n, dtype=dtype)
    places = xp.empty(n, dtype)
    _launch("count_up", n, n, _column(places))
    return places


def find_id(ids: Any, value: int) -> tuple[int, int]:
    """From where to where ascending ids, of whose type it is, have a value."""
    places, item = module_of(ids).empty(2, np.uint64), ids.dtype.itemsize
    given = _column(_contiguous(ids))
    _launch("find_id", 1, given, len(ids), _sign(ids.dtype), value % 2 ** (8 * item), places)
    first, end = places.tolist()
    return first, end


def first_edges(offsets: Any, neighbours: Any) -> Any:
    """Which edges are the first of their row to their neighbour; rows are in order."""
    n, num_rows = len(neighbours), len(offsets) - 1
    first = module_of(neighbours).empty(n, bool)
    _launch("mark_changes", n, _column(_contiguous(neighbours)), n, first)
    _launch("mark_starts", num_rows, _column(_contiguous(offsets)), num_rows, first)
    return first


def segments(offsets: Any, total: int, dtype: Any) -> Any:
    """As of `arrays.segments`."""
    numbers, size = module_of(offsets).empty(total, dtype), len(offsets) - 1
    _launch("segments", total, _column(_contiguous(offsets)), size, total, _column(numbers))
    return numbers


def _edges(rows: Any, neighbours: Any, table: Any) -> Any:
    given = (each if each is None else _contiguous(each) for each in (rows, neighbours, table))
    return Struct(word for each in given for word in _column(each))


def count_near(rows: Any, neighbours: Any, table: Any, step: int, window: int) -> int:
    """How many of every ``step``-th edge join vertices whose numbers are at most ``window`` apart."""
    near, n = module_of(rows).zeros(1, np.uint64), len(rows)
    edges = _edges(rows, neighbours, table)
    _launch("count_near", -(-n // step), edges, n, step, window, near)
    return int(near[0])


def edge_keys(
    runs: Sequence[Any], bits: int, below: int, *, marked: bool, both: bool
) -> tuple[Any, int]:
    """Keys of `csr.Pairs`: row, neighbour, and what is packed below them; of ``both`` directions or of one.

    Loops count once: of their other direction, of which there are so many, keys are the largest that there are.
    """
    xp, total = module_of(runs[0].rows), sum(map(len, runs))
    keys, loops = xp.empty(total * (1 + both), np.uint64), xp.zeros(1, np.uint64)
    place = 0
    for mirror in (False, True) if both else (False,):
        for run in runs:
            ends = (run.neighbours, run.rows) if mirror else (run.rows, run.neighbours)
            carried = _column(next(iter(run.columns.values())) if below else None)
            layout = Struct((bits, below, marked, mirror ^ run.back))
            part = keys[place : place + len(run)]
            _launch(
                "edge_keys", len(run), _edges(*ends, run.table), carried, layout,
                len(run), part, loops if mirror else 0,
            )  # fmt: skip
            place += len(run)
    return keys, int(loops[0]) if both else 0


def rows_of_keys(
    keys: Any, num_vertices: int, bits: int, below: int, offset: Any, dtype: Any, kind: Any
) -> tuple[Any, Any, Any]:
    """Offsets, neighbours and, of dtype ``kind``, what was packed below them, of sorted keys."""
    xp, n = module_of(keys), len(keys)
    offsets, neighbours = xp.empty(num_vertices + 1, offset), xp.empty(n, dtype)
    carried = xp.empty(n, kind) if below else None
    _launch(
        "key_offsets", num_vertices + 1, keys, n, bits + below, num_vertices,
        _column(offsets),
    )  # fmt: skip
    layout = Struct((bits, below, 0, 0))
    outputs = [_column(each) for each in (neighbours, carried)]
    _launch("unpack_keys", n, keys, layout, n, *outputs)
    return offsets, neighbours, carried
