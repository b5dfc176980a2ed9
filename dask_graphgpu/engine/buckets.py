"""The width of a bucket in near-far order, from a sample of the edges, and how many of them a stretch takes.

A message's priority lies above its sender's by some increment (for shortest paths: the weight).
Buckets of about one increment keep the work near Dijkstra's; wider ones save rounds and the scans of
the far list between buckets [1]_, [2]_.

References
----------
.. [1] Meyer, Sanders. Delta-stepping: a parallelizable shortest path algorithm. J. Algorithms 49(1),
   2003.
.. [2] Davidson, Baxter, Garland, Owens. Work-efficient parallel GPU methods for single-source
   shortest paths. IPDPS 2014.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.engine.state import Binding
from dask_graphgpu.functions import INT64_MAX, parameters, plain
from dask_graphgpu.partition.csr import Adjacency

_SAMPLE = 512
_LARGEST = float(np.finfo(np.float64).max)

# Mean increments a bucket. Between 0.5 and 8 the time hardly changes on a grid, a road network and an
# R-MAT graph; below, rounds multiply, above, edges are relaxed again and again.
_WIDTH = 2.0

# Mean increments a bucket times edges a vertex, for one thread, which has no use for long rounds: the more edges a
# vertex has, the shorter are those of best paths beside a mean one [1]_. No bucket is narrower than _LEAST.
_WIDTH_TIMES_DEGREE = 8.0
_LEAST = 0.25

# Of how far messages lie apart, the part that counts as an increment: the width of a path changes at
# few of its edges. With all of it widest paths on a grid take fifty times as long.
_SPREAD = 1 / 32


# Buckets in a stretch, at most.
WIDEST = 1 << 20


@dataclass(frozen=True)
class StretchPolicy:
    """How many buckets ranks go on for before they tell each other what has changed.

    Also stated in near_far_ranks.cu, where the host does not look; tests/gpu/test_stretch_policy.py compares the two.

    Attributes
    ----------
    few_edges : int
        Edges that a rank reads in a stretch, in the mean, below which the next one is twice as wide: to read them takes
        no longer than an exchange. Above four times as many it is half as wide.
    few_edges_a_value : int
        Edges read for each value that travels, below which the next stretch is half as wide too: where all neighbours
        are remote, a rank that goes on by itself has done most of it in vain.
    edges_a_spare_value : int, optional
        For so many of the few edges one value may travel in vain. None: none may.
    """

    few_edges: int
    few_edges_a_value: int
    edges_a_spare_value: int | None = None

    def buckets(self, before: int, edges: int, values: int, ranks: int) -> int:
        """Of the next stretch, after one of so many in which all ranks read these edges and told these values."""
        few = self.few_edges * ranks
        in_vain = edges < self.few_edges_a_value * values
        spare = 0 if self.edges_a_spare_value is None else few // self.edges_a_spare_value
        if edges < few and not (in_vain and values > spare):
            return min(2 * before, WIDEST)
        if in_vain or self.are_many(edges, ranks):
            return max(before // 2, 1)
        return before

    def are_many(self, edges: int, ranks: int) -> bool:
        """Whether all ranks read so many edges in a stretch that a narrower one would do."""
        return edges > 4 * self.few_edges * ranks


def choose_delta(
    binding: Binding,
    state: Mapping[str, np.ndarray],
    degrees: Any,
    start: np.ndarray,
    whole: bool,
    *,
    threads: int,
) -> int | float:
    """Bucket width, in the type of priorities; at least 1 for integers.

    Parameters
    ----------
    binding : Binding
        Program and graph.
    state : mapping of str to array
        Fields at the start.
    degrees : object
        With ``degree`` and ``weighted_degree``, read only if compute names them.
    start : int64 array
        Vertices that are active first; the first one's value stands for all senders.
    whole : bool
        Whether priorities are integers.
    threads : int
        That share the work of a bucket.
    """
    if not len(start):
        return delta_of(0.0, whole)
    sent = state[binding.program.first][start[0]].item()
    if sent not in binding.increments:
        binding.increments[sent] = mean_increment(binding, state, degrees, sent)[0]
    increments = _WIDTH
    if threads == 1:
        per_vertex = binding.send.num_edges / max(binding.view.num_vertices, 1)
        increments = min(max(_WIDTH_TIMES_DEGREE / max(per_vertex, 1.0), _LEAST), _WIDTH)
    return delta_of(binding.increments[sent], whole, increments)


def delta_of(mean: float, whole: bool, increments: float = _WIDTH) -> int | float:
    """Bucket width where the priorities of messages lie so far from their senders' on average."""
    width = min(mean, _LARGEST / _WIDTH) * increments
    if whole:
        return int(min(max(width, 1.0), 2.0**62))
    return width or 1.0


