"""What a graph is made of: frames that are read when a method asks, or a partition that is built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol
from uuid import uuid4

from dask.base import is_dask_collection
from dask.delayed import delayed

from dask_graphgpu.cluster import lazy
from dask_graphgpu.cluster.placement import choose, num_workers
from dask_graphgpu.cluster.tasks import Spread, about
from dask_graphgpu.cluster.waiting import begun, waited_for
from dask_graphgpu.errors import (
    EngineUnavailable,
    InvalidArgument,
    InvalidEdges,
    InvalidVertices,
)
from dask_graphgpu.ingest import Needs, beyond_memory, edge_frame, ingest
from dask_graphgpu.io import parquet
from dask_graphgpu.io.arrow_frames import ArrowFrame
from dask_graphgpu.io.frames import knows_rows, meta_of, with_columns
from dask_graphgpu.io.hidden_columns import check_without
from dask_graphgpu.io.reads import folders_read
from dask_graphgpu.io.schema import EdgeSchema, check_weight
from dask_graphgpu.io.vertices import is_readable
from dask_graphgpu.partition.layout import Layout
from dask_graphgpu.partition.paged.limits import Limits
from dask_graphgpu.partition.partition import Partition
from dask_graphgpu.store.plan import BuildPlan, Word, exact_plan, on_disk, plan_on_ranks, planned
from dask_graphgpu.store.saved import Saved
from dask_graphgpu.store.source import stated


class Input(Protocol):
    """Either kind; ``lazy`` inputs give Delayed partitions and Dask frames."""

    @property
    def schema(self) -> EdgeSchema:
        """Columns of the edges."""

    @property
    def layout(self) -> Layout:
        """How the partition is, or is to be, built."""

    @property
    def partitioner(self) -> str | Callable[..., Any]:
        """How ranks share its vertices."""

    @property
    def lazy(self) -> bool:
        """Whether anything of it is Dask's."""

    @property
    def state(self) -> str:
        """Where the graph is, in a word or two."""

    @property
    def size(self) -> str:
        """How large it is, as far as that is known; "" where only work would tell."""

    @property
    def num_vertices(self) -> int | None:
        """How many there are, where that is known without any work, and results are lazy."""

    @property
    def npartitions(self) -> int:
        """Partitions of a result."""

    @property
    def token(self) -> str:
        """In the names of results: what is kept has results of its own, "" is not kept."""

    @property
    def reads(self) -> tuple[str, ...]:
        """Folders that are read when a result is computed."""

    def check(self, needs: Needs) -> None:
        """Raise when a column that is needed is not there, or of a wrong type; reads nothing."""

    def settled(self, needs: Needs) -> Input:
        """The same with what is needed of other libraries' frames read once; anything else as it is."""

    def on_ranks(self, needs: Needs, engine: str) -> tuple[Spread, Any] | None:
        """How it is spread over ranks, and its shares, Delayed when lazy; None: it is on one."""

    def limits(self, needs: Needs) -> Limits | None:
        """Of a graph on one rank whose edges have to be on disk; None: they are in memory."""

    def partition(self, needs: Needs) -> Any:
        """The partition, Delayed when lazy, with at least what is needed; of a graph on one rank."""

    def built(
        self, columns: tuple[str, ...], engine: str, ranks: int | str
    ) -> Built | BuiltOnRanks:
        """It kept, with all that any method reads and some columns of the edges.

        ``ranks`` "auto": as many as it was given itself.
        """

    def shared(self, needs: Needs, engine: str) -> Input:
        """The same built once for several methods, which need this of it; a lazy one when they are computed."""

    def plan(self, engine: str, word: Word | None = None, asked: str = "explain()") -> BuildPlan:
        """What `Graph.explain` shows; ``word`` as of `exact_plan`, and errors say that ``asked`` waits for it."""


