"""One rank that is alone does what one of many does, and a border that nothing crosses brings nothing."""

import numpy as np
import pytest
import rank_cases

from dask_graphgpu.exchange.alone import ALONE, NoBorder
from dask_graphgpu.exchange.border import Border
from dask_graphgpu.exchange.local import run_local


@pytest.mark.parametrize(
    "case", rank_cases.COLLECTIVES[:-1]
)  # it sums up what no message could carry
def test_collectives(case):
    case(ALONE, 5)


def same(found, expected):
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("scalars", [None, np.array([3, 4]), np.array([0.5])])
def test_a_border_that_nothing_crosses(scalars):
    def crossed(border):
        values = np.arange(5.0)
        ids, every = border.refresh([values], np.ones(5, bool), scalars)
        ((told, theirs),), told_scalars = border.tell_owners(ids, values[:0], scalars)
        assert values.tolist() == [0, 1, 2, 3, 4]
        assert border.num_ghosts == 0
        return ids, every, told, theirs, told_scalars

    none = np.array([5, 5])
    (expected,) = run_local(
        1, lambda ranks: crossed(Border(ranks, 5, none, [np.empty(0, np.uint32)]))
    )
    for found, wanted in zip(crossed(NoBorder(5, np.dtype(np.uint32))), expected, strict=True):
        same(found, wanted)
