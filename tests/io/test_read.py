"""Paths to Parquet: what they name, and how the same fault is told on every way to it."""

import os
import re

import dask.dataframe as dd
import pandas as pd
import pytest

import dask_graphgpu as dg
from dask_graphgpu import errors
from dask_graphgpu.io import parquet
from dask_graphgpu.io.tables.read import read_table

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
    assert len(read_table(path)) == rows
    assert len(read_table(path).compute()) == rows


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
    with pytest.raises(errors.UnreadableTable, match=re.escape(message)):
        read_table(path)


@pytest.mark.parametrize("path", ["d[1]", "d[[]1]/part.*"])
def test_a_truncated_file_is_found_before_work_whatever_names_it(here, path):
    cut = here / "d[1]" / "part.1.parquet"
    cut.write_bytes((here / "a1.parquet").read_bytes()[:-20])
    with pytest.raises(errors.UnreadableParquet, match=r"part\.1\.parquet.* not a complete"):
        read_table(path)


def test_a_truncated_file_is_told_alike_when_it_is_found_late(here):
    whole = (here / "a1.parquet").read_bytes()
    file = here / "late.parquet"
    file.write_bytes(whole)
    graph = dd.read_parquet(file).graph()
    file.write_bytes(whole[:-20])
    with pytest.raises(errors.UnreadableParquet) as late:
        graph.degree().compute()
    with pytest.raises(errors.UnreadableParquet) as early:
        read_table(str(file))
    assert str(early.value) == str(late.value)


def test_a_file_that_may_not_be_read_is_not_called_incomplete(here):
    if not os.geteuid():
        pytest.skip("root may read anything")
    (here / "a1.parquet").chmod(0)
    with pytest.raises(errors.UnreadableParquet, match="Permission denied") as caught:
        read_table("a1.parquet")
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


# What a path means


def test_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    EDGES.to_parquet(tmp_path / "edges.parquet")
    for path in ("~/edges.parquet", "~/*.parquet", "~"):
        assert len(read_table(path)) == 2


def test_an_empty_path(here):
    with pytest.raises(errors.InvalidArgument, match=r"a path to read is empty: give a file"):
        read_table("")
    with pytest.raises(errors.InvalidArgument, match="path is empty"):
        dg.load("")


def test_a_pattern_that_matches_folders(tmp_path):
    for day in (1, 2):
        (tmp_path / f"date={day}").mkdir()
        EDGES.to_parquet(tmp_path / f"date={day}" / "a.parquet")
    for pattern in ("date=*", "date=[12]*", "date=*/*", "d*=2"):
        found = read_table(f"{tmp_path}/{pattern}")
        assert len(found.compute()) == (2 if pattern == "d*=2" else 4)
        assert found.columns.tolist() == ["src", "dst", "date"]
        assert found.graph.degree().compute()["vertex"].tolist() == [0, 1, 2]


# Files of one folder that differ


def written(folder, *frames):
    for i, frame in enumerate(frames):
        frame.to_parquet(folder / f"{i}.parquet")
    return str(folder)


@pytest.mark.parametrize(
    ("first", "second", "agreed"),
    [
        ("int32", "int64", "int64"),
        ("int64", "int8", "int64"),
        ("uint8", "int8", "int16"),
        ("int64", "float64", "float64"),
        ("float32", "float64", "float64"),
        ("str", "category", "string"),
        ("str", "int64", "string"),  # of which reading says which file it is
    ],
)
def test_types_are_agreed_over_all_files(tmp_path, first, second, agreed):
    plain = EDGES.assign(x=[3, 4])
    path = written(tmp_path, plain.astype({"x": first}), plain.astype({"x": second}))
    assert read_table(path).dtypes["x"].name == agreed


def test_ids_stay_integers(tmp_path):
    path = written(tmp_path, EDGES, EDGES.astype({"src": "float64"}))
    assert read_table(path, ["src"]).dtypes["src"] == "int64"
    with pytest.raises(errors.InvalidEdges, match=r"'src' in row group 0 of .*1\.parquet: ids of"):
        read_table(path, ["src"]).graph.degree().compute()


def test_categories_and_plain_integers(tmp_path):
    path = written(tmp_path, EDGES.astype("category"), EDGES + 3)
    for frame in (read_table(path), dd.read_parquet(path)):
        assert frame.graph.degree().compute()["vertex"].tolist() == [0, 1, 2, 3, 4, 5]


def test_ids_that_only_a_later_file_needs_the_width_of(tmp_path):
    wide = EDGES + 2**40
    path = written(tmp_path, EDGES.astype("int32"), wide)
    found = read_table(path).graph.degree().compute()
    assert found["vertex"].tolist() == [0, 1, 2, *range(2**40, 2**40 + 3)]


