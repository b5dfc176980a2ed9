"""Sorting edges by buckets, against a sort of the whole list."""

import dask
import numpy as np
import pytest

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.partition import csr, row_sort


def edges(order, n=3_000, number=50_000):
    rng = np.random.default_rng(7)
    src, dst = (n * rng.random((2, number)) ** 2).astype(np.int64)
    if order == "by source":
        src.sort()
    elif order == "by destination":
        dst.sort()
    elif order == "by both":
        place = np.lexsort((dst, src))
        src, dst = src[place], dst[place]
    return n, src, dst, rng.random(number), rng.integers(0, 9, number).astype(np.uint8)


@pytest.mark.parametrize("way", ["in order", "placed", "buckets"])
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("order", ["none", "by source", "by both"])
def test_rows_in_any_order(order, both, way, monkeypatch):
    """Each edge is in its row, with what it carries, wherever there."""
    if way != "in order":
        monkeypatch.setattr(csr, "_in_order", lambda *given: None)
    if way == "buckets":
        monkeypatch.setattr(csr, "placed", lambda *given, **how: None)
    n, src, dst, weight, _ = edges(order, number=70_000)
    coo = csr.Coo(*(e.astype(np.uint32) for e in (src, dst)), np.empty(0, np.uint32), {"w": weight})
    rows = csr.from_coo(n, [coo], np.uint32, both=both, ordered=False)
    if both:
        turned = src != dst
        src, dst = np.concatenate([[src, dst], [dst[turned], src[turned]]], axis=1)
        weight = np.concatenate([weight, weight[turned]])
    np.testing.assert_array_equal(np.diff(rows.offsets), np.bincount(src, minlength=n))
    found = np.repeat(np.arange(n), np.diff(rows.offsets)), rows.neighbours, rows.columns["w"]
    wanted = src, dst, weight
    for a, b in zip(
        *([c[np.lexsort(of[::-1])] for c in of] for of in (found, wanted)), strict=True
    ):
        np.testing.assert_array_equal(a, b)


def assert_sorted(rows, n, src, dst, columns):
    place = np.lexsort((dst, src))  # stable: repeats stay in the order in which they came
    np.testing.assert_array_equal(rows.offsets, np.searchsorted(src[place], np.arange(n + 1)))
    np.testing.assert_array_equal(rows.neighbours, dst[place])
    for name, column in columns.items():
        np.testing.assert_array_equal(rows.columns[name], column[place])


@pytest.mark.parametrize("order", ["none", "by source", "by destination", "by both"])
@pytest.mark.parametrize("bucket", [1 << 6, 1 << 20])
@pytest.mark.parametrize("groups", [1 << 5, 1 << 16])
def test_rows_are_those_of_a_whole_sort(monkeypatch, order, bucket, groups):
    monkeypatch.setattr(row_sort, "_BUCKET", bucket)
    monkeypatch.setattr(row_sort, "_GROUPS", groups)
    n, src, dst, weight, kind = edges(order)
    columns = {"weight": weight, "kind": kind}
    with dask.config.set({"graphgpu.threads": 3}):
        rows = csr.from_edges(n, src, dst, columns)
        turned = csr.transpose(rows)
        carried = csr.transpose_column(rows, rows.columns["weight"])
    assert_sorted(rows, n, src, dst, columns)
    place = np.lexsort((dst, src))
    there = {name: column[place] for name, column in columns.items()}
    assert_sorted(turned, n, dst[place], src[place], there)
    np.testing.assert_array_equal(carried, turned.columns["weight"])


@pytest.mark.parametrize("swapped", [None, (0, 1), (29_999, 30_000), (49_998, 49_999)])
def test_runs_that_come_in_order_up_to_an_edge(swapped):
    """Codes of two tables; edges that repeat, vertices without edges at both ends, and two edges out of their order."""
    n, src, dst, weight, _ = edges("by both")
    src, dst, n = src + 5, dst + 5, n + 9
    repeats = (np.diff(src) == 0) & (np.diff(dst) == 0)
    assert repeats.any()
    if swapped is not None:
        lo, hi = swapped
        while src[lo] == src[hi] and dst[lo] == dst[hi]:
            lo -= 1
        for column in (src, dst):
            column[[lo, hi]] = column[[hi, lo]]
    tables = [
        np.arange(n, dtype=np.uint32),
        np.random.default_rng(8).permutation(n).astype(np.uint32),
    ]
    runs = []
    for table, part in zip(tables, (slice(0, 30_000), slice(30_000, None)), strict=True):
        codes = np.argsort(table).astype(np.uint32)
        runs.append(csr.Coo(codes[src[part]], codes[dst[part]], table, {"weight": weight[part]}))
    with dask.config.set({"graphgpu.threads": 3}):
        rows = csr.from_coo(n, runs, np.uint32)
    assert_sorted(rows, n, src, dst, {"weight": weight})


@pytest.mark.parametrize("n", [1, 2, (1 << 22) + 1, 1 << 25])
def test_keys_have_room_for_any_number_of_vertices(n):
    src = np.array([n - 1, 0, n // 2, n - 1, 0])
    dst = np.array([0, n - 1, n // 3, n - 1, 0])
    assert_sorted(csr.from_edges(n, src, dst), n, src, dst, {})


def test_what_is_moved_is_compiled_once_whether_it_may_be_written_or_not():
    """Columns of Arrow's may not, others may."""
    n, src, dst, _, kind = edges("none", number=100)
    fixed = kind.copy()
    fixed.flags.writeable = False
    for column in (kind, fixed):
        csr.from_edges(n, src, dst, {"kind": column})
        run = csr.Coo(src.astype(np.uint32), dst.astype(np.uint32), np.empty(0, np.uint32))
        run.columns["kind"] = column
        csr.mirror_sum([run], "kind")
    for kernel, name in ((kernels.row_sort.deal_edges, "column"), (kernels.csr.hash_edges, "bits")):
        place = kernel.py_func.__code__.co_varnames.index(name)
        assert {types[place].mutable for types in kernel.signatures} == {False}
