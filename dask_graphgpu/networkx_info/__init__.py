"""What NetworkX reads of its backends when it is imported.

Installed as ``_dask_graphgpu_networkx``: as a part of the package it would have Dask and pandas
imported with every ``import networkx``.
"""

from typing import Any

FUNCTIONS = (
    "betweenness_centrality",
    "clustering",
    "connected_components",
    "core_number",
    "descendants",
    "edge_betweenness_centrality",
    "is_connected",
    "is_strongly_connected",
    "is_weakly_connected",
    "node_connected_component",
    "number_connected_components",
    "number_strongly_connected_components",
    "number_weakly_connected_components",
    "pagerank",
    "single_source_dijkstra_path_length",
    "single_source_shortest_path_length",
    "strongly_connected_components",
    "triangles",
    "weakly_connected_components",
)


def get_info() -> dict[str, Any]:
    """Name, address and functions of the backend."""
    return {
        "backend_name": "graphgpu",
        "project": "dask_graphgpu",
        "package": "dask_graphgpu",
        "short_summary": "Graph analytics on the threads of a CPU, on GPUs and on clusters",
        "functions": {name: {} for name in FUNCTIONS},
    }
