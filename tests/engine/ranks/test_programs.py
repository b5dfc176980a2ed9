"""Vertex programs on many ranks against the same on one."""

from dataclasses import replace
from functools import partial

import dask
import numpy as np
import pytest
from cut_graphs import Cut, cut
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import edgeless, grid, path
from rank_programs import CASES, HOPS, SUPERSTEPS, TOP
from rank_runs import made_view, on_one, put_together, same
from small_graphs import on_threads, small_graphs

from dask_graphgpu.engine import ranks
from dask_graphgpu.engine.cpu import in_place
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.ranks import in_place as ranks_in_place
from dask_graphgpu.errors import IntegerOverflow, InvalidArgument, InvalidVertices, NotConverged
from dask_graphgpu.fields import Field, Sum
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report


def on_ranks(program, parts, **arguments):
    """The state of the whole graph, put together of all ranks'."""
    report = Report("test")
    return put_together(
        parts,
        parts.run(lambda share: ranks.run(program, share, RunOptions(report=report, **arguments))),
    )


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("name", CASES)
def test_every_program_gives_the_same_on_any_number_of_ranks(name, size):
    case = CASES[name]
    for seed in range(6):
        view = made_view(seed, case)
        expected = on_one(case.program, view, **case.arguments(view.num_vertices))
        way = ("random", "blocks", "cyclic", "last")[seed % 4]
        parts = cut(view, size, way, seed)
        found = on_ranks(case.program, parts, **case.arguments(view.num_vertices))
        same(found, expected, rtol=case.rtol)
        if name in SUPERSTEPS:
            assert found.supersteps == expected.supersteps


@pytest.mark.parametrize("direction", ["push", "pull", "notify-pull"])
@pytest.mark.parametrize("name", CASES)
def test_forced_directions_give_the_same(name, direction):
    case = CASES[name]
    view = made_view(3, case)
    expected = on_one(case.program, view, **case.arguments(view.num_vertices))
    with dask.config.set({"graphgpu.direction": direction}):
        found = on_ranks(case.program, cut(view, 3, "random"), **case.arguments(view.num_vertices))
    same(found, expected, rtol=case.rtol)


MONOTONE = [name for name in CASES if name not in SUPERSTEPS]


@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", MONOTONE)
def test_monotone_programs_converge_locally_or_not(name, threads, local, monkeypatch):
    """Small graphs take the ways of large ones: threads, sweeps, and stretches of one bucket."""
    monkeypatch.setattr(in_place, "LONG_LIST", 3)
    monkeypatch.setattr(in_place, "DENSE_LIST", 0.0)
    few = replace(ranks_in_place.STRETCHES, few_edges=2)
    monkeypatch.setattr(ranks_in_place, "STRETCHES", few)
    case = CASES[name]
    for seed in (2, 3, 5):
        view = made_view(seed, case)
        expected = on_one(case.program, view, **case.arguments(view.num_vertices))
        parts = cut(view, 3, "random", seed)
        with on_threads(threads, little_work=4, local_convergence=local):
            found = on_ranks(case.program, parts, **case.arguments(view.num_vertices))
        same(found, expected, rtol=0)


def test_local_convergence_saves_exchanges():
    """A path in halves: its length is crossed once, not a vertex at a time."""
    view = path(400, directed=True).view()
    parts = cut(view, 2, "blocks")
    found = on_ranks(HOPS, parts, sources=[0])
    assert found["hops"].tolist() == list(range(400))
    assert found.supersteps == 3
    with dask.config.set({"graphgpu.local-convergence": False}):
        found = on_ranks(HOPS, parts, sources=[0])
    assert found["hops"].tolist() == list(range(400))
    assert found.supersteps == 400


def test_local_convergence_is_true_or_false():
    parts = cut(path(4).view(), 2)
    with (
        dask.config.set({"graphgpu.local-convergence": "no"}),
        pytest.raises(InvalidArgument, match="local-convergence is 'no'"),
    ):
        on_ranks(HOPS, parts, sources=[0])


@pytest.mark.parametrize("size", [1, 3])
def test_targets_are_right_where_the_run_ends_early(size):
    case = CASES["sssp int64"]
    side = 40
    weight = np.random.default_rng(0).integers(1, 10, 2 * side * (side - 1))
    view = grid(side, weight=weight).view()
    expected = on_one(case.program, view, sources=[0])
    for target in (1, side + 1, 10 * side + 3, side * side - 1):
        reports = []

        def run(share, target=target, reports=reports):
            reports.append(Report("test"))
            return ranks.run(
                case.program,
                share,
                RunOptions(sources=[0], targets=[target, 0], report=reports[-1]),
            )

        parts = cut(view, size, "blocks")
        found = parts.whole([state["distance"] for state in parts.run(run)])
        assert found[target] == expected["distance"][target]
        read = sum(advance.edges for report in reports for advance in report.advances)
        assert read < view.num_edges / 10 or target > 2 * side


