"""What a run takes of the device's memory where its edges need not be there."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.engine.cuda.lower import CHUNK
from dask_graphgpu.engine.cuda.outline import columns
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.worklists import SEPARATORS
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.partition.csr import Adjacency

# Of program.cuh: partial aggregates; the log, its counters, and what allocations are rounded up by.
_PARTIALS, _FIXED = 2048 * 32, 128 << 10


def sending(binding: Binding) -> DeviceView:
    """The view whose rows messages go along."""
    return DeviceView.of(binding.mirror if binding.mirrored else binding.view)


def bytes_apart(binding: Binding) -> int:
    """Bytes of an edge that is not packed, with the columns that are read."""
    read = sum(dtype.itemsize for dtype in columns(binding).values())
    return int(binding.send.neighbours.itemsize) + read


def wide_or_not(largest: int) -> Any:
    """The type of numbers up to ``largest``."""
    return np.uint32 if largest < 2**32 else np.uint64


def num_chunks(view: DeviceView, rows: Adjacency) -> int:
    """Chunks of all rows that are cut into some, wherever in a line of the link they begin.

    Counted once for the rows of the view.
    """

    def counted() -> int:
        lengths = np.diff(rows.offsets)
        long = lengths[lengths >= SEPARATORS[1]]
        return int(((long + (CHUNK - 1)) // CHUNK + 1).astype(np.int64, copy=False).sum())

    return view.made(("chunks of parts", id(rows.offsets)), counted)


def bytes_of_vertices(binding: Binding) -> int:
    """Device memory of a run beside its edges: what is a number a vertex, and what has a fixed size."""
    program, view = binding.program, binding.view
    offset = np.dtype(wide_or_not(binding.send.num_edges)).itemsize
    degree = np.dtype(wide_or_not(2 * view.num_edges)).itemsize
    ids, message = binding.send.neighbours.itemsize, binding.message.itemsize
    fields = sum(dtype.itemsize for dtype in binding.dtypes.values())
    changing = sum(binding.dtypes[name].itemsize for name in program.changing)
    vertex = 3 * offset + degree + 3 * ids  # three times rows, and three lists
    vertex += fields + changing + 2 * message + 3  # with flags
    vertex += 0 if view.numbers is None else view.numbers.itemsize
    vertex += 8  # weighted degrees; while fields are made, one in its own type
    chunks = num_chunks(sending(binding), binding.send) * (ids + 4)
    aggregates = max(1, len(program.aggregates)) * _PARTIALS
    return int((view.num_vertices + 1) * vertex + chunks + aggregates + _FIXED)
