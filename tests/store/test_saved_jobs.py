"""Saved graphs on the command line and in job files: made by build, taken in place of edges."""

import dataclasses
import json

import pandas as pd
import pytest
from commands import call, refused, result

from dask_graphgpu import load
from dask_graphgpu.jobs.cli import ALGORITHMS

EDGES = pd.DataFrame(
    {"src": [0, 0, 1, 2, 2], "dst": [1, 2, 3, 3, 3], "weight": [4, 1, 1, 7, 2], "km": [0.5] * 5}
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A current folder with edges.parquet in it."""
    monkeypatch.chdir(tmp_path)
    EDGES.to_parquet("edges.parquet")
    return tmp_path


STEPS = ["--tolerance", "0", "--max-iterations", "3"]


def test_build_and_every_algorithm_on_it(folder):
    assert call("build", "edges.parquet", "--output", "saved").stdout == ""
    known = {"source": 0, "k": 1}
    tried = 0
    for name, kind in ALGORITHMS.items():
        fields = dataclasses.fields(kind)
        required = [f.name for f in fields if f.default is dataclasses.MISSING]
        if not set(required) <= set(known):
            continue
        words = [w for field in required for w in (f"--{field}", known[field])]
        words += STEPS if name in ("eigenvector_centrality", "katz_centrality") else []
        call(name, "saved", *words, "--output", "of-saved")
        call(name, "edges.parquet", *words, "--output", "of-edges")
        pd.testing.assert_frame_equal(result("of-saved"), result("of-edges"))
        tried += 1
    assert tried >= 7


def test_options_of_build(folder):
    names = EDGES.rename(columns={"src": "a", "dst": "b", "weight": "toll"})
    names.to_parquet("names.parquet")
    pd.DataFrame({"vertex": [7]}).to_parquet("vertices.parquet")
    words = ["--columns", "a,b", "--weight", "toll", "--undirected", "--vertices"]
    words += ["vertices.parquet", "--duplicates", "keep", "--order", "degree"]
    call("build", "names.parquet", *words, "--edge-columns", "km", "--output", "saved")
    plan = load("saved").explain()
    assert plan.columns == "a -> b, weights in toll"
    assert (plan.rows, plan.vertices, plan.directed) == (5, 5, False)
    assert plan.order == "falling degree"
    call("sssp", "saved", "--source", 3, "--output", "out")
    assert result()["distance"].tolist()[:4] == [3, 1, 2, 0]
    # Options that say the same may stay.
    call("sssp", "saved", "--source", 3, *words[:5], "--duplicates", "keep", "--output", "again")
    pd.testing.assert_frame_equal(result("again"), result())
    call("sssp", "saved", "--source", 3, "--ranks", 2, "--output", "on_ranks")
    pd.testing.assert_frame_equal(result("on_ranks"), result())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--undirected"], "undirected is True and the saved graph saved has False"),
        (["--unweighted"], "weight is None and the saved graph saved has 'weight'"),
        (["--weight", "km"], "weight is 'km' and the saved graph saved has 'weight'"),
        (["--columns", "dst,src"], "columns is ('dst', 'src')"),
        (["--vertices", "edges.parquet"], "vertices is 'edges.parquet'"),
        (["--duplicates", "sum"], "duplicates is 'sum'"),
        (["--order", "degree"], "order is 'degree'"),
        (["--engine", "steam"], "engine"),
        (["--ranks", "0"], "--ranks 0; allowed are"),
    ],
)
def test_options_that_are_not_those_of_the_saved_graph(words, says, folder):
    call("build", "edges.parquet", "--output", "saved")
    assert says in refused("sssp", "saved", "--source", 0, "--top", 1, *words, code=2)


def test_stale_and_damaged_graphs(folder):
    call("build", "edges.parquet", "--output", "saved")
    EDGES[:3].to_parquet("edges.parquet")
    words = ["degree", "saved", "--output", "out"]
    assert "edges.parquet was written again" in refused(*words, code=1)
    call(*words, "--stale", "ignore", "--verify")
    assert len(result()) == 4
    file = folder / "saved" / "given-neighbours.arrow"
    content = file.read_bytes()
    file.write_bytes(content.replace(content[-40:], bytes(40)))
    says = refused(*words, "--stale", "ignore", "--verify", code=1)
    assert "checksum of given-neighbours.arrow differs" in says
    (folder / "saved" / "manifest.json").unlink()
    assert "torn" in refused(*words, code=1)


@pytest.mark.parametrize("words", [["--verify"], ["--stale", "ignore"]])
def test_options_for_saved_graphs_only(words, folder):
    says = refused("degree", "edges.parquet", "--top", 1, *words, code=2)
    assert f"{words[0][2:]} is an option for saved graphs, and edges.parquet is none" in says


def test_build_needs_an_output_and_replaces_nothing_else(folder):
    assert "--output" in refused("build", "edges.parquet", code=2)
    (folder / "other").mkdir()
    (folder / "other" / "notes").write_text("kept")
    assert "other" in call("build", "edges.parquet", "--output", "other", code=1).stderr
    assert (folder / "other" / "notes").exists()
    for _ in range(2):
        call("build", "edges.parquet", "--output", "saved")
    call("build", "saved", "--output", "copy")
    call("degree", "copy", "--output", "out")
    assert len(result()) == 4


def test_job_that_builds_and_uses_a_graph(folder):
    (folder / "job.toml").write_text(
        """
        edges = "saved"
        [[step]]
        algorithm = "build"
        edges = "edges.parquet"
        edge-columns = "km"
        output = "saved"
        [[step]]
        algorithm = "sssp"
        source = 0
        output = "distances"
        [[step]]
        algorithm = "degree"
        top = 1
        """
    )
    printed = call("run", "job.toml").stdout
    assert printed.split() == ["vertex", "in_degree", "out_degree", "degree", "0", "0", "2", "2"]
    assert result("distances")["distance"].tolist() == [0, 4, 1, 3]


def test_steps_that_share_edges_with_a_build(folder):
    (folder / "job.toml").write_text(
        """
        edges = "edges.parquet"
        [[step]]
        algorithm = "degree"
        output = "degrees"
        [[step]]
        algorithm = "build"
        edge-columns = "km"
        output = "saved"
        """
    )
    call("run", "job.toml")
    manifest = json.loads((folder / "saved" / "manifest.json").read_text())
    assert manifest["graph"]["edge_columns"] == ["km"]
    assert len(result("degrees")) == 4


def test_keys_of_build(folder):
    (folder / "job.toml").write_text('algorithm = "build"\nedges = "edges.parquet"\ntop = 1\n')
    assert "'top' is no key of build" in refused("run", "job.toml", code=2)


def test_help():
    assert "build" in call("--help").stdout
    for option in ("--edge-columns", "--undirected", "--vertices", "--output"):
        assert option in call("build", "--help").stdout
    assert "--stale" in call("bfs", "--help").stdout
