"""Cycles against NetworkX and, in time, against all sequences of edges; in every place."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import cycles_in_time
from places import small
from strategies import KINDS, edge_lists, partitioned

from dask_graphgpu import errors


def as_lists(frame, *columns):
    """The values of each cycle, after it is seen that cycles and positions are numbered in order."""
    frame = frame.compute() if hasattr(frame, "compute") else frame
    groups = [group for _, group in frame.groupby("cycle")]
    assert [group["cycle"].iloc[0] for group in groups] == list(range(len(groups)))
    for group in groups:
        assert group["position"].tolist() == list(range(len(group)))
    return [list(group[[*columns]].itertuples(index=False, name=None)) for group in groups]


def from_the_smallest(cycle, directed):
    """A cycle from its smallest vertex on, of an undirected graph by way of its smaller neighbour."""
    at = cycle.index(min(cycle))
    cycle = cycle[at:] + cycle[:at]
    turned = not directed and len(cycle) > 2 and cycle[1] > cycle[-1]
    return [cycle[0], *cycle[:0:-1]] if turned else cycle


@given(
    graph=edge_lists(weights=[None], kinds=KINDS),
    length=st.integers(1, 6),
    ranks=st.sampled_from([1, 3]),
)
def test_over_all_kinds_of_ids(graph, length, ranks):
    peer = nx.DiGraph() if graph.directed else nx.Graph()
    peer.add_edges_from((graph.rank[u], graph.rank[v]) for u, v in graph.edges)
    expected = sorted(
        from_the_smallest(cycle, graph.directed)
        for cycle in nx.simple_cycles(peer, length_bound=length)
    )
    number = {id: graph.rank[v] for v, id in enumerate(graph.ids)}
    found = as_lists(graph.graph(ranks=ranks).cycles(length), "vertex")
    assert [[number[vertex] for (vertex,) in cycle] for cycle in found] == expected


@pytest.mark.parametrize("directed", [True, False])
def test_a_thousand_random_graphs(directed):
    """All in one frame, side by side."""
    rng, edges, wanted = np.random.default_rng(5), [], []
    for first in range(0, 10_000, 20):
        n, m = rng.integers(2, 9), rng.integers(1, 20)
        some = rng.integers(first, first + n, (m, 2))
        edges.append(some)
        peer = nx.DiGraph() if directed else nx.Graph()
        peer.add_edges_from(some.tolist())
        cycles = nx.simple_cycles(peer, length_bound=5)
        wanted += sorted(from_the_smallest(cycle, directed) for cycle in cycles)
    frame = pd.DataFrame(np.concatenate(edges), columns=["src", "dst"])
    found = as_lists(frame.graph(directed=directed).cycles(5), "vertex")
    assert [[vertex for (vertex,) in cycle] for cycle in found] == wanted


TIMES = {
    "int64": st.integers(-3, 6),
    "uint8": st.sampled_from([0, 1, 3, 254, 255]),
    "float64": st.sampled_from([-1.5, 0.0, 0.25, 1e300, 2.0, 2.5]),
    "wide": st.sampled_from([-(2**63), -(2**63) + 1, 0, 1, 2**63 - 2, 2**63 - 1]),
}


@given(data=st.data(), kind=st.sampled_from([*TIMES]), length=st.integers(1, 5))
def test_in_time(data, kind, length):
    rows = data.draw(st.lists(st.tuples(*[st.integers(0, 5)] * 2, TIMES[kind]), max_size=24))
    within = data.draw(st.none() | st.sampled_from([1, 3, 2.5, 2**64]))
    frame = pd.DataFrame(rows, columns=["src", "dst", "at"])
    frame["at"] = frame["at"].astype("int64" if kind == "wide" else kind)
    expected = cycles_in_time(rows, length, within)
    for given_frame, options in ((partitioned(frame, 2), {}), (frame, {"ranks": 2})):
        found = given_frame.graph(**options).cycles(length, time="at", within=within)
        assert as_lists(found, "vertex", "at" if "at" in found else "time") == expected


def a_few_in_many():
    """Some edges that cycles go along, and many that they do not, with repeats."""
    rng = np.random.default_rng(8)
    ends = np.sort(rng.integers(0, 1000, (55_000, 2)), axis=1)
    ends[:, 1] += 1
    edges = np.concatenate([ends, rng.integers(1100, 1200, (1500, 2))])
    frame = pd.DataFrame(edges, columns=["src", "dst"])
    return frame.assign(weight=rng.integers(1, 99, len(frame)))


def test_every_place(place):
    place.same(
        lambda graph: graph.cycles(4),
        lambda graph: graph.cycles(4, time="weight", within=20),
        frames=[a_few_in_many],
    )
    methods = [lambda graph: graph.cycles(4)]
    some = [frame for frame in small() if len(frame) < 300]
    place.same(*methods, frames=some)
    place.same(*methods, frames=some[::2], directed=False)


PAYMENTS = pd.DataFrame(
    {
        "src": ["ann", "bob", "cleo", "bob", "cleo", "ann"],
        "dst": ["bob", "cleo", "ann", "cleo", "bob", "bob"],
        "at": pd.to_datetime(["2026-03-01", "2026-03-02", "2026-03-09", "2026-03-05"] + ["2026-03-06"] * 2),
    }
)  # fmt: skip


@pytest.mark.parametrize("zone", [None, "Asia/Tokyo"])
def test_times_of_a_calendar(zone):
    frame = PAYMENTS.assign(at=PAYMENTS["at"].dt.tz_localize(zone))
    found = frame.graph(ranks=2).cycles(3, time="at", within="8 days")
    assert (
        found["vertex"].tolist()
        == ["ann", "bob", "cleo", "ann", "bob", "cleo"] + ["bob", "cleo"] * 2
    )
    assert found["time"].dt.day.tolist() == [1, 2, 9, 1, 5, 9, 2, 6, 5, 6]
    assert found["time"].dtype == frame["at"].dtype
    shorter = frame.graph().persist(columns="at").cycles(3, time="at", within=pd.Timedelta("7D"))
    assert shorter["vertex"].tolist() == ["bob", "cleo"] * 2


def test_days_of_arrow():
    frame = PAYMENTS.astype({"at": "date32[pyarrow]"})
    found = frame.graph().cycles(2, time="at", within="1D")
    assert found["time"].dt.day.tolist() == [5, 6]


def test_too_many_are_an_error_before_any_is_listed():
    everybody = pd.DataFrame([(u, v) for u in range(12) for v in range(12)], columns=["src", "dst"])
    for options in ({}, {"ranks": 2}):
        graph = everybody.graph(**options)
        assert graph.cycles(2, limit=78)["cycle"].iloc[-1] == 77
        with pytest.raises(
            errors.InvalidArgument,
            match="there are 78 or more cycles with max_length=2, and limit=77",
        ):
            graph.cycles(2, limit=77)
        with pytest.raises(
            errors.InvalidArgument, match="give a smaller max_length, time= and within="
        ):
            graph.cycles(12, limit=1000)


def test_rows_that_would_be_one_edge():
    twice = pd.DataFrame({"src": [1, 2, 2], "dst": [2, 1, 1], "at": [1, 2, 3]})
    assert len(twice.graph().cycles(2)) == 2
    assert twice.graph().cycles(2, time="at")["time"].tolist() == [1, 2, 1, 3]
    assert len(twice.graph(duplicates="keep").cycles(2)) == 2
    with pytest.raises(errors.InvalidArgument, match="use duplicates='keep'"):
        twice.graph(duplicates="one").cycles(2, time="at")
    with pytest.raises(errors.InvalidArgument, match="rows in opposite directions are one edge"):
        twice.graph(directed=False).cycles(2, time="at")
    with pytest.raises(errors.InvalidArgument, match=r"persist\(columns=\['at'\]\)"):
        twice.graph().persist().cycles(2, time="at")


def test_bad_arguments():
    graph = PAYMENTS.assign(word="x", n=1).graph()
    for wrong, told in (
        ({"max_length": 0}, "max_length=0; allowed is a whole number of at least 1"),
        ({"limit": -1}, "limit=-1"),
        ({"time": 3}, "time=3; allowed is the name of an edge column"),
        ({"time": "when"}, r"time='when' is no edge column; there are \['src', 'dst', 'at'"),
        ({"time": "word"}, "time='word' is a column of"),
        ({"within": 3}, "within=3 needs times of edges"),
        ({"time": "at", "within": 3}, "within=3; allowed is a length of time"),
        ({"time": "n", "within": "3D"}, "within='3D'; allowed is a number, above 0"),
        ({"time": "n", "within": 0}, "within=0; allowed is a number, above 0"),
    ):
        with pytest.raises(errors.InvalidArgument, match=told):
            graph.cycles(**{"max_length": 3} | wrong)
