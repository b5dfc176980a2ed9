"""Methods that only stream edges, over edges of which only some fit the limit of device memory."""

from dataclasses import replace
from importlib import import_module

import dask
import numpy as np
import pytest
from made_graphs import SHAPES, edgeless, random_small, rmat, simple, star

from dask_graphgpu.engine import cpu, limits, tiered
from dask_graphgpu.errors import LimitTooSmall
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

SHARES = [0, 0.4, 1]


def weighted(graph, kind):
    """With random weights, or without: small whole numbers, or of float64 any."""
    if kind is None:
        return graph
    rng, number = np.random.default_rng(7), len(graph.source)
    weight = rng.random(number) if kind == "float64" else rng.integers(1, 9, number).astype(kind)
    return replace(graph, weight=weight)


@pytest.mark.parametrize("weight", [None, "int64", "float32", "float64"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_hits_of_shapes(shape, directed, weight, limited):
    view = weighted(SHAPES[shape](directed=directed), weight).view()
    expected = cpu.hits(view, 0, 5, Report("test"))
    for share in SHARES:
        found, report = limited(tiered.hits, view, share, "auto", 0, 5)
        for mine, wanted in zip(found, expected, strict=True):
            np.testing.assert_allclose(mine, wanted, rtol=1e-12, atol=1e-300)
        assert sum(each.edges for each in report.advances) == 10 * view.num_edges


@pytest.mark.parametrize("weight", [None, "int64", "float32", "float64"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_forests_of_shapes(shape, directed, weight, limited):
    graph = weighted(SHAPES[shape](directed=directed), weight)
    for rank in (None, np.random.default_rng(5).permutation(graph.n)):
        view = replace(graph, rank=rank).view()
        expected = forest_of(cpu.spanning_forest(view, Report("test")))
        for share in SHARES:
            found, _ = limited(tiered.spanning_forest, view, share)
            assert forest_of(found) == expected


@pytest.mark.parametrize(("kind", "size"), [("int64", 4), ("float32", 4), ("float64", 12)])
def test_weights_cross_in_words_where_they_fit(kind, size, limited):
    view = weighted(rmat(10, 8), kind).view()
    for name, given, passes in (("hits", (0, 3), 6), ("spanning_forest", (), 1)):
        _, report = limited(getattr(tiered, name), view, 0, "stream", *given)
        crossed = report.moved["stream"]["bytes"]
        assert crossed <= passes * view.num_edges * size, name
        assert crossed >= passes * (view.num_edges - 2 * limits.BLOCK) * size, name


def forest_of(found):
    return sorted(zip(*(array.tolist() for array in found), strict=True))


def test_a_forest_of_many_batches(limited, monkeypatch):
    monkeypatch.setattr(import_module("dask_graphgpu.engine.tiered.spanning_forest"), "_ROOM", 2)
    view = weighted(rmat(10, 32), "float64").view()
    found, report = limited(tiered.spanning_forest, view, 0)
    assert forest_of(found) == forest_of(cpu.spanning_forest(view, Report("test")))
    assert len(report.advances) > 10


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("shape", SHAPES)
def test_strong_components_of_shapes(shape, share, limited):
    for directed in (True, False):
        graph = SHAPES[shape](directed=directed)
        for rank in (None, np.random.default_rng(5).permutation(graph.n)):
            view = replace(graph, rank=rank).view()
            expected = cpu.strong_components(view, Report("test"))
            found, _ = limited(tiered.strong_components, view, share)
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_labels_of_shapes(shape, directed, limited):
    graph = SHAPES[shape](directed=directed)
    for rank in (None, np.random.default_rng(5).permutation(graph.n)):
        view = View.of(simple(graph.view()).out, directed=directed, user_rank=rank)
        longest = max(int(rows.degrees.max()) for rows in (view.out, view.into))
        expected = cpu.label_propagation(view, 4, Report("test"))
        for share in SHARES:
            found, _ = limited(tiered.label_propagation, view, share, "auto", 4, row=longest)
            np.testing.assert_array_equal(found, expected)


def test_labels_of_a_row_too_long_for_the_device():
    view = simple(star(50_000).view())
    with (
        dask.config.set({"graphgpu.device-memory-limit": 50_000 * 36}),
        pytest.raises(LimitTooSmall, match=r"one of which has 49,999 edges, need [\d,]+ bytes"),
    ):
        tiered.label_propagation(view, 4, Report("test"))


def test_small_graphs(limited, monkeypatch):
    monkeypatch.setattr(limits, "BLOCK", 32)
    for seed in range(24):
        graph = random_small(seed)
        view = graph.view()
        for name in ("strong_components", "core_numbers"):
            expected = getattr(cpu, name)(view, Report("test"))
            found, _ = limited(getattr(tiered, name), view, 0)
            assert found.tolist() == expected.tolist(), (name, seed)
        found, _ = limited(tiered.spanning_forest, view, 0)
        assert forest_of(found) == forest_of(cpu.spanning_forest(view, Report("test"))), seed
        expected = cpu.label_propagation(simple(view), 3, Report("test"))
        found, _ = limited(tiered.label_propagation, simple(view), 0, "auto", 3, row=200)
        assert found.tolist() == expected.tolist(), seed


@pytest.mark.parametrize("way", ["auto", "stream", "compact"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_cores_of_shapes(shape, directed, way, limited):
    view = SHAPES[shape](directed=directed).view()
    expected = cpu.core_numbers(view, Report("test"))
    for share in SHARES:
        found, report = limited(tiered.core_numbers, view, share, way)
        np.testing.assert_array_equal(found, expected)
        assert set(report.moved) <= {"zero-copy" if way == "auto" else way, "stream"}
        for k in (
            -1,
            0,
            1,
            int(expected.max()) // 2 + 1,
            int(expected.max()) + 1,
            view.num_vertices + 1,
        ):
            inside, _ = limited(
                lambda view, report, k=k: tiered.k_core(view, k, report), view, share, way
            )
            np.testing.assert_array_equal(inside, expected >= k)


def test_cores_read_each_row_once_over_the_link(limited):
    view = rmat(11, 16).view()
    rows = simple(view).out
    _, report = limited(tiered.core_numbers, view, 0, "zero-copy")
    (peel,), crossed = report.advances, report.moved["zero-copy"]["bytes"]
    resident = limits.BUFFERS * limits.BLOCK  # in the place of buffers
    assert resident < peel.edges <= rows.num_edges
    assert (
        0 <= peel.edges * rows.neighbours.itemsize - crossed <= resident * rows.neighbours.itemsize
    )


@pytest.mark.parametrize("name", ["hits", "spanning_forest", "strong_components", "core_numbers"])
def test_nothing(name, limited):
    given = (0, 3) if name == "hits" else ()
    for n in (0, 1, 3):
        for directed in (True, False):
            view = edgeless(n, directed=directed).view()
            expected = getattr(cpu, name)(view, *given, report=Report("test"))
            found, _ = limited(getattr(tiered, name), view, 1, "auto", *given)
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["hits", "spanning_forest", "strong_components", "core_numbers"])
def test_limits_too_small(name):
    view = rmat(10, directed=True).view()
    given = (0, 3) if name == "hits" else ()
    with (
        dask.config.set({"graphgpu.device-memory-limit": 20_000}),
        pytest.raises(
            LimitTooSmall, match=r"of 1,024 vertices needs [\d,]+ bytes of the GPU's memory"
        ),
    ):
        getattr(tiered, name)(view, *given, report=Report("test"))
