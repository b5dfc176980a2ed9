"""A saved graph that takes a hundredth of its edges anew, beside building it of all.

    python tests/benchmarks/updates.py [--scales 20 22] [--pairs 5] [--turns 3]

The saved graph has all edges but a hundredth, drawn at random. *Append* loads it and adds these; *load and BFS* goes
from `dask_graphgpu.load` of what is there then to the computed frame of a search, *load and components* to that of its
components. *Compact* puts the log into the files, beside building and saving. Pairs are strings, as `entities.py` makes
them. Answers are compared with those of the graph that is built. Seconds are the least of ``--turns``, and in brackets
those of processors, which other work on the machine lengthens less.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import pyarrow.parquet as pq
from entities import write_pairs
from graphs import rmat
from new_edges import measured, split

import dask_graphgpu


class Steps:
    """Seconds of each step, the least of some turns."""

    def __init__(self) -> None:
        self.taken: dict[str, tuple[float, float]] = {}

    def run(self, name: str, call: Callable[..., Any], *given: Any) -> Any:
        """What a call gives, measured."""
        kept: list[Any] = []
        now = measured(lambda: kept.append(call(*given)), 1)
        before = self.taken.get(name, now)
        self.taken[name] = min(now[0], before[0]), min(now[1], before[1])
        return kept[0]


def compare(name: str, edges: Path, folder: Path, turns: int, start: Any, **ids: Any) -> str:
    """A row: seconds, and those of processors, of each step."""
    folder.mkdir()
    old, new = split(edges, folder)
    rows, saved, other = pq.read_table(new), folder / "saved", folder / "other"

    def build() -> dask_graphgpu.Graph:
        return dd.read_parquet(edges).graph(directed=False, **ids).persist()

    def grown() -> dask_graphgpu.Graph:
        return dask_graphgpu.load(saved)

    def search() -> Any:
        return grown().bfs(start).compute()

    def components() -> Any:
        return grown().weakly_connected_components().compute()

    for turn in range(turns + 1):
        if turn <= 1:  # the first one compiles
            steps = Steps()
        dd.read_parquet(old).graph(directed=False, **ids).save(saved)
        whole = steps.run("build", build)
        steps.run("save", whole.save, other)
        steps.run("append", lambda: grown().append(rows))
        assert steps.run("load and BFS", search).equals(whole.bfs(start).compute())
        steps.run("load and components", components)
        steps.run("compact", lambda: grown().compact())
        shutil.rmtree(other)
    cells = [f"{wall:.2f} ({processor:.2f})" for wall, processor in steps.taken.values()]
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    """Print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scales", type=int, nargs="*", default=[20])
    parser.add_argument("--pairs", type=float, nargs="*", default=[5], help="millions")
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    print(
        "| graph | build | save | append | load and BFS | load and components | compact |\n"
        "| --- | --- | --- | --- | --- | --- | --- |"
    )
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for scale in options.scales:
            graph = rmat(scale, 16, folder)
            work = folder / f"updates {scale}"
            start = graph.source()
            print(compare(graph.name, graph.path, work, options.turns, start), flush=True)
        for millions in options.pairs:
            pairs, work = folder / f"pairs {millions}", folder / f"updates of pairs {millions}"
            write_pairs(pairs, int(millions * 1e6))
            start = pq.read_table(pairs)["left"][0].as_py()
            ids = {"source": "left", "destination": "right"}
            name = f"{millions:g} M pairs of strings"
            print(compare(name, pairs, work, options.turns, start, **ids), flush=True)


if __name__ == "__main__":
    main()
