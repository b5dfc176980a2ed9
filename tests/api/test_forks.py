"""Forked children have none of their parent's threads, and answer all the same; also beside a client of the parent."""

import os
import subprocess
import sys

import pytest
from commands import with_package

PROGRAM = """
import multiprocessing, sys
import dask.dataframe as dd, pandas as pd
from contextlib import nullcontext
from distributed import Client
import dask_graphgpu

edges = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 3, 0]})

def distances(lazy, ranks):
    frame = dd.from_pandas(edges, npartitions=2) if lazy else edges
    result = frame.graph(ranks=ranks).bfs(0)
    return (result.compute() if lazy else result)["distance"].tolist()

def work(queue, *arguments):
    queue.put(distances(*arguments))

if __name__ == "__main__":
    how = dict(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None)
    with Client(**how) if sys.argv[1] == "client" else nullcontext():
        context = multiprocessing.get_context("fork")
        for lazy in (True, False):
            for ranks in (1, 2, "auto"):
                wanted = distances(lazy, ranks)  # so the parent has used its threads
                queue = context.Queue()
                child = context.Process(target=work, args=(queue, lazy, ranks))
                child.start()
                assert queue.get(timeout=60) == wanted
                child.join()
        print("right")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.parametrize("beside", ["nobody", "client"])
def test_a_forked_child_answers(tmp_path, beside):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, tmp_path / "program.py", beside],
        capture_output=True,
        check=False,
        timeout=300,
        env=with_package(),
    )
    assert done.stdout == b"right\n", done.stderr
