"""Components on ranks are those that one rank finds."""

import numpy as np
from cut_graphs import cut
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import rmat

from dask_graphgpu.engine import cpu
from dask_graphgpu.engine.ranks.components import components
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report


def view_of(n, source, destination, directed, rank=None):
    source, destination = np.asarray(source, np.int64), np.asarray(destination, np.int64)
    if not directed:
        source, destination = (
            np.concatenate([source, destination]),
            np.concatenate([destination, source]),
        )
    return View.of(from_edges(n, source, destination), directed=directed, user_rank=rank)


def check(view, size, way):
    one = cpu.components(view, Report("one"))
    made = cut(view, size, way)
    parts = made.run(lambda share: components(share, Report("ranks")))
    np.testing.assert_array_equal(made.dense(made.whole(parts)), one)


@given(st.data())
def test_any_graph(data):
    n = data.draw(st.integers(1, 30))
    ends = st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=40)
    source, destination = np.array(data.draw(ends), np.int64).reshape(-1, 2).T
    rank = None
    if data.draw(st.booleans()):
        rank = np.random.default_rng(n).permutation(n).astype(np.uint32)
    view = view_of(n, source, destination, data.draw(st.booleans()), rank)
    size = data.draw(st.sampled_from([1, 2, 3, 4, 7]))
    check(view, size, data.draw(st.sampled_from(["blocks", "random", "cyclic", "last"])))


def test_a_path_through_all_ranks_again_and_again():
    n = 2_000
    view = view_of(n, np.arange(n - 1), np.arange(1, n), True)
    steps = []

    def run(share):
        count, step = [0], share.ranks.step

        def counted(*arguments):
            count[0] += 1
            return step(*arguments)

        share.ranks.step = counted
        label = components(share, Report("ranks"))
        steps.append(count[0])
        return label

    for way in ("blocks", "cyclic", "random"):
        made = cut(view, 4, way)
        assert not made.whole(made.run(run)).any()
    assert set(steps) == {4}


def test_most_edges_of_the_largest_component_are_not_read():
    view = rmat(12).view()
    made, read = cut(view, 3, "random"), []

    def run(share):
        report = Report("ranks")
        label = components(share, report)
        read.extend(advance.edges for advance in report.advances)
        return label

    np.testing.assert_array_equal(made.whole(made.run(run)), cpu.components(view, Report("one")))
    assert sum(read) < view.num_edges / 3
