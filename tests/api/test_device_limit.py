"""What `explain` says about a limit of the GPU's memory; it needs no GPU."""

import dask
import numpy as np
import pandas as pd
import pytest

from dask_graphgpu import engine as engines
from dask_graphgpu.engine import driver
from dask_graphgpu.errors import InvalidArgument

ENDS = np.random.default_rng(1).integers(500, size=(2, 40_000))
EDGES = pd.DataFrame({"src": ENDS[0], "dst": ENDS[1], "weight": np.ones(40_000, np.int64)})


@pytest.fixture(autouse=True)
def any_machine(monkeypatch):
    """A graph for a GPU can be made where there is none; nothing here works on one."""
    monkeypatch.setattr(driver, "missing", lambda: None)


def lines(graph, **settings):
    given = {"device-memory-limit": 100_000, "transfer": "auto", "rounds": "auto"}
    with dask.config.set({"graphgpu": {**given, **settings}}):
        text = str(graph.explain())
    return {line[:12].strip(): line[12:] for line in text.splitlines()}


def number(text):
    return int(text.split("about ")[1].split(" bytes")[0].replace(",", ""))


@pytest.mark.parametrize("directed", [True, False])
def test_bytes_of_a_graph_that_does_not_fit(directed):
    graph = EDGES.graph(directed=directed, duplicates="keep", engine="gpu").persist()
    plan = graph.explain()
    assert plan.num_edges == 40_000 if directed else 70_000 < plan.num_edges < 80_000
    size = plan.num_edges * 4  # words of 9 bits for an id and 1 for the weight
    said = lines(graph, rounds="asynchronous", transfer="compact")
    assert 90_000 < number(said["GPU memory"]) <= 100_000
    assert said["GPU memory"].endswith("of 100,000")
    assert number(said["pinned"]) == size
    assert said["pinned"].endswith(", 4 each")
    assert "ids alone" not in said  # they take as much
    assert size - 100_000 < number(said["link"]) < size
    assert said["link"].endswith("transfer 'compact', rounds asynchronous")


def test_pages_that_the_gpu_and_the_cpu_share():
    graph = EDGES.graph(engine="hybrid").persist()
    said = lines(graph, dispatch="alternate")
    assert number(said["pinned"]) == 40_000 * 4
    pages = said["pages"].removeprefix("about ")
    assert int(pages.split(",")[0]) > 1
    assert pages.endswith("for the GPU or the CPU, dispatch 'alternate'")
    assert "pages" not in lines(EDGES.graph(engine="gpu").persist())
    assert "pages" not in lines(graph, **{"device-memory-limit": "1GB"})
    with pytest.raises(InvalidArgument, match=r"graphgpu\.dispatch is 'dice'"):
        lines(graph, dispatch="dice")


def test_before_it_is_built():
    said = lines(EDGES.graph(engine="gpu"), **{"device-memory-limit": "6MB"})
    assert number(said["GPU memory"]) == 80_000 * 64 + 40_000 * 12
    assert "pinned" not in said
    assert said["link"] == "nothing: all edges stay in the GPU's memory"


def test_a_limit_too_small_is_said():
    graph = EDGES.graph(engine="gpu").persist()
    said = lines(graph, **{"device-memory-limit": 1000})
    assert "a graph of 500 vertices needs" in said["GPU memory"]
    assert "pinned" not in said


def test_other_engines_and_no_limit_have_no_such_lines():
    for graph, limit in ((EDGES.graph(engine="cpu"), 1000), (EDGES.graph(engine="gpu"), None)):
        assert "GPU memory" not in lines(graph, **{"device-memory-limit": limit})


def test_settings_that_are_none():
    graph = EDGES.graph(engine="gpu")
    for name, value in (("transfer", "fly"), ("rounds", "some"), ("device-memory-limit", -1)):
        with pytest.raises(InvalidArgument, match=f"graphgpu.{name} is"):
            lines(graph, **{name: value})


