"""The libraries that we are compared with, each by the fastest of its documented calls."""

from peers.graphblas import GraphBLAS
from peers.igraph import IGraph
from peers.networkit import NetworKit
from peers.peer import Peer
from peers.polars import Polars
from peers.scipy import SciPy

PEERS: dict[str, type[Peer]] = {
    peer.name: peer for peer in (SciPy, NetworKit, IGraph, GraphBLAS, Polars)
}

__all__ = ["PEERS", "GraphBLAS", "IGraph", "NetworKit", "Peer", "Polars", "SciPy"]
