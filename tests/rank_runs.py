"""Vertex programs on the ranks of a graph that is cut, against the same on one rank."""

import numpy as np
import pytest
from made_graphs import random_small
from rank_programs import CASES

from dask_graphgpu.engine import cpu
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.state import State
from dask_graphgpu.report import Report


def on_one(program, view, **arguments):
    return cpu.run(program, view, RunOptions(report=Report("test"), **arguments))


def put_together(parts, states):
    """The state of the whole graph, of all ranks'."""
    first = states[0]
    for state in states:
        assert state.aggregates == first.aggregates
        assert state.supersteps == first.supersteps
    whole = State()
    whole |= {name: parts.whole([state[name] for state in states]) for name in first}
    if first.reached is not None:
        whole.reached = parts.whole([state.reached for state in states])
    whole.aggregates, whole.supersteps = first.aggregates, first.supersteps
    return whole


def same(found, expected, *, rtol):
    assert list(found) == list(expected)
    for name in expected:
        assert found[name].dtype == expected[name].dtype
        np.testing.assert_allclose(found[name], expected[name], rtol=rtol, atol=rtol)
    assert (found.reached is None) == (expected.reached is None)
    if expected.reached is not None:
        np.testing.assert_array_equal(found.reached, expected.reached)
    assert list(found.aggregates) == list(expected.aggregates)
    for name, value in expected.aggregates.items():
        assert type(found.aggregates[name]) is type(value)
        assert found.aggregates[name] == pytest.approx(value, rel=rtol, abs=rtol)


def made_view(seed, case, **given):
    """A graph as the case needs it, with columns for its vertices.

    Ids are of 32 or of 64 bits, those of a case alike: each kernel has cases of both.
    """
    rng = np.random.default_rng(seed + 1000)
    place = next(i for i, each in enumerate(CASES.values()) if each is case)
    given = {"ids": ("uint32", "uint64")[place % 2]} | given
    made = random_small(seed, rank=None, **given)
    if case.weight is not None:
        weight = rng.integers(0, 5, len(made.source)).astype(case.weight)
        weight = weight if case.weight.startswith("int") else weight / 4
        made = random_small(seed, rank=None, weight=weight.astype(case.weight), **given)
    view = made.view()
    return view.with_columns(case.columns(view, rng))
