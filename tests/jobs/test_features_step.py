"""Several methods in one frame, as a command and as a step of a job."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import call, refused, result

MADE = np.random.default_rng(4)
EDGES = pd.DataFrame(MADE.integers(0, 60, (300, 2)), columns=["src", "dst"])
JUMPS = pd.DataFrame({"vertex": [1, 2], "p": [1.0, 2.0]})
JOB = """
edges = "edges.parquet"
algorithm = "features"
output = "out"
top = 3

[methods]
degree = {}
bfs = {source = 7, predecessor = true}
"pagerank" = {damping = 0.5, personalization = "jumps.parquet", name = {rank = "score"}}
"betweenness-centrality" = {draw = 5, seed = 2}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    EDGES.to_parquet("edges.parquet")
    JUMPS.to_parquet("jumps.parquet")


def test_command():
    words = ["features", "edges.parquet", "--methods", "weakly-connected-components,degree"]
    done = call(*words, "--output", "out", "--top", 2)
    wanted = EDGES.graph().features(["weakly_connected_components", "degree"])
    pd.testing.assert_frame_equal(result(), wanted, check_dtype=False)
    assert done.stdout.split()[:2] == ["vertex", "component"]
    assert done.stderr.startswith(
        f"features: {len(wanted)} rows in out, from {len(wanted)} vertices"
    )


def test_arguments_are_in_job_files():
    Path("job.toml").write_text(JOB)
    printed = call("run", "job.toml").stdout.splitlines()
    wanted = EDGES.graph().features(
        {
            "degree": {},
            "bfs": {"source": 7, "predecessor": True},
            "pagerank": {"damping": 0.5, "personalization": JUMPS, "columns": {"rank": "score"}},
            "betweenness_centrality": {"sources": 5, "seed": 2},
        }
    )
    pd.testing.assert_frame_equal(result(), wanted, check_dtype=False)
    assert len(printed) == 4


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("damping", "dampin", "step 1: 'dampin' is no key of pagerank. Did you mean damping?"),
        ("0.5", "2", "pagerank: --damping 2; allowed is"),
        ("source = 7, ", "", "Missing option '--source'"),
        ("source = 7", 'source = "x"', "'x' is not an integer"),
        ("source = 7", "source = [7, 8]", "bfs: features have one row for each vertex"),
        ("degree = {}", "degree = 3", "methods.degree is 3; give a table of its arguments"),
        ("degree = {}", "degre = {}", "'degre'; allowed are bfs, sssp"),
        ("degree = {}", "k_core = {k = 1}", "'k_core'; allowed are bfs, sssp"),
        ('"out"', '"jumps.parquet"', "is the personalization"),
    ],
)
def test_refusals_of_jobs(old, new, message):
    Path("job.toml").write_text(JOB.replace(old, new, 1))
    assert message in refused("run", "job.toml", code=2)
    assert sorted(path.name for path in Path().iterdir()) == [
        "edges.parquet", "job.toml", "jumps.parquet",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ("degree,nope", "'nope'; allowed are bfs, sssp"),
        ("degree,degree", "names a method twice"),
        ("degree,bfs", "bfs needs source: give it in a job file, below [step.methods.bfs]"),
        ("", "''; allowed are"),
    ],
)
def test_refusals_of_commands(methods, message):
    words = ["features", "edges.parquet", "--methods", methods, "--top", 1]
    assert message in refused(*words, code=2)
