"""The device chooses how far ranks go on as the host's policy says, over a table of what they may have told."""

import itertools

import cupy
import numpy as np
import pytest
from cut_graphs import cut
from device_rank_runs import on_ranks
from made_graphs import MadeGraph

from dask_graphgpu.engine.buckets import WIDEST, StretchPolicy, raised
from dask_graphgpu.engine.device_ranks.near_far import PriorityStretches
from dask_graphgpu.engine.known import DISTANCES

pytestmark = pytest.mark.gpu

FEW = 160
POLICY = StretchPolicy(few_edges=FEW, few_edges_a_value=4, edges_a_spare_value=16)
TABLE = itertools.product(
    (1, 2, 7, WIDEST // 2 + 1, WIDEST),  # buckets before
    (0, 100, FEW - 1, FEW, FEW + 1, 3 * FEW, 4 * FEW, 4 * FEW + 1, 12 * FEW + 1),  # edges
    (0, 1, 10, 11, 30, 31, FEW, 4 * FEW),  # values
    (1, 3),  # ranks
    (0, 5, 2**40),  # least priority
)


@pytest.fixture
def stretches(monkeypatch, request):
    """What a run that has ended has agreed on with."""
    seen, choose = [], PriorityStretches.choose
    monkeypatch.setattr(
        PriorityStretches, "choose", lambda self, every: (seen.append(self), choose(self, every))
    )
    weight = np.array([1, 2, 3], request.param)
    view = MadeGraph(4, np.arange(3), np.arange(1, 4), weight=weight).view()
    on_ranks(DISTANCES, cut(view, 1, "blocks", 2), sources=[0])
    return seen[0]


@pytest.mark.parametrize("stretches", ["int64", "float32"], indirect=True)
def test_next_stretch(stretches):
    whole, delta = stretches._lists.whole, 3
    for buckets, edges, values, ranks, least in TABLE:
        agreed = stretches._at_start.copy()
        agreed["buckets"], agreed["delta"], agreed["until"] = buckets, delta, 1
        agreed["few_edges"], agreed["ordered"] = FEW, 1
        told = np.zeros((ranks, 7), np.uint64)
        told[:, 0] = 1  # pending
        told[-1, 1], told[0, 2] = values, edges
        told[:, 6] = np.array(least, agreed["delta"].dtype).view(np.uint64)
        stretches._agreed.set(agreed.view(np.uint64))
        stretches.choose(cupy.asarray(told))
        found = cupy.asnumpy(stretches._agreed).view(agreed.dtype)[0]
        expected = POLICY.buckets(buckets, edges, values, ranks)
        assert found["buckets"] == expected, (buckets, edges, values, ranks)
        assert found["until"] == raised(least, expected * delta, whole)
        assert not found["over"]
