"""Results of graphs whose size is known say in which partition each row is, so that joins need no shuffle."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from strategies import partitioned

import dask_graphgpu as dg

EDGES = pd.DataFrame({"src": [0, 1, 2, 3, 7, 7], "dst": [1, 2, 0, 4, 8, 9], "weight": 1.0})
PLACES = ("persisted", "saved")
CALLS = {
    "bfs": lambda g: g.bfs(0),
    "searches": lambda g: g.bfs([0, 7, 0], predecessor=True),
    "sssp": lambda g: g.sssp(7),
    "a path": lambda g: g.sssp(0, target=2),
    "pagerank": lambda g: g.pagerank(),
    "components": lambda g: g.weakly_connected_components(),
    "louvain": lambda g: g.louvain(),
    "degree": lambda g: g.degree(),
    "core": lambda g: g.k_core(1),
    "pairs": lambda g: g.jaccard(),
}
UNKNOWN = {"a path", "core", "pairs"}  # how many rows there are depends on the edges


def kept(place, folder, of=3):
    graph = partitioned(EDGES, of).graph(directed=False)
    return graph.persist() if place == "persisted" else dg.load(graph.save(folder / "saved"))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", CALLS)
def test_divisions_are_those_of_the_rows(name, place, tmp_path):
    found = CALLS[name](kept(place, tmp_path))
    assert found.known_divisions == (name not in UNKNOWN)
    if found.known_divisions:
        parts = [found.get_partition(i).compute().index for i in range(3)]
        assert found.divisions == (*(each[0] for each in parts), parts[-1][-1])
        dd.utils.assert_divisions(found)


def test_a_frame_does_not_know_them_before_it_is_read():
    assert not partitioned(EDGES, 3).graph().pagerank().known_divisions


def test_more_partitions_than_vertices(tmp_path):
    found = dg.load(partitioned(EDGES, 3).graph().save(tmp_path / "saved"), npartitions=20).degree()
    assert not found.known_divisions
    assert len(found.compute()) == 8


@pytest.mark.parametrize("place", PLACES)
def test_columns_of_several_results_are_put_together_without_a_shuffle(place, tmp_path):
    graph = kept(place, tmp_path)
    ranks, degree, components = (
        graph.pagerank(),
        graph.degree(),
        graph.weakly_connected_components(),
    )
    joined = dd.concat([ranks, degree[["degree"]], components[["component"]]], axis=1)
    assigned = graph.pagerank()
    assigned["degree"], assigned["component"] = degree["degree"], components["component"]
    merged = ranks.merge(degree[["degree"]], left_index=True, right_index=True)
    wanted = ranks.compute().assign(degree=degree.compute()["degree"])
    for found in (joined, assigned, merged):
        names = {type(each).__name__ for each in found.optimize(fuse=False).expr.walk()}
        assert not any("Shuffle" in name for name in names), names
        pd.testing.assert_frame_equal(found.compute()[list(wanted)], wanted)
    np.testing.assert_array_equal(joined["component"].compute(), components.compute()["component"])
