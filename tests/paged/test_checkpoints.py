"""Methods with checkpoint= on edges in pages on disk, cut short and gone on with."""

import json
import os
import signal
import subprocess
import sys

import dask
import numpy as np
import pandas as pd
import pytest
from engines import on_one_cpu
from kept_runs import Cut, cutting

from dask_graphgpu import Checkpoint, Field, VertexProgram, last_report
from dask_graphgpu.errors import InvalidCheckpoint, NotConverged

pytestmark = on_one_cpu

VERTICES = 1000

ODD = VertexProgram(  # some get nothing in a superstep, and rows that are cut have whole sums
    state={"x": Field("float64", initial=lambda id: id % 7 + 0.1)},  # noqa: A006
    compute=lambda source_x, edge_weight: source_x * edge_weight,
    combine="sum",
    apply=lambda x, message: 0.3 * x + 1e-4 * message,
    active=lambda new_x: new_x % 2 < 1.2,
    stop=lambda superstep: superstep >= 5,
)
HOPS = VertexProgram(
    state={"hops": Field("int64", initial=None, at_source=0)},
    compute=lambda source_hops: source_hops + 1,
    combine="min",
    apply=lambda hops, message: min(hops, message),
)
PROGRAMS = {"sums": (ODD, {}), "minima": (HOPS, {"source": 3})}


@pytest.fixture
def limited(tmp_path):
    return {
        "graphgpu.host-memory-limit": "900kB",
        "graphgpu.page-bytes": 4096,
        "graphgpu.spill-directories": [str(tmp_path / "pages")],
    }


@pytest.fixture
def edges():
    made = np.random.default_rng(6)
    source, destination = made.integers(0, VERTICES, (2, 60_000))
    return pd.DataFrame({"src": source, "dst": destination, "weight": made.integers(1, 99, 60_000)})


def rank(graph, path, **arguments):
    kept = Checkpoint(path, seconds=None, supersteps=1)
    return graph.pagerank(tolerance=1e-12, checkpoint=kept, **arguments)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("after", [True, False])
def test_what_was_kept_goes_on(edges, limited, tmp_path, directed, before, after):
    graph, path, bare = edges.graph(directed=directed), tmp_path / "kept", {}
    wanted = graph.pagerank(tolerance=1e-12)
    of_all = last_report()["supersteps"].sum()
    with dask.config.set(limited if before else bare), pytest.raises(NotConverged):
        rank(graph, path, max_iterations=5)
    with dask.config.set(limited if after else bare):
        found = rank(graph, path, resume=True)
    assert (last_report().attrs["disk_bytes"] > 0) == after
    assert last_report()["supersteps"].sum() == of_all - 5
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-12)
    assert not path.exists()


def test_a_checkpoint_of_other_edges_is_refused(edges, limited, tmp_path):
    other = edges.assign(weight=edges["weight"] + (edges.index == len(edges) - 1))
    with dask.config.set(limited):
        with pytest.raises(NotConverged):
            rank(edges.graph(), tmp_path / "kept", max_iterations=5)
        with pytest.raises(InvalidCheckpoint, match="the edges or their weights differ"):
            rank(other.graph(), tmp_path / "kept", resume=True)


def test_paths_go_on(edges, limited, tmp_path):
    wanted = edges.graph().sssp(0)
    with dask.config.set(limited):
        kept = Checkpoint(tmp_path / "kept", seconds=None, supersteps=1)
        pd.testing.assert_frame_equal(edges.graph().sssp(0, checkpoint=kept), wanted)


@pytest.mark.parametrize("direction", ["auto", "pull", "notify-pull"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_in_the_middle_of_a_superstep(edges, limited, tmp_path, name, direction):
    """Between any two groups of pages, and what is behind is not read again."""
    program, given = PROGRAMS[name]
    hub = edges.assign(dst=edges["dst"].where(edges.index % 12 > 0, 7))  # its row is cut
    within, limited["graphgpu.direction"] = 0, direction
    with dask.config.set(limited):
        graph = hub.graph().persist()
        wanted = graph.run(program, **given)
        whole = last_report().attrs["disk_bytes"]
        for writes in (1, 9, 14, 47):
            path = tmp_path / f"kept {writes}"
            kept = Checkpoint(path, seconds=0)
            try:
                with cutting(writes):
                    graph.run(program, checkpoint=kept, **given)
            except Cut:
                pass
            else:
                continue
            columns = json.loads((path / "manifest.json").read_text())["columns"]
            within += "gathered all" in columns
            rarely = Checkpoint(path)
            found = graph.run(program, checkpoint=rarely, resume=True, **given)
            pd.testing.assert_frame_equal(found, wanted, check_exact=True)
            assert last_report().attrs["disk_bytes"] < whole or writes < 3
    assert within > 1


def test_in_the_middle_and_on_in_memory(edges, limited, tmp_path):
    """Who knows of no middle begins the superstep anew."""
    kept = Checkpoint(tmp_path / "kept", seconds=0)
    with dask.config.set(limited), pytest.raises(Cut), cutting(18):
        edges.graph().run(ODD, checkpoint=kept)
    assert "gathered all" in (tmp_path / "kept" / "manifest.json").read_text()
    found = edges.graph().run(ODD, checkpoint=Checkpoint(tmp_path / "kept"), resume=True)
    pd.testing.assert_frame_equal(found, edges.graph().run(ODD), rtol=1e-12)


KILLED = """
import os, sys, dask, numpy as np, pandas as pd
from dask_graphgpu import Checkpoint, last_report
from dask_graphgpu.checkpoint import CheckpointKeeper

frame, path, pages, after = sys.argv[1:]
write, count = CheckpointKeeper.write, []

def counted(self, *arguments):
    write(self, *arguments)
    count.append(1)
    if len(count) == int(after):
        print("kept", flush=True)
        import time
        time.sleep(600)

CheckpointKeeper.write = counted
settings = {
    "graphgpu.host-memory-limit": "900kB", "graphgpu.page-bytes": 4096,
    "graphgpu.spill-directories": [pages],
}
with dask.config.set(settings):
    kept = Checkpoint(path, seconds=0 if after != "0" else 60)
    ranks = pd.read_parquet(frame).graph().pagerank(
        tolerance=1e-12, checkpoint=kept, resume=after == "0"
    )
    print(last_report().attrs["disk_bytes"], flush=True)
    ranks.to_parquet(frame + ".ranks")
"""


def test_a_process_that_is_killed(edges, limited, tmp_path):
    """With kill -9, in the middle of a pass over all pages; another process goes on from there."""
    frame, path, pages = tmp_path / "edges", tmp_path / "kept", tmp_path / "pages"
    edges.to_parquet(frame)
    command = [sys.executable, "-c", KILLED, str(frame), str(path), str(pages)]
    with subprocess.Popen([*command, "23"], stdout=subprocess.PIPE) as run:
        try:
            assert run.stdout.readline() == b"kept\n"
        finally:
            os.kill(run.pid, signal.SIGKILL)
    assert "gathered all" in (path / "manifest.json").read_text()
    left = [name for name in os.listdir(pages) if (pages / name).is_dir()]
    assert left
    subprocess.run([*command, "0"], check=True, stdout=subprocess.PIPE)
    assert not any((pages / name).exists() for name in left)  # swept by who began next
    found = pd.read_parquet(f"{frame}.ranks")
    with dask.config.set(limited):
        pd.testing.assert_frame_equal(found, edges.graph().pagerank(tolerance=1e-12))
    assert not path.exists()