def test_targets_that_are_not_reached_do_not_stop_a_run():
    view = path(30, directed=True, weight=np.ones(29, np.int64)).view()
    found = on_ranks(CASES["sssp int64"].program, cut(view, 3), sources=[10], targets=[3, 29])
    assert found["distance"][10:].tolist() == list(range(20))
    assert not found.reached[3]


# -- errors are those of one rank ---------------------------------------------------------------


@pytest.mark.parametrize("weights", [[2**62, 2**62], [TOP, 1], [TOP, TOP]])
@pytest.mark.parametrize("direction", ["auto", "push", "pull"])
def test_overflow_of_a_message_is_an_error(weights, direction):
    view = path(3, directed=True, weight=np.array(weights)).view()
    program = replace(CASES["sssp int64"].program, bound=None)
    with (
        dask.config.set({"graphgpu.direction": direction}),
        pytest.raises(IntegerOverflow, match="float weights"),
    ):
        on_ranks(program, cut(view, 3, "cyclic"), sources=[0])


def test_the_largest_integer_is_a_distance_like_any_other():
    view = path(6, directed=True, weight=np.array([2**62, 2**62 - 1, 0, 0, 0])).view()
    program = replace(CASES["sssp int64"].program, bound=None)
    for direction in ("auto", "push", "pull"):
        with dask.config.set({"graphgpu.direction": direction}):
            found = on_ranks(program, cut(view, 3, "cyclic"), sources=[0])
        assert found["distance"].tolist() == [0, 2**62, TOP, TOP, TOP, TOP]
        assert found.reached.all()


def test_nan_that_is_given_does_not_travel_for_ever():
    program = VertexProgram(
        state={"x": Field("float64", vertices="x")},
        compute=lambda source_x: source_x + 1.0,
        combine="min",
    )
    view = path(6, directed=True).view()
    view = view.with_columns({"x": np.array([0.0, 9.0, np.nan, 9.0, 9.0, 9.0])})
    expected = on_one(program, view)["x"]
    np.testing.assert_array_equal(on_ranks(program, cut(view, 3, "cyclic"))["x"], expected)


def sum_of(values, *, edges=0, **more):
    """A program that adds up a column over all vertices."""
    program = VertexProgram(
        state={"x": Field("int64", vertices="x")},
        compute=lambda: 0,
        combine="sum",
        apply=lambda x: x,
        aggregates={"total": Sum(lambda new_x: new_x)},
        **more,
    )
    view = edgeless(len(values)).view().with_columns({"x": np.array(values, np.int64)})
    return program, view


def test_a_sum_that_fits_may_pass_int64_on_the_way():
    program, view = sum_of([2**62, 2**62, 2**62, -(2**62), -(2**62), -(2**62), 5])
    found = on_ranks(program, cut(view, 2, "blocks"), max_supersteps=1, exact_supersteps=True)
    assert found.aggregates == {"total": 5}


def test_a_sum_of_all_ranks_beyond_int64_is_an_error():
    program, view = sum_of([2**62, 2**62])
    with pytest.raises(IntegerOverflow, match="aggregates"):
        on_ranks(program, cut(view, 2, "blocks"), max_supersteps=1, exact_supersteps=True)
    program, view = sum_of([2**62, 2**62], wraps=True)
    found = on_ranks(program, cut(view, 2, "blocks"), max_supersteps=1, exact_supersteps=True)
    assert found.aggregates == {"total": -(2**63)}


def test_the_overflow_of_an_aggregate_is_an_error_only_when_it_is_asked_for():
    program = VertexProgram(
        state={"x": Field("int64", initial=2**30)},
        compute=lambda: 0,
        combine="sum",
        apply=lambda x: x * 4,
        aggregates={"square": Sum(lambda x: x * x)},
        stop=lambda superstep: superstep == 1,
    )
    expected = on_one(program, path(5).view())
    found = on_ranks(program, cut(path(5).view(), 2))
    assert found.aggregates == expected.aggregates


