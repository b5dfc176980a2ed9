"""Label propagation, hubs and authorities on many ranks against those on one."""

import numpy as np
import pytest
from cut_graphs import Cut
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import path, simple, star
from small_graphs import small_graphs

from dask_graphgpu.engine import cpu, ranks
from dask_graphgpu.report import Report


def check_labels(view, parts, iterations):
    expected = cpu.label_propagation(view, iterations, Report("one"))

    def run(share):
        labels = ranks.label_propagation(share, iterations, Report("many"))
        assert labels.dtype == share.numbers.dtype
        dense = np.argsort(parts.numbers)[share.numbers]  # also of ghosts
        assert parts.dense(labels).tolist() == expected[dense].tolist()
        return labels

    assert parts.dense(parts.whole(parts.run(run))).tolist() == expected.tolist()


def check_scores(view, parts, iterations):
    def run(share):
        return np.stack(ranks.hits(share, 0.0, iterations, Report("many")), axis=1)

    found = parts.whole(parts.run(run))
    expected = np.stack(cpu.hits(view, 0.0, iterations, Report("one")), axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


@given(small_graphs(max_edges=80), st.integers(1, 5), st.data())
def test_labels_of_any_owners(graph, iterations, data):
    size = data.draw(st.integers(1, 5))
    owner = data.draw(st.lists(st.integers(0, size - 1), min_size=graph.n, max_size=graph.n))
    view = simple(graph.view())
    check_labels(view, Cut(view, owner, size), iterations)


@given(small_graphs(weights=(None, "uint8"), max_edges=80), st.integers(1, 5), st.data())
def test_scores_of_any_owners(graph, iterations, data):
    size = data.draw(st.integers(1, 5))
    owner = data.draw(st.lists(st.integers(0, size - 1), min_size=graph.n, max_size=graph.n))
    view = graph.view()
    check_scores(view, Cut(view, owner, size), iterations)


@pytest.mark.parametrize("size", [1, 2])
def test_weights_that_cancel(size):
    """A sum of 0 is not scaled, and is no end where scores are not 0."""
    outward = star(3, directed=True, weight=np.array([1.0, -1.0])).view()
    hub, _ = cpu.hits(outward, 0.0, 3, Report("one"))
    assert hub.tolist() == [1, 0, 0]
    check_scores(outward, Cut(outward, [0, size - 1, 0], size), 3)
    chain = path(4, weight=np.array([1.0, -2.0, 1.0])).view()
    for iterations in (1, 2, 3):
        report = Report("one")
        cpu.hits(chain, 0.0, iterations, report)
        assert sum(row.supersteps for row in report.advances) == iterations
        check_scores(chain, Cut(chain, [0, size - 1, 0, size - 1], size), iterations)
