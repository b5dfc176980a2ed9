"""Graphs as users give them, drawn by Hypothesis: frames of edges, kinds of ids, partitions."""

import itertools
from dataclasses import dataclass, replace

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import strategies as st
from mixed_directions import TOLERANCES, once

import dask_graphgpu  # noqa: F401  puts .graph on frames

_BIG = 2**31 - 1
_FEW_WORDS = st.text(alphabet=st.characters(codec="utf-8"), max_size=4)

# Name of a kind of id -> the pandas dtype of its column, and what ids it has.
KINDS = {
    "int32": ("int32", st.integers(-(2**31), _BIG)),
    "int64 dense": ("int64", st.integers(-20, 20)),
    "int64 sparse": ("int64", st.integers(-(2**63), 2**63 - 1)),
    "uint64": ("uint64", st.integers(0, 2**64 - 1)),
    "uint64 top": ("uint64", st.integers(2**64 - 40, 2**64 - 1)),
    "uint8": ("uint8", st.integers(0, 255)),
    "Int64": ("Int64", st.integers(-(2**62), 2**62)),
    "arrow int64": (pd.ArrowDtype(pa.int64()), st.integers(-(2**40), 2**40)),
    "arrow string": (pd.ArrowDtype(pa.large_string()), _FEW_WORDS),
    "str": ("str", _FEW_WORDS),
    "object": ("object", _FEW_WORDS),
    "category": ("category", _FEW_WORDS),
}

WEIGHTS = {
    "int64": st.one_of(st.integers(0, 3), st.integers(2**53 - 2, 2**53 + 2)),
    "uint8": st.integers(0, 255),
    "Int32": st.integers(0, 1000),
    "float64": st.one_of(
        st.sampled_from([0.0, 1.0, 2.0]), st.floats(0, 1e30), st.sampled_from([1e-300, 2.0**53])
    ),
    "float32": st.floats(0, 1e3, width=32),
}


def partitioned(frame, parts):
    """A Dask frame over the rows of ``frame``; ``parts`` is a number or the inner bounds (empty ones are legal)."""
    if isinstance(parts, int):
        parts = np.linspace(0, len(frame), parts + 1).astype(int)[1:-1]
    bounds = [0, *parts, len(frame)]
    pieces = [frame.iloc[a:b] for a, b in itertools.pairwise(bounds)]
    return dd.from_map(_give, pieces, meta=frame.iloc[:0])


def _give(piece):
    return piece


@dataclass(frozen=True)
class EdgeList:
    """A graph over vertices 0 .. n - 1, and how it is given: ``ids[v]`` is what the user calls v."""

    n: int
    edges: list  # (source, destination) or (source, destination, weight)
    directed: bool
    weight: str | None  # dtype
    kind: str  # of ids
    ids: list
    cuts: list  # inner bounds of partitions

    @property
    def rank(self):
        """Place of each vertex in the order of the user's ids."""
        order = sorted(range(self.n), key=self.ids.__getitem__)
        return [order.index(v) for v in range(self.n)]

    @property
    def as_given(self):
        """The same with the edges that the rows are taken for: what stands in both directions once."""
        if self.directed:
            return self
        order, ids = self.rank, sorted(range(self.n), key=self.ids.__getitem__)
        rows = [(order[u], order[v], weight[0] if weight else None) for u, v, *weight in self.edges]
        edges = once(rows, TOLERANCES.get(str(self.weight).lower(), 0.0))
        return replace(
            self, edges=[(ids[u], ids[v], *([] if w is None else [w])) for u, v, w in edges]
        )

    def column(self, vertices):
        """Vertices as a column of the user's ids."""
        return pd.Series([self.ids[v] for v in vertices], dtype=KINDS[self.kind][0])

    def frame(self):
        """The edges as a pandas frame."""
        columns = {
            "src": self.column([edge[0] for edge in self.edges]),
            "dst": self.column([edge[1] for edge in self.edges]),
        }
        if self.weight is not None:
            columns["weight"] = pd.Series([edge[2] for edge in self.edges], dtype=self.weight)
        return pd.DataFrame(columns)

    def vertices(self):
        """All vertices, also those without edges, as a frame."""
        return pd.DataFrame({"vertex": self.column(range(self.n))})

    def graph(self, **options):
        """The graph of the partitioned frame, vertices without edges included."""
        frame = partitioned(self.frame(), self.cuts)
        return frame.graph(directed=self.directed, vertices=self.vertices(), **options)

    def answers(self, frame, column):
        """A result as a dict from vertex to value, None where it is null."""
        frame = frame.compute() if hasattr(frame, "compute") else frame
        number = {id: v for v, id in enumerate(self.ids)}
        pairs = zip(frame["vertex"].tolist(), frame[column].tolist(), strict=True)
        return {number[id]: None if pd.isna(value) else value for id, value in pairs}


@st.composite
def edge_lists(
    draw, weights=(None,), kinds=("int64 dense",), directed=None, max_vertices=10, max_edges=30
):
    """Graphs with self-loops, repeated rows, vertices without edges, and empty partitions.

    ``weights`` are dtypes (None: no weights), ``kinds`` names of `KINDS`.
    """
    kind = draw(st.sampled_from(sorted(kinds)))
    ids = draw(st.lists(KINDS[kind][1], min_size=1, max_size=max_vertices, unique=True))
    n = len(ids)
    weight = draw(st.sampled_from(weights))
    vertex = st.integers(0, n - 1)
    fields = [vertex, vertex] if weight is None else [vertex, vertex, WEIGHTS[weight]]
    edges = draw(st.lists(st.tuples(*fields), max_size=max_edges))
    cuts = draw(st.lists(st.integers(0, len(edges)), max_size=4).map(sorted))
    ways = draw(st.booleans()) if directed is None else directed
    return EdgeList(n, edges, ways, weight, kind, ids, cuts)
