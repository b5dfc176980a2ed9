"""Small graphs of NetworkX's."""

import networkx as nx
import numpy as np

KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]


def mixed(kind, seed):
    """A graph with self-loops, parts apart, weights on some edges, and nodes of several types."""
    rng = np.random.default_rng(seed)
    names = ["a", 3, (1, 2), None.__class__, 2.5, "b", frozenset("c"), -1, "3", *range(10, 22)]
    graph = kind()
    graph.add_nodes_from(names)
    for _ in range(45):
        u, v = (names[i] for i in rng.integers(len(names) - 2, size=2))
        graph.add_edge(u, v, **({"cost": int(rng.integers(1, 9))} if rng.random() < 0.8 else {}))
    return graph


def weighted(*values):
    graph = nx.path_graph(len(values) + 1)
    for i, value in enumerate(values):
        graph[i][i + 1]["weight"] = value
    return graph
