"""What the GAP Benchmark Suite takes for the same graphs, in milliseconds: the kernel alone.

Figures of commit b5e3e19 (g++ 12.2 -O3 -fopenmp, its own trial times, the best of several) on two
cores of an Intel Cascade Lake at 2.5 GHz, not measured again here. Its weights are int32 and the
bucket width is the best of four, its PageRank is float32 and drops dangling rank.
"""

GAP: dict[str, dict[str, float]] = {
    "git-v2.0.0": {"bfs": 75.6, "sssp": 29.8, "pagerank": 624, "components": 39.1},
    "ego-twitter": {"bfs": 1.47, "sssp": 12.9, "pagerank": 92.5, "components": 1.75},
    "cnr-2000": {"bfs": 10.4, "sssp": 18.8, "pagerank": 143, "components": 8.81},
    "osm-andorra": {"bfs": 8.23, "sssp": 8.71, "pagerank": 33, "components": 3.33},
    "R-MAT 20 x 16": {"bfs": 20, "sssp": 264, "pagerank": 3380, "components": 58.9},
    "grid 1000 x 1000": {"bfs": 320, "sssp": 155, "pagerank": 389, "components": 9.83},
}


def gap(graph: str, algorithm: str) -> float | None:
    """Milliseconds; None where the suite lacks the algorithm or the graph."""
    return GAP.get(graph, {}).get(algorithm.removesuffix(" float32"))