@dataclass(frozen=True, eq=False)
class Frames:
    """Frames of edges and, if any, of vertices with id columns ``vertex_ids``.

    ``ranks`` is "auto" where neither an argument nor a setting gives a number, and ``asked`` says
    that an argument does. ``parts`` : partitions of a result; None: those of the edges.
    """

    edges: Any
    vertices: Any
    vertex_ids: tuple[str, ...]
    schema: EdgeSchema
    layout: Layout
    ranks: int | str = 1
    asked: bool = False
    partitioner: str | Callable[..., Any] = "balanced"
    parts: int | None = None

    token = ""
    state = "not built"
    num_vertices = None

    @property
    def size(self) -> str:
        return f"{len(self.edges):,} rows" if knows_rows(self.edges) else ""

    @property
    def lazy(self) -> bool:
        return is_dask_collection(self.edges) or is_dask_collection(self.vertices)

    @property
    def npartitions(self) -> int:
        if self.parts is not None:
            return self.parts
        return int(self.edges.npartitions) if is_dask_collection(self.edges) else 1

    @cached_property
    def reads(self) -> tuple[str, ...]:
        return folders_read([self.edges, *self._vertex_frames()])

    def check(self, needs: Needs) -> None:
        given = [name for name, _ in self.schema.dtypes]
        for name in needs.edge_columns:
            if name not in given:
                raise InvalidEdges(f"there is no edge column {name!r}; the edge frame has {given}")
        _check_edge_columns(needs.edge_columns, self.schema, self.layout)
        _check_weight(needs, self.schema)
        if needs.absent is not None:
            _ = self._no_file_is_weighted
        columns = [] if self.vertices is None else [str(c) for c in self.vertices.columns]
        _check_vertex_columns(needs, columns)

    @cached_property
    def _no_file_is_weighted(self) -> bool:
        """That no file behind the frame has weights, which the frame lacks; else raises InvalidEdges."""
        hidden = self.schema.hidden_weight
        if hidden is not None and parquet.pieces(self.edges) is None:
            check_without(self.edges, hidden)
        return True

    def settled(self, needs: Needs) -> Frames:
        edges, vertices = self.edges, self.vertices
        if isinstance(edges, ArrowFrame):
            edges = edge_frame(edges, self.schema, needs)
        if isinstance(vertices, ArrowFrame):
            vertices = with_columns(
                vertices, dict.fromkeys([*self.vertex_ids, *needs.vertex_columns])
            )
        if edges is self.edges and vertices is self.vertices:
            return self
        return replace(self, edges=edges, vertices=vertices)

    def on_ranks(self, needs: Needs, engine: str) -> tuple[Spread, Any] | None:
        spread = self._spread(needs, engine)
        return None if spread is None else (spread, self._shares(needs, spread))

    def _spread(self, needs: Needs, engine: str) -> Spread | None:
        def edges() -> Any:
            return edge_frame(self.edges, self.schema, needs)

        return choose(self.ranks, edges, engine, asked=self.asked)

    def _shares(self, needs: Needs, spread: Spread) -> Any:
        if self.limits(needs) is not None:
            raise EngineUnavailable(
                "the graph needs more than graphgpu.host-memory-limit, which is kept on one rank: "
                "use ranks=1, or set the limit to null"
            )
        return lazy.build(
            self.edges,
            self.schema,
            self.vertices,
            self.vertex_ids,
            self.layout,
            needs,
            spread,
            self.partitioner,
        )

    def limits(self, needs: Needs) -> Limits | None:
        return beyond_memory(self.edges, self.schema, self.layout, needs)

    def partition(self, needs: Needs) -> Any:
        given = self.edges, self.schema, self.vertices, self.vertex_ids, self.layout
        return ingest(*given, needs, self.limits(needs))

    def built(
        self, columns: tuple[str, ...], engine: str, ranks: int | str
    ) -> Built | BuiltOnRanks:
        if ranks != "auto":
            return replace(self, ranks=ranks, asked=True).built(columns, engine, "auto")
        values: list[Any] = []
        if self.vertices is not None:
            meta = meta_of(self.vertices)
            values = [name for name in meta.columns if is_readable(meta[name].dtype)]
        named = tuple(str(c) for c in values if c not in self.vertex_ids)
        needs = Needs(self.schema.carries_weight, columns, named, absent=self.schema.hidden_weight)
        self.check(needs)
        settled = self.settled(needs)
        source = stated([edge_frame(settled.edges, self.schema, needs), *settled._vertex_frames()])
        made = settled._built(needs, engine, source)
        return replace(made, held=begun(made.held)) if self.lazy else made

    def shared(self, needs: Needs, engine: str) -> Built | BuiltOnRanks:
        self.check(needs)
        made = self.settled(needs)._built(needs, engine, None)
        token = made.held.key if self.lazy else made.token  # of equal graphs equal results
        return replace(made, reads=self.reads, token=token)

    def _built(
        self, needs: Needs, engine: str, source: dict[str, Any] | None
    ) -> Built | BuiltOnRanks:
        spread = self._spread(needs, engine)
        about = needs, self.npartitions, source, self.schema, self.layout
        if spread is None:
            return Built(self.partition(needs), *about, self.limits(needs))
        return BuiltOnRanks(self._shares(needs, spread), *about, spread)

    def plan(self, engine: str, word: Word | None = None, asked: str = "explain()") -> BuildPlan:
        needs = Needs(weight=self.schema.carries_weight)
        settled = self.settled(needs)
        if settled is not self:
            return settled.plan(engine, word, asked)
        frames = [edge_frame(self.edges, self.schema, needs), *self._vertex_frames()]
        plan = planned(frames, self.schema, self.layout, engine)
        spread = self._spread(needs, engine)
        if spread is None:
            limits = self.limits(needs)
            return plan if limits is None else on_disk(plan, limits, len(needs.carried))
        return replace(plan, ranks=spread.ranks or num_workers(), why_ranks=spread.why)

    def _vertex_frames(self) -> list[Any]:
        return [] if self.vertices is None else [self.vertices]


