"""The graph methods of `Graph`: one for each algorithm."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec

from dask_graphgpu import algorithms
from dask_graphgpu.algorithms import ALGORITHMS, Algorithm, Resumable
from dask_graphgpu.arguments import check_flag
from dask_graphgpu.checkpoint import Checkpointing
from dask_graphgpu.errors import briefly
from dask_graphgpu.inputs import Input
from dask_graphgpu.io.arrow_frames import taken
from dask_graphgpu.labelled import call
from dask_graphgpu.signatures import check_call, documentation_of, of_method, signature_of

P = ParamSpec("P")


def _method(algorithm: Callable[P, Algorithm]) -> Callable[Concatenate[Methods, P], Any]:
    """The graph method of an algorithm: its arguments and documentation are the dataclass's."""

    @briefly
    def method(self: Methods, /, *args: P.args, **kwargs: P.kwargs) -> Any:
        check_call(name, signature, args, kwargs)
        given = {argument: taken(value) for argument, value in kwargs.items()}
        asked = algorithm(*map(taken, args), **given)
        for flag, optional in flags.items():
            check_flag(flag, getattr(asked, flag), optional=optional)
        keeping = None
        if isinstance(asked, Resumable):
            keeping = Checkpointing.asked(asked.checkpoint, asked.resume)
        return self._back(call(asked, self._input, self._engine, keeping))

    name = next(name for name, kind in ALGORITHMS.items() if kind is algorithm)
    signature = signature_of(algorithm)
    flags = {
        field.name: "None" in str(field.type)  # whether it may be left out
        for field in dataclasses.fields(algorithm)  # type: ignore[arg-type]
        if str(field.type).startswith("bool")
    }
    method.__name__ = name
    method.__qualname__ = f"Graph.{name}"
    method.__doc__ = documentation_of(algorithm)
    method.__signature__ = of_method(signature)  # type: ignore[attr-defined]
    return method


class Methods:
    """A graph's input, its engine, and what makes of a result what users get; the methods on them."""

    _input: Input
    _engine: str
    _back: Callable[[Any], Any]

    bfs = _method(algorithms.BFS)
    sssp = _method(algorithms.SSSP)
    sswp = _method(algorithms.SSWP)
    ssnsp = _method(algorithms.SSNSP)
    shortest_path = _method(algorithms.ShortestPath)
    earliest_arrival = _method(algorithms.EarliestArrival)
    k_shortest_paths = _method(algorithms.KShortestPaths)
    distances = _method(algorithms.Distances)
    nearest = _method(algorithms.Nearest)
    pagerank = _method(algorithms.PageRank)
    weakly_connected_components = _method(algorithms.WeaklyConnectedComponents)
    strongly_connected_components = _method(algorithms.StronglyConnectedComponents)
    core_number = _method(algorithms.CoreNumber)
    k_core = _method(algorithms.KCore)
    k_truss = _method(algorithms.KTruss)
    bridges = _method(algorithms.Bridges)
    articulation_points = _method(algorithms.ArticulationPoints)
    biconnected_components = _method(algorithms.BiconnectedComponents)
    triangle_count = _method(algorithms.TriangleCount)
    clustering_coefficient = _method(algorithms.ClusteringCoefficient)
    label_propagation = _method(algorithms.LabelPropagation)
    jaccard = _method(algorithms.Jaccard)
    similar = _method(algorithms.Similar)
    project = _method(algorithms.Project)
    hits = _method(algorithms.HITS)
    eigenvector_centrality = _method(algorithms.EigenvectorCentrality)
    katz_centrality = _method(algorithms.KatzCentrality)
    louvain = _method(algorithms.Louvain)
    leiden = _method(algorithms.Leiden)
    cluster_metrics = _method(algorithms.ClusterMetrics)
    partition_quality = _method(algorithms.PartitionQuality)
    best_links = _method(algorithms.BestLinks)
    minimum_spanning_forest = _method(algorithms.MinimumSpanningForest)
    betweenness_centrality = _method(algorithms.BetweennessCentrality)
    edge_betweenness_centrality = _method(algorithms.EdgeBetweennessCentrality)
    cycles = _method(algorithms.Cycles)
    triad_census = _method(algorithms.TriadCensus)
    motifs = _method(algorithms.Motifs)
    vertex_motifs = _method(algorithms.VertexMotifs)
    closeness_centrality = _method(algorithms.ClosenessCentrality)
    harmonic_centrality = _method(algorithms.HarmonicCentrality)
    ego = _method(algorithms.Ego)
    degree = _method(algorithms.Degree)
    weighted_degree = _method(algorithms.WeightedDegree)
    khop_count = _method(algorithms.KhopCount)
    neighbor_aggregate = _method(algorithms.NeighborAggregate)
    topological_order = _method(algorithms.TopologicalOrder)
    longest_path = _method(algorithms.LongestPath)
    random_walks = _method(algorithms.RandomWalks)
    maximal_independent_set = _method(algorithms.MaximalIndependentSet)
    coloring = _method(algorithms.Coloring)
    neighbor_sample = _method(algorithms.NeighborSample)
    fastrp = _method(algorithms.FastRP)
    node2vec = _method(algorithms.Node2Vec)
    belief_propagation = _method(algorithms.BeliefPropagation)
    neural_network = _method(algorithms.NeuralNetwork)
    heat_simulation = _method(algorithms.HeatSimulation)
    circuit_simulation = _method(algorithms.CircuitSimulation)
    run = _method(algorithms.RunProgram)
