"""Eigenvector and Katz centrality beside NetworkX and linear algebra."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from places import rows_of, skewed

from dask_graphgpu import errors, last_report


def edges(seed=4, n=60, m=400):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(random.integers(n, size=(m, 2)), columns=["src", "dst"]).drop_duplicates()
    return frame.assign(weight=random.uniform(0.5, 2, len(frame)))


def peer(frame, directed):
    if not directed:  # NetworkX has one edge between two vertices
        frame = frame[frame["src"] < frame["dst"]]
    kind = nx.DiGraph if directed else nx.Graph
    return frame, nx.from_pandas_edgelist(frame, "src", "dst", "weight", create_using=kind)


def values(found, name):
    return found.set_index("vertex")[name].to_dict()


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weight", [None, "weight"])
def test_beside_networkx(directed, weight):
    frame, other = peer(edges(), directed)
    graph = frame.graph(weight="weight", directed=directed)
    found = graph.eigenvector_centrality(tolerance=1e-12, weighted=weight is not None)
    expected = nx.eigenvector_centrality_numpy(other, weight=weight)
    assert values(found, "eigenvector_centrality") == pytest.approx(expected, abs=1e-8)
    for normalized in (True, False):
        found = graph.katz_centrality(
            0.02, 3, normalized=normalized, tolerance=1e-12, weighted=weight is not None
        )
        expected = nx.katz_centrality_numpy(other, 0.02, 3, normalized=normalized, weight=weight)
        assert values(found, "katz_centrality") == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("factor", [1e-7, 1e7])
def test_the_size_of_weights_does_not_matter(directed, factor):
    frame, _ = peer(edges(), directed)
    matrix = np.zeros((60, 60))
    np.add.at(matrix, (frame["dst"], frame["src"]), frame["weight"])
    if not directed:
        matrix += matrix.T
    solved = np.linalg.eig(matrix) if directed else np.linalg.eigh(matrix)
    expected = np.abs(solved.eigenvectors[:, np.argmax(solved.eigenvalues.real)].real)
    light = frame.assign(weight=frame["weight"] * factor)
    for ranks in (1, 3):
        graph = light.graph(directed=directed, ranks=ranks)
        found = rows_of(graph.eigenvector_centrality(tolerance=1e-12))
        np.testing.assert_allclose(found["eigenvector_centrality"], expected, atol=1e-9)


def test_a_heavy_edge_that_no_walk_comes_back_to_does_not_end_the_run():
    # A circle of three edges with a chord, and an edge out of it that weighs what a thousand of these do.
    ends = [(0, 1), (1, 2), (2, 0), (2, 1), (2, 3)]
    frame = pd.DataFrame(ends, columns=["src", "dst"]).assign(weight=[1.0, 2.0, 3.0, 1.0, 1e3])
    found = frame.graph().eigenvector_centrality(tolerance=1e-9, max_iterations=10_000)
    x = found["eigenvector_centrality"].to_numpy()
    largest = np.roots([1.0, 0.0, -2.0, -6.0])[0].real  # of the circle: x**3 = 2 x + 6
    np.testing.assert_allclose(
        x[[0, 1, 3]] / x[2], [3 / largest, largest / 2, 1e3 / largest], rtol=1e-5
    )


@pytest.mark.parametrize("directed", [True, False])
def test_where_nothing_weighs_values_are_equal(directed):
    frame = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 4], "weight": 0.0})
    found = frame.graph(directed=directed).eigenvector_centrality()
    np.testing.assert_allclose(found["eigenvector_centrality"], 0.5)


def test_bipartite_graph_converges():
    star = pd.DataFrame({"src": [0, 0, 0, 0], "dst": [1, 2, 3, 4]}).graph(directed=False)
    found = star.eigenvector_centrality(tolerance=1e-12)["eigenvector_centrality"]
    np.testing.assert_allclose(found, [0.5**0.5] + [8**-0.5] * 4, atol=1e-9)


def iterations():
    return len(last_report())


@pytest.mark.parametrize("ranks", [1, 3])
def test_momentum_saves_iterations_of_undirected_graphs(ranks):
    v = np.arange(400).reshape(20, 20)  # a grid: the second eigenvalue is close to the first
    ends = [(v[:, :-1], v[:, 1:]), (v[:-1], v[1:])]
    once = pd.DataFrame({"src": [], "dst": []}, dtype="int64")
    for a, b in ends:
        once = pd.concat([once, pd.DataFrame({"src": a.ravel(), "dst": b.ravel()})])
    both = pd.concat([once, once.rename(columns={"src": "dst", "dst": "src"})])
    expected = both.graph().eigenvector_centrality(tolerance=1e-12)
    plain = iterations()
    found = once.graph(directed=False, ranks=ranks).eigenvector_centrality(tolerance=1e-12)
    np.testing.assert_allclose(
        rows_of(found)["eigenvector_centrality"], expected["eigenvector_centrality"], atol=1e-8
    )
    assert iterations() < plain / 3
    # The limit is of all iterations.
    with pytest.raises(errors.NotConverged, match="after 20 iterations"):
        once.graph(directed=False, ranks=ranks).eigenvector_centrality(max_iterations=20)
    once.graph(directed=False).eigenvector_centrality(tolerance=0, max_iterations=20)
    assert iterations() == 20


def test_equal_parts_keep_equal_values_and_a_limit_reached_at_once_is_left_there():
    parts = pd.DataFrame({"src": [0, 1, 2, 10, 11, 12], "dst": [1, 2, 0, 11, 12, 10]})
    found = parts.graph(directed=False).eigenvector_centrality(tolerance=0, max_iterations=99)
    np.testing.assert_allclose(found["eigenvector_centrality"], 6**-0.5)


def test_alpha_too_large_is_an_error():
    whole = pd.DataFrame([(u, v) for u in range(5) for v in range(5) if u != v])
    graph = whole.set_axis(["src", "dst"], axis=1).graph
    assert len(graph().katz_centrality(0.24)) == 5
    with pytest.raises(errors.NotConverged, match=r"a smaller alpha= than 0\.26"):
        graph().katz_centrality(0.26, max_iterations=50)
    with pytest.raises(errors.GraphError):
        graph().katz_centrality(1e3)
    with pytest.raises(errors.InvalidArgument, match=r"alpha=10\.0 is too large"):
        graph().katz_centrality(10.0, tolerance=0, max_iterations=1000)
    for alpha in (0, -1, float("nan")):
        with pytest.raises(errors.InvalidArgument, match="alpha="):
            graph().katz_centrality(alpha)


@pytest.mark.parametrize("beta", [1e-200, 1e200])
def test_squares_beyond_floats_are_scaled_all_the_same(beta):
    graph = edges().graph(weight=None)
    expected = graph.katz_centrality(0.02, tolerance=1e-12)
    found = graph.katz_centrality(0.02, beta, tolerance=1e-12 * beta)
    np.testing.assert_allclose(found["katz_centrality"], expected["katz_centrality"])
    plain = graph.katz_centrality(0.02, beta, tolerance=1e-12 * beta, normalized=False)
    np.testing.assert_allclose(
        found["katz_centrality"] * (plain["katz_centrality"][0] / beta),
        (expected["katz_centrality"][0] * (plain["katz_centrality"] / beta)),
    )


def test_weights_that_are_not_there():
    graph = pd.DataFrame({"src": [0], "dst": [1]}).graph
    with pytest.raises(errors.InvalidArgument, match="needs weights"):
        graph.katz_centrality(weighted=True)
    with pytest.raises(errors.InvalidArgument, match="needs weights"):
        graph.eigenvector_centrality(weighted=True)


def test_every_place(programs_place):
    programs_place.same(
        lambda graph: graph.eigenvector_centrality(tolerance=0, max_iterations=3), rtol=1e-9
    )
    programs_place.same(
        lambda graph: graph.katz_centrality(1e-4, tolerance=0, max_iterations=3), rtol=1e-9
    )


def test_not_converged():
    with pytest.raises(errors.NotConverged, match="max_iterations="):
        skewed().graph.eigenvector_centrality(tolerance=1e-12, max_iterations=2)


@pytest.mark.parametrize("heavy", [1e-6, 1.0, 1e4, 1e6])
def test_an_edge_that_is_in_no_cycle_may_weigh_any_amount(heavy):
    frame = pd.DataFrame({"src": [1, 2, 2, 3, 3], "dst": [2, 3, 1, 1, 4]})
    frame["weight"] = [1.0, 1.0, 1.0, 1.0, heavy]
    matrix = np.zeros((4, 4))
    matrix[frame["dst"] - 1, frame["src"] - 1] = frame["weight"]
    values, vectors = np.linalg.eig(matrix)
    wanted = np.abs(vectors[:, values.real.argmax()].real)
    for ranks in (1, 2):
        found = frame.graph(ranks=ranks).eigenvector_centrality(tolerance=1e-10)
        np.testing.assert_allclose(found["eigenvector_centrality"], wanted, rtol=1e-6, atol=1e-12)
