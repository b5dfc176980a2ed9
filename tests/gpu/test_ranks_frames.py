"""Methods of frames on several GPUs."""

import numpy as np
import pandas as pd
import pytest
from device_rank_runs import SEVERAL, marks

import dask_graphgpu as dg
from dask_graphgpu import errors
from dask_graphgpu.engine import driver

pytestmark = marks


def frame():
    rng = np.random.default_rng(4)
    ends = rng.integers(0, 500, (2, 3000))
    weight = rng.integers(1, 20, 3000)
    return pd.DataFrame({"src": ends[0], "dst": ends[1], "weight": weight})


@pytest.mark.parametrize("size", SEVERAL)
def test_methods_of_frames(size):
    one = frame().graph(engine="cpu")
    several = frame().graph(engine="gpu", ranks=size)
    for name, arguments in (
        ("bfs", {"source": 3, "predecessor": True}),
        ("sssp", {"source": 3, "predecessor": True}),
        ("weakly_connected_components", {}),
        ("core_number", {}),
        ("degree", {}),
    ):
        found = getattr(several, name)(**arguments)
        assert dg.last_report().attrs["ranks"] == size
        pd.testing.assert_frame_equal(found, getattr(one, name)(**arguments))
    for name, arguments in (
        ("katz_centrality", {"alpha": 1e-4}),
        ("eigenvector_centrality", {"tolerance": 1e-10}),
        ("clustering_coefficient", {}),
    ):
        one, several = (
            frame().graph(directed=False, engine=engine, ranks=ranks)
            for engine, ranks in (("cpu", 1), ("gpu", size))
        )
        found = getattr(several, name)(**arguments)
        assert dg.last_report().attrs["ranks"] == size
        pd.testing.assert_frame_equal(found, getattr(one, name)(**arguments), rtol=1e-6)
    one, several = frame().graph(engine="cpu"), frame().graph(engine="gpu", ranks=size)
    ranks = several.pagerank()
    assert dg.last_report().attrs["ranks"] == size
    pd.testing.assert_frame_equal(ranks, one.pagerank(), rtol=1e-6)


def test_more_ranks_than_gpus_are_refused():
    with pytest.raises(errors.EngineUnavailable, match="have the same GPU"):
        frame().graph(engine="gpu", ranks=driver.num_gpus() + 1).pagerank()
