"""Parquet that is damaged or odd: an answer, or the package's error with the file's name."""

import os
import random
import subprocess
import sys
from functools import partial

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dask_graphgpu import errors, ingest
from dask_graphgpu.io import parquet, parquet_file
from dask_graphgpu.io.footer import page_offsets
from dask_graphgpu.io.tables.read import read_table

EDGES = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0]})
NAMES = pd.DataFrame(
    {"src": [f"v{k % 50}" for k in range(500)], "dst": [f"v{k * 7 % 50}" for k in range(500)]}
)


def degrees(frame):
    return frame.graph.degree().compute()


@pytest.mark.parametrize(
    ("values", "kind"),
    [([[0], [1]], "list"), ([{"id": 0}, {"id": 1}], "struct"), ([0.5, 1.5], "float64")],
)
def test_ids_of_other_types(tmp_path, values, kind):
    path = tmp_path / "edges.parquet"
    pq.write_table(pa.table({"src": values, "dst": values}), path)
    with pytest.raises(errors.InvalidEdges, match=rf"ids of type {kind}.* not supported"):
        degrees(dd.read_parquet(path))


def test_a_list_in_a_later_file_is_named(tmp_path):
    EDGES.astype(str).to_parquet(tmp_path / "a.parquet")
    pq.write_table(pa.table({"src": [["0"]], "dst": [["1"]]}), tmp_path / "b.parquet")
    with pytest.raises(errors.InvalidEdges, match=r"'src' .*row group 0 of .*b\.parquet"):
        degrees(dd.read_parquet(tmp_path))


@pytest.mark.parametrize("dictionary", [False, True])
def test_damaged_text_in_a_later_row_group_is_named(tmp_path, dictionary):
    raw = pa.array([b"a", b"b", b"a", b"\xff\xfe" * 9], pa.large_binary())
    text = pa.Array.from_buffers(pa.large_string(), 4, raw.buffers())
    table = pa.table({"src": text, "dst": ["a", "b", "c", "a"]})
    path = tmp_path / "edges.parquet"
    pq.write_table(table, path, row_group_size=2, use_dictionary=dictionary)
    with pytest.raises(
        errors.InvalidEdges, match=rf"damaged in row group 1 of {path} .*Invalid UTF8"
    ):
        degrees(dd.read_parquet(path))


def test_a_column_that_is_in_a_file_twice(tmp_path):
    EDGES.to_parquet(tmp_path / "a.parquet")
    frame = dd.read_parquet(tmp_path)
    twice = pa.table([[0], [1], [2]], names=["src", "dst", "dst"])
    pq.write_table(twice, tmp_path / "a.parquet")
    with pytest.raises(errors.InvalidEdges, match=r"a\.parquet has 2 columns 'dst'; it has"):
        degrees(frame)


def test_columns_with_dots_in_their_names(tmp_path):
    path = tmp_path / "edges.parquet"
    NAMES.rename(columns={"src": "a.src", "dst": "a.dst"}).to_parquet(path)
    found = dd.read_parquet(path).graph(source="a.src", destination="a.dst").degree().compute()
    pd.testing.assert_frame_equal(found, NAMES.graph.degree(), check_dtype=False)


FLIP = """
import sys, dask, dask.dataframe as dd, dask_graphgpu
dask.config.set(scheduler="synchronous")
print(len(dd.read_parquet(sys.argv[1]).graph.degree().compute()))
"""


def test_a_footer_that_contradicts_itself_does_not_end_the_process(tmp_path):
    path = tmp_path / "edges.parquet"
    pq.write_table(pa.Table.from_pandas(NAMES), path)
    data = bytearray(path.read_bytes())
    place = data.rindex(b"\x15\x0c\x19")  # the physical type of a column, BYTE_ARRAY
    data[place + 1] ^= 0x04  # FLOAT
    path.write_bytes(data)
    ran = subprocess.run(
        [sys.executable, "-c", FLIP, str(path)], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout.strip()) == (0, "50"), ran.stderr


