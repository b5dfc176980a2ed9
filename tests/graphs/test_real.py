"""Real graphs with answers by well-kept libraries, for every algorithm that has an answer.

The answers are for the simple graph. Self-loops and repeated rows are left in where they mean nothing, and taken out
for PageRank.
"""

import json

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engines import RANKS
from strategies import partitioned

from dask_graphgpu import errors

GRAPHS = [
    "california-road",
    "cit-hep-ph",
    "cnr-2000",
    "cugraph-karate",
    "cugraph-netscience",
    "ego-twitter",
    "email-enron",
    "facebook-combined",
    "git-v2.0.0",
    "luxembourg-osm",
    "osm-andorra",
    "rome99",
    "soc-slashdot0902",
    "wiki-vote",
]
each_graph = pytest.mark.parametrize("name", GRAPHS)


class Case:
    """A graph with its answers."""

    def __init__(self, folder, name):
        self.file = folder / f"{name}.parquet"
        self.folder = folder / "expected" / name
        self.meta = json.loads((self.folder / "meta.json").read_text())
        self.directed, self.source = self.meta["directed"], self.meta["source"]
        self.vertices = pd.DataFrame({"vertex": np.arange(self.meta["n"])})
        self.weighted = "weight" in pq.read_schema(self.file).names

    def graph(self, frame=None, **options):
        frame = dd.read_parquet(self.file) if frame is None else frame
        return frame.graph(directed=self.directed, vertices=self.vertices, **options)

    def expected(self, algorithm):
        frame = pd.read_parquet(self.folder / f"{algorithm}.parquet")
        assert frame["vertex"].tolist() == self.vertices["vertex"].tolist()
        return frame["value"].to_numpy()

    def simple(self):
        """The edges without self-loops and repeated rows."""
        edges = pd.read_parquet(self.file, columns=["src", "dst"])
        edges = edges[edges["src"] != edges["dst"]]
        return edges.drop_duplicates() if self.directed else edges

    def with_weights(self):
        """The edges with the weights that the answers are for."""
        if self.weighted:
            return dd.read_parquet(self.file)
        edges = pd.read_parquet(self.file)
        low = edges[["src", "dst"]].min(axis=1).to_numpy().astype("uint64")
        high = edges[["src", "dst"]].max(axis=1).to_numpy().astype("uint64")
        mixed = (low * np.uint64(2654435761) + high * np.uint64(2246822519)) % np.uint64(2**32)
        edges["weight"] = (1 + ((mixed >> np.uint64(13)) % np.uint64(64))).astype("uint8")
        return partitioned(edges, 4)


@pytest.fixture
def case(graphs, name):
    return Case(graphs, name)


ONE_AND_THREE = RANKS[::2]
some_ranks = pytest.mark.parametrize("ranks", ONE_AND_THREE)
ranks_by_turns = pytest.mark.parametrize(
    ("name", "ranks"),
    [(name, ONE_AND_THREE[i % len(ONE_AND_THREE)]) for i, name in enumerate(GRAPHS)],
)


def column(result, name, fill=None):
    """A result's column as NumPy values in order of the vertices 0 .. n - 1."""
    frame = result.compute()
    assert np.array_equal(frame["vertex"], np.arange(len(frame)))
    values = frame[name]
    return values.to_numpy() if fill is None else values.to_numpy(dtype=type(fill), na_value=fill)


def same_parts(a, b):
    """Whether two labellings split the vertices the same way."""
    pairs = np.unique(np.stack([a, b]), axis=1).shape[1]
    return pairs == len(np.unique(a)) == len(np.unique(b))


@each_graph
def test_bfs(case):
    distance = column(case.graph(weight=None).bfs(case.source), "distance", -1)
    np.testing.assert_array_equal(distance, case.expected("bfs"))


@each_graph
def test_sssp(case):
    distance = column(case.graph(case.with_weights()).sssp(case.source), "distance", np.inf)
    expected = case.expected("sssp")
    np.testing.assert_array_equal(distance, np.where(expected < 0, np.inf, expected))


@each_graph
def test_sswp(case):
    # The answers keep the lightest of repeated rows, as for shortest paths.
    graph = case.graph(case.with_weights(), duplicates="min")
    width = column(graph.sswp(case.source), "width", -np.inf)
    expected = case.expected("sswp")
    assert expected[case.source] == np.inf
    width[case.source] = np.inf  # null over integers
    np.testing.assert_array_equal(width, expected)


@each_graph
def test_ssnsp(case):
    graph = case.graph(weight=None).persist()
    np.testing.assert_array_equal(
        column(graph.ssnsp(case.source, dtype="float64"), "paths"), case.expected("ssnsp")
    )
    if case.meta["algos"]["ssnsp"]["check"]["overflow"]:
        with pytest.raises(errors.IntegerOverflow, match="dtype='float64'"):
            graph.ssnsp(case.source).compute()
    else:
        found = graph.ssnsp(case.source).compute()
        np.testing.assert_array_equal(found["paths"], case.expected("ssnsp"))
        distance = found["distance"].to_numpy(dtype="int64", na_value=-1)
        np.testing.assert_array_equal(distance, case.expected("bfs"))


@each_graph
def test_pagerank(case):
    graph = case.graph(partitioned(case.simple(), 3), weight=None)
    rank = column(graph.pagerank(tolerance=1e-13, max_iterations=300), "rank")
    np.testing.assert_allclose(rank, case.expected("pagerank"), rtol=1e-8)
    assert rank.sum() == pytest.approx(1, abs=1e-10)
    delta = graph.pagerank(method="delta", tolerance=1e-11, max_iterations=300)
    assert abs(column(delta, "rank") - case.expected("pagerank")).sum() < 1e-9


