import pytest
from pagerank_jobs import EDGES


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A current folder with edges.parquet in it."""
    monkeypatch.chdir(tmp_path)
    EDGES.to_parquet("edges.parquet")
    return tmp_path
