"""Whether an engine can run is asked where a method is called, and where it runs."""

import dask.dataframe as dd
import pandas as pd
import pytest

import dask_graphgpu  # noqa: F401  registers .graph
from dask_graphgpu.engine import driver
from dask_graphgpu.errors import EngineUnavailable


def test_a_worker_without_a_gpu_is_told_of(monkeypatch):
    lacking = [None]
    monkeypatch.setattr(driver, "missing", lambda: lacking[-1])
    edges = dd.from_pandas(pd.DataFrame({"src": [0, 1], "dst": [1, 2]}), npartitions=2)
    ranks = edges.graph(engine="gpu").pagerank()
    lacking.append("the worker has none")
    with pytest.raises(EngineUnavailable, match="the worker has none"):
        ranks.compute(scheduler="synchronous")
    with pytest.raises(EngineUnavailable, match="the worker has none"):
        edges.graph(engine="gpu").pagerank()
