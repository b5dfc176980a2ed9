"""Conditions: what they mean, as DuckDB has it, and what they leave unread."""

import datetime as dt
import decimal
import re
from contextlib import suppress

import dask
import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dask_graphgpu import errors
from dask_graphgpu.io import parquet
from dask_graphgpu.io.tables.file_frames import parts_of
from dask_graphgpu.io.tables.read import read_table
from dask_graphgpu.io.tables.where import Where

DAYS = st.dates(dt.date(2026, 10, 30), dt.date(2026, 11, 3))
TIMES = st.datetimes(dt.datetime(2026, 11, 1), dt.datetime(2026, 11, 2)).map(
    lambda time: time.replace(microsecond=time.microsecond // 1000 * 1000)
)
TEXTS = st.sampled_from(["", "a", "b", "it's", "é", "NULL"])
INTEGERS = st.integers(-3, 3)
FLOATS = st.sampled_from([-1.5, -0.0, 0.0, 0.5, 2.0, 1e300])
COLUMNS = {
    "i": (pa.int8(), INTEGERS, st.one_of(INTEGERS, FLOATS, st.just(300)).map(str)),
    "big": (
        pa.int64(),
        st.integers(2**53, 2**53 + 3),
        st.integers(2**53 - 1, 2**53 + 4).map(str),
    ),
    "x": (pa.float64(), FLOATS, st.one_of(FLOATS, INTEGERS).map(str)),
    "s": (pa.string(), TEXTS, TEXTS.map(lambda text: "'" + text.replace("'", "''") + "'")),
    "d": (pa.date32(), DAYS, DAYS.map(lambda day: f"'{day}'")),
    "t": (pa.timestamp("ms"), TIMES, TIMES.map(lambda time: f"'{time}'")),
    "b": (pa.bool_(), st.booleans(), st.sampled_from(["true", "FALSE"])),
}


@st.composite
def comparisons(draw):
    name = draw(st.sampled_from(list(COLUMNS)))
    value = COLUMNS[name][2]
    operations = ["=", "!=", "<>"] if name == "b" else ["=", "!=", "<>", "<", "<=", ">", ">="]
    kind = draw(st.integers(0, 5))
    if kind == 0:
        return f"{name} is {draw(st.sampled_from(['', 'NOT ']))}null"
    if kind == 1:
        values = ", ".join(draw(st.lists(value, min_size=1, max_size=3)))
        return f"{name} {draw(st.sampled_from(['', 'not ']))}in ({values})"
    return f"{name} {draw(st.sampled_from(operations))} {draw(value)}"


CONDITIONS = st.recursive(
    comparisons(),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from([" and ", " OR "]), inner).map("".join),
        inner.map(lambda text: f"not ({text})"),
        inner.map(lambda text: f"({text})"),
    ),
    max_leaves=5,
)
ROWS = st.lists(
    st.tuples(*(st.one_of(st.none(), kept) for _, kept, _ in COLUMNS.values())), max_size=12
)


@pytest.fixture
def duck():
    with duckdb.connect(config={"threads": 1}) as connection:
        yield connection


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(ROWS, CONDITIONS, st.booleans())
def test_as_duckdb_has_it(tmp_path, duck, rows, condition, dictionaries):
    """Of a file with row groups of few rows, which statistics leave out."""
    table = pa.table(
        {
            name: pa.array([row[k] for row in rows], COLUMNS[name][0])
            for k, name in enumerate(COLUMNS)
        }
    ).append_column("row", pa.array(range(len(rows)), pa.int64()))
    if dictionaries:
        place = table.schema.get_field_index("s")
        table = table.set_column(place, "s", table["s"].dictionary_encode())
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=3)
    found = read_table(str(tmp_path / "t.parquet"), where=condition)[["row"]]
    with dask.config.set(scheduler="synchronous"):
        kept = sorted(found.compute()["row"].tolist())
    given = table.set_column(table.schema.get_field_index("s"), "s", table["s"].cast(pa.string()))
    duck.register("given", given)
    wanted = duck.sql(f"select row from given where {condition} order by row").fetchall()
    assert kept == [row for (row,) in wanted]


