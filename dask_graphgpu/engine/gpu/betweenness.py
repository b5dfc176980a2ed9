"""Betweenness by Brandes' accumulation of dependencies.

References
----------
.. [1] Brandes. A faster algorithm for betweenness centrality. J. Mathematical Sociology 25 (2001).
.. [2] McLaughlin, Bader. Scalable and high performance betweenness centrality on the GPU. SC 2014.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import takewhile
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.cuda.wrappers import c_type
from dask_graphgpu.engine.edge_ends import beside_ends, both_directions
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.bfs import note, queued
from dask_graphgpu.engine.gpu.degree_lists import degree_lists
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.level_sweeps import MOST_LEVELS, SEPARATORS, LevelSweeps, batch
from dask_graphgpu.engine.gpu.programs import run
from dask_graphgpu.engine.known import DISTANCES
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.path_failures import LONG_PATHS, MANY_PATHS, check
from dask_graphgpu.errors import IntegerOverflow, OutOfDeviceMemory
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.device.csr import transpose_column
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Edges that keep a block busy: with fewer a block, teams of fewer blocks search at once.
EDGES_A_BLOCK = 1 << 16

# Sources of a launch, for each team; between launches a long run is interrupted.
SOURCES_A_TEAM = 16

# Sources of a run for which the in-edges of a directed graph are made.
MANY_SOURCES = 16

# Bytes that the arrays of all teams may take.
MOST_BYTES = 1 << 32

# Of a team's own arrays, for a vertex of 32-bit ids: level, count, share, queue, places.
_VERTEX_BYTES = 4 + 8 + 8 + 4 + 12

_STATE = np.dtype([(name, np.uint64) for name in ("next", "read", "failed")])
_TEAM_BYTES = 88


def betweenness(
    view: View, sources: Any, *, weighted: bool, endpoints: bool, edges: bool, report: Report
) -> Any:
    """Sums of the sources' dependencies on every vertex, or on every edge; as `engine.cpu.betweenness`.

    Notes
    -----
    For each source a search that counts paths, and the same edges again [1]_: two looks at each edge of what it
    reaches, and O(V) to begin with. Blocks search in teams, each from a source of its own, where one search does not
    keep all of them busy [2]_. Where it does, and sums are of vertices without weights, a search finds the levels
    first, and the edges between two of them are then read from the end whose vertices have fewer; not in directed
    graphs whose in-edges nobody has asked for, from few sources or where there is no room for them, nor in searches of
    many levels. In-edges that are made stay with the graph. With weights sources come one after another, and distances
    are found first. 36 bytes a vertex and team. Sums are made by atomics: last bits may change from run to run. See
    kernels/cuda/betweenness.cu and betweenness_levels.cu.
    """
    start = time.perf_counter()
    here = DeviceView.of(view)
    along = cupy.zeros(here.out.num_edges, np.float64) if edges else None
    search = PathSums(here, here.out.weight if weighted else None, endpoints, along)
    sources = cupy.asarray(sources).astype(here.id_dtype)
    if search.weight is None:
        search.run_all(sources, search.by_levels(sources) if search.is_large() else 0)
    else:
        for i in range(len(sources)):
            search.run(sources[i : i + 1], *_distances(view, int(sources[i]), search.weight))
    search.tell(report, len(sources), time.perf_counter() - start)
    sums = search.through if along is None else along
    if edges and not view.directed:
        sums = both_directions(view, here.out, sums, transpose_column, weighted=weighted)
    return here.to_caller(sums)


def edge_betweenness(
    view: View, sources: Any, *, weighted: bool, report: Report
) -> tuple[Any, Any, Any]:
    """Edges and the sums of the sources' dependencies on them: as `betweenness` with ``edges``."""
    how = {"weighted": weighted, "endpoints": False, "edges": True}
    return beside_ends(view, betweenness(view, sources, **how, report=report))


