"""Distances by weights in every place; against Dijkstra they are in tests/engine/test_programs.py."""

import numpy as np
import pytest
from places import FRAMES, skewed

from dask_graphgpu import last_report


@pytest.mark.parametrize("weight", ["int64", "float32"])
@pytest.mark.parametrize("directed", [True, False])
def test_every_place(programs_place, directed, weight):
    """From one vertex and from several; to all, and to some."""
    for frame in FRAMES:

        def weighted(frame=frame):
            made = frame()
            if weight == "int64":
                return made
            return made.assign(weight=(made["weight"] / 64).astype(weight))

        ids = frame()["src"].unique().tolist()
        found = programs_place.same(
            lambda graph: graph.sssp(ids[0]),  # noqa: B023
            lambda graph: graph.sssp(ids[:2], predecessor=True),  # noqa: B023
            lambda graph: graph.sssp(ids[2], target=ids[9:11]),  # noqa: B023
            frames=[weighted],
            directed=directed,
        )
        assert found[0]["distance"].nunique() > 9


def rings():
    """Most weights are 0: plateaus of several levels."""
    frame, rng = skewed(), np.random.default_rng(2)
    frame["dst"] = (frame["src"] + rng.integers(1, 9, len(frame))) % 1000
    return frame.assign(weight=(rng.random(len(frame)) < 0.02) * frame["weight"])


def named():
    """The same with ids whose order is another."""
    frame = rings()
    return frame.assign(src="v" + frame["src"].astype(str), dst="v" + frame["dst"].astype(str))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("frame", [rings, named])
def test_predecessors_across_edges_that_add_nothing(programs_place, frame, directed):
    start = frame()["src"][0]
    tree = lambda graph: graph.sssp(start, predecessor=True)  # noqa: E731
    programs_place.same(tree, frames=[frame], directed=directed)
    assert programs_place.name != "pages" or (last_report()["direction"] == "predecessor").sum() > 3


@pytest.mark.parametrize(
    ("kind", "bits"),
    [("uint8", None), ("int64", None), ("int64", 64), ("float64", None)],
)
def test_small_graphs(memory_place, kind, bits):
    memory_place.same_small(
        lambda graph: graph.sssp(3, predecessor=True),
        lambda graph: graph.sssp([0, 5, 7]),
        kind=kind,
        bits=bits,
    )
