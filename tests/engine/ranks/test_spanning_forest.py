"""Minimum spanning forests of many ranks are edge by edge those of one."""

import numpy as np
from cut_graphs import Cut
from hypothesis import given
from hypothesis import strategies as st
from small_graphs import small_graphs

from dask_graphgpu.engine import cpu, ranks
from dask_graphgpu.report import Report


def in_order(edges):
    low, high, weight = (np.asarray(each) for each in edges)
    assert (low < high).all()
    order = np.lexsort((high, low))
    return [low[order].tolist(), high[order].tolist(), weight[order].tolist()], weight.dtype


def check(parts):
    """Numbers are places in the order of ids, by which one rank names edges too."""
    every = parts.run(lambda share: ranks.spanning_forest(share, Report("many")))
    assert all(len(each) == 0 for edges in every[1:] for each in edges)
    wanted = cpu.spanning_forest(parts.view, Report("one"))
    assert in_order(every[0]) == in_order(wanted)


@given(small_graphs(weights=(None, "int64", "uint8", "float64")), st.integers(1, 6), st.data())
def test_any_owners(graph, size, data):
    owner = data.draw(st.lists(st.integers(0, size - 1), min_size=graph.n, max_size=graph.n))
    check(Cut(graph.view(), owner, size))
