"""Monotone programs on the GPU: values are improved where they stand, in near-far order or in rounds.

The whole run is one launch (kernels/cuda/near_far.cu), or several where it takes very many rounds.
"""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import checkpoints, launch
from dask_graphgpu.engine.gpu.arrays import Arrays
from dask_graphgpu.engine.keeping import Keeper
from dask_graphgpu.engine.loop import overflow
from dask_graphgpu.engine.options import RunOptions, configured_direction
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.functions import INT64_MAX, INT64_MIN
from dask_graphgpu.partition.device import elements
from dask_graphgpu.report import Report

# Threads of a block, and how many blocks a multiprocessor is to hold.
THREADS, RESIDENT = 512, 2

# Edges that a thread has under way at once, with values of four bytes; half with eight, or registers
# spill. A power of two, at most 32.
UNROLL = 4

# Edges from which a row is cut into pieces for all warps, of as many edges.
PIECE = 512

# Vertices that a block gathers before it appends them to a list.
STAGE = 1024

# Mean increments of the priority that the narrowest bucket takes, over the mean degree: about as
# many edges as keep the device busy, and few vertices that are relaxed before their time.
WIDTH = 1.0

# Where senders' own priorities are infinite (widest paths): of how far messages lie apart, the part
# that counts as an increment, as in engine/buckets.py.
SPREAD = 1 / 32

# Edges a round below which buckets are made twice as wide: there are too few to fill the device, so
# that rounds cost what their barriers do. More where choosing a bucket takes a scan of all vertices.
# With BUSY times as many, buckets are made narrower again: without that, or with four times as many,
# a grid of 4096 x 4096 is relaxed ten times over instead of three and a half, for no fewer rounds.
STARVED, STARVED_SCAN, BUSY = 1 << 14, 1 << 19, 2

# Most vertices, and edges, of a round that one block does faster than all with a grid barrier.
ALONE_LIST, ALONE_EDGES = 512, 2048

# Share of the vertices that the list of far ones holds, and the least number. More are found by scans.
FAR_SHARE, FAR_LEAST = 1 / 8, 1 << 16

# Steps of a launch: a program that never ends is interrupted between two.
STEPS = 1 << 18

# As in kernels/cuda/near_far.cuh; "priority" stands for the type of priorities.
_SPLIT, _SCAN, _DONE = 2, 3, 4
_CONTROL = {
    "phase": "u8", "alone": "u8", "parity": "u8", "near": "u8", "far_parity": "u8",
    "far_listed": "u8", "relist": "u8", "limit": "priority", "done": "priority",
    "delta": "priority", "least_delta": "priority", "steps_left": "u8", "failed": "u8",
    "appended": "u8", "far": "u8", "kept": "u8", "items": "u8", "cursor": "u8", "edges": "u8",
    "least": "i8", "unsettled": "u8", "rounds": "u8", "all_edges": "u8", "bucket_rounds": "u8",
    "bucket_edges": "u8", "last_edges": "u8", "splits": "u8", "scans": "u8", "lone_steps": "u8",
    "steps": "u8", "arrivals": "u8", "least_arrival": "i8",
    "came": "u8", "until": "priority", "there": "u8",
}  # fmt: skip
_LISTS = {
    "offsets": "u8", "neighbours": "u8", "near_0": "u8", "near_1": "u8", "far_0": "u8",
    "far_1": "u8", "near_set_0": "u8", "near_set_1": "u8", "far_set": "u8", "sent": "u8",
    "late": "u8", "items": "u8", "targets": "u8", "control": "u8", "barrier": "u8", "n": "u8",
    "far_capacity": "u8", "num_targets": "u8", "cutoff": "priority", "starved": "u8",
    "starved_scan": "u8", "busy": "u8", "alone_list": "u8", "alone_edges": "u8",
    "goes_on": "u8", "column_bits": "u8",
}  # fmt: skip


def improved(
    arrays: Arrays,
    places: np.ndarray | None,
    ends: np.ndarray | None,
    options: RunOptions,
    kind: type[NearFar] | None = None,
) -> int:
    """Improve the state by a monotone program until no value improves; return how many rounds it took.

    Parameters
    ----------
    arrays : Arrays
        The state at the start.
    places : array of dense ids, optional
        Vertices that are active at the start; default: all.
    ends : array of dense ids, optional
        The run ends once their values are final.
    options : RunOptions
        Of which cutoff, keeper and report count: this gets one row, of each stretch after which the state may be kept.
    kind : class, optional
        Of the lists; default: `NearFar`.

    Raises
    ------
    IntegerOverflow
        A message does not fit.
    """
    binding, n = arrays.binding, arrays.n
    program = binding.program
    ordered = program.priority is not None and configured_direction() == "auto"
    size = n if places is None else len(places)
    values = arrays.state[program.first]
    none = arrays.lowered.glue.identity(binding.message)
    rounds = 0
    if size:
        made = NearFar if kind is None else kind
        until = ends if ordered else None
        lists = made(arrays, options.cutoff, until, ordered=ordered, report=options.report)
        lists.start(places)
        if ordered:
            lists.measure(places)
        keeper = options.keeper
        rounds = lists.improve() if keeper is None else lists.improve_in_stretches(keeper)
    if program.has_reached:
        elements.mark_others(values, none, arrays.reached)
    return rounds


