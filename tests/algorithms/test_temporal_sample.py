"""Samples of neighbours up to the time of each seed: such edges only, so many, and the same in every place."""

from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from commands import call, result
from hypothesis import given
from hypothesis import strategies as st
from places import skewed
from scipy.stats import chisquare
from strategies import KINDS, edge_lists, partitioned

from dask_graphgpu.errors import InvalidArgument


@given(
    graph=edge_lists(weights=["uint8", "int64", "float64"], kinds=KINDS, directed=True),
    ranks=st.sampled_from([1, 3]),
    fanout=st.lists(st.sampled_from([-1, 1, 2, 40]), min_size=1, max_size=3),
    size=st.integers(1, 4),
    data=st.data(),
)
def test_by_definition(graph, ranks, fanout, size, data):
    """Each seed has a tree of its own, of edges up to its time."""
    times = [t for *_, t in graph.edges] or [0]
    seeds = data.draw(
        st.lists(st.tuples(st.sampled_from(range(graph.n)), st.sampled_from(times)), max_size=6)
    )
    named = data.draw(st.sampled_from(["weight", "t"]))
    frame = graph.frame().rename(columns={"weight": named})
    made = partitioned(frame, graph.cuts).graph(vertices=graph.vertices(), ranks=ranks)
    given = pd.DataFrame(
        {"vertex": graph.column([v for v, _ in seeds]), "when": [t for _, t in seeds]}
    )
    given = given.astype({"when": frame[named].dtype})
    found = made.neighbor_sample(given, fanout=fanout, batch_size=size, time=named).compute()
    assert (found["batch"] == found["seed"] // size).all()
    number = {each: v for v, each in enumerate(graph.ids)}
    columns = (found[name].tolist() for name in ("seed", "hop", "src", "dst", named))
    rows = [(s, h, number[u], number[v], t) for s, h, u, v, t in zip(*columns, strict=True)]
    rank = graph.rank
    keys = [(s, h, rank[v], rank[u], t) for s, h, u, v, t in rows]
    assert keys == sorted(keys)
    for seed, (vertex, until) in enumerate(seeds):
        edges = Counter(edge for edge in graph.edges if edge[2] <= until)
        degree = Counter(v for _, v, _ in edges.elements())
        new = seen = {vertex}
        for hop, most in enumerate(fanout, 1):
            here = Counter((u, v, t) for s, h, u, v, t in rows if (s, h) == (seed, hop))
            assert not here - edges
            wanted = {v: degree[v] if most < 0 else min(degree[v], most) for v in new}
            assert Counter(v for _, v, _ in here.elements()) == Counter(wanted)
            new = {u for u, _, _ in here} - seen
            seen = seen | new


def test_in_every_place(place):
    seeds = pd.DataFrame({"vertex": [1, 5, 5, 900], "when": [30, 99, 4, 50]})

    def made():
        return skewed().assign(at=lambda frame: (frame["weight"] * 7) % 60)

    (found,) = place.same(
        lambda graph: graph.neighbor_sample(seeds, fanout=[3, 2, -1], batch_size=2, time="at"),
        frames=[made],
    )
    assert (found["at"] == (found["weight"] * 7) % 60).all()
    place.same(
        lambda graph: graph.neighbor_sample(seeds, fanout=[4, 3], time="weight", replace=True),
        frames=[skewed],
    )


def test_every_edge_up_to_the_time_is_as_likely():
    star = pd.DataFrame({"src": range(1, 61), "dst": 0, "at": np.arange(60) % 40})
    seeds = pd.DataFrame({"vertex": [0] * 500, "when": 19})
    found = star.graph().neighbor_sample(seeds, fanout=[5], time="at", seed=3)
    assert found["at"].max() == 19
    assert chisquare(found["src"].value_counts()).pvalue > 1e-3
    assert found["src"].nunique() == 40
    assert not found.duplicated(["seed", "src"]).any()


EDGES = pd.DataFrame(
    {
        "src": [1, 2, 3, 1],
        "dst": [9, 9, 9, 2],
        "at": pd.to_datetime(
            ["2026-01-01 10:00:00.5", "2026-01-02", "1969-12-31 12:00", "2026-01-01"],
            format="ISO8601",
        ),
    }
)
SEEDS = pd.DataFrame(
    {
        "vertex": [9, 9],
        "when": pd.to_datetime(["2026-01-01 10:00:00.7", "2026-02-01"], format="ISO8601"),
    }
)


@pytest.mark.parametrize("edges", ["s", "ms", "ns"])
@pytest.mark.parametrize("seeds", ["ms", "us", "ns"])
@pytest.mark.parametrize("lazy", [False, True])
def test_times_of_any_unit(edges, seeds, lazy):
    frame = EDGES.astype({"at": f"datetime64[{edges}]"})
    given = SEEDS.astype({"when": f"datetime64[{seeds}]"})
    given = partitioned(given, 2) if lazy else given
    found = frame.graph().neighbor_sample(given, fanout=[-1], time="at")
    assert found["at"].dtype == frame["at"].dtype
    assert found["src"].tolist() == [1, 3, 1, 2, 3]
    assert found["seed"].tolist() == [0, 0, 1, 1, 1]


def test_dates_of_arrow_and_zones():
    date = pd.ArrowDtype(pa.date32())
    found = EDGES.astype({"at": date}).graph().neighbor_sample(SEEDS, fanout=[-1], time="at")
    assert found["at"].dtype == date
    assert found["src"].tolist() == [1, 3, 1, 2, 3]
    zoned = EDGES.assign(at=EDGES["at"].dt.tz_localize("UTC"))
    seeds = SEEDS.assign(when=SEEDS["when"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"))
    found = zoned.graph().neighbor_sample(seeds, fanout=[-1], time="at")
    assert found["src"].tolist() == [1, 3, 1, 2, 3]
    with pytest.raises(InvalidArgument, match="time zone"):
        zoned.graph().neighbor_sample(SEEDS, fanout=[-1], time="at")


def test_fractions_are_between_whole_times():
    edges = pd.DataFrame({"src": [1, 2], "dst": [0, 0], "t": [3, 4]})
    seeds = pd.DataFrame({"vertex": [0, 0, 0], "when": [3.9, -np.inf, np.inf]})
    found = edges.graph().neighbor_sample(seeds, fanout=[-1], time="t")
    assert found[["seed", "src"]].to_numpy().tolist() == [[0, 1], [2, 1], [2, 2]]


def test_times_beyond_floats_and_units():
    top = 2**60
    edges = pd.DataFrame({"src": [1, 2], "dst": [0, 0], "t": [top, top + 1]})
    for kind in ("int64", "uint64"):
        seeds = pd.DataFrame({"vertex": [0, 0, 0], "when": [top, top + 1, -1]})
        found = edges.astype({"t": kind}).graph().neighbor_sample(seeds, fanout=[-1], time="t")
        assert found[["seed", "src"]].to_numpy().tolist() == [[0, 1], [1, 1], [1, 2]]
    late = pd.DataFrame({"vertex": [9], "when": np.array(["3000-01-01"], "datetime64[s]")})
    found = (
        EDGES.astype({"at": "datetime64[ns]"}).graph().neighbor_sample(late, fanout=[-1], time="at")
    )
    assert len(found) == 3


@pytest.mark.parametrize(
    ("seeds", "options", "match"),
    [
        ([9], {}, "seeds is a frame"),
        (SEEDS[["vertex"]], {}, "one column"),
        (SEEDS.assign(when=1), {}, "no type of times"),
        (SEEDS.assign(when=pd.NaT), {}, "nulls"),
        (SEEDS, {"directed": False}, "rows in both directions"),
    ],
)
def test_wrong_calls(seeds, options, match):
    with pytest.raises(InvalidArgument, match=match):
        EDGES.graph(**options).neighbor_sample(seeds, fanout=[1], time="at")
    with pytest.raises(InvalidArgument, match="time='when'"):
        EDGES.graph().neighbor_sample(SEEDS, fanout=[1], time="when")


def test_on_the_command_line(tmp_path):
    EDGES.to_parquet(tmp_path / "edges.parquet")
    SEEDS.to_parquet(tmp_path / "seeds.parquet")
    asked = ["--seeds", tmp_path / "seeds.parquet", "--fanout", "-1", "--time", "at"]
    call("neighbor-sample", tmp_path / "edges.parquet", *asked, "--output", tmp_path / "out")
    assert result(tmp_path / "out")["src"].tolist() == [1, 3, 1, 2, 3]
