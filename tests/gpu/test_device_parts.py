"""Parts of graphs in the memory of a GPU, against those of the same arrays on the host."""

import cupy
import numpy as np
import pytest

from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.partition import parts
from dask_graphgpu.partition.device.build import DeviceEdges, DeviceVertices, build
from dask_graphgpu.partition.layout import Layout
from dask_graphgpu.partition.parts import part, windows

pytestmark = pytest.mark.gpu


def made(xp, directed):
    rng = np.random.default_rng(0)
    ends, weight = rng.integers(0, 40, (2, 900)), rng.integers(0, 5, 900)
    day = rng.random(900)
    edges = DeviceEdges(
        (xp.asarray(ends[0]),),
        (xp.asarray(ends[1]),),
        {"weight": xp.asarray(weight), "day": xp.asarray(day)},
    )
    x = {"x": xp.arange(5) > 3}
    vertices = DeviceVertices((xp.arange(38, 43),), {"x": xp.arange(5.0)}, x)
    return build([edges], [vertices], Layout(directed=directed))


def on_host(array):
    return array.get() if hasattr(array, "get") else array


def same(found, wanted):
    assert isinstance(found.given.neighbours, cupy.ndarray)
    for one, other in (
        (found.given.offsets, wanted.given.offsets),
        (found.given.neighbours, wanted.given.neighbours),
        (found.given.columns["day"], wanted.given.columns["day"]),
        (found.ids.columns[0], wanted.ids.columns[0]),
        (found.vertex_columns.known["x"], wanted.vertex_columns.known["x"]),
        (found.vertex_columns.listed, wanted.vertex_columns.listed),
    ):
        np.testing.assert_array_equal(on_host(one), other)


@pytest.mark.parametrize("directed", [True, False])
def test_parts_are_those_of_the_host(directed, monkeypatch):
    found, wanted = made(cupy, directed), made(np, directed)
    for column, low, high in (("weight", 3, 5), ("weight", None, 1), ("day", 0.5, None)):
        same(part(found, column, low, high), part(wanted, column, low, high))
    again = [part(part(each, "day", 0.2, None), "weight", 2, 4) for each in (found, wanted)]
    same(*again)
    for room, edges in ((True, [0, 3, 5]), (True, [0, 3, 6]), (False, [0, 3, 5])):
        # For another copy of the edges.
        monkeypatch.setattr(parts, "has_room", lambda of, room=room: room or of is wanted)
        cuts = [windows(each, "weight", lambda *_, edges=edges: edges) for each in (found, wanted)]
        for (low, some), (other, others) in zip(*cuts, strict=True):
            assert (low, len(some)) == (other, len(others))
            same(some.partition(), others.partition())
    if not directed:
        with pytest.raises(InvalidArgument, match="'day' has other values"):
            found.view("keep", True, ("day",))
        np.testing.assert_array_equal(
            found.on_host().as_given.turned, on_host(wanted.as_given.turned)
        )
