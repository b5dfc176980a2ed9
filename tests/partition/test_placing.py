"""Edges that come nearly in order are placed in their rows as buckets would bring them there."""

import dask
import numpy as np
import pytest

from dask_graphgpu.partition import csr, placing
from dask_graphgpu.partition.placing import placed


def canonical(rng):
    """Each undirected edge once, from the smaller end, in order; some repeat, some are loops."""
    ends = np.sort(rng.integers(0, 900, (2, 30_000)), axis=0)
    return ends[:, np.lexsort(ends[::-1])]


def grid(rng):
    """Right, then down."""
    ids = np.arange(10_000).reshape(100, 100)
    right = [ids[:, :-1].ravel(), ids[:, 1:].ravel()]
    return np.concatenate([right, [ids[:-1].ravel(), ids[1:].ravel()]], axis=1)


def by_neighbour(rng):
    ends = rng.integers(0, 900, (2, 30_000))
    return ends[:, np.lexsort(ends)]


def swapped(rng):
    """In order, but for some that stand far from their places."""
    ends = canonical(rng)
    places = rng.permutation(ends.shape[1])[:200]
    ends[:, np.sort(places)] = ends[:, places]
    return ends


def one_vertex(rng):
    return np.array([np.zeros(20_000, np.int64), np.sort(rng.integers(0, 7, 20_000))])


ORDERS = {each.__name__: each for each in (canonical, grid, by_neighbour, swapped, one_vertex)}


def runs_of(ends, weight, backs):
    """Runs with tables of their own, cut at odd places, some turned over."""
    size, made = int(ends.max()) + 1, []
    cuts = np.arange(len(backs) + 1) * ends.shape[1] // len(backs)
    for k, back in enumerate(backs):
        part = slice(cuts[k], cuts[k + 1])
        table = np.random.default_rng(k).permutation(size).astype(np.uint32)
        codes = np.argsort(table).astype(np.uint32)[ends[:, part]]
        made.append(csr.Coo(*codes, table, {"weight": weight[part]}, back))
    return size, made


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("threads", [1, 3, 8])
@pytest.mark.parametrize(
    ("marked", "both", "backs"),
    [(False, False, [False]), (True, True, [False, False]), (True, False, [False, True, None])],
)
def test_rows_are_those_of_buckets(monkeypatch, order, threads, marked, both, backs):
    """Also where rows turn out to be in too little order, as those of both ends of edges by neighbour."""
    monkeypatch.setattr(placing, "_FEW", 0)
    monkeypatch.setattr(placing, "_DENSE", 1)
    ends = ORDERS[order](np.random.default_rng(4))
    weight = np.random.default_rng(5).random(ends.shape[1])
    found = []

    def noted(*given, **more):
        found.append(placed(*given, **more))
        return found[-1]

    with dask.config.set({"graphgpu.threads": threads}):
        monkeypatch.setattr(csr, "placed", lambda *given, **more: None)
        monkeypatch.setattr(csr, "_in_order", lambda *given: None)
        size, runs = runs_of(ends, weight, backs)
        wanted = csr.from_coo(size + 3, runs, np.uint32, marked=marked, both=both)
        monkeypatch.setattr(csr, "placed", noted)
        size, runs = runs_of(ends, weight, backs)
        rows = csr.from_coo(size + 3, runs, np.uint32, marked=marked, both=both)
    assert found[0] is not None or order in ("by_neighbour", "one_vertex")
    np.testing.assert_array_equal(rows.offsets, wanted.offsets)
    np.testing.assert_array_equal(rows.neighbours, wanted.neighbours)
    np.testing.assert_array_equal(rows.columns["weight"], wanted.columns["weight"])


def test_counters_do_not_outweigh_edges(monkeypatch):
    """However many threads there are; vertices with few edges go through buckets."""
    monkeypatch.setattr(placing, "_FEW", 0)
    ends = np.sort(np.random.default_rng(7).integers(0, 1000, (2, 8000)), axis=1).astype(np.uint32)
    blocks = [[csr.Coo(*part, np.empty(0, np.uint32))] for part in np.split(ends, 16, axis=1)]
    counters = []
    zeros = np.zeros
    monkeypatch.setattr(np, "zeros", lambda *given: counters.append(zeros(*given)) or counters[-1])
    sorted_rows = [(True, 1000, True), (True, 2000, True), (True, 2001, False)]
    for ordered, vertices, fits in (*sorted_rows, (False, 4000, True), (False, 4001, False)):
        counters.clear()
        how = {"marked": False, "both": False, "ordered": ordered}
        found = placed(vertices, blocks, np.uint32, {}, **how)
        assert (found is not None) is fits
        assert max((each.nbytes for each in counters), default=0) <= max(4 * 8000, 16 * vertices)


def test_edges_in_no_order_are_left_to_buckets(monkeypatch):
    monkeypatch.setattr(placing, "_FEW", 0)
    rng = np.random.default_rng(6)
    ends = rng.integers(0, 900, (2, 30_000))
    by_row = ends[:, np.argsort(ends[0], kind="stable")]
    sawtooth = np.array([np.zeros(30_000, np.int64), np.arange(30_000) % 900])
    for given in (ends, by_row, sawtooth):
        codes = given.astype(np.uint32)
        blocks = [[csr.Coo(*codes, np.empty(0, np.uint32))]]
        assert placed(900, blocks, np.uint32, {}, marked=False, both=False) is None
        assert sum(map(len, blocks[0])) == 30_000
