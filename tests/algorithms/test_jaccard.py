"""Jaccard coefficients in every place, and against Python sets and igraph."""

from unittest import mock

import dask
import dask.dataframe as dd
import igraph
import numpy as np
import pandas as pd
import pytest
from engines import of_the_cpu_engine
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import MadeGraph
from places import skewed, small, sparse
from small_graphs import on_threads, small_graphs
from strategies import KINDS, edge_lists, partitioned

from dask_graphgpu import errors
from dask_graphgpu.engine.cpu import jaccard_of_pairs, jaccard_two_hop
from dask_graphgpu.report import Report

ENDS = ["src", "dst"]
ENGINE = "dask_graphgpu.engine.cpu.jaccard"


def coefficients(n, edges):
    """By pair of vertices: sets of neighbours, compared."""
    near = [set() for _ in range(n)]
    for u, v, *_ in edges:
        if u != v:
            near[u].add(v)
            near[v].add(u)
    return {
        (u, v): len(near[u] & near[v]) / max(len(near[u] | near[v]), 1)
        for u in range(n)
        for v in range(n)
    }


@given(graph=edge_lists(weights=[None, "int64"], kinds=KINDS), data=st.data())
def test_over_all_kinds_of_ids(graph, data):
    expected = coefficients(graph.n, graph.edges)
    number = {id: v for v, id in enumerate(graph.ids)}
    built = graph.graph().persist()

    def rows(frame):
        frame = frame.compute()
        ends = (frame[end].map(number).tolist() for end in ("src", "dst"))
        return list(zip(*ends, frame["jaccard"].tolist(), strict=True))

    two_hop = rows(built.jaccard())
    order = sorted(range(graph.n), key=graph.rank.__getitem__)
    pairs = [(u, v) for i, u in enumerate(order) for v in order[i + 1 :] if expected[u, v]]
    assert two_hop == [(u, v, expected[u, v]) for u, v in pairs]

    vertex = st.integers(0, graph.n - 1)
    asked = data.draw(st.lists(st.tuples(vertex, vertex), max_size=10))
    frame = pd.DataFrame({"src": graph.column([u for u, _ in asked])})
    frame["dst"] = graph.column([v for _, v in asked])
    given = partitioned(frame, 3)
    assert rows(built.jaccard(given)) == [(u, v, expected[u, v]) for u, v in asked]


@of_the_cpu_engine
@given(small_graphs(max_edges=80), st.sampled_from([1, 3]), st.sampled_from([0, 64]))
def test_on_threads(graph, number, long_rows):
    expected = coefficients(graph.n, graph.edges)
    first, second = np.indices((graph.n, graph.n)).reshape(2, -1)
    with on_threads(number), mock.patch(f"{ENGINE}.LONG_ROWS", long_rows):
        values = jaccard_of_pairs(graph.view(), first, second, Report("jaccard"))
        found = jaccard_two_hop(graph.view(), Report("jaccard"))
    assert values.tolist() == [expected[pair] for pair in zip(first, second, strict=True)]
    rank = range(graph.n) if graph.rank is None else graph.rank
    wanted = {(u, v): x for (u, v), x in expected.items() if x and rank[u] < rank[v]}
    pairs = sorted(wanted, key=lambda pair: (rank[pair[0]], rank[pair[1]]))
    assert [array.tolist() for array in found[:2]] == [[p[end] for p in pairs] for end in (0, 1)]
    assert found[2].tolist() == [wanted[pair] for pair in pairs]


