"""Graph: a frame of edges with its columns and options, and the graph methods on it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any, Concatenate, ParamSpec

import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.base import compute, is_dask_collection, persist
from dask.delayed import delayed

from dask_graphgpu import config
from dask_graphgpu import engine as engines
from dask_graphgpu.algorithms import (
    ALGORITHMS,
    BFS,
    SSNSP,
    SSSP,
    SSWP,
    Algorithm,
    CoreNumber,
    Degree,
    KCore,
    PageRank,
    RunProgram,
    WeaklyConnectedComponents,
)
from dask_graphgpu.algorithms.algorithm import Run
from dask_graphgpu.algorithms.vertex_values import FrameColumns
from dask_graphgpu.errors import InvalidArgument, InvalidEdges, InvalidVertices
from dask_graphgpu.ingest import Needs, edge_frame, ingest, vertex_frame
from dask_graphgpu.io.results import ColumnType, Table, column_names, empty_frame, to_frame
from dask_graphgpu.io.schema import (
    UNSET,
    Columns,
    EdgeSchema,
    Unset,
    find_columns,
    find_vertex_columns,
    holding_vertices,
)
from dask_graphgpu.partition.build import Layout
from dask_graphgpu.partition.partition import Partition
from dask_graphgpu.report import Report
from dask_graphgpu.store import save as saving
from dask_graphgpu.store.plan import Plan, exact_plan, planned
from dask_graphgpu.store.saved import Saved, open_partition
from dask_graphgpu.store.source import stated

P = ParamSpec("P")

_DUPLICATES = ("auto", "min", "max", "sum", "one", "keep")
_ORDERS = ("auto", "input", "degree")


def _method(algorithm: Callable[P, Algorithm]) -> Callable[Concatenate[Graph, P], Any]:
    """The graph method of an algorithm: its arguments and documentation are the dataclass's."""

    def method(self: Graph, /, *args: P.args, **kwargs: P.kwargs) -> Any:
        return self._call(algorithm(*args, **kwargs))

    name = next(name for name, kind in ALGORITHMS.items() if kind is algorithm)
    method.__name__ = name
    method.__qualname__ = f"Graph.{name}"
    method.__doc__ = algorithm.__doc__
    method.__wrapped__ = algorithm  # type: ignore[attr-defined]  # gives inspect the signature
    return method


