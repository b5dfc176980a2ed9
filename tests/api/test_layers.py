"""Graphs with layout="layered": the answers of rows, saved, explained, on the command line, refused."""

import json

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from strategies import edge_lists, partitioned

import dask_graphgpu as dg
from dask_graphgpu import engine as engines
from dask_graphgpu.errors import (
    EngineUnavailable,
    InvalidArgument,
    InvalidSavedGraph,
    UnknownVertex,
)
from dask_graphgpu.jobs.cli import graph as command


@pytest.fixture(scope="module")
def frame():
    made = np.random.default_rng(3)
    ends = made.integers(0, 400, (2, 1500))
    return pd.DataFrame(
        {"src": [f"v{i}" for i in ends[0]], "dst": [f"v{i}" for i in ends[1]]}
    ).assign(weight=made.integers(1, 50, 1500))


def same(found, expected):
    pd.testing.assert_frame_equal(found, expected)


@given(
    edge_lists(weights=("int64", "float64"), kinds=("int64 sparse", "str")),
    st.sampled_from([1, 2, 3]),
    st.data(),
)
def test_answers_are_those_of_rows(edges, ranks, data):
    if edges.weight == "float64":
        edges.edges[:] = [(u, v, float(np.float32(w))) for u, v, w in edges.edges]
    source, root = (data.draw(st.sampled_from(edges.ids)) for _ in range(2))
    chosen = data.draw(st.sampled_from([None, root]))
    rows = edges.graph(ranks=1)
    layers = edges.graph(ranks=ranks, layout="layered", root=chosen)
    for ask in (
        lambda graph: graph.bfs(source, predecessor=True),
        lambda graph: graph.bfs(source, cutoff=2),
        lambda graph: graph.sssp(source, predecessor=True),
        lambda graph: graph.sswp(source),
    ):
        same(ask(layers).compute(), ask(rows).compute())


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("directed", [True, False])
def test_all_methods_take_it(frame, ranks, directed):
    rows = frame.graph(directed=directed)
    layers = frame.graph(directed=directed, layout="layered", root="v7", ranks=ranks)
    same(layers.bfs(["v7", "v9"]), rows.bfs(["v7", "v9"]))
    same(layers.sssp("v9", target=["v3", "v4"]), rows.sssp("v9", target=["v3", "v4"]))
    same(layers.sssp("v9", cutoff=60), rows.sssp("v9", cutoff=60))
    same(layers.weakly_connected_components(), rows.weakly_connected_components())
    same(layers.core_number(), rows.core_number())
    pd.testing.assert_frame_equal(layers.pagerank(), rows.pagerank(), rtol=1e-9)


@pytest.mark.parametrize("ranks", [1, 3])
def test_explained(frame, ranks):
    graph = frame.graph(layout="layered", root="v7", ranks=ranks)
    assert "layers      found when built" in str(graph.explain())
    built = graph.persist()
    plan, rows = built.explain(), frame.graph(ranks=ranks).persist().explain()
    far = frame.assign(weight=1).graph().bfs("v7")["distance"]
    assert plan.layers.number >= far.max() + 1
    # A source, a destination and a weight an edge, and a level a vertex, at least.
    assert plan.layers.bytes > len(frame.drop_duplicates(["src", "dst"])) * (4 + 4 + 1) + 4 * 400
    assert plan.layers.seconds > 0
    assert plan.bytes - rows.bytes >= plan.layers.bytes
    assert f"layers      {plan.layers.number}, {plan.layers.bytes:,} bytes of them, built" in str(
        plan
    )
    assert rows.layers is None
    assert "layers" not in str(rows)


def test_a_search_from_the_root_is_one_sweep(frame):
    graph = frame.graph(layout="layered", root="v7").persist()
    graph.bfs("v7")
    assert dg.last_report()["direction"].tolist() == ["layers"]
    graph.bfs("v9")
    assert set(dg.last_report()["direction"]) == {"layers"}
    assert len(dg.last_report()) > 1


