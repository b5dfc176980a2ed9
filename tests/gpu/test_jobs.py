"""Jobs whose frames are cuDF's, as Dask's setting ``dataframe.backend`` has it: they write what others write."""

import dask
import numpy as np
import pandas as pd
import pytest
from commands import call

pytest.importorskip("cudf")
pytestmark = pytest.mark.gpu


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Edges as Parquet, as text, and in folders by a column."""
    monkeypatch.chdir(tmp_path)
    made = np.random.default_rng(0)
    edges = pd.DataFrame(made.integers(0, 500, (5000, 2)), columns=["src", "dst"])
    edges["weight"] = made.integers(1, 9, len(edges))
    (tmp_path / "edges").mkdir()
    edges[:2500].to_parquet("edges/a.parquet")
    edges[2500:].to_parquet("edges/b.parquet")
    edges.to_csv("edges.csv", index=False)
    edges[:400].to_parquet("few.parquet")
    edges.assign(day=edges["src"] % 3).to_parquet("days", partition_cols=["day"])


def in_order(frame):
    return frame.sort_values(by=list(frame.columns[:2]), ignore_index=True)


@pytest.mark.parametrize(
    "words",
    [
        "pagerank edges",
        "sssp edges.csv --source 3",
        "degree days --where day>=1",
        "degree days --where weight>4",
        "features edges --methods pagerank,degree,weakly_connected_components",
        "bridges few.parquet",
        "weakly-connected-components few.parquet --keep component>0",
    ],
)
def test_results_are_those_of_pandas(files, words):
    call(*words.split(), "--output", "host")
    with dask.config.set({"dataframe.backend": "cudf"}):
        call(*words.split(), "--output", "device")
    expected, found = (
        pd.read_parquet(name)
        .sort_values(by=list(pd.read_parquet(name).columns)[:2])
        .reset_index(drop=True)
        for name in ("host", "device")
    )
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, rtol=1e-5)