def test_runs_that_do_not_converge_say_the_same():
    case = CASES["pagerank"]
    view = made_view(4, case)
    with pytest.raises(NotConverged) as expected:
        on_one(case.program, view, max_supersteps=3)
    with pytest.raises(NotConverged) as found:
        on_ranks(case.program, cut(view, 3), max_supersteps=3)
    assert str(found.value).split("(")[0] == str(expected.value).split("(")[0]


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"sources": [30]}, InvalidArgument, "lie in 0 .. 29"),
        ({}, InvalidArgument, "run the program with source="),
        ({"sources": [0], "cutoff": 3}, InvalidArgument, "need a program with priority"),
        ({"sources": [0], "constants": {"c": 1}}, InvalidArgument, "the program declares none"),
    ],
)
def test_arguments_are_checked_on_all_ranks(arguments, error, match):
    with pytest.raises(error, match=match):
        on_ranks(HOPS, cut(path(30).view(), 2), **arguments)


def test_a_column_that_is_missing():
    view = path(9, weight=np.ones(8)).view().with_columns({"other": np.zeros(9)})
    with pytest.raises(InvalidVertices, match="reads column 'initial'"):
        on_ranks(CASES["heat"].program, cut(view, 2), max_supersteps=1)


def test_an_exception_on_one_rank_is_the_one_that_is_raised():
    program = VertexProgram(
        state={"x": Field("int64", initial=lambda id: id)},  # noqa: A006
        compute=lambda source_x: source_x,
        combine="sum",
        apply=lambda x, message: 1 // (x - 7) + message,
    )
    with pytest.raises(ZeroDivisionError) as raised:
        on_ranks(program, cut(path(20).view(), 4, "blocks"), max_supersteps=3)
    assert raised.value.__notes__ == ["raised by rank 1 of 4"]


# -- what travels --------------------------------------------------------------------------------


def test_a_superstep_is_one_exchange_with_all_its_aggregates():
    steps = []

    def run(share):
        view = share.toward("out")
        view.degrees("out"), view.weighted_degrees("out")
        count, step = [0], share.ranks.step

        def counted(*arguments):
            count[0] += 1
            return step(*arguments)

        share.ranks.step = counted
        state = ranks.run(
            CASES["pagerank"].program, share, RunOptions(max_supersteps=50, report=Report("test"))
        )
        steps.append((count[0], state.supersteps))

    cut(made_view(4, CASES["pagerank"]), 3).run(run)
    # One for the number of active vertices at the start, one for the first sum over the old ranks.
    assert {taken - supersteps for taken, supersteps in steps} == {2}


def test_what_does_not_travel_is_no_garbage_at_ghosts(monkeypatch):
    """After any number of supersteps: they swap arrays, of which one was never written there."""
    monkeypatch.setattr(np, "empty_like", lambda like: np.full_like(like, 77))
    program = VertexProgram(
        state={"sent": Field("float64", initial=1.0), "kept": Field("float64", initial=2.0)},
        compute=lambda source_sent: source_sent,
        combine="sum",
        apply=lambda kept, message: {"sent": message / 4, "kept": kept + 1},
    )
    parts, more = cut(grid(4).view(), 2, "random"), {"exact_supersteps": True}

    def run(share, supersteps):
        report = Report("test")
        return share, ranks.run(
            program, share, RunOptions(max_supersteps=supersteps, report=report, **more)
        )

    for supersteps in (1, 2):
        for share, state in parts.run(partial(run, supersteps=supersteps)):
            kept = state["kept"]
            assert 0 < share.num_owned < share.num_vertices
            assert (kept[: share.num_owned] == 2 + supersteps).all()
            assert (kept[share.num_owned :] == 2).all()


def test_only_values_of_active_vertices_travel():
    """A front that passes over a path: one value a superstep crosses, once."""

    def run(share):
        ranks.run(HOPS, share, RunOptions(sources=[0], max_supersteps=500, report=Report("test")))
        before = share.border.sent_bytes
        ranks.run(HOPS, share, RunOptions(sources=[0], max_supersteps=500, report=Report("test")))
        return share.border.sent_bytes - before

    sent = cut(path(400).view(), 2, "blocks").run(run)
    assert 0 < sum(sent) < 100


@given(small_graphs(weights=["int64", "float64"]), st.integers(1, 5), st.data())
def test_shortest_paths_of_any_graph_under_any_owners(graph, size, data):
    graph = replace(graph, rank=None)
    owner = data.draw(
        st.lists(st.integers(0, size - 1), min_size=graph.n, max_size=graph.n), "owner"
    )
    source = data.draw(st.integers(0, graph.n - 1), "source")
    view = graph.view()
    program = CASES["sssp int64"].program
    try:
        expected = on_one(program, view, sources=[source])
    except IntegerOverflow:
        with pytest.raises(IntegerOverflow):
            on_ranks(program, Cut(view, owner, size), sources=[source])
        return
    same(on_ranks(program, Cut(view, owner, size), sources=[source]), expected, rtol=0)
