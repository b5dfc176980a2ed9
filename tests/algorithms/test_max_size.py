"""Communities of at most some size, by rising resolutions inside those that are larger."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import rows_of
from strategies import KINDS, edge_lists

import dask_graphgpu as dg
from dask_graphgpu import errors

METHODS = ["louvain", "leiden"]


def mixed(seed=1):
    """Cliques of 12 to 40 vertices, a clique of 70, a star, and edges at random between all of them."""
    made = nx.disjoint_union_all(
        [*(nx.complete_graph(size) for size in (12, 25, 40, 70)), nx.star_graph(80)]
    )
    rng = np.random.default_rng(seed)
    ends = np.concatenate([np.array(made.edges), rng.integers(0, len(made), (100, 2))])
    ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    return pd.DataFrame(ends, columns=["src", "dst"])


@pytest.mark.parametrize("method", METHODS)
@given(
    graph=edge_lists(weights=[None, "int64"], kinds=KINDS),
    max_size=st.integers(1, 4),
    resolution=st.sampled_from([0.1, 1]),
)
def test_small_graphs(method, graph, max_size, resolution):
    """No community is larger, those that were not are as before, and the others fall into parts."""
    built = graph.graph().persist()
    call = getattr(built, method)
    before = call(resolution=resolution).compute().set_index("vertex")["community"]
    found = call(resolution=resolution, max_size=max_size).compute().set_index("vertex")
    after = found["community"]
    assert after.value_counts().max() <= max_size
    size = before.map(before.value_counts())
    pd.testing.assert_series_equal(after[size <= max_size], before[size <= max_size])
    assert pd.DataFrame({"a": after, "b": before}).groupby("a")["b"].nunique().max() == 1
    quality = built.partition_quality(found[["community"]].reset_index(), resolution=resolution)
    assert found["modularity"].iloc[0] == pytest.approx(
        quality.compute()["modularity"].iloc[0], abs=1e-9
    )


@pytest.mark.parametrize("method", METHODS)
def test_every_place(rows_place, method):
    edges = mixed()
    graph = rows_place.graph(edges, directed=False).persist()
    found = rows_of(getattr(graph, method)(max_size=30)).set_index("vertex")["community"]
    assert found.value_counts().max() <= 30
    before = rows_of(getattr(graph, method)()).set_index("vertex")["community"]
    whole = before.map(before.value_counts()) <= 30
    assert 0 < whole.sum() < len(whole)
    pd.testing.assert_series_equal(found[whole], before[whole])
    other = nx.Graph(edges.to_numpy().tolist())
    parts = [set(found.index[found == each]) for each in found.unique()]
    if method == "leiden":
        assert all(nx.is_connected(other.subgraph(part)) for part in parts)
    first = rows_of(getattr(graph, method)(max_size=30))["modularity"].iloc[0]
    assert first == pytest.approx(nx.community.modularity(other, parts), abs=1e-9)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("method", METHODS)
def test_levels_lead_from_all_to_those_that_fit(method, ranks):
    graph = mixed().graph(directed=False, ranks=ranks).persist()
    call = getattr(graph, method)
    levels = call(levels=True, max_size=8)
    assert set(levels["level"]) == set(range(levels["level"].max() + 1))
    plain = call().set_index("vertex")["community"]
    top = levels[levels["level"] == 0].set_index("vertex")["community"]
    pd.testing.assert_series_equal(top, plain)
    last = levels[levels["level"] == levels["level"].max()].set_index("vertex")["community"]
    pd.testing.assert_series_equal(last, call(max_size=8).set_index("vertex")["community"])
    assert last.value_counts().max() <= 8
    sizes = levels.groupby("level")["community"].nunique()
    assert sizes.is_monotonic_increasing
    above = levels.assign(level=levels["level"] + 1)[["vertex", "level", "community"]]
    both = levels[levels["level"] > 0].merge(above, on=["vertex", "level"])
    assert (both["parent"] == both["community_y"]).all()


@pytest.mark.parametrize("method", METHODS)
def test_any_order_of_rows_and_any_number_of_ranks(method):
    edges = mixed(2)
    shuffled = edges.sample(frac=1, random_state=3)

    def call(frame, ranks):
        return getattr(frame.graph(directed=False, ranks=ranks), method)(max_size=10)

    pd.testing.assert_frame_equal(call(edges, 1), call(shuffled, 1))
    pd.testing.assert_frame_equal(call(edges, 2), call(shuffled, 3))


def test_weights_of_zero_join_nothing():
    edges = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3], "weight": 0})
    start = pd.DataFrame({"vertex": range(4), "community": 0})
    for ranks in (1, 2):
        for method in METHODS:
            graph = edges.graph(directed=False, ranks=ranks)
            found = getattr(graph, method)(initial=start, max_size=2)
            assert found["community"].tolist() == [0, 1, 2, 3]
            assert set(found["modularity"]) == {0.0}


def test_several_resolutions():
    graph = mixed().graph(directed=False)
    found = graph.leiden(resolution=[0.5, 2], max_size=15)
    for resolution in (0.5, 2):
        alone = graph.leiden(resolution=resolution, max_size=15)
        assert found[f"community_{resolution}"].tolist() == alone["community"].tolist()
        assert found[f"modularity_{resolution}"].tolist() == alone["modularity"].tolist()


def test_bad_arguments():
    graph = dg.graph(mixed(), directed=False)
    for wrong in (0, -3, 2.5, "many"):
        with pytest.raises(errors.InvalidArgument, match="max_size"):
            graph.leiden(max_size=wrong)
    start = pd.DataFrame({"vertex": [0], "community": [0], "stays": [True]})
    with pytest.raises(errors.InvalidArgument, match="max_size=5 and fixed='stays'"):
        graph.louvain(max_size=5, initial=start, fixed="stays")
    assert len(graph.leiden(max_size=10**30)) == len(graph.leiden())
