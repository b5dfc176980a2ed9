"""The CPU's pages of a hybrid run: the kernel that pushes along some edges, as NumPy combines them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_graphgpu.engine.cpu.arrays import Arrays
from dask_graphgpu.engine.lower import lower
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.fields import Field
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import VertexProgram

COMBINE = {"sum": np.add, "min": np.minimum, "max": np.maximum}


def program(combine, *, both):
    compute = (
        (lambda source_x, destination_x, weight: source_x * weight - destination_x)
        if both
        else (lambda source_x: source_x + 1)
    )
    return VertexProgram(
        state={"x": Field("float64", initial=lambda id: id / 4)},  # noqa: A006
        compute=compute, combine=combine, apply=lambda message: message, active=lambda x: x > 0,
    )  # fmt: skip


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("combine", COMBINE)
@given(data=st.data())
def test_any_stretch_of_edges(combine, both, data):
    n = data.draw(st.integers(1, 12))
    ends = data.draw(st.lists(st.tuples(*[st.integers(0, n - 1)] * 2), max_size=30))
    source, destination = np.array(ends, np.int64).reshape(-1, 2).T
    weight = np.arange(len(ends)) % 5 + 0.5
    view = View.of(from_edges(n, source, destination, {"weight": weight}))
    binding = Binding(program(combine, both=both), view, {})
    arrays, rows = Arrays(binding, lower(binding), None), binding.send
    arrays.active[:] = data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    lo = data.draw(st.integers(0, len(ends)))
    hi = data.draw(st.integers(lo, len(ends)))
    parts = data.draw(st.integers(1, 3))
    own = np.zeros((parts, data.draw(st.integers(0, n)) if combine == "sum" else 0))
    x = arrays.state["x"]
    messages = np.full(n, binding.identity(np.dtype(np.float64)))
    expected, received = messages.copy(), np.zeros(n if binding.needs_received else 0, np.uint8)
    cuts = np.linspace(lo, hi, parts + 1).astype(np.int64)
    found = arrays.run(
        "push_rows", np.arange(parts + 1), rows, cuts, rows.offsets.view(np.uint64),
        rows.neighbours, arrays.active, x + 1, own, messages, received,
    )  # fmt: skip
    messages[: own.shape[1]] += own.sum(axis=0)

    u = np.repeat(np.arange(n), np.diff(rows.offsets))[lo:hi]
    v, along = rows.neighbours[lo:hi].astype(np.int64), arrays.active[u].astype(bool)
    sent = x[u] * rows.columns["weight"][lo:hi] - x[v] if both else x[u] + 1
    COMBINE[combine].at(expected, v[along], sent[along])
    np.testing.assert_allclose(messages, expected, rtol=1e-12)
    assert sum(int(read) for _, read in found) == along.sum()
    if binding.needs_received:
        np.testing.assert_array_equal(received.nonzero()[0], np.unique(v[along]))
