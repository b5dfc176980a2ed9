"""The frames that methods give: what may be done with them, the types of their columns."""

import dask.dataframe as dd
import pandas as pd
import pyarrow as pa
import pytest
from accessor_calls import CALLS, EDGES, NULL, rows, same
from strategies import partitioned


def test_a_result_is_a_frame_like_any_other(folder, tmp_path):
    found = dd.read_parquet(folder).graph.bfs(0)
    near = found[found["distance"] < 2].nsmallest(2, "distance")
    assert near.compute()["vertex"].tolist() in ([0, 1], [0, 2])
    found.to_parquet(tmp_path / "out", write_index=False)
    again = pd.read_parquet(tmp_path / "out")
    assert again["distance"].isna().sum() == 2
    joined = found.merge(dd.read_parquet(folder), left_on="vertex", right_on="src")
    assert len(joined.compute()) == 5
    sizes = dd.read_parquet(folder).graph.weakly_connected_components()
    assert sizes.groupby("component").size().compute().to_dict() == {0: 4, 4: 2}


def test_numpy_frames_give_masked_columns():
    found = EDGES.graph.sssp(0, predecessor=True)
    assert found.dtypes.astype(str).tolist() == ["int64", "Int64", "Int64"]
    floats = EDGES.graph(weight="toll").sssp(0)
    assert floats.dtypes.astype(str).tolist() == ["int64", "Float64"]
    assert EDGES.graph.bfs(0)["distance"].dtype == "Int64"
    assert EDGES.graph.pagerank()["rank"].dtype == "float64"
    assert EDGES.graph.pagerank(dtype="float32")["rank"].dtype == "float32"
    assert EDGES.graph.core_number()["core_number"].dtype == "int64"
    assert EDGES.graph.degree().dtypes.astype(str).tolist() == ["int64"] * 4


@pytest.mark.parametrize("parts", [None, 2])
def test_arrow_frames_give_arrow_columns(parts):
    arrow = EDGES.convert_dtypes(dtype_backend="pyarrow")
    given = arrow if parts is None else partitioned(arrow, parts)
    for name, call in CALLS.items():
        found = rows(call(given.graph()))
        for dtype in found.dtypes:
            assert isinstance(dtype, pd.ArrowDtype), (name, found.dtypes)
        assert same(found, call(EDGES.graph()))
    assert given.graph.bfs(0)["distance"].dtype == pd.ArrowDtype(pa.int64())


def test_float_weights_of_all_widths():
    for dtype in ("float16", "float32", "float64", "Float32", pd.ArrowDtype(pa.float32())):
        frame = EDGES.astype({"weight": dtype})
        assert rows(frame.graph.sssp(0))["distance"].tolist() == [0, 1, 2, 3, NULL, NULL]
