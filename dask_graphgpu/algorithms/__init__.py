"""The algorithms, one file each, by the name of the graph method.

It may import `arguments`, `checkpoint`, `engine`, `errors`, `exchange`, `fields`, `functions`, `io`, `optional`,
`partition`, `program`, `report` of the package.
"""

from dask_graphgpu.algorithms.algorithm import Algorithm, Resumable
from dask_graphgpu.algorithms.articulation_points import ArticulationPoints
from dask_graphgpu.algorithms.belief_propagation import BeliefPropagation
from dask_graphgpu.algorithms.best_links import BestLinks
from dask_graphgpu.algorithms.betweenness_centrality import (
    BetweennessCentrality,
    EdgeBetweennessCentrality,
)
from dask_graphgpu.algorithms.bfs import BFS
from dask_graphgpu.algorithms.biconnected_components import BiconnectedComponents
from dask_graphgpu.algorithms.bridges import Bridges
from dask_graphgpu.algorithms.circuit_simulation import CircuitSimulation
from dask_graphgpu.algorithms.closeness_centrality import ClosenessCentrality
from dask_graphgpu.algorithms.cluster_metrics import ClusterMetrics
from dask_graphgpu.algorithms.clustering_coefficient import ClusteringCoefficient
from dask_graphgpu.algorithms.coloring import Coloring
from dask_graphgpu.algorithms.core_number import CoreNumber
from dask_graphgpu.algorithms.cycles import Cycles
from dask_graphgpu.algorithms.degree import Degree
from dask_graphgpu.algorithms.distances import Distances
from dask_graphgpu.algorithms.earliest_arrival import EarliestArrival
from dask_graphgpu.algorithms.ego import Ego
from dask_graphgpu.algorithms.eigenvector_centrality import EigenvectorCentrality
from dask_graphgpu.algorithms.fastrp import FastRP
from dask_graphgpu.algorithms.harmonic_centrality import HarmonicCentrality
from dask_graphgpu.algorithms.heat_simulation import HeatSimulation
from dask_graphgpu.algorithms.hits import HITS
from dask_graphgpu.algorithms.jaccard import Jaccard
from dask_graphgpu.algorithms.k_core import KCore
from dask_graphgpu.algorithms.k_shortest_paths import KShortestPaths
from dask_graphgpu.algorithms.k_truss import KTruss
from dask_graphgpu.algorithms.katz_centrality import KatzCentrality
from dask_graphgpu.algorithms.khop_count import KhopCount
from dask_graphgpu.algorithms.label_propagation import LabelPropagation
from dask_graphgpu.algorithms.leiden import Leiden
from dask_graphgpu.algorithms.longest_path import LongestPath
from dask_graphgpu.algorithms.louvain import Louvain
from dask_graphgpu.algorithms.maximal_independent_set import MaximalIndependentSet
from dask_graphgpu.algorithms.minimum_spanning_forest import MinimumSpanningForest
from dask_graphgpu.algorithms.motifs import Motifs
from dask_graphgpu.algorithms.nearest import Nearest
from dask_graphgpu.algorithms.neighbor_aggregate import NeighborAggregate
from dask_graphgpu.algorithms.neighbor_sample import NeighborSample
from dask_graphgpu.algorithms.neural_network import NeuralNetwork
from dask_graphgpu.algorithms.node2vec import Node2Vec
from dask_graphgpu.algorithms.pagerank import PageRank
from dask_graphgpu.algorithms.partition_quality import PartitionQuality
from dask_graphgpu.algorithms.project import Project
from dask_graphgpu.algorithms.random_walks import RandomWalks
from dask_graphgpu.algorithms.run_program import RunProgram
from dask_graphgpu.algorithms.shortest_path import ShortestPath
from dask_graphgpu.algorithms.similar import Similar
from dask_graphgpu.algorithms.ssnsp import SSNSP
from dask_graphgpu.algorithms.sssp import SSSP
from dask_graphgpu.algorithms.sswp import SSWP
from dask_graphgpu.algorithms.strongly_connected_components import StronglyConnectedComponents
from dask_graphgpu.algorithms.topological_order import TopologicalOrder
from dask_graphgpu.algorithms.triad_census import TriadCensus
from dask_graphgpu.algorithms.triangle_count import TriangleCount
from dask_graphgpu.algorithms.vertex_motifs import VertexMotifs
from dask_graphgpu.algorithms.weakly_connected_components import WeaklyConnectedComponents
from dask_graphgpu.algorithms.weighted_degree import WeightedDegree

