"""Earliest arrival against edges gone over in order of time."""

import re

import dask.dataframe as dd
import numpy as np
import oracles
import pandas as pd
import pyarrow as pa
import pytest
from commands import call, result
from hypothesis import given
from hypothesis import strategies as st
from places import memory_place, programs_place, skewed  # noqa: F401
from small_graphs import on_threads
from strategies import KINDS, edge_lists, partitioned

from dask_graphgpu import errors

TIMES = ["int64", "uint8", "Int32", "float64", "float32"]


def temporal(graph, **options):
    """The graph of drawn edges, whose weights are times."""
    frame = graph.frame().rename(columns={"weight": "t"})
    return partitioned(frame, graph.cuts).graph(vertices=graph.vertices(), **options)


def expected(graph, source=0, start=None, *, strict=False):
    start = min((t for *_, t in graph.edges), default=None) if start is None else start
    found = oracles.earliest_arrival(
        graph.edges if start is not None else [],
        source,
        start,
        strict=strict,
        directed=graph.directed,
    )
    return {v: found.get(v) for v in range(graph.n)}


@given(
    graph=edge_lists(weights=TIMES, kinds=KINDS),
    threads=st.sampled_from([1, 2]),
    strict=st.booleans(),
    ranks=st.sampled_from([1, 1, 2]),
)
def test_arrivals(graph, threads, strict, ranks):
    with on_threads(threads):
        found = temporal(graph, ranks=ranks).earliest_arrival(
            graph.ids[0], "t", strict=strict, both_ways=not graph.directed
        )
    assert graph.answers(found, "arrival") == expected(graph, strict=strict)


@given(graph=edge_lists(weights=["int64", "float64"], directed=True), data=st.data())
def test_start_target_and_cutoff(graph, data):
    times = sorted({t for *_, t in graph.edges}) or [0]
    start, last = data.draw(st.sampled_from(times)), data.draw(st.sampled_from(times))
    strict = data.draw(st.booleans())
    wanted = expected(graph, start=start, strict=strict)
    wanted = {v: t if t is not None and t <= last else None for v, t in wanted.items()}
    target = data.draw(st.lists(st.sampled_from(range(graph.n)), min_size=1, unique=True))
    built = temporal(graph).persist(columns="t")
    some = built.earliest_arrival(
        graph.ids[0], "t", start, strict, cutoff=last, target=[graph.ids[v] for v in target]
    )
    assert graph.answers(some, "arrival") == {v: wanted[v] for v in target}
    every = built.earliest_arrival([*graph.ids], "t", start, strict, cutoff=last).compute()
    for v, rows in every.groupby("source"):
        of = {
            u: t if t is not None and t <= last else None
            for u, t in expected(graph, graph.ids.index(v), start, strict=strict).items()
        }
        assert graph.answers(rows, "arrival") == of