class Graph:
    """Edges with their columns and options; made by ``frame.graph(...)``.

    Methods on a graph of Dask frames are lazy: they read nothing, give a Dask frame with as many
    partitions as the edge frame, and all work is done when that is computed. On pandas frames
    they compute at once and give pandas frames.

    Parameters
    ----------
    frame : Dask or pandas DataFrame
        One row an edge.
    source, destination : str or list of str
        Id columns (integers or strings). Default: ``src`` and ``dst``, or ``source`` and
        ``destination``.
    weight : str or None
        Weight column, integers or floats, not negative. Default: ``weight`` if there is one.
        None: no weights.
    directed : bool
        False: an edge leads both ways. Each may be given once or in both directions, with the same
        answer.
    vertices : frame, optional
        A frame with the id column (``vertex``, ``id`` or the source column's name; several id
        columns under the source columns' names). Keeps vertices without edges, and carries
        per-vertex values for programs.
    duplicates : {"auto", "min", "max", "sum", "one", "keep"}
        How repeated rows become one edge, by their weights. "auto": by the rule of each algorithm
        (paths: "min"; rank: "sum"; components, cores, degrees: "one"; programs: "keep").
    order : {"auto", "input", "degree"}
        Order of vertices in memory: that of the ids, or by falling degree. "auto": that of the ids
        unless degrees are skewed and the ids show no locality. Answers do not depend on it.
    engine : {"auto", "cpu", "interpreted"}
        For both, "auto" leaves it to ``graphgpu.order`` and ``graphgpu.engine`` of Dask's
        configuration where those are set.

    Raises
    ------
    InvalidEdges, InvalidVertices, InvalidArgument, EngineUnavailable
    """

    def __init__(
        self,
        frame: Any,
        *,
        source: Columns | Unset = UNSET,
        destination: Columns | Unset = UNSET,
        weight: str | Unset | None = UNSET,
        directed: bool = True,
        vertices: Any = None,
        duplicates: str = "auto",
        order: str = "auto",
        engine: str = "auto",
    ) -> None:
        _check_frame(frame, "the edge frame", InvalidEdges)
        order, engine = config.chosen("order", order), config.chosen("engine", engine)
        _check_choice("duplicates", duplicates, _DUPLICATES)
        _check_choice("order", order, _ORDERS)
        _check_choice("directed", directed, (True, False))
        engines.check(engine)
        schema = find_columns(_meta(frame), source, destination, weight)
        self._schema = dataclasses.replace(schema, directed=directed)
        if duplicates == "one" and self._schema.weight is not None:
            raise InvalidArgument(
                "duplicates='one' does not say which weight repeated edges get: choose 'min', "
                "'max' or 'sum', or give weight=None"
            )
        self._vertex_ids: tuple[str, ...] = ()
        if vertices is not None:
            _check_frame(vertices, "the vertices frame", InvalidVertices)
            self._vertex_ids = find_vertex_columns(_meta(vertices), self._schema)
            self._schema = holding_vertices(self._schema, _meta(vertices), self._vertex_ids)
        self._frame = frame
        self._vertices = vertices
        self._layout = Layout(directed=directed, duplicates=duplicates, order=order)
        self._engine = engine
        self._built: Any = None
        self._built_needs: Needs | None = None
        self._built_from: dict[str, Any] | None = None  # Parquet, as `stated` before it was read
        self._npartitions: int | None = None  # of results; None: as many as the edge frame

    bfs = _method(BFS)
    sssp = _method(SSSP)
    sswp = _method(SSWP)
    ssnsp = _method(SSNSP)
    pagerank = _method(PageRank)
    weakly_connected_components = _method(WeaklyConnectedComponents)
    core_number = _method(CoreNumber)
    k_core = _method(KCore)
    degree = _method(Degree)
    run = _method(RunProgram)

    def persist(self, *, columns: Columns = ()) -> Graph:
        """Build the partition now and keep it, so that methods called later share it.

        Parameters
        ----------
        columns : str or list of str
            Further columns of the edge frame that programs will read.

        Returns
        -------
        Graph
            The same graph, held in memory (of the worker, when a ``distributed.Client`` is active).
        """
        needs = self._all_needs(columns)
        kept = Graph.__new__(Graph)
        kept.__dict__.update(self.__dict__)
        kept._built_from = self._stated()
        built = self._partition(needs) if self._frame is None else self._ingest(needs)
        kept._built = persist(built)[0] if is_dask_collection(built) else built
        kept._built_needs = needs
        return kept

    def save(self, path: str | Path, *, columns: Columns = ()) -> Path:
        """Build the partition, if need be, and save it, to be opened by `dask_graphgpu.load`.

        Parameters
        ----------
        path
            Folder on a local or shared file system: new, empty or a saved graph, which is replaced
            as one step.
        columns : str or list of str
            Further columns of the edge frame that programs will read.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        OutputError
            ``path`` holds something else or cannot be written; what was there is untouched.

        Notes
        -----
        Saved are all rows of the frame, the ids, numeric columns of the vertices frame, and, ready
        for use, the rows without repeats and of directed graphs both directions. Needs room for
        the old and the new folder side by side.
        """
        from dask_graphgpu import __version__

        folder = saving.check_destination(path)
        source = self._stated()
        partition = self._partition(self._all_needs(columns))
        number = self._num_partitions()
        arguments = partition, folder, self._schema, number, source, __version__
        if is_dask_collection(partition):
            delayed(saving.write, pure=False)(*arguments).compute()
        else:
            saving.write(*arguments)
        return folder

    @classmethod
    def _of_saved(cls, saved: Saved, npartitions: int | None, engine: str) -> Graph:
        """The graph of a saved folder, whose partition is mapped now."""
        graph = cls.__new__(cls)
        graph._schema, graph._layout, graph._engine = saved.schema, saved.layout, engine
        graph._frame = graph._vertices = None
        graph._vertex_ids = ()
        opened = delayed(open_partition, pure=True)(str(saved.path), saved.fingerprint)
        graph._built = persist(opened)[0]
        graph._built_needs = Needs(
            saved.schema.weight is not None, saved.edge_columns, saved.vertex_columns
        )
        graph._built_from = saved.source
        graph._npartitions = saved.npartitions if npartitions is None else npartitions
        return graph

    def _all_needs(self, columns: Columns) -> Needs:
        """What to build so that any method can work on it."""
        return Needs(
            weight=self._schema.weight is not None,
            edge_columns=(columns,) if isinstance(columns, str) else tuple(columns),
            vertex_columns=tuple(self._vertex_columns(values=True)),
        )

    def _vertex_columns(self, *, values: bool = False) -> list[str]:
        """Columns of the vertices frame, or of what was saved of it; or only those of values."""
        if self._frame is None and self._built_needs is not None:
            return list(self._built_needs.vertex_columns)
        if self._vertices is None:
            return []
        meta = _meta(self._vertices)
        if not values:
            return [str(c) for c in meta.columns]
        return [str(c) for c in meta.select_dtypes("number") if c not in self._vertex_ids]

    def _stated(self) -> dict[str, Any] | None:
        """The Parquet files that the partition is of, as they were before they were read."""
        if self._built is not None:
            return self._built_from
        weight = Needs(weight=self._schema.weight is not None)
        frames = [edge_frame(self._frame, self._schema, weight)]
        return stated(frames if self._vertices is None else [*frames, self._vertices])

    def explain(self) -> Plan:
        """What a method will work on; printed, a short text.

        Before `persist` the rows come from the Parquet footers (or the length of a pandas frame)
        and vertices are an upper bound marked ``<=``; nothing is read. Afterwards it is exact.
        """
        if self._built is not None:
            describe: Any = delayed(exact_plan, pure=False) if self._is_lazy() else exact_plan
            plan = describe(self._built, self._schema, self._layout, self._engine)
            built: Plan = plan.compute() if self._is_lazy() else plan
            return built
        weight = Needs(weight=self._schema.weight is not None)
        frame = edge_frame(self._frame, self._schema, weight)
        return planned(frame, self._schema, self._layout, self._engine)

    def __repr__(self) -> str:
        return f"<Graph: {self._schema.describe()}, {'directed' if self._layout.directed else 'undirected'}>"

    def _is_lazy(self) -> bool:
        return any(map(is_dask_collection, (self._frame, self._vertices, self._built)))

    def _num_partitions(self) -> int:
        if self._npartitions is not None:
            return self._npartitions
        return int(self._frame.npartitions) if is_dask_collection(self._frame) else 1

    def _ingest(self, needs: Needs) -> Any:
        return ingest(
            self._frame, self._schema, self._vertices, self._vertex_ids, self._layout, needs
        )

    def _partition(self, needs: Needs) -> Any:
        """The partition (Delayed on Dask frames) with at least what is needed."""
        if self._built is None or self._built_needs is None:
            return self._ingest(needs)
        missing = set(needs.edge_columns) - set(self._built_needs.edge_columns)
        if missing:
            kind, method = ("saved", "save") if self._frame is None else ("persisted", "persist")
            raise InvalidArgument(
                f"the {kind} graph does not hold the edge columns {sorted(missing)}; {method} it "
                f"with columns={sorted(needs.edge_columns)}"
            )
        return self._built

    def _call(self, algorithm: Algorithm) -> Any:
        schema = self._schema
        columns = algorithm.columns(schema)
        names = column_names(columns, schema)
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InvalidArgument(
                f"the result would have two columns named {twice[0]!r}: rename the id columns "
                f"{list(schema.source)} of the edge frame"
            )
        weight = algorithm.reads_weight(schema)
        needs = Needs(
            weight=weight,
            edge_columns=tuple(algorithm.edge_columns()),
            vertex_columns=tuple(algorithm.vertex_columns()),
            by=algorithm.by,
        )
        self._check_columns(needs)
        algorithm, frames = self._take_frames(algorithm)
        partition = self._partition(needs)
        if not self._is_lazy():
            frames = {name: compute(*chunks) for name, chunks in frames.items()}
            table, ids = execute(algorithm, partition, schema, weight, self._engine, frames)
            return to_frame(table, columns, ids, schema)
        ran = delayed(execute, pure=True, nout=2)(
            algorithm, partition, schema, weight, self._engine, frames
        )
        number = self._num_partitions()
        share = delayed(_share, pure=True)
        parts = [share(ran, columns, schema, i, number) for i in range(number)]
        name = f"graph-{ran.key}"
        meta = empty_frame(columns, schema)
        return dd.from_delayed(parts, meta=meta, verify_meta=False, prefix=name)

    def _check_columns(self, needs: Needs) -> None:
        """Refuse columns that the frames do not have, when the method is called."""
        given = [name for name, _ in self._schema.dtypes]
        rule = self._layout.duplicates
        if needs.edge_columns and rule not in ("auto", "keep"):
            raise InvalidArgument(
                f"the program reads edge columns, which have no single value where "
                f"duplicates={rule!r} makes repeated rows one; use duplicates='keep'"
            )
        for name in needs.edge_columns:
            if name not in given:
                which = "edge frame has" if self._frame is not None else "saved graph holds"
                raise InvalidEdges(f"the program reads edge_{name}; the {which} {given}")
        for name in needs.vertex_columns:
            here = self._vertex_columns()
            if name not in here:
                raise InvalidVertices(
                    f"the vertices frame has no column {name!r}; "
                    + (f"it has {here}" if here else "the graph has none: give vertices=")
                )

    def _take_frames(self, algorithm: Algorithm) -> tuple[Algorithm, dict[str, Any]]:
        """Replace frames among the arguments by their chunks of vertices."""
        frames: dict[str, Any] = {}
        changes: dict[str, FrameColumns] = {}
        for field in dataclasses.fields(algorithm):  # type: ignore[arg-type]
            value = getattr(algorithm, field.name)
            if not (isinstance(value, pd.DataFrame) or is_dask_collection(value)):
                continue
            _check_frame(value, field.name, InvalidArgument)
            ids = find_vertex_columns(_meta(value), self._schema)
            rest = [str(c) for c in value.columns if c not in ids]
            number = algorithm.frame_columns(field.name)
            if len(rest) != number:
                raise InvalidArgument(
                    f"{field.name}: a frame with the id column(s) {list(ids)} and "
                    f"{'one column' if number == 1 else f'{number} columns'} of values; it has "
                    f"{[str(c) for c in value.columns]}"
                )
            lazy = self._is_lazy() or is_dask_collection(value)
            frames[field.name] = vertex_frame(value, ids, rest, lazy)
            changes[field.name] = FrameColumns(tuple(rest))
        return (dataclasses.replace(algorithm, **changes) if frames else algorithm), frames  # type: ignore[type-var]


