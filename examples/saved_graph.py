"""Build a graph once, save it, and ask the saved one, as another process would tomorrow.

Run ``python examples/imports.py imports.parquet`` first, then

    python examples/saved_graph.py imports.parquet saved
"""

import sys

import dask.dataframe as dd

import dask_graphgpu as dg


def build(edges, folder):
    dd.read_parquet(edges).graph().save(folder)


def ask(folder):
    graph = dg.load(folder)  # reads the manifest, maps the rest
    print(graph.explain())
    near = graph.bfs("asyncio", cutoff=1).dropna(subset=["distance"])
    print(f"asyncio imports {len(near) - 1} modules")


if __name__ == "__main__":
    edges, folder = sys.argv[1:] or ["imports.parquet", "saved"]
    build(edges, folder)
    ask(folder)
