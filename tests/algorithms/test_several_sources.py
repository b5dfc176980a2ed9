"""Shortest paths from several sources, side by side on threads, are those from one after another."""

import numpy as np
import pandas as pd
import pytest
from engines import of_the_cpu_engine, on_one_rank
from hypothesis import given
from hypothesis import strategies as st
from small_graphs import on_threads
from strategies import KINDS, edge_lists, partitioned

from dask_graphgpu import errors, last_report

pytestmark = on_one_rank


@given(
    graph=edge_lists(weights=["int64", "uint8", "float64"], kinds=KINDS),
    data=st.data(),
    number=st.sampled_from([1, 2, 4]),
)
def test_sssp(graph, data, number):
    ids = data.draw(st.lists(st.sampled_from(graph.ids), min_size=1, max_size=6))
    target = data.draw(st.one_of(st.none(), st.lists(st.sampled_from(graph.ids), min_size=1)))
    cutoff = data.draw(st.one_of(st.none(), st.sampled_from([0, 2, 1e20])))
    how = {"target": target, "cutoff": cutoff, "predecessor": True}
    built = graph.graph().persist()
    each = [built.sssp([id], **how).compute() for id in ids]
    with on_threads(number):
        found = built.sssp(ids, **how).compute()
    pd.testing.assert_frame_equal(found, pd.concat(each, ignore_index=True))


def some_edges():
    rng = np.random.default_rng(3)
    edges = pd.DataFrame({"src": rng.integers(0, 500, 3000), "dst": rng.integers(0, 500, 3000)})
    return edges.assign(weight=rng.integers(1, 100, 3000))


@of_the_cpu_engine
@pytest.mark.parametrize("number", [2, 4])
def test_report_has_the_advances_of_every_source(number):
    graph = some_edges().graph().persist()  # one search of frames would see repeated edges
    edges = []
    for source in range(number):
        with on_threads(1):  # of which each source has one
            graph.sssp(source)
        edges += last_report()["edges"].tolist()
    with on_threads(number, little_work=1 << 14):
        graph.sssp(list(range(number)))
    assert last_report()["edges"].tolist() == edges


@of_the_cpu_engine
def test_errors_and_checkpoints(tmp_path):
    edges = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0], "weight": [2**62, 2**62, 1]})
    with on_threads(2), pytest.raises(errors.IntegerOverflow):
        edges.graph().sssp([0, 1, 2])
    graph = partitioned(some_edges(), 2).graph()
    wanted = graph.sssp([0, 1]).compute()
    pd.testing.assert_frame_equal(graph.sssp([0, 1], checkpoint=tmp_path / "k").compute(), wanted)
