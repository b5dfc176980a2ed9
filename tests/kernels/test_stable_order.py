"""The order that kernels put values in, against NumPy's."""

import numpy as np
import pytest

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.stable_order import stable_order


@jit
def order(values):
    return stable_order(values)


@pytest.mark.parametrize("kind", ["uint8", "float64"])
@pytest.mark.parametrize("size", [0, 1, 2, 19, 20, 21, 39, 40, 41, 81, 100, 1000])
def test_of_equal_values_the_first_is_first_and_nan_is_last(kind, size):
    rng = np.random.default_rng(size)
    for most in (1, 5, 200):
        values = rng.integers(0, most, size).astype(kind)
        if kind == "float64":
            values[rng.random(size) < 0.2] = np.nan
        for given in (values, np.sort(values), np.sort(values)[::-1].copy()):
            np.testing.assert_array_equal(order(given), np.argsort(given, kind="stable"))
