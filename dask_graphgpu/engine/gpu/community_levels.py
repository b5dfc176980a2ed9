"""Levels of Louvain and Leiden in the memory of a GPU: graphs whose vertices are communities of the one before."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.cuda.wrappers import c_type
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.device import DeviceView, integer_types
from dask_graphgpu.engine.gpu.row_sums import sums_before
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.kernels.sizes import SIZES
from dask_graphgpu.partition.device import building, elements
from dask_graphgpu.partition.device.arrays import offset_type, segments
from dask_graphgpu.partition.device.csr import Pairs, from_pairs, row_ids
from dask_graphgpu.partition.device.memory import require

# Bits of the sum of all degrees, in units of which weights that are not whole numbers are counted.
TOTAL_BITS = 61

# Of a block's table in shared memory, at least: SLOTS of the kernels. And of one in global memory.
SHARED_SLOTS, LEAST_SLOTS = 2048, 256

# Neighbours in succession that a thread takes of all edges.
CHUNK = SIZES["communities.cuh"]["CHUNK"]

_ROUND = np.dtype([(name, np.uint64) for name in ("moved", "within", "squares")])


@dataclass(frozen=True, eq=False)
class Level:
    """A graph whose vertices are communities of the one before, as kernels/cuda/communities.cuh has it."""

    offsets: Any
    neighbours: Any
    weight: Any | None  # None: 1 each
    loops: Any
    degree: Any
    rank: Any | None  # own label of each vertex; None: the vertex itself

    def __len__(self) -> int:
        return len(self.loops)

    def kernel(self, name: str, source: str = "louvain") -> Any:
        """For the types of this level."""
        types = integer_types(self.neighbours.dtype, self.offsets.dtype)
        return cuda(source, defines={**types, "SUM": c_type(self.loops.dtype)}).kernel(name)

    @cached_property
    def longest(self) -> int:
        """Edges of the longest row."""
        return int(elements.lengths(self.offsets).max())

    @property
    def edges(self) -> tuple[Any, Any, Any]:
        """As kernels take them."""
        return self.offsets, self.neighbours, launch.or_null(self.weight)


def within(
    level: Level,
    labels: Any,
    chosen: Any,
    elsewhere: Callable[[list[np.ndarray], Any], Any] | None = None,
) -> Level:
    """The edges within communities whose label is among the ``chosen``; loops and degrees stay.

    ``elsewhere`` : makes an array off the device of parts in host memory, and their type, for edges that do not fit it.
    """
    names = ("neighbours",) if level.weight is None else ("neighbours", "weight")
    parts: dict[str, list[Any]] = {name: [] for name in names}
    offsets = level.offsets.astype(np.int64)

    def kept(low: int, high: int) -> Any:
        starts = cupy.clip(offsets, low, high) - low
        source = labels[segments(starts, high - low, np.int64)]
        found = chosen[source] & (source == labels[level.neighbours[low:high]])
        for name in names:
            part = getattr(level, name)[low:high][found]
            parts[name].append(part if elsewhere is None else cupy.asnumpy(part))
        return found

    if elsewhere is None:
        require(
            len(level.neighbours) * (2 * level.neighbours.itemsize + 10), "edges within communities"
        )
    before = sums_before(level.offsets, len(level.neighbours), kept)
    made = {
        name: cupy.concatenate(part)
        if elsewhere is None
        else elsewhere(part, getattr(level, name).dtype)
        for name, part in parts.items()
    }
    return replace(level, offsets=before.astype(level.offsets.dtype), **made)


def first_level(here: DeviceView) -> Level:
    """The graph itself."""
    rows = here.out
    weight = None
    if rows.weight is not None:
        scale = Scale.of(rows.weight.max().item() if len(rows.weight) else 0, len(rows.weight))
        weight = scale.whole(rows.weight)
    offsets, neighbours = rows.offsets, rows.neighbours
    if here.directed:
        columns = {} if weight is None else {"weight": weight}
        sources = row_ids(rows)
        both = [
            Pairs(sources, neighbours, None, columns),
            Pairs(neighbours, sources, None, columns),
        ]
        rows = from_pairs(here.n, both, here.id_dtype)
        offsets, neighbours, weight = rows.offsets, rows.neighbours, rows.weight
    return level_of(here, (offsets, neighbours, weight), 1 if here.directed else 2)


def level_of(here: DeviceView, edges: tuple[Any, Any, Any | None], loop: int) -> Level:
    """A graph of offsets, neighbours and whole weights, in whose rows a loop counts so many times."""
    offsets, neighbours, weight = edges
    kind = _sum_type(2 * here.num_edges) if weight is None else weight.dtype
    loops, degree = cupy.zeros(here.n, kind), cupy.zeros(here.n, kind)
    rank = None if here.user_rank is None else elements.converted(here.user_rank, here.id_dtype)
    level = Level(offsets, neighbours, weight, loops, degree, rank)
    over_edges(level, "weigh", np.uint64(here.n), np.array(loop, kind)[()], loops, degree)
    return level


def _sum_type(most: int) -> np.dtype[Any]:
    """Of sums that are not larger."""
    return np.dtype(np.uint32 if most < 2**32 else np.uint64)


@dataclass(frozen=True)
class Scale:
    """How weights become whole numbers of a type, the sum of all degrees below 2**62.

    Attributes
    ----------
    kind : dtype
    bits : int, optional
        Of which power of two weights are taken times; None: they are whole numbers.
    """

    kind: np.dtype[Any]
    bits: int | None

    @classmethod
    def of(cls, most: int | float, number: int) -> Scale:
        """Of so many edges, the largest weight ``most``."""
        entries = 2 * number
        if isinstance(most, int) and most * entries < 2 ** (TOTAL_BITS + 1):
            return cls(_sum_type(most * entries), None)
        return cls(np.dtype(np.uint64), TOTAL_BITS - math.frexp(most)[1] - entries.bit_length())

    def whole(self, weight: Any) -> Any:
        """Some weights."""
        if self.bits is None:
            return elements.converted(weight, self.kind)
        return elements.whole(weight, self.bits, self.kind)


def over_edges(level: Level, name: str, *args: Any, source: str = "louvain") -> None:
    """Launch a kernel over all edges."""
    chunks = -(-len(level.neighbours) // CHUNK)
    launch.flat(level.kernel(name, source), chunks, (*level.edges, *args), threads=launch.THREADS)


def totals(level: Level, labels: Any, count: int) -> Any:
    """The degree of each of ``count`` labels."""
    totals = cupy.zeros(count, level.degree.dtype)
    launch.flat(
        level.kernel("total"), len(level), (labels, level.degree, np.uint64(len(level)), totals)
    )
    return totals


def modularity_of(level: Level, labels: Any, total: int, resolution: float) -> float:
    """Of some labels below the number of vertices, as the kernels have it."""
    found = cupy.zeros(_ROUND.itemsize, np.uint8)
    threads = max(len(level), -(-len(level.neighbours) // CHUNK))
    launch.flat(
        level.kernel("measure"), threads,
        (
            *level.edges, level.loops, np.uint64(len(level)), np.float64(total), labels,
            totals(level, labels, len(level)), found,
        ),
        threads=launch.THREADS,
    )  # fmt: skip
    read = cupy.asnumpy(found).view(_ROUND)[0]
    return float(read["within"]) / total - resolution * (float(read["squares"]) * 2.0**-62)


def far_slots(level: Level, blocks: int, far_bytes: int) -> int:
    """Slots of a block's table in global memory; 0 when shared memory takes all rows."""
    longest = level.longest
    if 2 * longest <= SHARED_SLOTS:
        return 0
    room = far_bytes // (blocks * (level.neighbours.itemsize + level.degree.itemsize))
    slots: int = 1 << min((2 * longest - 1).bit_length(), max(room.bit_length() - 1, 0))
    return max(slots, LEAST_SLOTS)


