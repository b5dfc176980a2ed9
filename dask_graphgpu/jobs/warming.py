"""``dask graph warm``: small jobs in processes of their own, which leave their compiled code for later ones."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pandas as pd

from dask_graphgpu.algorithms import ALGORITHMS
from dask_graphgpu.errors import GraphError, InvalidArgument, guess
from dask_graphgpu.jobs.steps import IDS

WEIGHTS = ("none", "int64", "float32", "float64")
# Vertices, edges, and the power that ids are drawn by: 1 is evenly, and many such edges come in order. Small graphs,
# those with hubs, and those in order go other ways.
_GRAPHS = ((900, 4_000, 1), (600, 2_000, 3), (20_000, 120_000, 1), (20_000, 120_000, 3))
_ORDERED = 100_000  # edges
_REFUSED = 2  # the exit code for arguments and edges that do not go together


def _needed(method: str) -> dict[str, Any]:
    """The types of arguments that a method cannot do without."""
    kind = ALGORITHMS[method]
    hints = get_type_hints(kind)
    return {
        field.name: hints[field.name]
        for field in dataclasses.fields(kind)
        if field.default is dataclasses.MISSING
    }


# Methods whose arguments are ids and numbers: a frame or a program of the user's is not known beforehand.
WARMED = tuple(
    name
    for name in ALGORITHMS
    if all(
        argument in IDS or hint in (int, Sequence[int]) for argument, hint in _needed(name).items()
    )
)


def checked(methods: Sequence[str]) -> list[str]:
    """Names of methods, as the command line has them; none: all that can be warmed."""
    names = [name.replace("-", "_") for name in methods]
    for name in names:
        if name not in WARMED:
            shown = ", ".join(each.replace("_", "-") for each in WARMED)
            why = "needs a frame or a program of yours" if name in ALGORITHMS else "is no method"
            raise InvalidArgument(f"{name!r} {why}; allowed are {shown}.{guess(name, WARMED)}")
    return names or list(WARMED)


def warm(
    methods: Sequence[str],
    engine: str,
    weights: Sequence[str],
    directions: Sequence[bool],
) -> Iterator[tuple[str, float]]:
    """Run each method on made graphs of each kind that it takes; gives its name and the seconds that it took.

    Parameters
    ----------
    methods : sequence of str
        As of `checked`.
    engine : {"cpu", "gpu"}
    weights : sequence of str
        Types of weights, some of ``WEIGHTS``.
    directions : sequence of bool
        Whether edges are directed.

    Raises
    ------
    GraphError
        A run failed, or a method takes no graph of these kinds; it says what the process said.
    """
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as threads:
        for vertices, edges, power in _GRAPHS:
            _made(vertices, edges, power).to_parquet(_file(folder, vertices, power))
        running = {
            name: [
                threads.submit(_run, folder, name, engine, weight, directed)
                for weight in weights
                for directed in directions
            ]
            for name in methods
        }
        for name, jobs in running.items():
            said, seconds = zip(*(job.result() for job in jobs), strict=True)
            if all(said):  # else some kind of graph is not for this method
                raise GraphError(f"{name} cannot be warmed: {said[0]}")
            yield name, sum(seconds)


def _made(vertices: int, edges: int, power: int) -> pd.DataFrame:
    """Edges with weights of all types."""
    random = np.random.default_rng(0)
    ends = (vertices * random.random((edges, 2)) ** power).astype(np.int64)
    if power == 1 and edges > _ORDERED:
        ends = ends[np.lexsort(ends.T[::-1])]
    frame = pd.DataFrame(ends, columns=["src", "dst"])
    for name in WEIGHTS[1:]:
        frame[name] = random.integers(1, 9, edges).astype(name)
    return frame


def _file(folder: str, vertices: int, power: int) -> str:
    return str(Path(folder, f"{vertices}-{power}.parquet"))


def _run(folder: str, method: str, engine: str, weight: str, directed: bool) -> tuple[str, float]:
    """Run a method on every graph; the error of one that it refused, else "", and the seconds that it took."""
    began = time.perf_counter()
    job = Path(folder, f"{method}-{weight}-{'directed' if directed else 'undirected'}")
    job.mkdir()
    read = {"unweighted": True} if weight == "none" else {"weight": weight}
    said = {"algorithm": method, "engine": engine, "undirected": not directed, **read}
    said |= {name: number for number, name in enumerate(_needed(method), 1)}
    steps = (
        said | {"edges": _file(folder, vertices, power), "output": str(job / str(number))}
        for number, (vertices, _, power) in enumerate(_GRAPHS)
    )
    text = "\n".join(
        "\n".join(["[[step]]", *(f"{key} = {json.dumps(value)}" for key, value in step.items())])
        for step in steps
    )
    (job / "job.toml").write_text(text)
    call = [sys.executable, "-m", "dask", "graph", "run", str(job / "job.toml"), "--quiet"]
    done = subprocess.run(call, capture_output=True, text=True)
    line = done.stderr.strip().removeprefix("Error: ")
    if done.returncode not in (0, _REFUSED):
        raise GraphError(f"{method} ended with exit code {done.returncode}: {line}")
    return line if done.returncode else "", time.perf_counter() - began
