"""What a graph that is built has beside the methods of any graph: parts of it by the values of an edge column."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from dask_graphgpu.arguments import refuse
from dask_graphgpu.errors import InvalidArgument, briefly
from dask_graphgpu.graph_parts import part_of
from dask_graphgpu.inputs import Built, BuiltOnRanks, Input
from dask_graphgpu.io.times import as_bound, as_length
from dask_graphgpu.windows import Spacing, Windows


class Filtering:
    """Methods of `Graph` that give parts of a graph that is persisted or saved."""

    _input: Input
    _engine: str
    _back: Callable[[Any], Any]
    if TYPE_CHECKING:
        _of: Callable[..., Self]

    @briefly
    def where(self, column: str, low: Any = None, high: Any = None) -> Self:
        """The part of a built graph with some values in an edge column.

        Methods on it give what they give on a graph of the frame's rows with ``low <= column < high``.

        Parameters
        ----------
        column : str
            An edge column of numbers or times: the weight column, or one that ``persist(columns=)`` or
            ``save(columns=)`` named.
        low, high : number, or time as of `pandas.Timestamp`, optional
            The least value, and the one above the largest. None: there is no such bound.

        Returns
        -------
        Graph
            A graph of its own where the graph is: in memory, on the GPU, on the same ranks, or in new pages on disk
            where it does not fit memory. Its vertices are those of its rows, and those of a vertices frame.

        Raises
        ------
        InvalidArgument
            The graph is neither persisted nor saved, or does not hold the column; or it is undirected and was saved
            without the directions in which edges were given, as earlier versions did, and graphs on disk do.

        Notes
        -----
        Cost: a pass over the column, one over the edges that stay, and one over the vertices, whose order stays; of an
        undirected graph, and for new pages, these edges are sorted; on ranks they travel as in a build.
        No frame is read, ids are not compared, and the graph stays as it is beside its part.
        """
        made = check_part(self._input, column, "where")
        kind = dict(made.schema.dtypes)[column]
        bounds = as_bound("low", low, kind), as_bound("high", high, kind)
        state = f"where {'' if low is None else f'{low} <= '}{column}{'' if high is None else f' < {high}'}"
        part = part_of(made, _carried(made, column), *bounds, state)
        return self._of(part, self._engine, self._back)

    @briefly
    def windows(
        self,
        column: str,
        every: Any,
        *,
        start: Any = None,
        warm: bool = False,
    ) -> Windows:
        """Windows of a built graph by an edge column, such as days.

        ``graph.windows("day", 7).pagerank()`` is one frame: the ranks of each week, with its first day in the column
        ``window``.

        Parameters
        ----------
        column : str
            As of `where`.
        every : number, or length of time as of `pandas.Timedelta`
            How long a window is; above 0.
        start : as of `where`, optional
            Where a window begins; others lie before and behind it. Default: the least value of the column.
        warm : bool
            Start each window from the result of the one before: ``pagerank`` from its ranks, ``louvain``, ``leiden``
            and ``label_propagation`` from its groups. Other methods are then errors.

        Returns
        -------
        Windows
            It has the methods of a graph. Windows without a row are left out.

        Raises
        ------
        InvalidArgument
            As `where`; or there would be more than 10,000 windows.

        Notes
        -----
        Cost: rows are dealt to their windows once, in host memory and in a GPU's if it has the room; on disk in as many
        passes as it takes to have the windows of each in memory; on ranks, and on a full GPU, there is a pass over the
        column for each window. Then each is made as by `where`, and the method runs.
        """
        made = check_part(self._input, column, "windows")
        kind = dict(made.schema.dtypes)[column]
        numbers = as_length("every", every, kind), as_bound("start", start, kind)
        if numbers[1] is not None and not math.isfinite(numbers[1]):
            refuse("start", start, "is a finite number, or None")
        spacing = Spacing(column, _carried(made, column), *numbers, kind)
        return Windows(self, made, spacing, warm)


def check_part(made: Input, column: str, method: str) -> Built | BuiltOnRanks:
    """The graph, if parts of it can be made by a column.

    Raises
    ------
    InvalidArgument
    """
    if not isinstance(made, Built | BuiltOnRanks):
        raise InvalidArgument(
            f"{method}() is of graphs that are built, and this one is {made.state}: call "
            f".persist(columns=[{column!r}]) first, or filter the frame"
        )
    if column != made.schema.weight and column not in made.needs.edge_columns:
        held = sorted({*made.needs.edge_columns, *filter(None, [made.schema.weight])})
        raise InvalidArgument(
            f"the graph holds no edge column {column!r}, only {held}: build it from its frame with "
            f".persist(columns=[{column!r}]) or .save(path, columns=[{column!r}])"
        )
    return made


def _carried(made: Built | BuiltOnRanks, column: str) -> str:
    """What the partition calls a column."""
    return "weight" if column == made.schema.weight else column
