"""Serial answers to compare with, each by another method than the one under test.

Graphs are given as they were drawn: `n`, a list of edges (source, destination) or (source, destination, weight), and
whether they are directed. Values are plain Python numbers, so integers are exact.
"""

import heapq
import math
from collections import Counter, defaultdict, deque

import networkx as nx
import numpy as np


def _arcs(edges, directed):
    """Edges as (source, destination, weight); those of an undirected graph in both directions."""
    arcs = [(edge[0], edge[1], edge[2] if len(edge) > 2 else 1) for edge in edges]
    if not directed:
        arcs += [(v, u, weight) for u, v, weight in arcs if u != v]
    return arcs


def _rows(edges, directed):
    rows = defaultdict(list)
    for u, v, weight in _arcs(edges, directed):
        rows[u].append((v, weight))
    return rows


def bfs(n, edges, source, *, directed=True):
    """Hops by vertex, for the reached vertices: a queue and a dict."""
    rows = _rows(edges, directed)
    hops = {source: 0}
    queue = deque([source])
    while queue:
        u = queue.popleft()
        for v, _ in rows[u]:
            if v not in hops:
                hops[v] = hops[u] + 1
                queue.append(v)
    return hops


def dijkstra(n, edges, source, *, directed=True):
    """Distance by vertex, for the reached vertices: settled in order by a heap."""
    rows = _rows(edges, directed)
    settled = {}
    heap = [(0, source)]
    while heap:
        distance, u = heapq.heappop(heap)
        if u in settled:
            continue
        settled[u] = distance
        for v, weight in rows[u]:
            if v not in settled:
                heapq.heappush(heap, (distance + weight, v))
    return settled


def simple_paths(edges, source, target, *, directed=True):
    """All paths without a vertex twice, as (length, vertices), by length, hops and vertices in turn: depth-first."""
    least = {}
    for u, v, weight in _arcs(edges, directed):
        least[u, v] = min(weight, least.get((u, v), weight))
    rows = _rows([(*pair, weight) for pair, weight in least.items()], directed=True)
    found = []

    def go_on(path, length):
        if path[-1] == target:
            found.append((length, path))
            return
        for v, weight in rows[path[-1]]:
            if v not in path:
                go_on([*path, v], length + weight)

    go_on([source], 0)
    return sorted(found, key=lambda pair: (pair[0], len(pair[1]), pair[1]))


def widest_path(n, edges, source, *, directed=True):
    """Largest smallest weight of a path by vertex, for the reached vertices: edges added from heavy to light.

    A vertex has the width of the weight at which it is first reached. The source has infinity.
    """
    width = {source: math.inf}
    arcs = _arcs(edges, directed)
    for threshold in sorted({weight for _, _, weight in arcs}, reverse=True):
        heavy = [(u, v) for u, v, weight in arcs if weight >= threshold]
        for v in bfs(n, heavy, source):
            width.setdefault(v, threshold)
    return width


def earliest_arrival(edges, source, start, *, strict, directed):
    """Arrival by vertex, for the reached ones: edges are gone over from early to late.

    Those of one time, again and again until nobody is reached, or ``strict`` once from who was there before.
    """
    arrival = {source: start}
    arcs = [arc for arc in _arcs(edges, directed) if arc[2] >= start]
    for time in sorted({time for _, _, time in arcs}):
        now = [(u, v) for u, v, at in arcs if at == time]
        there = set(arrival)
        while new := {v for u, v in now if u in there} - set(arrival):
            arrival |= dict.fromkeys(new, time)
            there |= set() if strict else new
    return arrival


def path_counts(n, edges, source, *, directed=True):
    """Number of paths of fewest edges by vertex, for the reached vertices, as exact integers.

    Walks of k edges are counted for k = 0, 1, ..: the first k with any is the distance, and walks of that length are
    the shortest paths.
    """
    arcs = {(u, v) for u, v, _ in _arcs(edges, directed)}
    found = {}
    walks = {source: 1}
    for _ in range(n):
        for v, number in walks.items():
            found.setdefault(v, number)
        longer = defaultdict(int)
        for u, v in arcs:
            if u in walks:
                longer[v] += walks[u]
        walks = longer
    return found