def renumbered(labels: Any) -> tuple[Any, int]:
    """The same labels as 0, 1, 2 ... in their order, and how many there are."""
    there = cupy.zeros(len(labels), np.uint8)
    elements.mark(labels, there)
    found = elements.places_of(there)
    numbers = elements.places_in(found, labels.dtype, len(labels))
    return elements.gathered(numbers, labels), len(found)


def aggregated(level: Level, labels: Any, count: int) -> Level:
    """A vertex for each of ``count`` labels."""
    edges, kind, weighted = len(level.neighbours), level.degree.dtype, level.weight is not None
    require(edges * (24 + 2 * kind.itemsize * weighted), "joining vertices to communities")
    bits = max((count - 1).bit_length(), 1)
    keys, size = cupy.empty(edges, np.uint64), cupy.zeros(1, np.uint64)
    weights = cupy.empty(edges * weighted, kind)
    over_edges(
        level, "crossing", np.uint64(len(level)), labels, np.uint32(bits), keys, weights, size
    )
    kept = int(size[0])
    keys = keys[:kept]
    keys, joined = joined_keys(keys, weights if weighted else None)
    offset = offset_type(len(keys))
    starts, neighbours, _ = building.rows_of_keys(keys, count, bits, 0, offset, np.uint32, None)
    degree = totals(level, labels, count)
    loops = elements.less(degree, elements.sums(joined, starts))
    return Level(starts, neighbours, elements.converted(joined, kind), loops, degree, None)


def joined_keys(keys: Any, weights: Any | None) -> tuple[Any, Any]:
    """Different keys, ascending, and the sum of their weights, 1 each without; ``keys`` may be sorted."""
    if weights is not None:
        order = cupy.argsort(keys)
        keys, weights = elements.gathered(keys, order), elements.gathered(weights, order)
        del order
    else:
        keys.sort()
    # Where the entries of each pair of communities begin, and behind the last one.
    ends = elements.places_of(elements.changes(keys), behind=True)
    joined = elements.lengths(ends) if weights is None else elements.sums(weights, ends)
    return elements.gathered(keys, ends[:-1]), joined