def mean_increment(
    binding: Binding,
    state: Mapping[str, np.ndarray],
    degrees: Any,
    sent: Any,
    edges: Adjacency | None = None,
) -> tuple[float, int]:
    """How far the priorities of messages lie from their senders' on average, and of how many edges.

    ``sent`` is the value that stands for all senders', ``edges`` some to take a sample of, default: all that are sent
    over; the rest as of `choose_delta`.
    """
    increments = _increments(
        binding, state, degrees, sent, binding.send if edges is None else edges
    )
    # Each is divided first, because their sum may be beyond the largest float.
    return sum(increment / len(increments) for increment in increments), len(increments)


def no_limit(whole: bool) -> int | float:
    """The highest priority; ``whole``: whether priorities are integers."""
    return INT64_MAX if whole else float(np.inf)


def start_limit(
    binding: Binding, state: Mapping[str, np.ndarray], start: np.ndarray, delta: Any, whole: bool
) -> Any:
    """Upper end of the first bucket."""
    first = binding.program.first
    lowest = min((priority(binding, x) for x in state[first][start[:_SAMPLE]].tolist()), default=0)
    return raised(lowest, delta, whole)


def raised(least: Any, delta: Any, whole: bool) -> Any:
    """The upper end of a bucket of width ``delta`` above a priority."""
    return min(int(least) + delta, INT64_MAX) if whole else float(least) + delta


def priority(binding: Binding, value: Any) -> Any:
    """Priority of a value of the first field."""
    return _priorities(binding)(value)


def _priorities(binding: Binding) -> Callable[[Any], Any]:
    """Value of the first field to priority."""
    function, first = binding.program.priority, binding.program.first
    assert function is not None
    fixed = binding.scalars(function, "priority", {first: 0})
    assert fixed is not None
    return lambda value: function(**(fixed | {first: value} if first in fixed else fixed))


def _increments(
    binding: Binding,
    state: Mapping[str, np.ndarray],
    degrees: Any,
    sent: Any,
    edges: Adjacency,
) -> list[float]:
    """How far the priorities of messages over a sample of edges lie from their sender's.

    Where senders' own priorities are infinite (widest paths), how far the messages lie apart.
    """
    program = binding.program
    if not edges.num_edges:
        return []
    priority_of = _priorities(binding)
    base = priority_of(sent)
    sample = np.linspace(0, edges.num_edges - 1, min(_SAMPLE, edges.num_edges)).astype(np.int64)
    names, columns = [], []
    for name in parameters(plain(program.compute, "compute"), "compute"):
        column = _sampled(binding, state, degrees, edges, sample, sent, name)
        if column is not None:
            names.append(name)
            columns.append(column)
    priorities = []
    for values in zip(*columns, strict=True):
        try:
            message = program.compute(**dict(zip(names, values, strict=True)))
            priorities.append(float(priority_of(message)))
        except ArithmeticError:
            continue  # made up senders may divide by zero where true ones do not
    found = np.array([p for p in priorities if np.isfinite(p)])
    if not found.size:
        return []
    increments = np.abs(found - float(base))
    if not np.isfinite(increments).all() or increments.max() > 2.0**61:
        increments = _SPREAD * np.abs(found - np.sort(found)[found.size // 2])
    return increments.tolist()  # type: ignore[no-any-return]


def _sampled(
    binding: Binding,
    state: Mapping[str, np.ndarray],
    degrees: Any,
    edges: Adjacency,
    sample: np.ndarray,
    sent: Any,
    name: str,
) -> list[Any] | None:
    """A parameter of compute for each edge of a sample; None: not known, it keeps its default."""
    once = {**binding.constants, "num_vertices": binding.view.graph_vertices}
    once[f"source_{binding.program.first}"] = sent
    if name == "weight" and edges.weight is None:
        once["weight"] = 1
    if name in once:
        return [once[name]] * len(sample)
    kind, _, rest = name.partition("_")
    found: np.ndarray | None = None
    if name == "weight":
        found = edges.weight[sample]  # type: ignore[index]
    elif kind == "edge":
        found = binding.edge_column(edges, rest)[sample]
    elif kind in ("source", "destination"):
        ends = edges.neighbours[sample].astype(np.intp)
        if kind == "source":
            ends = np.searchsorted(edges.offsets, sample, side="right") - 1
        if rest in state:
            found = state[rest][ends]
        elif rest == "id":
            found = ends if binding.view.numbers is None else binding.view.numbers[ends]
        elif rest in ("degree", "weighted_degree"):
            found = getattr(degrees, rest)[ends]
    return None if found is None else found.tolist()
