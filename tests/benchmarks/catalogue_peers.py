"""Centralities, communities, paths, patterns and walks beside other libraries that are installed, on the CPU.

    python tests/benchmarks/catalogue_peers.py [--scale 13] [--large 18] [--side 40] [--repeats 3] [--only NAME ...]

Prints a Markdown table: the least seconds of calls by turns, ours after a first call, with answers in each library's
own form. ``--only`` takes the rows whose names begin so.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import scipy.sparse as sp

import dask_graphgpu  # noqa: F401  registers .graph

try:
    import networkit
except ImportError:
    networkit = None
try:
    import sknetwork
    import sknetwork.clustering
    import sknetwork.embedding
    import sknetwork.linkpred
    import sknetwork.ranking
    import sknetwork.topology
except ImportError:
    sknetwork = None
try:
    import node2vec
except ImportError:
    node2vec = None

LIBRARIES = ("ours", "igraph", "NetworKit", "scikit-network", "node2vec")


def skewed(scale: int) -> pd.DataFrame:
    """Eight undirected edges a vertex, drawn by a power, each once."""
    random, n = np.random.default_rng(1), 1 << scale
    ends = [(n * random.random(8 * n) ** 2).astype(np.int64) for _ in range(2)]
    ends = np.unique(np.sort(random.permutation(n)[np.stack(ends)], axis=0), axis=1)
    return pd.DataFrame(ends[:, ends[0] != ends[1]].T, columns=["src", "dst"])


def grid(side: int) -> pd.DataFrame:
    """A square grid with weights between 0 and 1."""
    v = np.arange(side * side).reshape(side, side)
    across, down = (v[:, :-1].ravel(), v[:, 1:].ravel()), (v[:-1].ravel(), v[1:].ravel())
    made = pd.DataFrame(np.concatenate([across, down], axis=1).T, columns=["src", "dst"])
    return made.assign(weight=np.random.default_rng(0).random(len(made)))


def sparse(scale: int) -> pd.DataFrame:
    """Five directed edges a vertex, evenly drawn, each once."""
    ends = np.random.default_rng(1).integers(0, 1 << scale, (5 << scale, 2))
    return pd.DataFrame(ends, columns=["src", "dst"]).drop_duplicates()


def in_igraph(frame: pd.DataFrame, *, directed: bool = False) -> igraph.Graph:
    ends = frame[["src", "dst"]]
    made = igraph.Graph(int(ends.max(axis=None)) + 1, ends.values.tolist(), directed=directed)
    if "weight" in frame:
        made.es["weight"] = frame["weight"].tolist()
    return made


def in_networkit(frame: pd.DataFrame) -> Any:
    made = networkit.Graph(int(frame.max(axis=None)) + 1)
    for source, destination in frame.itertuples(index=False):
        made.addEdge(source, destination)
    return made


def in_scipy(frame: pd.DataFrame) -> Any:
    """Both directions of each edge."""
    ends = frame[["src", "dst"]].to_numpy()
    ends = np.concatenate([ends, ends[:, ::-1]]).T
    n = int(ends.max()) + 1
    return sp.csr_matrix((np.ones(ends.shape[1]), ends), (n, n))


def scores(algorithm: Any) -> list[float]:
    algorithm.run()
    found: list[float] = algorithm.scores()
    return found


def rows(asked: argparse.Namespace) -> dict[str, dict[str, Callable[[], Any]]]:
    """Name -> library -> a call."""
    small, large, roads, pairs = (
        skewed(asked.scale),
        skewed(asked.large),
        grid(asked.side),
        sparse(asked.scale + 1),
    )
    ours = {"small": small, "large": large, "roads": roads}
    kept = {name: frame.graph(directed=False).persist() for name, frame in ours.items()}
    directed = pairs.graph().persist()
    theirs = {name: in_igraph(frame) for name, frame in ours.items()}
    of_pairs = in_igraph(pairs, directed=True)
    ends = np.random.default_rng(2).choice(len(theirs["roads"].vs), 100).tolist()
    ends = list(dict.fromkeys(ends))
    last = len(theirs["roads"].vs) - 1
    found: dict[str, dict[str, Callable[[], Any]]] = {
        "closeness_centrality, exact": {
            "ours": lambda: kept["small"].closeness_centrality(),
            "igraph": lambda: theirs["small"].closeness(),
        },
        "closeness_centrality, 256 sources": {
            "ours": lambda: kept["large"].closeness_centrality(256),
        },
        "eigenvector_centrality": {
            "ours": lambda: kept["large"].eigenvector_centrality(),
            "igraph": lambda: theirs["large"].eigenvector_centrality(),
        },
        "katz_centrality": {"ours": lambda: kept["large"].katz_centrality(alpha=1e-4)},
        "coloring": {
            "ours": lambda: kept["large"].coloring(),
            "igraph": lambda: theirs["large"].vertex_coloring_greedy(),
        },
        "distances, 100 x 100": {
            "ours": lambda: kept["roads"].distances(ends, ends),
            "igraph": lambda: theirs["roads"].distances(ends, ends, weights="weight"),
        },
        "k_shortest_paths, 10": {
            "ours": lambda: kept["roads"].k_shortest_paths(0, last, 10),
            "igraph": lambda: theirs["roads"].get_k_shortest_paths(
                0, to=last, k=10, weights="weight"
            ),
        },
        "cycles of up to 6 edges": {
            "ours": lambda: directed.cycles(6),
            "igraph": lambda: of_pairs.simple_cycles(max=6),
        },
        "triad_census": {
            "ours": lambda: directed.triad_census(),
            "igraph": lambda: of_pairs.triad_census(),
        },
        "motifs of 3": {
            "ours": lambda: directed.motifs(3),
            "igraph": lambda: of_pairs.motifs_randesu(3),
        },
        "motifs of 4": {
            "ours": lambda: directed.motifs(4),
            "igraph": lambda: of_pairs.motifs_randesu(4),
        },
        "vertex_motifs of 4": {"ours": lambda: directed.vertex_motifs(4)},
        "random_walks, 40 steps, p=0.5, q=2": {
            "ours": lambda: directed.random_walks(length=40, p=0.5, q=2.0),
        },
        "pagerank": {
            "ours": lambda: kept["large"].pagerank(),
            "igraph": lambda: theirs["large"].pagerank(),
        },
        "louvain": {
            "ours": lambda: kept["large"].louvain(),
            "igraph": lambda: theirs["large"].community_multilevel(),
        },
        "leiden": {
            "ours": lambda: kept["large"].leiden(),
            "igraph": lambda: theirs["large"].community_leiden("modularity"),
        },
        "label_propagation": {"ours": lambda: kept["large"].label_propagation(10)},
        "triangle_count": {"ours": lambda: kept["large"].triangle_count()},
        "core_number": {
            "ours": lambda: kept["large"].core_number(),
            "igraph": lambda: theirs["large"].coreness(),
        },
        "fastrp, 64 numbers": {"ours": lambda: kept["large"].fastrp(64)},
        "similar, cosine, top 10": {"ours": lambda: kept["small"].similar("cosine")},
    }
    if sknetwork is not None:
        for name, call in in_sknetwork(in_scipy(small), in_scipy(large)).items():
            found[name]["scikit-network"] = call
    if node2vec is not None:
        graph = nx.DiGraph(pairs[pairs["src"] != pairs["dst"]].to_numpy().tolist())
        found["random_walks, 40 steps, p=0.5, q=2"]["node2vec"] = lambda: node2vec.Node2Vec(
            graph, walk_length=41, num_walks=1, p=0.5, q=2.0, workers=1, quiet=True
        )
    if networkit is not None:
        central = networkit.centrality
        first, second = in_networkit(small), in_networkit(large)
        kind = central.ClosenessVariant.GENERALIZED
        more = {
            "closeness_centrality, exact": lambda: scores(central.Closeness(first, True, kind)),
            "closeness_centrality, 256 sources": lambda: scores(
                central.ApproxCloseness(second, 256)
            ),
            "eigenvector_centrality": lambda: scores(central.EigenvectorCentrality(second, 1e-6)),
            "katz_centrality": lambda: scores(central.KatzCentrality(second, 1e-4, 1.0, 1e-6)),
        }
        for name, call in more.items():
            found[name]["NetworKit"] = call
    return found


def in_sknetwork(small: Any, large: Any) -> dict[str, Callable[[], Any]]:
    """Name -> a call, of matrices; as it comes."""
    clustering, ranking, topology = sknetwork.clustering, sknetwork.ranking, sknetwork.topology
    projection = sknetwork.embedding.RandomProjection(64, random_state=0)
    return {
        "closeness_centrality, exact": lambda: ranking.Closeness("exact").fit_predict(small),
        "katz_centrality": lambda: ranking.Katz(damping_factor=1e-4).fit_predict(large),
        "pagerank": lambda: ranking.PageRank().fit_predict(large),
        "louvain": lambda: clustering.Louvain().fit_predict(large),
        "leiden": lambda: clustering.Leiden().fit_predict(large),
        "label_propagation": lambda: clustering.PropagationClustering(10).fit_predict(large),
        "triangle_count": lambda: topology.count_triangles(large),
        "core_number": lambda: topology.get_core_decomposition(large),
        "fastrp, 64 numbers": lambda: projection.fit_transform(large),
        "similar, cosine, top 10": lambda: sknetwork.linkpred.NNLinker(10).fit_predict(small),
    }


def seconds(calls: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """The least of calls by turns; ours are called once before."""
    calls["ours"]()
    taken: dict[str, list[float]] = {library: [] for library in calls}
    for _ in range(repeats):
        for library, call in calls.items():
            begun = time.perf_counter()
            call()
            taken[library].append(time.perf_counter() - begun)
    return {library: min(each) for library, each in taken.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("scale", 13), ("large", 18), ("side", 40), ("repeats", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--only", nargs="+", default=[""])
    asked = parser.parse_args()
    print(f"| | {' | '.join(LIBRARIES)} |\n|{' --- |' * (len(LIBRARIES) + 1)}")
    for name, calls in rows(asked).items():
        if not name.startswith(tuple(asked.only)):
            continue
        taken = seconds(calls, asked.repeats)
        cells = [f"{taken[each]:.3f}" if each in taken else "-" for each in LIBRARIES]
        print(f"| {' | '.join([name, *cells])} |", flush=True)


if __name__ == "__main__":
    main()