@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        ("x is null", [1, 2]),
        ("not x > 0", [3]),
        ("x != 0.5", [3]),
        ("x is not null", [0, 3]),
        ("t >= 2026-11-01T13:00", [0]),  # on the column's clock
        ("t = 2026-11-01T12:00Z", [0]),
        ("t = '2026-11-01 14:30:00+02:30'", [0]),
        ("t < 2026-11-01T13:00:00.000000001", [0, 3]),
        ("m = 1.10", [0, 1]),
        ("m < 1.105 and m > 1.095", [0, 1]),
        ("m >= 1e9 or m = 2", [3]),
        ('"two words" = 1', [0]),
        ("`two words` in (2, 2.5, 99999999999999999999)", [1]),
        ("none = 5 or none is null", [0, 1, 2, 3]),
        ("f > 0.1", []),
        ("f = 0.1", [0]),
    ],
)
def test_nan_time_zones_decimals_and_names(tmp_path, condition, rows):
    noon = dt.datetime(2026, 11, 1, 12, tzinfo=dt.UTC)
    times = [noon, None, None, noon - dt.timedelta(days=1)]
    table = pa.table(
        {
            "row": [0, 1, 2, 3],
            "x": [0.5, None, float("nan"), 0.0],
            "t": pa.array(times, pa.timestamp("us", "Europe/Berlin")),
            "m": pa.array([1, 1, 3, 2], pa.decimal128(9, 2)),
            "two words": pa.array([1, 2, 3, 4], pa.uint64()),
            "none": pa.nulls(4),
            "f": pa.array([0.1, None, None, None], pa.float32()),
        }
    )
    cents = [decimal.Decimal(text) for text in ("1.10", "1.10", "3.00", "2.00")]
    place = table.schema.get_field_index("m")
    table = table.set_column(place, "m", pa.array(cents, pa.decimal128(9, 2)))
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=1)
    found = read_table(str(tmp_path / "t.parquet"), where=condition).compute()
    assert found["row"].tolist() == rows


SCHEMA = pa.schema(
    {
        "i": pa.int64(),
        "s": pa.string(),
        "l": pa.list_(pa.int64()),
        "b": pa.bool_(),
        "t": pa.timestamp("s"),
    }
)


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("", "expected the name of a column, at the end"),
        ("i", "expected one of = != < <= > >=, in or is, at the end"),
        ("i == ", "expected a value"),
        ("i = 1 i = 2", "expected and, or, or the end, at 'i' (character 7)"),
        ("(i = 1", "expected ), at the end"),
        ("i in ()", "expected a value"),
        ("i not 5", "expected in, at '5'"),
        ("i = null", "nothing equals null: write is null or is not null"),
        ("i = s", "a text stands in 'single quotes'"),
        ("s = 'a", 'cannot read "\'a" (character 5)'),
        ("i = 2026-11-01; drop", "cannot read"),
        ("t = 2026-02-30", "there is no such date or time"),
        ("t = 2026-01-01T25:00", "there is no such date or time"),
        ("t = 2026-01-01T05:00Z", "which has no time zone: give a time without one"),
        ("s = 2026-01-01", "column 's' is text, and 2026-01-01 is a time: give a text"),
        ("i = '5'", "column 'i' is int64, and '5' is a text: give a number, without quotes"),
        ("b > true", "equal to true or false"),
        ("b = 1", "give true or false"),
        ("l = 1", "only numbers, texts, dates"),
        ("j = 1", "names 'j', and the table has no such column"),
        ("(" * 60 + "i = 1" + ")" * 60, "more than 50 parentheses"),
        ("not " * 3000 + "i = 1", "more than 50 parentheses"),
    ],
)
def test_what_is_no_condition(condition, said):
    with pytest.raises(errors.InvalidArgument, match=re.escape(said)):
        Where.of(condition, SCHEMA, "the table")


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="i sb=<>!'\"()1.-e,anotrulfTZ:+\\`é\n", max_size=25))
def test_any_text_is_a_condition_or_an_error(text):
    with suppress(errors.InvalidArgument):
        assert Where.of(text, SCHEMA, "the table").columns


# What is not read


