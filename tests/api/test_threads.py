"""Graph calls from several threads at once, and in a forked child of a process that made some."""

import subprocess
import sys
import threading

import dask
import numpy as np
import pandas as pd
import pytest

import dask_graphgpu  # noqa: F401  puts .graph on frames


@pytest.fixture
def edges():
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "src": rng.integers(0, 20_000, 200_000),
            "dst": rng.integers(0, 20_000, 200_000),
            "weight": rng.integers(1, 64, 200_000),
        }
    )


def test_calls_from_several_threads_at_once(edges):
    graph = edges.graph().persist()
    calls = [
        lambda: graph.bfs(7),
        lambda: graph.sssp(7),
        lambda: graph.pagerank(),
        lambda: graph.weakly_connected_components(),
    ] * 2
    with dask.config.set({"graphgpu.threads": 2}):
        alone = [call() for call in calls]
        together = [None] * len(calls)

        def run(i):
            together[i] = calls[i]()

        threads = [threading.Thread(target=run, args=(i,)) for i in range(len(calls))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
    for one, other in zip(alone, together, strict=True):
        pd.testing.assert_frame_equal(one, other, rtol=1e-12)


FORK = """
import os, sys
import dask, numpy as np, pandas as pd
import dask_graphgpu

dask.config.set({"graphgpu.threads": 2})
rng = np.random.default_rng(5)
edges = pd.DataFrame({name: rng.integers(0, 20_000, 200_000) for name in ("src", "dst", "weight")})
graph = edges.graph().persist()
before = graph.pagerank(), graph.sssp(7), graph.bfs(7)
child = os.fork()
if child == 0:
    after = graph.pagerank(), graph.sssp(7), edges.graph.bfs(7)
    same = all(a.equals(b) for a, b in zip(before, after))
    os._exit(0 if same else 3)
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_calls_in_a_forked_child():
    code = subprocess.run([sys.executable, "-W", "ignore", "-c", FORK], timeout=200).returncode
    assert code == 0, (
        f"the child ended with {code} (3: other answers, negative: killed by a signal)"
    )
