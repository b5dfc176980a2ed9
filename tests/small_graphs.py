"""Small graphs drawn by Hypothesis, and the views of them that engines see."""

from contextlib import contextmanager
from dataclasses import dataclass
from unittest import mock

import dask
import numpy as np
from hypothesis import strategies as st

from dask_graphgpu.kernels.cpu import threads
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View

WEIGHTS = {
    "int64": st.one_of(st.integers(0, 3), st.integers(2**53 - 2, 2**53 + 2)),
    "uint8": st.integers(0, 255),
    "float64": st.one_of(
        st.sampled_from([0.0, 1.0, 2.0]), st.floats(0, 1e30), st.sampled_from([1e-300, 2.0**53])
    ),
    "float32": st.floats(0, 1e3, width=32),
}

# Dtypes of dense ids, by that of the weights: either width has integers and floats, and a kernel is
# compiled for each dtype of weights once.
IDS = {
    None: ["uint32", "uint64"],
    "int64": ["uint32"],
    "uint8": ["uint64"],
    "float64": ["uint32"],
    "float32": ["uint64"],
}


@dataclass(frozen=True)
class SmallGraph:
    """Edges as drawn: (source, destination) or (source, destination, weight)."""

    n: int
    edges: list
    directed: bool
    weight: str | None  # dtype
    rank: list | None  # place of each vertex in the order of the user's ids
    ids: str  # dtype of the dense ids

    def view(self, *, into=False):
        """The view, with the in-edges made already where `into`."""
        arcs = list(self.edges)
        if not self.directed:
            arcs += [(v, u, *rest) for u, v, *rest in arcs if u != v]
        source, destination = (np.array([arc[i] for arc in arcs], self.ids) for i in (0, 1))
        columns = {}
        if self.weight:
            columns["weight"] = np.array([arc[2] for arc in arcs], self.weight)
        rank = None if self.rank is None else np.array(self.rank, self.ids)
        rows = from_edges(self.n, source, destination, columns)
        view = View.of(rows, directed=self.directed, user_rank=rank)
        assert rows.neighbours.dtype == self.ids
        if into:
            assert view.into.num_edges == len(arcs)
        return view


@st.composite
def small_graphs(draw, weights=(None,), max_vertices=12, max_edges=40):
    """Graphs with self-loops, repeated edges and isolated vertices, `weights` one of the dtypes."""
    n = draw(st.integers(1, max_vertices))
    weight = draw(st.sampled_from(weights))
    vertex = st.integers(0, n - 1)
    fields = [vertex, vertex] if weight is None else [vertex, vertex, WEIGHTS[weight]]
    return SmallGraph(
        n,
        draw(st.lists(st.tuples(*fields), max_size=max_edges)),
        draw(st.booleans()),
        weight,
        draw(st.one_of(st.none(), st.permutations(range(n)))),
        draw(st.sampled_from(IDS[weight])),
    )


@contextmanager
def on_threads(number, *, little_work=1, **settings):
    """Run on `number` threads, and cut even the smallest work into blocks."""
    settings = {f"graphgpu.{name.replace('_', '-')}": value for name, value in settings.items()}
    with (
        dask.config.set({"graphgpu.threads": number, **settings}),
        mock.patch.object(threads, "LITTLE_WORK", little_work),
    ):
        yield
