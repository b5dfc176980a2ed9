"""What a saved graph has beside the methods of any graph: it is changed where it lies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from dask_graphgpu.arguments import is_whole, refuse
from dask_graphgpu.changed_rows import ChangedRows
from dask_graphgpu.errors import InvalidArgument, briefly
from dask_graphgpu.inputs import Built, Input
from dask_graphgpu.opening import opened
from dask_graphgpu.store import changes, update
from dask_graphgpu.store.saved import Saved
from dask_graphgpu.store.source import with_inputs
from dask_graphgpu.store.update import Updated

if TYPE_CHECKING:
    from collections.abc import Callable


def library() -> str:
    """The version of this library, as saved graphs name it."""
    from dask_graphgpu import __version__

    return __version__


class Updating:
    """Methods of `Graph` that change a saved graph, or say what has changed of it."""

    _input: Input
    _engine: str
    if TYPE_CHECKING:
        _of: Callable[..., Self]

    @briefly
    def append(self, frame: Any) -> Self:
        """Add rows to a saved graph, where it lies.

        As ``update(append=frame)``.

        Parameters
        ----------
        frame : Dask, pandas, cuDF or polars DataFrame, or what else `dask_graphgpu.graph` takes
            Rows with the columns of the saved graph: those of ids, the weight, and the edge columns that it holds.
            Others are left out. New ids become vertices.

        Returns
        -------
        Graph
            The saved graph as it is now.

        Raises
        ------
        InvalidArgument, InvalidEdges, InvalidSavedGraph, OutputError
            As `update`.
        """
        return self.update(append=frame)

    @briefly
    def remove(self, frame: Any) -> Self:
        """Remove rows from a saved graph, where it lies.

        As ``update(remove=frame)``.

        Parameters
        ----------
        frame
            Pairs of ids in the id columns of the saved graph; other columns are left out. All rows between the two ends
            of a pair go, in an undirected graph in either direction. A vertex without rows goes too, unless the
            vertices frame named it.

        Returns
        -------
        Graph
            The saved graph as it is now.

        Raises
        ------
        InvalidArgument, InvalidEdges, InvalidSavedGraph, OutputError
            As `update`.
        """
        return self.update(remove=frame)

    @briefly
    def update(self, append: Any = None, remove: Any = None) -> Self:
        """Add and remove rows of a saved graph in one step.

        Rows between the pairs of ``remove`` go first, then those of ``append`` come: a pair in both is replaced.

        Parameters
        ----------
        append, remove : frame, optional
            As of `append` and `remove`.

        Returns
        -------
        Graph
            The saved graph as it is now, which gives what the graph built anew of the same rows gives. This one stays
            what it was, and cannot be updated any more.

        Raises
        ------
        InvalidArgument
            The graph is not a saved one; or layers are counted from a vertex that would be gone.
        InvalidEdges
            A column is missing, or ids or weights are none: nothing was changed. Weights are judged here, also where
            no method will read them.
        InvalidSavedGraph
            The folder is damaged, or was updated or replaced since this graph was loaded: load it again.
        OutputError
            Another process is updating it, or it cannot be written; what was there is untouched.

        Notes
        -----
        Readers find the old graph or the new one, also if this is killed. An update writes what has changed into a log
        beside the files of the graph; of these it reads the ids, and looks up the rows that it touches. On a file
        system without hard links they are copied; from an object store they are read, and not written.

        The first method that needs the rows puts the log into them in memory: O(V + E), without reading frames. Where
        the log holds more than 64 updates, or more than a tenth of the rows and 65,536, an update is followed by
        `compact`, which costs as saving the graph.
        """
        return self._updated(append, remove)[0]

    def _updated(
        self, append: Any, remove: Any, inputs: dict[str, Any] | None = None
    ) -> tuple[Self, Updated]:
        """`update`, and what it has done; ``inputs`` as of `store.source.with_inputs`."""
        found = self._saved("update")
        if append is None and remove is None:
            raise InvalidArgument("update() has nothing to do: give append=, remove= or both")
        rows = ChangedRows(append, remove, found.schema, found.edge_columns)
        source = rows.source if inputs is None else with_inputs(rows.source, inputs)
        about = source, library()
        done = update.update(found.path, found.fingerprint, rows.change, *about)
        update.compact(found.path, done.fingerprint, library(), always=False)
        return self._now(found), done

    @briefly
    def compact(self) -> Self:
        """Put the log of a saved graph into its files.

        Updates do this by themselves where it pays, see `update`. Results do not change.

        Returns
        -------
        Graph
            The saved graph, which opens without a log.

        Raises
        ------
        InvalidArgument, InvalidSavedGraph, OutputError
            As `update`.

        Notes
        -----
        Cost and room as of `save`. The newest entries of the log are kept for `changes`, as far as they are less than a
        tenth of the rows.
        """
        found = self._saved("compact")
        update.compact(found.path, found.fingerprint, library())
        return self._now(found)

    @property
    def generation(self) -> int | None:
        """Number of a saved graph's last update, 0 before any.

        Compaction keeps it, saving over the graph begins anew. None: the graph is not a saved one.
        """
        made = self._input
        saved = made.saved if isinstance(made, Built) else None
        return None if saved is None else saved.generation

    @briefly
    def changes(self, since: int) -> tuple[pd.DataFrame, pd.DataFrame]:
        """What updates have changed of a saved graph.

        Parameters
        ----------
        since : int
            A `generation` of the graph.

        Returns
        -------
        added : pandas.DataFrame
            Rows that came since and are there, with the columns of the saved graph, in the order in which they came.
        removed : pandas.DataFrame
            Pairs of ends between which rows went, each once, with the id columns. New rows may be between them.

        Raises
        ------
        InvalidArgument
            The graph is not a saved one; there is no such generation; or what came after it is not kept any more, as
            `compact` keeps the newest entries only.
        InvalidSavedGraph
            As `update`.

        Notes
        -----
        Cost: the log is read, no row of the graph.
        """
        found = self._saved("changes")
        if not is_whole(since):
            refuse("since", since, f"is a whole number up to {found.generation}, the generation")
        return changes.changes_since(found, int(since))

    def _saved(self, method: str) -> Saved:
        made = self._input
        if not isinstance(made, Built) or made.saved is None:
            raise InvalidArgument(
                f"{method}() is of saved graphs, and this one is {made.state}: save it, and call {method}() of "
                "dask_graphgpu.load(path)"
            )
        return made.saved

    def _now(self, found: Saved) -> Self:
        """The graph as it is in the folder now."""
        given = self._input
        made = opened(
            found.path,
            self._engine,
            given.npartitions,
            on_device=given.schema.on_device,
            stale="ignore",
        )
        return type(self)._of(made, self._engine)
