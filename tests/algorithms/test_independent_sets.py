"""Independent sets and colours: what going through the vertices one by one gives, and what every answer has to be."""

import dask
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import random_small
from places import rows_of, skewed, sparse

from dask_graphgpu import errors


def neighbours(edges):
    found = {v: set() for v in pd.unique(edges[["src", "dst"]].to_numpy().ravel())}
    for u, v in edges[["src", "dst"]].drop_duplicates().to_numpy().tolist():
        if u != v:
            found[u].add(v)
            found[v].add(u)
    return found


def check(edges, graph, seed=0):
    """Both answers are valid: the set is maximal, and each vertex has the first colour that others leave."""
    around = neighbours(edges)
    chosen = rows_of(graph.maximal_independent_set(seed=seed)).set_index("vertex")["in_set"]
    color = rows_of(graph.coloring(seed=seed)).set_index("vertex")["color"]
    assert len(chosen) == len(color) == len(around)
    for v, near in around.items():
        assert chosen[v] != any(chosen[u] for u in near)
        taken = {int(color[u]) for u in near}
        assert set(range(color[v])) <= taken
        assert color[v] not in taken
    return chosen, color


@given(
    seed=st.integers(0, 1000),
    ranks=st.sampled_from([1, 1, 3]),
    shuffle=st.integers(0, 9),
    order=st.sampled_from(["auto", "degree"]),
)
def test_any_graph_whatever_the_order_of_rows(seed, ranks, shuffle, order):
    edges = random_small(seed).frame()
    if not len(edges):
        return
    directed = bool(seed % 2)
    wanted = check(edges, edges.graph(directed=directed), seed)
    mixed = edges.sample(frac=1, random_state=shuffle)
    found = check(mixed, mixed.graph(directed=directed, ranks=ranks, order=order), seed)
    for one, other in zip(wanted, found, strict=True):
        pd.testing.assert_series_equal(one, other)


@pytest.mark.parametrize("frame", [skewed, sparse])
def test_everywhere(programs_place, frame):
    edges = frame()
    found = check(edges, programs_place.graph(edges))
    wanted = check(edges, edges.graph(engine="cpu", ranks=1))
    for one, other in zip(wanted, found, strict=True):
        pd.testing.assert_series_equal(one, other)


def test_shapes_of_which_the_answer_is_known():
    star = pd.DataFrame({"src": 0, "dst": range(1, 9)})
    _, color = check(star, star.graph())
    assert color.max() == 1
    for size in (6, 130):
        pairs = [(u, v) for u in range(size) for v in range(u)]
        clique = pd.DataFrame(pairs, columns=["src", "dst"])
        chosen, color = check(clique, clique.graph())
        assert chosen.sum() == 1
        assert sorted(color) == list(range(size))
    path = pd.DataFrame({"src": range(1000), "dst": range(1, 1001)})
    sets = {check(path, path.graph(), seed)[0].sum() for seed in range(4)}
    assert min(sets) >= 334
    assert len(sets) > 1


def test_vertices_without_neighbours_are_in():
    alone = pd.DataFrame({"src": [1, 2], "dst": [1, 3]})
    vertices = pd.DataFrame({"vertex": [1, 2, 3, 4]})
    graph = alone.graph(vertices=vertices)
    assert graph.maximal_independent_set()["in_set"].iloc[[0, 3]].all()
    assert graph.coloring()["color"].iloc[[0, 3]].tolist() == [0, 0]


def test_colors_are_those_of_the_program_whatever_the_threads():
    random = np.random.default_rng(5)
    ends = (3000 * random.random((40_000, 2)) ** 2).astype(int)
    edges = pd.DataFrame(ends, columns=["src", "dst"])
    wanted = rows_of(edges.graph(ranks=2).coloring())  # supersteps, as everywhere but in memory
    for threads in (1, 2, 7):
        with dask.config.set({"graphgpu.threads": threads}):
            pd.testing.assert_frame_equal(edges.graph().coloring(), wanted)


@pytest.mark.parametrize("seed", [-1, 0.5, "x", True])
def test_seeds(seed):
    edges = pd.DataFrame({"src": [1], "dst": [2]})
    for call in ("maximal_independent_set", "coloring"):
        with pytest.raises(errors.InvalidArgument, match="seed"):
            getattr(edges.graph(), call)(seed=seed)
