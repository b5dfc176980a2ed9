"""Programs over edges by layers: the answers of rows, in the sweeps that layers promise."""

import dask
import numpy as np
import pytest
from cut_graphs import cut
from hypothesis import given
from hypothesis import strategies as st
from layered_views import against_the_order, layered, layered_share
from made_graphs import SHAPES, grid, path, random_small
from rank_programs import CASES, SUPERSTEPS
from rank_runs import made_view
from small_graphs import on_threads, small_graphs

from dask_graphgpu.engine import cpu, ranks
from dask_graphgpu.engine.cpu.layered import combined
from dask_graphgpu.engine.known import DISTANCES as SSSP
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.errors import IntegerOverflow, InvalidArgument
from dask_graphgpu.fields import Field
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report

MONOTONE = [name for name in CASES if name not in SUPERSTEPS]


def run(program, view, **arguments):
    report = Report("test")
    return cpu.run(program, view, RunOptions(report=report, **arguments)), report


def bfs(view, source, cutoff=None):
    report = Report("test")
    return cpu.bfs(view, source, cutoff=cutoff, targets=None, report=report), report


def same(found, expected):
    for name in expected:
        assert found[name].dtype == expected[name].dtype
        np.testing.assert_array_equal(found[name], expected[name])
    assert (found.reached is None) == (expected.reached is None)
    if expected.reached is not None:
        np.testing.assert_array_equal(found.reached, expected.reached)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", CASES)
def test_every_program_gives_what_rows_give(name, threads):
    case = CASES[name]
    for seed in range(6):
        view = made_view(seed, case)
        arguments = case.arguments(view.num_vertices)
        expected, _ = run(case.program, view, **arguments)
        root = None if seed % 2 else view.num_vertices // 2
        with on_threads(threads, layer_edges=(1, 5, 1000)[seed % 3]):
            found, report = run(case.program, layered(view, root), **arguments)
        same(found, expected)
        swept = {made.direction for made in report.advances} == {"layers"}
        assert swept == (name in MONOTONE) or not report.advances


@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("name", MONOTONE)
def test_every_program_gives_the_same_on_ranks(name, size, local):
    case = CASES[name]
    for seed in range(4):
        view = made_view(seed, case)
        arguments = case.arguments(view.num_vertices)
        expected, _ = run(case.program, view, **arguments)
        parts = cut(view, size, ("random", "blocks", "last")[seed % 3], seed)

        def one(share, arguments=arguments):
            made = layered_share(share)
            state = ranks.run(case.program, made, RunOptions(report=Report("test"), **arguments))
            first = state[case.program.first]
            reached = np.ones(len(first), bool) if state.reached is None else state.reached
            return first, reached

        with dask.config.set({"graphgpu.local-convergence": local}):
            values, reached = zip(*parts.run(one), strict=True)
        np.testing.assert_array_equal(parts.whole(list(values)), expected[case.program.first])
        if expected.reached is not None:
            np.testing.assert_array_equal(parts.whole(list(reached)), expected.reached)


@given(
    small_graphs(weights=("int64", "uint8", "float64")),
    st.integers(0, 11),
    st.integers(0, 11),
    st.sampled_from([1, 2]),
    st.sampled_from([1, 3, 10**6]),
)
def test_searches_and_paths(graph, source, root, threads, least):
    view = graph.view()
    source, root = source % graph.n, root % graph.n
    made = layered(view, root)
    expected, _ = bfs(view, source)
    near, _ = bfs(view, source, 2)
    paths, _ = run(SSSP, view, sources=[source])
    with on_threads(threads, layer_edges=least):
        np.testing.assert_array_equal(bfs(made, source)[0], expected)
        np.testing.assert_array_equal(bfs(made, source, 2)[0], near)
        same(run(SSSP, made, sources=[source])[0], paths)


@pytest.mark.parametrize("least", [1, 100, 10**9])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_search_from_the_root_is_one_sweep(shape, least):
    view = layered(SHAPES[shape]().view())
    numbers = np.arange(view.num_vertices) if view.user_rank is None else view.user_rank
    root = int(np.flatnonzero(numbers == view.levels.root)[0])
    with dask.config.set({"graphgpu.layer-edges": least, "graphgpu.threads": 2}):
        found, report = bfs(view, root)
    reached = view.levels.level[found >= 0]
    np.testing.assert_array_equal(found[found >= 0], reached)
    assert len(report.advances) == 1
    # One pass over each layer of the root's tree, and its edges read once each.
    degrees = view.out.degrees
    assert report.advances[0].supersteps == reached.max() + 1
    assert report.advances[0].edges == degrees[found >= 0].sum()


