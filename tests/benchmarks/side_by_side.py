"""Contenders of `compare.py`, each in a process of its own, one after the other on cores that are its own.

A group is some cells of one graph. Groups run side by side where there are cores for several.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compare_tables import Row
from contender import can_count, our_cells, peer_cells
from graphs import BenchmarkGraph
from ours import Ours
from peers import load

_CHILD = Path(__file__).with_name("compare.py")


@dataclass(frozen=True)
class Group:
    """Some algorithms on one graph."""

    graph: BenchmarkGraph
    algorithms: tuple[str, ...]

    @classmethod
    def of(cls, graphs: Sequence[BenchmarkGraph], algorithms: Sequence[str]) -> list[Group]:
        """A group a graph, the largest first; the largest graph's algorithms are two groups."""
        sizes = {graph.name: graph.path.stat().st_size for graph in graphs}
        ordered = sorted(graphs, key=lambda graph: -sizes[graph.name])
        made = []
        for graph in ordered:
            able = [each for each in algorithms if can_count(graph, each)]
            # Every other one: algorithms that are alike stand side by side.
            parts = [able[::2], able[1::2]] if graph is ordered[0] and len(ordered) > 1 else [able]
            made += [cls(graph, tuple(part)) for part in parts if part]
        return made


class Contest:
    """Rows that fill as contenders tell of their cells, and what is to be said of those that do not.

    Parameters
    ----------
    seconds : after so many no process runs any more.
    """

    def __init__(self, groups: Sequence[Group], peers: Sequence[str], seconds: float) -> None:
        self._groups, self._peers = groups, peers
        self._end = time.monotonic() + seconds
        self._lock = threading.Lock()
        self.rows = {
            (group.graph.name, algorithm): Row(group.graph.name, algorithm)
            for group in groups
            for algorithm in group.algorithms
        }
        self.remarks: dict[str, None] = {}  # in their order, each once

    def rows_of(self, graphs: Sequence[BenchmarkGraph], algorithms: Sequence[str]) -> list[Row]:
        """All rows, in the order of graphs and algorithms."""
        keys = ((graph.name, algorithm) for graph in graphs for algorithm in algorithms)
        return [self.rows[key] for key in keys if key in self.rows]

    def run(self, cores: Sequence[Sequence[int]]) -> Iterator[str]:
        """Measure all groups, each on one of some sets of cores; a line of each that ends."""
        free: queue.SimpleQueue[Sequence[int]] = queue.SimpleQueue()
        for each in cores:
            free.put(each)
        with ThreadPoolExecutor(len(cores)) as pool:
            yield from pool.map(lambda group: self._group(group, free), self._groups)

    def _group(self, group: Group, free: queue.SimpleQueue[Sequence[int]]) -> str:
        cores, start = free.get(), time.monotonic()
        try:
            for name in (Ours.name, *self._peers):
                self._contender(group, name, cores)
        finally:
            free.put(cores)
        on = ",".join(map(str, cores))
        return f"{group.graph.name}, {len(group.algorithms)} cells: {time.monotonic() - start:.0f} s on cores {on}"

    def _contender(self, group: Group, name: str, cores: Sequence[int]) -> None:
        """Run one process, and take what it says line by line, so that a cell that is measured is not lost."""
        rows = {algorithm: self.rows[group.graph.name, algorithm] for algorithm in group.algorithms}
        best = {each: min(row.wholes.values()) for each, row in rows.items() if row.wholes}
        task = {**told(group.graph), "algorithms": group.algorithms, "best": best}
        command = ["taskset", "-c", ",".join(map(str, cores)), sys.executable, str(_CHILD)]
        errors: list[str] = []
        with subprocess.Popen(
            [*command, "--child", name, json.dumps(task)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        ) as process:  # fmt: skip
            timer = threading.Timer(max(self._end - time.monotonic(), 0), process.kill)
            timer.start()
            reader = threading.Thread(target=lambda: errors.extend(process.stderr or ()))
            reader.start()
            for line in process.stdout or ():
                said = json.loads(line) if line.startswith("{") else {}
                if "missing" in said:
                    self._remark(f"{name} is left out: {said['missing']}")
                elif said:
                    self._enter(rows[said["algorithm"]], name, said["cell"])
            failed, late = process.wait(), not timer.is_alive()
            timer.cancel()
            reader.join()
        if failed and late:
            self._remark(f"{name} on {group.graph.name} was stopped: the time was over")
        elif failed:
            self._remark(f"{name} on {group.graph.name} failed: {''.join(errors[-1:]).strip()}")

    def _enter(self, row: Row, name: str, cell: dict[str, float]) -> None:
        if name == Ours.name:
            vars(row).update(cell)
            return
        row.kernels[name] = cell["kernel"]
        if "whole" in cell:
            row.wholes[name] = cell["whole"]

    def _remark(self, text: str) -> None:
        with self._lock:
            self.remarks[text] = None


def child(name: str, task: dict[str, Any], say: Callable[[str], None]) -> None:
    """Measure one contender, and say a line of JSON for each cell."""
    graph = BenchmarkGraph(task["name"], Path(task["path"]), task["directed"], task["start"])
    algorithms = task["algorithms"]
    if name == Ours.name:
        cells = our_cells(graph, algorithms)
    else:
        try:
            kind = load(name)
        except (ImportError, OSError) as error:
            say(json.dumps({"missing": str(error)}))
            return
        cells = peer_cells(graph, kind, algorithms, task["best"])
    for algorithm, cell in cells:
        say(json.dumps({"algorithm": algorithm, "cell": cell}))


def told(graph: BenchmarkGraph) -> dict[str, Any]:
    """A graph as JSON values."""
    return {**vars(graph), "path": str(graph.path)}


def sets_of_cores(each: int | None, groups: int) -> list[list[int]]:
    """Cores of contenders that run side by side, ``each`` so many; None: all, one after the other."""
    cores = sorted(os.sched_getaffinity(0))
    if each is None:
        return [cores]
    sets = min(max(len(cores) // each, 1), groups)
    return [cores[i * each : (i + 1) * each] for i in range(sets)]


def versions(libraries: Sequence[str]) -> Iterator[str]:
    """Those of libraries that are there."""
    for name in libraries:
        try:
            yield f"{name} {importlib.metadata.version(name)}"
        except importlib.metadata.PackageNotFoundError:
            continue
