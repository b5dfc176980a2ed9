"""Ascending ids of several ranks become one ascending list: they are merged, and neither hashed nor sorted again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.ids import bisect
from dask_graphgpu.partition.row_sort import read_only
from dask_graphgpu.partition.string_entries import buffers

_STEPS = 16  # simple ones that an id takes


def merged(parts: Sequence[pa.Array]) -> tuple[pa.Array, list[np.ndarray]]:
    """The distinct ids of some arrays, ascending, and the place of each id of each array among them.

    ``parts`` are of one type, integers or large strings, without nulls; each has distinct ids in ascending order.
    Cost: a pass over all ids, and one over their places, for each time that the number of parts is halved.
    """
    left = [_Merged(part, [None]) for part in parts]
    while len(left) > 1:
        odd = left[len(left) // 2 * 2 :]
        left = [_merge(a, b) for a, b in zip(left[::2], left[1::2], strict=False)] + odd
    ids = left[0].ids
    return ids, [np.arange(len(ids)) if place is None else place for place in left[0].places]


@dataclass(frozen=True, eq=False)
class _Merged:
    ids: pa.Array
    places: list[np.ndarray | None]  # of the ids of each part; None: they are all of the ids


def _merge(a: _Merged, b: _Merged) -> _Merged:
    ids, of_a, of_b = _merge_two(a.ids, b.ids)
    both = ((of_a, a.places), (of_b, b.places))
    return _Merged(ids, [of if p is None else of.take(p) for of, places in both for p in places])


def _merge_two(a: pa.Array, b: pa.Array) -> tuple[pa.Array, np.ndarray, np.ndarray]:
    """The ids of two arrays, and the places of those of each."""
    if not (len(a) and len(b)):  # Arrow leaves out what arrays of no length would have
        return (a if len(a) else b), np.arange(len(a)), np.arange(len(b))
    cuts = even_blocks(len(a), work=_STEPS)
    inner = (bisect(b, a[cut].as_py(), 0, len(b), False) for cut in cuts[1:-1].tolist())
    ends = [0, *inner, len(b)]
    number = {lo: i for i, lo in enumerate(cuts[:-1].tolist())}
    kind: Any = np.uint32 if len(a) + len(b) < 1 << 32 else np.uint64
    of_a, of_b, source = (np.empty(size, kind) for size in (len(a), len(b), len(a) + len(b)))
    text = not pa.types.is_integer(a.type)
    given: list[Any] = [
        part for array in (a, b) for part in (buffers(array) if text else [_wide(array)])
    ]
    kernel = kernels.merging.merge_strings if text else kernels.merging.merge_integers

    def merge(lo: int, hi: int) -> tuple[int, int]:
        start, stop = ends[number[lo] : number[lo] + 2]
        made: tuple[int, int] = kernel(lo, hi, *given, start, stop, of_a, of_b, source)
        return made

    made = np.array(for_blocks(merge, cuts), np.int64)
    first = np.concatenate([[[0, 0]], np.cumsum(made, axis=0)])

    def place(lo: int, hi: int) -> np.ndarray:
        i = number[lo]
        start, stop = ends[i : i + 2]
        for places in (of_a[lo:hi], of_b[start:stop]):
            np.add(places, kind(first[i, 0]), out=places)
        return source[lo + start :][: made[i, 0]]

    chosen = for_blocks(place, cuts)
    ids = _strings(chosen, first, given) if text else _integers(chosen, given).cast(a.type)
    return ids, of_a, of_b


def _integers(chosen: Sequence[np.ndarray], given: Sequence[np.ndarray]) -> pa.Array:
    return pa.array(np.concatenate(given).take(np.concatenate(chosen)))


def _strings(chosen: Sequence[np.ndarray], first: np.ndarray, given: Sequence[Any]) -> pa.Array:
    """Large strings that are chosen in blocks; ``first`` : the number of the first of each, and where it begins."""
    total, size = first[-1].tolist()
    offsets, data = np.empty(total + 1, np.int64), np.empty(size, np.uint8)
    offsets[-1] = size

    def write(lo: int, hi: int) -> None:
        for i in range(lo, hi):
            begin, at = first[i].tolist()
            kernels.merging.write_strings(chosen[i], *given, at, offsets[begin:], data)

    for_blocks(write, np.arange(len(chosen) + 1))
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), total, buffers)


def _wide(integers: pa.Array) -> np.ndarray:
    unsigned = pa.types.is_unsigned_integer(integers.type)
    return read_only(np.asarray(integers).astype(np.uint64 if unsigned else np.int64, copy=False))
