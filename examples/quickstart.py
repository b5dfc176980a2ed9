"""Ranks, distances and components of the standard library's import graph.

Run ``python examples/imports.py imports.parquet`` first, then

    python examples/quickstart.py imports.parquet
"""

import sys

import dask.dataframe as dd

import dask_graphgpu as dg


def main(path):
    edges = dd.read_parquet(path)
    graph = edges.graph().persist()  # columns source and destination, by name
    print(graph.explain())

    ranks = graph.pagerank()  # a Dask frame: nothing has run yet
    print("\nMost central modules")
    print(ranks.nlargest(5, "rank").compute().to_string(index=False))

    print("\nHow the run went")
    print(dg.last_report().tail(3).to_string(index=False))

    print("\nWhat asyncio needs, by the number of imports on the way")
    near = graph.bfs("asyncio", predecessor=True, cutoff=2).dropna(subset=["distance"])
    print(near.groupby("distance").size().compute().to_string())

    print("\nIn the densest tangle of imports")
    cores = edges.graph(directed=False).core_number()
    print(cores.nlargest(5, "core_number").compute().to_string(index=False))


if __name__ == "__main__":
    main(*sys.argv[1:] or ["imports.parquet"])
