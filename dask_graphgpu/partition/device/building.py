"""The passes of a build on the GPU, by kernels of its own: ``kernels/cuda/building.cu``.

What `numbering`, `build` and `csr` do of NumPy arrays by array operations, CuPy would compile one by one at a first
call, and go through memory in each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from dask_graphgpu.partition.device.elements import mark, sum_tiles
from dask_graphgpu.partition.device.launching import TILE, Struct, column, contiguous, launch
from dask_graphgpu.partition.device.module import module_of

_build = partial(launch, "building")


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
    xp, codes = module_of(codes[0]), [contiguous(code) for code in codes]
    counts = xp.zeros((2, size), np.uint64)
    for i, code in enumerate(codes[:num_ends]):
        _build("count_codes", len(code), column(code), len(code), counts[i % 2])
    marks = xp.zeros(size, np.uint8) if len(codes) > num_ends else None
    for code in codes[num_ends:]:
        mark(code, marks)
    occur = Struct((counts[0], counts[1], marks, size))
    num_tiles = -(-size // TILE)
    tiles = xp.empty(num_tiles + 1, np.uint64)
    _build("count_tiles", num_tiles * TILE, occur, tiles, threads=TILE)
    n = sum_tiles(tiles)
    table, ids = xp.zeros(size, dtype_of(n)), xp.empty(n, kind)
    ends = xp.empty((2, n), np.int64)
    made = Struct((*column(table), *column(ids), ends[0], ends[1], first % 2**64))
    _build("number_tiles", num_tiles * TILE, occur, tiles, made, threads=TILE)
    return ids, table, ends


def counted(values: Any, size: int) -> Any:
    """How often each of ``0..size`` occurs, int64."""
    xp = module_of(values)
    counts = xp.zeros(size, np.int64)
    _build("count_codes", len(values), column(contiguous(values)), len(values), counts)
    return counts


def order_of_degrees(ends: Any) -> tuple[Any, float]:
    """Degrees of vertices with their sign turned, and the sum of their squares."""
    xp, n = module_of(ends), ends.shape[1]
    falling, squares = xp.empty(n, np.int64), xp.empty(n, np.float64)
    _build("square_degrees", n, ends[0], ends[1], n, falling, squares)
    return falling, float(squares.sum())


def _edges(rows: Any, neighbours: Any, table: Any) -> Any:
    given = (each if each is None else contiguous(each) for each in (rows, neighbours, table))
    return Struct(word for each in given for word in column(each))


def count_near(rows: Any, neighbours: Any, table: Any, step: int, window: int) -> int:
    """How many of every ``step``-th edge join vertices whose numbers are at most ``window`` apart."""
    near, n = module_of(rows).zeros(1, np.uint64), len(rows)
    edges = _edges(rows, neighbours, table)
    _build("count_near", -(-n // step), edges, n, step, window, near)
    return int(near[0])


def edge_keys(
    runs: Sequence[Any], bits: int, below: int, *, marked: bool, both: bool
) -> tuple[Any, int]:
    """Keys of `csr.Pairs`: row, neighbour, and what is packed below them; of ``both`` directions or of one.

    Beside them the number of loops, which count once: the keys of their other direction are the largest possible, so
    that they can be cut off when keys are sorted.
    """
    xp, total = module_of(runs[0].rows), sum(map(len, runs))
    keys, loops = xp.empty(total * (1 + both), np.uint64), xp.zeros(1, np.uint64)
    place = 0
    for mirror in (False, True) if both else (False,):
        for run in runs:
            ends = (run.neighbours, run.rows) if mirror else (run.rows, run.neighbours)
            carried = column(next(iter(run.columns.values())) if below else None)
            layout = Struct((bits, below, marked, mirror ^ run.back))
            part = keys[place : place + len(run)]
            _build(
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
    _build(
        "key_offsets", num_vertices + 1, keys, n, bits + below, num_vertices,
        column(offsets),
    )  # fmt: skip
    neighbours_of_keys(keys, bits, neighbours, below, carried)
    return offsets, neighbours, carried


def neighbours_of_keys(
    keys: Any, bits: int, neighbours: Any, below: int = 0, carried: Any = None
) -> None:
    """Put the neighbours of keys, and what was packed below them, into arrays."""
    outputs = [column(each) for each in (neighbours, carried)]
    _build("unpack_keys", len(keys), keys, Struct((bits, below, 0, 0)), len(keys), *outputs)