@pytest.fixture
def groups_read(monkeypatch):
    """Files and row groups that are read."""
    read, read_group = [], parquet.read_group

    def counted(file, group, columns, path, **how):
        read.append((path.rsplit("/", 1)[-1], group, tuple(columns)))
        return read_group(file, group, columns, path, **how)

    monkeypatch.setattr(parquet, "read_group", counted)
    return read


def test_row_groups_are_left_out(tmp_path, groups_read):
    table = pa.table(
        {"src": range(100), "dst": range(1, 101), "weight": range(100), "toll": range(100)}
    )
    pq.write_table(table, tmp_path / "edges.parquet", row_group_size=10)
    path = str(tmp_path / "edges.parquet")
    frame = read_table(path, where="weight >= 25 and weight < 41 and dst != 27")
    found = frame.graph(weight=None).degree().compute()
    assert found["out_degree"].sum() == 15
    assert sorted(groups_read) == [
        ("edges.parquet", g, ("src", "dst", "weight")) for g in (2, 3, 4)
    ]
    assert frame.graph().explain().rows is None  # only reading tells
    del groups_read[:]
    assert len(read_table(path, where="toll > 500").graph().degree().compute()) == 0
    assert not groups_read


def test_files_are_left_out_by_their_folders(tmp_path, groups_read):
    for day in ("2026-11-01", "2026-11-02", "__HIVE_DEFAULT_PARTITION__"):
        (tmp_path / f"day={day}").mkdir()
        table = pa.table({"src": [1], "dst": [2]})
        pq.write_table(table, tmp_path / f"day={day}" / f"f{day[-2:]}.parquet")
    wanted = {
        "day >= 2026-11-02": ["f02.parquet"],
        "day is null": ["f__.parquet"],
        "day != '2026-11-02' or src = 7": ["f01.parquet"],
        "not day in (2026-11-01)": ["f02.parquet"],
    }
    for condition, files in wanted.items():
        frame = read_table(str(tmp_path), where=condition)
        known = [part.path.rsplit("/", 1)[-1] for part in parts_of(frame)]
        assert set(files) <= set(known) <= {*files, *(known if "src" in condition else files)}
        frame.graph().degree().compute()
        assert [name for name, _, _ in groups_read] == files
        del groups_read[:]


def test_types_that_differ_by_file(tmp_path):
    for k, kind in enumerate([pa.int32(), pa.int64(), pa.int8()]):
        table = pa.table({"src": pa.array([1, 2, 3], kind), "dst": [k, k, k]})
        pq.write_table(table, tmp_path / f"{k}.parquet")
    found = read_table(str(tmp_path), where="src > 2.5").compute()
    assert found["dst"].tolist() == [0, 1, 2]


def test_a_file_where_it_is_text(tmp_path):
    for k, values in enumerate([[1, 20], ["3", "100"], ["x", "y"]]):
        pq.write_table(
            pa.table({"n": values, "src": [k, k], "dst": [0, 1]}), tmp_path / f"{k}.parquet"
        )
    frame = read_table(str(tmp_path), where="n > 9")
    assert frame.partitions[[0, 1]].compute()[["src", "dst"]].values.tolist() == [[0, 1], [1, 1]]
    with pytest.raises(errors.UnreadableParquet, match=r"2\.parquet: .* as a scalar of type int64"):
        frame.compute()


def test_a_file_without_the_column(tmp_path):
    pq.write_table(pa.table({"src": [0], "dst": [1], "n": [5]}), tmp_path / "0.parquet")
    pq.write_table(pa.table({"src": [0], "dst": [1]}), tmp_path / "1.parquet")
    with pytest.raises(errors.InvalidEdges, match=r"1\.parquet has no column 'n'"):
        read_table(str(tmp_path), where="n > 3").graph().degree().compute()


def test_damage_under_a_condition_names_the_file(tmp_path):
    path = tmp_path / "edges.parquet"
    pq.write_table(pa.table({"src": range(1000), "dst": range(1000)}), path, compression="none")
    graph = read_table(str(path), where="src > 5").graph()
    data = bytearray(path.read_bytes())
    data[4:40] = b"\xff" * 36
    path.write_bytes(data)
    with pytest.raises(errors.UnreadableParquet, match=r"edges\.parquet"):
        graph.degree().compute()
