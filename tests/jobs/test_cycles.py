"""Cycles and triads as commands and as steps of a job."""

from pathlib import Path

import pandas as pd
import pytest
from commands import call, refused, result

import dask_graphgpu  # noqa: F401  puts .graph on frames

EDGES = pd.DataFrame({"src": ["a", "b", "c", "b"], "dst": ["b", "c", "a", "a"], "n": [1, 2, 4, 9]})
EDGES["at"] = pd.to_datetime(["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-09"])


@pytest.fixture(autouse=True)
def edges(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    EDGES.to_parquet("edges.parquet")


def same(wanted):
    pd.testing.assert_frame_equal(result(), wanted, check_dtype=False)


def test_lengths_of_time_and_numbers():
    words = ["cycles", "edges.parquet", "--output", "out", "--max-length", 3]
    call(*words)
    same(EDGES.graph().cycles(3))
    call(*words, "--time", "at", "--within", "2 days")
    same(EDGES.graph().cycles(3, time="at", within="2D"))
    call(*words, "--time", "n", "--within", "3.5")
    same(EDGES.graph().cycles(3, time="n", within=3.5))
    assert "--within 3D needs times of edges" in refused(*words, "--within", "3D", code=2)


def test_steps():
    Path("job.toml").write_text(
        'edges = "edges.parquet"\n'
        '[[step]]\nalgorithm = "cycles"\nmax-length = 3\ntime = "at"\nwithin = "2 days"\noutput = "rings"\n'
        '[[step]]\nalgorithm = "triad-census"\noutput = "out"\n'
    )
    call("run", "job.toml")
    same(EDGES.graph().triad_census())
    assert pd.read_parquet("rings")["vertex"].tolist() == ["a", "b", "c"]
