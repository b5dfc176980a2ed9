"""Files of text: what ids and numbers are, how files are cut, and what errors say."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import call, refused, result

from dask_graphgpu import errors
from dask_graphgpu.io.tables import text_files, text_part
from dask_graphgpu.io.tables.file_frames import parts_of
from dask_graphgpu.io.tables.read import read_table
from dask_graphgpu.io.tables.text_options import TextOptions

IDS = ("src", "dst")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def small(monkeypatch):
    """Files are looked at, read at once and cut by few bytes."""
    monkeypatch.setattr(text_files, "_SAMPLE", 30)
    monkeypatch.setattr(text_files, "_MORE", (0, 1))
    monkeypatch.setattr(text_files, "_BLOCK", 50)
    monkeypatch.setattr(text_part, "_CHUNK", 25)


def read(text, name="e.csv", ids=IDS, **options):
    data = text if isinstance(text, bytes) else text.encode()
    Path(name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return read_table(name, ids, text=TextOptions(**options)).compute()


@pytest.mark.parametrize(
    ("ids", "kind"),
    [
        (["1", "-2", "0"], "int64"),
        (["7", "18446744073709551615"], "uint64"),
        (["7", "18446744073709551616"], "string"),
        (["007", "7"], "string"),
        (["+7", "7"], "string"),
        (["-0", "7"], "string"),
        ([" 7", "7"], "string"),
        (["7.0", "7"], "string"),
        (["1e3", "7"], "string"),
        (["2026-11-01", "2026-11-02"], "string"),
        (["true", "false"], "string"),
        (["NA", "null"], "string"),
    ],
)
def test_ids_stay_what_they_are(here, ids, kind):
    found = read("src,dst\n" + "".join(f"{each},{each}\n" for each in ids))
    assert str(found.dtypes["src"]).startswith(kind)
    assert found["src"].astype(str).tolist() == ids


def test_numbers_texts_and_nulls(here):
    found = read(
        'src,dst,w,day,name,at\n1,2,1,2026-11-01,"",2026-11-01 10:00:00\n3,4,2.5,,NA,\n5,6,,,\\N,\n'
    )
    assert found["w"].tolist()[:2] == [1.0, 2.5]
    assert found[["w", "day", "name", "at"]].isna().sum().tolist() == [1, 2, 1, 2]
    assert found["name"].tolist()[:2] == ["", "NA"]
    assert read("src,dst,w\n1,2,3\n", types={"w": "float"}).dtypes["w"] == "double[pyarrow]"


def test_encodings_and_line_ends(here):
    found = read('\ufeffsrc,dst\r\nzoë,b\r\n\r\n"a, b","say ""x"""\r\n')
    assert found.values.tolist() == [["zoë", "b"], ["a, b", 'say "x"']]
    with pytest.raises(errors.UnreadableTable, match=r"e\.csv: .*UTF"):
        read(b"src,dst\n\xff\xfe,1\n")


