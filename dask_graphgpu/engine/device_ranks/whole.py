"""Methods that run on the gathered graph of all ranks, as on one GPU; where it does not fit, on the processors.

Every rank has the same graph and finds the same answer, of which it takes its own part: that costs no more time than if
one rank did it, and nothing travels afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine import gpu, ranks
from dask_graphgpu.engine.communities import Start
from dask_graphgpu.engine.device_ranks.gathered import Gathered, on_whole
from dask_graphgpu.engine.hops import SWEEP
from dask_graphgpu.engine.walking import WalkRule
from dask_graphgpu.exchange.nccl import DeviceLink
from dask_graphgpu.partition.device.host import to_new_memory
from dask_graphgpu.partition.ranks.view import RankView
from dask_graphgpu.report import Report

# What has the functions of the contract, on one GPU and on the processors of ranks.
one_gpu: Any = gpu
processors: Any = ranks


def triangles(view: RankView, report: Report) -> Any:
    """Triangles that each vertex is in; as `engine.gpu.triangles`. Collective."""
    return _of_vertices(view, report, one_gpu.triangles, processors.triangles)


def neighbour_arcs(view: RankView, report: Report) -> Any:
    """Edges that join two neighbours of each vertex; as `engine.gpu.neighbour_arcs`. Collective."""
    return _of_vertices(view, report, one_gpu.neighbour_arcs, processors.neighbour_arcs)


def simple_degrees(view: RankView) -> Any:
    """Neighbours of each vertex in the simple undirected graph, right for ghosts too. Collective."""

    def work(whole: Gathered, given: Any) -> Any:
        return _given(view, whole.here(one_gpu.simple_degrees(whole.view)))

    return on_whole(view, None, work, lambda: processors.simple_degrees(view), make=False)


def core_numbers(view: RankView, report: Report) -> Any:
    """Core number of every vertex; as `engine.gpu.core_numbers`. Collective."""
    return _of_vertices(view, report, one_gpu.core_numbers, processors.core_numbers)


def k_core(view: RankView, k: int, report: Report) -> Any:
    """Whether each vertex is in the k-core; as `engine.gpu.k_core`. Collective."""
    return _of_vertices(view, report, one_gpu.k_core, processors.k_core, k)


def strong_components(view: RankView, report: Report) -> Any:
    """Strongly connected components; as `engine.gpu.strong_components`. Collective."""
    return _of_vertices(view, report, one_gpu.strong_components, processors.strong_components)


def num_blocks(view: RankView, report: Report) -> Any:
    """Biconnected components of every vertex; as `engine.gpu.num_blocks`. Collective."""
    return _of_vertices(view, report, one_gpu.num_blocks, processors.num_blocks)


def label_propagation(view: RankView, iterations: int, report: Report, start: Any = None) -> Any:
    """The label of every vertex; as `engine.gpu.label_propagation`. Collective."""

    def begin(whole: Gathered, link: DeviceLink) -> Any:
        return None if start is None else whole.everywhere(link, start.astype(view.id_dtype))

    def work(whole: Gathered, first: Any) -> Any:
        labels = one_gpu.label_propagation(whole.view, iterations, report, first)
        return _given(view, whole.here(labels))

    def on_host() -> Any:
        return processors.label_propagation(view, iterations, report, start)

    return on_whole(view, report, work, on_host, begin=begin)


def louvain(
    view: RankView,
    resolution: float,
    seed: int,
    report: Report,
    start: Start | None = None,
    finer: list[Any] | None = None,
) -> Any:
    """Communities and their modularity; as `engine.gpu.louvain`. Collective."""
    given = resolution, seed, report
    return _communities(view, one_gpu.louvain, processors.louvain, given, start, finer)


def leiden(
    view: RankView,
    resolution: float,
    seed: int,
    iterations: int,
    report: Report,
    start: Start | None = None,
    finer: list[Any] | None = None,
) -> Any:
    """Communities and their modularity; as `engine.gpu.leiden`. Collective."""
    given = resolution, seed, iterations, report
    return _communities(view, one_gpu.leiden, processors.leiden, given, start, finer)


def smaller_communities(
    view: RankView,
    labels: Any,
    max_size: int,
    resolution: float,
    seed: int,
    iterations: int | None,
    report: Report,
) -> Any:
    """Communities of which none is too large; as `engine.gpu.smaller_communities`. Collective."""
    given = max_size, resolution, seed, iterations, report

    def work(whole: Gathered, first: Start) -> Any:
        steps, modularity = one_gpu.smaller_communities(whole.view, first.labels, *given)
        return [_given(view, whole.here(each)) for each in steps], modularity

    def on_host() -> Any:
        return processors.smaller_communities(view, labels, *given)

    return on_whole(view, report, work, on_host, begin=_from(view, Start(labels)))


def _communities(
    view: RankView,
    on_gpu: Callable[..., Any],
    on_processors: Callable[..., Any],
    given: tuple[Any, ...],
    start: Start | None,
    finer: list[Any] | None,
) -> Any:
    def work(whole: Gathered, first: Start | None) -> Any:
        parts: list[Any] | None = None if finer is None else []
        labels, modularity = on_gpu(whole.view, *given, first, parts)
        if finer is not None and parts is not None:
            finer[:] = [_given(view, whole.here(each)) for each in parts]
        return _given(view, whole.here(labels)), modularity

    def on_host() -> Any:
        if finer is not None:
            finer.clear()  # of a run for which memory was short
        return on_processors(view, *given, start, finer)

    return on_whole(view, given[-1], work, on_host, begin=_from(view, start))


def multi_bfs(
    view: RankView, sources: np.ndarray, *, cutoff: int | None, targets: Any, report: Report
) -> Any:
    """Hops from several sources; as `engine.gpu.multi_bfs`. Collective.

    None where the graph does not fit: searches one after another use all GPUs. Of a view that is `RankView.answering`
    a rank searches from the sources of its own rows only.
    """
    how: dict[str, Any] = {"cutoff": cutoff, "targets": targets, "report": report}

    def work(whole: Gathered, given: Any) -> Any:
        if view.answers is not None:
            return rows(whole, *view.answers(len(sources) * len(whole)))
        return _given(view, whole.here(one_gpu.multi_bfs(whole.view, sources, **how)))

    def rows(whole: Gathered, low: int, high: int) -> Any:
        n, made = len(whole), (cupy if view.stays else np).empty(high - low, np.int32)
        for first in range(low // n, -(-high // n), SWEEP):
            some = sources[first : min(first + SWEEP, -(-high // n))]
            levels = one_gpu.multi_bfs(whole.view, some, **how).reshape(-1)
            begin, end = max(low, first * n), min(high, (first + len(some)) * n)
            made[begin - low : end - low] = _given(
                view, levels[begin - first * n : end - first * n]
            )
        return made

    return on_whole(view, report, work, lambda: None)


def path_counts(view: RankView, source: int, level: Any, *, dtype: str, report: Report) -> Any:
    """Number of paths of fewest edges to every vertex; as `engine.gpu.path_counts`. Collective."""
    how: dict[str, Any] = {"dtype": dtype, "report": report}

    def begin(whole: Gathered, link: DeviceLink) -> Any:
        return whole.everywhere(link, level)

    def work(whole: Gathered, levels: Any) -> Any:
        return _given(view, whole.here(one_gpu.path_counts(whole.view, source, levels, **how)))

    def on_host() -> Any:
        return processors.path_counts(view, source, cupy.asnumpy(level), **how)

    return on_whole(view, report, work, on_host, begin=begin)


def sums_of_sources(
    view: RankView,
    sources: Any,
    *,
    weighted: bool,
    endpoints: bool,
    report: Report,
) -> Any:
    """Sums of the sources' dependencies, each source on one of the GPUs; as `engine.gpu.betweenness`. Collective."""
    how: dict[str, Any] = {
        "weighted": weighted,
        "endpoints": endpoints,
        "edges": False,
        "report": report,
    }

    def work(whole: Gathered, given: Any) -> Any:
        return own_sums(view, sources, lambda some: one_gpu.betweenness(whole.view, some, **how))

    def end(whole: Gathered, link: DeviceLink, room: Any) -> Any:
        return _given(view, whole.here(whole.sum(link, room)))

    return on_whole(
        view, report, work, lambda: processors.betweenness(view, sources, **how), end=end
    )