def components(n, edges, rank=None):
    """For each vertex the member of its component that is smallest by `rank`: union-find over sets."""
    rank = range(n) if rank is None else rank
    members = {v: {v} for v in range(n)}
    for u, v, *_ in edges:
        a, b = members[u], members[v]
        if a is not b:
            a, b = (a, b) if len(a) >= len(b) else (b, a)
            a |= b
            for w in b:
                members[w] = a
    return [min(members[v], key=lambda w: rank[w]) for v in range(n)]


def strong_components(n, edges, rank=None, *, directed=True):
    """For each vertex the smallest by `rank` of those that it reaches and that reach it."""
    rank = range(n) if rank is None else rank
    reached = [bfs(n, edges, v, directed=directed).keys() for v in range(n)]
    return [
        min((w for w in reached[v] if v in reached[w]), key=lambda w: rank[w]) for v in range(n)
    ]


def dependencies(n, graph, sources, weight=None):
    """Sum over sources s and all t of the part of the paths from s to t that go through a vertex, not ending there.

    By counting all paths between all pairs in a NetworkX graph over 0 .. n - 1: Bellman's equations, no accumulation.
    """
    distance = dict(nx.all_pairs_dijkstra_path_length(graph, weight=weight or (lambda *_: 1)))
    count = {}
    for s in range(n):
        count[s] = defaultdict(int, {s: 1})
        for v in sorted(distance[s], key=distance[s].get):
            for u in graph.predecessors(v) if graph.is_directed() else graph[v]:
                step = graph[u][v][weight] if weight else 1
                if u != v and u in distance[s] and distance[s][u] + step == distance[s][v]:
                    count[s][v] += count[s][u]
    sums = [0.0] * n
    for s in sources:
        for v in distance[s]:
            for t in distance[v]:
                ends = s != v != t and t in distance[s]
                if ends and math.isclose(distance[s][v] + distance[v][t], distance[s][t]):
                    sums[v] += count[s][v] * count[v][t] / count[s][t]
    return sums


def spanning_forest(n, edges, rank):
    """Edges (smaller end by `rank`, larger, weight) of the minimum spanning forest: Kruskal's, with sets.

    Sorted by their ends; of equal weights the edge with the smaller ends comes first.
    """
    order = sorted(range(n), key=rank.__getitem__)
    ends = [(w, *sorted((rank[u], rank[v]))) for u, v, w in _arcs(edges, directed=True) if u != v]
    tree = {v: {v} for v in range(n)}
    taken = []
    for weight, low, high in sorted(ends):
        a, b = tree[low], tree[high]
        if a is not b:
            taken.append((low, high, weight))
            a |= b
            for v in b:
                tree[v] = a
    return [(order[low], order[high], weight) for low, high, weight in sorted(taken)]


def core_numbers(n, edges):
    """Core numbers: for each k, delete vertices of degree below k until there are none."""
    neighbours = {v: set() for v in range(n)}
    for u, v, *_ in edges:
        if u != v:
            neighbours[u].add(v)
            neighbours[v].add(u)
    core = [0] * n
    k = 0
    while neighbours:
        for v in neighbours:
            core[v] = k
        k += 1
        while weak := [v for v, others in neighbours.items() if len(others) < k]:
            for v in weak:
                del neighbours[v]
            for others in neighbours.values():
                others.difference_update(weak)
    return core


