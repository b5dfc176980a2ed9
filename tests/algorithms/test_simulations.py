"""Neural network, heat and circuit: dense linear algebra, closed forms, and what never changes."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import edge_lists, partitioned

import dask_graphgpu as dg
from dask_graphgpu import errors
from dask_graphgpu.graphs import Graph


def into(graph, *, both=False):
    """Dense matrix of weights: row v, column u for an edge u -> v; repeated rows add up.

    ``both``: edges of a directed graph lead both ways.
    """
    matrix = np.zeros((graph.n, graph.n))
    for u, v, *weight in graph.as_given.edges:
        matrix[v, u] += weight[0] if weight else 1
    if graph.directed:
        return matrix + matrix.T if both else matrix
    return matrix + matrix.T - np.diag(matrix.diagonal())


values = st.floats(-2, 2, width=32)
small = edge_lists(weights=[None, "uint8"], max_vertices=7, max_edges=14)


def columns(graph, data, *names):
    frame = graph.vertices()
    for name in names:
        frame[name] = data.draw(st.lists(values, min_size=graph.n, max_size=graph.n))
    return frame


def answers(graph, found, name):
    answer = graph.answers(found, name)
    return [answer[v] for v in range(graph.n)]


# Neural network


@given(graph=small, data=st.data())
def test_neurons_after_some_steps(graph, data):
    start = columns(graph, data, "start", "bias")
    matrix = into(graph)
    x, bias = start["start"].to_numpy("float64"), start["bias"].to_numpy("float64")
    for _ in range(10):
        x = np.tanh(matrix @ x + bias)
    built = partitioned(graph.frame(), graph.cuts).graph(directed=graph.directed, vertices=start)
    found = built.neural_network("start", bias="bias", tolerance=0, max_iterations=10)
    np.testing.assert_allclose(answers(graph, found, "activation"), x, rtol=1e-9, atol=1e-9)
    frames = graph.graph().neural_network(
        partitioned(start.drop(columns="bias"), 2),
        start.drop(columns="start"),
        tolerance=0,
        max_iterations=10,
    )
    np.testing.assert_array_equal(
        answers(graph, frames, "activation"), answers(graph, found, "activation")
    )


def test_strengths_of_either_sign_settle():
    rng = np.random.default_rng(1)
    n = 60
    edges = pd.DataFrame({"src": np.repeat(range(n), 4), "dst": rng.integers(0, n, 4 * n)})
    edges["strength"] = rng.uniform(-0.1, 0.1, 4 * n)
    graph = edges.graph()
    found = graph.neural_network(1.0, bias=0.2, strength="strength", tolerance=1e-13)
    x = found["activation"].to_numpy()
    matrix = np.zeros((n, n))
    np.add.at(matrix, (edges["dst"], edges["src"]), edges["strength"])
    np.testing.assert_allclose(x, np.tanh(matrix @ x + 0.2), rtol=1e-10)
    from_below = graph.neural_network(-1.0, bias=0.2, strength="strength", tolerance=1e-13)
    np.testing.assert_allclose(x, from_below["activation"], rtol=1e-9)


def test_a_network_that_oscillates_does_not_converge():
    pair = pd.DataFrame({"src": [0, 1], "dst": [1, 0], "strength": [5.0, -5.0]})
    with pytest.raises(errors.NotConverged, match=r"change = 1\.99"):
        pair.graph().neural_network(0.5, strength="strength", max_iterations=50)


# Heat


@given(graph=small, data=st.data(), share=st.sampled_from([0.1, 0.5, 1.0]))
def test_heat_after_some_steps(graph, data, share):
    start = columns(graph, data, "heat")
    matrix = into(graph)
    most = matrix.sum(axis=1).max()
    step = share / most if most else 1.0
    laplacian = matrix - np.diag(matrix.sum(axis=1))
    q = np.linalg.matrix_power(np.eye(graph.n) + step * laplacian, 7) @ start["heat"]
    found = graph.graph().heat_simulation(start, step=step, tolerance=0, max_iterations=7)
    heat = answers(graph, found, "heat")
    np.testing.assert_allclose(heat, q, rtol=1e-9, atol=1e-9)
    if not graph.directed:
        assert sum(heat) == pytest.approx(start["heat"].sum(), abs=1e-9)


def test_heat_on_a_ring_decays_by_its_eigenvalues():
    """Closed form: the wave of number k on a ring loses 4 step sin(pi k / n)**2 of itself a step."""
    n, k, step = 24, 3, 0.4
    ring = pd.DataFrame({"src": range(n), "dst": np.roll(range(n), -1)})
    wave = np.cos(2 * np.pi * k * np.arange(n) / n)
    start = pd.DataFrame({"vertex": range(n), "heat": wave})
    found = ring.graph(directed=False).heat_simulation(
        start, step=step, tolerance=0, max_iterations=10
    )
    left = (1 - 4 * step * np.sin(np.pi * k / n) ** 2) ** 10
    np.testing.assert_allclose(found["heat"], wave * left, atol=1e-12)


def test_heat_spreads_evenly_over_each_component():
    edges = pd.DataFrame({"src": [0, 1, 5], "dst": [1, 2, 6], "weight": [2, 1, 4]})
    start = pd.DataFrame({"vertex": [0, 5], "heat": [9.0, 1.0]})
    found = edges.graph(directed=False).heat_simulation(start, step=0.125, tolerance=1e-12)
    np.testing.assert_allclose(found["heat"], [3, 3, 3, 0.5, 0.5], rtol=1e-9)
    assert len(dg.last_report()) > 20


@pytest.mark.parametrize("weights", [[2, 3], [2.0, 3.0]])
def test_a_step_that_is_too_long_is_refused_with_one_that_is_not(weights):
    edges = pd.DataFrame({"src": [0, 1], "dst": [1, 2], "weight": weights})
    graph = edges.graph(directed=False)
    with pytest.raises(errors.InvalidArgument, match=r"sum up to 5; a step of at most 0\.2 is"):
        graph.heat_simulation(1.0)
    assert graph.heat_simulation(1.0, step=0.2)["heat"].tolist() == [1.0] * 3
    assert edges.graph().heat_simulation(1.0, step=1 / 3)["heat"].tolist() == [1.0] * 3


# Circuit


def circuit(matrix, terminals, currents):
    """Potentials by solving Kirchhoff's equations of the vertices that are joined to a terminal."""
    n = len(matrix)
    total = matrix.sum(axis=1)
    reach = set(terminals)
    while grown := {i for j in reach for i in range(n) if matrix[i, j] > 0} - reach:
        reach |= grown
    free = sorted(reach - set(terminals))
    potential = np.zeros(n)
    for v, value in terminals.items():
        potential[v] = value
    system = np.diag(total) - matrix
    right = np.array(currents)[free] - system[np.ix_(free, sorted(terminals))] @ [
        terminals[v] for v in sorted(terminals)
    ]
    potential[free] = np.linalg.solve(system[np.ix_(free, free)], right)
    return potential, reach