def execute(
    algorithm: Algorithm,
    partition: Partition,
    schema: EdgeSchema,
    weight: bool,
    engine_name: str,
    frames: dict[str, Any],
) -> tuple[Table, Any]:
    """Run an algorithm on a partition and publish its report."""
    name = next(name for name, kind in ALGORITHMS.items() if kind is type(algorithm))
    report = Report(name)
    view = partition.view(algorithm.rule, weight, tuple(algorithm.edge_columns()))
    module = engines.load(engine_name)
    run = Run(module, view, partition.ids, schema, report, {k: list(v) for k, v in frames.items()})
    table = algorithm.run(run)
    report.publish()
    return table, partition.ids


def _share(
    ran: tuple[Table, Any], columns: dict[str, ColumnType], schema: EdgeSchema, i: int, of: int
) -> pd.DataFrame:
    """The i-th of ``of`` even shares of a result's rows."""
    table, ids = ran
    rows = len(next(iter(table.values())).data)
    bounds = np.linspace(0, rows, of + 1).astype(np.int64)
    return to_frame(table, columns, ids, schema, slice(bounds[i], bounds[i + 1]))


def _meta(frame: Any) -> pd.DataFrame:
    meta: pd.DataFrame = frame._meta if is_dask_collection(frame) else frame
    return meta


def _check_frame(frame: Any, what: str, error: type[Exception]) -> None:
    if not isinstance(frame, (pd.DataFrame, dd.DataFrame)):
        raise error(
            f"{what} is a {type(frame).__name__}; give a Dask or pandas DataFrame with a row each"
        )


def _check_choice(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    if value not in allowed:
        raise InvalidArgument(f"{name}={value!r}; allowed are {', '.join(map(repr, allowed))}")
