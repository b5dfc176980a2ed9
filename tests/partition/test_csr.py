"""Rows of neighbours against SciPy's sparse matrices."""

from dataclasses import replace

import dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_graphgpu.errors import IntegerOverflow
from dask_graphgpu.partition import csr, rowwise
from dask_graphgpu.partition.csr import Adjacency, Coo
from dask_graphgpu.partition.device import rowwise as device_rowwise


@st.composite
def coo(draw, max_vertices=12, max_edges=40):
    n = draw(st.integers(1, max_vertices))
    ends = st.lists(
        st.integers(0, n - 1), min_size=draw(st.integers(0, max_edges)), max_size=max_edges
    )
    src = draw(ends)
    dst = draw(st.lists(st.integers(0, n - 1), min_size=len(src), max_size=len(src)))
    weight = draw(st.lists(st.integers(0, 9), min_size=len(src), max_size=len(src)))
    return n, np.array(src, np.int64), np.array(dst, np.int64), np.array(weight, np.int64)


def pairs(adjacency: Adjacency) -> list[tuple[int, ...]]:
    """Rows, neighbours and weights as sorted tuples."""
    rows = np.repeat(np.arange(adjacency.num_vertices), adjacency.degrees).tolist()
    columns = [adjacency.neighbours.tolist()]
    if adjacency.weight is not None:
        columns.append(adjacency.weight.tolist())
    return sorted(zip(rows, *columns, strict=True))


def assert_rows_ascend(adjacency: Adjacency) -> None:
    for v in range(adjacency.num_vertices):
        row = adjacency.neighbours[adjacency.offsets[v] : adjacency.offsets[v + 1]]
        assert (np.diff(row.astype(np.int64)) >= 0).all()


@given(coo())
def test_from_edges_keeps_every_edge_in_ascending_rows(edges):
    n, src, dst, weight = edges
    rows = csr.from_edges(n, src, dst, {"weight": weight})
    assert pairs(rows) == sorted(zip(src.tolist(), dst.tolist(), weight.tolist(), strict=True))
    assert_rows_ascend(rows)
    assert rows.neighbours.dtype == np.uint32


@given(coo())
def test_transpose_turns_every_edge_and_back(edges):
    n, src, dst, weight = edges
    turned = csr.transpose(csr.from_edges(n, src, dst, {"weight": weight}))
    assert pairs(turned) == sorted(zip(dst.tolist(), src.tolist(), weight.tolist(), strict=True))
    assert_rows_ascend(turned)


@pytest.mark.parametrize("rule", ["min", "max", "sum"])
@given(edges=coo())
def test_merged_weights(rule, edges):
    n, src, dst, weight = edges
    merged = rowwise.merge_repeats(csr.from_edges(n, src, dst, {"weight": weight}), rule)
    expected: dict[tuple[int, int], int] = {}
    best = {"min": min, "max": max, "sum": lambda a, b: a + b}[rule]
    for u, v, w in zip(src.tolist(), dst.tolist(), weight.tolist(), strict=True):
        expected[u, v] = best(expected[u, v], w) if (u, v) in expected else w
    assert pairs(merged) == sorted((u, v, w) for (u, v), w in expected.items())


def test_unweighted_sum_counts_the_repeats():
    merged = rowwise.merge_repeats(
        csr.from_edges(2, np.array([0, 0, 1]), np.array([1, 1, 0])), "sum"
    )
    assert pairs(merged) == [(0, 1, 2), (1, 0, 1)]


def test_without_repeats_nothing_is_copied():
    rows = csr.from_edges(3, np.array([0, 1]), np.array([1, 2]))
    assert rowwise.merge_repeats(rows, "sum") is rows


def test_overflowing_sum_is_an_error():
    big = np.array([2**62, 2**62, 1])
    rows = csr.from_edges(2, np.array([0, 0, 1]), np.array([1, 1, 0]), {"weight": big})
    with pytest.raises(IntegerOverflow, match="float64"):
        rowwise.merge_repeats(rows, "sum")


@given(coo())
def test_union_is_every_edge_of_either_once(edges):
    n, src, dst, _ = edges
    rows = rowwise.merge_repeats(csr.from_edges(n, src, dst), "one")
    both = rowwise.union(rows, csr.transpose(rows))
    ends = set(zip(src.tolist(), dst.tolist(), strict=True))
    assert pairs(both) == sorted(ends | {(v, u) for u, v in ends})
    assert_rows_ascend(both)


def run_of(n, src, dst, weight):
    ends = src.astype(np.uint32), dst.astype(np.uint32)
    return Coo(*ends, np.arange(n, dtype=np.uint32), {"weight": weight})


