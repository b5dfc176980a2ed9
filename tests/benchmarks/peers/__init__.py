"""The libraries that we are compared with, each by the fastest of its documented calls.

A module of `PEERS` imports its library: who measures one loads that alone.
"""

import importlib

from peers.peer import Peer

# Those that come first tell the others when they are hopeless.
PEERS = {
    "SciPy": "scipy",
    "polars + SciPy": "polars",
    "DuckDB + SciPy": "duckdb",
    "GraphBLAS": "graphblas",
    "NetworKit": "networkit",
    "igraph": "igraph",
}


def load(name: str) -> type[Peer]:
    """The class of a peer; raises ImportError where its library is missing."""
    module = importlib.import_module(f"peers.{PEERS[name]}")
    kinds = (each for each in vars(module).values() if isinstance(each, type))
    return next(kind for kind in kinds if issubclass(kind, Peer) and vars(kind).get("name") == name)


__all__ = ["PEERS", "Peer", "load"]
