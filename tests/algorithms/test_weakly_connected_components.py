"""Weakly connected components in every place; against union-find they are in tests/engine/test_components.py."""

import dask
import numpy as np
import pandas as pd
import pytest

from dask_graphgpu.partition.ranks import build


def components(graph):
    return graph.weakly_connected_components()


@pytest.mark.parametrize("directed", [True, False])
def test_every_place(programs_place, directed):
    programs_place.same(components, directed=directed, reads_rows=False)
    programs_place.same(components, components, directed=directed)


@pytest.mark.parametrize(("order", "bits"), [("input", 64), ("degree", None)])
def test_small_graphs(memory_place, order, bits):
    memory_place.same_small(components, bits=bits, order=order)


@pytest.mark.parametrize("directed", [True, False])
def test_many_vertices(memory_place, directed):
    """With edges for small components, for one and others, and for one."""
    rng, n = np.random.default_rng(4), 50_000
    drawn = [rng.integers(n, size=(number, 2)) for number in (n // 3, n, 8 * n)]
    frames = [pd.DataFrame(rng.permutation(n)[ends], columns=["src", "dst"]) for ends in drawn]
    with dask.config.set({"graphgpu.device-memory-limit": "4MB"}):
        found = memory_place.same(components, frames=frames, directed=directed)
    numbers = [answer["component"].nunique() for answer in found]
    assert numbers[0] > numbers[1] > numbers[2] == 1


@pytest.mark.parametrize(
    ("options", "arguments", "rows"),
    [
        ({}, {}, False),
        ({"partitioner": "random"}, {}, True),
        ({"layout": "layered"}, {}, True),
        ({}, {"thresholds": 0.5}, True),
        ({}, {"max_size": 2}, True),
    ],
)
def test_ranks_make_rows_only_where_they_are_needed(monkeypatch, options, arguments, rows):
    built = []
    monkeypatch.setattr(
        build, "share_of", lambda *given, was=build.share_of: built.append(1) or was(*given)
    )
    frame = pd.DataFrame({"src": [3, 1, 7, 2], "dst": [1, 2, 8, 2], "weight": [0.9, 0.4, 0.7, 0.3]})
    vertices = pd.DataFrame({"vertex": [0, 5]})
    graph = frame.graph(vertices=vertices, ranks=1)
    wanted = graph.weakly_connected_components(**arguments)
    graph = frame.graph(vertices=vertices, ranks=3, **options)
    found = graph.weakly_connected_components(**arguments)
    pd.testing.assert_frame_equal(found, wanted)
    assert len(built) == 3 * rows
