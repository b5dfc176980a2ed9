"""Beliefs against the dense linear systems that they solve."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import EdgeList, edge_lists, partitioned

import dask_graphgpu as dg
from dask_graphgpu import errors
from dask_graphgpu.algorithms.linear_beliefs import System
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.engine import cpu
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report


def adjacency(n, edges, values=None):
    """Sums of the values of edges (1 each) between two vertices, which have no direction."""
    matrix = np.zeros((n, n))
    for i, (u, v, *_) in enumerate(edges):
        matrix[u, v] += 1 if values is None else values[i]
        matrix[v, u] += 1 if values is None else values[i]
    return matrix


def two_classes(n, edges, priors, homophily, echo=True):
    """Belief in the first of two classes, by the equations as they are written."""
    h = np.broadcast_to(np.asarray(homophily, float) - 0.5, len(edges))
    c = 2 * h / (1 - 4 * h**2)
    a = 4 * h**2 / (1 - 4 * h**2)
    system = np.eye(n) - adjacency(n, edges, c)
    if echo:
        system += np.diag(adjacency(n, edges, a).sum(axis=1))
    return 0.5 + np.linalg.solve(system, np.asarray(priors) - 0.5)


def several_classes(n, edges, priors, coupling, weights=None, echo=True):
    """Beliefs of K classes: the system of all n K numbers at once, by Kronecker products."""
    k, h = len(coupling), np.asarray(coupling)
    matrix = adjacency(n, edges, weights)
    squares = adjacency(n, edges, None if weights is None else np.square(weights)).sum(axis=1)
    system = np.eye(n * k) - np.kron(matrix, h)
    if echo:
        system += np.kron(np.diag(squares), h @ h)
    explicit = (np.asarray(priors) - 1 / k).ravel()
    return np.linalg.solve(system, explicit).reshape(n, k) + 1 / k


directed_or_once = edge_lists(weights=["uint8"], directed=True, max_vertices=7, max_edges=12)
chances = st.floats(0, 1, width=32)


def most_edges(graph):
    return adjacency(graph.n, graph.edges).sum(axis=1).max()


@given(graph=directed_or_once, data=st.data(), echo=st.booleans())
def test_two_classes(graph, data, echo):
    priors = data.draw(st.lists(chances, min_size=graph.n, max_size=graph.n))
    within = 0.9 / (2 + 2 * most_edges(graph))
    homophily = 0.5 + data.draw(st.sampled_from([-1, -0.5, 0.5, 1])) * within
    wanted = two_classes(graph.n, graph.edges, priors, homophily, echo)
    frame = graph.vertices().assign(prior=priors)
    column = partitioned(graph.frame(), graph.cuts).graph(vertices=frame)
    for built, given_priors in ((graph.graph(), frame), (column, "prior")):
        found = built.belief_propagation(
            given_priors, homophily=homophily, echo_cancellation=echo, tolerance=1e-13
        )
        answer = graph.answers(found, "belief")
        np.testing.assert_allclose([answer[v] for v in range(graph.n)], wanted, atol=1e-9)


@given(graph=directed_or_once, data=st.data(), echo=st.booleans())
def test_homophily_of_its_own_for_every_edge(graph, data, echo):
    priors = data.draw(st.lists(chances, min_size=graph.n, max_size=graph.n))
    within = 0.9 / (2 + 2 * max(most_edges(graph), 1))
    number = len(graph.edges)
    shares = data.draw(st.lists(st.floats(-1, 1), min_size=number, max_size=number))
    frame = graph.frame().assign(alike=0.5 + within * np.array(shares, float))
    wanted = two_classes(graph.n, graph.edges, priors, frame["alike"].to_numpy(), echo)
    built = partitioned(frame, graph.cuts).graph(vertices=graph.vertices())
    found = built.belief_propagation(
        graph.vertices().assign(prior=priors),
        homophily="alike",
        echo_cancellation=echo,
        tolerance=1e-13,
    )
    answer = graph.answers(found, "belief")
    np.testing.assert_allclose([answer[v] for v in range(graph.n)], wanted, atol=1e-9)


COUPLINGS = [
    [[1, -1], [-1, 1]],
    [[2, -1, -1], [-1, 2, -1], [-1, -1, 2]],
    [[0.5, -0.25, -0.25], [-0.25, -0.5, 0.75], [-0.25, 0.75, -0.5]],
    [[3, -1, -1, -1], [-1, 1, 1, -1], [-1, 1, -2, 2], [-1, -1, 2, 0]],
]


@given(
    graph=directed_or_once,
    data=st.data(),
    coupling=st.sampled_from(COUPLINGS),
    weighted=st.booleans(),
    echo=st.booleans(),
)
def test_several_classes(graph, data, coupling, weighted, echo):
    k = len(coupling)
    raw = data.draw(
        st.lists(st.lists(st.integers(1, 9), min_size=k, max_size=k), min_size=graph.n, max_size=graph.n)
    )  # fmt: skip
    priors = np.array(raw) / np.sum(raw, axis=1, keepdims=True)
    weights = [edge[2] for edge in graph.edges] if weighted else None
    rows = adjacency(graph.n, graph.edges, weights).sum(axis=1).max()
    strongest = np.abs(np.linalg.eigvalsh(coupling)).max()
    scale = 0.4 / max(rows, 1) / strongest
    scaled = scale * np.array(coupling)
    wanted = several_classes(graph.n, graph.edges, priors, scaled, weights, echo)
    names = [f"class{i}" for i in range(k)]
    frame = pd.concat([graph.vertices(), pd.DataFrame(priors, columns=names)], axis=1)
    column = partitioned(graph.frame(), graph.cuts).graph(vertices=frame)
    for built, given_priors in ((graph.graph(), frame), (column, names)):
        found = built.belief_propagation(
            given_priors,
            coupling=scaled,
            weighted=weighted,
            echo_cancellation=echo,
            tolerance=1e-13,
        ).compute()
        assert found.columns.tolist() == ["vertex", *(f"belief_{name}" for name in names)]
        for i, name in enumerate(names):
            answer = graph.answers(found, f"belief_{name}")
            beliefs = [answer[v] for v in range(graph.n)]
            np.testing.assert_allclose(beliefs, wanted[:, i], atol=1e-9)
        np.testing.assert_allclose(found.drop(columns="vertex").sum(axis=1), 1)


RING = pd.DataFrame({"src": range(12), "dst": np.roll(range(12), -1)})
KNOWN = pd.DataFrame({"vertex": [0, 6], "prior": [0.9, 0.2]})


def test_two_classes_agree_with_a_coupling_of_two():
    h = 0.01
    two = RING.graph(directed=False).belief_propagation(KNOWN, homophily=0.5 + h, tolerance=1e-14)
    both = KNOWN.assign(other=1 - KNOWN["prior"])
    several = RING.graph(directed=False).belief_propagation(
        both, coupling=[[h, -h], [-h, h]], tolerance=1e-14
    )
    # c and a differ from the eigenvalue 2 h and its square by 4 h**2 of themselves.
    np.testing.assert_allclose(several["belief_prior"], two["belief"], atol=5 * h**2 * 2 * h)
    assert (several["belief_prior"] != two["belief"]).any()


def test_homophily_draws_neighbours_along_and_heterophily_apart():
    graph = RING.graph(directed=False)
    alike = graph.belief_propagation(KNOWN.iloc[:1], homophily=0.6)["belief"]
    assert (alike > 0.5).all()
    assert alike.argmax() == 0
    apart = graph.belief_propagation(KNOWN.iloc[:1], homophily=0.4)["belief"]
    assert ((apart > 0.5) == [v % 2 == 0 for v in range(12)]).all()


def test_exactly_so_many_iterations_or_not_converged():
    graph = RING.graph(directed=False)
    graph.belief_propagation(KNOWN, homophily=0.6, tolerance=0, max_iterations=10)
    assert len(dg.last_report()) == 10
    with pytest.raises(errors.NotConverged, match="change = "):
        graph.belief_propagation(KNOWN, homophily=0.6, tolerance=1e-14, max_iterations=3)


def test_a_coupling_that_cannot_converge_is_refused():
    graph = RING.graph(directed=False)
    # On a ring the iteration has the radius max over k of |2 c cos(2 pi k / 12) - 2 a|.
    h = np.linspace(0.01, 0.45, 60)
    c, a = 2 * h / (1 - 4 * h**2), 4 * h**2 / (1 - 4 * h**2)
    radius = 2 * c + 2 * a  # at k = 6; the bound of the radius is the same there
    strong = h[radius > 1.001]
    with pytest.raises(errors.InvalidArgument, match=r"spectral radius.*tolerance=0"):
        graph.belief_propagation(KNOWN, homophily=0.5 + strong[0])
    with pytest.raises(errors.InvalidArgument, match="too strong"):
        graph.belief_propagation(
            KNOWN.assign(x=1 - KNOWN["prior"]), coupling=np.array([[1, -1], [-1, 1]]) * 0.26,
            echo_cancellation=False,
        )  # fmt: skip
    with pytest.raises(errors.InvalidArgument, match="too strong"):
        RING.assign(alike=0.9).graph().belief_propagation(KNOWN, homophily="alike")
    weak = h[radius < 0.999]
    graph.belief_propagation(KNOWN, homophily=0.5 + weak[-1], max_iterations=100_000)
    graph.belief_propagation(KNOWN, homophily=0.5 + strong[0], tolerance=0, max_iterations=5)


def test_a_coupling_beyond_the_bound_may_converge_all_the_same():
    """A star: the largest degree is far above the spectral radius."""
    star = pd.DataFrame({"src": np.zeros(100, int), "dst": range(1, 101)})
    matrix = adjacency(101, star.to_numpy().tolist())
    assert np.abs(np.linalg.eigvalsh(matrix)).max() == pytest.approx(10)
    both = KNOWN.assign(x=1 - KNOWN["prior"])
    coupling = np.array([[1, -1], [-1, 1]]) * 0.04  # eigenvalue 0.08: radius 0.8, row sum 8
    graph = star.graph()
    found = graph.belief_propagation(
        both, coupling=coupling, echo_cancellation=False, tolerance=1e-12
    )
    priors = np.full((101, 2), 0.5)
    priors[0], priors[6] = (0.9, 0.1), (0.2, 0.8)
    wanted = several_classes(101, star.to_numpy().tolist(), priors, coupling, echo=False)
    np.testing.assert_allclose(found["belief_prior"], wanted[:, 0], atol=1e-9)
    with pytest.raises(errors.InvalidArgument, match=r"multiply the coupling by less than 0\.83"):
        graph.belief_propagation(both, coupling=coupling * 1.5, echo_cancellation=False)


@example(
    graph=EdgeList(1, [(0, 0, 5)], True, "uint8", "int64 dense", [0], []),
    coupling=5e-324,
    kind="weighted",
    echo=False,
)
@given(
    graph=edge_lists(weights=["uint8"], directed=True, max_vertices=8, max_edges=20),
    coupling=st.floats(-1, 1),
    kind=st.sampled_from(["uniform", "weighted"]),
    echo=st.booleans(),
)
def test_spectral_radius_lies_between_estimate_and_bound(graph, coupling, kind, echo):
    weights = np.array([edge[2] for edge in graph.edges], float) / 16
    ends = np.array([edge[:2] for edge in graph.edges], np.int64).reshape(-1, 2)
    view = View.of(from_edges(graph.n, ends[:, 0], ends[:, 1], {"weight": weights}))
    each = np.ones(len(weights)) if kind == "uniform" else weights
    squared = coupling**2 * echo
    matrix = coupling * adjacency(graph.n, graph.edges, each)
    matrix -= squared * np.diag(adjacency(graph.n, graph.edges, each**2).sum(axis=1))
    radius = np.abs(np.linalg.eigvalsh(matrix)).max()
    run = Run(cpu, view, None, None, Report("belief_propagation"))
    system = System(kind=kind, coupling=coupling, echo=squared)
    assert system.radius_bound(run, view) >= radius * (1 - 1e-12)
    if radius > 1e-100:
        estimate = system.radius_estimate(run, view)
        assert estimate <= radius * (1 + 1e-9)
        assert estimate >= min(radius, 1) * 0.9


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({}, "give homophily= .* or coupling="),
        ({"homophily": 0.6, "coupling": [[1, -1], [-1, 1]]}, "one of them"),
        ({"homophily": 1.0}, "homophily=1.0; allowed is a number between 0 and 1"),
        ({"homophily": "x"}, "edge_x|column 'x'"),
        ({"homophily": 0.6, "weighted": True}, "goes with coupling="),
        ({"coupling": [[1, -1]]}, r"shape \(1, 2\)"),
        ({"coupling": [[1, "a"], [0, 1]]}, "allowed are K rows of K numbers"),
        ({"coupling": [[1, -1], [1, -1]]}, "not symmetric"),
        ({"coupling": [[1, 0], [0, 1]]}, "do not sum to 0"),
        ({"coupling": [[np.nan, 0], [0, 1]]}, "infinite or NaN"),
        ({"coupling": [[1, -1], [-1, 1]]}, "2 columns of values"),
        ({"homophily": 0.6, "tolerance": -1}, "tolerance"),
    ],
)
def test_arguments_that_do_not_fit(arguments, match):
    with pytest.raises(errors.GraphError, match=match):
        RING.graph().belief_propagation(KNOWN, **arguments)


def test_priors_that_do_not_fit():
    graph = RING.graph(directed=False)
    with pytest.raises(errors.InvalidArgument, match=r"from 0\.2 to 1\.5"):
        graph.belief_propagation(KNOWN.assign(prior=[0.2, 1.5]), homophily=0.6)
    with pytest.raises(errors.InvalidArgument, match="1 vertices do not sum to 1"):
        graph.belief_propagation(
            KNOWN.assign(other=[0.1, 0.9]), coupling=[[0.1, -0.1], [-0.1, 0.1]]
        )
    with pytest.raises(errors.InvalidArgument, match="lie between 0 and 1"):
        RING.assign(alike=1.0).graph().belief_propagation(KNOWN, homophily="alike")
    with pytest.raises(errors.InvalidArgument, match="priors is a int; give a frame"):
        graph.belief_propagation(1, homophily=0.6)