@given(coo())
def test_both_ways_every_edge_but_a_loop_comes_twice(edges):
    n, src, dst, weight = edges
    rows = csr.from_coo(n, [run_of(n, src, dst, weight)], np.uint32, marked=True, both=True)
    there = list(zip(src.tolist(), dst.tolist(), weight.tolist(), strict=True))
    forward = [(u, 2 * v, w) for u, v, w in there]
    back = [(v, 2 * u + 1, w) for u, v, w in there if u != v]
    assert pairs(rows) == sorted(forward + back)
    assert_rows_ascend(rows)


@given(coo(), st.randoms())
def test_mirrored_edges_are_told(edges, random):
    n, src, dst, weight = edges
    there = list(zip(src.tolist(), dst.tolist(), weight.tolist(), strict=True))
    both = there + [(v, u, w) for u, v, w in there]
    random.shuffle(both)
    for rows in (there, both, both[:-1]):
        run = run_of(n, *np.array(rows, np.int64).reshape(-1, 3).T)
        wanted = sorted(rows) == sorted((v, u, w) for u, v, w in rows)
        assert csr.mirrored([run]) == wanted
        assert csr.mirrored([replace(run, table=run.table[:0])]) == wanted  # codes are vertices


@given(coo())
def test_sums_over_rows_and_neighbours(edges):
    n, src, dst, weight = edges
    rows = csr.from_edges(n, src, dst, {"weight": weight})
    np.testing.assert_array_equal(rowwise.sum_rows(rows), np.bincount(src, weight, n))
    np.testing.assert_array_equal(rowwise.sum_neighbours(rows), np.bincount(dst, weight, n))
    np.testing.assert_array_equal(rowwise.count_neighbours(rows), np.bincount(dst, minlength=n))
    np.testing.assert_array_equal(
        rowwise.count_loops(rows), np.bincount(src[src == dst], minlength=n)
    )


@given(coo(), st.data())
def test_least_weights_of_repeated_edges(edges, data):
    n, src, dst, weight = edges
    least = {}
    for u, v, w in zip(src.tolist(), dst.tolist(), weight.tolist(), strict=True):
        least[u, v] = min(w, least.get((u, v), w))
    rows = csr.from_edges(n, src, dst, {"weight": weight})
    pairs = data.draw(st.lists(st.sampled_from(sorted(least)))) if least else []
    ends = np.array(pairs, np.uint32).reshape(-1, 2)
    for of in (rowwise, device_rowwise):
        found = of.least_weights(rows, *ends.T)
        assert found.dtype == weight.dtype
        assert found.tolist() == [least[pair] for pair in pairs]


def test_many_blocks_give_the_rows_of_one():
    rng = np.random.default_rng(3)
    n, edges = 5_000, 200_000
    src, dst, weight = rng.integers(0, n, edges), rng.integers(0, n, edges), rng.random(edges)
    found = []
    for threads in (1, 4):
        with dask.config.set({"graphgpu.threads": threads}):
            rows = csr.from_edges(n, src, dst, {"weight": weight})
            found.append((rows, csr.transpose(rows), rowwise.merge_repeats(rows, "min")))
    for one, many in zip(*found, strict=True):
        np.testing.assert_array_equal(one.offsets, many.offsets)
        np.testing.assert_array_equal(one.neighbours, many.neighbours)
        np.testing.assert_array_equal(one.weight, many.weight)


def test_runs_with_tables_of_their_own():
    here = Coo(
        np.array([0, 1], np.uint32), np.array([1, 0], np.uint32), np.array([4, 2], np.uint64)
    )
    there = Coo(np.array([0], np.uint32), np.array([0], np.uint32), np.array([3], np.uint64))
    rows = csr.from_coo(5, [here, there], np.uint64)
    assert pairs(rows) == [(2, 4), (3, 3), (4, 2)]
    assert rows.neighbours.dtype == np.uint64


def test_what_is_only_moved_is_compiled_once_a_width():
    """Compiling takes longer than sorting any small graph."""
    from dask_graphgpu.kernels.cpu import row_sort

    ends = np.array([3, 0, 2, 0], np.uint32), np.array([0, 1, 3, 2], np.uint32)
    values = [0, 1, 2, 2**31 - 1]
    counts = set()
    for dtype in ("uint32", "int32", "float32"):
        column = np.array(values, dtype)
        made = csr.from_edges(4, *ends, {"weight": column})
        turned = csr.transpose(made)
        assert made.weight.dtype == turned.weight.dtype == column.dtype
        assert made.weight.tolist() == column[[1, 3, 2, 0]].tolist()
        assert turned.weight.tolist() == column[[0, 1, 3, 2]].tolist()
        kernels = row_sort.deal_edges, row_sort.deal_turned, row_sort.sort_buckets
        counts.add(tuple(len(kernel.signatures) for kernel in kernels))
    assert len(counts) == 1
