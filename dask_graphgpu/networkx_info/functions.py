"""The functions of the backend: which graphs they take, and when a call pays off.

Nothing here may import what is not imported with NetworkX: a script of small graphs reads no more than this.
"""

from __future__ import annotations

from typing import NamedTuple


class Offer(NamedTuple):
    """What is known of a function before a call.

    Attributes
    ----------
    kinds : tuple of str
        Which graphs it takes: "directed", "undirected", "simple" (no multigraphs), "no loops".
    least, least_kept : int or None
        Edges from which on it is faster than NetworkX, where the graph is yet to be converted and where that
        has been done. None: never.
    counted : str
        What is counted: each "edge"; each edge once for each "source" that is searched from; each "pair" of nodes
        that is asked for.
    """

    kinds: tuple[str, ...]
    least: int | None
    least_kept: int | None
    counted: str = "edge"


def _work(*kinds: str) -> Offer:
    """NetworkX takes microseconds an edge."""
    return Offer(kinds, 10_000, 1_000)


def _search(*kinds: str) -> Offer:
    """NetworkX takes less than a microsecond an edge, about what converting a graph takes."""
    return Offer(kinds, 100_000, 10_000)


def _count(*kinds: str) -> Offer:
    """NetworkX looks at nodes, or at lengths of rows: less than converting takes."""
    return Offer(kinds, None, 20_000)


def _each(*kinds: str) -> Offer:
    """NetworkX searches from every node."""
    return Offer(kinds, 10_000, 1_000, "source")


def _pairs(*kinds: str) -> Offer:
    """NetworkX takes microseconds a pair of nodes."""
    return Offer(kinds, 200_000, 20_000, "pair")


FUNCTIONS = {
    "adamic_adar_index": _pairs("undirected", "simple"),
    "all_pairs_bellman_ford_path_length": _each(),
    "all_pairs_dijkstra_path_length": _each(),
    "all_pairs_shortest_path": _each(),
    "all_pairs_shortest_path_length": _each(),
    "ancestors": _search(),
    "articulation_points": _work("undirected"),
    "attracting_components": _work("directed"),
    "average_clustering": _work("undirected", "simple"),
    "average_degree_connectivity": _search("undirected"),
    "average_neighbor_degree": _search(),
    "average_shortest_path_length": _each(),
    "barycenter": _each(),
    "bellman_ford_path_length": _work(),
    "betweenness_centrality": _each(),
    "bfs_edges": _search(),
    "bfs_layers": _search(),
    "bfs_predecessors": _search(),
    "bfs_successors": _search(),
    "bfs_tree": _search(),
    "biconnected_component_edges": _work("undirected", "no loops"),
    "biconnected_components": _work("undirected"),
    "bridges": _work("undirected"),
    "center": _each(),
    "closeness_centrality": _each(),
    "clustering": _work("undirected", "simple"),
    "color": _search("undirected"),
    "connected_components": _search("undirected"),
    "core_number": _work("undirected", "simple", "no loops"),
    "degree_assortativity_coefficient": _work(),
    "degree_centrality": _count(),
    "degree_pearson_correlation_coefficient": _work(),
    "descendants": _search(),
    "descendants_at_distance": _search(),
    "diameter": _each(),
    "dijkstra_path_length": _work(),
    "eccentricity": _each(),
    "edge_betweenness_centrality": _each("simple"),
    "eigenvector_centrality": _work("simple"),
    "global_efficiency": _each("undirected"),
    "harmonic_centrality": _each(),
    "has_bridges": _work("undirected"),
    "has_eulerian_path": _search(),
    "hits": _work(),
    "in_degree_centrality": _count("directed"),
    "is_arborescence": _search("directed"),
    "is_attracting_component": _work("directed"),
    "is_biconnected": _work("undirected"),
    "is_bipartite": _search("undirected"),
    "is_branching": _search("directed"),
    "is_connected": _search("undirected"),
    "is_directed_acyclic_graph": _work(),
    "is_eulerian": _search(),
    "is_forest": _search(),
    "is_k_regular": _count("undirected"),
    "is_regular": _count(),
    "is_semieulerian": _search(),
    "is_strongly_connected": _work("directed"),
    "is_tree": _search(),
    "is_weakly_connected": _search("directed"),
    "isolates": _count(),
    "jaccard_coefficient": _pairs("undirected", "simple"),
    "k_core": _work("undirected", "simple", "no loops"),
    "k_corona": _work("undirected", "simple", "no loops"),
    "k_crust": _work("undirected", "simple", "no loops"),
    "k_shell": _work("undirected", "simple", "no loops"),
    "k_truss": _work("undirected", "simple", "no loops"),
    "katz_centrality": _work("simple"),
    "leiden_communities": _work("undirected"),
    "louvain_communities": _work("undirected"),
    "maximum_spanning_edges": _work("undirected"),
    "maximum_spanning_tree": _work("undirected"),
    "minimum_spanning_edges": _work("undirected"),
    "minimum_spanning_tree": _work("undirected"),
    "modularity": _search(),
    "multi_source_dijkstra_path_length": _work("undirected"),
    "node_connected_component": _search("undirected"),
    "number_attracting_components": _work("directed"),
    "number_connected_components": _search("undirected"),
    "number_of_isolates": _count(),
    "number_of_selfloops": _count(),
    "number_strongly_connected_components": _work("directed"),
    "number_weakly_connected_components": _search("directed"),
    "out_degree_centrality": _count("directed"),
    "overall_reciprocity": _work("directed", "simple"),
    "pagerank": _work(),
    "periphery": _each(),
    "preferential_attachment": _pairs("undirected", "simple"),
    "radius": _each(),
    "reciprocity": _work("directed", "simple"),
    "resource_allocation_index": _pairs("undirected", "simple"),
    "s_metric": _search(),
    "sets": _search("undirected"),
    "shortest_path_length": _search(),
    "simple_cycles": _work("simple"),
    "single_source_bellman_ford_path_length": _work(),
    "single_source_dijkstra_path_length": _work(),
    "single_source_shortest_path": _search(),
    "single_source_shortest_path_length": _search(),
    "single_target_shortest_path": _search(),
    "single_target_shortest_path_length": _search(),
    "strongly_connected_components": _work("directed"),
    "transitivity": _work("undirected", "simple"),
    "triadic_census": _work("directed"),
    "triangles": _work("undirected", "simple"),
    "weakly_connected_components": _search("directed"),
    "wiener_index": _each(),
}
