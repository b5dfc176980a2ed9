"""``dask graph warm``: what it leaves is all that a later job of the same kind needs."""

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from commands import call, refused, with_package


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DASK_GRAPHGPU__CACHE_DIRECTORY", str(tmp_path / "cache"))
    return tmp_path / "cache"


def compiled(cache):
    return {file for file in cache.rglob("*.nbc")}


@pytest.mark.slow
def test_a_job_after_it_compiles_nothing(cache, tmp_path):
    done = call("warm", "ego", "--weight-type", "int64", "--undirected")
    assert done.stderr.startswith("ego: ")
    before = compiled(cache)
    assert before
    random = np.random.default_rng(1)
    frame = pd.DataFrame(random.integers(0, 900, (4000, 3)), columns=["src", "dst", "weight"])
    frame.to_parquet(tmp_path / "edges.parquet")
    words = ["ego", "edges.parquet", "--center", "7", "--undirected"]
    job = [sys.executable, "-m", "dask", "graph", *words, "--output", "out", "-q"]
    subprocess.run(job, cwd=tmp_path, env=with_package(), check=True)
    assert len(pd.read_parquet(tmp_path / "out")) > 0
    assert compiled(cache) == before


def test_methods_that_need_weights_run_on_those_they_have(cache):
    assert call("warm", "best-links", "--directed").stderr.startswith("best-links: ")
    said = refused("warm", "best-links", "--directed", "--weight-type", "none", code=1)
    assert "best_links cannot be warmed: " in said


@pytest.mark.parametrize(
    ("name", "why"),
    [("neural-network", "needs a frame"), ("pagerang", "is no method.*Did you mean pagerank")],
)
def test_methods_that_cannot_be(name, why):
    assert re.search(why, refused("warm", name, code=2))
