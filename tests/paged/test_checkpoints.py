"""Methods with checkpoint= on edges in pages on disk, cut short and gone on with."""

import dask
import numpy as np
import pandas as pd
import pytest
from engines import on_one_cpu

from dask_graphgpu import Checkpoint, last_report
from dask_graphgpu.errors import InvalidCheckpoint, NotConverged

pytestmark = on_one_cpu

VERTICES = 1000


@pytest.fixture
def limited(tmp_path):
    return {
        "graphgpu.host-memory-limit": "900kB",
        "graphgpu.page-bytes": 4096,
        "graphgpu.spill-directories": [str(tmp_path / "pages")],
    }


@pytest.fixture
def edges():
    made = np.random.default_rng(6)
    source, destination = made.integers(0, VERTICES, (2, 60_000))
    return pd.DataFrame({"src": source, "dst": destination, "weight": made.integers(1, 99, 60_000)})


def rank(graph, path, **arguments):
    kept = Checkpoint(path, seconds=None, supersteps=1)
    return graph.pagerank(tolerance=1e-12, checkpoint=kept, **arguments)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("after", [True, False])
def test_what_was_kept_goes_on(edges, limited, tmp_path, directed, before, after):
    graph, path, bare = edges.graph(directed=directed), tmp_path / "kept", {}
    wanted = graph.pagerank(tolerance=1e-12)
    of_all = len(last_report())
    with dask.config.set(limited if before else bare), pytest.raises(NotConverged):
        rank(graph, path, max_iterations=5)
    with dask.config.set(limited if after else bare):
        found = rank(graph, path, resume=True)
    assert (last_report().attrs["disk_bytes"] > 0) == after
    assert len(last_report()) == of_all - 5
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-12)
    assert not path.exists()


def test_a_checkpoint_of_other_edges_is_refused(edges, limited, tmp_path):
    other = edges.assign(weight=edges["weight"] + (edges.index == len(edges) - 1))
    with dask.config.set(limited):
        with pytest.raises(NotConverged):
            rank(edges.graph(), tmp_path / "kept", max_iterations=5)
        with pytest.raises(InvalidCheckpoint, match="the edges or their weights differ"):
            rank(other.graph(), tmp_path / "kept", resume=True)


def test_paths_go_on(edges, limited, tmp_path):
    wanted = edges.graph().sssp(0)
    with dask.config.set(limited):
        kept = Checkpoint(tmp_path / "kept", seconds=None, supersteps=1)
        pd.testing.assert_frame_equal(edges.graph().sssp(0, checkpoint=kept), wanted)
