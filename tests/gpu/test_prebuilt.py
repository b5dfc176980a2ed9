"""Machine code that comes with the package is what usual runs ask for; where it does not load, it is compiled."""

import contextlib

import numpy as np
import pandas as pd
import pytest

from dask_graphgpu.engine import driver
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.kernels import cuda_build, prebuilt
from dask_graphgpu.prebuild.usual import usual

pytestmark = pytest.mark.gpu

METHODS = {
    "bfs": lambda graph: graph.bfs(0, predecessor=True),
    "searches": lambda graph: graph.bfs([0, 1]),
    "sssp": lambda graph: graph.sssp(0, predecessor=True),
    "sswp": lambda graph: graph.sswp(0),
    "path": lambda graph: graph.shortest_path(0, 5),
    "pagerank": lambda graph: graph.pagerank(),
    "katz": lambda graph: graph.katz_centrality(1e-4),
    "eigenvector": lambda graph: graph.eigenvector_centrality(tolerance=1e-2),
    "hits": lambda graph: graph.hits(tolerance=1e-3),
    "closeness": lambda graph: graph.closeness_centrality(64),
    "betweenness": lambda graph: graph.betweenness_centrality([0, 1]),
    "components": lambda graph: graph.weakly_connected_components(),
    "strong components": lambda graph: graph.strongly_connected_components(),
    "labels": lambda graph: graph.label_propagation(5),
    "louvain": lambda graph: graph.louvain(),
    "leiden": lambda graph: graph.leiden(),
    "forest": lambda graph: graph.minimum_spanning_forest(),
    "cores": lambda graph: graph.core_number(),
    "trusses": lambda graph: graph.k_truss(),
    "triangles": lambda graph: graph.triangle_count(),
    "clustering": lambda graph: graph.clustering_coefficient(),
    "jaccard": lambda graph: graph.jaccard(),
    "ego": lambda graph: graph.ego(0),
    "walks": lambda graph: graph.random_walks(length=3),
}


def edges(weight):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.integers(0, 600, (4000, 2)), columns=["src", "dst"])
    return (
        frame if weight is None else frame.assign(weight=random.integers(1, 9, 4000).astype(weight))
    )


@pytest.mark.parametrize(
    ("weight", "ranks"),
    [(None, 1), ("int64", 1), ("float32", 1), ("float64", 1), (None, 2), ("float32", 2)],
)
def test_usual_runs_ask_for_nothing_else(monkeypatch, weight, ranks):
    if driver.num_gpus() < ranks:
        pytest.skip("there is one GPU")
    asked = {}
    build = cuda_build.texts

    def noted(whole, functions):
        texts = build(whole, functions)
        asked.setdefault(prebuilt.name_of(texts), []).append(whole[:300])
        return texts

    monkeypatch.setattr(cuda_build, "texts", noted)
    monkeypatch.setattr(cuda_build, "_modules", {})
    for directed in (True, False):
        graph = edges(weight).graph(directed=directed, engine="gpu", ranks=ranks).persist()
        for call in METHODS.values():
            with contextlib.suppress(InvalidArgument):  # no weights
                call(graph)
    # Weights of repeated rows are added up in a wider type, others are as they are.
    simple = edges(weight).drop_duplicates(["src", "dst"])
    METHODS["hits"](simple.graph(engine="gpu", ranks=ranks))
    assert len(asked) > 15
    made = {
        prebuilt.name_of(
            build(cuda_build.joined(each.source, each.defines, each.text), each.functions)
        )
        for each in usual()
    }
    assert not [head for name, head in asked.items() if name not in made]


def test_code_that_does_not_load_is_compiled(monkeypatch):
    right = edges(None).graph().bfs(0)
    monkeypatch.setattr(cuda_build, "_modules", {})
    monkeypatch.setattr(prebuilt, "code", lambda arch, texts: b"\x7fELF of nothing")
    graph = edges(None).graph(engine="gpu")
    with pytest.warns(RuntimeWarning, match="is compiled instead") as told:
        found = graph.bfs(0)
    assert any("bfs is compiled" in str(each.message) for each in told)
    pd.testing.assert_frame_equal(found, right)
