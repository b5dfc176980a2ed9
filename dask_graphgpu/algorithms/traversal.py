"""What traversals from a source share: several sources, targets, cutoff, predecessors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from dask_graphgpu.algorithms.algorithm import Algorithm, as_plain_ids
from dask_graphgpu.algorithms.run import Run, with_room
from dask_graphgpu.arguments import as_limit
from dask_graphgpu.engine.hops import SWEEP
from dask_graphgpu.engine.known import DISTANCES
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.state import State
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.partition.csr import all_below
from dask_graphgpu.partition.device.elements import counted_up, fill, not_negative
from dask_graphgpu.partition.device.host import to_new_memory
from dask_graphgpu.partition.device.module import module_of
from dask_graphgpu.partition.layout import Form
from dask_graphgpu.program import VertexProgram


@dataclass(frozen=True)
class Traversal(Algorithm):
    """Values of vertices as seen from a source; see the algorithms that derive from this.

    Class attributes
    ----------------
    value : name of the result's column
    hops : whether distances count edges, for predecessors
    unsorted : whether values are the same in whatever order, and however often, the edges of a vertex are there
    """

    source: Any
    _: KW_ONLY
    target: Any = None
    cutoff: float | None = None

    value: ClassVar[str] = "distance"
    hops: ClassVar[bool] = False
    unsorted: ClassVar[bool] = False

    def __post_init__(self) -> None:
        as_plain_ids(self, "source", *["target"] * (self.target is not None))
        if self.cutoff is not None:
            object.__setattr__(self, "cutoff", as_limit("cutoff", self.cutoff))

    @property
    def edge_form(self) -> Form:
        # Several searches save by the order what it costs. A checkpoint goes on with the graph of rows, too.
        alone = not isinstance(self.source, list) or len(self.source) == 1
        kept = getattr(self, "checkpoint", None) is not None
        return "unsorted" if self.unsorted and alone and not kept else "rows"

    @abstractmethod
    def dtype_of_values(self, schema: EdgeSchema) -> str:
        """Type of a value."""

    @abstractmethod
    def values(
        self, run: Run, source: int, targets: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Value of every vertex in dense order, and which vertices have one."""

    def each_values(
        self, run: Run, sources: np.ndarray, targets: np.ndarray | None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """What `values` gives, of one group of sources after another: arrays with a row a source."""
        for source in sources:
            value, valid = self.values(run, int(source), targets)
            yield value[None], valid[None]

    def values_of_rows(self, run: Run, sources: np.ndarray) -> Values | None:
        """On ranks: the values of the rows of `Run.found_rows`; None: there is no quick way to them."""
        return None

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        several = {"source": ColumnType("vertex")} if isinstance(self.source, list) else {}
        value = ColumnType(self.dtype_of_values(schema), nullable=True)
        return {**several, "vertex": ColumnType("vertex"), self.value: value}

    def num_rows(self, num_vertices: int, schema: EdgeSchema) -> int | None:
        if self.target is not None:
            return None
        return num_vertices * (len(self.source) if isinstance(self.source, list) else 1)

    def run(self, run: Run) -> Table:
        sources = run.ids.find(self.source if isinstance(self.source, list) else [self.source])
        targets = None
        if self.target is not None:
            targets = run.ids.find(self.target if isinstance(self.target, list) else [self.target])
        if targets is None and run.ranks is not None and len(sources) > 1:
            made = self.values_of_rows(run, sources)
            if made is not None:
                return self._rows(run, sources, made)
        if targets is None:
            rows, places, each = run.rows, run.vertices, run.num_vertices
        else:
            rows, places = run.rows_of(targets)
            each = len(targets)
        found, dtype = self.each_values(run, sources, targets), self.dtype_of_values(run.schema)
        ordered = run.ranks is not None and (targets is not None or len(sources) > 1)
        on_device = run.ranks is None and run.view.on_device
        if not on_device and (targets is not None or len(sources) > 1):
            # Rows go another way, by the host.
            found = ((to_new_memory(value), to_new_memory(valid)) for value, valid in found)
        vertices = run.vertices if targets is None else run.dense(rows)
        # Values of several sources that are in order are copied where groups are joined, if at all.
        joined = len(sources) > 1
        as_they_are = joined and targets is None and run.ranks is None and run.ids.position is None
        parts: dict[str, list[Values]] = {self.value: []}
        left = iter(sources.tolist())
        for values, valids in found:
            if as_they_are:
                parts[self.value].append(Values(values.reshape(-1), valids.reshape(-1)))
            for value, valid, source in zip(values, valids, left, strict=False):
                if not as_they_are and targets is None:
                    parts[self.value].append(run.column(value, dtype, valid))
                elif not as_they_are:
                    parts[self.value].append(Values(value[rows], valid[rows]))
                for name, column in self.more(run, source, rows, value, valid).items():
                    parts.setdefault(name, []).append(column)
        if ordered:
            starts = np.arange(len(sources))[:, None] * each
            run.order((starts + np.asarray(places, np.int64)).ravel())
        table = {
            "vertex": Values(np.concatenate([vertices] * len(sources)) if joined else vertices)
        }
        table |= {name: _joined(columns) for name, columns in parts.items()}
        if isinstance(self.source, list):
            every = np.asarray(sources, dtype=vertices.dtype, like=vertices)
            shape = len(every), len(vertices)
            table["source"] = Values(np.broadcast_to(every[:, None], shape).reshape(-1))
        return table

    def _rows(self, run: Run, sources: np.ndarray, made: Values) -> Table:
        """The result of all vertices, of values of the rows of `Run.found_rows`; where these are."""
        n, total = run.num_vertices, len(sources) * run.num_vertices
        low, high = run.found_rows(total)
        run.order(range(low, high))
        bounds, dtype = np.clip(np.arange(len(sources) + 1) * n, low, high), run.view.id_dtype

        def on_host() -> tuple[Any, Any]:
            first = np.roll(all_below(n, dtype), -low % n)
            return np.repeat(sources, np.diff(bounds)), np.resize(first, high - low)

        data: Any = made.data
        if isinstance(data, np.ndarray):
            every, vertices = on_host()
        else:
            every, vertices = with_room(
                lambda: _on_device(data, sources, bounds, n, dtype), on_host
            )
        return {"source": Values(every), "vertex": Values(vertices), self.value: made}

    def more(
        self, run: Run, source: int, rows: np.ndarray, value: np.ndarray, valid: np.ndarray
    ) -> Table:
        """Further columns of the result."""
        return {}


def _on_device(
    beside: Any, sources: np.ndarray, bounds: np.ndarray, n: int, dtype: Any
) -> tuple[Any, Any]:
    """Source and vertex of the rows of sources between bounds, on the GPU; all rows of each are ``n``."""
    xp = module_of(beside)
    every, vertices = xp.empty(len(beside), dtype), xp.empty(len(beside), dtype)
    low, first = bounds[0], counted_up(xp, n, dtype)
    for i, (begin, end) in enumerate(pairwise(bounds.tolist())):
        here = slice(begin - low, end - low)
        fill(every[here], sources[i])
        vertices[here] = first[begin - i * n : end - i * n]
    return every, vertices


def _joined(parts: list[Values]) -> Values:
    if len(parts) == 1:
        return parts[0]
    valid = None if parts[0].valid is None else np.concatenate([part.valid for part in parts])
    return Values(np.concatenate([part.data for part in parts]), valid)


@dataclass(frozen=True)
class ShortestPaths(Traversal):
    """Distances from a source, with the paths if asked for."""

    _: KW_ONLY
    predecessor: bool = False

    @property
    def edge_form(self) -> Form:
        # Predecessors are chosen by degrees without repeats.
        return "rows" if self.predecessor else super().edge_form

    def engine_functions(self) -> tuple[str, ...]:
        return ("run", "predecessors") if self.predecessor else ("run",)

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        last = {"predecessor": ColumnType("vertex", nullable=True)} if self.predecessor else {}
        return {**super().result_columns(schema), **last}

    def more(
        self, run: Run, source: int, rows: np.ndarray, value: np.ndarray, valid: np.ndarray
    ) -> Table:
        if not self.predecessor:
            return {}
        view = run.view if isinstance(value, np.ndarray) else run.staying
        before = run.engine.predecessors(
            view, source, value, valid, hops=self.hops, report=run.report
        )
        before = run.own(before) if rows is run.rows else before[rows]
        return {"predecessor": Values(before, before != np.asarray(run.dense(rows), like=before))}


def each_hops(
    run: Run,
    sources: np.ndarray,
    cutoff: float | None,
    targets: np.ndarray | None,
    view: Any = None,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """What `hops` gives, of one group of sources after another: arrays with a row a source.

    Of several sources together answers never stay on a GPU, though ``view`` is `Run.staying`.
    """
    most = None if cutoff is None else int(min(cutoff, run.num_vertices))
    together = run.view if view is None or view is run.staying else view
    for first in range(0, len(sources), SWEEP):
        some, levels = sources[first : first + SWEEP], None
        if len(sources) > 1:
            levels = run.engine.multi_bfs(
                together, some, cutoff=most, targets=targets, report=run.report
            )
        if levels is not None:
            yield levels, not_negative(levels)
            continue
        for source in some:
            level, reached = hops(run, int(source), cutoff, targets, view)
            yield level[None], reached[None]


def hops_of_rows(run: Run, sources: np.ndarray, cutoff: float | None) -> Values | None:
    """Hops from several sources as the rows of a result of `Run.found_rows`; as `Traversal.values_of_rows`."""
    most = None if cutoff is None else int(min(cutoff, run.num_vertices))
    levels = run.engine.multi_bfs(
        run.finding, sources, cutoff=most, targets=None, report=run.report
    )
    return None if levels is None else Values(levels, not_negative(levels))


def hops(
    run: Run,
    source: int,
    cutoff: float | None,
    targets: np.ndarray | None,
    view: Any = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Edges on a shortest path to every vertex, and which vertices are reached.

    ``view`` : `Run.staying`, or another than the run's (default).
    """
    most = None if cutoff is None else int(min(cutoff, run.num_vertices))
    view = run.view if view is None else view
    level = run.engine.bfs(view, source, cutoff=most, targets=targets, report=run.report)
    return level, not_negative(level)


def each_length(
    run: Run,
    sources: np.ndarray,
    cutoff: float | None,
    targets: np.ndarray | None,
    program: VertexProgram = DISTANCES,
    view: Any = None,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """What `length` gives, of one source after another: arrays with a row a source."""
    options = run.options(cutoff=cutoff, targets=targets)
    view = run.view if view is None else view
    for state in each_state(run, program, view, sources, options):
        assert state.reached is not None
        yield state["distance"][None], state.reached[None]


def length(
    run: Run,
    source: int,
    cutoff: float | None,
    targets: np.ndarray | None,
    program: VertexProgram = DISTANCES,
    view: Any = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Length of a shortest path to every vertex by a program of `known`, and which vertices are reached.

    ``view`` : `Run.staying`, or another than the run's (default).
    """
    of_one = each_length(run, np.array([source]), cutoff, targets, program, view)
    ((distance,), (reached,)) = next(of_one)
    return distance, reached


def each_state(
    run: Run, program: VertexProgram, view: Any, sources: np.ndarray, options: RunOptions
) -> Iterator[State]:
    """What a program gives from each of several sources: side by side where the engine does that.

    Of several sources together answers never stay on a GPU, though ``view`` is `Run.staying`.
    """
    together = run.view if view is run.staying else view
    for first in range(0, len(sources), SWEEP):
        some, states = sources[first : first + SWEEP], None
        if run.keeper is None and len(sources) > 1:
            states = run.engine.run_each(program, together, some, options)
        if states is None:
            for source in some:
                yield run.engine.run(program, view, replace(options, sources=np.array([source])))
        else:
            yield from states
