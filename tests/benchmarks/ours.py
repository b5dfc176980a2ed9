"""Our side: kernels on a built graph, and Parquet to Parquet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from graphs import BenchmarkGraph

from dask_graphgpu import algorithms
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.engine import load
from dask_graphgpu.graphs import Graph
from dask_graphgpu.io.output import write_parquet
from dask_graphgpu.io.tables.read import read_table
from dask_graphgpu.report import Report

PAGERANK_ITERATIONS = HITS_ITERATIONS = 50
LABEL_ITERATIONS = 10
RADIUS = 2  # of ego networks
SUBGRAPHS = ("k-core", "ego")  # whose answer is edges

CALLS: dict[str, Callable[[Graph, Any], Any]] = {
    "bfs": lambda g, source: g.bfs(source),
    "bfs, 64 sources": lambda g, sources: g.bfs(sources),
    "sssp": lambda g, source: g.sssp(source),
    "sssp, 16 sources": lambda g, sources: g.sssp(sources),
    "shortest path": lambda g, ends: g.shortest_path(*ends),
    "sswp": lambda g, source: g.sswp(source),
    "ssnsp": lambda g, source: g.ssnsp(source),
    "pagerank": lambda g, source: g.pagerank(
        tolerance=0, max_iterations=PAGERANK_ITERATIONS, weighted=False
    ),
    "pagerank float32": lambda g, source: g.pagerank(
        tolerance=0, max_iterations=PAGERANK_ITERATIONS, weighted=False, dtype="float32"
    ),
    "hits": lambda g, source: g.hits(tolerance=0, max_iterations=HITS_ITERATIONS, weighted=False),
    "components": lambda g, source: g.weakly_connected_components(),
    "strong components": lambda g, source: g.strongly_connected_components(),
    "core numbers": lambda g, source: g.core_number(),
    "k-core": lambda g, k: g.k_core(k),
    "ego": lambda g, source: g.ego(source, RADIUS),
    "spanning forest": lambda g, source: g.minimum_spanning_forest(),
    "betweenness": lambda g, source: g.betweenness_centrality(source),
    "edge betweenness": lambda g, source: g.edge_betweenness_centrality(source),
    "triangles": lambda g, source: g.triangle_count(),
    "clustering": lambda g, source: g.clustering_coefficient(),
    "jaccard": lambda g, pairs: g.jaccard(pd.DataFrame(pairs, columns=["src", "dst"])),
    "label propagation": lambda g, source: g.label_propagation(LABEL_ITERATIONS),
    "louvain": lambda g, source: g.louvain(weighted=False),
    "leiden": lambda g, source: g.leiden(weighted=False),
}


def _pagerank(dtype: str) -> algorithms.PageRank:
    return algorithms.PageRank(
        tolerance=0, max_iterations=PAGERANK_ITERATIONS, weighted=False, dtype=dtype
    )


# What makes the task from what it starts with, and whether it reads weights.
TASKS: dict[str, tuple[Callable[[Any], Any], bool]] = {
    "bfs": (algorithms.BFS, False),
    "bfs, 64 sources": (algorithms.BFS, False),
    "sssp": (algorithms.SSSP, True),
    "sssp, 16 sources": (algorithms.SSSP, True),
    "shortest path": (lambda ends: algorithms.ShortestPath(*ends), True),
    "sswp": (algorithms.SSWP, True),
    "ssnsp": (algorithms.SSNSP, False),
    "pagerank": (lambda _: _pagerank("float64"), False),
    "pagerank float32": (lambda _: _pagerank("float32"), False),
    "hits": (lambda _: algorithms.HITS(0, HITS_ITERATIONS, weighted=False), False),
    "components": (lambda _: algorithms.WeaklyConnectedComponents(), False),
    "strong components": (lambda _: algorithms.StronglyConnectedComponents(), False),
    "core numbers": (lambda _: algorithms.CoreNumber(), False),
    "k-core": (algorithms.KCore, False),
    "ego": (lambda center: algorithms.Ego(center, RADIUS), False),
    "spanning forest": (lambda _: algorithms.MinimumSpanningForest(), True),
    "betweenness": (algorithms.BetweennessCentrality, False),
    "edge betweenness": (algorithms.EdgeBetweennessCentrality, False),
    "triangles": (lambda _: algorithms.TriangleCount(), False),
    "clustering": (lambda _: algorithms.ClusteringCoefficient(), False),
    "label propagation": (lambda _: algorithms.LabelPropagation(LABEL_ITERATIONS), False),
    "louvain": (lambda _: algorithms.Louvain(weighted=False), False),
    "leiden": (lambda _: algorithms.Leiden(weighted=False), False),
}


class Ours:
    """A graph built once; ``kernels`` are the runs without reading and without frames."""

    name = "dask_graphgpu"

    def __init__(self, graph: BenchmarkGraph) -> None:
        self._graph = graph
        self._built = self._lazy().persist()._input.held.compute()

    def _lazy(self) -> Graph:
        return read_table(str(self._graph.path)).graph(directed=self._graph.directed)

    def kernel(self, algorithm: str, source: Any) -> Callable[[], Any]:
        """A run on the built graph; gives the answer in the order of the ids, both ends of edges as two arrays."""
        if algorithm == "jaccard":
            ends = [self._built.ids.find_rows([pa.array(end)])[0] for end in source.T]
            simple = self._built.view("one", False)
            return lambda: load("cpu").jaccard_of_pairs(simple, *ends, Report(algorithm))
        make, weighted = TASKS[algorithm]
        task = make(source)
        schema = self._lazy()._input.schema
        if not weighted:
            schema = replace(schema, weight=None)
        view = self._built.view(task.rule, weighted)

        def call() -> Any:
            run = Run(load("cpu"), view, self._built.ids, schema, Report(algorithm))
            table = task.run(run)
            if algorithm in SUBGRAPHS:
                return table["edge source"].data, table["edge destination"].data
            last = [name for name in table if name not in ("source", "modularity")][-1]
            return table[last].data

        return call

    def end_to_end(self, algorithm: str, source: Any, out: Path) -> Callable[[], None]:
        """From the Parquet file of edges to a Parquet folder of answers, as ``dask graph`` does."""

        def call() -> None:
            write_parquet(CALLS[algorithm](self._lazy(), source), out)

        return call