# Ids take 9 bits, which leaves 23 and 55 for a weight less the least one.
@pytest.mark.parametrize(
    ("weights", "each"),
    [
        (np.array([3, 2**23 + 2]), 4),
        (np.array([3, 2**23 + 3]), 8),
        (np.array([0.0, 2.0**23 - 1]), 4),  # whole floats
        (np.array([0.5, 1.0]), 12),  # they stay as they are
    ],
)
def test_edges_are_told_as_they_cross_the_link(weights, each):
    graph = EDGES.assign(weight=weights[EDGES.index % 2]).graph(engine="gpu").persist()
    said = lines(graph)
    assert number(said["pinned"]) == 40_000 * each
    assert said["pinned"].endswith(f", {each} each")
    limit = 100_000 - 500 * 64
    assert 40_000 * each - limit <= number(said["link"]) < 40_000 * each - limit // 2
    if each == 4:
        assert "ids alone" not in said
        return
    assert number(said["ids alone"]) == 40_000 * 4
    moved = int(said["ids alone"].split("and ")[1].split(" ")[0].replace(",", ""))
    assert 40_000 * 4 - limit <= moved < 40_000 * 4 - limit // 2


def test_what_fits_in_words_is_not_pinned():
    graph = EDGES.graph(engine="gpu").persist()
    said = lines(graph, **{"device-memory-limit": 40_000 * 5 + 500 * 64})
    assert number(said["GPU memory"]) == 40_000 * 4 + 500 * 64
    assert "pinned" not in said


def test_edges_on_disk_cross_as_they_lie_there(tmp_path):
    settings = {
        "host-memory-limit": "900kB",
        "spill-directories": [str(tmp_path)],
        "page-bytes": 4096,
    }
    with dask.config.set({f"graphgpu.{name}": value for name, value in settings.items()}):
        graph = EDGES.graph(engine="gpu").persist()
        plan = graph.explain()
    said = lines(graph)
    assert plan.disk_bytes == 40_000 * plan.edge_bytes
    assert "pinned" not in said
    size = 40_000 * plan.edge_bytes
    assert size - (100_000 - 500 * 64) <= number(said["link"]) < size
    assert f"{plan.edge_bytes} each, from disk" in said["link"]
    assert said["link"].endswith("transfer 'stream', rounds auto")
    assert "pages" not in said
    graph._engine = "hybrid"
    assert lines(graph)["pages"] == "for the GPU or the CPU, dispatch 'auto'"
    said = lines(graph, **{"device-memory-limit": None})
    assert said["GPU memory"].startswith("no limit")
    assert number(said["link"]) == size
    graph._engine = "cpu"
    said = lines(graph)
    assert number(said["read"]) == size
    assert said["read"].endswith("by pull or notify-pull")
    assert {"GPU memory", "link", "pages"}.isdisjoint(said)


def test_layers_have_either_end_of_an_edge():
    graph = EDGES.graph(engine="gpu", layout="layered").persist()
    said = lines(graph)
    assert number(said["pinned"]) == 40_000 * (4 + graph.explain().edge_bytes)
    assert number(said["ids alone"]) == 40_000 * 8


def test_without_a_limit_weights_are_not_looked_at(monkeypatch):
    def looked(*given):
        raise AssertionError

    monkeypatch.setattr(engines, "word_bytes", looked)
    with dask.config.set({"graphgpu.device-memory-limit": None}):
        EDGES.graph(engine="gpu").persist().explain()
    EDGES.graph(engine="cpu").persist().explain()


@pytest.mark.parametrize(("largest", "size"), [(9, 8), (2**32 - 1, 8), (2**32, 12)])
def test_weights_take_as_few_bits_as_they_need(largest, size):
    edges = EDGES.assign(weight=np.where(EDGES.index % 2, 1, largest))
    assert edges.graph(engine="gpu").persist().explain().edge_bytes == size
