"""Yesterday's answer and the edges that are new since, beside the whole run: components and ranks.

    python tests/benchmarks/new_edges.py [--scales 20 22] [--pairs 5] [--turns 3]

Components are from Parquet to Parquet, in this process: of all edges; and of a hundredth of them, drawn at random,
with ``labels`` of the others. Pairs are strings, as `entities.py` makes them. ``--turns`` : medians of so many.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from entities import write_pairs
from graphs import rmat

import dask_graphgpu  # noqa: F401  registers .graph
from dask_graphgpu.io.output import write_parquet

_PART = 100  # one in so many edges is new


def components(edges: Path, output: Path, **given: str | Path) -> None:
    """One call, from files to files."""
    labels = given.pop("labels", None)
    more = {} if labels is None else {"labels": dd.read_parquet(labels)}
    found = dd.read_parquet(edges).graph(**given).weakly_connected_components(**more)
    write_parquet(found, output)


def measured(call: Callable[[], None], turns: int) -> float:
    """Median of the seconds of some calls."""
    seconds = []
    for _ in range(turns):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def split(edges: Path, folder: Path) -> tuple[Path, Path]:
    """Files of the edges without the new ones, and of these."""
    table = pq.read_table(edges)
    new = np.random.default_rng(5).random(len(table)) < 1 / _PART
    paths = folder / "old.parquet", folder / "new.parquet"
    for path, chosen in zip(paths, (~new, new), strict=True):
        pq.write_table(table.filter(pa.array(chosen)), path)
    return paths


def compare(name: str, edges: Path, folder: Path, turns: int, **ids: str) -> str:
    """A row: seconds of all edges, and of the new ones with labels; the answers are the same."""
    folder.mkdir()
    old, new = split(edges, folder)
    components(old, folder / "labels", **ids)
    every = measured(lambda: components(edges, folder / "every", **ids), turns)
    given = {"labels": folder / "labels", **ids}
    added = measured(lambda: components(new, folder / "added", **given), turns)
    answers = [pq.read_table(folder / each) for each in ("every", "added")]
    assert answers[0].equals(answers[1])
    return f"| {name} | {every:.2f} | {added:.3f} | {every / added:.1f} |"


def main() -> None:
    """Print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scales", type=int, nargs="*", default=[20])
    parser.add_argument("--pairs", type=float, nargs="*", default=[5], help="millions")
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    print("| components of | all edges, s | 1 % and labels, s | times |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for scale in options.scales:
            graph = rmat(scale, 16, folder)
            print(compare(graph.name, graph.path, folder / str(scale), options.turns), flush=True)
        ids = {"source": "left", "destination": "right"}
        for millions in options.pairs:
            made = folder / f"pairs {millions}"
            write_pairs(made, int(millions * 1e6))
            name, work = f"{millions:g} M pairs of strings", folder / f"work {millions}"
            print(compare(name, made, work, options.turns, **ids), flush=True)


if __name__ == "__main__":
    main()
