"""What Dask sees of a result: what it reads, so that nothing of that is deleted, and its index."""

import os

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from accessor_calls import EDGES, each_call

import dask_graphgpu as dg

RANKS = pytest.mark.parametrize("ranks", [1, 2])


def vertices(at):
    return dd.from_pandas(pd.DataFrame({"vertex": range(6), "at": at}), npartitions=2)


@pytest.fixture
def network(tmp_path):
    """A folder with a folder of edges and one with vertices."""
    dd.from_pandas(EDGES, npartitions=3).to_parquet(tmp_path / "network" / "edges")
    vertices(range(6)).to_parquet(tmp_path / "network" / "vertices")
    return tmp_path / "network"


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


FRAMES = {
    "read": lambda edges: edges,
    "filtered": lambda edges: edges[edges["weight"] > 0],
    "chosen": lambda edges: edges[["dst", "src"]].partitions[0],
    "renamed": lambda edges: edges.rename(columns={"toll": "cost"}),
    "merged": lambda edges: edges.merge(edges[["src"]].drop_duplicates(), on="src"),
    "concatenated": lambda edges: dd.concat([edges, edges]),
    "a result": lambda edges: edges.graph.k_core(1),
}
WRITES = {
    "the folder": lambda frame, edges: frame.to_parquet(edges, overwrite=True),
    "later": lambda frame, edges: frame.to_parquet(edges, overwrite=True, compute=False),
    "its parent": lambda frame, edges: frame.to_parquet(edges.parent, overwrite=True),
    "a column": lambda frame, edges: frame[["rank"]].to_parquet(edges, overwrite=True),
    "no index": lambda frame, edges: frame.to_parquet(edges, overwrite=True, write_index=False),
    "joined": lambda frame, edges: frame.merge(vertices(range(6)), on="vertex").to_parquet(
        edges, overwrite=True
    ),
    "by Arrow": lambda frame, edges: frame.to_parquet(edges, overwrite=True, filesystem="arrow"),
}


@RANKS
@pytest.mark.parametrize("filesystem", ["fsspec", "arrow"])
@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_edges_that_are_read_are_not_overwritten(frame, filesystem, ranks, network):
    before = files(network)
    edges = frame(dd.read_parquet(network / "edges", filesystem=filesystem))
    result = edges.graph(ranks=ranks).pagerank()
    with pytest.raises(ValueError, match="Cannot overwrite a path that you are reading"):
        result.to_parquet(network / "edges", overwrite=True)
    assert files(network) == before


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_no_way_to_write_deletes_the_edges(write, network):
    before = files(network)
    result = dd.read_parquet(network / "edges").graph.pagerank()
    with pytest.raises(ValueError, match="Cannot overwrite a path that you are reading"):
        write(result, network / "edges")
    assert files(network) == before


@pytest.mark.parametrize("how", ["a list", "a pattern", "relative", "a file", "a link"])
def test_edges_that_are_named_in_other_ways(how, network, monkeypatch):
    before, edges = files(network), network / "edges"
    given = edges
    if how == "a list":
        given = [str(path) for path in files(edges)]
    elif how == "a pattern":
        given = f"{edges}/*.parquet"
    elif how == "relative":
        monkeypatch.chdir(network)
        given = "edges"
    elif how == "a file":
        given = files(edges)[0]
    else:
        given = network.parent / "link"
        given.symlink_to(edges)
    result = dd.read_parquet(given).graph.pagerank()
    with pytest.raises(ValueError, match="Cannot overwrite a path that you are reading"):
        result.to_parquet(edges, overwrite=True)
    assert files(network) == before


@RANKS
def test_other_things_that_are_read(ranks, network, tmp_path):
    """A vertices frame, a frame among the arguments, a saved graph, a checkpoint."""
    before, held = files(network), dd.read_parquet(network / "vertices")
    edges = dd.from_pandas(EDGES, npartitions=2)
    graph = edges.graph(ranks=ranks, vertices=held)
    given = edges.graph(ranks=ranks).persist().heat_simulation(held)
    for result in (graph.pagerank(), given):
        with pytest.raises(ValueError, match="Cannot overwrite a path that you are reading"):
            result.to_parquet(network / "vertices", overwrite=True)
    assert files(network) == before
    saved = EDGES.graph(ranks=1).save(tmp_path / "saved")
    with pytest.raises(ValueError, match="Cannot overwrite a path that you are reading"):
        dg.load(saved).pagerank().to_parquet(saved, overwrite=True)
    assert len(dg.load(saved).pagerank().compute()) == 6
    graph = dd.read_parquet(network / "edges").graph(ranks=ranks)
    with pytest.raises(ValueError, match="Cannot overwrite a path that you are reading"):
        graph.pagerank(checkpoint=tmp_path / "kept").to_parquet(tmp_path, overwrite=True)


def test_what_is_in_memory_may_be_overwritten(network):
    edges = network / "edges"
    graph = dd.read_parquet(edges).graph().persist()
    graph.pagerank().to_parquet(edges, overwrite=True)
    assert len(dd.read_parquet(edges)) == 6


def test_another_folder_is_overwritten_as_before(network):
    other = network / "edges-2"  # whose name begins with that of what is read
    os.mkdir(other)
    result = dd.read_parquet(network / "edges").graph.pagerank()
    result.to_parquet(other, overwrite=True)
    result.to_parquet(other, overwrite=True)
    assert len(dd.read_parquet(other)) == 6


# -- the index ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def random_edges():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"src": rng.integers(0, 200, 900), "dst": rng.integers(0, 200, 900)})


def beside_each_other(graph):
    """Columns of several results put side by side by Dask."""
    table = graph.pagerank()
    table["degree"] = graph.degree()["degree"]
    table = table.assign(cores=graph.core_number()["core_number"] + graph.degree()["degree"])
    return table.assign(other=graph.hits()["vertex"] - table["vertex"])


@RANKS
def test_columns_of_results_belong_to_their_vertices(ranks, random_edges):
    wanted = beside_each_other(random_edges.graph())
    assert wanted["other"].tolist() == [0] * 200
    for parts in (1, 2, 5):
        frame = dd.from_pandas(random_edges, npartitions=parts)
        found = beside_each_other(frame.graph(ranks=ranks)).compute().sort_index()
        pd.testing.assert_frame_equal(found, wanted)
        kept = beside_each_other(frame.graph(ranks=ranks).persist()).compute().sort_index()
        pd.testing.assert_frame_equal(kept, wanted)


def test_results_of_other_partitions_and_lengths_align_as_in_pandas(random_edges):
    """By the row, as the index says: rows that only one has are null in the other."""

    def table(graph, more):
        ranks = graph.pagerank()
        ranks["other"] = more.degree()["degree"]
        return ranks

    fewer = random_edges.iloc[:60]
    wanted = table(random_edges.graph(), fewer.graph())
    assert 0 < wanted["other"].isna().sum() < 200
    found = table(
        dd.from_pandas(random_edges, npartitions=4).graph(),
        dd.from_pandas(fewer, npartitions=3).graph(),
    )
    pd.testing.assert_frame_equal(found.compute().sort_index(), wanted)


@each_call
@RANKS
def test_the_index_counts_the_rows(call, ranks):
    found = call(dd.from_pandas(EDGES, npartitions=3).graph(ranks=ranks))
    whole = found.compute()
    pd.testing.assert_index_equal(whole.index, pd.RangeIndex(len(whole)))
    pieces = [found.partitions[i].compute() for i in range(found.npartitions)]
    pd.testing.assert_frame_equal(pd.concat(pieces), whole)
