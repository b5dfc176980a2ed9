"""Betweenness on several GPUs by Brandes' accumulation, level by level.

References
----------
.. [1] Brandes. A faster algorithm for betweenness centrality. J. Mathematical Sociology 25 (2001).
.. [2] Pan, Wang, Wu, Yang, Owens. Multi-GPU graph analytics. IPDPS 2017.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import cupy
import cupyx
import numpy as np

from dask_graphgpu.engine.device_ranks.bfs import forced_direction, searching
from dask_graphgpu.engine.device_ranks.border import DeviceBorder
from dask_graphgpu.engine.device_ranks.by_level import ByLevel
from dask_graphgpu.engine.device_ranks.search import LEVELS_TOLD, Search
from dask_graphgpu.engine.device_ranks.view import RankDeviceView, connected
from dask_graphgpu.engine.device_ranks.whole import sums_of_sources
from dask_graphgpu.engine.gpu import level_sweeps
from dask_graphgpu.engine.gpu.level_sweeps import MOST_LEVELS, LevelSweeps, batch
from dask_graphgpu.engine.path_failures import MANY_PATHS, check
from dask_graphgpu.partition.ranks.view import RankView
from dask_graphgpu.report import Report


def betweenness(
    view: RankView,
    sources: np.ndarray,
    *,
    weighted: bool,
    endpoints: bool,
    edges: bool,
    report: Report,
) -> Any:
    """Sums of the sources' dependencies; as `engine.ranks.betweenness`. Collective.

    Returns
    -------
    array of float64
        On the host, but for vertices without weights of a view that is `RankView.staying`.

    Notes
    -----
    A search from each source, path counts from level to level, and dependencies back [1]_. The edges
    between two levels are found from the end whose rows have fewer entries, on each rank as it takes
    least; what travels are the values of the border vertices of the smaller level [2]_, whose order is
    found on both sides from the levels alone. Levels of several sources, a batch, share launches and
    messages. 29 bytes a vertex or ghost and about 20 a value that may travel, of each source of a batch,
    which stay with the share for the next run; and the edges once more, by their other ends, of directed
    graphs in both directions. For sums over weights, and of all sources from the first on whose
    search has more than `MOST_LEVELS` levels, each GPU takes some of the sources, on the gathered graph. Last
    bits may change from run to run.
    """
    how: dict[str, Any] = {
        "weighted": weighted,
        "endpoints": endpoints,
        "report": report,
    }
    assert not edges  # of which `edge_betweenness` has the sums
    if weighted:
        return sums_of_sources(view, sources, **how)

    done, total = 0, len(sources)
    key = "betweenness", view.toward("out").rows, view.toward("in").rows
    with searching(view, level_sweeps.SEPARATORS) as search, connected(view, key) as (border, made):
        if made is None or made.sources < min(total, made.most):
            del made  # its memory may be needed
            made = Accumulation(view, border, total)
            view.ranks.barrier()  # to allocate waits for devices, and a peer's may wait for this one
        made.clear()
        deep = False
        while done < total and not deep:
            levels: list[int] = []
            for source in sources[done : done + made.sources].tolist():
                search.run(source, None, forced_direction(), report)
                deep = search.levels > level_sweeps.MOST_LEVELS
                if deep:
                    break
                made.take(len(levels), search)
                levels.append(search.levels)
            start = time.perf_counter()
            if levels:
                read = made.add(levels, endpoints=endpoints)
                report.advance(
                    "accumulate", supersteps=2 * (max(levels) - 1), frontier=len(levels),
                    edges=read, bytes=read * (view.id_dtype.itemsize + 9)
                    + 60 * view.num_vertices * len(levels), seconds=time.perf_counter() - start,
                )  # fmt: skip
            done += len(levels)
        sums = made.sums(stays=view.stays)
        border.leave(key, made)
    if done < total:
        rest = sums_of_sources(view, sources[done:], **how)
        sums += cupy.asarray(rest) if view.stays else rest
    return sums


class Accumulation:
    """The sums, and what a batch of sources needs; all ranks call it alike. Kept from one run to the next.

    Parameters
    ----------
    view : RankView
    border : DeviceBorder
    sources : int
        Of a run.

    Attributes
    ----------
    sources : int
        Of a batch, at most.
    most : int
        What that may be, of runs of more sources.
    """

    def __init__(self, view: RankView, border: DeviceBorder, sources: int) -> None:
        self._ranks, self._border, self._own = view.ranks, border, view.num_owned
        self._n = view.num_vertices
        every = [
            RankDeviceView.of(view.toward(direction))
            for direction in ("out", "in")[: 1 + view.directed]
        ]
        pairs = [(here.into, here.out) for here in every]
        edges = max(pulled.num_edges for pulled, _ in pairs)
        ghosts = border.ghosts[-1][1] - border.ghosts[0][0]
        travelling = (16 + border.vertices.itemsize) * (len(border.vertices) + ghosts)
        self.most = int(view.ranks.min(batch(self._n, edges, travelling)))
        self.sources = max(min(sources, self.most), 1)
        self._sweeps = LevelSweeps(self._own, pairs, self.sources)
        self._by_level = ByLevel(border, self._sweeps.level, MOST_LEVELS, 4 * MOST_LEVELS)
        border.make_room([self._sweeps.level[0]])
        # Vertices of each level of each source, on all ranks.
        self._sizes = cupy.empty((self.sources, LEVELS_TOLD), np.uint64)
        self._told_sizes = cupyx.empty_pinned(self._sizes.shape, np.uint64)
        self._told = cupy.cuda.Event(disable_timing=True)

    def clear(self) -> None:
        """Begin a run."""
        self._sweeps.clear()

    def forget(self) -> None:
        """Nothing is recorded."""

    def take(self, source: int, search: Search) -> None:
        """Queue that what a search has found is taken over, as of a source of a batch."""
        search.tell_sizes(self._sizes[source])
        self._sweeps.narrow(source, search.level)
        self._border.refresh([self._sweeps.level[source, : self._n]])

    def add(self, levels: Sequence[int], *, endpoints: bool) -> int:
        """Add the dependencies of the sources of a batch; edges that were read.

        ``levels``: how many each has, at most `MOST_LEVELS`.
        """
        self._by_level.sort(len(levels), max(levels))
        self._sizes.get(out=self._told_sizes, blocking=False)
        self._sweeps.survey(len(levels))
        self._told.record()
        self._border.link.wait(self._told)
        sizes = [
            each[:number].tolist() for each, number in zip(self._told_sizes, levels, strict=False)
        ]
        read = self._sweeps.sweep(sizes, endpoints=endpoints, others=self._by_level)
        self._border.link.settle()
        return read

    def sums(self, *, stays: bool) -> Any:
        """Of all sources; shape (num_vertices,), right for own vertices, on the device where it ``stays``.

        Raises
        ------
        IntegerOverflow
            On all ranks: a number of paths is infinite.
        """
        if self._ranks.max(int(self._sweeps.is_infinite())):
            check(MANY_PATHS, None)
        own = self._sweeps.through
        found = (cupy if stays else np).zeros(self._n)
        found[: self._own] = own if stays else own.get()
        return found
