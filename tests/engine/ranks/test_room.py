"""What all ranks of a process take is counted before it is taken: all edges on each of them."""

import dask
import numpy as np
import pandas as pd
import pytest

from dask_graphgpu.errors import LimitTooSmall
from dask_graphgpu.exchange.alone import ALONE
from dask_graphgpu.exchange.local import run_local

EDGES = pd.DataFrame(np.random.default_rng(1).integers(0, 300, (3000, 2)), columns=["src", "dst"])


@pytest.mark.parametrize(
    ("method", "how"),
    [("triad_census", {}), ("motifs", {}), ("vertex_motifs", {}), ("cycles", {"max_length": 3})],
)
def test_all_edges_on_each_rank(method, how):
    with dask.config.set({"graphgpu.host-memory-limit": 500_000}):  # of one, not of three
        wanted = getattr(EDGES.graph(ranks=1), method)(**how)
        with pytest.raises(LimitTooSmall, match=r"[0-9] edges would take .* on each of 3 ranks"):
            getattr(EDGES.graph(ranks=3), method)(**how)
    with dask.config.set({"graphgpu.host-memory-limit": 1_500_000}):
        pd.testing.assert_frame_equal(getattr(EDGES.graph(ranks=3), method)(**how), wanted)


def test_ranks_of_a_host_and_of_a_process():
    assert ALONE.nearby() == (1, 1)
    assert run_local(3, lambda ranks: ranks.nearby()) == [(3, 3)] * 3
