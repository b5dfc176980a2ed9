"""Graphs whose edges lie in pages on disk, which the GPU and the CPU share: the answers of memory."""

import dask
import numpy as np
import pandas as pd
import pytest

from dask_graphgpu import Field, Sum, VertexProgram, last_report
from dask_graphgpu.engine.tiered import limits

pytestmark = pytest.mark.gpu

ROWS, VERTICES = 60_000, 600
SPLITS = ["auto", "gpu", "cpu", "alternate", "supersteps"]


@pytest.fixture(scope="module")
def edges():
    """Skewed random edges with repeats and self-loops, and weights."""
    rng = np.random.default_rng(6)
    source = (VERTICES * rng.random(ROWS) ** 2).astype(np.int64)
    destination = rng.integers(0, VERTICES, ROWS)
    weight = rng.integers(1, 99, ROWS)
    return pd.DataFrame({"src": source, "dst": destination, "weight": weight})


@pytest.fixture
def limited(tmp_path, monkeypatch):
    """Settings under which these edges lie on disk, in two folders, in small pages and segments."""
    monkeypatch.setattr(limits, "_MOST", 8192)
    return {
        "graphgpu.host-memory-limit": "900kB",
        "graphgpu.page-bytes": 4096,
        "graphgpu.device-memory-limit": 420_000,
        "graphgpu.spill-directories": [str(tmp_path / "a"), str(tmp_path / "b")],
    }


SUMMED = VertexProgram(
    state={"x": Field(dtype="float64", initial=1.0)},
    compute=lambda source_x, edge_cost: source_x * edge_cost,
    combine="sum",
    apply=lambda message, x: 0.5 * x + 0.001 * message,
    aggregates={"total": Sum(lambda x: x)},
    stop=lambda superstep: superstep >= 6,
)
BOTH_ENDS = VertexProgram(
    state={"x": Field(dtype="float64", initial=1.0)},
    compute=lambda source_x, destination_x, weight: (source_x - destination_x / 3) * weight,
    combine="sum",
    apply=lambda message, x: 0.5 * x + 1e-4 * message,
    stop=lambda superstep: superstep >= 4,
)
BOTH = VertexProgram(
    state={"least": Field(dtype="id", initial=lambda id: id)},  # noqa: A006
    compute=lambda source_least: source_least,
    combine="min",
    edges="both",
)
METHODS = {
    "pagerank": lambda graph: graph.pagerank(),
    "pagerank delta": lambda graph: graph.pagerank(method="delta"),
    "components": lambda graph: graph.weakly_connected_components(),
    "bfs": lambda graph: graph.bfs(source=3),
    "sssp": lambda graph: graph.sssp(source=3),
    "paths": lambda graph: graph.sssp(source=3, predecessor=True),
    "both": lambda graph: graph.run(BOTH),
    "both ends": lambda graph: graph.run(BOTH_ENDS),
    "summed": lambda graph: graph.run(SUMMED),
}
ROUNDED = ("pagerank", "pagerank delta", "summed", "both ends")


def compared(name, edges, settings, **given):
    edges = edges.assign(cost=edges["weight"] / 64) if name == "summed" else edges
    method, rounded = METHODS[name], name in ROUNDED
    wanted = method(edges.graph(engine="cpu", **given))
    with dask.config.set(settings):
        found = method(edges.graph(engine="hybrid", **given))
    pd.testing.assert_frame_equal(
        found, wanted, rtol=1e-6 if rounded else 1e-12, check_exact=not rounded
    )
    return last_report().attrs


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("name", METHODS)
def test_methods(name, directed, split, edges, limited):
    told = compared(name, edges, limited | {"graphgpu.dispatch": split}, directed=directed)
    assert told["disk_bytes"] > 0
    pages = told["sides"]["cpu"]["pages"]
    assert (pages > 0) == (split in ("cpu", "alternate"))
    if split == "cpu":
        assert told["sides"]["gpu"]["edges"] == 0


@pytest.mark.parametrize("room", [4_000, None])
@pytest.mark.parametrize("split", SPLITS)
def test_however_many_edges_stay_on_the_device(split, room, edges, limited):
    limited["graphgpu.device-memory-limit"] = None if room is None else 400_000 + room
    compared("pagerank", edges, limited | {"graphgpu.dispatch": split})
