"""Embeddings against powers of SciPy's transition matrix, and what they are for: finding links."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from commands import call, result
from embeddings import found_links, unit, vectors
from hypothesis import given
from hypothesis import strategies as st
from strategies import edge_lists

from dask_graphgpu import errors


def matrix(frame, n, direction, weight):
    """Row v has the weights of v's neighbours."""
    values = frame[weight] if weight else np.ones(len(frame))
    into = sp.coo_array((values, (frame["dst"], frame["src"])), (n, n)).tocsr()
    if weight is None:
        into.data[:] = 1
    return {"in": into, "out": into.T.tocsr(), "both": into + into.T}[direction]


@given(data=st.data())
@pytest.mark.parametrize("direction", ["in", "out", "both"])
@pytest.mark.parametrize("weighted", [False, True])
def test_weighted_powers_of_the_transition_matrix(direction, weighted, data):
    drawn = data.draw(edge_lists(weights=["uint8"], directed=True, max_vertices=30))
    frame = pd.DataFrame(drawn.edges, columns=["src", "dst", "weight"])
    frame = frame.astype({"src": "int64", "dst": "int64"})
    frame["weight"] = frame["weight"].astype("int64") + 1
    n, weights = drawn.n, [0.5, -1.0, 2.0]
    ids = pd.DataFrame({"vertex": range(n)})
    graph = frame.graph(vertices=ids, ranks=data.draw(st.sampled_from([1, 2])))
    start = vectors(graph.fastrp(6, iteration_weights=0, self_influence=1, seed=3))
    one_length = np.abs(start).max(axis=1)  # entries are 0 and one of two numbers
    power = data.draw(st.sampled_from([0.0, -0.5, 1.0]))
    found = vectors(
        graph.fastrp(
            6,
            iteration_weights=weights,
            normalization_strength=power,
            direction=direction,
            weighted=weighted,
            seed=3,
        )
    )
    of = matrix(frame, n, direction, "weight" if weighted else None)
    of_others = matrix(
        frame,
        n,
        {"in": "out", "out": "in", "both": "both"}[direction],
        "weight" if weighted else None,
    )
    degree = of_others.sum(axis=1)
    share = np.where(degree > 0, degree / max(degree.sum(), 1), 1)
    rows = start / np.where(one_length > 0, one_length, 1)[:, None] * (share**power)[:, None]
    wanted = np.zeros((n, 6))
    total = of.sum(axis=1)
    for weight in weights:
        rows = (of @ rows) / np.where(total > 0, total, 1)[:, None]
        wanted += weight * unit(rows)
    np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_entries_are_drawn_as_they_should():
    n, width = 4000, 30
    frame = pd.DataFrame({"src": np.arange(n), "dst": np.arange(n)})
    found = np.sign(vectors(frame.graph().fastrp(width, iteration_weights=[0], self_influence=1)))
    counts = np.array([(found == sign).sum() for sign in (-1, 0, 1)])
    expected = found.size * np.array([1 / 6, 2 / 3, 1 / 6])
    assert ((counts - expected) ** 2 / expected).sum() < 13.8  # of 2 degrees of freedom, at 1e-3
    correlation = np.corrcoef(found.T) - np.eye(width)
    assert np.abs(correlation).max() < 5 / np.sqrt(n)
    assert np.abs(np.corrcoef(found[: n // 10]) - np.eye(n // 10)).max() < 6.5 / np.sqrt(width)
    other = frame.graph().fastrp(width, iteration_weights=[0], self_influence=1, seed=1)
    assert abs(np.corrcoef(found.ravel(), np.sign(vectors(other)).ravel())[0, 1]) < 0.02


def test_everywhere(place):
    place.same(
        lambda graph: graph.fastrp(5, normalization_strength=-0.5, self_influence=0.25),
        lambda graph: graph.fastrp(3, iteration_weights=[1.0], direction="out", weighted=False),
        rtol=1e-5,
    )


def test_of_small_graphs(memory_place):
    memory_place.same_small(lambda graph: graph.fastrp(5), kind="int64", least=1, rtol=1e-4)


def test_links_are_found():
    found, by_degree = found_links(lambda graph: graph.fastrp(64))
    assert found > 0.9
    assert by_degree < 0.65


def test_columns_are_floats_of_32_bits():
    found = pd.DataFrame({"src": [1, 2], "dst": [2, 3]}).graph().fastrp(3)
    assert [*found.columns] == ["vertex", "embedding_0", "embedding_1", "embedding_2"]
    assert set(found.dtypes[1:]) == {np.dtype("float32")}


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"dimension": 0}, "dimension=0"),
        ({"iteration_weights": []}, "one for each iteration"),
        ({"iteration_weights": [1, np.inf]}, "one for each iteration"),
        ({"iteration_weights": "abc"}, "one for each iteration"),
        ({"normalization_strength": np.nan}, "normalization_strength=nan"),
        ({"direction": "up"}, "direction='up'"),
        ({"weighted": True}, "needs weights"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_wrong_calls(arguments, match):
    with pytest.raises(errors.InvalidArgument, match=match):
        pd.DataFrame({"src": [1], "dst": [2]}).graph().fastrp(**arguments)


def test_on_the_command_line(tmp_path):
    edges = pd.DataFrame({"src": [1, 2, 3], "dst": [2, 3, 1]})
    edges.to_parquet(tmp_path / "edges.parquet")
    asked = ["--dimension", 4, "--iteration-weights", "0.5,1", "--output", tmp_path / "out"]
    call("fastrp", tmp_path / "edges.parquet", *asked)
    wanted = edges.graph().fastrp(4, iteration_weights=[0.5, 1])
    pd.testing.assert_frame_equal(result(tmp_path / "out"), wanted)


@pytest.mark.filterwarnings("error")
def test_many_columns_are_no_burden():
    graph = pd.DataFrame({"src": [1, 2], "dst": [2, 3]}).graph()
    found = graph.fastrp(150)
    found["score"] = 1.0
    both = graph.features({"degree": {}, "fastrp": {"dimension": 150}})
    assert both.shape == (3, 154)
    np.testing.assert_array_equal(both[found.columns[:-1]], found.drop(columns="score"))
