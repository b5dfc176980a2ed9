"""Communities of high modularity by Louvain and by Leiden: one launch a level, and edges between communities sorted.

References
----------
.. [1] Blondel, Guillaume, Lambiotte, Lefebvre. Fast unfolding of communities in large networks. J. Stat. Mech. 2008.
.. [2] Ghosh, Halappanavar, Tumeo, Kalyanaraman, Lu, Chavarria-Miranda, Khan, Gebremedhin. Distributed Louvain
   algorithm for graph community detection. IPDPS 2018.
.. [3] Naim, Manne, Halappanavar, Tumeo. Community detection on the GPU. IPDPS 2017.
.. [4] Ozaki, Tezuka, Inaba. A simple acceleration method for the Louvain algorithm. IJCEE 2016.
.. [5] Traag, Waltman, van Eck. From Louvain to Leiden: guaranteeing well-connected communities. Sci. Rep. 2019.
.. [6] Sahu, Kothapalli, Banerjee. Fast Leiden algorithm for community detection in shared memory setting. ICPP 2024.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

import cupy
import numpy as np

from dask_graphgpu.engine import communities
from dask_graphgpu.engine.communities import Start
from dask_graphgpu.engine.cuda.wrappers import c_type
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.device import DeviceView, integer_types
from dask_graphgpu.engine.gpu.runs import LaunchState
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.device import building, elements
from dask_graphgpu.partition.device.arrays import offset_type, segments
from dask_graphgpu.partition.device.csr import Pairs, from_pairs, row_ids
from dask_graphgpu.partition.device.memory import require
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Bits of the sum of all degrees, in units of which weights that are not whole numbers are counted.
TOTAL_BITS = 61

# Bytes of all hash tables in global memory, for rows whose labels do not fit shared memory.
FAR_BYTES = 1 << 30

# Of a block's table in shared memory, at least: SLOTS of the kernels. And of one in global memory.
SHARED_SLOTS, LEAST_SLOTS = 2048, 256

# Neighbours in succession that a thread takes of all edges: CHUNK of the kernels.
CHUNK = 8

# Of `active`, a vertex that never is: FIXED of the kernels.
FIXED = 2

_FIELDS: list[tuple[str, Any]] = [
    ("barrier", np.uint64),
    ("modularity", np.float64),
    ("edges", np.uint64),
]
_REFINED: list[tuple[str, Any]] = [("barrier", np.uint64), ("changed", np.dtype((np.uint64, 3)))]
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

    @property
    def edges(self) -> tuple[Any, Any, Any]:
        """As kernels take them."""
        return self.offsets, self.neighbours, launch.or_null(self.weight)


def louvain(
    view: View,
    resolution: float,
    seed: int,
    report: Report,
    start: Start | None = None,
    finer: list[Any] | None = None,
) -> tuple[Any, float]:
    """Communities by moving vertices, then whole communities [1]_.

    Notes
    -----
    In a step the vertices of one of 16 classes, drawn by a hash of seed, round and place in the order of the user's
    ids, move at the same time [2]_; labels are counted in hash tables [3]_, and only vertices whose neighbours have
    moved are looked at again [4]_. A level ends when a round over all classes gains less than 1e-4 of modularity.
    Weights are whole numbers or counted in units of a 2**-61th of the whole, so that the answer depends on nothing but
    the edges, the resolution and the seed. It is not that of the CPU engine, which moves vertices one by one;
    modularity is about the same. Cost: some passes over the edges, most of them of the first level; 24 bytes and more a
    vertex, and for the edges between communities two 64-bit keys. See kernels/cuda/louvain.cu.
    """
    here = DeviceView.of(view)
    return louvain_by(MovesByClass(here, first_level(here), resolution, seed, report), start, finer)


def louvain_by(
    moves: MovesByClass, start: Start | None, finer: list[Any] | None
) -> tuple[Any, float]:
    """What `louvain` gives, by what moves vertices."""
    start = _on_device(start)
    labels = moves.alone(moves.first) if start is None else start.labels
    if moves.total:
        labels = communities.louvain(moves, start, finer)
    if finer is not None:
        finer[:] = [moves.to_caller(moves.named(each)) for each in finer]
    return moves.to_caller(moves.named(labels)), moves.modularity


def leiden(
    view: View,
    resolution: float,
    seed: int,
    iterations: int,
    report: Report,
    start: Start | None = None,
    finer: list[Any] | None = None,
) -> tuple[Any, float]:
    """Communities as `louvain`, of which every one is connected [5]_.

    Notes
    -----
    Before communities become vertices, they are refined into parts, which do: the vertices of a class at a time join
    the well-connected part of their community by which they gain most, not one drawn by its gain [6]_. A part whose
    founder may leave in the same step is not joined, so that parts are connected. See kernels/cuda/leiden.cu.
    """
    here = DeviceView.of(view)
    moves = MovesByClass(here, first_level(here), resolution, seed, report)
    return leiden_by(moves, iterations, start, finer)


def leiden_by(
    moves: MovesByClass, iterations: int, start: Start | None, finer: list[Any] | None
) -> tuple[Any, float]:
    """What `leiden` gives, by what moves vertices."""
    start = _on_device(start)
    if not moves.total:
        return moves.to_caller(communities.without_edges(moves, start)), 0.0
    labels = communities.leiden(moves, iterations, start, finer)
    if finer is not None:
        finer[:] = [moves.to_caller(moves.named(each)) for each in finer]
    return moves.to_caller(labels), moves.modularity_of(labels)


def smaller_communities(
    view: View,
    labels: Any,
    max_size: int,
    resolution: float,
    seed: int,
    iterations: int | None,
    report: Report,
) -> tuple[list[Any], float]:
    """Communities within those that are too large, at higher resolutions; see `communities.smaller`."""
    here = DeviceView.of(view)
    moves = MovesByClass(here, first_level(here), resolution, seed, report)
    return smaller_by(moves, labels, max_size, iterations)


def smaller_by(
    moves: MovesByClass, labels: Any, max_size: int, iterations: int | None
) -> tuple[list[Any], float]:
    """What `smaller_communities` gives, by what moves vertices."""
    labels = cupy.asarray(labels)
    find = communities.finding(iterations) if moves.total else communities.none_joined
    steps = communities.smaller(moves, labels, max_size, find)
    found = [moves.to_caller(each) for each in steps]
    if not moves.total:
        return found, 0.0
    last = steps[-1] if steps else moves.named(labels)
    return found, moves.modularity_of(last)


def _on_device(start: Start | None) -> Start | None:
    if start is None:
        return None
    fixed = None if start.fixed is None else cupy.asarray(start.fixed)
    return Start(cupy.asarray(start.labels), fixed)


class MovesByClass:
    """As of `engine.communities.Moves`: the vertices of a class move at once.

    Attributes
    ----------
    far_bytes : int
        That all hash tables in global memory may take.
    """

    far_bytes = FAR_BYTES

    def __init__(
        self, here: DeviceView, first: Level, resolution: float, seed: int, report: Report
    ) -> None:
        self._here, self.first, self._salts = here, first, np.random.default_rng(seed)
        self.total = int(elements.converted(self.first.degree, np.uint64).sum())
        self._resolution, self._report, self.modularity = resolution, report, 0.0

    def alone(self, level: Level) -> Any:
        if level.rank is not None:
            return level.rank.copy()
        return elements.counted_up(cupy, len(level), level.neighbours.dtype)

    def moved(self, level: Level, labels: Any, fixed: Any | None) -> tuple[Any, int]:
        n, ids, kind = len(level), level.neighbours.dtype, level.degree.dtype
        kernel, state = level.kernel("move"), LaunchState(_FIELDS, {0: "move"})
        slots = far_slots(level, launch.resident_blocks(kernel), self.far_bytes)
        far = slots * launch.resident_blocks(kernel)
        require(
            n * (1 + 3 * ids.itemsize + kind.itemsize) + far * (ids.itemsize + kind.itemsize),
            "moving vertices",
        )
        labels, best = labels.astype(ids, copy=False), cupy.empty(n, ids)
        active = cupy.zeros(n, np.uint8)
        elements.mark_others(level.degree, 0, active)
        if fixed is not None:
            active[fixed] = FIXED
        launch.cooperative(
            kernel,
            (
                *level.edges, level.loops, level.degree, launch.or_null(level.rank), np.uint64(n),
                np.float64(self.total), np.float64(self._resolution), self._salt(),
                cupy.empty(far, ids), cupy.empty(far, kind), np.uint32(slots),
                active, cupy.empty(n, ids), cupy.empty(n, ids), labels, best, totals(level, labels, n), state.memory,
            ),
        )  # fmt: skip
        read, runs = state.read()
        for run in runs:
            entry = (kind.itemsize if level.weight is not None else 0) + 2 * ids.itemsize
            run.note(self._report, run.edges * entry + run.supersteps * n * 16)
        self.modularity = float(read["modularity"])
        return renumbered(best)

    def _salt(self) -> np.uint64:
        return self._salts.integers(2**64, dtype=np.uint64)

    def refined(self, level: Level, labels: Any, count: int) -> tuple[Any, int]:
        n, ids, kind = len(level), level.neighbours.dtype, level.degree.dtype
        kernel = level.kernel("refine", "leiden")
        blocks = launch.resident_blocks(kernel)
        slots = far_slots(level, blocks, self.far_bytes)
        require(
            n * (2 + 3 * ids.itemsize + 3 * kind.itemsize)
            + blocks * slots * (ids.itemsize + kind.itemsize),
            "refining communities",
        )
        parts, cut, rank = self.alone(level), cupy.zeros(n, kind), launch.or_null(level.rank)
        over_edges(level, "cuts", rank, np.uint64(n), labels, cut, source="leiden")
        state = LaunchState(_REFINED, {})
        launch.cooperative(
            kernel,
            (
                *level.edges, level.degree, rank, np.uint64(n),
                np.float64(self._resolution / self.total), self._salt(),
                cupy.empty(blocks * slots, ids), cupy.empty(blocks * slots, kind), np.uint32(slots), labels,
                totals(level, labels, count), cupy.empty(n, ids), cupy.empty(n, ids), parts,
                totals(level, parts, n), cut, elements.filled(cupy, n, 1, np.uint8), cupy.zeros(n, np.uint8),
                state.memory,
            ),
        )  # fmt: skip
        return renumbered(parts)

    def apart(self, level: Level, labels: Any) -> tuple[Any, int]:
        roots = cupy.empty(len(level), level.neighbours.dtype)
        launch.cooperative(
            level.kernel("connected", "leiden"),
            (*level.edges, np.uint64(len(level)), labels, roots, LaunchState(_REFINED, {}).memory),
        )
        return renumbered(roots if level.rank is None else self.named(roots))

    def modularity_of(self, labels: Any) -> float:
        """Of some labels of the graph's vertices, below their number."""
        return modularity_of(self.first, labels, self.total, self._resolution)

    def aggregated(self, level: Level, labels: Any, count: int) -> Level:
        return aggregated(level, labels, count)

    def named(self, labels: Any) -> Any:
        """The smallest place, in the order of the user's ids, of the members of each vertex's community."""
        here = self._here
        ids, rank = here.id_dtype, here.user_rank
        first = elements.filled(cupy, here.n, np.iinfo(ids).max, ids)
        types = {**integer_types(ids, here.offset_dtype), "SUM": "uint32"}
        given = None if rank is None else elements.converted(rank, ids)
        launch.flat(
            cuda("louvain", defines=types).kernel("smallest"),
            here.n,
            (labels.astype(ids, copy=False), launch.or_null(given), np.uint64(here.n), first),
        )
        return elements.gathered(first, labels)

    def within(self, labels: Any, chosen: Any) -> Self:
        narrowed = copy(self)
        narrowed.first = self.narrowed(labels, chosen)
        narrowed._resolution = 2 * self._resolution
        return narrowed

    def narrowed(self, labels: Any, chosen: Any) -> Level:
        """The first level with edges within some communities alone."""
        return within(self.first, labels, chosen)

    def to_caller(self, places: Any) -> Any:
        """Places in the order of the user's ids, as dense ids."""
        return self._here.to_caller(self._here.in_dense_ids(places))


def within(level: Level, labels: Any, chosen: Any) -> Level:
    """The edges within communities whose label is among the ``chosen``; loops and degrees stay."""
    edges = len(level.neighbours)
    require(edges * (2 * level.neighbours.itemsize + 10), "edges within communities")
    source = labels[segments(level.offsets, edges, level.neighbours.dtype)]
    kept = chosen[source] & (source == labels[level.neighbours])
    before = cupy.zeros(edges + 1, level.offsets.dtype)
    cupy.cumsum(kept, out=before[1:])
    return replace(
        level,
        offsets=before[level.offsets],
        neighbours=level.neighbours[kept],
        weight=None if level.weight is None else level.weight[kept],
    )


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
    longest = int(elements.lengths(level.offsets).max())
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