@given(graph=small, data=st.data())
def test_potentials_solve_kirchhoffs_equations(graph, data):
    chosen = data.draw(st.lists(st.integers(0, graph.n - 1), min_size=1, unique=True))
    terminals = {v: data.draw(values) for v in chosen}
    matrix = into(graph, both=graph.directed)
    currents = np.zeros(graph.n)
    _, reach = circuit(matrix, terminals, currents)
    for v in reach:
        currents[v] = data.draw(values)
    wanted, _ = circuit(matrix, terminals, currents)
    held = pd.DataFrame({"vertex": graph.column(terminals), "volt": list(terminals.values())})
    fed = graph.vertices().assign(ampere=currents)
    frame = graph.vertices().assign(volt=[terminals.get(v) for v in range(graph.n)])
    frame["volt"] = frame["volt"].astype("float64")
    column = partitioned(graph.frame(), graph.cuts).graph(directed=graph.directed, vertices=frame)
    for built, given_terminals in ((graph.graph(), held), (column, "volt")):
        try:
            found = built.circuit_simulation(
                given_terminals, currents=fed, tolerance=1e-13, max_iterations=20_000
            ).compute()
        except errors.NotConverged:  # weights of 1 beside 255 take longer than a test may
            assert matrix.max() > 50
            return
        np.testing.assert_allclose(answers(graph, found, "potential"), wanted, atol=2e-4, rtol=1e-4)


def test_a_chain_of_resistors_divides_the_potential():
    """Closed form: in series, potentials fall by the resistances."""
    ohms = np.array([1.0, 2.0, 3.0, 4.0])
    chain = pd.DataFrame({"src": range(4), "dst": range(1, 5), "weight": 1 / ohms})
    ends = pd.DataFrame({"vertex": [0, 4], "volt": [10.0, 0.0]})
    found = chain.graph().circuit_simulation(ends, tolerance=1e-12)
    np.testing.assert_allclose(found["potential"], [10, 9, 7, 4, 0], atol=1e-9)