@dataclass(frozen=True, eq=False)
class _Kept:
    """A graph that is built and holds what ``needs`` says; ``reads`` is the folder of a saved one.

    ``source`` are the Parquet files that it was built from, as `store.source.stated` gives them.

    Dask takes expressions of one name for one. Without a ``token`` a result could be that of the frame,
    for which the graph is built again, or of one that was kept on a cluster that is gone.
    """

    held: Any
    needs: Needs
    npartitions: int
    source: dict[str, Any] | None
    schema: EdgeSchema
    layout: Layout
    reads: tuple[str, ...] = field(default=(), kw_only=True)
    token: str = field(default_factory=lambda: uuid4().hex, kw_only=True)
    state: str = field(default="persisted", kw_only=True)
    partitioner = "balanced"  # it is spread already

    @cached_property
    def lazy(self) -> bool:
        return is_dask_collection(self.held)

    def shared(self, needs: Needs, engine: str) -> Any:
        return self

    def check(self, needs: Needs) -> None:
        held = {*self.needs.edge_columns, self.schema.weight}
        missing = sorted(set(needs.edge_columns) - held)
        if missing:
            raise InvalidArgument(
                f"the graph was built without the edge columns {missing}; build it from its frame "
                f"with .persist(columns={missing}) or .save(path, columns={missing})"
            )
        _check_edge_columns(needs.edge_columns, self.schema, self.layout)
        _check_weight(needs, self.schema)
        _check_vertex_columns(needs, list(self.needs.vertex_columns))


