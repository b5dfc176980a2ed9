"""The nearest targets of every vertex against a search from each."""

import oracles
import pandas as pd
import pytest
from engines import RANKS
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import grid
from places import skewed, sparse
from strategies import KINDS, edge_lists

from dask_graphgpu import errors


@given(
    graph=edge_lists(weights=[None, "int64", "uint8", "float32"], kinds=KINDS),
    data=st.data(),
    k=st.integers(1, 5),
    cutoff=st.one_of(st.none(), st.sampled_from([0, 1, 1.5, 3])),
    weighted=st.booleans(),
    framed=st.booleans(),
    order=st.sampled_from(["input", "degree"]),
    ranks=st.sampled_from([1, *RANKS]),
)
def test_as_by_a_search_from_each(graph, data, k, cutoff, weighted, framed, order, ranks):
    weighted = weighted and graph.weight is not None
    if weighted and graph.weight == "float32":  # whole ones, so that sums are exact from either end
        graph.edges[:] = [(u, v, float(int(weight))) for u, v, weight in graph.edges]
    targets = data.draw(st.lists(st.integers(0, graph.n - 1), min_size=1, max_size=6))
    frame = pd.DataFrame({"vertex": graph.column(targets)})
    found = graph.graph(order=order, ranks=ranks).nearest(
        frame if framed else [graph.ids[t] for t in targets],
        k, cutoff=cutoff, weighted=None if weighted else False,
    ).compute()  # fmt: skip
    edges = graph.edges if weighted else [edge[:2] for edge in graph.edges]
    wanted = []
    for v in sorted(range(graph.n), key=graph.ids.__getitem__):
        far = oracles.dijkstra(graph.n, edges, v, directed=graph.directed)
        near = sorted((far[t], graph.ids[t]) for t in {*targets} if t in far)
        near = [pair for pair in near[:k] if cutoff is None or pair[0] <= cutoff]
        wanted += [(graph.ids[v], i + 1, id, d) for i, (d, id) in enumerate(near)]
    columns = (found[name].tolist() for name in ("vertex", "rank", "target", "distance"))
    assert list(zip(*columns, strict=True)) == wanted


def test_everywhere(programs_place):
    programs_place.same(
        lambda g: g.nearest([*range(0, 990, 30)], 3),
        lambda g: g.nearest([3, 990], 5, weighted=False),
        frames=[skewed],
    )
    programs_place.same(
        lambda g: g.nearest([f"v{i}" for i in range(0, 1999, 100)], 4), frames=[sparse]
    )


def test_small_graphs_everywhere(memory_place):
    for kind in ("int64", "float64"):
        memory_place.same_small(
            lambda g: g.nearest(g.degree()["vertex"][::3].tolist(), 3), kind=kind
        )


def test_one_nearest_makes_cells():
    edges = grid(40).frame()
    found = edges.graph(directed=False).nearest([0, 39, 1599])
    assert found["vertex"].tolist() == [*range(1600)]
    assert set(found["rank"]) == {1}
    row, column = divmod(found["vertex"], 40)
    near = pd.DataFrame({0: row + column, 39: row + 39 - column, 1599: 78 - row - column})
    assert found["distance"].tolist() == near.min(axis=1).tolist()
    assert found["target"].tolist() == near.idxmin(axis=1).tolist()  # of equal ones the first


@pytest.mark.parametrize("ranks", [1, 2])
def test_lengths_beyond_int64(ranks):
    edges = pd.DataFrame({"src": [0, 1], "dst": [1, 2], "weight": [2**62, 2**62]})
    graph = edges.graph(ranks=ranks)
    assert graph.nearest([1, 2], 2, cutoff=2**62)["distance"].tolist() == [2**62, 0, 2**62, 0]
    with pytest.raises(errors.IntegerOverflow, match="float weights"):
        graph.nearest([2])
    floats = edges.astype({"weight": float}).graph(ranks=ranks)
    assert floats.nearest([2])["distance"].tolist() == [2.0**63, 2.0**62, 0.0]


def test_refuses():
    graph = pd.DataFrame({"src": [1, 5], "dst": [2, 6]}).graph()
    assert graph.nearest(6)["vertex"].tolist() == [5, 6]
    with pytest.raises(errors.UnknownVertex):
        graph.nearest([7])
    for wrong in ({"k": 0}, {"targets": []}, {"cutoff": -1}, {"weighted": True}):
        with pytest.raises(errors.InvalidArgument):
            graph.nearest(**{"targets": [1], **wrong})
