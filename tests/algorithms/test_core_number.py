"""Core numbers and k-cores over places; against peeling by its definition they are in tests/engine/test_peeling.py."""

import pytest
from places import skewed, sparse


@pytest.mark.parametrize("directed", [True, False])
def test_every_place(place, directed):
    found = place.same(lambda graph: graph.core_number(), directed=directed)
    assert all(frame["core_number"].nunique() > 2 for frame in found)
    place.same(lambda graph: graph.k_core(3), directed=directed, frames=[sparse])
    place.same(lambda graph: graph.k_core(64), directed=directed, frames=[skewed])


def test_small_graphs(memory_place):
    memory_place.same_small(lambda graph: graph.core_number())
    memory_place.same_small(lambda graph: graph.k_core(2), bits=64)
