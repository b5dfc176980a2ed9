"""Vertex programs on several GPUs, each a thread's of this process, against one rank of the CPU engine."""

import dask
import pytest
from cut_graphs import cut
from device_rank_runs import SEVERAL, SIZES, marks, on_ranks
from made_graphs import path
from rank_programs import CASES, HOPS, SUPERSTEPS
from rank_runs import made_view, on_one, same

pytestmark = marks


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", CASES)
def test_every_program_gives_the_same_on_any_number_of_gpus(name, size):
    case = CASES[name]
    for seed, way in ((1, "random"), (2, "last")):
        view = made_view(seed, case)
        expected = on_one(case.program, view, **case.arguments(view.num_vertices))
        found = on_ranks(
            case.program, cut(view, size, way, seed), **case.arguments(view.num_vertices)
        )
        same(found, expected, rtol=max(case.rtol, 1e-12 if name in SUPERSTEPS else 0))
        if name in SUPERSTEPS:
            assert found.supersteps == expected.supersteps


@pytest.mark.parametrize("direction", ["push", "pull", "notify-pull"])
@pytest.mark.parametrize("name", CASES)
def test_forced_directions_give_the_same(name, direction):
    case = CASES[name]
    view = made_view(3, case)
    expected = on_one(case.program, view, **case.arguments(view.num_vertices))
    with dask.config.set({"graphgpu.direction": direction}):
        parts = cut(view, SEVERAL[-1], "random")
        found = on_ranks(case.program, parts, **case.arguments(view.num_vertices))
    same(found, expected, rtol=max(case.rtol, 1e-12))


def test_local_convergence_saves_exchanges():
    view = path(400, directed=True).view()
    found = on_ranks(HOPS, cut(view, 2, "blocks"), sources=[0])
    assert found["hops"].tolist() == list(range(400))
    assert found.supersteps == 3
    with dask.config.set({"graphgpu.local-convergence": False}):
        found = on_ranks(HOPS, cut(view, 2, "blocks"), sources=[0])
    assert found["hops"].tolist() == list(range(400))
    assert found.supersteps == 400
