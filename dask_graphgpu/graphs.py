"""Graph: a frame of edges with its columns and options."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from dask.delayed import delayed

from dask_graphgpu import as_networkx, config, where
from dask_graphgpu import engine as engines
from dask_graphgpu.algorithms import Degree
from dask_graphgpu.arguments import as_names, check_whole
from dask_graphgpu.at_hand import at_hand, built, on_engine, sized
from dask_graphgpu.cluster.placement import check_ranks
from dask_graphgpu.cluster.waiting import check_may_wait
from dask_graphgpu.errors import briefly, guess
from dask_graphgpu.execute import at_once
from dask_graphgpu.features import beside, features_asked, needs_of_all
from dask_graphgpu.filtering import Filtering
from dask_graphgpu.graph_options import checked
from dask_graphgpu.inputs import Input
from dask_graphgpu.io.arrow_frames import ArrowFrame, taken
from dask_graphgpu.io.place import Place
from dask_graphgpu.io.schema import (
    UNSET,
    Columns,
    Unset,
)
from dask_graphgpu.labelled import call
from dask_graphgpu.markup import table
from dask_graphgpu.methods import Methods
from dask_graphgpu.store import save as saving
from dask_graphgpu.store.empty import no_vertices
from dask_graphgpu.store.plan import BuildPlan
from dask_graphgpu.store.source import with_inputs
from dask_graphgpu.tiers import tiers_of
from dask_graphgpu.updating import Updating, library


class Graph(Methods, Filtering, Updating):
    """Edges with their columns and options; made by ``frame.graph(...)`` or `dask_graphgpu.graph`.

    Methods on a graph of Dask frames are lazy: they read nothing, give a Dask frame with as many
    partitions as the edge frame, and all work is done when that is computed. On other frames they
    compute at once and give frames of the same kind. cuDF frames stay on the GPU.

    Parameters
    ----------
    frame : Dask, pandas, cuDF or polars DataFrame, or what else `dask_graphgpu.graph` takes
        One row an edge.
    source, destination : str or list of str
        Id columns (integers or strings). Default: ``src`` and ``dst``, or ``source`` and
        ``destination``.
    weight : str or None
        Weight column, integers or floats, not negative. Default: ``weight`` if there is one.
        None: no weights.
    directed : bool
        False: an edge leads both ways. Each may be given once or, with the same weight, in both
        directions, with the same answer; with other weights these are two edges. Decided for each
        pair of vertices, see "Undirected edges" in the reference.
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
    engine : {"auto", "cpu", "gpu", "hybrid", "interpreted"}
        What runs the methods. "auto": the GPU for cuDF frames, the CPU for others. "gpu" on others
        copies the graph to the GPU and results back. "hybrid": the GPU and the CPU share the edges
        that are beyond ``graphgpu.device-memory-limit``, in host memory or on disk (not of cuDF frames).
        For order and engine, "auto" leaves it to ``graphgpu.order`` and ``graphgpu.engine`` of Dask's
        configuration where those are set.
    ranks : int or "auto"
        How many ranks share the graph and work on it together: workers of the active
        ``distributed.Client``, one rank each, or threads of this process. "auto":
        ``graphgpu.ranks`` of Dask's configuration; where that is "auto" too, one, unless a bare
        Parquet frame needs more than half of the memory of a worker: then all workers. Answers do
        not depend on it, but for the last digits of sums of floats, and for ``louvain`` and
        ``leiden``, which give others on one rank than on several.
    partitioner : str or function
        Which rank owns a vertex: "balanced", "random", "biased_random", "metis" (installed apart),
        or ``f(numbers, degrees, ranks)``, which gives a rank for each of some vertices: their places
        in the order of the ids, and how many edge ends each has. "auto": ``graphgpu.partitioner``.

    layout : {"rows", "layered"}
        "layered": edges are held in the order of the breadth-first level of their source too, and
        searches, shortest paths and other programs that only improve values sweep over them, from
        the first layer to the last, until nothing changes. Answers do not depend on it. On the CPU
        engine.
    root : id, optional
        The vertex from which layers are counted. Default: the one with the most out-edges. What it
        does not reach has layers of its own behind them.
    npartitions : int, optional
        Partitions of the Dask frames that methods give. Default: those of the edge frame. Of other frames a result
        is one frame, and there is nothing to choose.

    Raises
    ------
    InvalidEdges, InvalidVertices, InvalidArgument, EngineUnavailable
    """

    @briefly
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
        ranks: int | str = "auto",
        partitioner: str | Callable[..., Any] = "auto",
        layout: str = "rows",
        root: Any = None,
        npartitions: int | None = None,
    ) -> None:
        frame = taken(frame)
        self._input: Input
        self._input, self._engine = checked(
            frame,
            source=source,
            destination=destination,
            weight=weight,
            directed=directed,
            vertices=taken(vertices),
            duplicates=duplicates,
            order=order,
            engine=engine,
            ranks=ranks,
            partitioner=partitioner,
            layout=layout,
            root=root,
            npartitions=npartitions,
        )
        self._back: Callable[[Any], Any] = frame.back if isinstance(frame, ArrowFrame) else _as_is

    @classmethod
    def _of(cls, made: Input, engine: str, back: Callable[[Any], Any] | None = None) -> Graph:
        """A graph of anything but frames; ``back`` makes of a result what users get, None: as it is."""
        graph = cls.__new__(cls)
        graph._input, graph._engine, graph._back = made, engine, back or _as_is
        return graph

    @briefly
    def features(self, methods: Sequence[str] | Mapping[str, Mapping[str, Any]]) -> Any:
        """Several methods in one frame: a row for each vertex, and the columns of every method.

        Parameters
        ----------
        methods : list of str or dict of str to dict
            Names of methods, or names with arguments, as in ``{"pagerank": {"damping": 0.9}, "degree": {}}``.
            Allowed are those that give a row for each vertex; searches take one source and no target.

        Returns
        -------
        frame
            ``vertex``, then the columns of each method in the order of ``methods``. Where two methods name a
            column alike, as ``louvain`` and ``leiden`` do, both have the method's name before it:
            ``louvain_community``, unless ``columns=`` among the arguments names it. One row a vertex in
            ascending order of ids; of the kind that methods of this graph give.

        Raises
        ------
        InvalidArgument
            A method is unknown, given twice or gives rows of edges; the error lists those that are allowed.
        GraphError
            Any error of a method.

        Notes
        -----
        The edges are read and the graph is built once. Methods run one after another, or on Dask frames when the
        result is computed; columns are put side by side as they are, without a join or a shuffle. Memory: the
        graph, and all columns of the result.
        """
        found = features_asked(methods, self._input.schema)
        needs, engine = needs_of_all(found, self._input), on_engine(self._input, self._engine)
        made = at_once(self._input, self._engine, self._input.shared, needs, engine)
        graph = Graph._of(made, self._engine)
        results = [getattr(graph, each.method)(**each.arguments) for each in found]
        return self._back(beside(results, found, self._input.schema))

    @briefly
    def persist(self, *, columns: Columns = (), ranks: int | str = "auto") -> Graph:
        """Build the partition now and keep it, so that methods called later share it.

        Parameters
        ----------
        columns : str or list of str
            Further columns of the edge frame that programs will read.
        ranks : int or "auto"
            Another number of ranks than the graph was given.

        Returns
        -------
        Graph
            The same graph, held in memory (of the workers, when a ``distributed.Client`` is active),
            until nothing refers to it any more. A graph on several ranks is lost with any of their
            workers.
        """
        number = check_ranks(ranks)
        if isinstance(ranks, str):  # the graph's own number, which the setting has been asked for
            number = ranks
        made = built(self._input, self._engine, as_names("columns", columns), number)
        return Graph._of(made, self._engine, self._back)

    @briefly
    def save(
        self,
        path: str | Place,
        *,
        columns: Columns = (),
        storage_options: Mapping[str, Any] | None = None,
    ) -> Path | str:
        """Build the partition, if need be, and save it, to be opened by `dask_graphgpu.load`.

        Parameters
        ----------
        path
            Folder on a local or shared file system, or its URL on an object store: new, empty or a saved
            graph, which is replaced as one step.
        columns : str or list of str
            Further columns of the edge frame that programs will read.
        storage_options : dict, optional
            Of the object store, as its fsspec file system takes them. Default: what the environment says.

        Returns
        -------
        Path or str
            The folder, or its URL.

        Raises
        ------
        OutputError
            ``path`` holds something else, cannot be written, or on an object store another job has written
            there meanwhile; what was there is untouched.

        Notes
        -----
        Graphs of cuDF frames are built on the GPU and copied to host memory array by array. Loaded, they are graphs of
        host memory: give `load` ``engine="gpu"`` to run on the GPU, with results in host memory.
        Saved are all rows of the frame, the ids, numeric columns of the vertices frame, and, ready
        for use, the rows without repeats and of directed graphs both directions. It is built on
        one rank. Needs room for the old and the new folder side by side; for a URL also for the new one in
        Dask's ``temporary-directory``. Of a graph beyond
        ``graphgpu.host-memory-limit`` all that is made of its edges is made on disk; once loaded, its
        files are the system's to keep in memory, and methods run on them as on any saved graph.
        """
        if self._input.lazy:
            check_may_wait("save()")
        return self._save(path, as_names("columns", columns), storage_options)

    def _save(
        self,
        path: str | Place,
        names: tuple[str, ...],
        storage_options: Mapping[str, Any] | None = None,
        inputs: dict[str, Any] | None = None,
    ) -> Path | str:
        """`save`; ``inputs`` as of `store.source.with_inputs`."""
        folder = saving.check_destination(path, storage_options)
        made = built(self._input, self._engine, names, 1)
        needs = made.needs
        source = made.source if inputs is None else with_inputs(made.source, inputs)
        nothing = no_vertices(made.schema, made.layout, needs.carried, needs.vertex_columns)
        about = made.schema, made.npartitions, source, library(), nothing
        arguments = (made.held, folder, *about)
        if made.lazy:
            delayed(saving.write, pure=False)(*arguments).compute()
            saving.check_seen(folder)
        else:
            saving.write(*arguments)
        return Path(folder) if isinstance(folder, Path) else folder.url

    @briefly
    def explain(self) -> BuildPlan:
        """What a method will work on; printed, a short text.

        Before `persist` the rows come from the Parquet footers (or the length of a frame in memory)
        and vertices are an upper bound marked ``<=``; nothing is read, but a LazyFrame's or a relation's
        query is run. Afterwards it is exact.

        With ``graphgpu.device-memory-limit``, and of edges in pages on disk, it says about how many bytes lie
        where when the engine works on the graph, how many move in a superstep, and which way: once for
        methods that read what edges carry, once for others. For that it looks at all weights
        of a graph that is built, since they decide whether an edge crosses as one word; else it takes
        edges as they are given.

        Some methods need the edges of all ranks on one GPU. Of a graph that is built on ranks with a GPU
        each it says which methods these are, how much memory they take, and whether the GPUs have room for
        that; if not, these methods run on the CPU.
        """
        engine = on_engine(self._input, self._engine)
        limited = engine in ("gpu", "hybrid") and config.get("device-memory-limit") is not None
        plan = self._input.plan(engine, engines.word_bytes if limited else None)
        return dataclasses.replace(plan, on_gpu=tiers_of(plan, where.gathering()))

    @briefly
    def num_vertices(self) -> int:
        """How many vertices the graph has.

        Known at once of a graph that is persisted or saved. Of any other one this builds it, and
        what is built is not kept: `persist` first where more is asked.
        """
        return sized(self._input, self._engine, "num_vertices()").vertices or 0

    @briefly
    def num_edges(self) -> int:
        """How many edge rows the graph has, repeats and self-loops too; cost as of `num_vertices`."""
        return sized(self._input, self._engine, "num_edges()").rows or 0

    @briefly
    def vertices(self) -> Any:
        """The ids of all vertices, those without edges too, in ascending order.

        Returns
        -------
        frame
            Of the kind of results: lazy of Dask frames. The column ``vertex``, or the source columns' names where
            ids are of several. Columns of the vertices frame are not in it: join that.

        Notes
        -----
        Cost: the graph is built, unless it is persisted or saved, and O(V + E) of one pass over it.
        """
        found = call(Degree(), self._input, self._engine)
        return self._back(found[list(self._input.schema.vertex)])

    @briefly
    def to_networkx(self, limit: int | None = 100_000) -> Any:
        """The graph as one of NetworkX's, to draw it or to use what NetworkX has.

        Parameters
        ----------
        limit : int or None
            Edge rows at most. None: as many as there are; each takes some 300 bytes there.

        Returns
        -------
        networkx.DiGraph or networkx.Graph
            Of a graph with ``duplicates="keep"`` a MultiDiGraph or MultiGraph. Nodes are ids as Python values,
            tuples where they are of several columns; the attribute of an edge is its weight, under the name of
            the column: give it to NetworkX' functions as ``weight="km"``.

        Raises
        ------
        InvalidArgument
            There are more edges, or repeated ones with weights and nobody has said which counts.
        MissingPackage
            NetworkX is not installed.

        Notes
        -----
        Cost: the graph is built, unless it is persisted or saved, and a few microseconds an edge. For graphs that
        came from NetworkX, and to run one function of its, see ``backend="graphgpu"``.
        """
        if limit is not None:
            check_whole("limit", limit, 0)
        vertices, edges = at_hand(self._input, self._engine, limit, "to_networkx()")
        schema = self._input.schema
        return as_networkx.made(vertices, edges, schema, self._input.layout.duplicates)

    if not TYPE_CHECKING:  # type checkers know themselves which methods there are

        def __getattr__(self, name: str) -> NoReturn:
            # Pickle, copy and notebooks ask for names of their own.
            meant = "" if name.startswith("_") else guess(name, dir(Graph))
            raise AttributeError(f"a graph has no method {name!r}.{meant}")

    def __repr__(self) -> str:
        return f"<Graph: {', '.join(value for _, value in self._lines())}>"

    def _repr_html_(self) -> str:
        engine = on_engine(self._input, self._engine)
        return table([*self._lines(), ("engine", "cpu" if engine == "auto" else engine)])

    def _lines(self) -> list[tuple[str, str]]:
        """What is known of it without doing any work."""
        made = self._input
        directed = "directed" if made.layout.directed else "undirected"
        size = [("size", made.size)] * bool(made.size)
        return [
            ("columns", made.schema.describe()),
            ("edges", directed),
            *size,
            ("state", made.state),
        ]


def _as_is(answer: Any) -> Any:
    return answer
