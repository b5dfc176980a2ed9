"""Methods that only stream edges, on disk: graphs of many components, long rows, little room."""

from importlib import import_module

import dask
import numpy as np
import pandas as pd
import pytest
from engines import on_one_cpu

from dask_graphgpu import last_report
from dask_graphgpu.errors import LimitTooSmall

pytestmark = on_one_cpu

VERTICES, REPEATS = 2000, 60


@pytest.fixture
def limited(tmp_path):
    return {
        "graphgpu.host-memory-limit": "900kB",
        "graphgpu.page-bytes": 4096,
        "graphgpu.spill-directories": [str(tmp_path / "pages")],
    }


def sparse(seed, names=int):
    """Few edges, many times: components of all sizes, and mutual edges, loops and long paths among them."""
    rng = np.random.default_rng(seed)
    source, destination = rng.integers(0, VERTICES, (2, 2500))
    path = np.arange(0, VERTICES - 1, 5)
    circle = np.arange(1500, 1600)
    dense = rng.integers(300, 330, (2, 200))
    source = np.concatenate([source, path + 1, source[:99], circle, dense[0], [7, 8]])
    around = np.roll(circle, 1)
    destination = np.concatenate([destination, path, destination[:99], around, dense[1], [7, 8]])
    source[2700:2750], destination[2700:2750] = destination[:50], source[:50]
    frame = pd.DataFrame({"src": source, "dst": destination})
    frame["weight"] = rng.integers(1, 9, len(frame))
    frame = pd.concat([frame] * REPEATS, ignore_index=True)
    if names is str:
        frame[["src", "dst"]] = "v" + frame[["src", "dst"]].astype(str)
    return frame


def same(method, limited, *, rtol=0):
    wanted = method()
    with dask.config.set(limited):
        found = method()
    assert last_report().attrs["disk_bytes"] > 0
    if "weight" in found:  # repeated edges of undirected graphs are in no order
        wanted, found = (
            each.sort_values([*each]).reset_index(drop=True) for each in (wanted, found)
        )
    pd.testing.assert_frame_equal(found, wanted, rtol=rtol, check_exact=rtol == 0)
    return found


def test_pages_are_read_once_for_many_searches(limited):
    frame, steps = sparse(7), []
    sources = frame["src"].unique()[:40].tolist()
    with dask.config.set(limited):
        graph = frame.graph(directed=False).persist()
        for source in (sources, *sources[:10]):
            graph.bfs(source=source)
            assert last_report().attrs["disk_bytes"] > 0
            steps.append(len(last_report()))
    assert steps[0] < sum(steps[1:])


def test_sources_that_are_searched_from_in_halves(limited):
    frame = sparse(7)
    sources = frame["src"].unique()[:64].tolist()
    tight = limited | {"graphgpu.host-memory-limit": "400kB"}
    same(lambda: frame.graph().bfs(source=sources), tight)


@pytest.mark.parametrize("seed", range(4))
def test_colouring_goes_on_while_edges_do_not_fit(limited, seed, monkeypatch):
    """Rounds of colours, each of which settles some, and no search in memory before they are few."""
    module = import_module("dask_graphgpu.engine.paged.strong_components")
    monkeypatch.setattr(module, "_EDGE_IDS", 500)
    frame = sparse(seed)
    same(lambda: frame.graph().strongly_connected_components(), limited)
    ways = last_report()["direction"].tolist()
    assert ways.count("colour") == ways.count("back") > 1


def test_a_forest_of_many_batches(limited, monkeypatch):
    module = import_module("dask_graphgpu.engine.cpu.spanning_forest")
    frame, batches, forest = sparse(5), [], module.forest
    frame["weight"] = np.random.default_rng(1).random(len(frame))

    def counted(*given):
        batches.append(len(given[1]))
        return forest(*given)

    monkeypatch.setattr(module, "forest", counted)
    tight = limited | {"graphgpu.host-memory-limit": "450kB"}
    same(lambda: frame.graph(duplicates="keep").minimum_spanning_forest(), tight)
    assert len(batches) > 10


