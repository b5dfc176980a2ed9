"""Methods on graphs that a limit of memory forces to disk: the answers are those of memory."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from engine_programs import SUMMED
from engines import on_one_cpu
from method_calls import METHODS
from spilled import assert_swept, no_collector

import dask_graphgpu
from dask_graphgpu import last_report
from dask_graphgpu.errors import EngineUnavailable, InvalidArgument, LimitTooSmall

pytestmark = on_one_cpu

ROWS, VERTICES = 60_000, 1000


@pytest.fixture
def limited(tmp_path):
    """Settings under which the edges below lie on disk, in two folders, in small pages."""
    return {
        "graphgpu.host-memory-limit": "900kB",
        "graphgpu.page-bytes": 4096,
        "graphgpu.spill-directories": [str(tmp_path / "a"), str(tmp_path / "b")],
    }


@pytest.fixture(scope="module")
def edges():
    """Skewed random edges with repeats and self-loops, and weights."""
    rng = np.random.default_rng(6)
    source = (VERTICES * rng.random(ROWS) ** 3).astype(np.int64)
    destination = rng.integers(0, VERTICES, ROWS)
    return pd.DataFrame({"src": source, "dst": destination, "weight": rng.integers(1, 99, ROWS)})


def same(method, limited, tmp_path, *, rtol=1e-12):
    """The answer on disk, which is that in memory; and how many bytes were read for it."""
    wanted = method()
    with dask.config.set(limited), no_collector():
        found = method()
        assert_swept(tmp_path)
    read = last_report().attrs["disk_bytes"]
    pd.testing.assert_frame_equal(found, wanted, rtol=rtol, check_exact=rtol == 0)
    assert read > 0
    return read


SUMS = ("pagerank", "heat", "network", "circuit", "beliefs")


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_methods(edges, limited, tmp_path, name, directed):
    rtol = 1e-12 if name.split()[0] in SUMS else 0
    same(lambda: METHODS[name](edges.graph(directed=directed)), limited, tmp_path, rtol=rtol)


@pytest.mark.parametrize("duplicates", ["min", "max", "sum", "keep"])
def test_rules_for_repeats(edges, limited, tmp_path, duplicates):
    graph = lambda: edges.graph(duplicates=duplicates)  # noqa: E731
    same(lambda: graph().pagerank(), limited, tmp_path)
    same(lambda: graph().sssp(source=3), limited, tmp_path, rtol=0)


def test_sums_are_the_same_bit_for_bit(edges, limited, tmp_path):
    graph = lambda: edges.graph(weight=None, order="input")  # noqa: E731
    with dask.config.set({"graphgpu.direction": "pull"}):  # the same program in memory, too
        same(lambda: graph().pagerank(), limited, tmp_path, rtol=0)


def test_edge_columns(edges, limited, tmp_path):
    frame = edges.rename(columns={"weight": "cost"})
    run = lambda: frame.graph(weight=None).run(SUMMED)  # noqa: E731
    same(run, limited, tmp_path)


@pytest.mark.parametrize("direction", ["pull", "notify-pull"])
def test_forced_directions(edges, limited, tmp_path, direction):
    with dask.config.set({"graphgpu.direction": direction}):
        same(lambda: edges.graph().sssp(source=3), limited, tmp_path, rtol=0)
    assert set(last_report()["direction"]) == {direction}


@pytest.mark.parametrize(
    "ids", [lambda x: "v" + x.astype(str), lambda x: x * 10**14 - 5, lambda x: x.astype("uint8")]
)
def test_ids(edges, limited, tmp_path, ids):
    frame = edges.assign(src=ids(edges["src"]), dst=ids(edges["dst"]))
    same(lambda: frame.graph().persist().weakly_connected_components(), limited, tmp_path, rtol=0)
    same(lambda: frame.graph().pagerank(), limited, tmp_path)


def test_several_id_columns(edges, limited, tmp_path):
    frame = edges.assign(a=edges["src"] % 7, b=edges["dst"] % 7)
    columns = {"source": ["src", "a"], "destination": ["dst", "b"]}
    graph = lambda: frame.graph(**columns).persist()  # noqa: E731
    found = lambda: graph().weakly_connected_components()  # noqa: E731
    same(found, limited, tmp_path, rtol=0)


def test_undirected_in_both_directions(edges, limited, tmp_path):
    other = edges.rename(columns={"src": "dst", "dst": "src"})
    frame = pd.concat([edges, other], ignore_index=True)
    same(lambda: frame.graph(directed=False).pagerank(), limited, tmp_path)


def test_vertices_frame(edges, limited, tmp_path):
    vertices = pd.DataFrame({"vertex": np.arange(-5, VERTICES), "p": 1.0})
    graph = lambda: edges.graph(vertices=vertices)  # noqa: E731
    same(lambda: graph().pagerank(personalization="p"), limited, tmp_path)


def test_a_path_reads_the_pages_that_it_needs(limited, tmp_path):
    """The frontier of a path is one vertex: nearly all supersteps notify a page, and pull one."""
    far = 60_000
    frame = pd.DataFrame({"src": np.arange(far), "dst": np.arange(far) + 1})
    frame = frame.iloc[::-1]
    limits = limited | {"graphgpu.host-memory-limit": "4MB"}
    frame = pd.concat([frame] * 5, ignore_index=True)
    with dask.config.set({"graphgpu.direction": "notify-pull"}):
        read = same(lambda: frame.graph().bfs(source=far - 50), limits, tmp_path, rtol=0)
    supersteps = len(last_report())
    assert supersteps >= 50
    assert read < supersteps * 16 * 4096


def test_ids_that_span_most_of_their_type(edges, limited, tmp_path):
    limits = limited | {"graphgpu.host-memory-limit": "950kB"}
    narrow = (edges[["src", "dst"]] % 200 - 128).astype("int8")
    same(lambda: narrow.graph().bfs(5), limits, tmp_path, rtol=0)


def test_a_path_has_the_lightest_of_edges_that_are_kept(edges, limited, tmp_path):
    limits = limited | {"graphgpu.host-memory-limit": "3MB"}
    twice = pd.concat([edges.assign(weight=edges["weight"] + 1), edges])
    same(lambda: twice.graph(duplicates="keep").shortest_path(3, 990), limits, tmp_path, rtol=0)


def test_parquet_and_persist(edges, limited, tmp_path):
    folder = tmp_path.parent / f"{tmp_path.name}-edges"
    dd.from_pandas(edges, npartitions=5).to_parquet(folder)
    wanted = edges.graph().pagerank()
    with dask.config.set(limited):
        graph = dd.read_parquet(folder).graph()
        plan = graph.explain()
        assert plan.disk_bytes > 0
        assert "bytes in pages in" in str(plan)
        pd.testing.assert_frame_equal(graph.pagerank().compute(), wanted, check_dtype=False)
        kept = graph.persist()
        exact = kept.explain()
        assert exact.disk_bytes == ROWS * (4 + edges["weight"].astype("uint32").dtype.itemsize)
        assert exact.bytes < 900_000
        for _ in range(2):
            found = kept.pagerank().compute()
            pd.testing.assert_frame_equal(found, wanted, check_dtype=False)
        assert list((tmp_path / "a").iterdir())
        del kept, graph
    assert_swept(tmp_path)


def test_small_graphs_stay_in_memory(edges, limited):
    with dask.config.set(limited):
        edges[:1000].graph().pagerank()
        assert last_report().attrs["disk_bytes"] == 0
        assert edges[:1000].graph().explain().disk_bytes is None


def test_push_and_order_and_engine(edges, limited):
    with dask.config.set(limited):
        with (
            dask.config.set({"graphgpu.direction": "push"}),
            pytest.raises(EngineUnavailable, match="pulled"),
        ):
            edges.graph().pagerank()
        with pytest.raises(InvalidArgument, match="order of their ids"):
            edges.graph(order="degree").pagerank()
        with pytest.raises(InvalidArgument, match="layout='rows'"):
            edges.graph(layout="layered").pagerank()
        with pytest.raises(EngineUnavailable, match="works in memory"):
            edges.graph(engine="interpreted").pagerank()


def test_several_ranks_are_refused(edges, limited):
    with dask.config.set(limited), pytest.raises(EngineUnavailable, match="ranks=1"):
        edges.graph(ranks=2).pagerank()


def test_computed_frames_are_refused(edges, limited):
    frame = dd.from_pandas(edges, npartitions=2)
    with dask.config.set(limited), pytest.raises(InvalidArgument, match="to_parquet"):
        frame.graph().pagerank()


def test_a_limit_too_small_for_the_vertices(limited):
    frame = pd.DataFrame({"src": np.arange(50_000), "dst": np.arange(50_000) + 1})
    with (
        dask.config.set(limited | {"graphgpu.host-memory-limit": "300kB"}),
        pytest.raises(LimitTooSmall, match=r"needs [\d,]+ bytes of memory, and .* is 300,000"),
    ):
        frame.graph().pagerank()


def test_the_home_of_the_user(edges, limited, tmp_path, monkeypatch):
    """As a shell would have it: no folder of the name ~ appears."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with dask.config.set(limited | {"graphgpu.spill-directories": ["~/pages"]}):
        edges.graph().pagerank(checkpoint="~/checkpoint")
        edges.graph().save("~/saved")
        found = dask_graphgpu.load("~/saved").pagerank().compute()
    assert {"pages", "saved"} <= {each.name for each in tmp_path.iterdir()}
    assert not (tmp_path / "~").exists()
    pd.testing.assert_frame_equal(found, edges.graph().pagerank(), rtol=1e-12)


@pytest.mark.parametrize(
    "settings",
    [
        {"host-memory-limit": "much"},
        {"host-memory-limit": -1},
        {"host-memory-limit": 1.5},
        {"host-memory-limit": True},
        {"page-bytes": 1000},
        {"spill-directories": []},
        {"spill-directories": [""]},
        {"spill-directories": [3]},
    ],
)
def test_bad_settings(edges, limited, settings):
    changed = limited | {f"graphgpu.{name}": value for name, value in settings.items()}
    with dask.config.set(changed), pytest.raises(InvalidArgument, match="graphgpu"):
        edges.graph().pagerank()
