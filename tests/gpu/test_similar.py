"""Similar vertices on the GPU against the CPU engine, to the last bit."""

import importlib
from unittest import mock

import numpy as np
import pytest
from made_graphs import edgeless, random_small, rmat, star

from dask_graphgpu.engine import cpu
from dask_graphgpu.engine.similarity import KINDS, Similarity
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

gpu = importlib.import_module("dask_graphgpu.engine.gpu.similar")
jaccard = importlib.import_module("dask_graphgpu.engine.gpu.jaccard")
similar_tables = importlib.import_module("dask_graphgpu.engine.gpu.similar_tables")


def same(view, asked, chosen=None):
    if chosen is None:
        chosen = np.ones(view.num_vertices, bool)
    reports = [Report("similar"), Report("similar")]
    expected = cpu.similar(view, chosen, asked, reports[0])
    for mine, other in zip(gpu.similar(view, chosen, asked, reports[1]), expected, strict=True):
        np.testing.assert_array_equal(mine, other)
    assert reports[0].left_out == reports[1].left_out
    assert sum(a.edges for a in reports[1].advances) * (1 if asked.top_k else 2) == sum(
        a.edges for a in reports[0].advances
    )


@pytest.mark.parametrize("metric", KINDS)
def test_small_graphs(metric):
    for seed in range(12):
        view = random_small(seed).view()
        chosen = np.random.default_rng(seed).random(view.num_vertices) < 0.5
        same(view, Similarity(metric, top_k=3))
        same(view, Similarity(metric, top_k=2, least_score=0.2, degree_cutoff=6), chosen)
        same(view, Similarity(metric, later=True, least_common=2))


@pytest.mark.parametrize("ids", ["uint32", "uint64"])
def test_in_batches_and_in_the_order_of_other_ids(ids):
    graph = rmat(9, ids=ids, rank=np.random.default_rng(1).permutation(1 << 9))
    with mock.patch.object(jaccard, "WALKS", 5000):
        same(graph.view(), Similarity("adamic_adar", top_k=5))
        same(graph.view(), Similarity("cosine", top_k=5, degree_cutoff=40))


@pytest.mark.parametrize("sizes", [((4, 32, 1), (16, 64, 2), (None, 128, 1)), ((None, 32, 4),)])
@pytest.mark.parametrize("top_k", [1, 4, 30, 2**62])
def test_tables_of_all_sizes(sizes, top_k):
    """Sums of few different values, so that the last rows are chosen among equal ones."""
    graph = rmat(8, rank=np.random.default_rng(2).permutation(1 << 8))
    with mock.patch.object(similar_tables, "_SIZES", sizes):
        same(graph.view(), Similarity("count", top_k=top_k))
        same(graph.view(), Similarity("jaccard", top_k=top_k, later=True, least_score=0.1))


def test_shapes():
    for view in (star(70).view(), edgeless(4).view()):
        same(view, Similarity("jaccard", top_k=2))