def test_a_current_raises_the_potential_by_the_resistance():
    edges = pd.DataFrame({"src": [0, 0], "dst": [1, 1], "weight": [0.5, 0.25]})
    ground = pd.DataFrame({"vertex": [0], "volt": [0.0]})
    fed = pd.DataFrame({"vertex": [1], "ampere": [3.0]})
    found = edges.graph().circuit_simulation(ground, currents=fed)
    assert found["potential"].tolist() == pytest.approx([0.0, 4.0])


def test_floating_vertices_keep_their_start():
    edges = pd.DataFrame({"src": [0, 2, 3, 5], "dst": [1, 3, 4, 0], "weight": [1.0, 1.0, 1.0, 0.0]})
    ends = pd.DataFrame({"vertex": [0], "volt": [7.0]})
    start = pd.DataFrame({"vertex": [2, 3, 5], "volt": [1.0, 2.0, 3.0]})
    graph = edges.graph()
    found = graph.circuit_simulation(ends, initial=start)
    assert found["potential"].tolist() == [7, 7, 1, 2, 0, 3]
    fed = pd.DataFrame({"vertex": [2, 1], "ampere": [1.0, 1.0]})
    with pytest.raises(errors.InvalidArgument, match=r"1 vertices that are joined to no terminal"):
        graph.circuit_simulation(ends, currents=fed)


# What they share


@pytest.mark.parametrize("method", ["neural_network", "heat_simulation", "circuit_simulation"])
def test_values_that_do_not_fit(method):
    edges = pd.DataFrame({"src": [0, 1, 1], "dst": [1, 2, 2]})
    vertices = pd.DataFrame({"vertex": [0, 1], "x": [1.0, np.inf], "gap": [1.0, None]})
    graph = edges.graph(vertices=vertices)

    def call(value):
        step = {"step": 0.5} if method == "heat_simulation" else {}
        return getattr(graph, method)(value, **step)

    frame = pd.DataFrame({"vertex": [0, 0], "x": [1.0, 1.0]})
    for value, match in (
        (frame, "1 vertices have more than one row"),
        (
            frame.assign(vertex=[0, 9]),
            "1 of its ids are not vertices of this graph, the first is 9",
        ),
        (frame.assign(vertex=[0, 1], x=[1, np.nan]), "1 of its values are null"),
        (frame.assign(vertex=[0, 1], x=[1, np.inf]), "1 of its values are infinite"),
        (frame.assign(y=1), "one column of values"),
        ([1.0, 2.0], "is a list; give a frame"),
        ("y", "no column 'y'"),
    ):
        with pytest.raises(errors.GraphError, match=match):
            call(value)
    if method != "circuit_simulation":
        with pytest.raises(errors.InvalidVertices, match="no value for 2 of 3 vertices"):
            call("gap")
        with pytest.raises(errors.InvalidArgument, match="=inf; allowed is a finite number"):
            call(np.inf)


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        (Graph.neural_network, {"initial": 0.5}),
        (Graph.heat_simulation, {"initial": 0.5, "step": 0.1}),
        (Graph.circuit_simulation, {"terminals": pd.DataFrame({"vertex": [0], "v": [1.0]})}),
    ],
)
def test_iterations_are_exactly_so_many_or_enough(method, arguments):
    line = pd.DataFrame({"src": range(30), "dst": range(1, 31)}).graph(directed=False)
    if method is Graph.heat_simulation:
        start = pd.DataFrame({"vertex": [0], "heat": [1.0]})
        arguments = {**arguments, "initial": start}
    method(line, **arguments, tolerance=0, max_iterations=12)
    pulls = dg.last_report()["direction"] == "pull"
    assert pulls.sum() >= 12
    for wrong in ({"tolerance": -1}, {"max_iterations": 0}, {"tolerance": "1"}):
        with pytest.raises(errors.InvalidArgument):
            method(line, **arguments, **wrong)
    with pytest.raises(errors.NotConverged, match="change = "):
        method(line, **arguments, tolerance=1e-14, max_iterations=12)


def test_interpreted():
    line = pd.DataFrame({"src": range(5), "dst": range(1, 6)})
    ends = pd.DataFrame({"vertex": [0, 5], "volt": [5.0, 0.0]})
    for engine in ("auto", "interpreted"):
        graph = line.graph(directed=False, engine=engine)
        found = graph.circuit_simulation(ends, tolerance=1e-10)
        assert found["potential"].tolist() == pytest.approx([5, 4, 3, 2, 1, 0], abs=1e-6)
        heat = graph.heat_simulation(ends, step=0.5, tolerance=0, max_iterations=1)
        assert heat["heat"].tolist() == [2.5, 2.5, 0, 0, 0, 0]
