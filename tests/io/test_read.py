"""Paths to Parquet: what they name, and how the same fault is told on every way to it."""

import os
import re

import dask.dataframe as dd
import pandas as pd
import pytest

import dask_graphgpu as dg
from dask_graphgpu import errors
from dask_graphgpu.io.read import read_parquet

EDGES = pd.DataFrame({"src": [0, 1], "dst": [1, 2]})


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A current folder with files whose names are patterns too."""
    monkeypatch.chdir(tmp_path)
    EDGES.to_parquet("a[1].parquet")
    EDGES.head(1).to_parquet("a1.parquet")
    (tmp_path / "d[1]").mkdir()
    EDGES.to_parquet("d[1]/part.0.parquet")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "rows"),
    [
        ("a[1].parquet", 2),
        ("d[1]", 2),
        ("a1.parquet", 1),
        ("a*.parquet", 3),
        ("?1*.parquet", 1),
        ("a[[]*.parquet", 2),
        ("d[[]1]/*.parquet", 2),
    ],
)
def test_a_pattern_has_a_star(here, path, rows):
    assert len(read_parquet(path)) == rows
    assert len(read_parquet(path).compute()) == rows


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("b*.parquet", "No file or folder matches b*.parquet"),
        ("d[1]/*.parquet", "write [[] for a ["),
        ("b[1].parquet", "There is no file or folder b[1].parquet"),
        ("a?.parquet", "There is no file or folder a?.parquet"),
    ],
)
def test_nothing_of_that_name(here, path, message):
    with pytest.raises(errors.UnreadableParquet, match=re.escape(message)):
        read_parquet(path)


@pytest.mark.parametrize("path", ["d[1]", "d[[]1]/part.*"])
def test_a_truncated_file_is_found_before_work_whatever_names_it(here, path):
    cut = here / "d[1]" / "part.1.parquet"
    cut.write_bytes((here / "a1.parquet").read_bytes()[:-20])
    with pytest.raises(errors.UnreadableParquet, match=r"part\.1\.parquet.* not a complete"):
        read_parquet(path)


def test_a_truncated_file_is_told_alike_when_it_is_found_late(here):
    whole = (here / "a1.parquet").read_bytes()
    file = here / "late.parquet"
    file.write_bytes(whole)
    graph = dd.read_parquet(file).graph()
    file.write_bytes(whole[:-20])
    with pytest.raises(errors.UnreadableParquet) as late:
        graph.degree().compute()
    with pytest.raises(errors.UnreadableParquet) as early:
        read_parquet(str(file))
    assert str(early.value) == str(late.value)


def test_a_file_that_may_not_be_read_is_not_called_incomplete(here):
    if not os.geteuid():
        pytest.skip("root may read anything")
    (here / "a1.parquet").chmod(0)
    with pytest.raises(errors.UnreadableParquet, match="Permission denied") as caught:
        read_parquet("a1.parquet")
    assert "complete" not in str(caught.value)


def test_columns_may_stand_in_another_order_in_the_files(tmp_path):
    """Footers tell the rows then too, and a saved graph the files that it was built from."""
    path = tmp_path / "edges.parquet"
    EDGES[["dst", "src"]].to_parquet(path)
    graph = dd.read_parquet(path).graph()
    assert graph.explain().rows == 2
    assert graph.bfs(0).compute()["distance"].tolist() == [0, 1, 2]
    graph.save(tmp_path / "saved")
    EDGES[["dst", "src"]].head(1).to_parquet(path)
    with pytest.raises(errors.InvalidSavedGraph, match="written again"):
        dg.load(tmp_path / "saved")
