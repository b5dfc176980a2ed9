"""The validation graphs of LDBC Graphalytics with their published answers, at several numbers of partitions."""

import numpy as np
import pandas as pd
import pytest
from engines import RANKS
from strategies import partitioned

UNREACHED = 9223372036854775807

# name of the edges, of the vertices where there are some, of the answers; directed; source or iterations
CASES = {
    "bfs": [
        ("bfs-dir", True, 1),
        ("bfs-undir", False, 1),
        ("example-directed", True, 1),
        ("example-undirected", False, 2),
    ],
    "sssp": [
        ("sssp-dir", True, 1),
        ("sssp-undir", False, 1),
        ("example-directed", True, 1),
        ("example-undirected", False, 2),
    ],
    "pr": [
        ("pr-dir", True, 14),
        ("pr-undir", False, 26),
        ("example-directed", True, 2),
        ("example-undirected", False, 2),
    ],
    "lcc": [
        ("lcc-dir", True, None),
        ("lcc-undir", False, None),
        ("example-directed", True, None),
        ("example-undirected", False, None),
    ],
    "cdlp": [
        ("cdlp-dir", True, 5),
        ("cdlp-undir", False, 5),
        ("example-directed", True, 2),
        ("example-undirected", False, 2),
    ],
    "wcc": [
        ("wcc-dir", True, None),
        ("wcc-undir", False, None),
        ("example-directed", True, None),
        ("example-undirected", False, None),
    ],
}

pytestmark = pytest.mark.parametrize("parts", [1, 2, 3, 7])


def cases(algorithm):
    return pytest.mark.parametrize(
        ("name", "directed", "parameter"), CASES[algorithm], ids=[c[0] for c in CASES[algorithm]]
    )


def load(graphs, algorithm, name, directed, parts, **options):
    """The graph of a case over ``parts`` partitions, and its expected value by vertex."""
    example = name.startswith("example")
    answers = f"{name}.{algorithm.upper()}" if example else name
    expected = pd.read_parquet(graphs / "ldbc" / f"{answers}.expected.parquet")
    expected = expected.set_index(expected["vertex"].astype("int64"))["value"]
    edges = pd.read_parquet(graphs / "ldbc" / f"{name}.edges.parquet")
    edges = edges.astype({"src": "int64", "dst": "int64"})
    frame = partitioned(edges, parts)
    vertices = pd.DataFrame({"vertex": expected.index.to_numpy()})
    graph = frame.graph(directed=directed, vertices=vertices, **options)
    return graph, expected.sort_index()


def answer(result, parts, column):
    assert result.npartitions == parts
    values = result.compute().set_index("vertex")[column]
    assert values.index.is_monotonic_increasing
    return values


@cases("bfs")
def test_bfs(graphs, parts, name, directed, parameter):
    graph, expected = load(graphs, "bfs", name, directed, parts)
    distance = answer(graph.bfs(parameter), parts, "distance")
    found = distance.astype("float64").fillna(float(UNREACHED))
    pd.testing.assert_series_equal(found, expected.astype("float64"), check_names=False)


@cases("sssp")
def test_sssp(graphs, parts, name, directed, parameter):
    graph, expected = load(graphs, "sssp", name, directed, parts)
    distance = answer(graph.sssp(parameter), parts, "distance")
    pd.testing.assert_series_equal(distance.isna(), np.isinf(expected), check_names=False)
    found = distance.astype("float64").fillna(np.inf)
    pd.testing.assert_series_equal(found, expected, check_names=False, rtol=1e-12)


@cases("pr")
def test_pagerank(graphs, parts, name, directed, parameter):
    graph, expected = load(graphs, "pr", name, directed, parts, weight=None)
    rank = answer(graph.pagerank(tolerance=0, max_iterations=parameter), parts, "rank")
    pd.testing.assert_series_equal(rank, expected, check_names=False, rtol=1e-4)
    assert rank.sum() == pytest.approx(1, abs=1e-12)


@cases("wcc")
def test_weakly_connected_components(graphs, parts, name, directed, parameter):
    graph, expected = load(graphs, "wcc", name, directed, parts)
    component = answer(graph.weakly_connected_components(), parts, "component")
    assert component.index.equals(expected.index)
    smallest = expected.index.to_series().groupby(expected).transform("min")
    assert component.tolist() == smallest.tolist()


@pytest.mark.parametrize("ranks", RANKS[:2])
@cases("lcc")
def test_clustering_coefficient(graphs, parts, ranks, name, directed, parameter):
    graph, expected = load(graphs, "lcc", name, directed, parts, ranks=ranks)
    found = answer(graph.clustering_coefficient(), parts, "clustering_coefficient")
    pd.testing.assert_series_equal(found, expected, check_names=False, rtol=1e-12)


@pytest.mark.parametrize("ranks", RANKS[:2])
@cases("cdlp")
def test_label_propagation(graphs, parts, ranks, name, directed, parameter):
    graph, expected = load(graphs, "cdlp", name, directed, parts, ranks=ranks)
    label = answer(graph.label_propagation(parameter), parts, "label")
    assert label.to_dict() == expected.astype("int64").to_dict()
