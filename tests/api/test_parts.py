"""Parts of graphs by an edge column: what graphs of filtered frames answer."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest
from dated_edges import answers, chosen, made
from hypothesis import given
from hypothesis import strategies as st

import dask_graphgpu as dg
from dask_graphgpu.errors import InvalidArgument


@pytest.mark.slow
@pytest.mark.parametrize("directed", [True, False])
def test_every_method_gives_what_it_gives_on_the_filtered_frame(directed):
    frame = made(kind="hubs")
    # The sources that calls name are there on each day.
    frame.loc[: len(frame) // 2, "day"] = 4
    part = frame.graph(directed=directed).persist(columns="day").where("day", 3, 7)
    found, wanted = answers(part), answers(chosen(frame, 3, 7).graph(directed=directed))
    for name, answer in wanted.items():
        if isinstance(answer, type):
            assert found[name] is answer, name
        else:
            pd.testing.assert_frame_equal(found[name], answer, obj=name)


@given(
    seed=st.integers(0, 2**31),
    directed=st.booleans(),
    low=st.none() | st.integers(-1, 10),
    high=st.none() | st.integers(0, 11),
    kind=st.sampled_from(["random", "hubs", "mirrored", "strings"]),
    listed=st.booleans(),
)
def test_any_rows(seed, directed, low, high, kind, listed):
    frame = made(seed, n=12, m=30, kind=kind)
    ids = np.arange(5, 15)
    if kind == "strings":
        ids = ids.astype(str)
        frame = frame.astype({"src": str, "dst": str})
    vertices = pd.DataFrame({"vertex": ids, "x": 0.5}) if listed else None
    options = {"directed": directed, "vertices": vertices, "order": "auto"}
    part = frame.graph(**options).persist(columns=["day"]).where("day", low, high)
    rows = chosen(frame, -np.inf if low is None else low, np.inf if high is None else high)
    wanted = rows.graph(**options)
    for name in ("degree", "pagerank", "weakly_connected_components"):
        pd.testing.assert_frame_equal(getattr(part, name)(), getattr(wanted, name)())
    found = part.k_core(0)
    pd.testing.assert_frame_equal(found, wanted.k_core(0))
    again = part.where("day", 2, 5)
    pd.testing.assert_frame_equal(again.degree(), chosen(rows, 2, 5).graph(**options).degree())


@pytest.mark.parametrize("directed", [True, False])
def test_of_saved_graphs_and_dask_frames(directed, tmp_path):
    frame = made()
    wanted = chosen(frame, 3, 7).graph(directed=directed).pagerank()
    frame.graph(directed=directed).save(tmp_path / "saved", columns="day")
    saved = dg.load(tmp_path / "saved")
    saved = saved.append(frame.iloc[:0]).where("day", 3, 7)
    pd.testing.assert_frame_equal(saved.pagerank().compute().reset_index(drop=True), wanted)
    lazy = dd.from_pandas(frame, npartitions=3).graph(directed=directed).persist(columns="day")
    found = lazy.where("day", 3, 7).pagerank()
    assert found.npartitions == 3
    pd.testing.assert_frame_equal(found.compute().reset_index(drop=True), wanted)


@pytest.mark.parametrize("lazy", [False, True])
def test_windows(lazy):
    frame = made()
    frame = frame[frame.day != 5]
    given = dd.from_pandas(frame, npartitions=2) if lazy else frame
    graph = given.graph().persist(columns="day")
    found = graph.windows("day", 2, start=1).degree()
    wanted = pd.concat(
        [
            chosen(frame, low, low + 2).graph().degree().assign(window=low)
            for low in (-1, 1, 3, 5, 7, 9)
        ]
    )
    if lazy:
        found = found.compute()
    columns = ["window", "vertex", "in_degree", "out_degree", "degree"]
    assert list(found.columns) == columns
    pd.testing.assert_frame_equal(
        found.reset_index(drop=True), wanted[columns].reset_index(drop=True)
    )


@pytest.mark.parametrize("npartitions", [1, 5])
def test_columns_of_windows_are_put_beside_each_other(npartitions):
    """By the index, of which each row has one of its own."""
    frame = made()
    whole = frame.graph().persist(columns="day").windows("day", 2)
    wanted = whole.degree().assign(rank=whole.pagerank()["rank"])
    parts = dd.from_pandas(frame, npartitions=npartitions)
    windows = parts.graph().persist(columns="day").windows("day", 2)
    found = windows.degree()
    assert found.compute().index.tolist() == [*range(len(wanted))]
    found["rank"] = windows.pagerank()["rank"]
    pd.testing.assert_frame_equal(found.compute().sort_index(), wanted)
    pairs = windows.jaccard()
    pairs["again"] = windows.jaccard(columns={"jaccard": "again"})["again"]
    pairs = pairs.compute()
    assert pairs["jaccard"].nunique() > 1
    assert pairs["again"].tolist() == pairs["jaccard"].tolist()


def test_a_window_without_a_row_is_left_out():
    frame = made()
    frame = frame[(frame.day < 3) | (frame.day > 7)]
    found = frame.graph().persist(columns="day").windows("day", 2, start=0).degree()
    assert found["window"].unique().tolist() == [0, 2, 8]
    nothing = frame.iloc[:0].graph().persist(columns="day").windows("day", 2).degree()
    assert list(nothing.columns) == ["window", "vertex", "in_degree", "out_degree", "degree"]
    assert not len(nothing)


def test_windows_start_from_the_one_before():
    frame = made()
    graph = frame.graph().persist(columns="day")
    cold = graph.windows("day", 5).pagerank(tolerance=1e-10)
    warm = graph.windows("day", 5, warm=True).pagerank(tolerance=1e-10)
    pd.testing.assert_frame_equal(cold, warm, rtol=1e-6)
    assert not cold["rank"].equals(warm["rank"])
    first, second = graph.where("day", 0, 5), graph.where("day", 5, 10)
    wanted = second.louvain(initial=first.louvain()[["vertex", "community"]])
    found = graph.windows("day", 5, start=0, warm=True).louvain()
    found = found[found["window"] == 5].drop(columns="window").reset_index(drop=True)
    pd.testing.assert_frame_equal(found, wanted)


def test_other_frames_come_back():
    graph = dg.graph(polars.from_pandas(made())).persist(columns="day")
    assert isinstance(graph.where("day", 3).degree(), polars.DataFrame)
    found = graph.windows("day", 5).degree()
    assert isinstance(found, polars.DataFrame)
    assert found.columns[:2] == ["window", "vertex"]


def test_weights_that_are_none_matter_where_they_stay():
    frame = made().astype({"weight": float})
    frame.loc[frame.day == 3, "weight"] = -1.0
    graph = frame.graph().persist(columns="day")
    source = frame.src[frame.day == 5].iloc[0]
    wanted = chosen(frame, 4, 9).graph().sssp(source)
    pd.testing.assert_frame_equal(graph.where("day", 4, 9).sssp(source), wanted)
    with pytest.raises(dg.errors.InvalidEdges, match="negative"):
        graph.where("day", 3, 9).sssp(source)


def test_the_weight_column_itself():
    frame = made()
    found = frame.graph().persist().where("weight", 5).degree()
    pd.testing.assert_frame_equal(found, frame[frame.weight >= 5].graph().degree())


KINDS = {
    "datetime64[us]": "datetime64[us]",
    "datetime64[ns]": "datetime64[ns]",
    "zone": "datetime64[us, Europe/Berlin]",
    "arrow": pd.ArrowDtype(pa.timestamp("ms")),
    "arrow zone": pd.ArrowDtype(pa.timestamp("s", "+01:00")),
    "date": pd.ArrowDtype(pa.date32()),
}


def timed(kind):
    frame = made()
    times = pd.Timestamp("2026-03-01") + pd.to_timedelta(frame.pop("day"), "D")
    if "zone" in kind:
        times = times.dt.tz_localize("UTC")
    if kind == "date":
        times = times.dt.date
    return frame.assign(time=times.astype(KINDS[kind]))


@pytest.mark.parametrize("kind", KINDS)
def test_times(kind, tmp_path):
    frame, days = timed(kind), made()
    low, high = (
        pd.Timestamp(f"2026-03-0{day}", tz="UTC" if "zone" in kind else None) for day in (4, 8)
    )
    graph = frame.graph().persist(columns="time")
    wanted = chosen(days, 3, 7).graph().degree()
    pd.testing.assert_frame_equal(graph.where("time", low, high).degree(), wanted)
    found = graph.windows("time", pd.Timedelta("2D"), start=low).degree()
    wanted = days.graph().persist(columns="day").windows("day", 2, start=3).degree()
    begins = (
        pd.to_datetime(found.pop("window"), utc=True) - pd.Timestamp("2026-03-01", tz="UTC")
    ).dt.days
    assert begins.tolist() == wanted.pop("window").tolist()
    pd.testing.assert_frame_equal(found, wanted)
    graph.save(tmp_path / "saved", columns="time")
    saved = dg.load(tmp_path / "saved").append(frame.iloc[:9])
    added = saved.changes(0)[0]
    assert added["time"].tolist() == frame["time"].iloc[:9].tolist()
    assert added["time"].dtype == frame["time"].dtype
    assert saved.where("time", low, high).num_edges() > len(chosen(days, 3, 7))


def test_times_that_are_none():
    frame = timed("datetime64[us]")
    graph = frame.graph().persist(columns="time")
    with pytest.raises(InvalidArgument, match=r"low.*time zone|low.*is a time of datetime64"):
        graph.where("time", pd.Timestamp("2026-03-04", tz="UTC"))
    with pytest.raises(InvalidArgument, match=r"low=5.*is a time of datetime64\[us\]"):
        graph.where("time", 5)
    with pytest.raises(InvalidArgument, match="a whole number of the units"):
        timed("date").graph().persist(columns="time").windows("time", "12h")
    with pytest.raises(InvalidArgument, match=r"every=3.*Timedelta"):
        graph.windows("time", 3)
    frame.loc[3, "time"] = pd.NaT
    with pytest.raises(dg.errors.InvalidEdges, match="'time' has 1 nulls or NaT"):
        frame.graph().persist(columns="time")


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda f: f.graph().where("day", 3), r"not built: call .persist\(columns=\['day'\]"),
        (
            lambda f: f.graph().persist().where("day", 3),
            r"holds no edge column 'day', only \['weight'\]",
        ),
        (lambda f: f.graph().persist(columns="day").where("day", "3"), "low.*number"),
        (lambda f: f.graph().persist(columns="day").windows("day", 0), "every.*above 0"),
        (
            lambda f: f.graph().persist(columns="day").windows("day", 1e-9).degree(),
            "at most 10,000",
        ),
        (
            lambda f: f.graph().persist(columns="day").windows("day", 1, warm=True).degree(),
            "degree does not",
        ),
    ],
)
def test_bad_arguments(call, match):
    with pytest.raises(InvalidArgument, match=match):
        call(made())


def test_a_typo():
    windows = made().graph().persist(columns="day").windows("day", 1)
    with pytest.raises(AttributeError, match="Did you mean degree"):
        windows.degre()