@pytest.mark.parametrize(("k", "seed"), [(None, 0), (None, 1), (40, 2)])
@pytest.mark.parametrize("room", [0, 5_000, 40_000, 10**6])
def test_cores_from_the_top_down(room, seed, k, limited, monkeypatch):
    """With room for no layer, for some after some passes, and for all at once."""
    module = import_module("dask_graphgpu.engine.paged.peeling")
    rng, layers, layer = np.random.default_rng(seed), [], module.TopDown._layer

    def counted(self, *given):
        layers.append(given)
        layer(self, *given)

    begun = module.TopDown.__init__

    def within(self, passes, core, count, _):
        begun(self, passes, core, count, room)

    monkeypatch.setattr(module, "_CHOOSING", 0)
    monkeypatch.setattr(module.TopDown, "_layer", counted)
    monkeypatch.setattr(module.TopDown, "__init__", within)
    skewed = (VERTICES * rng.random((2, 40_000)) ** 3).astype(np.int64)
    frame = pd.concat([sparse(seed), pd.DataFrame({"src": skewed[0], "dst": skewed[1]})])
    graph = lambda: frame.graph(weight=None)  # noqa: E731
    same(lambda: graph().core_number() if k is None else graph().k_core(k), limited)
    number = {0: (0, 0), 5_000: (0, 99), 40_000: (1, 99), 10**6: (1, 1)}[room]
    assert number[0] <= len(layers) <= number[1]


def test_weights_of_a_subgraph_are_those_of_its_edges(limited):
    frame = sparse(1)
    found = same(lambda: frame.graph().ego(305, radius=3), limited)
    assert len(found) > 100
    same(lambda: frame.graph(weight=None).ego(305, radius=3), limited)


@pytest.mark.parametrize("directed", [True, False])
def test_rows_longer_than_a_page(limited, directed):
    """A vertex with most of the edges: its row is at hand as a whole."""
    rng = np.random.default_rng(2)
    hub = pd.DataFrame({"src": 0, "dst": np.arange(1, 2500)})
    rest = pd.DataFrame(rng.integers(0, 2500, (70_000, 2)), columns=["src", "dst"])
    frame = pd.concat([hub, rest, hub.iloc[:, ::-1].set_axis(["src", "dst"], axis=1)])
    limits = limited | {"graphgpu.host-memory-limit": "1MB"}

    def graph():
        return frame.graph(directed=directed)

    same(lambda: graph().hits(), limits, rtol=1e-11)
    same(lambda: graph().label_propagation(4), limits)
    same(lambda: graph().minimum_spanning_forest(), limits)
    same(lambda: graph().strongly_connected_components(), limits)
    same(lambda: graph().core_number(), limits)


@pytest.mark.parametrize("name", ["hits", "label_propagation", "minimum_spanning_forest",
                                  "strongly_connected_components", "core_number"])  # fmt: skip
def test_limits_too_small_for_the_vertices_say_what_is_needed(limited, name):
    frame = sparse(0)
    with (
        dask.config.set(limited | {"graphgpu.host-memory-limit": "150kB"}),
        pytest.raises(LimitTooSmall, match=r"needs [\d,]+ bytes of memory, and .* is 150,000"),
    ):
        getattr(frame.graph(), name)()


def test_samples_too_large_say_so(limited):
    limits = limited | {"graphgpu.host-memory-limit": "900kB"}
    with dask.config.set(limits), pytest.raises(LimitTooSmall, match=r"edges that are drawn"):
        sparse(0).graph().neighbor_sample([0, 1], fanout=[10**9], replace=True)


def test_results_too_large_say_so(limited):
    frame = sparse(0).drop_duplicates(["src", "dst"])
    dense = pd.DataFrame(
        np.random.default_rng(0).integers(0, 900, (60_000, 2)), columns=["src", "dst"]
    )
    dense["weight"] = 1
    frame = pd.concat([frame, dense])
    with dask.config.set(limited), pytest.raises(LimitTooSmall, match=r"a result of [\d,]+ edges"):
        frame.graph().k_core(1)