@of_the_cpu_engine
@pytest.mark.parametrize("pairs_of_hub", [1, 3, 400])
@pytest.mark.parametrize("long_rows", [0, 1 << 60])
def test_rows_of_very_different_lengths(pairs_of_hub, long_rows):
    """A long row is searched for the few neighbours of one pair, and marked for those of many pairs."""
    rng = np.random.default_rng(4)
    n = 3_000
    hub = rng.choice(np.arange(1, n), 2_000, replace=False)
    ends = np.c_[np.stack([0 * hub, hub]), rng.integers(n, size=(2, 6_000))]
    near = [set() for _ in range(n)]
    for u, v in ends.T.tolist():
        if u != v:
            near[u].add(v)
            near[v].add(u)
    pairs = rng.integers(n, size=(2, 500))
    pairs[rng.integers(2, size=pairs_of_hub), rng.permutation(500)[:pairs_of_hub]] = 0
    graph = MadeGraph(n, *ends).view()
    with mock.patch(f"{ENGINE}.LONG_ROWS", long_rows):
        values = jaccard_of_pairs(graph, *pairs, Report("jaccard"))
    both = [len(near[u] & near[v]) / max(len(near[u] | near[v]), 1) for u, v in pairs.T]
    assert values.tolist() == both


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("bits", [None, 64])
def test_every_place(rows_place, directed, bits):
    """Of pairs of vertices, and of all that have a neighbour in common where these fit the limit of memory."""
    narrow = [frame for frame in small() if max(frame.value_counts(end).max() for end in ENDS) < 99]
    with dask.config.set({"graphgpu.dense-id-bits": bits}):
        for frame in (skewed, sparse, *narrow):
            made = frame() if callable(frame) else frame
            pairs = made[ENDS][:300].assign(dst=made["dst"][:300].to_numpy()[::-1])
            methods = [lambda graph: graph.jaccard(pairs)]  # noqa: B023
            if rows_place.name not in ("pages", "tiers") or frame is not skewed:
                methods.append(lambda graph: graph.jaccard())
            rows_place.same(*methods, frames=[frame], directed=directed)


def test_igraph_agrees():
    """Rows of very different lengths, which are searched and not walked."""
    ends = (1_000 * np.random.default_rng(2).random((2, 12_000)) ** 4).astype(int)
    edges = pd.DataFrame(ends.T, columns=["src", "dst"])
    peer = igraph.Graph(1_000, ends.T, directed=False).simplify()
    similar = np.array(peer.similarity_jaccard(loops=False))
    pairs = pd.DataFrame(np.random.default_rng(3).choice(np.unique(ends), (3_000, 2)))
    pairs.columns = ["src", "dst"]
    pairs = pairs[pairs["src"] != pairs["dst"]]
    with on_threads(3, little_work=256):
        graph = edges.graph()
        values = graph.jaccard(pairs)
        every = graph.jaccard()
    np.testing.assert_array_equal(values[["src", "dst"]], pairs)
    np.testing.assert_allclose(values["jaccard"], similar[pairs["src"], pairs["dst"]])
    np.testing.assert_allclose(every["jaccard"], similar[every["src"], every["dst"]])
    assert len(every) == np.count_nonzero(np.triu(similar, 1))


EDGES = pd.DataFrame({"src": ["a", "a", "b", "b", "e"], "dst": ["c", "d", "c", "c", "e"]})


def test_kinds_of_pairs():
    pairs = pd.DataFrame({"n": [1, 2], "dst": ["b", "b"], "src": ["a", "e"]})
    assert EDGES.graph.jaccard(pairs)["jaccard"].tolist() == [0.5, 0.0]
    lazy = dd.from_pandas(pairs, npartitions=2)
    assert EDGES.graph.jaccard(lazy)["jaccard"].tolist() == [0.5, 0.0]
    renamed = EDGES.rename(columns={"src": "x", "dst": "y"}).graph(source="x", destination="y")
    assert list(renamed.jaccard()) == ["x", "y", "jaccard"]
    assert len(EDGES.graph.jaccard(pairs[:0])) == 0


def test_several_id_columns():
    edges = pd.DataFrame({"a": ["x"] * 3, "i": [1, 1, 2], "b": ["x", "x", "x"], "j": [2, 3, 3]})
    graph = edges.graph(source=["a", "i"], destination=["b", "j"])
    expected = [["x", 1, "x", 2, 1 / 3], ["x", 1, "x", 3, 1 / 3], ["x", 2, "x", 3, 1 / 3]]
    assert graph.jaccard().to_numpy().tolist() == expected
    assert graph.jaccard(graph.jaccard()).to_numpy().tolist() == expected


def test_bad_pairs():
    with pytest.raises(errors.InvalidArgument, match="pairs is a list; give a frame"):
        EDGES.graph.jaccard([("a", "b")])
    with pytest.raises(errors.InvalidArgument, match="pairs: a frame with the id columns"):
        EDGES.graph.jaccard(EDGES[["src"]])
    with pytest.raises(errors.UnknownVertex, match=r"pairs source: 1 of .* is 'z'"):
        EDGES.graph.jaccard(pd.DataFrame({"src": ["a", "z"], "dst": ["b", "b"]}))
    with pytest.raises(errors.GraphError, match=r"null|missing"):
        EDGES.graph.jaccard(pd.DataFrame({"src": ["a", None], "dst": ["b", "b"]}))
