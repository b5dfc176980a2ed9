"""Predecessors on ranks are the tree that one rank finds, across plateaus too."""

import numpy as np
import pytest
from cut_graphs import cut
from hypothesis import given
from hypothesis import strategies as st

from dask_graphgpu.engine import cpu
from dask_graphgpu.engine.cpu.predecessors import predecessors
from dask_graphgpu.engine.known import DISTANCES as SSSP
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.rowwise import merge_repeats
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report


def view_of(n, ends, weights, directed, rank=None):
    source, destination = np.asarray(ends, np.int64).reshape(-1, 2).T
    weights = np.asarray(weights)
    if not directed:
        source, destination = (
            np.concatenate([source, destination]),
            np.concatenate([destination, source]),
        )
        weights = np.concatenate([weights, weights])
    rows = from_edges(n, source, destination, {"weight": weights})
    return View.of(merge_repeats(rows, "min"), directed=directed, user_rank=rank)


def check(view, source, size, way, *, hops):
    report = Report("one")
    if hops:
        distance = cpu.bfs(view, source, cutoff=None, targets=None, report=report)
        reached = distance >= 0
    else:
        state = cpu.run(SSSP, view, RunOptions(sources=np.array([source]), report=report))
        distance, reached = state["distance"], state.reached
    one = cpu.predecessors(view, source, distance, reached, hops=hops, report=report)
    made = cut(view, size, way)
    poison = np.iinfo(distance.dtype).max if distance.dtype.kind == "i" else np.nan

    def run(share):
        own = made.owned[share.ranks.rank]
        ghosts = share.num_vertices - len(own)
        return predecessors(
            share,
            int(made.numbers[source]),
            np.r_[distance[own], np.full(ghosts, poison, distance.dtype)],
            np.r_[reached[own], np.ones(ghosts, bool)],
            hops=hops,
            report=Report("ranks"),
        )

    np.testing.assert_array_equal(made.dense(made.whole(made.run(run))), one)


@given(st.data())
def test_any_graph(data):
    n = data.draw(st.integers(1, 20))
    ends = data.draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=50))
    weights = data.draw(st.lists(st.integers(0, 2), min_size=len(ends), max_size=len(ends)))
    kind = data.draw(st.sampled_from([np.int64, np.float64]))
    rank = None
    if data.draw(st.booleans()):
        rank = np.random.default_rng(n).permutation(n).astype(np.uint32)
    view = view_of(n, ends, np.array(weights, kind), data.draw(st.booleans()), rank)
    size = data.draw(st.sampled_from([1, 2, 3, 4, 7]))
    way = data.draw(st.sampled_from(["blocks", "random", "cyclic", "last"]))
    check(view, data.draw(st.integers(0, n - 1)), size, way, hops=data.draw(st.booleans()))


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("directed", [True, False])
def test_a_plateau_through_all_ranks(size, directed):
    n = 300
    ends = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    view = view_of(n, ends, np.zeros(n - 1, np.int64), directed)
    check(view, 0, size, "cyclic", hops=False)


@pytest.mark.parametrize("size", [2, 4])
def test_many_vertices(size):
    made = np.random.default_rng(size)
    n, edges = 3_000, 20_000
    view = view_of(n, made.integers(0, n, (edges, 2)), made.integers(0, 4, edges), True)
    check(view, 7, size, "random", hops=False)
    check(view, 7, size, "blocks", hops=True)
