"""What `compare.py` prints: Markdown tables of cells, and how many of them are met."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gap import gap

# What is required of kernels: so many times as fast as the best library, or this multiple of GAP's time; end to
# end: so many times as fast, or this multiple of the bound.
FASTER, BESIDE_GAP, BESIDE_BOUND = 2.0, 1.25, 1.25


@dataclass
class Row:
    """Milliseconds of one algorithm on one graph; of the peers by name.

    ``read``, ``write`` : what Arrow takes for the columns of the input, and for the answer.
    """

    graph: str
    algorithm: str
    kernel: float = float("nan")
    whole: float = float("nan")
    read: float = float("nan")
    write: float = float("nan")
    kernels: dict[str, float] = field(default_factory=dict)
    wholes: dict[str, float] = field(default_factory=dict)

    @property
    def bound(self) -> float:
        """What the whole way takes at least: reading at Arrow's rate, our kernel, and writing at Arrow's rate."""
        return self.read + self.kernel + self.write


def kernel_met(row: Row) -> str:
    """Whether the kernel is as fast as is required; "-" where nothing compares."""
    known = gap(row.graph, row.algorithm)
    beside = known is not None and row.kernel <= BESIDE_GAP * known
    if row.algorithm == "bfs" and row.graph.startswith(("grid", "git")):
        beside = beside and row.kernel <= min(row.kernels.values(), default=float("inf"))
    faster = row.kernel * FASTER <= min(row.kernels.values(), default=0)
    return "yes" if beside or faster else "no" if row.kernels or known else "-"


def ways_met(row: Row) -> list[str]:
    """In which ways the whole way is as fast as is required."""
    faster = row.whole * FASTER <= min(row.wholes.values(), default=0)
    bound = row.whole <= BESIDE_BOUND * row.bound
    return ["peer"] * faster + ["bound"] * bound


def whole_met(row: Row) -> str:
    """`ways_met` as a cell; "-" where no library does it."""
    ways = ways_met(row)
    return f"yes: {' and '.join(ways)}" if ways else "no" if row.wholes else "-"


def table(rows: Sequence[Row]) -> Iterator[str]:
    """The lines of the main table."""
    kernel = ("ours", "best peer", "ratio", "GAP", "met")
    whole = ("ours", "best peer", "ratio", "bound", "ours / bound", "met")
    heads = [f"kernel: {name}" for name in kernel] + [f"end to end: {name}" for name in whole]
    yield from markdown(
        ["graph", "algorithm", *heads],
        (
            [
                row.graph,
                row.algorithm,
                *_beside(row.kernel, row.kernels),
                _shown(gap(row.graph, row.algorithm)),
                kernel_met(row),
                *_beside(row.whole, row.wholes),
                f"{row.bound:.1f}",
                f"{row.whole / row.bound:.2f}",
                whole_met(row),
            ]
            for row in rows
        ),
    )


def counts(rows: Sequence[Row]) -> Iterator[str]:
    """How many cells are met, kernels and end to end."""
    kernels = Counter(map(kernel_met, rows))
    yield f"Kernels: {kernels['yes']} of {len(rows) - kernels['-']} cells are met."
    compared = [row for row in rows if whole_met(row) != "-"]
    ways = Counter(way for row in compared for way in ways_met(row))
    met = sum(bool(ways_met(row)) for row in compared)
    yield (
        f"End to end: {met} of {len(compared)} cells are met: {ways['peer']} at {FASTER:g} times the best library, "
        f"{ways['bound']} within {BESIDE_BOUND:g} times the bound."
    )


def every_peer(rows: Sequence[Row], names: Sequence[str]) -> Iterator[str]:
    """Each peer's time, kernel / end to end, and what the bound is made of beside the kernel."""
    yield from markdown(
        ["graph", "algorithm", *names, "Arrow reads", "Arrow writes"],
        (
            [
                row.graph,
                row.algorithm,
                *(f"{_time(row.kernels, name)} / {_time(row.wholes, name)}" for name in names),
                f"{row.read:.1f}",
                f"{row.write:.1f}",
            ]
            for row in rows
        ),
    )


def calls(peers: Mapping[str, Any], algorithms: Sequence[str]) -> Iterator[str]:
    """The exact calls of each peer."""
    yield from markdown(
        ["library", "algorithm", "call"],
        (
            [name, algorithm, f"`{peer.calls[algorithm]}`"]
            for name, peer in peers.items()
            for algorithm in algorithms
            if algorithm in peer.calls
        ),
    )


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table, row after row as they come."""
    yield "| " + " | ".join(heads) + " |"
    yield "|" + " --- |" * len(heads)
    for row in rows:
        yield "| " + " | ".join(row).replace("A | A.T", "A \\| A.T") + " |"


def _beside(mine: float, theirs: Mapping[str, float]) -> tuple[str, str, str]:
    """Our time, the best of theirs with its name, and the ratio."""
    if not theirs:
        return f"{mine:.1f}", "-", "-"
    best = min(theirs, key=lambda name: theirs[name])
    return f"{mine:.1f}", f"{theirs[best]:.1f} {best}", f"{theirs[best] / mine:.1f}"


def _time(times: Mapping[str, float], name: str) -> str:
    return f"{times[name]:.1f}" if name in times else "-"


def _shown(time: float | None) -> str:
    return "-" if time is None else f"{time:g}"
