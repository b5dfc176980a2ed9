"""Weights so large or small that sums of them leave the range of floats: an error, or the answer of others."""

import numpy as np
import pandas as pd
import pytest
from strategies import partitioned

from dask_graphgpu import errors

METHODS = ["pagerank", "hits", "louvain", "leiden"]


@pytest.fixture(scope="module")
def edges():
    rng = np.random.default_rng(3)
    source, destination = rng.integers(0, 30, (2, 90))
    weight = rng.integers(1, 9, 90).astype(float)
    return pd.DataFrame({"src": source, "dst": destination, "weight": weight})


def times(edges, factor):
    """The edges with weights so much larger, exactly where it is a power of two."""
    return edges.assign(weight=edges["weight"] * factor)


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("method", METHODS)
def test_sums_that_are_infinite(edges, method, ranks):
    huge = partitioned(times(edges, 2.0**1019), 2).graph(ranks=ranks)
    with pytest.raises(
        errors.InvalidEdges, match=r"^weights are up to \d.*e\+307, too much .* multiply all"
    ):
        getattr(huge, method)().compute()
    assert getattr(huge, method)(weighted=False).compute().notna().all(axis=None)


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("method", ["louvain", "leiden", "pagerank"])
def test_sums_that_are_finite_though_as_many_of_the_largest_would_not_be(edges, method, ranks):
    light = edges.assign(weight=edges["weight"].where(edges.index > 0, 2.0**60))
    factor = 2.0 ** (960 if method != "pagerank" else 955)
    heavy = times(light, factor)
    bound = np.finfo(float).max if method != "pagerank" else 2.0**1022 / 30
    assert float(heavy["weight"].max()) * 2 * len(heavy) > bound
    wanted = getattr(light.graph(ranks=ranks), method)()
    found = getattr(heavy.graph(ranks=ranks), method)()
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_parts_that_are_zero(edges, method):
    """Products of two such weights, parts of one, and one over them: HITS gave other scores, PageRank NaN."""
    tiny = times(edges, 2.0**-1070)
    with pytest.raises(errors.InvalidEdges, match=r"^weights are up to \d.*e-32[12], too little"):
        getattr(tiny.graph(), method)()
    if method == "hits":
        with pytest.raises(errors.InvalidEdges, match="too little"):
            times(edges, 2.0**-1000).graph().hits()


@pytest.mark.parametrize("way", ["power", "delta"])
@pytest.mark.parametrize("factor", [2.0**170, 2.0**-170])
def test_ranks_in_single_precision(edges, way, factor):
    """They were others, off by a tenth, where weights are beyond 1e38."""
    extreme = times(edges, factor).graph()
    with pytest.raises(errors.InvalidEdges, match=r"too (much|little) .* in float32"):
        extreme.pagerank(dtype="float32", method=way)
    wanted = edges.graph().pagerank(method=way)
    pd.testing.assert_frame_equal(extreme.pagerank(method=way), wanted, rtol=1e-12)


@pytest.mark.parametrize("way", ["power", "delta"])
def test_a_vertex_whose_weights_alone_are_too_little(edges, way):
    faint = edges.assign(weight=edges["weight"].where(edges["src"] != 4, 2.0**-1073))
    with pytest.raises(errors.InvalidEdges, match="weights at some vertex are too little"):
        faint.graph().pagerank(method=way, tolerance=0, max_iterations=5)


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.filterwarnings("error")
def test_sums_beyond_floats_are_told_once(edges, ranks):
    """By the answer or the error: NumPy warned of them, too."""
    graph = times(edges, 2.0**1019).graph(ranks=ranks)
    sums = edges.groupby("src")["weight"].sum()
    found = graph.weighted_degree().set_index("vertex")["weighted_out_degree"]
    assert np.isinf(found[sums.index]).tolist() == (sums >= 2.0**5).tolist()
    jumps = pd.DataFrame({"vertex": [1, 2], "p": 1e308})
    for given in ({"personalization": jumps}, {"start": jumps}):
        with pytest.raises(errors.InvalidArgument, match="with sum inf"):
            edges.graph(ranks=ranks).pagerank(**given)
