"""Job files: that they do what the command line does, and what they are refused for."""

import re
from pathlib import Path

import pandas as pd
import pytest
from commands import call, refused, result

import dask_graphgpu.jobs.run

EDGES = pd.DataFrame({"src": [0, 0, 1, 2, -5], "dst": [1, 2, 3, 3, -6], "weight": [4, 1, 1, 7, 2]})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A current folder with edges.parquet in it."""
    monkeypatch.chdir(tmp_path)
    EDGES.to_parquet("edges.parquet")
    return tmp_path


JOB = """
edges = "edges.parquet"
undirected = true

[[step]]
algorithm = "sssp"
source = 0
cutoff = 5
output = "far"

[[step]]
algorithm = "bfs"
source = [0, 3]
predecessor = true
output = "near"

[[step]]
algorithm = "bfs"
source = 0
undirected = false
output = "directed"
"""


def test_job_does_what_the_command_line_does(folder, monkeypatch):
    made = []
    make = dask_graphgpu.jobs.run.graph_of
    monkeypatch.setattr(dask_graphgpu.jobs.run, "graph_of", lambda o: made.append(o) or make(o))
    Path("job.toml").write_text(JOB)
    call("run", "job.toml")
    assert len(made) == 2, "two steps share a graph"
    words = ["edges.parquet", "--undirected", "--output", "out"]
    call("sssp", *words, "--source", 0, "--cutoff", 5)
    pd.testing.assert_frame_equal(result("far"), result())
    call("bfs", *words, "--source", 0, "--source", 3, "--predecessor")
    pd.testing.assert_frame_equal(result("near"), result())
    call("bfs", "edges.parquet", "--source", 0, "--output", "out")
    pd.testing.assert_frame_equal(result("directed"), result())


def test_a_line_for_each_step(folder):
    Path("job.toml").write_text(JOB)
    lines = call("run", "job.toml").stderr.splitlines()
    size = "from 6 vertices and 5 edges, "
    wanted = ["sssp: 6 rows in far, ", "bfs: 12 rows in near, ", "bfs: 6 rows in directed, "]
    assert [re.sub(r"\d+(\.\d)? m?s$", "", line) for line in lines] == [
        each + size for each in wanted
    ]
    built = call("build", "edges.parquet", "--output", "saved").stderr
    assert built.startswith("build: 5 edges and 6 vertices in saved, ")
    for words in (["--top", 1], ["--report", "r.csv"]):
        line = call("degree", "edges.parquet", *words).stderr
        rows = "1 row" if "--top" in words else "6 rows"
        assert line.startswith(f"degree: {rows} shown, {size}")
    assert call("degree", "edges.parquet", "--output", "out", "--quiet").stderr == ""
    assert call("run", "job.toml", "-q").stderr == ""
    assert (
        "is not a vertex"
        in call("bfs", "edges.parquet", "--source", 9, "--top", 1, "-q", code=1).stderr
    )


def test_job_of_one_step_needs_no_table(folder):
    Path("job.toml").write_text('algorithm = "degree"\nedges = "edges.parquet"\ntop = 1')
    assert call("run", "job.toml").stdout.splitlines()[1].split()[0] == "0"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (JOB + "sauce = 1", "step 3: 'sauce' is no key of bfs. Did you mean source"),
        (JOB + "xyz = 1", "step 3: 'xyz' is no key of bfs. There are checkpoint, columns, "),
        (JOB + "columns = ['src', 'nope']", "columns names 'nope'"),
        (JOB + "columns = ['src', 1]", "columns is ['src', 1]; give a text or a number"),
        (JOB + "name = 'distance'", "give the column and its new name"),
        (JOB.replace('"bfs"', '"pagernak"'), "Did you mean pagerank?"),
        (JOB + "cutoff = [1, 2]", "step 3: cutoff is [1, 2]; give a text or a number"),
        (JOB + "predecessor = 1", "step 3: predecessor is 1; give true or false"),
        (JOB + "cutoff = true", "step 3: cutoff is true; it is no switch"),
        (JOB + 'cutoff = "far"', "step 3: Invalid value for '--cutoff': 'far' is not a number"),
        (JOB.replace('"bfs"', '"dfs"'), "step 2: algorithm is 'dfs'; allowed are "),
        (JOB.replace('edges = "edges.parquet"', ""), "step 1: there is no key edges; give a path"),
        (JOB.replace('"bfs"', '["bfs"]'), "step 2: algorithm is ['bfs']; allowed are "),
        (JOB.replace('"bfs"', "{a = 1}"), "step 2: algorithm is {'a': 1}; allowed are "),
        (JOB + "columns = 'src,nope'", "columns names 'nope'"),
        (JOB + "[[step]]\nalgorithm = 'pagerank'\ntop = 1\ndamping = 2", "damping"),
        (JOB.replace("source = [0, 3]", "source = 'x'"), "'x' is not an integer"),
        ("step = 3", "has to be a list of tables"),
        ("step = [", "is not TOML"),
    ],
)
def test_job_is_checked_before_it_runs(folder, text, message):
    Path("job.toml").write_text(text)
    assert message in refused("run", "job.toml", code=2)
    assert sorted(path.name for path in folder.iterdir()) == ["edges.parquet", "job.toml"]


def test_a_step_that_waits_reads_columns_that_others_do_not(folder):
    EDGES.assign(trust=0.51).to_parquet("edges.parquet")
    Path("job.toml").write_text("""
edges = "edges.parquet"
[[step]]
algorithm = "pagerank"
output = "ranks"
[[step]]
algorithm = "degree"
output = "degrees"
[[step]]
algorithm = "belief_propagation"
priors = "./ranks"
homophily = "trust"
output = "beliefs"
""")
    call("run", "job.toml")
    words = ["edges.parquet", "--priors", "./ranks", "--homophily", "trust", "--output", "out"]
    call("belief-propagation", *words)
    pd.testing.assert_frame_equal(result("beliefs"), result())


def test_earlier_steps_stay_when_a_later_one_fails(folder):
    Path("job.toml").write_text(JOB.replace("source = [0, 3]", "source = 77"))
    done, error = call("run", "job.toml", code=1).stderr.splitlines()
    assert done.startswith("sssp: 6 rows in far")
    assert error.startswith("Error: 77 is not a vertex")
    assert Path("far").exists()
    assert not Path("directed").exists()
