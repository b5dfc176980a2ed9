"""Errors of frames of other libraries say what to do in words of these; numbers of SQL are exact or refused."""

import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import dask_graphgpu as dg
from dask_graphgpu.errors import InvalidEdges


def error_of(frame, weighted=False):
    with pytest.raises(InvalidEdges) as told:
        dg.graph(frame).pagerank(weighted=weighted)
    return str(told.value)


def query(select):
    return duckdb.connect().sql(f"select {select}")


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (
            {"src": [1, None], "dst": [2, 3]},
            ".drop_nulls('src') of polars or `where src is not null`",
        ),
        ({"src": [1.0, 2.0], "dst": [2, 3]}, "with .cast(pl.Int64) of polars or ::BIGINT of SQL"),
        ({"src": [1, 2], "dst": [2, 3], "weight": [1.0, None]}, ".drop_nulls('weight')"),
        ({"src": [1, 2], "dst": [2, 3], "weight": [1.0, np.nan]}, ".drop_nans('weight') of polars"),
    ],
)
def test_polars_and_queries(columns, words):
    frame = pl.DataFrame(columns, strict=False)
    for each in (frame, frame.lazy(), duckdb.connect().sql("from frame"), frame.to_arrow()):
        said = error_of(each, "weight" in columns)
        assert words in said
        assert ".dropna" not in said
        assert ".astype" not in said
    assert words not in error_of(pd.DataFrame(columns), "weight" in columns)


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"src": pd.array([1, None], "Int64"), "dst": [2, 3]}, ".dropna(subset=['src'])"),
        ({"src": ["a", None], "dst": ["b", "c"]}, ".dropna(subset=['src'])"),
        ({"src": [1, 2], "dst": [2, 3], "weight": [1.0, None]}, ".dropna(subset=['weight'])"),
    ],
)
def test_parquet_that_dask_reads(tmp_path, columns, words, ranks):
    """It is read to Arrow, which whoever has called Dask need not know."""
    pd.DataFrame(columns).to_parquet(tmp_path / "edges.parquet")
    with pytest.raises(InvalidEdges) as told:
        dd.read_parquet(tmp_path).graph(ranks=ranks).pagerank().compute()
    assert words in str(told.value)
    assert "polars" not in str(told.value)


def test_a_file_of_floats_among_integers(tmp_path):
    for i, kind in enumerate(("int64", "float64")):
        frame = pd.DataFrame({"src": [1, 2], "dst": [2, 3]}).astype({"src": kind})
        frame.to_parquet(tmp_path / f"{i}.parquet")
    with pytest.raises(InvalidEdges, match=r"1.parquet: ids of type double.*\.astype\('int64'\)"):
        dd.read_parquet(tmp_path).graph().degree().compute()


@pytest.mark.parametrize("kind", ["hugeint", "decimal(18, 0)", "decimal(18, 2)"])
def test_numbers_of_sql_that_are_no_ids(kind):
    said = error_of(query(f"1::{kind} as src, 2::{kind} as dst"))
    assert "use integers or strings" in said
    assert "::BIGINT of SQL" in said
    assert ("integers of 128 bits come as this" in said) == (kind == "hugeint")
    ids = dg.graph(query(f"1::{kind}::bigint as src, 2::{kind}::bigint as dst")).degree()
    assert [row[0] for row in ids.fetchall()] == [1, 2]


@pytest.mark.parametrize("kind", ["hugeint", "decimal(18, 2)"])
def test_numbers_of_sql_that_are_no_weights(kind):
    said = error_of(query(f"1 as src, 2 as dst, 3::{kind} as weight"), weighted=True)
    assert "::DOUBLE of SQL" in said
    assert ("integers of 128 bits come as this" in said) == (kind == "hugeint")
    found = dg.graph(query("1 as src, 2 as dst, 2.25::decimal(18, 2)::double as weight")).sssp(1)
    assert [row[1] for row in found.fetchall()] == [0, 2.25]


def test_integers_of_64_bits_are_exact():
    largest = 2**64 - 1
    found = dg.graph(query(f"{largest}::ubigint as src, {largest - 1}::ubigint as dst")).degree()
    assert [row[0] for row in found.fetchall()] == [largest - 1, largest]
