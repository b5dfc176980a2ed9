"""Peak memory of jobs by method: bytes for each vertex and each edge row, from two graphs of other shapes.

Run by hand: ``python tests/benchmarks/job_memory.py``. Each job is a process of its own, which says its peak in the
summary of its events; that of a job on a tiny graph is taken away.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

SHAPES = {"tiny": (1_000, 2_000), "dense": (400_000, 4_000_000), "sparse": (1_500_000, 2_000_000)}
METHODS = {
    "degree": [],
    "pagerank": ["--max-iterations", "10", "--tolerance", "0"],
    "pagerank, weights": ["--max-iterations", "10", "--tolerance", "0"],
    "weakly-connected-components": [],
    "bfs": ["--source", "0"],
    "sssp, weights": ["--source", "0"],
    "core-number": ["--undirected"],
    "triangle-count": ["--undirected"],
    "louvain": ["--undirected"],
    "degree, strings": [],
}


def make(folder):
    made = np.random.default_rng(1)
    for name, (vertices, edges) in SHAPES.items():
        frame = pd.DataFrame(made.integers(0, vertices, (edges, 2)), columns=["src", "dst"])
        frame.to_parquet(folder / f"{name}.parquet", row_group_size=500_000)
        frame.assign(weight=made.random(edges)).to_parquet(
            folder / f"{name}, weights.parquet", row_group_size=500_000
        )
        text = frame.apply(lambda ids: "vertex-" + ids.astype(str).str.zfill(9))
        text.to_parquet(folder / f"{name}, strings.parquet", row_group_size=500_000)


def peak(folder, shape, method, words):
    name, _, kind = method.partition(", ")
    edges = folder / f"{shape}{', ' * bool(kind)}{kind}.parquet"
    code = "from dask_graphgpu.jobs.cli import graph; graph()"
    out = folder / "out"
    done = subprocess.run(
        [sys.executable, "-c", code, name, edges, *words, "--output", out, "--log", "json"],
        stderr=subprocess.PIPE,
        check=True,
        env={**os.environ, "DASK_GRAPHGPU__THREADS": "2"},
    )
    return json.loads(done.stderr.splitlines()[-1])["peak_memory"]


def main():
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make(folder)
        print("| method | bytes a vertex | bytes an edge row |\n| --- | --- | --- |")
        for method, words in METHODS.items():
            peaks = {shape: peak(folder, shape, method, words) for shape in SHAPES}
            more = [peaks[shape] - peaks["tiny"] for shape in ("dense", "sparse")]
            vertex, edge = np.linalg.solve([SHAPES["dense"], SHAPES["sparse"]], more)
            print(f"| {method} | {vertex:.0f} | {edge:.0f} |", flush=True)


if __name__ == "__main__":
    main()