def test_a_first_file_without_rows(tmp_path):
    none = pd.DataFrame({"src": [], "dst": []}, dtype=object)
    found = read_table(written(tmp_path, none, EDGES)).graph.degree().compute()
    assert found["vertex"].tolist() == [0, 1, 2]
    assert found["vertex"].dtype == "int64"


@pytest.mark.parametrize("read", [read_table, dd.read_parquet])
@pytest.mark.parametrize("ranks", [1, 2])
def test_weights_that_only_some_files_have_are_not_left_out_silently(tmp_path, read, ranks):
    weighted = EDGES.assign(weight=[1.0, 9.0])
    later, first = tmp_path / "later", tmp_path / "first"
    later.mkdir()
    first.mkdir()
    graph = read(written(later, EDGES, weighted)).graph(ranks=ranks)
    assert graph.bfs(0).compute()["distance"].tolist() == [0, 1, 2]  # which reads none
    told = r"1\.parquet has a column 'weight' and the frame has none: .*weight=None"
    with pytest.raises(errors.InvalidEdges, match=told):
        graph.pagerank().compute()
    with pytest.raises(errors.InvalidEdges, match=told):
        graph.persist().bfs(0).compute()
    assert graph.pagerank(weighted=False).compute()["rank"].sum() == pytest.approx(1)
    for chosen in (read(str(later)).graph(weight=None), read(str(later))[["src", "dst"]].graph()):
        assert chosen.pagerank().compute()["rank"].sum() == pytest.approx(1)
    undirected = read(str(later)).graph(directed=False, ranks=ranks)
    with pytest.raises(errors.InvalidEdges, match=told):  # repeated rows are told apart by it
        undirected.pagerank(weighted=False).compute()
    with pytest.raises(errors.InvalidEdges, match=r"1\.parquet has no column 'weight'"):
        read(written(first, weighted, EDGES)).graph(ranks=ranks).pagerank().compute()


DERIVED = {
    "filtered": lambda frame: frame[frame.src >= 0],
    "concatenated": lambda frame: dd.concat([frame, frame]),
    "repartitioned": lambda frame: frame.repartition(npartitions=1),
    "with a new column": lambda frame: frame.assign(toll=1).astype({"src": "int32"}),
    "without repeated rows": lambda frame: frame.drop_duplicates(),
    "sorted": lambda frame: frame.sort_values("src"),
    "some partitions": lambda frame: frame.partitions[[0, 1]],
}


@pytest.mark.parametrize("filesystem", ["fsspec", "arrow"])
@pytest.mark.parametrize("derive", DERIVED.values(), ids=DERIVED)
def test_nor_where_the_frame_is_made_of_those_that_were_read(tmp_path, derive, filesystem):
    path = written(tmp_path, EDGES, EDGES.assign(weight=[1.0, 9.0]))
    frame = derive(dd.read_parquet(path, filesystem=filesystem))
    assert len(frame.graph().bfs(0).compute()) == 3
    told = r"1\.parquet has a column 'weight'"
    if "weight" in frame.columns:  # Arrow's reader takes the columns of any file
        told = "column 'weight' .* nulls"
    for call in (lambda g: g.pagerank(), lambda g: g.persist().pagerank()):
        with pytest.raises(errors.InvalidEdges, match=told):
            call(frame.graph()).compute()
    assert len(frame[["src", "dst"]].graph().pagerank().compute()) == 3
    assert len(frame.graph(weight=None).pagerank().compute()) == 3


def test_columns_that_somebody_has_chosen_are_all_there_is(tmp_path):
    frame = dd.read_parquet(written(tmp_path, EDGES, EDGES.assign(weight=[1.0, 9.0])))
    for chosen in (
        frame[["src", "dst"]].drop_duplicates(),
        frame.groupby(["src", "dst"]).size().reset_index(),
        frame.map_partitions(lambda each: each[["src", "dst"]], meta=EDGES),
    ):
        assert len(chosen.graph().pagerank().compute()) == 3


def test_footers_are_read_once_and_again_when_the_files_change(tmp_path, monkeypatch):
    path = written(tmp_path, EDGES, EDGES)
    opened, open_file = [], parquet.open_file

    def counted(file, *given):
        opened.append(file)
        return open_file(file, *given)

    monkeypatch.setattr(parquet, "open_file", counted)
    for _ in range(3):
        frame = dd.read_parquet(path)
        frame[frame.src >= 0].graph.pagerank()
    assert len(opened) == 2
    written(tmp_path, EDGES, EDGES.assign(weight=[1.0, 9.0]))
    frame = dd.read_parquet(path)
    with pytest.raises(errors.InvalidEdges, match=r"1\.parquet has a column 'weight'"):
        frame[frame.src >= 0].graph.pagerank()
