"""Methods that read edges in host memory where they lie, against the GPU and CPU engines in memory."""

from collections import Counter
from importlib import import_module

import cupy
import dask
import numpy as np
import pytest
from made_graphs import MadeGraph, edgeless, random_small, rmat, star

from dask_graphgpu.engine import cpu, gpu, tiered
from dask_graphgpu.engine.gpu.run_cache import RunCache
from dask_graphgpu.engine.similarity import Similarity
from dask_graphgpu.engine.tiered import levels
from dask_graphgpu.errors import LimitTooSmall
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

in_memory = import_module("dask_graphgpu.engine.gpu.triangles")
hub_triangles = import_module("dask_graphgpu.engine.gpu.hub_triangles")


def within(limit, function, view, *given, **named):
    """What a function of the engine gives where the device may take so many bytes, and the report."""
    report = Report("test")
    with dask.config.set({"graphgpu.device-memory-limit": limit}):
        return getattr(tiered, function)(view, *given, report=report, **named), report


def same(limit, function, view, *given, **named):
    """Hold that it is what the GPU engine gives in memory, in host memory; that."""
    found, _ = within(limit, function, view, *given, **named)
    wanted = getattr(gpu, function)(view, *given, report=Report("test"), **named)
    for one, other in zip(_parts_of(found), _parts_of(wanted), strict=True):
        assert type(one) is type(other)
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_array_equal(one, other)
    return found


def _parts_of(found):
    return [found] if isinstance(found, np.ndarray) else found


@pytest.mark.parametrize("function", ["triangles", "neighbour_arcs"])
def test_triangles_in_parts_of_rows(function, monkeypatch):
    """None of the edges that are kept on the device at once, some, and all."""
    parts, parts_of = [], in_memory._parts
    monkeypatch.setattr(
        in_memory, "_parts", lambda *given: parts.append(parts_of(*given)) or parts[-1]
    )
    for directed in (False, True):
        view = rmat(9, directed=directed).view()
        vertices = 66 * view.num_vertices
        kept = 5 * len(view.symmetric.neighbours) // 2
        for share, least in ((0.15, 4), (0.7, 2), (2, 0)):
            parts.clear()
            same(vertices + int(share * kept), function, view)
            assert sum(map(len, parts)) >= least
            assert bool(parts) == bool(least)


def test_triangles_of_hubs_in_parts_of_rows(monkeypatch):
    monkeypatch.setattr(hub_triangles, "LEAST_EDGES", 0)
    view = rmat(9).view()
    for share in (0.7, 2):
        kept = 4 * len(view.symmetric.neighbours) // 2
        same(66 * view.num_vertices + int(share * kept), "triangles", view)


def test_triangles_of_small_graphs():
    for seed in range(8):
        view = random_small(seed).view()
        same("1MB", "triangles", view)
        found, _ = within("1MB", "neighbour_arcs", view)
        np.testing.assert_array_equal(found, cpu.neighbour_arcs(view, Report("test")))
    assert within("1MB", "triangles", edgeless(3).view())[0].tolist() == [0] * 3


def test_a_limit_that_vertices_do_not_fit_is_an_error_that_says_so():
    with pytest.raises(LimitTooSmall, match=r"counting triangles needs [\d,]+ bytes .* raise it"):
        within(20_000, "triangles", rmat(10).view())


def weighted(scale, directed, kind, least=0):
    """A skewed graph without repeats, its weights whole or not."""
    made = rmat(scale, 8, directed=directed)
    ends = np.stack([made.source, made.destination])
    ends = np.unique(ends if directed else np.sort(ends, axis=0), axis=1)
    weight = None
    if kind is not None:
        weight = (least + np.arange(ends.shape[1]) % 7).astype(kind)
        if kind == "float64":
            weight += 0.3
    rank = np.random.default_rng(0).permutation(made.n)
    return MadeGraph(made.n, *ends, directed=directed, weight=weight, rank=rank).view()


