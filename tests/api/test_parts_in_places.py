"""Parts and windows of graphs on ranks, on disk and opened from disk: what graphs of filtered frames answer."""

import numpy as np
import pandas as pd
from dated_edges import chosen, made
from hypothesis import given, settings
from hypothesis import strategies as st
from places import rows_of

METHODS = ("degree", "pagerank", "weakly_connected_components", "triangle_count")
VERTICES = pd.DataFrame({"vertex": np.arange(5, 15), "x": np.arange(10) / 7})


def same(found, wanted):
    pd.testing.assert_frame_equal(rows_of(found), rows_of(wanted), rtol=1e-9)


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    ranks=st.integers(2, 4),
    directed=st.booleans(),
    low=st.none() | st.integers(-1, 10),
    high=st.none() | st.integers(0, 11),
    kind=st.sampled_from(["random", "hubs", "mirrored", "strings"]),
    listed=st.booleans(),
    order=st.sampled_from(["auto", "degree"]),
)
def test_any_rows_on_ranks(seed, ranks, directed, low, high, kind, listed, order):
    frame = made(seed, n=12, m=30, kind=kind)
    vertices = VERTICES
    if kind == "strings":
        frame, vertices = (
            frame.astype({"src": str, "dst": str}),
            vertices.astype({"vertex": str}),
        )
    options = {"directed": directed, "vertices": vertices if listed else None, "order": order}
    graph = frame.graph(**options, ranks=ranks).persist(columns=["day"])
    part = graph.where("day", low, high)
    rows = chosen(frame, -np.inf if low is None else low, np.inf if high is None else high)
    wanted = rows.graph(**options, ranks=1)
    for name in METHODS:
        same(getattr(part, name)(), getattr(wanted, name)())
    same(part.where("day", 2, 5).degree(), chosen(rows, 2, 5).graph(**options).degree())
    same(graph.windows("day", 3, start=0).degree(), windows_of(frame, options))
    assert part.explain().ranks == ranks or not len(rows)


def windows_of(frame, options, every=3):
    found = [
        chosen(frame, low, low + every).graph(**options).degree().assign(window=low)
        for low in range(0, 10, every)
        if len(chosen(frame, low, low + every))
    ]
    frame = pd.concat(found)
    return frame[["window", *frame.columns[:-1]]]