ALGORITHMS: dict[str, type[Algorithm]] = {
    "bfs": BFS,
    "sssp": SSSP,
    "sswp": SSWP,
    "ssnsp": SSNSP,
    "shortest_path": ShortestPath,
    "earliest_arrival": EarliestArrival,
    "k_shortest_paths": KShortestPaths,
    "distances": Distances,
    "nearest": Nearest,
    "pagerank": PageRank,
    "weakly_connected_components": WeaklyConnectedComponents,
    "strongly_connected_components": StronglyConnectedComponents,
    "cluster_metrics": ClusterMetrics,
    "partition_quality": PartitionQuality,
    "best_links": BestLinks,
    "core_number": CoreNumber,
    "k_core": KCore,
    "k_truss": KTruss,
    "bridges": Bridges,
    "articulation_points": ArticulationPoints,
    "biconnected_components": BiconnectedComponents,
    "triangle_count": TriangleCount,
    "clustering_coefficient": ClusteringCoefficient,
    "label_propagation": LabelPropagation,
    "jaccard": Jaccard,
    "similar": Similar,
    "project": Project,
    "minimum_spanning_forest": MinimumSpanningForest,
    "betweenness_centrality": BetweennessCentrality,
    "edge_betweenness_centrality": EdgeBetweennessCentrality,
    "closeness_centrality": ClosenessCentrality,
    "harmonic_centrality": HarmonicCentrality,
    "hits": HITS,
    "eigenvector_centrality": EigenvectorCentrality,
    "katz_centrality": KatzCentrality,
    "louvain": Louvain,
    "leiden": Leiden,
    "cycles": Cycles,
    "triad_census": TriadCensus,
    "motifs": Motifs,
    "vertex_motifs": VertexMotifs,
    "ego": Ego,
    "degree": Degree,
    "weighted_degree": WeightedDegree,
    "khop_count": KhopCount,
    "neighbor_aggregate": NeighborAggregate,
    "topological_order": TopologicalOrder,
    "longest_path": LongestPath,
    "random_walks": RandomWalks,
    "maximal_independent_set": MaximalIndependentSet,
    "coloring": Coloring,
    "neighbor_sample": NeighborSample,
    "fastrp": FastRP,
    "node2vec": Node2Vec,
    "belief_propagation": BeliefPropagation,
    "neural_network": NeuralNetwork,
    "heat_simulation": HeatSimulation,
    "circuit_simulation": CircuitSimulation,
    "run": RunProgram,
}

__all__ = [
    "ALGORITHMS",
    "BFS",
    "HITS",
    "SSNSP",
    "SSSP",
    "SSWP",
    "Algorithm",
    "ArticulationPoints",
    "BeliefPropagation",
    "BestLinks",
    "BetweennessCentrality",
    "BiconnectedComponents",
    "Bridges",
    "CircuitSimulation",
    "ClosenessCentrality",
    "ClusterMetrics",
    "ClusteringCoefficient",
    "Coloring",
    "CoreNumber",
    "Cycles",
    "Degree",
    "Distances",
    "EarliestArrival",
    "EdgeBetweennessCentrality",
    "Ego",
    "EigenvectorCentrality",
    "FastRP",
    "HarmonicCentrality",
    "HeatSimulation",
    "Jaccard",
    "KCore",
    "KShortestPaths",
    "KTruss",
    "KatzCentrality",
    "KhopCount",
    "LabelPropagation",
    "Leiden",
    "LongestPath",
    "Louvain",
    "MaximalIndependentSet",
    "MinimumSpanningForest",
    "Motifs",
    "Nearest",
    "NeighborAggregate",
    "NeighborSample",
    "NeuralNetwork",
    "Node2Vec",
    "PageRank",
    "PartitionQuality",
    "Project",
    "RandomWalks",
    "Resumable",
    "RunProgram",
    "ShortestPath",
    "Similar",
    "StronglyConnectedComponents",
    "TopologicalOrder",
    "TriadCensus",
    "TriangleCount",
    "VertexMotifs",
    "WeaklyConnectedComponents",
    "WeightedDegree",
]