class NearFar:
    """The lists of a run in near-far order, or of one in rounds where nothing is ``ordered``.

    Attributes
    ----------
    control : struct
        As the device left it when it was last looked at.
    whole : bool
        Whether priorities are integers.
    lowest, highest
        The least and the largest priority there may be.
    """

    def __init__(
        self, arrays: Arrays, cutoff: Any, ends: np.ndarray | None, *, ordered: bool, report: Report
    ) -> None:
        binding, n, ids = arrays.binding, arrays.n, arrays.view.id_dtype
        self.arrays, self.ordered, self.report = arrays, ordered, report
        edges, values = arrays.edges("send"), arrays.state[binding.program.first]
        self._edges = edges  # structs have addresses of its columns
        kind, self.lowest, self.highest = priorities(binding)
        self.whole = kind == "i8"
        words, self._capacity = (n + 31) // 32, min(n, max(int(n * FAR_SHARE), FAR_LEAST))
        self.control = self._control_at_start()
        self._state = cupy.asarray(self.control.view(np.uint64))
        self._far = cupy.empty((2, self._capacity), ids)
        self._sets = cupy.zeros((3, words), np.uint32)
        item = 2 * max(ids.itemsize, edges.offsets.dtype.itemsize)
        most_edges = edges.num_edges << arrays.column_bits
        self._held = {
            "offsets": edges.offsets,
            "neighbours": self._neighbours(),
            "near": cupy.empty((2, n), ids),
            "far": self._far,
            "near_set": self._sets[:2],
            "far_set": self._sets[2],
            "sent": elements.filled(
                cupy, n, arrays.lowered.glue.identity(binding.message), values.dtype
            ),
            "late": arrays.reached,
            "items": cupy.empty(self._most_items(most_edges) * item, np.uint8),
            "targets": cupy.asarray([] if ends is None else ends, ids),
            "control": self._state,
            "barrier": cupy.zeros(2, np.uint32),
        }
        lists = self._lists = np.zeros(1, self._layout(_struct(_LISTS, kind)))
        for name, array in self._held.items():
            if array.ndim == 2:
                lists[f"{name}_0"], lists[f"{name}_1"] = array[0].data.ptr, array[1].data.ptr
            else:
                lists[name] = array.data.ptr
        lists["n"], lists["far_capacity"] = n, self._capacity
        lists["num_targets"] = self._held["targets"].size
        lists["cutoff"] = bounded(cutoff, self.lowest, self.highest)
        lists["column_bits"] = arrays.column_bits
        lists["starved"], lists["starved_scan"], lists["busy"] = self._starved, STARVED_SCAN, BUSY
        lists["alone_list"], lists["alone_edges"] = ALONE_LIST, ALONE_EDGES
        columns = {"COLUMNS": "1"} if arrays.column_bits else {}
        self._module = arrays.module("near_far", defines(values.dtype) | columns)
        self._kernel = self._module.kernel("near_far")
        self._run = arrays.run("send")

    @property
    def _starved(self) -> int:
        return STARVED

    def _layout(self, lists: np.dtype[Any]) -> np.dtype[Any]:
        """Of struct Lists."""
        return lists

    def _neighbours(self) -> Any:
        """Those of the edges that lie on the device."""
        return self._edges.neighbours

    def _most_items(self, num_edges: int) -> int:
        """Pieces of long rows in a round, at most."""
        return 2 * num_edges // PIECE + 1

    def _control_at_start(self) -> Any:
        """The control block before any vertex is to send."""
        control = np.zeros(1, _struct(_CONTROL, "i8" if self.whole else "f8"))
        # Nothing is near yet, so that the first bucket starts from the least priority there is.
        control["limit"] = control["done"] = self.lowest if self.ordered else self.highest
        control["delta"] = control["least_delta"] = 1
        control["until"] = self.highest
        control["phase"] = _DONE
        control["least"] = control["least_arrival"] = INT64_MAX
        return control

    @property
    def given(self) -> tuple[Any, Any]:
        """Structs Run and Lists, which kernels take."""
        return self._run, self._lists[0]

    def start(self, places: Any) -> None:
        """Have these dense ids send first; None: the active vertices, which are all."""
        size = self.arrays.n if places is None else len(places)
        listed = places is not None and size <= self._capacity
        if listed:
            self._far[0, :size] = cupy.asarray(places, self._far.dtype)
        else:
            bits = cupy.packbits(self.arrays.active.view(bool), bitorder="little")
            self._sets[2].view(np.uint8)[: bits.size] = bits
        self.control["far"], self.control["far_listed"] = size, listed
        self._choose()
        self._write()

    def measure(self, places: Any) -> None:
        """Make the first buckets as wide as a sample of the edges says, sent from the first place."""
        edges = self.arrays.edges("send")
        factor = WIDTH / max(edges.num_edges / edges.num_vertices, 1.0)
        start = 0 if places is None else int(places[0])
        ends, widths = map(np.uint64, (edges.num_edges, start)), map(np.float64, (factor, SPREAD))
        width = self._module.kernel("near_far_width")
        launch.flat(width, THREADS, (*self.given, *ends, *widths), threads=THREADS)

    def improve(self) -> int:
        """Improve the values where they stand as far as the limit goes; return how many rounds."""
        before = int(self.control["rounds"][0]), int(self.control["all_edges"][0])
        size, began = int(self.control["far"][0]), time.perf_counter()
        while True:
            launch.cooperative(self._kernel, self.given, threads=THREADS, blocks_per_sm=RESIDENT)
            if self.look()["phase"][0] == _DONE:
                break
            self._state[list(_CONTROL).index("steps_left")] = STEPS
            self._held["barrier"].fill(0)
        if self.control["failed"][0] and not self._lists["goes_on"][0]:
            raise overflow(self.arrays.binding.program, "compute")
        return self.advance(*before, frontier=size, seconds=time.perf_counter() - began)

    def improve_in_stretches(self, keeper: Keeper) -> int:
        """The same, with looks at whether the state is due; return all rounds so far."""
        steps, size = list(_CONTROL).index("steps_left"), int(self.control["far"][0])
        stretches = checkpoints.CheckpointStretches(keeper)
        while True:
            before = int(self.control["rounds"][0]), int(self.control["all_edges"][0])
            began = time.perf_counter()
            self._state[steps] = stretches.after(before[0])
            self._held["barrier"].fill(0)
            launch.cooperative(self._kernel, self.given, threads=THREADS, blocks_per_sm=RESIDENT)
            done = self.look()["phase"][0] == _DONE
            stretches.done()
            if self.control["failed"][0]:
                raise overflow(self.arrays.binding.program, "compute")
            self.advance(*before, frontier=size, seconds=time.perf_counter() - began)
            rounds = int(self.control["rounds"][0])
            if done:
                return rounds
            if keeper.due(rounds):
                keeper.write(rounds, checkpoints.in_place_kept(self.arrays), {})

    def advance(self, rounds: int, edges: int, *, frontier: int, seconds: float) -> int:
        """Note what was done since there were so many rounds, and edges read; return the rounds."""
        rounds = int(self.control["rounds"][0]) - rounds
        read = int(self.control["all_edges"][0]) - edges
        self.report.advance(
            "near-far" if self.ordered else "push", supersteps=rounds, frontier=frontier, edges=read,
            bytes=read * (self.arrays.bytes_of_edge + self._held["sent"].itemsize), seconds=seconds,
        )  # fmt: skip
        return rounds

    def look(self) -> Any:
        """The control block as it is on the device."""
        self.control = cupy.asnumpy(self._state).view(self.control.dtype)
        return self.control

    def _choose(self) -> None:
        """Begin the next launch by choosing from the far set."""
        control, far = self.control, int(self.control["far"][0])
        listed = bool(control["far_listed"][0]) and far <= self._capacity
        control["phase"] = _SPLIT if listed else _SCAN
        control["far_listed"] = listed
        control["alone"] = listed and far <= ALONE_LIST
        control["relist"] = far <= self._capacity // 2
        control["least"] = control["least_arrival"] = INT64_MAX
        control["steps_left"] = STEPS

    def _write(self) -> None:
        self._state.set(self.control.view(np.uint64))
        self._held["barrier"].fill(0)


