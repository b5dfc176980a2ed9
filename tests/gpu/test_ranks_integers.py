"""Integers that are large on several GPUs: exact, wide on all, or an error on all."""

from dataclasses import replace

import dask
import numpy as np
import pytest
from cut_graphs import cut
from device_rank_runs import marks, on_ranks
from made_graphs import path
from rank_programs import CASES, TOP

from dask_graphgpu import errors
from dask_graphgpu.engine.device_ranks.near_far import RankNearFar
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View

pytestmark = marks


def test_the_largest_integer_is_a_distance_like_any_other():
    view = path(6, directed=True, weight=np.array([2**62, 2**62 - 1, 0, 0, 0])).view()
    program = replace(CASES["sssp int64"].program, bound=None)
    for direction in ("auto", "push", "pull"):
        with dask.config.set({"graphgpu.direction": direction}):
            found = on_ranks(program, cut(view, 2, "cyclic"), sources=[0])
        assert found["distance"].tolist() == [0, 2**62, TOP, TOP, TOP, TOP]
        assert found.reached.all()


@pytest.mark.parametrize("direction", ["auto", "pull"])
def test_overflow_on_one_gpu_is_an_error_on_all(direction):
    view = path(3, directed=True, weight=np.array([TOP, TOP])).view()
    program = replace(CASES["sssp int64"].program, bound=None)
    with (
        dask.config.set({"graphgpu.direction": direction}),
        pytest.raises(errors.IntegerOverflow, match="float weights"),
    ):
        on_ranks(program, cut(view, 2, "cyclic"), sources=[0])


def test_what_overflows_before_the_others_are_heard_is_no_error(monkeypatch):
    """The short way to vertex 3 leads over the other rank, which tells of it in the first exchange."""
    ends = np.array([[0, 0, 1, 2, 3], [3, 1, 2, 3, 4]])
    weight = np.array([2**62, 0, 0, 0, 2**62])
    view = View.of(from_edges(5, *ends, {"weight": weight}))
    program = replace(CASES["sssp int64"].program, bound=None)
    monkeypatch.setattr(RankNearFar, "measured", lambda self, places: 2.0**62)
    found = on_ranks(program, cut(view, 2, "blocks"), sources=[0])
    assert found["distance"].tolist() == [0, 0, 0, 0, 2**62]
    view = View.of(from_edges(5, *ends, {"weight": np.full(5, 2**62)}))
    with pytest.raises(errors.IntegerOverflow, match="float weights"):
        on_ranks(program, cut(view, 2, "blocks"), sources=[0])


def test_values_that_are_wide_on_one_gpu_are_wide_on_all():
    """Whether they fit 32 bits is seen in the values that a rank has."""
    weight = np.ones(5, np.int64)
    weight[4] = 2**40
    view = path(6, directed=True, weight=weight).view()
    found = on_ranks(CASES["sssp int64"].program, cut(view, 2, "blocks"), sources=[0])
    assert found["distance"].tolist() == [0, 1, 2, 3, 4, 2**40 + 4]
