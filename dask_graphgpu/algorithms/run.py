"""What an algorithm is handed when it runs: a graph, or one rank's share of a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from dask_graphgpu.engine.contract import Engine
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.io.results import Values
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.partition.chunk import VertexChunk, to_host
from dask_graphgpu.partition.csr import at_ends
from dask_graphgpu.partition.device.elements import converted, gathered
from dask_graphgpu.partition.device.host import to_new_memory
from dask_graphgpu.partition.device.memory import is_of_device
from dask_graphgpu.partition.result_rows import made_rows
from dask_graphgpu.report import Report

if TYPE_CHECKING:
    from dask_graphgpu.checkpoint import CheckpointKeeper
    from dask_graphgpu.exchange.ranks import Ranks

_Made = TypeVar("_Made")


@dataclass(frozen=True, eq=False)
class RowOrder:
    """Where the rows of a rank's table stand among those of all ranks.

    ``place``, from 0 on, and ``tie`` among rows of one place: arrays, one entry a row; places may be a range. Arrays on
    the GPU are in order.
    """

    place: np.ndarray | range
    tie: np.ndarray | None = None


@dataclass(eq=False)
class Run:
    """One run of an algorithm, on all of a graph or, with ``ranks``, on a share of it.

    Of a share, arrays over vertices begin with those that this rank owns, whose values are right,
    and go on with copies of others, whose values mean nothing unless the text says otherwise.
    Dense ids are the same on all ranks and do not index these arrays. What is said to be of all
    ranks is called by all of them.

    Attributes
    ----------
    engine : Engine
    view : View or RankView
    ids : VertexIds or RankIds
    frames : chunks of frames that were given as arguments, by argument
    ranks : the ranks of the run; None: there is one
    keeper : has the state of vertex programs kept; None: nobody does
    places : of the result's rows; None: they are the vertices, in the order of the user's ids
    stays : answers that become columns as they are may stay on the GPU, see `staying`
    partitions : of the result, on ranks
    """

    engine: Engine
    view: Any
    ids: Any
    schema: EdgeSchema
    report: Report
    frames: dict[str, list[VertexChunk]] = field(default_factory=dict)
    ranks: Ranks | None = None
    keeper: CheckpointKeeper | None = None
    places: RowOrder | None = None
    stays: bool = False
    partitions: int = 1

    @cached_property
    def staying(self) -> Any:
        """The view, for an answer that is handed to `own` or `column` and nowhere else: it is where it was made.

        Of a graph on the host, and on ranks, answers are on the host else, whichever engine made them.
        """
        return self.view.staying() if self.stays else self.view

    @property
    def working(self) -> Any:
        """The view, for values that the algorithm goes on with; on ranks with GPUs they stay there, as of `staying`."""
        return self.view if self.ranks is None else self.staying

    @property
    def answering(self) -> Any:
        """The view, for rows that become those of the result as they are; see `RankView.answering`.

        Those of cuDF frames stay on the GPU where `staying` would have them.
        """
        return self.view if self.ranks is None else self._answering(self.made_rows)

    @property
    def finding(self) -> Any:
        """As `answering`, on ranks, for the rows of `found_rows`."""
        return self._answering(self.found_rows)

    def _answering(self, rows: Callable[[int], tuple[int, int]]) -> Any:
        view = self.staying if self.schema.on_device else self.view
        return view.answering(rows)

    def made_rows(self, total: int) -> tuple[int, int]:
        """On ranks: of so many rows of the result those that this rank makes: the first, and the one after the last."""
        assert self.ranks is not None
        return made_rows(self.ranks.rank, total, self.partitions, self.ranks.size)

    def found_rows(self, total: int) -> tuple[int, int]:
        """As `made_rows`, of rows that take work: of fewer partitions than ranks each finds its part, which travels."""
        assert self.ranks is not None
        rank, size = self.ranks.rank, self.ranks.size
        return made_rows(rank, total, max(self.partitions, size), size)

    def own(self, values: Any) -> Any:
        """Values of the (own) vertices, in ascending order of the user's ids, in new memory.

        That is where ``values`` are; on the host if they have stayed on the GPU and there are no ranks. They are
        ordered on the host as well if the GPU has no room for that.
        """
        return self._anywhere(self._ordered, values)

    def own_vertices(self, values: Any) -> Values:
        """What `own` gives of dense ids, as a column of the result that holds vertices."""
        if not self._names_there(values):
            return Values(self.own(values))
        return with_room(
            lambda: self._named_there(self._in_order(values), dense=True),
            lambda: Values(self.own(values)),
        )

    def vertices_at(self, places: Any) -> Values:
        """A column of vertices at some places in the order of the user's ids; on ranks of those numbers."""
        if self.ranks is not None:
            return Values(places)
        if self._names_there(places):
            return with_room(lambda: self._named_there(places), lambda: self._dense_at(places))
        return self._dense_at(places)

    def _dense_at(self, places: Any) -> Values:
        """What `vertices_at` gives as dense ids, without ranks."""
        if self.stays:
            places = to_host(places)
        dense = self.ids.position
        return Values(places if dense is None else at(dense, places))

    def _names_there(self, values: Any) -> bool:
        """Whether the user's ids of vertices are looked up on the GPU, where ``values`` have stayed."""
        stayed = self.stays and self.ranks is None and not isinstance(values, np.ndarray)
        return stayed and not self.schema.on_device and self.ids.are_integers

    def _named_there(self, places: Any, *, dense: bool = False) -> Values:
        """A column of the user's ids, looked up on the GPU and brought to new memory."""
        named = self.ids.named_beside(places, dense=dense)
        return Values(to_new_memory(named), fresh=True, named=True)

    def column(self, values: Any, dtype: Any = None, valid: Any = None) -> Values:
        """What `own` gives, as a column of the result that is of no vertices, of a dtype where one is given."""
        if dtype is not None and not isinstance(values, np.ndarray):
            values = self._anywhere(lambda each: converted(each, dtype), values)
        return Values(self.own(values), None if valid is None else self.own(valid), fresh=True)

    def _anywhere(self, make: Callable[[Any], Any], values: Any) -> Any:
        """What is made of values; of those that have stayed on the GPU on the host if there is no room for it."""
        if isinstance(values, np.ndarray) or not self.stays:
            return make(values)
        return with_room(lambda: make(values), lambda: make(to_host(values)))

    def _ordered(self, values: Any) -> Any:
        """What `own` gives."""
        if isinstance(values, np.ndarray):
            return at_ends(values, self.rows) if values.ndim == 1 else values.take(self.rows)
        found = self._in_order(values)
        return to_new_memory(found) if self.stays and self.ranks is None else found

    def _in_order(self, values: Any) -> Any:
        """Values that are on the GPU, in ascending order of the user's ids, there."""
        rows = self.ids.in_user_order_beside(values) if self.stays else self.rows
        return values.take(rows) if isinstance(rows, np.ndarray) else gathered(values, rows)

    def options(self, **asked: Any) -> RunOptions:
        """What `engine.run` is asked to do, with what this run notes things in."""
        return RunOptions(report=self.report, keeper=self.keeper, **asked)

    @property
    def num_vertices(self) -> int:
        """Vertices of the graph."""
        n = self.view.num_vertices if self.ranks is None else self.view.graph_vertices
        return int(n)

    @cached_property
    def rows(self) -> Any:
        """Where the (own) vertices are in arrays, in ascending order of the user's ids."""
        return self.ids.in_user_order()

    def dense(self, rows: Any) -> Any:
        """Dense ids of the vertices at some places of the arrays."""
        return rows if self.ranks is None else self.view.numbers.take(rows)

    @property
    def vertices(self) -> Any:
        """Dense ids of the (own) vertices, in ascending order of the user's ids."""
        return self.rows if self.ranks is None else self.ids.own_numbers()

    @property
    def by_place(self) -> Any:
        """The view in which programs see as ids the places in the order of the user's ids."""
        plain = self.ranks is not None or self.view.user_rank is None  # they are these anyway
        return self.view if plain else self.view.with_user_numbers()

    def rows_of(self, dense: np.ndarray) -> tuple[Any, np.ndarray]:
        """Where some dense ids are in arrays, and which of the given those are: all, or the own."""
        if self.ranks is None:
            return np.asarray(dense, like=self.rows), np.arange(len(dense))
        found: tuple[Any, np.ndarray] = self.ids.own_places(dense)
        return found

    # -- over all vertices of the graph ----------------------------------------------------------

    def total(self, values: Any) -> Any:
        """Sum over the vertices of all ranks; floats are added up as float64."""
        own = self._own(values)
        wide = np.float64 if own.dtype.kind == "f" else np.int64
        with np.errstate(over="ignore"):  # it is infinite then, which the caller judges
            mine = own.astype(wide, copy=False).sum().item()
        return mine if self.ranks is None else self.ranks.sum(mine)

    def least(self, values: Any) -> Any:
        """Smallest value over the vertices of all ranks."""
        own = self._own(values)
        if self.ranks is None:
            return own.min().item()
        return self.ranks.min(own.min().item() if own.size else _ends(own.dtype)[1])

    def most(self, values: Any) -> Any:
        """Largest value over the vertices of all ranks."""
        own = self._own(values)
        if self.ranks is None:
            return own.max().item()
        return self.ranks.max(own.max().item() if own.size else _ends(own.dtype)[0])

    def _own(self, values: Any) -> Any:
        return values if self.ranks is None else values[: self.view.num_owned]

    # -- the result ------------------------------------------------------------------------------

    def order(self, place: Any, tie: Any = None) -> None:
        """Say where the rows of the result stand, of a run on ranks; see `RowOrder`."""
        if self.ranks is not None:
            self.places = RowOrder(place, tie)


def with_room(make: Callable[[], _Made], otherwise: Callable[[], _Made]) -> _Made:
    """What ``make()`` gives on the GPU, or if that has no room for it ``otherwise()``."""
    try:
        return make()
    except MemoryError as error:
        if not is_of_device(error):
            raise
    return otherwise()


def at(values: Any, places: Any) -> Any:
    """Values at some places; of arrays on the host by all threads."""
    if isinstance(values, np.ndarray):
        return at_ends(values, places)
    return gathered(values, np.asarray(places, like=values))


def _ends(dtype: np.dtype[Any]) -> Sequence[Any]:
    """The smallest and the largest value of a dtype, as Python numbers."""
    if dtype.kind == "f":
        return -np.inf, np.inf
    if dtype.kind == "b":
        return 0, 1
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)
