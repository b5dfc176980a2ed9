"""Frames on many ranks: chunks dealt to them, and what the ranks hold put together again."""

import itertools
from dataclasses import dataclass

import numpy as np

from dask_graphgpu.exchange.local import run_local
from dask_graphgpu.io.edges import read_edges
from dask_graphgpu.io.schema import find_columns, find_vertex_columns
from dask_graphgpu.io.vertices import read_vertices
from dask_graphgpu.partition import build as one
from dask_graphgpu.partition.layout import Layout
from dask_graphgpu.partition.ranks.build import build


@dataclass(frozen=True)
class Chunks:
    """What a graph is built of; ``edge_at`` and ``vertex_at`` say on which rank each chunk is."""

    edges: list
    vertices: list
    edge_at: list
    vertex_at: list

    @classmethod
    def of(cls, frame, cuts=(), vertices=None, *, columns=(), vertex_columns=(), deal=None):
        """Chunks of a frame cut before the rows ``cuts``; ``deal(i)`` is where chunk i goes."""
        schema = find_columns(frame)
        carried = [*(["weight"] if schema.weight else []), *columns]
        edges = [
            read_edges(piece, schema, carried, f"partition {i}")
            for i, piece in enumerate(pieces(frame, cuts))
        ]
        rows = []
        if vertices is not None:
            ids = find_vertex_columns(vertices, schema)
            rows = [
                read_vertices(piece, ids, vertex_columns, "the vertices frame", f"partition {i}")
                for i, piece in enumerate(pieces(vertices, [len(vertices) // 2]))
            ]
        at = [deal(i) if deal else i for i in range(len(edges))]
        return cls(edges, rows, at, [i + 1 for i in range(len(rows))])

    def on(self, rank, size):
        """The chunks of one of ``size`` ranks."""
        edges = [c for c, at in zip(self.edges, self.edge_at, strict=True) if at % size == rank]
        rows = [c for c, at in zip(self.vertices, self.vertex_at, strict=True) if at % size == rank]
        return edges, rows

    def whole(self, layout):
        """The partition of one rank, with chunks in the order in which the ranks have them."""
        return one.build(list(self.edges), list(self.vertices), layout)

    def share(self, ranks, layout, **options):
        """The share of a rank. Collective."""
        return build(ranks, *self.on(ranks.rank, ranks.size), layout, **options)


def pieces(frame, cuts):
    bounds = [0, *cuts, len(frame)]
    return [frame.iloc[lo:hi] for lo, hi in itertools.pairwise(bounds)]


def shares(size, chunks, layout=None, **options):
    """The shares of all ranks."""
    layout = layout or Layout()
    return run_local(size, lambda ranks: chunks.share(ranks, layout, **options))


def shares_and_views(size, chunks, layout, rule="keep", **options):
    """The share of each rank, and its view under a rule."""

    def on_rank(ranks):
        part = chunks.share(ranks, layout, **options)
        return part, part.view(rule)

    return run_local(size, on_rank)


def numbers_of(ids):
    """The number of each dense id of one rank."""
    return np.arange(len(ids)) if ids.rank is None else ids.rank.astype(np.int64)


def listed(numbers, rows):
    """Edges by numbers in ascending order, with columns; repeats of one keep their order."""
    sources = np.repeat(np.arange(len(numbers)), rows.degrees)
    ends = numbers.astype(np.int64)[np.stack([sources, rows.neighbours.astype(np.int64)])]
    return ends, dict(rows.columns)


def joined(parts):
    """Edge lists put together, ascending; the order within one list is kept."""
    ends = np.concatenate([ends for ends, _ in parts], axis=1)
    order = np.lexsort(ends[::-1])
    names = parts[0][1]
    assert all(columns.keys() == names.keys() for _, columns in parts)
    return ends[:, order], {
        name: np.concatenate([columns[name] for _, columns in parts])[order] for name in names
    }


def assert_same_edges(got, wanted, *, in_order=True):
    """``in_order``: columns of repeated edges stand in the same order; else they are sorted."""
    np.testing.assert_array_equal(got[0], wanted[0])
    assert {n: c.dtype for n, c in got[1].items()} == {n: c.dtype for n, c in wanted[1].items()}
    for name, column in wanted[1].items():
        mine = got[1][name]
        if not in_order:
            mine = mine[np.lexsort((mine, *got[0][::-1]))]
            column = column[np.lexsort((column, *wanted[0][::-1]))]
        np.testing.assert_array_equal(mine, column)


class HostLink:
    """Swaps NumPy's arrays by the ranks, as a `DeviceLink` swaps CuPy's by NCCL."""

    arrays = np

    def __init__(self, ranks):
        self.ranks = ranks

    def swap(self, pairs):
        own = self.ranks.rank
        for sent, received in pairs:
            assert not len(sent[own])
            got = self.ranks.all_to_all(sent)
            for into, part in zip(received, got, strict=True):
                assert into.dtype == part.dtype
                into[...] = part

    def settle(self):
        pass


def rows_of(adjacency):
    """The entries with what they carry, repeats in order of that."""
    row = np.repeat(np.arange(adjacency.num_vertices), np.diff(adjacency.offsets))
    columns = [adjacency.columns[name] for name in sorted(adjacency.columns)]
    return sorted(zip(row, adjacency.neighbours, *columns, strict=True))


def assert_same_shares(mine, others):
    """Of each rank, the shares of two builds."""
    for first, other in zip(mine, others, strict=True):
        np.testing.assert_array_equal(first.numbers, other.numbers)
        np.testing.assert_array_equal(first.border.ghosts, other.border.ghosts)
        for a, b in zip(first.border.sends, other.border.sends, strict=True):
            np.testing.assert_array_equal(a, b)
        assert (first.out is first.into) == (other.out is other.into)
        for a, b in ((first.out, other.out), (first.into, other.into)):
            assert a.offsets.dtype == b.offsets.dtype
            assert a.neighbours.dtype == b.neighbours.dtype
            assert {k: v.dtype for k, v in a.columns.items()} == {
                k: v.dtype for k, v in b.columns.items()
            }
            np.testing.assert_array_equal(a.offsets, b.offsets)
            np.testing.assert_array_equal(a.neighbours, b.neighbours)
            assert rows_of(a) == rows_of(b)
