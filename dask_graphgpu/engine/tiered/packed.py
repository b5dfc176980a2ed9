"""How edges lie on a tier: each a word with what it carries, or in an array for each column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from dask_graphgpu.engine.cuda.outline import columns
from dask_graphgpu.engine.cuda.packing import Packing, whole_range
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.sizes import bytes_apart, sending
from dask_graphgpu.engine.limits import BLOCK
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.kernels.cpu.packing import put_bits
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.paged.sort import PagedAdjacency

# Edges that are words on their way to fewer bits, and how many fewer make it worth a second copy of the edges.
_AT_ONCE, _FEWER = 1 << 22, 7 / 8

_packings: WeakKeyDictionary[Binding, Packing | None] = WeakKeyDictionary()


def packing_of(binding: Binding) -> Packing | None:
    """How a program's edges are words; None where they are not.

    Worked out once for a binding; what columns hold is looked at once for the rows.
    """
    if binding not in _packings:
        read = columns(binding)
        _packings[binding] = packing_of_rows(sending(binding), binding.send, read)
    return _packings[binding]


def packing_of_rows(
    view: DeviceView, rows: Adjacency, read: Mapping[str, np.dtype[Any]]
) -> Packing | None:
    """How edges are words with the columns that are read, of these types; None where they are not."""
    if isinstance(rows, PagedAdjacency):  # they stay as they are on disk
        return None
    ranges = {name: _range_of(view, rows.columns[name]) for name in read}
    whole = {name: found for name, found in ranges.items() if found is not None}
    return Packing.of(view.n, rows.neighbours.dtype, read, whole)


def bytes_of_edge(binding: Binding) -> int:
    """What an edge takes on a tier, with what is read of it."""
    packing = packing_of(binding)
    return bytes_apart(binding) if packing is None else packing.word.itemsize


def bits_in_order(binding: Binding) -> int | None:
    """What an edge takes where bits stand one after the other, with no more than are used.

    That is for kernels that go along all edges as they lie. None: it is hardly less, or edges are not words.
    """
    if isinstance(binding.send, PagedAdjacency):
        return None
    packing = packing_of(binding)
    if packing is not None:
        bits, word = packing.bits, packing.word
    elif not columns(binding):
        bits = max(1, (binding.send.num_vertices - 1).bit_length())
        word = binding.send.neighbours.dtype
    else:
        return None
    return bits if bits <= _FEWER * 8 * word.itemsize else None


def num_arrays(binding: Binding) -> int:
    """Over how many arrays an edge is spread on a tier."""
    return 1 if packing_of(binding) is not None else 1 + len(columns(binding))


def packed(
    packing: Packing, rows: Adjacency, empty: Callable[[int, Any], np.ndarray]
) -> np.ndarray:
    """The words of all edges, made by all threads in an array that ``empty`` gives."""
    made = empty(rows.num_edges, packing.word)
    packing.put(made, rows.neighbours, rows.columns)
    return made


def in_order(
    packing: Packing | None, bits: int, rows: Adjacency, empty: Callable[[int, Any], np.ndarray]
) -> np.ndarray:
    """The words of all edges, or their other ends, in so many bits each: an item for `limits.BLOCK` edges.

    Otherwise as `packed`.
    """
    number = rows.num_edges
    made = empty(-(-number // BLOCK), np.dtype(f"V{BLOCK // 8 * bits}"))
    out = made.view(np.uint32)
    for lo in range(0, number, _AT_ONCE):
        part = slice(lo, min(lo + _AT_ONCE, number))
        words = ends = rows.neighbours[part]
        if packing is not None:
            words = np.empty(len(ends), packing.word)
            packing.put(words, ends, {name: each[part] for name, each in rows.columns.items()})
        groups = -(-len(words) // BLOCK) * (BLOCK // 32)
        into = out[lo // 32 * bits : (lo // 32 + groups) * bits]
        for_blocks(put_bits, even_blocks(groups), words, bits, into)
    return made


def _range_of(view: DeviceView, column: np.ndarray) -> tuple[int, int] | None:
    """As of `whole_range`, once for the rows."""

    def found() -> tuple[np.ndarray, tuple[int, int] | None]:
        return column, whole_range(column)

    # The column is held, so that no other gets its id.
    return view.made(("range of a column", id(column)), found)[1]