def test_the_root_is_the_vertex_with_the_most_edges(frame):
    most = frame.groupby("src").size()
    most = min(most.index[most == most.max()])
    graph = frame.graph(layout="layered").persist()
    graph.bfs(most)
    assert len(dg.last_report()) == 1


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("repeats", [True, False])
def test_saved_with_the_graph(frame, tmp_path, directed, repeats):
    if not repeats:
        frame = frame[frame["src"] < frame["dst"]].drop_duplicates(["src", "dst"])
    rows = frame.graph(directed=directed)
    frame.graph(directed=directed, layout="layered", root="v7").save(tmp_path / "saved")
    opened = dg.load(tmp_path / "saved", verify=True)
    before = opened.explain()
    assert before.layers.number > 1
    same(opened.bfs("v7").compute(), rows.bfs("v7"))
    same(opened.sssp("v9").compute(), rows.sssp("v9"))
    assert opened.explain().layers == before.layers, "nothing is built again"
    content = json.loads((tmp_path / "saved" / "manifest.json").read_text())
    assert content["layout"]["root"] == "v7"
    with pytest.raises(EngineUnavailable, match="layered"):
        dg.load(tmp_path / "saved", engine="interpreted")


def test_ids_of_several_columns(tmp_path):
    frame = pd.DataFrame(
        {"c": ["a", "a", "b"], "n": [1, 2, 1], "c2": ["a", "b", "b"], "n2": [2, 1, 3]}
    )
    options = {"source": ["c", "n"], "destination": ["c2", "n2"]}
    graph = frame.graph(**options, layout="layered", root=("a", np.int64(1)))
    graph.save(tmp_path / "saved")
    expected = frame.graph(**options).bfs(("a", 1))
    same(dg.load(tmp_path / "saved").bfs(("a", 1)).compute(), expected)
    assert len(dg.last_report()) == 1


def test_a_torn_saved_graph_is_refused(frame, tmp_path):
    frame.graph(layout="layered").save(tmp_path / "saved")
    next((tmp_path / "saved").glob("one-*layered-starts.arrow")).unlink()
    with pytest.raises(InvalidSavedGraph):
        dg.load(tmp_path / "saved")


def test_on_the_command_line(frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame.to_parquet("edges.parquet")

    def call(words, code=0):
        done = CliRunner().invoke(command, words.split())
        assert done.exit_code == code, done.stderr
        return done.stderr

    call("bfs edges.parquet --source v7 --layout layered --root v7 --output out --report r.csv")
    found = pd.read_parquet("out").reset_index(drop=True)
    pd.testing.assert_frame_equal(found, frame.graph().bfs("v7"), check_dtype=False)
    assert pd.read_csv("r.csv")["direction"].tolist() == ["layers"]
    call("build edges.parquet --layout layered --root v7 --output saved")
    call("bfs saved --source v7 --report r.csv")
    assert pd.read_csv("r.csv")["direction"].tolist() == ["layers"]
    assert "root is 'v9'" in call("bfs saved --source v7 --root v9 --top 1", 2)
    call("build edges.parquet --output rows")
    assert "layout is 'layered'" in call("bfs rows --source v7 --layout layered --top 1", 2)
    assert "--root v7 is of layers" in call("bfs edges.parquet --source v7 --root v7 --top 1", 2)


def test_what_is_refused(frame):
    with pytest.raises(InvalidArgument, match="layout='sorted'"):
        frame.graph(layout="sorted")
    with pytest.raises(InvalidArgument, match="root='v7' is of layers"):
        frame.graph(root="v7")
    with pytest.raises(EngineUnavailable, match="on the engines 'cpu' and 'gpu'"):
        frame.graph(layout="layered", engine="interpreted")
    with pytest.raises(EngineUnavailable, match="does not run on several ranks"):
        engines.check_layout("gpu", False, layered=True, ranks=2)
    for ranks in (1, 2):
        with pytest.raises(UnknownVertex, match="'nobody'"):
            frame.graph(layout="layered", root="nobody", ranks=ranks).bfs("v7")


def test_lazy_frames_read_nothing_before(frame):
    graph = partitioned(frame, 3).graph(layout="layered", root="v7")
    result, expected = graph.sssp("v9"), partitioned(frame, 3).graph().sssp("v9").compute()
    assert isinstance(result, dd.DataFrame)
    same(result.compute(), expected)
    same(graph.persist().sssp("v9").compute(), expected)


def test_checkpoints_go_on_from_either_layout(frame, tmp_path, monkeypatch):
    from dask_graphgpu.checkpoint import CheckpointKeeper

    class Cut(Exception):
        pass

    write = CheckpointKeeper.write

    def once(self, *args):
        write(self, *args)
        raise Cut

    monkeypatch.setattr(CheckpointKeeper, "write", once)
    kept = dg.Checkpoint(tmp_path / "kept", seconds=None, supersteps=1)
    with pytest.raises(Cut):
        frame.graph(layout="layered", root="v9").sssp("v7", checkpoint=kept)
    monkeypatch.undo()
    found = frame.graph().sssp("v7", checkpoint=kept, resume=True)
    same(found, frame.graph().sssp("v7"))