class PathSums:
    """The sums, and what searches need.

    Parameters
    ----------
    here : DeviceView
    weight : array, optional
    endpoints : bool
    along : float64 array, of edges, optional
        To which dependencies on edges are added.
    room : int
        Bytes that the arrays of all teams may take.

    Attributes
    ----------
    through : float64 array, of vertices
    read : int
        Edges read.
    """

    def __init__(
        self, here: DeviceView, weight: Any, endpoints: bool, along: Any, room: int = MOST_BYTES
    ) -> None:
        self._here, self.weight, self._endpoints = here, weight, endpoints
        self.through = cupy.zeros(here.n, np.float64)
        self._along, self._room = along, room
        self.read = 0

    def run_all(self, sources: Any, done: int = 0) -> None:
        """Add the dependencies of all sources behind those that are done, without weights."""
        step = self.teams(len(sources)) * SOURCES_A_TEAM
        for first in range(done, len(sources), step):
            self.run(sources[first : first + step])

    def tell(self, report: Report, sources: int, seconds: float) -> None:
        """Add what was done to a report."""
        here = self._here
        report.advance(
            "accumulate", supersteps=sources, frontier=sources, edges=self.read,
            bytes=self.read * (here.id_dtype.itemsize + 4) + 40 * here.n * sources,
            seconds=seconds,
        )  # fmt: skip

    def teams(self, sources: int) -> int:
        """Teams that search at once."""
        if self.weight is not None:
            return 1
        blocks, size = self._blocks()
        room = self._room // (_VERTEX_BYTES * self._here.n + 1)
        return max(min(blocks // max(size, 1), sources, room), 1)

    def is_large(self) -> bool:
        """Whether one search keeps more than half of the blocks busy."""
        blocks, size = self._blocks()
        return 2 * size > blocks

    def _blocks(self) -> tuple[int, int]:
        """How many blocks there are, and how many of them one search keeps busy."""
        blocks = launch.resident_blocks(self._kernel(None))
        return blocks, min(-(-self._here.num_edges // EDGES_A_BLOCK), blocks)

    def by_levels(self, sources: Any) -> int:
        """Add the dependencies of the first sources, as long as searches have few levels; of how many."""
        here, done = self._here, 0
        by_rows = here.view.levels is None
        if self._along is not None or not by_rows or not self._has_into(len(sources)):
            return 0
        pairs = [(here.into, here.out), (here.out, here.into)][: 1 + here.directed]
        room = max(min(len(sources), batch(here.n, here.num_edges)), 1)
        sweeps = LevelSweeps(here.n, pairs, room)
        report = Report("searches")
        chosen = cupy.asnumpy(sources).tolist()
        for first in range(0, len(chosen), room):
            searches = []
            for i, source in enumerate(chosen[first : first + room]):
                level, state = queued(here, source, None, None, SEPARATORS)
                sweeps.narrow(i, level)
                searches.append(state)
            sweeps.survey(len(searches))
            cupy.cuda.get_current_stream().synchronize()
            sizes = sweeps.sizes(len(searches))
            few = list(takewhile(lambda each: len(each) <= MOST_LEVELS, sizes))
            if few:
                self.read += sweeps.sweep(few, endpoints=self._endpoints)
            for state in searches:
                note(here, state, report)
            done += len(few)
            if len(few) < len(sizes):
                break
        if sweeps.is_infinite():
            check(MANY_PATHS, None)
        self.through += sweeps.through
        self.read += sum(each.edges for each in report.advances)
        return done

    def _has_into(self, sources: int) -> bool:
        """Whether in-edges are there, or are made for so many sources; they stay with the graph."""
        here = self._here
        if not here.directed or here.has_into:
            return sources > 0
        if sources < MANY_SOURCES:
            return False
        try:
            return here.into is not None
        except OutOfDeviceMemory:  # teams need the out-edges alone
            return False

    def run(self, sources: Any, distance: Any = None, reached: Any = None) -> None:
        """Add the dependencies of some sources; over weights of one, whose distances are known."""
        here, rows, n = self._here, self._here.out, self._here.n
        teams = self.teams(len(sources))
        kernel = self._kernel(distance)
        lists, separators = degree_lists(rows, teams)
        state = cupy.zeros(_STATE.itemsize + teams * _TEAM_BYTES, np.uint8)
        lengths = () if distance is None else (self.weight, distance, reached.view(np.uint8))
        launch.cooperative(
            kernel,
            (
                rows.offsets, rows.neighbours, np.uint64(n), sources, np.uint64(len(sources)),
                np.float64(self._endpoints), np.uint32(launch.resident_blocks(kernel) // teams),
                np.uint32(teams), cupy.empty(teams * n, np.int32),
                cupy.empty(teams * n, np.float64), cupy.empty(teams * n, np.float64),
                *lists, np.uint64(len(lists[1]) // teams), *separators,
                cupy.empty(teams * 3 * (n + 1), here.id_dtype), *lengths, self.through,
                launch.or_null(self._along), state,
            ),
        )  # fmt: skip
        (ended,) = cupy.asnumpy(state[: _STATE.itemsize]).view(_STATE)
        self.read += 2 * int(ended["read"])
        check(int(ended["failed"]), self.weight)

    def _kernel(self, distance: Any) -> Any:
        defines = self._here.defines
        if distance is not None:
            types = {"WEIGHT": c_type(self.weight.dtype), "DIST": c_type(distance.dtype)}
            defines = {**defines, **types}
        return cuda("betweenness", defines=defines).kernel("betweenness")


def _distances(view: View, source: int, weight: Any) -> tuple[Any, Any]:
    distance, reached = distances_by(run, view, source, weight)
    return cupy.asarray(distance), cupy.asarray(reached)


def distances_by(run: Callable[..., Any], view: View, source: int, weight: Any) -> tuple[Any, Any]:
    """Length of a shortest path from a source to each vertex, int64 or float64, and who has one.

    ``run`` : what an engine runs programs by.
    """
    try:
        state = run(DISTANCES, view, RunOptions(report=Report("distances"), sources=source))
    except IntegerOverflow:
        check(LONG_PATHS, weight)
        raise
    return state["distance"], state.reached