def own_sums(view: RankView, sources: Any, sums: Callable[[Any], Any]) -> Any:
    """Room for `Gathered.sum` in which are the sums of this rank's part of the sources."""
    me, size = view.ranks.rank, view.ranks.size
    found = sums(sources[me::size])
    room = cupy.empty((size, *found.shape), np.float64)
    room[me] = found
    return room


def hop_sums(view: RankView, sources: Any, *, report: Report) -> Any:
    """Sums over searches, each from one of the GPUs; as `engine.gpu.hop_sums`. Collective."""

    def work(whole: Gathered, given: Any) -> Any:
        return own_sums(
            view, sources, lambda some: one_gpu.hop_sums(whole.view, some, report=report).T
        )

    def end(whole: Gathered, link: DeviceLink, room: Any) -> Any:
        return _given(view, whole.here(whole.sum(link, room)).T)

    return on_whole(
        view, report, work, lambda: processors.hop_sums(view, sources, report=report), end=end
    )


def hyperball(
    view: RankView, hashes: Any, precision: int, direction: str, *, report: Report
) -> Any:
    """Estimates of sizes of balls, added up; as `engine.gpu.hyperball`. Collective."""

    def begin(whole: Gathered, link: DeviceLink) -> Any:
        return whole.everywhere(link, hashes)

    def work(whole: Gathered, every: Any) -> Any:
        balls = one_gpu.hyperball(whole.view, every, precision, direction, report=report)
        return _given(view, whole.here(balls.T).T)

    def on_host() -> Any:
        return processors.hyperball(view, hashes, precision, direction, report=report)

    return on_whole(view, report, work, on_host, begin=begin)


