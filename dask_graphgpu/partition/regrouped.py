"""Components of a graph that has changed, by its earlier ones: only those that lost a row are searched again."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dask_graphgpu.errors import InvalidArgument, InvalidEdges
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.csr import all_below
from dask_graphgpu.partition.growth import Growth
from dask_graphgpu.partition.ids import VertexIds
from dask_graphgpu.partition.united_groups import Grouped


def regrouped(growth: Growth, news: Growth, labels: Grouped) -> list[Grouped]:
    """Groups that make up the components of a graph, to be `united`.

    Parameters
    ----------
    growth : Growth
        The graph as it is.
    news : Growth
        What has changed since, as changes of a graph that had nothing.
    labels : Grouped
        Every vertex of the graph before, by components.

    Raises
    ------
    InvalidArgument
        The ids of ``labels`` are of another type than the graph's.

    Notes
    -----
    A row that is gone was within one component. Its members are alone at first, but for the rows that they have now;
    those that are no vertices any more are left out. New rows join any. Cost: a pass over the labels, the rows of the
    vertices of components that lost a row, and what is new.
    """
    try:
        place, changed = VertexIds(news.fresh, None).find_rows(labels.ids)
        parted = _parted(news, labels, place, changed)
        alone = np.flatnonzero(parted[labels.groups])
        members = [column.take(pa.array(alone)) for column in labels.ids]
        there = growth.are_vertices(members)
    except InvalidEdges as error:
        raise InvalidArgument(f"labels: {error}") from error
    stay = np.ones(len(labels.groups), bool)
    stay[alone[~there]] = False
    groups = labels.groups.astype(np.uint64)
    groups[alone] = labels.number + np.arange(len(alone), dtype=np.uint64)
    before = Grouped(
        [column.filter(pa.array(stay)) for column in labels.ids],
        groups[stay],
        labels.number + len(alone),
        labels.what,
    )
    left = [column.filter(pa.array(there)) for column in members]
    return [before, _with_rows(growth, left), _added(news)]


def _parted(news: Growth, labels: Grouped, place: np.ndarray, changed: np.ndarray) -> np.ndarray:
    """Which groups of some labels have lost a row.

    ``place`` , ``changed`` : where the rows of labels are among the ids of what has changed, and which are there.
    """
    group = np.full(len(news.fresh[0]), -1, np.int64)
    group[place[changed]] = labels.groups[changed]
    source, destination = (group[ends] for ends in news.removed_pairs)
    parted = np.zeros(labels.number, bool)
    parted[source[(source == destination) & (source >= 0)]] = True
    return parted


def _with_rows(growth: Growth, ids: list[pa.Array]) -> Grouped:
    """Vertices and the groups that the rows between them make."""
    numbers, _ = growth.numbers_of(ids)
    order = np.argsort(numbers)
    ends = growth.edges_at(numbers)
    places = [np.searchsorted(numbers[order], each) for each in ends]
    inside = places[1] < len(order)
    inside[inside] = numbers[order][places[1][inside]] == ends[1][inside]
    one, other = (order[place[inside]] for place in places)
    return Grouped(ids, _linked(len(order), one, other), len(order), "the rows that are left")


def _added(news: Growth) -> Grouped:
    """Ends of new rows and the groups that these make."""
    number = len(news.fresh[0])
    parent = _linked(number, news.source, news.destination)
    used = np.zeros(number, bool)
    used[news.source] = used[news.destination] = True
    ids = [column.filter(pa.array(used)) for column in news.fresh]
    return Grouped(ids, parent[used], number, "the rows that are new")


def _linked(number: int, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """For each of some numbers the least that pairs join it to."""
    parent = all_below(number, np.uint64)
    ends = one.astype(np.uint64), other.astype(np.uint64)
    for_blocks(kernels.components.link_pairs, even_blocks(len(one)), *ends, parent)
    for_blocks(kernels.components.compress, even_blocks(number), parent)
    return parent