def test_sizes_that_contradict_their_column_do_not_end_the_process(tmp_path):
    path = tmp_path / "edges.parquet"
    pq.write_table(pa.Table.from_pandas(NAMES), path)
    data = path.read_bytes()
    levels = b"\x26\x00\xe8\x07"  # two numbers: of 500 rows none is null
    assert data.count(levels) >= 2
    path.write_bytes(data.replace(levels, b"\x16\xe8\x87\x00"))  # 500 alone
    ran = subprocess.run(
        [sys.executable, "-c", FLIP, str(path)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert "UnreadableParquet: cannot read row group 0 of" in ran.stderr
    assert "histogram size mismatch" in ran.stderr


@pytest.mark.parametrize("of", ["pandas metadata", "names", "codes", "text"])
def test_damage_of_every_part(tmp_path, of):
    path = tmp_path / "edges.parquet"
    NAMES.to_parquet(path, use_dictionary=of != "text", compression="none")
    frame = dd.read_parquet(path)
    data = path.read_bytes()
    if of == "pandas metadata":
        start = data.index(b'{"index_columns"')
        path.write_bytes(data[:start] + b"\xff" * 9 + data[start + 9 :])
        assert len(degrees(frame)) == 50  # nobody reads it
        return
    if of == "names":
        path.write_bytes(data.replace(b"\x03src", b"\x03s\xff\xfe"))
    elif of == "codes":
        first = pq.ParquetFile(path).metadata.row_group(0).column(0)
        start, length = first.data_page_offset, first.total_compressed_size
        end = first.dictionary_page_offset + length
        path.write_bytes(data[: end - 200] + b"\xff" * 150 + data[end - 50 :])
        assert start < end - 200
    else:
        path.write_bytes(data.replace(b"v17", b"v\xff\xfe"))
    with pytest.raises(errors.GraphError, match=r"edges\.parquet") as caught:
        degrees(frame)
    assert isinstance(caught.value, errors.UnreadableParquet | errors.InvalidEdges)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("kind", ["text", "numbers"])
def test_damage_at_random(tmp_path, kind, version):
    """Bytes anywhere in a file: read in the frame's own process, so that a signal fails the run."""
    path, drawn = tmp_path / "edges.parquet", random.Random(7)
    edges = NAMES if kind == "text" else NAMES.map(lambda name: int(name[1:]))
    edges = edges.assign(weight=np.linspace(0, 1, len(edges)))
    edges.to_parquet(path, data_page_version=version, row_group_size=100)
    frame, whole = dd.read_parquet(path), path.read_bytes()
    ends = {"an answer": 0, "an error": 0}
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(drawn.choice([1, 4, 12])):
            data[drawn.randrange(len(data))] = drawn.randrange(256)
        path.write_bytes(data)
        said = ""
        try:
            frame.graph.pagerank(tolerance=0, max_iterations=1).compute(scheduler="sync")
        except errors.GraphError as error:
            said = str(error)
        assert not said or "edges.parquet" in said
        ends["an error" if said else "an answer"] += 1
    assert min(ends.values()) > 5


@pytest.mark.parametrize("whole", [False, True])
def test_files_without_rows(tmp_path, whole):
    """Nothing is asked of their columns and types."""
    pd.DataFrame({"src": [], "dst": []}, dtype=object).to_parquet(tmp_path / "a.parquet")
    pd.DataFrame().to_parquet(tmp_path / "b.parquet")
    if not whole:
        EDGES.to_parquet(tmp_path / "c.parquet")
    frame = dd.read_parquet(tmp_path)
    assert degrees(frame)["vertex"].tolist() == ([] if whole else [0, 1, 2])


def test_footers_are_read_once_where_row_groups_are_shared_out(tmp_path, monkeypatch):
    NAMES.to_parquet(tmp_path / "edges.parquet", row_group_size=50)
    opened = []
    made = parquet_file.pq.ParquetFile

    def spy(path, **options):
        opened.append(options["metadata"] is None)
        return made(path, **options)

    monkeypatch.setattr(parquet_file.pq, "ParquetFile", spy)
    runs = parquet.split(parquet.pieces(dd.read_parquet(tmp_path)), 5)
    assert len(runs) == 5
    assert parquet.most_rows(runs) == len(NAMES)
    assert parquet.most_rows(runs[1:2]) == parquet.num_rows(runs[1:2]) < len(NAMES)
    for piece in runs:
        assert list(parquet.read_tables(piece, ["src", "dst"], ["src", "dst"]))
    assert sum(opened) == 1


def test_a_damaged_footer_is_found_before_work(tmp_path):
    path = tmp_path / "edges.parquet"
    NAMES.to_parquet(path)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"\x03src", b"\x03s\xff\xfe"))
    with pytest.raises(errors.UnreadableParquet, match=r"edges\.parquet"):
        read_table(str(path))


