"""Dask-cuDF frames on a cluster with a worker for each of two GPUs."""

import dask.dataframe as dd
import pytest
from cluster_cases import addresses
from distributed import Client, wait
from frames_on_device import assert_same, edges

import dask_graphgpu  # noqa: F401  puts .graph on frames
from dask_graphgpu.engine import driver

pytest.importorskip("cudf")
pytest.importorskip("dask_cudf")
LocalCUDACluster = pytest.importorskip("dask_cuda").LocalCUDACluster

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(driver.num_gpus() < 2, reason="it takes two GPUs"),
]


def test_partitions_lie_on_the_workers_that_computed_them():
    frame = edges("skewed", n=3000, m=20_000)
    cluster = LocalCUDACluster(n_workers=2, dashboard_address=":0")
    with cluster, Client(cluster) as client:
        workers = addresses(client)
        given = dd.from_pandas(frame, npartitions=4).to_backend("cudf").persist()
        result = given.graph(ranks=2, directed=False).pagerank().persist()
        wait(result)
        held = {i: holders for (*_, i), holders in client.who_has(result).items()}
        assert held == {i: (workers[i // 2],) for i in range(4)}
        assert_same(result, frame.graph(engine="cpu", directed=False).pagerank())


@pytest.mark.parametrize("kind", ["random", "strings"])
def test_rows_of_edges_are_made_on_the_gpus_of_a_cluster(kind):
    frame = edges(kind, m=3000)
    ids = frame["src"].unique()[:40].tolist()
    calls = {
        "k_core": {"k": 2},
        "k_truss": {},
        "bridges": {},
        "biconnected_components": {},
        "minimum_spanning_forest": {},
        "jaccard": {},
        "edge_betweenness_centrality": {"sources": ids[:5]},
        "ego": {"center": ids[0], "radius": 2},
    }
    with LocalCUDACluster(n_workers=2, dashboard_address=":0") as cluster, Client(cluster):
        given = dd.from_pandas(frame, npartitions=3).to_backend("cudf").persist()
        graph = given.graph(ranks=2, directed=False).persist()
        host = frame.graph(engine="cpu", directed=False)
        for _ in range(2):  # of ids that are not there yet, and of those that are
            for name, how in calls.items():
                found, wanted = (getattr(each, name)(**how) for each in (graph, host))
                assert_same(found, wanted, by=list(wanted.columns[:3]))
        walks = {"start": ids, "length": 6, "seed": 2}
        assert_same(graph.random_walks(**walks), host.random_walks(**walks), by=["walk", "step"])
