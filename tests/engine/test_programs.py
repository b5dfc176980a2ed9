"""The compiled engine against the interpreter, and both against simple oracles."""

import threading

import dask
import numpy as np
import pytest
from engine_programs import (
    CASES,
    LABELS,
    PAGERANK,
    SSSP,
    TOP,
    WIDEST,
    compiled,
    dijkstra,
    edges_of,
    interpreted,
    random_view,
    same,
)

from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("directed", [True, False])
def test_forced_directions_agree_with_the_interpreter(name, directed, direction):
    program, arguments, rtol = CASES[name]
    for seed in (0, 1):
        view = random_view(seed, directed=directed)
        expected = interpreted(program, view, **arguments)
        same(compiled(program, view, **arguments), expected, rtol=rtol)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("number", [1, 2])
def test_thread_counts_agree(name, number, eager):
    program, arguments, rtol = CASES[name]
    for seed in (3, 4):
        view = random_view(seed, directed=seed == 3, m=200)
        expected = interpreted(program, view, **arguments)
        with dask.config.set({"graphgpu.threads": number}):
            same(compiled(program, view, **arguments), expected, rtol=rtol)
            assert view.into is not None  # now sweeps may be taken
            same(compiled(program, view, **arguments), expected, rtol=rtol)


def test_pull_sums_are_the_same_bits_for_any_number_of_threads(eager):
    view = random_view(5)
    results = []
    for number in (1, 2, 3):
        with dask.config.set({"graphgpu.threads": number, "graphgpu.direction": "pull"}):
            results.append(compiled(PAGERANK, view, max_supersteps=300)["rank"].tobytes())
    assert len(set(results)) == 1


@pytest.mark.parametrize("name", CASES)
def test_ids_of_64_bits(name):
    program, arguments, rtol = CASES[name]
    view = random_view(6, wide=True)
    assert view.out.neighbours.dtype == np.uint64
    expected = interpreted(program, random_view(6), **arguments)
    found = compiled(program, view, **arguments)
    for field in found:
        np.testing.assert_allclose(
            found[field].astype(float), expected[field].astype(float), rtol=rtol
        )


@pytest.mark.parametrize("weight", ["int64", "uint8", "int32", "float64", "float32", None])
def test_sssp_is_dijkstras(weight):
    view = random_view(7, weight=weight)
    expected = dijkstra(view, 0)
    state = compiled(SSSP, view, sources=[0])
    assert state["distance"].dtype == ("float64" if str(weight)[0] == "f" else "int64")
    assert set(np.flatnonzero(state.reached)) == set(expected)
    found = {v: state["distance"][v].item() for v in expected}
    assert found == pytest.approx(expected, rel=1e-12)


def test_widest_path_is_the_bottleneck_of_a_maximum_spanning_tree():
    view = random_view(8, directed=False)
    parent = list(range(view.num_vertices))

    def find(v):
        while parent[v] != v:
            v = parent[v]
        return v

    width = {0: TOP}
    for u, v, w in sorted(edges_of(view), key=lambda edge: -edge[2]):
        # all that joins the source's tree by this edge is as wide as the edge
        a, b = find(u), find(v)
        if a != b:
            if find(0) in (a, b):
                other = b if find(0) == a else a
                width |= {x: w for x in range(view.num_vertices) if find(x) == other}
            parent[a] = b
    state = compiled(WIDEST, view, sources=[0])
    assert {v: state["width"][v].item() for v in np.flatnonzero(state.reached).tolist()} == width


def test_labels_are_the_smallest_of_the_component():
    view = random_view(9, m=40)
    label = list(range(view.num_vertices))
    for _ in range(view.num_vertices):
        for u, v, _w in edges_of(view):
            label[u] = label[v] = min(label[u], label[v])
    assert compiled(LABELS, view)["label"].tolist() == label


def test_pagerank_is_the_fixed_point():
    view = random_view(10)
    n = view.num_vertices
    matrix = np.zeros((n, n))
    for u, v, _w in edges_of(view):
        matrix[v, u] += 1 / view.out.degrees[u]
    matrix[:, view.out.degrees == 0] = 1 / n
    expected = np.linalg.solve(np.eye(n) - 0.85 * matrix, np.full(n, 0.15 / n))
    state = compiled(PAGERANK, view, max_supersteps=300)
    np.testing.assert_allclose(state["rank"], expected, rtol=1e-7)
    assert state.aggregates["change"] < 1e-10


def test_programs_from_several_threads_at_once():
    view = random_view(15, directed=False)
    work = [(SSSP, {"sources": [0]}), (PAGERANK, {"max_supersteps": 300}), (LABELS, {})] * 2
    expected = [interpreted(program, view, **arguments) for program, arguments in work]
    found = [None] * len(work)

    def work_on(i):
        program, arguments = work[i]
        for _ in range(5):
            found[i] = compiled(program, view, **arguments)

    runners = [threading.Thread(target=work_on, args=(i,)) for i in range(len(work))]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join()
    for one, other in zip(found, expected, strict=True):
        same(one, other, rtol=1e-9)


def test_graphs_without_edges_or_vertices():
    empty = np.empty(0, np.int64)
    for n in (0, 3):
        view = View.of(from_edges(n, empty, empty, {"weight": empty}))
        assert compiled(LABELS, view)["label"].tolist() == list(range(n))
        for engine in (compiled, interpreted):
            ranks = engine(PAGERANK, view, max_supersteps=9)["rank"] if n else [1.0]
            assert sum(ranks) == pytest.approx(1)
    assert compiled(SSSP, view, sources=[1]).reached.tolist() == [False, True, False]