def test_a_damaged_file_of_vertices_is_named(tmp_path):
    values = pd.DataFrame({"vertex": [0, 1, 2], "p": [1.0, 2.0, 3.0]})
    values.iloc[:2].to_parquet(tmp_path / "a.parquet")
    values.iloc[2:].to_parquet(tmp_path / "b.parquet")
    pd.DataFrame().to_parquet(tmp_path / "c.parquet")
    given = dd.read_parquet(tmp_path)
    wanted = EDGES.graph.pagerank(personalization=values)
    calls = {
        "at hand": lambda: EDGES.graph.pagerank(personalization=given),
        "lazy": lambda: dd.from_pandas(EDGES, 2).graph.pagerank(personalization=given).compute(),
        "on ranks": lambda: EDGES.graph(ranks=2).pagerank(personalization=given),
    }
    for call in calls.values():
        found = call()
        found = found.compute() if hasattr(found, "compute") else found
        assert np.allclose(found["rank"], wanted["rank"])
    bad = tmp_path / "b.parquet"
    bad.write_bytes(bad.read_bytes()[:-9])
    for call in calls.values():
        with pytest.raises(errors.UnreadableParquet, match=r"cannot read .*b\.parquet"):
            call()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"filesystem": "arrow"},
        {"dtype_backend": "pyarrow"},
        {"split_row_groups": True},
        {"columns": ["dst", "src"]},
        {"dataset": {"schema": pa.schema([("src", pa.int64()), ("dst", pa.int32())])}},
    ],
    ids=str,
)
def test_what_is_bare_parquet(tmp_path, options):
    EDGES.to_parquet(tmp_path / "edges.parquet")
    frame = dd.read_parquet(tmp_path, **options)
    assert [piece.path for piece in parquet.pieces(frame)] == [str(tmp_path / "edges.parquet")]
    assert frame.graph().explain().rows == 3
    assert degrees(frame)["vertex"].tolist() == [0, 1, 2]


READERS = {"dask": dd.read_parquet, "arrow": partial(dd.read_parquet, filesystem="arrow")}
READERS |= {"ours": lambda path: read_table(str(path))}
each_reader = pytest.mark.parametrize("read", READERS.values(), ids=READERS)


@each_reader
def test_bare_parquet_becomes_no_frame_of_pandas(tmp_path, monkeypatch, read):
    EDGES.assign(other=1.5).to_parquet(tmp_path / "edges.parquet")
    kinds, made = [], ingest.read_edges

    def spy(rows, *arguments):
        kinds.append(type(rows))
        return made(rows, *arguments)

    monkeypatch.setattr(ingest, "read_edges", spy)
    assert degrees(read(tmp_path / "edges.parquet"))["vertex"].tolist() == [0, 1, 2]
    assert kinds == [pa.Table]


@each_reader
def test_of_bare_parquet_dask_is_not_asked_for_columns(tmp_path, monkeypatch, read):
    EDGES.assign(other=1.5).to_parquet(tmp_path / "edges.parquet")
    graph = read(tmp_path / "edges.parquet").graph()
    monkeypatch.setattr(dd.DataFrame, "__getitem__", lambda *_: pytest.fail("it is asked"))
    assert graph.degree().columns[0] == "vertex"


@each_reader
def test_files_are_built_once_until_they_are_written_again(tmp_path, read):
    def key():
        graph = read(tmp_path / "edges.parquet").graph()
        return graph._input.partition(ingest.Needs()).key

    EDGES.to_parquet(tmp_path / "edges.parquet")
    first = key()
    assert key() == first
    EDGES.assign(src=EDGES["dst"]).to_parquet(tmp_path / "edges.parquet")
    assert key() != first


@pytest.mark.parametrize("ranks", [1, 2])
def test_files_of_one_path_on_two_filesystems_are_two_graphs(tmp_path, ranks):
    """Also where they have one size and one time: what names a build knows where its files lie."""
    found = []
    for name, destination in (("one", [1, 2]), ("other", [1, 3])):
        (tmp_path / name).mkdir()
        frame = pd.DataFrame({"src": [0, destination[1] - 1], "dst": destination})
        frame.to_parquet(tmp_path / name / "edges.parquet")
        os.utime(tmp_path / name / "edges.parquet", (1e9, 1e9))
        where = pa.fs.SubTreeFileSystem(str(tmp_path / name), pa.fs.LocalFileSystem())
        graph = dd.read_parquet("edges.parquet", filesystem=where).graph(ranks=ranks)
        found.append(graph.degree())
    assert [len(frame) for frame in dask.compute(*found)] == [3, 4]


@pytest.mark.parametrize(
    "options", [{"filters": [("src", ">", 0)]}, {"read": {"arrow_to_pandas": {"zero_copy": 1}}}]
)
def test_what_is_read_in_a_way_of_the_users(tmp_path, options):
    EDGES.to_parquet(tmp_path / "edges.parquet")
    assert parquet.pieces(dd.read_parquet(tmp_path, **options)) is None


def test_of_a_long_footer_the_first_row_groups_are_read(tmp_path):
    table = pa.table({"src": ["a", "b"] * 50, "dst": ["b", "c"] * 50, "more": range(100)})
    pq.write_table(table, tmp_path / "edges.parquet", row_group_size=10)
    metadata = pq.read_metadata(tmp_path / "edges.parquet")
    chunks = [[metadata.row_group(g).column(i) for i in range(3)] for g in range(10)]
    wanted = [
        [
            (c.dictionary_page_offset if c.has_dictionary_page else None, c.data_page_offset)
            for c in g
        ]
        for g in chunks
    ]
    assert page_offsets(metadata, 2) == wanted[:2]
    assert page_offsets(metadata, 99) == wanted
