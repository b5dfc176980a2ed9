"""Edges among some of the vertices on the GPU, against the CPU engine."""

import numpy as np
import pytest
from made_graphs import SHAPES, random_small, rmat, star

from dask_graphgpu.engine import cpu
from dask_graphgpu.engine.gpu.induced import edges_among
from dask_graphgpu.partition.view import View

pytestmark = pytest.mark.gpu


def same(view, inside):
    found, expected = edges_among(view, inside), cpu.edges_among(view, inside)
    for mine, other in zip(found, expected, strict=True):
        assert (mine is None) == (other is None)
        if other is not None:
            assert mine.tolist() == other.tolist()


def ranked(view, seed):
    """The same edges, with another order of the user's ids."""
    rank = np.random.default_rng(seed).permutation(view.num_vertices).astype(view.id_dtype)
    return View(view.rows, vertex_columns=view.vertex_columns, user_rank=rank)


@pytest.mark.parametrize("order", ["as it is", "the user's"])
@pytest.mark.parametrize("seed", range(30))
def test_small_graphs(seed, order):
    rng = np.random.default_rng(seed)
    graph = random_small(seed)
    view = graph.view() if order == "as it is" else ranked(graph.view(), seed)
    for share in (0, 0.5, 0.9, 1):
        same(view, rng.random(graph.n) < share)


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape):
    view = SHAPES[shape]().view()
    for given in (view, ranked(view, 1)):
        same(given, np.ones(view.num_vertices, bool))
        same(given, np.arange(view.num_vertices) % 3 > 0)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_many_edges(directed, weighted):
    weight = np.random.default_rng(1).integers(1, 99, 16 << 12) if weighted else None
    view = ranked(rmat(12, directed=directed, weight=weight).view(), 7)
    for share in (0.1, 0.9):
        same(view, np.random.default_rng(2).random(view.num_vertices) < share)


def test_rows_without_edges_in_between():
    view = ranked(star(20_000).view(), 3)
    inside = np.zeros(view.num_vertices, bool)
    inside[::2] = True
    same(view, inside)