def test_an_edge_back_to_a_lower_level_takes_another_sweep():
    """0 -> 1 costs 10, 0 -> 2 -> 3 -> 1 costs 3, and 1 -> 4 has been passed by then."""
    source, destination = np.array([[0, 0, 2, 3, 1], [1, 2, 3, 1, 4]])
    made = grid(1, directed=True)
    made = type(made)(5, source, destination, True, weight=np.array([10, 1, 1, 1, 1]))
    state, report = run(SSSP, layered(made.view(), 0), sources=[0])
    assert state["distance"].tolist() == [0, 3, 1, 2, 4]
    assert len(report.advances) == 2
    assert report.advances[1].frontier == 1


def test_from_another_source_sweeps_go_on_until_all_is_quiet():
    view = path(60, directed=False).view()
    found, report = bfs(layered(view, 0), 59)  # against the order of layers
    assert found.tolist() == list(range(59, -1, -1))
    assert len(report.advances) == 60
    found, report = bfs(layered(view, 59), 59)
    assert len(report.advances) == 1


def test_combined_layers():
    assert combined(np.array([3, 4, 20, 1, 1, 30, 40, 2]), 10) == [
        (0, 2), (2, 3), (3, 5), (5, 6), (6, 7), (7, 8),
    ]  # fmt: skip
    assert combined(np.array([1, 2, 3]), 10) == [(0, 3)]
    assert combined(np.array([10, 20]), 10) == [(0, 1), (1, 2)]
    assert combined(np.empty(0, np.int64), 10) == []


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("least", [1, 10**6])
def test_a_level_is_repeated_where_it_is_asked_for(least, threads):
    view, sweeps = layered(against_the_order().view(), 0), []
    for repeats in (0, 1, 25):
        given = {"graphgpu.layer-repeats": repeats}
        with on_threads(threads, layer_edges=least), dask.config.set(given):
            state, report = run(SSSP, view, sources=[0])
        assert state["distance"].tolist() == [0, *range(20, 0, -1)]
        sweeps.append(len(report.advances))
    assert sweeps[0] > sweeps[1] > sweeps[2] == 1


@pytest.mark.parametrize("given", [-1, 2.5, True, None, "many"])
def test_the_number_of_repeats_is_a_number(given):
    view = layered(path(5).view())
    with (
        dask.config.set({"graphgpu.layer-repeats": given}),
        pytest.raises(InvalidArgument, match="layer-repeats"),
    ):
        bfs(view, 0)


@pytest.mark.parametrize("given", [0, -1, 2.5, True, "many"])
def test_the_least_number_of_edges_is_a_number(given):
    view = layered(path(5).view())
    with (
        dask.config.set({"graphgpu.layer-edges": given}),
        pytest.raises(InvalidArgument, match="layer-edges"),
    ):
        bfs(view, 0)


@pytest.mark.parametrize("least", [1, 10**6])
def test_overflow_is_an_error(least):
    big = np.array([2**62, 2**62, 2**62])
    view = layered(path(4, directed=True, weight=big).view(), 0)
    with on_threads(2, layer_edges=least), pytest.raises(IntegerOverflow, match="float weights"):
        run(SSSP, view, sources=[0])


def test_a_value_that_falls_along_a_loop_is_sent_again():
    halves = VertexProgram(
        state={"value": Field("int64", initial=lambda degree: 1000 + degree)},
        compute=lambda source_value: source_value // 2,
        combine="min",
        monotone=True,
    )
    source, destination = np.array([[0, 0, 1], [0, 1, 2]])
    made = type(path(3))(3, source, destination, True)
    for least in (1, 10**6):
        with on_threads(2, layer_edges=least):
            found, _ = run(halves, layered(made.view(), 0))
        assert found["value"].tolist() == [0, 0, 0]


@pytest.mark.parametrize("direction", ["in", "both"])
def test_messages_against_the_edges(direction):
    program = VertexProgram(
        state={"label": Field("id", initial=lambda id: id)},  # noqa: A006  as programs name it
        compute=lambda source_label: source_label,
        combine="min",
        edges=direction,
    )
    for seed in range(8):
        view = random_small(seed).view()
        expected, _ = run(program, view)
        found, report = run(program, layered(view))
        same(found, expected)
        assert {made.direction for made in report.advances} <= {"layers"}