def jaccard_of_pairs(view: RankView, first: Any, second: Any, report: Report) -> Any:
    """Coefficients of this rank's pairs; as `engine.gpu.jaccard_of_pairs`. Collective."""

    def work(whole: Gathered, given: Any) -> Any:
        return to_new_memory(one_gpu.jaccard_of_pairs(whole.view, first, second, report))

    return on_whole(
        view, report, work, lambda: processors.jaccard_of_pairs(view, first, second, report)
    )


def random_walks(
    view: RankView, walks: np.ndarray, starts: np.ndarray, rule: WalkRule, report: Report
) -> Any:
    """Walks of this rank, all the way; as `engine.gpu.random_walks`. Collective."""

    def work(whole: Gathered, given: Any) -> Any:
        found = one_gpu.random_walks(whole.view, walks, starts, rule, report)
        return tuple(_given(view, each) for each in found)

    return on_whole(
        view, report, work, lambda: processors.random_walks(view, walks, starts, rule, report)
    )


def _of_vertices(
    view: RankView,
    report: Report,
    on_gpu: Callable[..., Any],
    on_host: Callable[..., Any],
    *more: Any,
) -> Any:
    """Values of vertices, right for ghosts too."""

    def work(whole: Gathered, given: Any) -> Any:
        return _given(view, whole.here(on_gpu(whole.view, *more, report)))

    return on_whole(view, report, work, lambda: on_host(view, *more, report))


def _from(view: RankView, start: Start | None) -> Callable[[Gathered, DeviceLink], Start | None]:
    """What makes a start of all vertices of what each rank has of its own."""

    def begin(whole: Gathered, link: DeviceLink) -> Start | None:
        if start is None:
            return None
        fixed = None if start.fixed is None else whole.everywhere(link, start.fixed)
        return Start(whole.everywhere(link, start.labels.astype(view.id_dtype)), fixed)

    return begin


def _given(view: RankView, values: Any) -> Any:
    """An answer where its caller wants it."""
    return values if view.stays else to_new_memory(values)
