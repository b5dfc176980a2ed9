"""Graphs that a task of somebody else computes: on the cluster, or by itself."""

import cluster_cases as cases
import pandas as pd
import pytest

WORKERS = 3


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize(
    ("partitions", "scheduler"),
    [(0, None), (2, None), (2, "threads"), (2, "sync")],
    ids=["pandas", "cluster", "threads", "sync"],
)
def test_answers_are_the_same(client, ranks, partitions, scheduler):
    edges = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 3, 0]})
    wanted = edges.graph(ranks=1).bfs(0)
    for found in client.submit(cases.distances, edges, ranks, scheduler, partitions).result(60):
        pd.testing.assert_frame_equal(found.reset_index(drop=True), wanted)
