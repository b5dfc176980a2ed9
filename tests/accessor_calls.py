"""A frame of edges, calls of `.graph` on it, and how their results compare."""

import numpy as np
import pandas as pd
import pytest

EDGES = pd.DataFrame(
    {
        "src": [0, 1, 2, 0, 4],
        "dst": [1, 2, 3, 2, 5],
        "weight": [1, 1, 1, 5, 1],
        "color": ["r", "g", "b", "r", "g"],
        "toll": [0.5, 0.5, 0.5, 0.5, 0.5],
    }
)
NULL = pd.NA

CALLS = {
    "bfs": lambda g: g.bfs(0),
    "bfs predecessor": lambda g: g.bfs([0, 1], predecessor=True, target=[3, 2], cutoff=5),
    "sssp": lambda g: g.sssp(0, predecessor=True),
    "pagerank": lambda g: g.pagerank(),
    "wcc": lambda g: g.weakly_connected_components(),
    "core_number": lambda g: g.core_number(),
    "k_core": lambda g: g.k_core(2),
    "degree": lambda g: g.degree(),
}
each_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


def rows(frame):
    """A result as one frame, whose index counts its rows."""
    frame = frame.compute() if hasattr(frame, "compute") else frame
    pd.testing.assert_index_equal(frame.index, pd.RangeIndex(len(frame)))
    return frame


def same(a, b):
    """Whether two results have the same values, of NumPy or Arrow types; ranks to a rounding."""
    a, b = rows(a), rows(b)
    assert a.columns.tolist() == b.columns.tolist()
    if "rank" in a:
        return np.allclose(a["rank"].tolist(), b["rank"].tolist(), rtol=1e-12, atol=0)
    return all(a[name].tolist() == b[name].tolist() for name in a.columns)
