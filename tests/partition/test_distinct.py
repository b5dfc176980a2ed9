"""Distinct numbers."""

import ast

import numpy as np
import pytest
from package_modules import MODULES

from dask_graphgpu.partition.distinct import distinct, distinct_vertices


@pytest.mark.parametrize("dtype", ["int8", "uint32", "int64", "uint64", "float64"])
@pytest.mark.parametrize("size", [0, 1, 2, 1000])
def test_they_are_ascending_and_of_their_type(dtype, size):
    values = np.random.default_rng(size).integers(0, 100, size).astype(dtype)
    found = distinct(values)
    assert found.dtype == values.dtype
    assert found.tolist() == sorted(set(values.tolist()))


@pytest.mark.parametrize("total", [50, 100_000])
def test_distinct_vertices_by_a_table_and_by_sorting(total):
    numbers = np.random.default_rng(0).integers(0, 50, 200).astype(np.uint32)
    found, places = distinct_vertices(numbers, total)
    assert found.tolist() == sorted(set(numbers.tolist()))
    assert found.dtype == numbers.dtype
    np.testing.assert_array_equal(found[places], numbers)


def test_distinct_numbers_are_sorted_for():
    """`numpy.unique` that returns nothing else hashes: `distinct` sorts."""
    found = [
        f"{name}, line {node.lineno}"
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("np.unique", "np.union1d")
        and not any(each.arg and each.arg.startswith("return_") for each in node.keywords)
    ]
    assert not found