@each_graph
def test_weakly_connected_components(case):
    component = column(case.graph().weakly_connected_components(), "component")
    assert same_parts(component, case.expected("wcc"))
    smallest = pd.Series(range(len(component))).groupby(component).min()
    assert (smallest.index == smallest.to_numpy()).all()


@ranks_by_turns
def test_strongly_connected_components(case, ranks):
    component = column(case.graph(ranks=ranks).strongly_connected_components(), "component")
    if case.directed:
        assert same_parts(component, case.expected("scc"))
    else:
        assert same_parts(component, case.expected("wcc"))
    smallest = pd.Series(range(len(component))).groupby(component).min()
    assert (smallest.index == smallest.to_numpy()).all()


@ranks_by_turns
def test_betweenness_from_sources(case, ranks):
    sources = case.meta["sources16"]
    graph = case.graph(weight=None, ranks=ranks)
    found = column(graph.betweenness_centrality(sources, normalized=False), "betweenness")
    n = len(found)
    # An estimate of the sum over all sources: of those, n - 1 could have counted for a vertex.
    counted = np.where(np.isin(np.arange(n), sources), 15, 16) * (1 if case.directed else 2)
    sums = found * counted / (n - 1)
    np.testing.assert_allclose(sums, case.expected("bc16"), rtol=1e-6, atol=1e-6)


@some_ranks
@pytest.mark.parametrize("name", ["cugraph-karate", "cugraph-netscience"])
def test_betweenness(case, ranks):
    graph = case.graph(weight=None, ranks=ranks)
    found = column(graph.betweenness_centrality(normalized=False), "betweenness")
    np.testing.assert_allclose(found, case.expected("betweenness"), rtol=1e-8, atol=1e-6)


@pytest.mark.parametrize("name", ["rome99"])
def test_betweenness_of_a_deep_graph(case):
    """On ranks from some of the sources, which they take batch after batch."""
    one, three = (case.graph(weight=None, ranks=ranks) for ranks in (1, 3))
    found = column(one.betweenness_centrality(normalized=False), "betweenness")
    np.testing.assert_allclose(found, case.expected("betweenness"), rtol=1e-8, atol=1e-6)
    wanted, found = (graph.betweenness_centrality(250).compute() for graph in (one, three))
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-8)


@each_graph
def test_core_number(case):
    np.testing.assert_array_equal(
        column(case.graph().core_number(), "core_number"), case.expected("kcore")
    )


@ranks_by_turns
def test_label_propagation(case, ranks):
    label = column(case.graph(weight=None, ranks=ranks).label_propagation(10), "label")
    np.testing.assert_array_equal(label, case.expected("cdlp10"))


@ranks_by_turns
def test_triangle_count(case, ranks):
    found = column(case.graph(weight=None, ranks=ranks).triangle_count(), "triangles")
    np.testing.assert_array_equal(found, case.expected("triangles"))


@pytest.mark.parametrize("name", ["wiki-vote", "email-enron"])
def test_k_core(case):
    core = case.expected("kcore")
    k = int(np.percentile(core, 95))
    edges = case.graph(weight=None).k_core(k).compute()
    given = pd.read_parquet(case.file)
    inside = given[(core[given["src"]] >= k) & (core[given["dst"]] >= k)]
    assert 0 < len(inside) < len(given)
    ends = np.sort(inside.to_numpy(), axis=1) if not case.directed else inside.to_numpy()
    wanted = pd.DataFrame(ends, columns=["src", "dst"]).sort_values(["src", "dst"])
    np.testing.assert_array_equal(edges.to_numpy(), wanted.to_numpy())


@pytest.mark.parametrize(
    ("name", "backend"), [("soc-slashdot0902", "arrow"), ("wiki-vote", "category")]
)
def test_over_strings(case, backend):
    """The same answers when vertices are called by strings whose order is not that of the numbers."""
    names = np.array([f"user/{v * 2654435761 % 2**32:08x}" for v in case.vertices["vertex"]])
    edges = pd.read_parquet(case.file)
    index = pa.array(names)
    dtype = pd.ArrowDtype(pa.string()) if backend == "arrow" else "category"
    frame = pd.DataFrame(
        {
            name: pd.Series(index.take(pa.array(edges[name])).to_pandas(), dtype=dtype)
            for name in ("src", "dst")
        }
    )
    vertices = pd.DataFrame({"vertex": pd.Series(names, dtype="str")})
    graph = partitioned(frame, 5).graph(directed=case.directed, vertices=vertices).persist()
    place = np.argsort(names)  # rows of a result are in the order of the strings

    def values(result, name):
        result = result.compute()
        assert result["vertex"].tolist() == names[place].tolist()
        return result[name]

    distance = values(graph.bfs(names[case.source]), "distance")
    np.testing.assert_array_equal(
        distance.to_numpy(dtype="int64", na_value=-1), case.expected("bfs")[place]
    )
    np.testing.assert_array_equal(
        values(graph.core_number(), "core_number"), case.expected("kcore")[place]
    )
    component = values(graph.weakly_connected_components(), "component")
    assert same_parts(pd.factorize(component)[0], case.expected("wcc")[place])
    assert (component <= names[place]).all()
