"""Labels that are paired become the smallest one that pairs lead to, by a table of all or of some."""

import numpy as np
import pytest

from dask_graphgpu.engine.ranks.joining import JoinedLabels

PAIRS = [[7, 3, 9, 20, 5], [3, 9, 7, 21, 20]]
SMALLEST = {3: 3, 7: 3, 9: 3, 5: 5, 20: 5, 21: 5, 4: 4}


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
@pytest.mark.parametrize("vertices", [30, 1])
def test_both_ways(dtype, vertices):
    joined = JoinedLabels.of(*np.array(PAIRS, dtype), 30, vertices)
    assert (joined.table is None) == (vertices == 30)
    labels = np.array([*SMALLEST], dtype)
    assert joined.smallest(labels).tolist() == [*SMALLEST.values()]
    assert joined.smallest(labels).dtype == dtype
    found = dict(zip(*joined.pairs().tolist(), strict=True))
    assert found == {label: least for label, least in SMALLEST.items() if label != least}
    again = JoinedLabels.of(*joined.pairs(), 30, vertices)
    assert again.smallest(labels).tolist() == [*SMALLEST.values()]


@pytest.mark.parametrize("vertices", [30, 1])
def test_no_pairs(vertices):
    joined = JoinedLabels.of(*np.empty((2, 0), np.uint32), 30, vertices)
    assert joined.pairs().tolist() == [[], []]
