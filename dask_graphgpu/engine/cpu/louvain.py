"""Communities of high modularity, by Louvain and by Leiden, on all cores where they are large.

References
----------
.. [1] Blondel, Guillaume, Lambiotte, Lefebvre. Fast unfolding of communities in large networks. J. Stat. Mech. 2008.
.. [2] Traag, Waltman, van Eck. From Louvain to Leiden: guaranteeing well-connected communities. Sci. Rep. 2019.
.. [3] Ozaki, Tezuka, Inaba. A simple acceleration method for the Louvain algorithm. IJCEE 2016.
.. [4] Sahu. GVE-Louvain: fast Louvain algorithm for community detection in shared memory setting. arXiv 2312.04876.
.. [5] Sahu. GVE-Leiden: fast Leiden algorithm for community detection in shared memory setting. arXiv 2312.13936.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.engine import communities
from dask_graphgpu.engine.communities import Start
from dask_graphgpu.engine.cpu.community_level import Level, SomeLevel, weight_within
from dask_graphgpu.engine.cpu.in_batches import MovesInBatches
from dask_graphgpu.engine.cpu.one_by_one import MovesOneByOne
from dask_graphgpu.engine.cpu.paged_level import PagedLevel
from dask_graphgpu.partition.csr import at_ends
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Entries of rows of the graph from which vertices move in batches. Below, two threads at most move them: Louvain of
# cnr-2000 (6 million entries) takes a seventh longer in batches on two threads, but these have work for more of them.
MANY_OF_LOUVAIN, MANY_OF_LEIDEN = 1 << 22, 1 << 24


def louvain(
    view: View,
    resolution: float,
    seed: int,
    report: Report,
    start: Start | None = None,
    finer: list[Any] | None = None,
) -> tuple[np.ndarray, float]:
    """Communities by moving vertices, then whole communities [1]_.

    Notes
    -----
    Only vertices whose neighbours have moved are looked at again [3]_, at first all in the order of the user's ids,
    stretches of which are shuffled by the seed. On small graphs one thread moves them one by one, on larger ones two
    threads do, each its half of those that wait, and each sees after every few thousand edges what the other has done.
    Vertices of the largest are looked at in batches, which hashes of their places in that order, and of the seed,
    decide. All threads find how those of a batch gain most, as GVE-Louvain does [4]_, but only from how communities
    were before the batch; then one thread does the moves that still gain, in order. All threads refine communities and
    add up the edges between them. So the answer depends on nothing but the edges, the
    resolution and the seed. Cost: some passes over the edges, most of them of the first level.
    """
    moves = _moves(view, resolution, seed, report, MANY_OF_LOUVAIN)
    place = moves.alone(moves.first)
    if len(place):
        place = communities.louvain(moves, _in_order_of_ids(view, start), finer)
    if finer is not None:
        finer[:] = [_in_dense_ids(view, each) for each in finer]
    return _in_dense_ids(view, place), _modularity(moves.first, place, resolution)


def leiden(
    view: View,
    resolution: float,
    seed: int,
    iterations: int,
    report: Report,
    start: Start | None = None,
    finer: list[Any] | None = None,
) -> tuple[np.ndarray, float]:
    """Communities as `louvain`, of which every one is connected [2]_; refined in batches as well [5]_."""
    moves = _moves(view, resolution, seed, report, MANY_OF_LEIDEN)
    place = moves.alone(moves.first)
    if len(place):
        place = communities.leiden(moves, iterations, _in_order_of_ids(view, start), finer)
    if finer is not None:
        finer[:] = [_in_dense_ids(view, each) for each in finer]
    return _in_dense_ids(view, place), _modularity(moves.first, place, resolution)


def smaller_communities(
    view: View,
    labels: np.ndarray,
    max_size: int,
    resolution: float,
    seed: int,
    iterations: int | None,
    report: Report,
) -> tuple[list[np.ndarray], float]:
    """Communities within those that are too large, at higher resolutions; see `communities.smaller`."""
    many = MANY_OF_LOUVAIN if iterations is None else MANY_OF_LEIDEN
    moves = _moves(view, resolution, seed, report, many)
    start = _in_order_of_ids(view, Start(labels))
    assert start is not None
    steps = communities.smaller(moves, start.labels, max_size, communities.finding(iterations))
    last = steps[-1] if steps else moves.named(start.labels)
    modularity = _modularity(moves.first, last, resolution)
    return [_in_dense_ids(view, each) for each in steps], modularity


def _moves(
    view: View, resolution: float, seed: int, report: Report, many: int
) -> MovesOneByOne | MovesInBatches:
    """What moves the vertices: by the graph alone, so that answers do not depend on the threads."""
    entries = view.out.num_edges * (2 if view.directed else 1)
    kind = MovesInBatches if entries >= many else MovesOneByOne
    in_order = kind is MovesOneByOne
    first: SomeLevel = (
        PagedLevel.first(view, report, in_order=in_order)
        if view.paged
        else Level.first(view, in_order=in_order)
    )
    total = float(first.degree.sum())
    # What kernels call scale; the sum of all degrees is the same on all levels.
    scale = resolution / total if total else 0.0
    return kind(first, scale, seed, report)


def _modularity(first: SomeLevel, labels: np.ndarray, resolution: float) -> float:
    """Of communities of the graph itself."""
    total = float(first.degree.sum())
    if not total:
        return 0.0
    part = np.bincount(labels, first.degree) / total
    return float(weight_within(first, labels) / total - resolution * (part @ part))


def _in_order_of_ids(view: View, start: Start | None) -> Start | None:
    """A start by dense id as one by place in the order of ids."""
    if start is None:
        return None
    labels, fixed = start.labels.astype(view.out.neighbours.dtype, copy=False), start.fixed
    if view.user_rank is None:
        return Start(labels, fixed)
    position = _position(view.user_rank)
    return Start(at_ends(labels, position), fixed if fixed is None else fixed.take(position))


def _position(rank: np.ndarray) -> np.ndarray:
    """The dense id at each place in the order of ids."""
    position = np.empty_like(rank)
    position[rank.astype(np.intp)] = np.arange(len(rank), dtype=rank.dtype)
    return position


def _in_dense_ids(view: View, labels: np.ndarray) -> np.ndarray:
    """Labels by place in the order of ids, as dense ids of each label's first vertex, by dense id."""
    n, rank = len(labels), view.user_rank
    places = np.arange(n, dtype=labels.dtype)
    smallest = np.empty_like(labels)
    smallest[labels[::-1].astype(np.intp)] = places[::-1]
    found = at_ends(smallest, labels)
    if rank is not None:
        found = at_ends(at_ends(_position(rank).astype(labels.dtype), found), rank)
    return found