def triangles(n, edges):
    """Triangles by vertex: the trace of the third power of the matrix, one row at a time."""
    matrix = np.zeros((n, n), np.int64)
    for u, v, *_ in edges:
        if u != v:
            matrix[u, v] = matrix[v, u] = 1
    return (np.diag(matrix @ matrix @ matrix) // 2).tolist()


def clustering(n, edges, *, directed=True):
    """LDBC's local clustering coefficient by vertex: edges among the neighbours, pair by pair."""
    arcs = {(u, v) for u, v, _ in _arcs(edges, directed) if u != v}
    found = []
    for v in range(n):
        near = {a for a, b in arcs if b == v} | {b for a, b in arcs if a == v}
        pairs = [(a, b) for a in near for b in near if a != b]
        found.append(sum(pair in arcs for pair in pairs) / max(len(pairs), 1))
    return found


def label_propagation(n, edges, iterations, *, directed=True, rank=None, start=None):
    """The vertex whose label each has: counters over sets of edges, all vertices at once."""
    rank = range(n) if rank is None else rank
    arcs = {(u, v) for u, v, _ in _arcs(edges, directed) if u != v}
    label = list(range(n) if start is None else start)
    for _ in range(iterations):
        votes = [Counter() for _ in range(n)]
        for u, v in arcs:
            votes[v][label[u]] += 1
            if directed:
                votes[u][label[v]] += 1
        label = [
            min(votes[v], key=lambda x: (-votes[v][x], rank[x])) if votes[v] else label[v]
            for v in range(n)
        ]
    return label


def pagerank(n, edges, *, damping=0.85, directed=True, personalization=None):
    """Ranks as the solution of the dense linear system; dangling mass goes where restarts go."""
    restart = np.full(n, 1 / n) if personalization is None else np.asarray(personalization, float)
    restart = restart / restart.sum()
    step = np.zeros((n, n))  # step[v, u]: probability of going from u to v
    for u, v, weight in _arcs(edges, directed):
        step[v, u] += weight
    total = step.sum(axis=0)
    step[:, total > 0] /= total[total > 0]
    step[:, total == 0] = restart[:, None]
    return np.linalg.solve(np.eye(n) - damping * step, (1 - damping) * restart)


def predecessors(n, edges, source, distance, *, directed=True, hops=False, rank=None):
    """Predecessor by vertex, by the rule as it is written; a vertex's own id where it has none.

    `distance`: by vertex, for the reached vertices, of the type in which sums are made.
    """
    rank = range(n) if rank is None else rank
    arcs = [(u, v, 1 if hops else weight) for u, v, weight in _arcs(edges, directed)]
    degree = [0] * n
    for u, v, _ in arcs:
        degree[u] += 1
        if directed:
            degree[v] += 1

    def best(candidates):
        return min(candidates, key=lambda u: (-degree[u], rank[u]))

    tight = defaultdict(set)  # who can have reached a vertex
    for u, v, weight in arcs:
        if u in distance and v in distance and distance[u] + weight == distance[v]:
            tight[v].add(u)
    found = {source: source}
    for v in distance:
        nearer = {u for u in tight[v] if distance[u] < distance[v]}
        if v != source and nearer:
            found[v] = best(nearer)
    while len(found) < len(distance):
        level = {
            v: best(tight[v] & found.keys())
            for v in distance
            if v not in found and tight[v] & found.keys()
        }
        if not level:
            raise AssertionError("distances that no path explains")
        found.update(level)
    return [found.get(v, v) for v in range(n)]


def cycles_in_time(rows, length, within):
    """Cycles of rows (source, destination, time) in growing time: each sequence of rows that is one, in order."""
    found = []

    def go_on(path, last):
        for source, destination, time in rows:
            if source != last or (path and not time > path[-1][1]):
                continue
            start = path[0][1] if path else time
            on = [*path, (source, time)]
            if within is not None and time - start > within:
                continue
            if destination == on[0][0]:
                found.append(on)
            elif len(on) < length and destination not in [vertex for vertex, _ in on]:
                go_on(on, destination)

    for first in {source for source, *_ in rows}:
        go_on([], first)
    return sorted(found)