@pytest.mark.parametrize("name", ["e.csv", "e.csv.gz"])
def test_blocks_give_each_row_once(here, small, name):
    drawn = np.random.default_rng(1).integers(1, 10**6, (200, 2))
    text = "src,dst\n" + "".join(f"{a},{b}\n" for a, b in drawn)
    found = read(text.rstrip("\n"), name)
    assert found.values.tolist() == drawn.tolist()
    parts = parts_of(read_table(name, IDS))
    assert len(parts) == (1 if name.endswith("gz") else -(-len(text.rstrip("\n")) // 50))


@pytest.mark.parametrize("name", ["e.csv", "e.csv.gz"])
@pytest.mark.parametrize("bad", ["x5", "007", "99999999999999999999"])
def test_a_later_id_of_another_kind_is_named(here, small, name, bad):
    text = "src,dst\n" + "".join(f"{k},{k}\n" for k in range(100, 160)) + f"3,{bad}\n" + "4,4\n"
    with pytest.raises(errors.UnreadableTable) as caught:
        read(text, name)
    assert f"{name} has '{bad}' in line 62 as an id in column 'dst'" in str(caught.value)
    assert "--type=dst=text" in str(caught.value)
    assert read(text, name, types={"dst": "text"})["dst"].tolist()[-2:] == [bad, "4"]


@pytest.mark.parametrize("name", ["e.csv", "e.csv.gz"])
@pytest.mark.parametrize(
    ("bad", "said"), [("1,2,x", "invalid value 'x'"), ("1,2", "Expected 3 columns, got 2")]
)
def test_a_later_line_that_cannot_be_read_is_named(here, small, name, bad, said):
    text = "src,dst,weight\n" + "".join(f"{k},{k},1\n" for k in range(100, 160)) + f"{bad}\n"
    with pytest.raises(errors.UnreadableTable) as caught:
        read(text, name)
    assert said in str(caught.value)
    assert f"/{name}: " in str(caught.value)
    assert "line 62" in str(caught.value)


def test_line_ends_within_quotes(here, small):
    text = "src,dst\n" + "".join(f'"a\n{k}",b{k}\n' for k in range(40))
    wanted = [f"a\n{k}" for k in range(40)]
    assert read(text, "e.csv.gz")["src"].tolist() == wanted
    with pytest.raises(errors.UnreadableTable, match=r"line end within quotes.*gzip"):
        read(text)


def test_a_file_that_is_cut_off(here):
    data = gzip.compress(("src,dst\n" + "1,2\n" * 1000).encode())[:-20]
    Path("e.csv.gz").write_bytes(data)
    with pytest.raises(errors.UnreadableTable, match=r"cannot read /.*/e\.csv\.gz: "):
        read_table("e.csv.gz", IDS).compute()


def test_files_of_a_folder_differ(here):
    Path("d").mkdir()
    Path("d/a.csv").write_text("src,dst,weight\n1,2,3\n")
    Path("d/b.csv").write_text("weight,dst,src\n0.5,4,3\n")
    Path("d/c.csv").write_text("src,dst,weight\n")
    assert read_table("d", IDS).compute().values.tolist() == [[1, 2, 3.0], [3, 4, 0.5]]
    Path("d/d.csv").write_text("src,dst\nx,2\n")
    with pytest.raises(errors.UnreadableTable, match=r"d/d\.csv has no column 'weight'"):
        read_table("d", IDS).compute()
    assert "'weight'" in refused("pagerank", "d", "--output", "out", code=1)
    call("bfs", "d", "--source", "x", "--unweighted", "--output", "out")
    assert result()["vertex"].tolist() == ["1", "2", "3", "4", "x"]


def test_nothing_in_a_file(here):
    with pytest.raises(errors.UnreadableTable, match=r"e\.csv is empty: its first line"):
        read("")
    assert len(read("src,dst\n")) == 0
    call("pagerank", "e.csv", "--output", "out")
    assert len(result()) == 0


def test_nulls_in_ids_name_the_file(here):
    read("src,dst\n1,2\n,3\n")
    line = refused("degree", "e.csv", "--top", 1, code=1)
    assert "id column 'src' has 1 nulls in " in line
    assert "/e.csv; drop them first" in line
    call("degree", "e.csv", "--where", "src is not null", "--output", "out")
    assert result()["vertex"].tolist() == [1, 2]


# Without a header


def test_columns_that_have_no_names(here):
    Path("e.csv").write_text("17,42,3\n42,5,1\n")
    call("sssp", "e.csv", "--no-header", "--weight", 2, "--source", 17, "--output", "out")
    assert dict(result().values.tolist()) == {17: 0, 42: 3, 5: 4}
    call(
        "sssp",
        "e.csv",
        "--no-header",
        "--columns",
        "1,0",
        "--weight",
        "2",
        "--source",
        5,
        "--output",
        "out",
    )
    assert dict(result().values.tolist()) == {17: 4, 42: 1, 5: 0}
    for words in ([], ["--columns", "0,1"]):
        line = refused("degree", "e.csv", *words, "--output", "out", code=2)
        assert "if the first line is a row, give --no-header" in line


SNAP = "# Directed graph\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n"
KONECT = "% sym weighted\n% 2 3 3\n1 2 5 1100000000\n2  3\t1 1100000001 \n  1 3 9 1100000002\n"


@pytest.mark.parametrize("suffix", ["txt", "txt.gz"])
def test_lists_of_edges(here, suffix):
    for text, row in ((SNAP, [0, 1]), (KONECT, [1, 2, 5, 1100000000])):
        assert read(text, f"e.{suffix.replace('txt', 'el')}", ("0", "1")).values.tolist()[0] == row
    data = Path("e.el.gz" if suffix.endswith("gz") else "e.el").read_bytes()
    Path(f"out.{suffix}").write_bytes(data)
    words = ["--format", "edgelist", "--weight", 2, "--source", 1, "--output", "out"]
    call("sssp", f"out.{suffix}", *words)
    assert dict(result().values.tolist()) == {1: 0, 2: 5, 3: 6}


def test_spaces_and_comments_over_blocks(here, small):
    lines = [f"  {k}   {k + 1}\t" if k % 3 else f"# {k} comment" for k in range(100)]
    found = read("\n".join(lines), "e.el", ("0", "1"))
    assert found["0"].tolist() == [k for k in range(100) if k % 3]
    lines[70] = "70 x"
    with pytest.raises(errors.UnreadableTable, match=r"e\.el has 'x' .*--type=1=text"):
        read("\n".join(lines), "e.el", ("0", "1"))


@pytest.mark.parametrize("separator", [";;", "", "\n", '"', "é"])
def test_separators(here, separator):
    Path("e.csv").write_text("src|dst\n1|2\n")
    line = refused("degree", "e.csv", "--separator", separator, "--top", 1, code=2)
    assert "give one character, such as ;, or the format edgelist" in line
    call("degree", "e.csv", "--separator", "|", "--output", "out")
    assert len(result()) == 2


def test_a_wrong_separator_shows_what_there_is(here):
    Path("e.csv").write_text("src;dst\n1;2\n")
    assert "['src;dst']" in refused("degree", "e.csv", "--top", 1, code=2)


def test_where_over_blocks(here, small):
    frame = pd.DataFrame(
        {"src": range(100), "dst": range(1, 101), "day": ["2026-11-01"] * 50 + ["2026-11-02"] * 50}
    )
    frame.to_csv("e.csv", index=False)
    call("degree", "e.csv", "--where", "day > 2026-11-01 and src >= 60", "--output", "out")
    assert result()["vertex"].tolist() == list(range(60, 101))
