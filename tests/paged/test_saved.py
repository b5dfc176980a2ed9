"""Graphs beyond a limit of memory, saved: the files and answers of those in memory."""

import json

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from engines import on_one_cpu

import dask_graphgpu as dg
from dask_graphgpu.errors import OutputError

pytestmark = on_one_cpu


@pytest.fixture
def limited(tmp_path):
    """Settings under which the edges below lie on disk, in two folders, in small pages."""
    return {
        "graphgpu.host-memory-limit": "900kB",
        "graphgpu.page-bytes": 4096,
        "graphgpu.spill-directories": [str(tmp_path / "a"), str(tmp_path / "b")],
    }


def edges(rows=60_000, vertices=1000, repeats=True):
    rng = np.random.default_rng(6)
    source = (vertices * rng.random(rows) ** 3).astype(np.int64)
    made = pd.DataFrame({"src": source, "dst": rng.integers(0, vertices, rows)})
    made = made if repeats else made.drop_duplicates()
    return made.assign(weight=rng.integers(1, 99, len(made)), cost=rng.random(len(made)))


def saved(graph, path, **columns):
    return dg.load(graph.save(path, **columns))


@pytest.mark.parametrize("lazy", [False, True])
def test_the_files_are_as_of_a_graph_in_memory(lazy, limited, tmp_path):
    frame = edges(repeats=False)
    frame.to_parquet(tmp_path / "edges.parquet", row_group_size=5_000)
    graph = (dd.read_parquet(tmp_path / "edges.parquet") if lazy else frame).graph(order="input")
    graph.save(tmp_path / "memory", columns="cost")
    with dask.config.set(limited):
        graph.save(tmp_path / "disk", columns="cost")
    one, other = (
        json.loads(next((tmp_path / name).glob("*.json")).read_text())
        for name in ("memory", "disk")
    )
    # Pages are by destination, so the names of the two directions change places.
    sums = [sorted(file["sha256"] for file in each["files"].values()) for each in (one, other)]
    assert sums[0] == sums[1]
    assert one["counts"] == other["counts"]
    dg.load(tmp_path / "disk", verify=True)
    assert not any(path for name in "ab" for path in (tmp_path / name).iterdir())


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("duplicates", ["auto", "keep"])
def test_answers(directed, duplicates, limited, tmp_path):
    given = {"directed": directed, "duplicates": duplicates}
    graph = edges().graph(**given)
    with dask.config.set(limited):
        found = saved(graph, tmp_path / "disk")
    for name, arguments in (
        ("bfs", {"source": 3}),
        ("sssp", {"source": 3}),
        ("pagerank", {}),
        ("weakly_connected_components", {}),
        ("core_number", {}),
        ("triangle_count", {}),
    ):
        if name in ("core_number", "triangle_count") and directed:
            continue
        wanted = getattr(graph, name)(**arguments)
        got = getattr(found, name)(**arguments).compute()
        pd.testing.assert_frame_equal(
            got.sort_values("vertex", ignore_index=True),
            wanted.sort_values("vertex", ignore_index=True),
            rtol=1e-12,
        )


def test_nothing_is_left_of_what_cannot_be_saved(limited, tmp_path, monkeypatch):
    graph, before = edges().graph(), sorted(tmp_path.iterdir())

    def full(path, values):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dask_graphgpu.store.save.write_paged", full)
    with dask.config.set(limited), pytest.raises(OutputError, match="No space left"):
        graph.save(tmp_path / "disk")
    left = [path for path in tmp_path.iterdir() if path not in before]
    assert {path.name for path in left} <= {"a", "b"}
    assert not any(path for folder in left for path in folder.iterdir())
