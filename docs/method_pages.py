"""A page of the reference for each method of `Graph`, written when the docs are built."""

import re
from pathlib import Path

import click

import dask_graphgpu
from dask_graphgpu import where
from dask_graphgpu.algorithms import ALGORITHMS
from dask_graphgpu.jobs.cli import graph

PLACES = {
    "cpu": "CPU",
    "gpu": "GPU",
    "hybrid": "GPU and CPU together",
    "ranks": "several ranks",
    "host memory": "edges in host memory (GPU engine)",
    "disk": "edges on disk (CPU engine)",
}
# What others call it: search finds the page by these words.
ALSO_CALLED = {
    "articulation_points": "cut vertices",
    "belief_propagation": "FaBP, LinBP, node classification, guilt by association",
    "betweenness_centrality": "Brandes' algorithm",
    "bfs": "breadth-first search, hops, unweighted shortest paths, k-hop neighbours (with `cutoff=`)",
    "biconnected_components": "blocks, two-connected components",
    "bridges": "cut edges",
    "closeness_centrality": "HyperBall, mean distance, farness, Wasserman and Faust's formula",
    "clustering_coefficient": "local clustering coefficient, LCC",
    "core_number": "k-core decomposition, coreness",
    "cycles": "simple cycles, circuits, temporal cycles, rings of payments, round-tripping",
    "degree": "in-degree, out-degree, degree centrality",
    "earliest_arrival": "temporal paths, time-respecting paths, contact tracing",
    "distances": "many-to-many distances, distance matrix, OD matrix",
    "edge_betweenness_centrality": "Brandes' algorithm for edges",
    "ego": "ego network, ego graph, neighbourhood subgraph",
    "fastrp": "node embeddings, fast random projection",
    "harmonic_centrality": "HyperBall, valued centrality, inverse distances",
    "hits": "hubs and authorities",
    "jaccard": "node similarity, common neighbours",
    "k_core": "k-core subgraph",
    "k_shortest_paths": "Yen's algorithm, alternative routes, shortest simple paths",
    "k_truss": "truss decomposition",
    "label_propagation": "CDLP, community detection",
    "leiden": "community detection, clusters",
    "louvain": "community detection, clusters",
    "minimum_spanning_forest": "minimum spanning tree, MST, Boruvka's and Kruskal's algorithms",
    "motifs": "network motifs, graphlets, subgraph census, directed motifs of three and four vertices",
    "nearest": "nearest facility, points of interest, graph Voronoi cells, multi-source shortest paths",
    "neighbor_sample": "NeighborLoader, GraphSAGE, mini-batches, uniform neighbour sampling",
    "node2vec": "node embeddings, DeepWalk, skip-gram, word2vec of walks",
    "pagerank": "personalised PageRank (with `personalization=`), importance",
    "partition_quality": "modularity, coverage, conductance, cut size of given clusters",
    "project": "bipartite projection, co-occurrence, one-mode network",
    "random_walks": "biased random walk, random walk with restart",
    "run": "Pregel, vertex-centric program",
    "shortest_path": "route, path between two vertices",
    "similar": "node similarity, kNN graph, recommendations, link prediction, common neighbours",
    "ssnsp": "number of shortest paths, sigma",
    "sssp": "single-source shortest paths, Dijkstra's algorithm, distances",
    "sswp": "single-source widest paths, bottleneck or maximum-capacity paths",
    "strongly_connected_components": "SCC",
    "triad_census": "triadic census, directed motifs of three vertices",
    "triangle_count": "triangles",
    "vertex_motifs": "graphlet degrees, motif profile of a vertex, orbits added up",
    "weakly_connected_components": "connected components, WCC, union-find, clusters of pairs",
    "weighted_degree": "strength, in-strength, out-strength",
}
PAGE = """# {name}

```{{eval-rst}}
.. currentmodule:: dask_graphgpu
.. automethod:: Graph.{name}
```
"""
EXAMPLE = """
## Example

```python
{example}
```

:::{{dropdown}} The graph of the examples
```python
{graph}
```
:::
"""
RUNS = """
## Where it runs

{places}. See [What runs where](../where.md).
{command}"""
COMMAND = """
On the [command line](../command-line.md): `dask graph {call} --output OUT`.
"""
# What an option that has to be given takes, by what its help shows for it.
TAKES = {
    "ID": "0",
    "ID|PATH": "0",
    "NUMBER[,NUMBER...]": "10,5",
    "PATH|COL": "FILE",
    "NUMBER|PATH|COL": "FILE",
}


def names() -> list[str]:
    """The public methods of a graph."""
    graph = dask_graphgpu.Graph
    return [name for name in dir(graph) if name[0] != "_" and callable(getattr(graph, name))]


def examples() -> dict[str, str]:
    """What is shown for each method, and as "" the graph that it is shown on."""
    text = (Path(__file__).parent / "reference" / "examples.txt").read_text()
    graph, *sections = re.split(r"^== ", text, flags=re.MULTILINE)
    found = {"": graph.partition("\n\n")[2].strip()}
    for section in sections:
        name, _, shown = section.partition("\n")
        found[name] = shown.strip()
    return found


def call(name: str) -> str:
    """A method as a command, with the options that have to be given."""
    words = [name.replace("_", "-"), "EDGES"]
    for option in graph.get_command(click.Context(graph), words[0]).params:
        if option.required and isinstance(option, click.Option):
            if isinstance(option.type, click.Choice):
                value = option.type.choices[0]
            else:
                value = TAKES.get(option.metavar, "3" if option.type is click.INT else option.name)
            words += [option.opts[0], value]
    return " ".join(words)


def page(name: str) -> str:
    """The page of a method, in MyST's Markdown."""
    text = PAGE.format(name=name)
    if name in ALSO_CALLED:
        text += f"\nAlso called: {ALSO_CALLED[name]}.\n"
    shown = examples()
    if name in shown:
        text += EXAMPLE.format(example=shown[name], graph=shown[""])
    if name in ALGORITHMS:
        there = [words for place, words in PLACES.items() if name in where.methods(place)]
        command = "" if name == "run" else COMMAND.format(call=call(name))
        text += RUNS.format(places=", ".join(there), command=command)
    return text


def write(docs: Path) -> None:
    """Write all pages, and leave those that are the same as they are."""
    folder = docs / "reference" / "methods"
    folder.mkdir(exist_ok=True)
    pages = {f"{name}.md": page(name) for name in names()}
    for old in folder.iterdir():
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        if not (folder / name).exists() or (folder / name).read_text() != text:
            (folder / name).write_text(text)
