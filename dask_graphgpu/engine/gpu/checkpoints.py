"""The state of a run on the GPU as every engine keeps it: on the host, in the fields' own types."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine import keeping
from dask_graphgpu.engine.gpu.arrays import Arrays
from dask_graphgpu.engine.keeping import Keeper, Kept
from dask_graphgpu.program import VertexProgram

# Seconds between two looks at the clock, about: whether the state is due is asked of the host.
_STRETCH = 0.1


def begun(keeper: Keeper, program: VertexProgram, arrays: Arrays, *arguments: Any) -> Kept | None:
    """As `keeping.begun`, of values at the start that are on the device."""
    state = {name: _wide(arrays, name) for name in arrays.state}
    return keeping.begun(keeper, program, arrays.binding, state, *arguments)


class Beginning:
    """`begun`, once, where somebody keeps.

    Called at the start of each attempt at a run, of which there are several where memory is short:
    what was kept is asked for in the first, and is the same in the others.
    """

    def __init__(self, keeper: Keeper | None, in_place: bool, cutoff: Any) -> None:
        self._keeper, self._in_place, self._cutoff = keeper, in_place, cutoff
        self._found: list[Kept | None] = [None] if keeper is None else []

    def __call__(self, arrays: Arrays) -> Kept | None:
        if not self._found and self._keeper is not None:
            given = self._in_place, self._cutoff
            self._found.append(begun(self._keeper, arrays.binding.program, arrays, *given))
        return self._found[0]

    def keeping(self, engine: Any) -> keeping.Keeping | None:
        """The keeping of a run in supersteps or rounds, once it was called; in place it is as `InPlaceKeeping`."""
        if self._keeper is None:
            return None
        engine = InPlaceKeeping(engine) if self._in_place else engine
        return keeping.Keeping(engine, self._keeper, self._found[0])

    def places(self, arrays: Arrays, places: np.ndarray | None) -> np.ndarray | None:
        """Have what was kept of a run in place as its state; who sends first, None: all."""
        found = self(arrays)
        return places if found is None else put(arrays, found.columns)


def supersteps_kept(arrays: Arrays) -> dict[str, np.ndarray]:
    """What a run in supersteps goes on from."""
    found = {f"state {name}": _wide(arrays, name) for name in arrays.program.changing}
    found["active"] = cupy.asnumpy(arrays.active)
    if arrays.program.has_reached:
        found["reached"] = cupy.asnumpy(arrays.reached)
    return found


def in_place_kept(arrays: Arrays) -> dict[str, np.ndarray]:
    """What a run that improves values goes on from: they, and who has one."""
    first = arrays.program.first
    return {f"state {first}": _wide(arrays, first), "reached": _with_values(arrays)}


def put(arrays: Arrays, columns: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """Kept columns become the state of own vertices; of a run in place, who has to send again, None: all.

    Values only improve, so it does no harm that those send again that have sent before.
    """
    own = arrays.binding.view.num_owned
    for name in arrays.program.changing:
        if f"state {name}" in columns:
            _narrow(arrays, name, columns[f"state {name}"][:own])
    if "active" in columns:
        arrays.active[:own] = cupy.asarray(columns["active"][:own])
    if not arrays.program.has_reached:
        if "active" not in columns:
            arrays.active[:] = 1
        return None
    reached = columns["reached"][:own]
    arrays.reached[:own] = cupy.asarray(reached).astype(np.uint8)
    if "active" not in columns:
        arrays.active[:own] = arrays.reached[:own]
    return np.flatnonzero(reached)


@dataclass(frozen=True)
class InPlaceKeeping:
    """A run in supersteps or rounds of which what is kept is what one in place keeps.

    So any engine goes on from it, in whatever order it improves values; who has one sends again.
    """

    engine: Any

    def kept(self) -> dict[str, np.ndarray]:
        return in_place_kept(self.engine.arrays)

    def resume(self, columns: Mapping[str, np.ndarray]) -> None:
        """As of the engine."""
        self.engine.resume(columns)


class CheckpointStretches:
    """How far a run goes until its state may be due again.

    Parameters
    ----------
    keeper : Keeper
    slowest : function
        Of the seconds that a stretch has taken here, those on the slowest rank; collective. So all
        ranks go equally far.
    """

    def __init__(self, keeper: Keeper, slowest: Callable[[float], float] = float) -> None:
        self._keeper, self._slowest, self._length = keeper, slowest, 1
        self._began = time.monotonic()

    def after(self, superstep: int) -> int:
        """Supersteps or rounds of the next stretch, after so many."""
        left = self._keeper.steps_left(superstep)
        self._began = time.monotonic()
        return self._length if left is None else max(min(self._length, left), 1)

    def done(self) -> None:
        """A stretch has ended. The next one is twice as long if it was short, half as long if it was long."""
        seconds = self._slowest(time.monotonic() - self._began)
        if 2 * seconds < _STRETCH:
            self._length *= 2
        elif seconds > 2 * _STRETCH:
            self._length = max(self._length // 2, 1)


def _wide(arrays: Arrays, name: str) -> np.ndarray:
    """A field in its own type, on the host."""
    dtype = arrays.binding.dtypes[name]
    column: np.ndarray = cupy.asnumpy(arrays.wide(arrays.state[name], dtype))
    return column.view(bool) if dtype.kind == "b" else column


def _narrow(arrays: Arrays, name: str, values: np.ndarray) -> None:
    """Put such values where the field of own vertices is."""
    dtype = arrays.binding.dtypes[name]
    given = values.view(np.uint8) if dtype.kind == "b" else values
    arrays.state[name][: len(given)] = arrays.stored(cupy.asarray(given), dtype)


def _with_values(arrays: Arrays) -> np.ndarray:
    """Which vertices have a value, bool."""
    if not arrays.program.has_reached:
        return np.ones(arrays.n, bool)
    none = arrays.lowered.glue.identity(arrays.binding.message)
    found: np.ndarray = cupy.asnumpy(arrays.state[arrays.program.first]) != none
    found |= cupy.asnumpy(arrays.reached).view(bool)
    return found
