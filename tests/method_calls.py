"""Calls of the methods on graphs of vertices 0, 1, 2 ..., of which there are some thousand."""

import pandas as pd
from engine_programs import LABELS, LABELS_BACK

import dask_graphgpu  # noqa: F401  puts .graph on frames

SOME = pd.DataFrame({"vertex": [3, 5, 3, 9], "x": [0.5, 0.2, 0.1, 0.3]})
FEW = SOME.iloc[1:]
GROUPS = pd.DataFrame({"vertex": range(0, 3000, 2), "community": [v % 7 for v in range(1500)]})
STEPS = {"tolerance": 0, "max_iterations": 4}

METHODS = {
    "pagerank": lambda graph: graph.pagerank(),
    "pagerank delta": lambda graph: graph.pagerank(method="delta"),
    "pagerank of some": lambda graph: graph.pagerank(personalization=SOME),
    "pagerank delta of some": lambda graph: graph.pagerank(personalization=SOME, method="delta"),
    "pagerank from some": lambda graph: graph.pagerank(start=FEW),
    "pagerank delta from some": lambda graph: graph.pagerank(start=FEW, method="delta"),
    "heat": lambda graph: graph.heat_simulation(FEW, step=1e-6, **STEPS),
    "network": lambda graph: graph.neural_network(FEW, **STEPS),
    "circuit": lambda graph: graph.circuit_simulation(FEW, **STEPS),
    "beliefs": lambda graph: graph.belief_propagation(FEW, homophily=0.5001, **STEPS),
    "ego": lambda graph: graph.ego(990),
    "sswp": lambda graph: graph.sswp(source=3),
    "backwards": lambda graph: graph.run(LABELS_BACK),
    "both": lambda graph: graph.run(LABELS),
}

# Those that tests/algorithms has in every place where they run.
IN_PLACES = {
    "hits": lambda graph: graph.hits(),
    "hits unweighted": lambda graph: graph.hits(weighted=False),
    "eigenvector": lambda graph: graph.eigenvector_centrality(tolerance=0, max_iterations=3),
    "katz": lambda graph: graph.katz_centrality(1e-4, tolerance=0, max_iterations=3),
    "labels": lambda graph: graph.label_propagation(5),
    "labels from groups": lambda graph: graph.label_propagation(3, initial=GROUPS),
    "forest": lambda graph: graph.minimum_spanning_forest(),
    "strong components": lambda graph: graph.strongly_connected_components(),
    "cores": lambda graph: graph.core_number(),
    "k-core": lambda graph: graph.k_core(64),
    "trusses": lambda graph: graph.k_truss(),
    "bridges": lambda graph: graph.bridges(),
    "articulation points": lambda graph: graph.articulation_points(),
    "blocks": lambda graph: graph.biconnected_components(),
    "ssnsp": lambda graph: graph.ssnsp(source=3, dtype="float64"),
    "path": lambda graph: graph.shortest_path(3, 990),
    "path of hops": lambda graph: graph.shortest_path(3, 990, weighted=False),
    "paths": lambda graph: graph.k_shortest_paths(3, 990, 5),
    "distances": lambda graph: graph.distances([3, 5], SOME[["vertex"]]),
    "nearest": lambda graph: graph.nearest(SOME[["vertex"]], 2),
    "bfs": lambda graph: graph.bfs(source=3),
    "bfs cutoff": lambda graph: graph.bfs(source=3, cutoff=1),
    "bfs sources": lambda graph: graph.bfs(source=[3, 5]),
    "bfs 70 sources": lambda graph: graph.bfs(source=[*range(70)], target=[8, 9], cutoff=2),
    "bfs predecessor": lambda graph: graph.bfs(source=3, predecessor=True),
    "sssp": lambda graph: graph.sssp(source=3),
    "sssp target": lambda graph: graph.sssp(source=3, target=[9, 11]),
    "sssp predecessor": lambda graph: graph.sssp(source=[3, 5], predecessor=True),
    "earliest arrival": lambda graph: graph.earliest_arrival(3, "weight", strict=True),
    "betweenness": lambda graph: graph.betweenness_centrality(9, seed=2),
    "betweenness to the ends": lambda graph: graph.betweenness_centrality([3, 5], endpoints=True),
    "components": lambda graph: graph.weakly_connected_components(),
    "components by score": lambda graph: graph.weakly_connected_components(
        thresholds=[2, 5], max_size=100
    ),
    "metrics": lambda graph: graph.cluster_metrics(),
    "quality of groups": lambda graph: graph.partition_quality(GROUPS),
    "triads": lambda graph: graph.triad_census(),
    "motifs": lambda graph: graph.motifs(),
    "motifs of vertices": lambda graph: graph.vertex_motifs(),
    "cycles": lambda graph: graph.cycles(2),
    "best links": lambda graph: graph.best_links(),
    "components with labels": lambda graph: graph.weakly_connected_components(labels=FEW),
    "closeness": lambda graph: graph.closeness_centrality(130, seed=2),
    "closeness by hyperball": lambda graph: graph.closeness_centrality(
        method="hyperball", precision=5
    ),
    "harmonic centrality with weights": lambda graph: graph.harmonic_centrality(3, weighted=True),
    "harmonic centrality of some": lambda graph: graph.harmonic_centrality(target=[3, 5]),
    "degree": lambda graph: graph.degree(),
    "weighted degree": lambda graph: graph.weighted_degree(),
    "statistics of neighbours": lambda graph: graph.neighbor_aggregate(
        FEW, ["mean", "min", "count"], direction="both"
    ),
    "independent set": lambda graph: graph.maximal_independent_set(),
    "coloring": lambda graph: graph.coloring(seed=1),
    "vertices within hops": lambda graph: graph.khop_count(2),
    "vertices within hops of some": lambda graph: graph.khop_count(3, sources=70),
    "louvain": lambda graph: graph.louvain(),
    "leiden": lambda graph: graph.leiden(),
    "leiden with levels": lambda graph: graph.leiden(levels=True),
    "leiden of a size": lambda graph: graph.leiden(max_size=20),
    "leiden from groups": lambda graph: graph.leiden(initial=GROUPS),
    "triangles": lambda graph: graph.triangle_count(),
    "clustering": lambda graph: graph.clustering_coefficient(),
    "walks": lambda graph: graph.random_walks(length=4),
    "walks of node2vec": lambda graph: graph.random_walks(
        SOME[["vertex"]], length=4, weighted=True, p=0.5, q=2
    ),
    "samples": lambda graph: graph.neighbor_sample([3, 5], fanout=[3, 2]),
    "embeddings": lambda graph: graph.fastrp(3),
    "embeddings by walks": lambda graph: graph.node2vec(3, length=4, walks_per_vertex=1),
    "jaccard": lambda graph: graph.jaccard(),
    "similar": lambda graph: graph.similar(top_k=2, degree_cutoff=500),
    "edges between": lambda graph: graph.edge_betweenness_centrality(3),
}