@dataclass(frozen=True, eq=False)
class Built(_Kept):
    """On one rank: a partition of this process or a worker, in memory, mapped, or in pages on disk.

    ``vertices`` : how many it has, if that is known though the partition is elsewhere. ``saved`` : what was
    found in the folder of a saved graph.
    """

    beyond: Limits | None = None
    vertices: int | None = None
    saved: Saved | None = None

    @cached_property
    def num_vertices(self) -> int | None:
        if self.vertices is not None or not self.lazy:
            return self.vertices
        here = self.held.dask.get(self.held.key)  # without a cluster
        return here.num_vertices if isinstance(here, Partition) else None

    @property
    def size(self) -> str:
        held = self.held
        return "" if self.lazy else f"{held.num_rows:,} rows, {held.num_vertices:,} vertices"

    def settled(self, needs: Needs) -> Built:
        return self

    def limits(self, needs: Needs) -> Limits | None:
        return self.beyond

    def on_ranks(self, needs: Needs, engine: str) -> tuple[Spread, Any] | None:
        return None

    def partition(self, needs: Needs) -> Any:
        return self.held

    def built(self, columns: tuple[str, ...], engine: str, ranks: int | str) -> Built:
        if ranks not in ("auto", 1):
            raise InvalidArgument(
                f"ranks={ranks}, and the graph is built on one rank, where it stays: give ranks= to "
                "the graph of its frame, or to its persist()"
            )
        self.check(Needs(edge_columns=columns))
        return self

    def plan(self, engine: str, word: Word | None = None, asked: str = "explain()") -> BuildPlan:
        describe: Any = delayed(exact_plan, pure=False) if self.lazy else exact_plan
        plan = describe(self.held, self.schema, self.layout, engine, word)
        found: BuildPlan = waited_for(plan, asked) if self.lazy else plan
        return found


@dataclass(frozen=True, eq=False)
class BuiltOnRanks(_Kept):
    """Shares on the ranks: of workers, or in this process."""

    spread: Spread
    num_vertices = None

    @property
    def size(self) -> str:
        if self.lazy:
            return ""
        return f"{self.held.built.rows:,} rows, {self.held.built.vertices:,} vertices"

    def on_ranks(self, needs: Needs, engine: str) -> tuple[Spread, Any] | None:
        if engine == "interpreted":
            raise EngineUnavailable(
                "the engine 'interpreted' runs on one rank, and the graph is built on several"
            )
        return self.spread, self.held

    def settled(self, needs: Needs) -> BuiltOnRanks:
        return self

    def limits(self, needs: Needs) -> Limits | None:
        return None

    def partition(self, needs: Needs) -> Any:
        raise self._on_several()

    def built(self, columns: tuple[str, ...], engine: str, ranks: int | str) -> BuiltOnRanks:
        if ranks not in ("auto", self.spread.ranks):
            raise self._on_several()
        self.check(Needs(edge_columns=columns))
        return self

    def plan(self, engine: str, word: Word | None = None, asked: str = "explain()") -> BuildPlan:
        describe: Any = delayed(about, pure=False) if self.lazy else about
        found = describe(self.held, engine == "gpu")
        built, gpu = waited_for(found, asked) if self.lazy else found
        plan = plan_on_ranks(
            built.rows,
            built.vertices,
            built.order,
            built.shares,
            self.spread.why,
            self.schema,
            self.layout,
            engine,
        )
        about_edges = {"edge_bytes": built.edge_bytes, "id_bytes": built.id_bytes}
        return replace(plan, **about_edges, gpu_bytes=gpu)

    def _on_several(self) -> InvalidArgument:
        return InvalidArgument(
            "the graph is built on several ranks, where it stays: saved is, and built on another "
            "number of ranks, the graph of its frame"
        )


def _check_edge_columns(names: Sequence[str], schema: EdgeSchema, layout: Layout) -> None:
    """Raise when edge columns would have no single value, or be taken for the weight."""
    if names and layout.duplicates not in ("auto", "keep"):
        raise InvalidArgument(
            f"the edge columns {list(names)} are to be read, and have no single value where "
            f"duplicates={layout.duplicates!r} makes repeated rows one; use duplicates='keep'"
        )
    if "weight" in names and schema.weight != "weight":
        raise InvalidArgument(
            f"'weight' as an edge column is the graph's weight, and that is {schema.weight!r} here; rename the "
            "column 'weight' to read it"
        )


def _check_weight(needs: Needs, schema: EdgeSchema) -> None:
    """Raise when the weight column is needed, and of a type that no edge carries."""
    if "weight" in needs.carried:
        assert schema.weight is not None
        check_weight(schema.weight, dict(schema.dtypes)[schema.weight])


def _check_vertex_columns(needs: Needs, given: list[str]) -> None:
    for name in needs.vertex_columns:
        if name not in given:
            raise InvalidVertices(
                f"the vertices frame has no column {name!r}; "
                + (f"it has {given}" if given else "the graph has none: give vertices=")
            )