CALLS = {
    "all": lambda graph: graph.earliest_arrival(0, "weight"),
    "target": lambda graph: graph.earliest_arrival(0, "weight", target=[5, 4], start=2),
    "both ways": lambda graph: graph.earliest_arrival(
        [0, 1], "weight", 3, True, both_ways=True, cutoff=20
    ),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_everywhere(programs_place, call):  # noqa: F811
    programs_place.same(call, frames=(skewed,))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_of_small_graphs(memory_place, call):  # noqa: F811
    memory_place.same_small(call, kind="int64", least=-9)


def test_everywhere_by_another_column(programs_place):  # noqa: F811
    def made():
        frame = skewed()
        return frame[["src", "dst"]].assign(at=frame["weight"] / 7)

    programs_place.same(lambda graph: graph.earliest_arrival(0, "at"), frames=[made])


CONTACTS = pd.DataFrame(
    {
        "src": ["a", "a", "b", "b", "c"],
        "dst": ["b", "b", "c", "a", "d"],
        "day": ["2026-01-05", "2026-01-02", "2026-01-02", "2026-01-09", "2026-01-01"],
    }
)


@pytest.mark.parametrize(
    "kind",
    [
        "datetime64[ns]",
        "datetime64[s]",
        "datetime64[us, Europe/Berlin]",
        pd.ArrowDtype(pa.timestamp("ms")),
        pd.ArrowDtype(pa.timestamp("us", "UTC")),
        pd.ArrowDtype(pa.date32()),
    ],
    ids=str,
)
def test_times_come_back_as_they_are(kind):
    days = pd.to_datetime(CONTACTS["day"])
    zone = getattr(kind, "pyarrow_dtype", None)
    if "Berlin" in str(kind) or getattr(zone, "tz", None):
        days = days.dt.tz_localize("UTC")
    frame = CONTACTS.assign(day=days.astype(kind))
    start = frame["day"][4] if getattr(days.dt, "tz", None) else "2026-01-01"
    found = frame.graph().earliest_arrival("a", "day", start=start)
    assert found["arrival"].dtype == frame["day"].dtype
    wanted = frame["day"][[4, 1, 2]].tolist()
    assert found["arrival"].tolist()[:3] == wanted
    assert pd.isna(found["arrival"][3])
    lazy = partitioned(frame, 2).graph(ranks=2).earliest_arrival("a", "day", start=start)
    assert lazy.dtypes["arrival"] == found["arrival"].dtype
    pd.testing.assert_frame_equal(lazy.compute(), found, check_dtype=False)


@pytest.mark.parametrize("ranks", [1, 2])
def test_times_with_a_zone_in_parquet(tmp_path, ranks):
    """Dask declares them as pandas does, and Arrow reads them."""
    frame = CONTACTS.assign(day=pd.to_datetime(CONTACTS["day"]).dt.tz_localize("Europe/Berlin"))
    frame.iloc[:3].to_parquet(tmp_path / "0.parquet")
    frame.iloc[3:].to_parquet(tmp_path / "1.parquet")
    graph = dd.read_parquet(tmp_path).graph(ranks=ranks)
    start = pd.Timestamp("2026-01-01", tz="Europe/Berlin")
    found = graph.earliest_arrival("a", "day", start=start).compute()
    expected = frame.graph().earliest_arrival("a", "day", start=start)
    assert found["arrival"].tolist()[:3] == expected["arrival"].tolist()[:3]
    coarse = frame.iloc[3:].astype({"day": "datetime64[ms, Europe/Berlin]"})
    coarse.to_parquet(tmp_path / "1.parquet")
    with pytest.raises(
        errors.InvalidEdges, match=r"'day' is .*ms.* in .* but the frame declares .*us"
    ):
        graph.earliest_arrival("a", "day", start=start).compute()


def test_an_edge_at_several_times_is_as_many_edges():
    frame = pd.DataFrame({"src": [1, 1, 2, 2], "dst": [2, 2, 3, 1], "t": [4, 1, 3, 2]})
    for rows in (frame, frame[::-1]):
        assert rows.graph().earliest_arrival(1, "t")["arrival"].tolist() == [1, 1, 3]
    both = frame.graph().earliest_arrival(3, "t", both_ways=True)
    assert both["arrival"].tolist() == [4, 3, 1]


@pytest.mark.parametrize("weight", [None, "t"])
@pytest.mark.parametrize("ranks", [1, 2])
def test_times_may_be_the_weights(weight, ranks):
    frame = pd.DataFrame({"src": [1, 2, 2, 3], "dst": [2, 1, 3, 2], "t": [5, 1, 2, 2]})
    graph = frame.graph(weight=weight, ranks=ranks)
    assert graph.earliest_arrival(1, "t", both_ways=True)["arrival"].tolist() == [1, 1, 2]
    built = graph.persist(columns=["t"] if weight is None else [])
    assert built.earliest_arrival(2, "t")["arrival"].tolist() == [1, 1, 2]
    before = frame.assign(t=frame["t"] - 5).graph(weight=weight, ranks=ranks)  # no weights
    assert before.earliest_arrival(2, "t")["arrival"].tolist() == [-4, -4, -3]
    if weight is not None:
        undirected = frame.graph(directed=False, weight=weight, ranks=ranks)
        assert undirected.earliest_arrival(1, "t")["arrival"].tolist() == [1, 1, 2]


def test_bounds_of_any_size():
    top = 2**63 - 1
    frame = pd.DataFrame({"src": [1, 2, 3], "dst": [2, 3, 4], "t": [-(2**62), top - 1, top]})
    search = frame.graph().earliest_arrival
    assert search(1, "t", start=-(10**400))["arrival"].tolist()[:3] == [-(2**63), -(2**62), top - 1]
    assert search(2, "t", start=1.5)["arrival"][1] == 2
    assert search(1, "t", start=np.inf)["arrival"].isna().all()
    assert search(1, "t", cutoff=-0.5)["arrival"].tolist()[:2] == [-(2**62)] * 2
    assert search(1, "t", strict=True)["arrival"].notna().tolist() == [True, True, True, False]


@pytest.mark.parametrize(
    ("graph", "arguments", "match"),
    [
        ({}, {"time": "x"}, "is none of"),
        ({}, {"time": "dst"}, "name an edge column of numbers or times"),
        ({}, {"time": 3}, "time=3"),
        ({}, {"time": "day", "start": 5}, "allowed is a time"),
        ({}, {"time": "day", "cutoff": "soon"}, "cutoff='soon'"),
        ({"directed": False}, {"time": "day"}, "both_ways=True"),
        ({"duplicates": "min"}, {"time": "day"}, "use duplicates='keep'"),
    ],
)
def test_wrong_calls_say_what_to_do(graph, arguments, match):
    frame = CONTACTS.assign(day=pd.to_datetime(CONTACTS["day"]))
    with pytest.raises(errors.InvalidArgument, match=match):
        frame.graph(**graph).earliest_arrival("a", **arguments)


def test_weights_of_another_name_are_no_times():
    frame = pd.DataFrame({"src": [0], "dst": [1], "weight": [1], "w": [2]})
    with pytest.raises(errors.InvalidArgument, match="rename the column"):
        frame.graph(weight="w").earliest_arrival(0, "weight")


def test_a_window_has_its_own_paths():
    frame = CONTACTS.assign(day=pd.to_datetime(CONTACTS["day"]))
    windows = frame.graph().persist(columns="day").windows("day", "4D")
    found = windows.earliest_arrival(["b"], "day")
    assert found["arrival"].dropna().dt.day.tolist() == [1, 2, 5, 9, 9]


def test_on_the_command_line(tmp_path):
    edges = tmp_path / "edges.parquet"
    CONTACTS.assign(day=pd.to_datetime(CONTACTS["day"])).to_parquet(edges)
    asked = [
        "--source",
        "a",
        "--time",
        "day",
        "--start",
        "2026-01-02",
        "--output",
        tmp_path / "out",
    ]
    call("earliest-arrival", edges, *asked)
    assert result(tmp_path / "out")["arrival"].dropna().dt.day.tolist() == [2, 2, 2]


def test_the_time_that_an_error_shows_is_one_that_is_allowed():
    """It had no time zone, where the column has one."""
    for zone in (None, "Europe/Rome", "UTC"):
        days = pd.to_datetime(["2026-01-01"]).tz_localize(zone)
        graph = pd.DataFrame({"src": [0], "dst": [1], "day": days}).graph()
        with pytest.raises(errors.InvalidArgument, match="allowed is a time") as refused:
            graph.earliest_arrival(0, "day", 5)
        shown = re.search(r"pandas\.Timestamp\((.*?)\)", str(refused.value)).group(1)
        day, *tz = (part.split("=")[-1].strip("'") for part in shown.split(", "))
        start = pd.Timestamp(day, tz=tz[0] if tz else None)
        assert graph.earliest_arrival(0, "day", start)["arrival"][0] == start
