"""Embeddings of walks: the same everywhere, what gensim makes of the walks, and what they are for: finding links."""

import sys

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from commands import call, result
from embeddings import found_links, vectors
from gensim.models import Word2Vec

from dask_graphgpu import errors

EDGES = nx.to_pandas_edgelist(nx.karate_club_graph(), "src", "dst")[["src", "dst"]]


def test_every_place(place):
    asked = {"length": 7, "walks_per_vertex": 2, "p": 0.5, "q": 2.0, "seed": 5}
    place.same(
        lambda graph: graph.node2vec(4, **asked),
        lambda graph: graph.node2vec(3, length=3, weighted=True),
        frames=[EDGES.assign(weight=1 + EDGES.index % 3)],
    )


def test_what_gensim_makes_of_the_walks():
    """Walks one by one as `random_walks` gives them, given to gensim with names of vertices."""
    asked = {"length": 9, "p": 0.25, "q": 4.0, "seed": 2}
    graph = EDGES.graph(directed=False)
    walks = graph.random_walks(**asked).groupby("walk")["vertex"].agg(list)
    order = np.random.default_rng(2).permutation(len(walks))
    sentences = walks.set_axis(order).sort_index().tolist()
    model = Word2Vec(
        vector_size=8, window=3, sg=1, negative=2, sample=0, min_count=0, sorted_vocab=0, seed=2,
        workers=1, epochs=2,
    )  # fmt: skip
    passed = pd.Series(sentences).explode().value_counts().sort_index()
    model.build_vocab_from_freq(passed.to_dict())
    model.train(sentences, total_examples=len(sentences), epochs=2)
    found = graph.node2vec(8, **asked, walks_per_vertex=1, window=3, negative=2, epochs=2)
    np.testing.assert_array_equal(vectors(found), model.wv[passed.index.tolist()])


def test_rows_in_any_order_and_other_seeds():
    graph = EDGES.graph(directed=False)
    asked = {"length": 10, "walks_per_vertex": 2}
    found = graph.node2vec(4, **asked)
    pd.testing.assert_frame_equal(graph.node2vec(4, **asked), found)
    shuffled = EDGES.sample(frac=1, random_state=1).graph(directed=False)
    pd.testing.assert_frame_equal(shuffled.node2vec(4, **asked), found)
    assert (vectors(graph.node2vec(4, **asked, seed=1)) != vectors(found)).any()
    assert [*found.columns] == ["vertex", *(f"embedding_{i}" for i in range(4))]
    assert set(found.dtypes[1:]) == {np.dtype("float32")}


def test_walks_that_end_and_vertices_alone():
    ids = pd.DataFrame({"vertex": range(5)})
    graph = pd.DataFrame({"src": [0, 1], "dst": [1, 2]}).graph(vertices=ids)
    found = vectors(graph.node2vec(3, length=4))
    assert found.shape == (5, 3)
    assert np.isfinite(found).all()
    empty = pd.DataFrame({"src": [], "dst": []}, dtype="int64").graph()
    assert empty.node2vec(3).shape == (0, 4)


def test_links_are_found():
    found, _ = found_links(lambda graph: graph.node2vec(32, length=20, window=5))
    assert found > 0.9


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"dimension": 0}, "dimension=0"),
        ({"length": -1}, "length=-1"),
        ({"length": 10_000}, "below 10,000"),
        ({"window": 0}, "window=0"),
        ({"p": 0}, "p=0"),
        ({"seed": 2**32}, "seed=4294967296"),
        ({"weighted": True}, "needs weights"),
    ],
)
def test_wrong_calls(arguments, match):
    with pytest.raises(errors.InvalidArgument, match=match):
        pd.DataFrame({"src": [1], "dst": [2]}).graph().node2vec(**arguments)


def test_without_gensim(monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(errors.MissingPackage, match=r"pip install 'dask-graphgpu\[embeddings\]'"):
        EDGES.graph().node2vec()


def test_on_the_command_line(tmp_path):
    EDGES.to_parquet(tmp_path / "edges.parquet")
    asked = ["--dimension", 4, "--length", 5, "--p", 0.5, "--output", tmp_path / "out"]
    call("node2vec", tmp_path / "edges.parquet", *asked)
    wanted = EDGES.graph().node2vec(4, length=5, p=0.5)
    pd.testing.assert_frame_equal(result(tmp_path / "out"), wanted)
