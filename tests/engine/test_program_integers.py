"""Integers in vertex programs: exact to the last one, and errors where they overflow."""

import dask
import numpy as np
import pytest
from engine_programs import SSSP, TOP, WEIGHT_SUM, chain, compiled, interpreted, random_view, star
from engines import of_the_cpu_engine, run

from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.errors import IntegerOverflow
from dask_graphgpu.fields import Field
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report


@pytest.mark.parametrize("engine", [compiled, interpreted])
@pytest.mark.parametrize("forced", ["auto", "push", "pull"])
def test_integers_beyond_2_to_the_53_stay_exact(engine, forced):
    weights = [2**53 + 1, 1, 0, 2**62 - 3, 7]
    with dask.config.set({"graphgpu.direction": forced}):
        state = engine(SSSP, chain(weights), sources=[0])
    assert state["distance"].tolist() == np.cumsum([0, *weights], dtype=object).tolist()


@pytest.mark.parametrize("engine", [compiled, interpreted])
@pytest.mark.parametrize("forced", ["auto", "push", "pull"])
def test_the_largest_integer_is_a_distance_like_any_other(engine, forced):
    with dask.config.set({"graphgpu.direction": forced}):
        state = engine(SSSP, chain([2**62, 2**62 - 1, 0]), sources=[0])
    assert state["distance"].tolist() == [0, 2**62, TOP, TOP]
    assert state.reached.all()


@pytest.mark.parametrize("engine", [compiled, interpreted])
@pytest.mark.parametrize("weight", [[5, TOP], [TOP, 5]])
def test_the_largest_integer_is_no_better_than_another(engine, weight):
    columns = {"weight": np.array([*weight, 1])}
    view = View.of(from_edges(3, np.array([0, 0, 1]), np.array([1, 1, 2]), columns))
    for forced in ("auto", "push"):
        with dask.config.set({"graphgpu.direction": forced}):
            assert engine(SSSP, view, sources=[0])["distance"].tolist() == [0, 5, 6]


@pytest.mark.parametrize("number", [1, 2])
def test_infinity_is_no_better_than_another(number, eager):
    columns = {"weight": np.array([np.inf, 1.0, np.inf, 2.0, np.inf])}
    source, destination = np.array([0, 0, 1, 2, 0]), np.array([1, 2, 3, 4, 2])
    view = View.of(from_edges(6, source, destination, columns))
    for _ in range(2):
        with dask.config.set({"graphgpu.threads": number}):
            state = compiled(SSSP, view, sources=[0])
        assert state["distance"].tolist() == [0, np.inf, 1, np.inf, 3, 0]
        assert state.reached.tolist() == [True] * 5 + [False]
        assert view.into is not None  # now sweeps may be taken


@of_the_cpu_engine
def test_the_largest_integer_is_found_by_a_sweep_too(eager):
    program = VertexProgram(
        state={"distance": Field("weight", initial=None, at_source=0)},
        compute=lambda source_distance, weight: source_distance + weight,
        combine="min",
        wraps=True,
    )
    # All are sources but the one that only the largest integer reaches.
    source, destination = np.array([0, 1, 2]), np.array([3, 0, 1])
    columns = {"weight": np.array([TOP, 1, 1])}
    view = View.of(from_edges(4, source, destination, columns))
    assert view.into.num_edges == 3
    report = Report("test")
    state = run(program, view, RunOptions(sources=[0, 1, 2], report=report))
    assert "pull" in {row.direction for row in report.advances}
    assert state.reached.tolist() == [True] * 4
    assert state["distance"].tolist() == [0, 0, 0, TOP]


@of_the_cpu_engine
def test_those_that_are_not_active_send_nothing_where_others_are_many(eager):
    program = VertexProgram(
        state={"hops": Field("int64", initial=100, at_source=0)},
        compute=lambda source_hops: source_hops + 1,
        combine="min",
        active=lambda hops, new_hops: new_hops < hops and new_hops < 1,
    )
    source, destination = np.array([0, 0, 0, 3]), np.array([1, 2, 3, 4])
    view = View.of(from_edges(5, source, destination))
    assert view.into.num_edges == 4
    assert compiled(program, view, sources=[0])["hops"].tolist() == [0, 1, 1, 1, 100]


def test_a_message_of_an_earlier_superstep_is_not_received_again(direction):
    program = VertexProgram(
        state={"x": Field("int64", initial=0, at_source=7)},
        compute=lambda source_x: source_x,
        combine="any",
    )
    for engine in (compiled, interpreted):
        assert engine(program, chain([1, 1, 1]), sources=[0])["x"].tolist() == [7, 7, 7, 7]


@pytest.mark.parametrize("engine", [compiled, interpreted])
@pytest.mark.parametrize("forced", ["auto", "push", "pull"])
@pytest.mark.parametrize("weights", [[2**62, 2**62], [TOP, 1], [TOP, TOP]])
def test_overflow_of_a_message_is_an_error(engine, forced, weights):
    with (
        dask.config.set({"graphgpu.direction": forced}),
        pytest.raises(
            IntegerOverflow, match=r"compute \(.*engine_programs.py:\d+\).*float weights"
        ),
    ):
        engine(SSSP, chain(weights), sources=[0])


@pytest.mark.parametrize("engine", [compiled, interpreted])
def test_sums_near_2_to_the_63(engine):
    weights = [2**62, 2**61, 2**61 - 1]
    assert engine(WEIGHT_SUM, star(weights), max_supersteps=1)["total"][0] == TOP
    with pytest.raises(IntegerOverflow):
        engine(WEIGHT_SUM, star([*weights, 1]), max_supersteps=1)


@pytest.mark.parametrize("engine", [compiled, interpreted])
def test_wraps_allows_what_is_an_error_otherwise(engine):
    program = VertexProgram(
        state={"hash": Field("int64", initial=1)},
        compute=lambda source_hash, weight: (source_hash ^ weight) * 6364136223846793005,
        combine="sum",
        wraps=True,
    )
    state = engine(program, random_view(11), max_supersteps=4)
    with_python = interpreted(program, random_view(11), max_supersteps=4)
    assert state["hash"].tolist() == with_python["hash"].tolist()
    assert abs(state["hash"]).max() > 2**60


def test_apply_is_checked_as_well():
    program = VertexProgram(
        state={"x": Field("int64", initial=2**62)},
        compute=lambda source_x: 0,
        combine="sum",
        apply=lambda x: x + x,
    )
    for engine in (compiled, interpreted):
        with pytest.raises(IntegerOverflow, match="apply"):
            engine(program, random_view(0), max_supersteps=1)


def test_narrow_integers_are_checked_for_their_own_range():
    program = VertexProgram(
        state={"x": Field("int32", initial=2**30)}, compute=lambda source_x: source_x, combine="sum"
    )
    for engine in (compiled, interpreted):
        with pytest.raises(IntegerOverflow):
            engine(program, star([1, 1]), max_supersteps=1)


def test_zero_weights_and_cycles_of_them_end():
    source, destination = np.array([0, 1, 2, 2]), np.array([1, 2, 1, 3])
    columns = {"weight": np.zeros(4, np.int64)}
    state = compiled(SSSP, View.of(from_edges(4, source, destination, columns)), sources=[0])
    assert state["distance"].tolist() == [0, 0, 0, 0]
    assert state.reached.all()
