"""Breadth-first searches in every place; against a queue they are in tests/engine/test_bfs.py."""

import pytest
from places import FRAMES

SOURCES = 70  # more than the bits of a word


def searches(ids):
    """From one vertex, from few and from many; to all, to the near ones, to some."""
    return [
        lambda graph: graph.bfs(ids[0], predecessor=True),
        lambda graph: graph.bfs(ids[1], cutoff=1),
        lambda graph: graph.bfs(ids[2], cutoff=3, predecessor=True),
        lambda graph: graph.bfs(ids[:2]),
        lambda graph: graph.bfs(ids[:SOURCES], cutoff=2, target=ids[8:10]),
    ]


@pytest.mark.parametrize("directed", [True, False])
def test_every_place(programs_place, directed):
    for frame in FRAMES:
        calls = searches(frame()["src"].unique().tolist())
        found = programs_place.same(*calls, frames=[frame], directed=directed)
        assert found[0]["distance"].nunique() > 2


@pytest.mark.parametrize("bits", [None, 64])
def test_small_graphs(memory_place, bits):
    many = {"source": [*range(SOURCES)], "cutoff": 60}  # a path has a level for each vertex
    tree = lambda graph: graph.bfs(3, predecessor=True)  # noqa: E731
    memory_place.same_small(tree, lambda graph: graph.bfs(**many), bits=bits)
