import pytest
from accessor_calls import EDGES
from strategies import partitioned

from dask_graphgpu import ingest
from dask_graphgpu.cluster import tasks
from dask_graphgpu.io import parquet


@pytest.fixture
def folder(tmp_path):
    """The edges as three Parquet files."""
    partitioned(EDGES, 3).to_parquet(tmp_path / "edges", write_index=False)
    return tmp_path / "edges"


@pytest.fixture
def columns_read(monkeypatch):
    """The columns that every read of a row group asked for."""
    asked = []
    read = parquet.pq.ParquetFile.read_row_group

    def spy(self, group, columns=None, **kwargs):
        asked.append(columns)
        return read(self, group, columns=columns, **kwargs)

    monkeypatch.setattr(parquet.pq.ParquetFile, "read_row_group", spy)
    return asked


@pytest.fixture
def builds(monkeypatch):
    """One entry for each graph that was built."""
    made = []

    def spied(build):
        def spy(*args):
            made.append(args)
            return build(*args)

        return spy

    monkeypatch.setattr(ingest, "build", spied(ingest.build))
    monkeypatch.setattr(tasks, "build_here", spied(tasks.build_here))  # with `--ranks`
    return made
