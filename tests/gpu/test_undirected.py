"""Undirected edges given once and in both directions, built from cuDF frames on one GPU and on several."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mixed_directions import check_as_networkx, mixtures, once, rows, values

from dask_graphgpu.engine import driver

cudf = pytest.importorskip("cudf")

pytestmark = pytest.mark.gpu


def places():
    yield {}
    yield {"order": "degree"}
    if driver.missing() is None and driver.num_gpus() > 1:
        yield {"ranks": 2, "engine": "gpu"}


@pytest.mark.parametrize("how", list(places()), ids=str)
@settings(max_examples=40)
@given(given=mixtures())
def test_every_mixture_is_networkxs_graph(how, given):
    frame, simple = given
    graph = cudf.from_pandas(frame).graph(directed=False, **how)
    check_as_networkx(graph, simple, "weight" in frame)


@pytest.mark.parametrize("how", list(places()), ids=str)
@settings(max_examples=25)
@given(data=st.data())
def test_repeats_and_other_weights_are_edges_of_their_own(how, data):
    vertex, weight = st.integers(0, 3), st.sampled_from([0, 1, 2, 3])
    drawn = data.draw(st.lists(st.tuples(vertex, vertex, weight), min_size=1, max_size=20))
    kind = data.draw(st.sampled_from(["int64", "float64"]))
    frame = pd.DataFrame(drawn, columns=["src", "dst", "weight"]).astype({"weight": kind})
    graph = cudf.from_pandas(frame).graph(directed=False, **how)
    listed = rows(graph.k_core(0)).to_numpy().tolist()
    edges = sorted(map(list, once(drawn)))
    assert sorted([min(u, v), max(u, v), w] for u, v, w in listed) == edges


def test_a_large_list_in_both_directions_without_some_rows():
    rng = np.random.default_rng(4)
    ends = (30_000 * rng.random((2, 400_000)) ** 2).astype(np.int64)
    frame = pd.DataFrame({"src": ends.min(axis=0), "dst": ends.max(axis=0)}).drop_duplicates()
    frame = frame[frame["src"] != frame["dst"]]
    frame["weight"] = rng.random(len(frame))
    back = frame.rename(columns={"src": "dst", "dst": "src"})[frame.columns]
    back["weight"] *= 1 + 1e-15 * rng.integers(0, 3, len(back))
    mixed = pd.concat([frame, back.sample(frac=0.9, random_state=1)]).sample(frac=1, random_state=2)
    wanted = values(frame.graph(directed=False, engine="cpu").pagerank(), "rank")
    found = values(
        cudf.from_pandas(mixed.reset_index(drop=True)).graph(directed=False).pagerank(), "rank"
    )
    assert found == pytest.approx(wanted, rel=1e-9)


def test_the_index_goes_on_through_the_partitions():
    import dask.dataframe as dd

    frame = pd.DataFrame({"src": range(20), "dst": range(1, 21)})
    lazy = dd.from_pandas(frame, npartitions=3).to_backend("cudf")
    table = lazy.graph.pagerank()
    assert table.compute().index.to_pandas().tolist() == list(range(21))
    table["degree"] = lazy.graph.degree()["degree"]
    found = table.compute().to_pandas().sort_values("vertex")
    assert found["degree"].tolist() == frame.graph.degree()["degree"].tolist()
