"""Methods on workers give what they give on one rank, whatever the graph is made of."""

import time
from itertools import cycle
from weakref import ref

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from cluster_cases import addresses, started
from strategies import partitioned

import dask_graphgpu as dg
from dask_graphgpu.cluster.holdings import holdings

WORKERS = 4

CALLS = {
    "bfs": lambda g: g.bfs([0, 7], target=[3, 5, 11], predecessor=True),
    "sssp": lambda g: g.sssp(0, predecessor=True),
    "sswp": lambda g: g.sswp(0),
    "ssnsp": lambda g: g.ssnsp(0),
    "pagerank": lambda g: g.pagerank(),
    "delta": lambda g: g.pagerank(method="delta"),
    "components": lambda g: g.weakly_connected_components(),
    "strong components": lambda g: g.strongly_connected_components(),
    "forest": lambda g: g.minimum_spanning_forest(),
    "betweenness": lambda g: g.betweenness_centrality(20, weighted=True),
    "edge betweenness": lambda g: g.edge_betweenness_centrality([3, 5, 8]),
    "clustering": lambda g: g.clustering_coefficient(),
    "triangles": lambda g: g.triangle_count(),
    "core_number": lambda g: g.core_number(),
    "k_core": lambda g: g.k_core(3),
    "ego": lambda g: g.ego(0, 2),
    "jaccard": lambda g: g.jaccard(),
    "jaccard of pairs": lambda g: g.jaccard(partitioned(pairs(), 7)),
    "bfs from many": lambda g: g.bfs(list(range(70))),
    "path": lambda g: g.shortest_path(0, 200),
    "degree": lambda g: g.degree(),
    "heat": lambda g: g.heat_simulation(
        pd.DataFrame({"vertex": [0, 1], "heat": [1.0, 2.0]}), step=0.001, tolerance=1e-4
    ),
    "program": lambda g: g.run(
        dg.VertexProgram(
            state={"least": dg.Field("id", initial=lambda id: id)},  # noqa: A006
            compute=lambda source_least: source_least,
            combine="min",
            edges="both",
        )
    ),
}


def edges(n=300, m=1200):
    rng = np.random.default_rng(3)
    ends = (n * rng.random((2, m)) ** 2).astype(np.int64)
    return pd.DataFrame({"src": ends[0], "dst": ends[1], "weight": rng.integers(1, 9, m)})


def pairs():
    drawn = edges()[["src", "dst"]].sample(frac=1, random_state=1)
    return drawn.assign(dst=drawn["src"].to_numpy()[::-1])


def assert_same(found, wanted):
    assert found.columns.tolist() == wanted.columns.tolist()
    assert found.dtypes.tolist() == wanted.dtypes.tolist()
    for name in wanted:
        if wanted[name].dtype.kind == "f":
            np.testing.assert_allclose(found[name], wanted[name], rtol=1e-9)
        else:
            assert found[name].tolist() == wanted[name].tolist(), name


@pytest.fixture(scope="module")
def graphs(client):
    """Directed and undirected, persisted on fewer ranks than there are workers, and on as many."""
    frame = partitioned(edges(), 5)
    return {
        directed: frame.graph(ranks=ranks, directed=directed).persist()
        for directed, ranks in ((True, 3), (False, 4))
    }


@pytest.mark.parametrize(("directed", "name"), list(zip(cycle([False, True]), CALLS)))
def test_answers_are_those_of_one_rank(graphs, name, directed):
    wanted = CALLS[name](edges().graph(ranks=1, directed=directed))
    found = CALLS[name](graphs[directed])
    assert found.npartitions == 5
    assert_same(found.compute(), wanted)


@pytest.mark.parametrize("partitioner", ["random", "biased_random"])
def test_partitioners(client, partitioner):
    graph = partitioned(edges(), 3).graph(ranks=3, partitioner=partitioner)
    assert_same(graph.sssp(0).compute(), edges().graph(ranks=1).sssp(0))


def test_ids_that_are_strings_and_a_vertices_frame(client):
    frame = edges().assign(
        src=lambda f: "v" + f["src"].astype(str), dst=lambda f: "v" + f["dst"].astype(str)
    )
    vertices = pd.DataFrame(
        {"vertex": ["alone", *(f"v{i}" for i in range(300))], "load": range(301)}
    )
    program = dg.VertexProgram(
        state={
            "most": dg.Field("int64", initial=lambda load: load),
            "load": dg.Field("int64", vertices="load"),
        },
        compute=lambda source_most: source_most,
        combine="max",
    )
    wanted = partitioned(frame, 4).graph(ranks=1, vertices=vertices)
    graph = partitioned(frame, 4).graph(ranks=4, vertices=partitioned(vertices, 2))
    for call in (lambda g: g.bfs("v0"), lambda g: g.run(program), lambda g: g.degree()):
        assert_same(call(graph).compute(), call(wanted).compute())


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"src": [5], "dst": [5]}),
        pd.DataFrame({"src": [1], "dst": [2]}),
        pd.DataFrame({"src": [1, 2, 2], "dst": [2, 1, 1], "weight": [2, 3, 1]}),
    ],
    ids=["a loop", "an edge", "repeats"],
)
def test_more_ranks_than_vertices(client, frame):
    source = int(frame["src"].iloc[0])
    for call in (
        lambda g: g.bfs(source),
        lambda g: g.pagerank(),
        lambda g: g.weakly_connected_components(),
        lambda g: g.core_number(),
        lambda g: g.degree(),
    ):
        found = call(dd.from_pandas(frame, npartitions=1).graph(ranks=4)).compute()
        assert_same(found, call(frame.graph(ranks=1)))


def test_parquet(client, tmp_path):
    edges().to_parquet(tmp_path / "a.parquet", row_group_size=100, index=False)
    edges(n=400, m=50).to_parquet(tmp_path / "b.parquet", row_group_size=20, index=False)
    whole = pd.concat([edges(), edges(n=400, m=50)])
    frame = dd.read_parquet(tmp_path)
    for call in (CALLS["sssp"], CALLS["k_core"], CALLS["components"]):
        assert_same(call(frame.graph(ranks=3)).compute(), call(whole.graph(ranks=1)))
        filtered = frame[frame["weight"] > 3].graph(ranks=3)
        assert_same(call(filtered).compute(), call(whole[whole["weight"] > 3].graph(ranks=1)))


def test_workers_in_one_process():
    with started(3, processes=False) as client:
        graph = partitioned(edges(), 4).graph(ranks=3).persist()
        for name in ("sssp", "pagerank", "components"):
            assert_same(CALLS[name](graph).compute(), CALLS[name](edges().graph(ranks=1)))
        assert len(graph.explain().shares) == len(addresses(client))
        workers = [ref(worker) for worker in client.cluster.workers.values()]
        shares = [ref(holdings(worker())) for worker in workers]
    # With the workers of a cluster goes what they held, also where the process goes on.
    until = time.monotonic() + 10
    while any(len(share()) for share in shares if share() is not None):
        assert time.monotonic() < until
        time.sleep(0.1)
