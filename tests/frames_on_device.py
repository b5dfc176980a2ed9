"""Edges as cuDF and Dask-cuDF frames, and results that are to be those of pandas frames."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

cudf = pytest.importorskip("cudf")


def edges(kind="random", n=300, m=2000, dtype="int64", seed=3):
    rng = np.random.default_rng(seed)
    source, destination = rng.integers(0, n, (2, m))
    if kind == "skewed":  # reordered by degree
        source, destination = (20 * n * rng.random((2, m)) ** 6).astype(np.int64)
    elif kind == "sparse":
        source, destination = source * 10**14, destination * 10**14
    elif kind == "small":
        source, destination = source % 100, destination % 100
    frame = pd.DataFrame({"src": source.astype(dtype), "dst": destination.astype(dtype)})
    frame["weight"] = rng.integers(1, 65, m)
    if kind == "strings":
        frame["src"], frame["dst"] = "v" + frame["src"].astype(str), "v" + frame["dst"].astype(str)
    return frame


def on_device(frame, lazy=False):
    made = cudf.from_pandas(frame)
    return dd.from_pandas(frame, npartitions=3).to_backend("cudf") if lazy else made


def assert_same(result, wanted, by=None):
    """The rows of a cuDF frame are those of a pandas frame, in the same order."""
    if isinstance(result, dd.DataFrame):
        assert isinstance(result._meta, cudf.DataFrame)
        meta, result = result._meta, result.compute()
        assert (meta.dtypes.astype(str) == result.dtypes.astype(str)).all()
    assert type(result) is cudf.DataFrame
    assert list(result.columns) == list(wanted.columns)
    host = result.to_arrow(preserve_index=False).to_pandas(integer_object_nulls=True)
    if by is not None:  # repeats come in any order
        host = host.sort_values(by).reset_index(drop=True)
        wanted = wanted.sort_values(by).reset_index(drop=True)
    for name in wanted.columns:
        mine, others = host[name], wanted[name]
        assert mine.isna().tolist() == others.isna().tolist(), name
        mine, others = mine[~mine.isna()], others[~others.isna()]
        if others.dtype.kind == "f":
            np.testing.assert_allclose(mine.astype(float), others.astype(float), rtol=1e-9)
        else:
            assert mine.tolist() == others.tolist(), name
