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

from collections.abc import Callable
from copy import copy
from typing import Any, Self

import cupy
import numpy as np

from dask_graphgpu.engine import communities
from dask_graphgpu.engine.communities import Start
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.community_levels import (
    Level,
    aggregated,
    far_slots,
    first_level,
    modularity_of,
    over_edges,
    renumbered,
    totals,
    within,
)
from dask_graphgpu.engine.gpu.device import DeviceView, integer_types
from dask_graphgpu.engine.gpu.runs import LaunchState
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.device import elements
from dask_graphgpu.partition.device.memory import require
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Bytes of all hash tables in global memory, for rows whose labels do not fit shared memory.
FAR_BYTES = 1 << 30

# Of `active` in louvain.cu: a vertex that is never looked at.
FIXED = 2

_FIELDS: list[tuple[str, Any]] = [
    ("barrier", np.uint64),
    ("modularity", np.float64),
    ("edges", np.uint64),
]
_REFINED: list[tuple[str, Any]] = [("barrier", np.uint64), ("changed", np.dtype((np.uint64, 3)))]


# Is given a view, a resolution, a seed, a report, and what finds something of its moves, which is given back.
Find = Callable[["MovesByClass"], tuple[Any, float]]
WithMoves = Callable[[View, float, int, Report, Find], tuple[Any, float]]


class Finders:
    """Louvain and Leiden, by what moves the vertices of a view: `engine.contract` has the arguments."""

    def __init__(self, with_moves: WithMoves) -> None:
        self._with_moves = with_moves

    def louvain(
        self,
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
        In a step the vertices of one of 16 classes, drawn by a hash of seed, round and place in the order of the
        user's ids, move at the same time [2]_; labels are counted in hash tables [3]_, and only vertices whose
        neighbours have moved are looked at again [4]_. A level ends when a round over all classes gains less than 1e-4
        of modularity. Weights are whole numbers or counted in units of a 2**-61th of the whole, so that the answer
        depends on nothing but the edges, the resolution and the seed. It is not that of the CPU engine, which moves
        vertices one by one; modularity is about the same. Cost: a pass over the edges, and in each round the rows of
        vertices that are looked at or move; 28 bytes and more a vertex, and for the edges between communities two
        64-bit keys. See kernels/cuda/louvain.cu.
        """

        def find(moves: MovesByClass) -> tuple[Any, float]:
            begun = _on_device(start)
            labels = moves.alone(moves.first) if begun is None else begun.labels
            if moves.total:
                labels = communities.louvain(moves, begun, finer)
            if finer is not None:
                finer[:] = [moves.to_caller(moves.named(each)) for each in finer]
            return moves.to_caller(moves.named(labels)), moves.modularity

        return self._with_moves(view, resolution, seed, report, find)

    def leiden(
        self,
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
        Before communities become vertices, they are refined into parts, which do: the vertices of a class at a time
        join the well-connected part of their community by which they gain most, not one drawn by its gain [6]_. A part
        whose founder may leave in the same step is not joined, so that parts are connected. See
        kernels/cuda/leiden.cu.
        """

        def find(moves: MovesByClass) -> tuple[Any, float]:
            begun = _on_device(start)
            if not moves.total:
                return moves.to_caller(communities.without_edges(moves, begun)), 0.0
            labels = communities.leiden(moves, iterations, begun, finer)
            if finer is not None:
                finer[:] = [moves.to_caller(moves.named(each)) for each in finer]
            return moves.to_caller(labels), moves.modularity_of(labels)

        return self._with_moves(view, resolution, seed, report, find)

    def smaller_communities(
        self,
        view: View,
        labels: Any,
        max_size: int,
        resolution: float,
        seed: int,
        iterations: int | None,
        report: Report,
    ) -> tuple[list[Any], float]:
        """Communities within those that are too large, at higher resolutions; see `communities.smaller`."""

        def found(moves: MovesByClass) -> tuple[list[Any], float]:
            here = cupy.asarray(labels)
            find = communities.finding(iterations) if moves.total else communities.none_joined
            steps = communities.smaller(moves, here, max_size, find)
            made = [moves.to_caller(each) for each in steps]
            if not moves.total:
                return made, 0.0
            last = steps[-1] if steps else moves.named(here)
            return made, moves.modularity_of(last)

        return self._with_moves(view, resolution, seed, report, found)


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
            n * (1 + 4 * ids.itemsize + kind.itemsize) + far * (ids.itemsize + kind.itemsize),
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
                active, *(cupy.empty(n, ids) for _ in range(3)), labels, best, totals(level, labels, n),
                state.memory,
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


def _on_device_alone(
    view: View, resolution: float, seed: int, report: Report, find: Find
) -> tuple[Any, float]:
    here = DeviceView.of(view)
    return find(MovesByClass(here, first_level(here), resolution, seed, report))


_finders = Finders(_on_device_alone)
louvain = _finders.louvain
leiden = _finders.leiden
smaller_communities = _finders.smaller_communities
