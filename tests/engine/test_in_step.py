"""Iterations on threads that are woken once: the answers of programs, whoever comes, and however late."""

import threading
from unittest import mock

import dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import path, rmat, star
from small_graphs import on_threads, small_graphs

from dask_graphgpu import errors
from dask_graphgpu.algorithms.pagerank import power_program
from dask_graphgpu.engine import cpu
from dask_graphgpu.engine.cpu import in_step
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.kernels.cpu import in_step as kernels
from dask_graphgpu.kernels.cpu.threads import for_blocks
from dask_graphgpu.report import Report


def small_blocks(at_once=1 << 28):
    return mock.patch.multiple(in_step, BLOCK=3, AT_ONCE=at_once)


def by_matrix(graph, personal, iterations):
    """Ranks by products of a dense matrix."""
    step = np.zeros((graph.n, graph.n))  # step[v, u]: weight from u to v
    for u, v, *weight in graph.edges:
        step[v, u] += weight[0] if weight else 1
        if not graph.directed and u != v:
            step[u, v] += weight[0] if weight else 1
    degree = step.sum(axis=0)
    step[:, degree > 0] /= degree[degree > 0]
    step[:, degree == 0] = personal[:, None]
    rank = np.full(graph.n, 1 / graph.n)
    for _ in range(iterations):
        rank = 0.15 * personal + 0.85 * step @ rank
    return rank


def ranks(view, iterations, *, personal=None, dtype="float64", tolerance=0.0):
    how = {"damping": 0.85, "tolerance": tolerance, "max_iterations": iterations}
    return cpu.pagerank(view, personal, None, np.dtype(dtype), report=Report("pagerank"), **how)


@given(st.data(), small_graphs(weights=(None, "uint8")), st.sampled_from([1, 3]))
def test_pagerank_is_that_of_products(data, graph, number):
    view = graph.view()
    personal, given_ones = np.full(graph.n, 1 / graph.n), data.draw(st.booleans())
    if given_ones:
        jumps = data.draw(st.lists(st.integers(1, 4), min_size=graph.n, max_size=graph.n))
        personal = np.array(jumps) / sum(jumps)
    with on_threads(number), small_blocks(data.draw(st.sampled_from([1, 1 << 28]))):
        found = ranks(view, 4, personal=personal if given_ones else None)
    if found is None:
        assert number > 1
        assert 4 * number * view.into.degrees.max() > view.num_edges + view.num_vertices
        return
    np.testing.assert_allclose(found, by_matrix(graph, personal, 4), rtol=1e-6, atol=1e-12)


def test_float32_is_that_of_the_program():
    view = rmat(8, 4).view()
    program = power_program("float32", weighted=False, personal=False)
    options = RunOptions(
        report=Report("program"),
        constants={"damping": 0.85, "tolerance": 0.0},
        max_supersteps=9,
        exact_supersteps=True,
    )
    wanted = cpu.run(program, view, options)["rank"]
    with on_threads(1):
        found = ranks(view, 9, dtype="float32")
    assert found.dtype == wanted.dtype == np.float32
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


@pytest.mark.parametrize("by_degree", [True, False])  # rows as they lie, and in an order
def test_neither_threads_nor_calls_matter(by_degree):
    view = rmat(10, 8, by_degree=by_degree).view()
    answers = []
    for number, at_once in ((1, 1), (2, 1), (2, 1 << 28), (5, 1 << 28)):
        with on_threads(number), mock.patch.multiple(in_step, BLOCK=64, AT_ONCE=at_once):
            answers.append([*cpu.hits(view, 0.0, 20, Report("hits")), ranks(view, 20)])
    for other in answers[1:]:
        for found, wanted in zip(other[:2], answers[0][:2], strict=True):
            assert found.tolist() == wanted.tolist()
    assert answers[0][2] is not None


def test_the_end_is_the_same_for_all_threads():
    view = rmat(9, 8).view()
    with on_threads(3), mock.patch.multiple(in_step, BLOCK=64):
        report = Report("hits")
        hub, _ = cpu.hits(view, 1e-6, 1000, report)
        made = sum(row.supersteps for row in report.advances)
        assert 1 < made < 1000
        assert hub.tolist() == cpu.hits(view, 0.0, made, Report("hits"))[0].tolist()
        with pytest.raises(errors.NotConverged):
            cpu.hits(view, 1e-6, made - 1, Report("hits"))


def test_pagerank_ends_at_its_tolerance():
    view = path(2000).view()
    close = ranks(view, 500, tolerance=1e-10)
    assert close.sum() == pytest.approx(1)
    np.testing.assert_allclose(close, ranks(view, 300), atol=1e-9)
    with pytest.raises(errors.NotConverged, match=r"after 3 supersteps .*residual"):
        ranks(view, 3, tolerance=1e-10)


def test_the_program_takes_what_has_to_be_cut_or_is_forced():
    with on_threads(2):
        assert ranks(star(50).view(), 3) is None
    with dask.config.set({"graphgpu.direction": "push"}):
        assert ranks(path(50).view(), 3) is None


def test_who_comes_late_goes_past_what_is_done():
    claimed, done = np.zeros((2, 2), np.int64)
    seen = []

    def go(lo, hi):
        for step in range(2):
            i = kernels.claim(claimed, step)
            while i < 4:
                seen.append((step, i))
                kernels.finish(done, step)
                i = kernels.claim(claimed, step)
            kernels.wait(done, step, 4)

    go(0, 1)
    late = threading.Thread(target=go, args=(1, 2))
    late.start()
    late.join(10)
    assert not late.is_alive()
    assert sorted(seen) == [(step, i) for step in range(2) for i in range(4)]


def test_a_thread_waits_for_the_block_of_another():
    claimed, done = np.zeros((2, 1), np.int64)
    assert kernels.claim(claimed, 0) == 0
    timer = threading.Timer(0.2, kernels.finish, (done, 0))
    timer.start()
    assert for_blocks(lambda lo, hi: kernels.wait(done, 0, 1), np.arange(2)) == [None]
    assert done[0] == 1
    timer.join()