def defines(value: np.dtype[Any]) -> dict[str, str]:
    """Macros of kernels/cuda/near_far.cu besides those of the program; ``value`` as it is stored."""
    return {
        "THREADS": str(THREADS),
        "RESIDENT": str(RESIDENT),
        "UNROLL": str(max(1, UNROLL // (value.itemsize // 4))),
        "PIECE": str(PIECE),
        "STAGE": str(STAGE),
    }


def priorities(binding: Binding) -> tuple[str, Any, Any]:
    """Type of priorities, the least and the largest one."""
    if binding.program.priority is None or binding.whole_priorities:
        return "i8", INT64_MIN, INT64_MAX
    return "f8", -np.inf, np.inf


def bounded(value: Any, lowest: Any, highest: Any) -> Any:
    """A bound of priorities in their type; None: no bound."""
    if value is None or value >= highest:
        return highest
    if isinstance(highest, float):
        return float(value)
    return max(int(np.floor(value)) if isinstance(value, float) else int(value), lowest)


def _struct(members: dict[str, str], kind: str) -> np.dtype[Any]:
    return _made(tuple(members.items()), kind)


@cache
def _made(members: tuple[tuple[str, str], ...], kind: str) -> np.dtype[Any]:
    """It takes as long to make as a few launches."""
    return np.dtype([(name, kind if of == "priority" else of) for name, of in members])
