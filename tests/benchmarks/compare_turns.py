"""Kernels of all sides in turns, in one process: for machines that have other work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compare_tables import markdown
from contender import LONG, can_count, seconds_of
from graphs import BenchmarkGraph
from ours import Ours
from peers import Peer


def in_turns(
    graph: BenchmarkGraph, peers: Sequence[type[Peer]], algorithm: str, turns: int
) -> dict[str, float]:
    """Least milliseconds of the kernels of all sides, ours first, that take turns.

    Each turn starts with the next of them: who comes after a library pays for what that has freed. Of a peer whose
    first call takes more than ``LONG`` seconds that is the only one; our first may compile, and our second make
    in-edges.
    """
    source = graph.starts_of(algorithm)
    sides = [Ours(graph), *(peer(graph) for peer in peers)]
    able = [side for side in sides if isinstance(side, Ours) or side.does(algorithm)]
    calls = {side.name: side.kernel(algorithm, source) for side in able}
    for _ in range(2):
        calls[Ours.name]()
    least = {name: seconds_of(call) for name, call in calls.items()}
    often = {name: call for name, call in calls.items() if least[name] < LONG}
    least.update(dict.fromkeys(often, float("inf")))
    names = list(often)
    for turn in range(turns):
        for place in range(len(names)):
            name = names[(turn + place) % len(names)]
            least[name] = min(least[name], seconds_of(often[name]))
    return {name: 1e3 * seconds for name, seconds in least.items()}


def turns_table(
    graphs: Sequence[BenchmarkGraph],
    peers: Sequence[type[Peer]],
    algorithms: Sequence[str],
    turns: int,
) -> Iterator[str]:
    """The lines of a table of `in_turns`, as they are measured."""
    names = [Ours.name, *(peer.name for peer in peers)]

    def rows() -> Iterator[list[str]]:
        for graph in graphs:
            for algorithm in algorithms:
                if not can_count(graph, algorithm):
                    continue
                least = in_turns(graph, peers, algorithm, turns)
                mine, *others = least.values()
                ratio = f"{min(others) / mine:.1f}" if others else "-"
                times = (f"{least[name]:.1f}" if name in least else "-" for name in names)
                yield [graph.name, algorithm, *times, ratio]

    yield from markdown(["graph", "algorithm", *names, "ratio to the best"], rows())
