"""A library that numbers ids of any kind by joins, and SciPy, which takes ids for row numbers, behind it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from graphs import BenchmarkGraph

from peers.peer import WEIGHTED
from peers.scipy import SciPy


class Numbered(SciPy):
    """SciPy's calls on ends of edges that are places of ids in ascending order."""

    columns: tuple[str, ...] = ("src", "dst")  # that the algorithm of the last `kernel` needs
    calls: ClassVar = {
        algorithm: SciPy.calls[algorithm]
        for algorithm in ("sssp", "pagerank", "components", "strong components")
    }

    @classmethod
    def end_to_end(
        cls, graph: BenchmarkGraph, algorithm: str, source: Any, out: Path
    ) -> Callable[[], None]:
        def run() -> None:
            made = cls(graph)
            made.write(made.kernel(algorithm, source)(), out)

        return run

    def kernel(self, algorithm: str, source: Any) -> Callable[[], np.ndarray]:
        weighted = algorithm in WEIGHTED
        self.columns = ("src", "dst", "weight") if weighted else ("src", "dst")
        if weighted:
            source = int(np.searchsorted(self.ids, source))
        return super().kernel(algorithm, source)

    @cached_property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        src, dst = self.numbered()
        return src, dst

    @cached_property
    def weighted_ends(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        src, dst, weight = self.numbered()
        return src, dst, weight

    @property
    @abstractmethod
    def ids(self) -> np.ndarray:
        """All ids in ascending order."""

    @abstractmethod
    def numbered(self) -> list[np.ndarray]:
        """The ``columns`` of the edges, ends as places of their ids."""

    @abstractmethod
    def write(self, values: np.ndarray, out: Path) -> None:
        """The answer, a row an id."""
