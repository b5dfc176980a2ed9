"""Windows of columns whose numbers floats cannot tell apart, and bounds that are no numbers."""

from itertools import pairwise

import dask
import numpy as np
import pandas as pd
import pytest

import dask_graphgpu  # noqa: F401  puts .graph on frames
from dask_graphgpu.errors import InvalidArgument

LARGE = 1_700_000_000_000_000_001


def of(values, dtype):
    made = {"src": range(len(values)), "dst": -1, "t": np.array(values, dtype)}
    return pd.DataFrame(made).graph().persist(columns=["t"])


@pytest.mark.parametrize(
    ("values", "dtype", "every"),
    [
        ([LARGE, LARGE + 1, LARGE + 2, LARGE + 3], "uint64", 2),
        ([LARGE, LARGE + 1, LARGE + 2, LARGE + 3], "int64", 2.0),
        ([0, 1, 2, 2**64 - 1], "uint64", 2**62),
        ([2**63 - 1, 2**63, 2**64 - 1], "uint64", 2**61 + 1),
    ],
)
def test_whole_numbers_are_exact(values, dtype, every):
    found = of(values, dtype).windows("t", every).degree()
    wanted = [values[0] + (value - values[0]) // int(every) * int(every) for value in values]
    assert found.loc[found["vertex"] >= 0, "window"].tolist() == wanted
    assert found["window"].dtype == ("uint64" if max(wanted) >= 2**63 else "int64")


def test_windows_below_zero_of_values_beyond_2_to_63_are_an_error():
    graph = of([0, 2**64 - 1], "uint64")
    for start in (-5, 3):  # a window ends there
        with pytest.raises(InvalidArgument, match="below 0, and 't' has 18446744073709551615"):
            graph.windows("t", 2**62, start=start).degree()


@pytest.mark.parametrize("ranks", [1, 2])
def test_bounds_between_integers_and_beyond_them(ranks):
    values = [LARGE, LARGE + 1, LARGE + 2, LARGE + 3]
    made = {"src": range(4), "dst": -1, "t": np.array(values, "int64")}
    graph = pd.DataFrame(made).graph(ranks=ranks).persist(columns=["t"])
    for low, high, number in (
        (LARGE + 1, LARGE + 3, 2),
        (-(2**70), LARGE + 1, 1),
        (LARGE, 2**70, 4),
        (2**70, None, 0),
        (float("-inf"), float("inf"), 4),
    ):
        assert graph.where("t", low, high).degree()["out_degree"].sum() == number


def test_no_row_is_lost_where_floats_are_rounded():
    random = np.random.default_rng(0)
    for every in (0.1, 0.3, 0.7):
        values = random.integers(-30, 30, 200) * 0.1
        found = of(values, "float64").windows("t", every, start=0.1).degree()
        assert (found["vertex"] >= 0).sum() == len(values)


@pytest.mark.parametrize("where", ["memory", "ranks", "disk"])
def test_edges_of_windows_are_rounded_as_the_column_is(where, tmp_path):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.integers(0, 300, (40_000, 2)), columns=["src", "dst"])
    frame["t"] = (random.integers(0, 21, len(frame)) * 0.1 - 2).astype("float32")
    settings = {
        "graphgpu.host-memory-limit": "700kB",
        "graphgpu.page-bytes": 4096,
        "graphgpu.spill-directories": [str(tmp_path)],
    }
    with dask.config.set(settings if where == "disk" else {}):
        graph = frame.graph(duplicates="keep", ranks=2 if where == "ranks" else 1)
        graph = graph.persist(columns="t")
        found = graph.windows("t", 0.1, start=-2).degree().groupby("window")["out_degree"].sum()
        assert found.sum() == len(frame)
        for (low, high), number in zip(pairwise([*found.index, np.inf]), found, strict=True):
            assert number == ((frame["t"] >= low) & (frame["t"] < high)).sum()


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda g: g.where("t", float("nan")), "low=nan"),
        (lambda g: g.windows("t", 1, start=float("nan")), "start=nan"),
        (lambda g: g.windows("t", 1, start=float("inf")), "start=inf"),
        (lambda g: g.windows("t", 5e-324).degree(), "makes inf windows"),
        (lambda _: of([0, np.inf], "float64").windows("t", 1).degree(), "has infinite values"),
    ],
)
def test_what_is_no_number(call, match):
    with pytest.raises(InvalidArgument, match=match):
        call(of([1, 2], "int64"))


def test_nat_is_no_bound():
    graph = of([1, 2], "datetime64[ns]")
    with pytest.raises(InvalidArgument, match="high=NaT"):
        graph.where("t", None, pd.NaT)