@pytest.mark.parametrize("kind", [None, "uint8", "float64"])
def test_communities(kind, monkeypatch):
    """Levels on the device, and read in place, whose edges are joined in many parts."""
    joined, add = [], levels._Rows.add
    monkeypatch.setattr(levels._Rows, "add", lambda *given: joined.append(given[0]) or add(*given))
    for directed in (False, True):
        view = weighted(8, directed, kind)
        for limit in ("1MB", 40_000):
            same(limit, "louvain", view, 1.0, 5)
            same(limit, "leiden", view, 1.0, 5, 2)
    assert max(Counter(map(id, joined)).values()) >= 4
    labels, _ = gpu.louvain(view, 1.0, 5, Report("test"))
    found, modularity = within(40_000, "smaller_communities", view, labels, 20, 1.0, 5, 2)[0]
    wanted, other = gpu.smaller_communities(view, labels, 20, 1.0, 5, 2, Report("test"))
    assert modularity == other
    assert [each.tolist() for each in found] == [each.tolist() for each in wanted]


def test_levels_leave_their_memory_to_later_ones_and_runs(monkeypatch):
    made, empty = [], RunCache.empty
    monkeypatch.setattr(
        RunCache, "empty", lambda self, size, dtype: made.append(size) or empty(self, size, dtype)
    )
    view, asked = weighted(8, True, None), []
    for _ in range(2):
        within(40_000, "leiden", view, 1.0, 5, 2)
        asked.append(sum(made))
        made.clear()
    assert asked[1] < asked[0] / 4


def test_pairs_of_vertices_in_batches():
    for directed in (False, True):
        view = weighted(8, directed, None)
        first, second = np.random.default_rng(3).integers(0, view.num_vertices, (2, 5000))
        for limit in ("1MB", 60_000):
            same(limit, "jaccard_of_pairs", view, first, second)
            same(limit, "jaccard_two_hop", view)
    same("1MB", "jaccard_two_hop", edgeless(3).view())


def test_similar_vertices_in_batches():
    for directed in (False, True):
        view = weighted(8, directed, None)
        chosen = np.arange(view.num_vertices) % 3 > 0
        for limit in ("1MB", 120_000):
            same(limit, "similar", view, chosen, Similarity("jaccard", top_k=3))
            same(limit, "similar", view, chosen, Similarity("adamic_adar", least_common=2))


@pytest.mark.parametrize("kind", ["uint8", "float64"])
def test_betweenness_of_edges_and_by_weights(kind):
    for directed in (False, True):
        view = weighted(6, directed, kind, least=1)
        sources = np.arange(0, view.num_vertices, 9)
        for by in (False, True):
            found, _ = within(2_000_000, "edge_betweenness", view, sources, weighted=by)
            expected = cpu.edge_betweenness(view, sources, weighted=by, report=Report("test"))
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
        how = {"weighted": True, "endpoints": True, "edges": False}
        found, _ = within(2_000_000, "betweenness", view, sources, **how)
        expected = cpu.betweenness(view, sources, **how, report=Report("test"))
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_biconnected_components():
    for seed in range(6):
        view = random_small(seed).view()
        for function in ("bridges", "num_blocks", "biconnected_edges"):
            found, _ = within("1MB", function, view)
            wanted = getattr(cpu, function)(view, Report("test"))
            if function == "bridges":  # in no order
                found, wanted = (
                    sorted(map(sorted, zip(*ends, strict=True))) for ends in (found, wanted)
                )
            for one, other in zip(_parts_of(found), _parts_of(wanted), strict=True):
                np.testing.assert_array_equal(one, other)


def test_communities_of_a_hub_of_many_labels():
    """Whose row takes several passes of a small table, which each block of the GPU has."""
    made = star(3000)
    ends = np.r_[
        np.c_[made.source, made.destination], np.c_[np.arange(1, 2999, 2), np.arange(2, 3000, 2)]
    ]
    view = MadeGraph(3000, *ends.T).view()
    limit = 330_000 + 2048 * 3 * cupy.cuda.Device().attributes["MultiProcessorCount"]
    for function in ("louvain", "leiden"):
        same(limit, function, view, 1.0, 5, *([2] * (function == "leiden")))
