"""A saved graph opened by the workers of a cluster, each of which maps its files."""

import numpy as np
import pandas as pd
import pytest

import dask_graphgpu as dg
from dask_graphgpu import errors


@pytest.fixture
def saved(tmp_path):
    rng = np.random.default_rng(1)
    edges = pd.DataFrame(rng.integers(0, 500, (4000, 2)), columns=["src", "dst"])
    edges["weight"] = rng.integers(1, 9, 4000)
    return edges.graph().save(tmp_path / "saved")


def test_answers_and_what_is_told(client, saved):
    wanted, graph = dg.load(saved), dg.load(saved, ranks=2)
    for call in (lambda g: g.sssp(3), lambda g: g.pagerank(), lambda g: g.triangle_count()):
        found = call(graph).compute()
        assert dg.last_report().attrs["ranks"] == 2
        pd.testing.assert_frame_equal(
            found.reset_index(drop=True), call(wanted).compute().reset_index(drop=True), rtol=1e-9
        )
    plan = graph.explain()
    assert (plan.ranks, plan.rows, plan.vertices) == (2, 4000, wanted.explain().vertices)


def test_a_folder_that_is_gone(client, saved):
    manifest = saved / "manifest.json"
    content = manifest.read_bytes()
    graph = dg.load(saved, ranks=2)
    assert len(graph.degree().compute()) > 0  # the shares are in memory
    manifest.unlink()
    assert len(graph.pagerank().compute()) > 0
    with pytest.raises(errors.InvalidSavedGraph, match="torn"):
        dg.load(saved, ranks=2)
    manifest.write_bytes(content)
