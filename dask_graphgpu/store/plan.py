"""What `Graph.explain` shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from dask.base import is_dask_collection

from dask_graphgpu.io import parquet
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.markup import table
from dask_graphgpu.partition.empty import EmptyPartition
from dask_graphgpu.partition.layout import Layout
from dask_graphgpu.partition.paged.limits import Limits
from dask_graphgpu.partition.partition import Partition

if TYPE_CHECKING:
    from dask_graphgpu.partition.csr import Adjacency
    from dask_graphgpu.partition.ranks.edge_list import RankEdgeList
    from dask_graphgpu.partition.ranks.partition import RankPartition

# Is given how many vertices there are, and rows.
Word: TypeAlias = "Callable[[int, Adjacency], int | None]"


@dataclass(frozen=True)
class Layers:
    """Layers of a graph, or of what a rank has of it.

    Attributes
    ----------
    number : int
        Of the whole graph.
    bytes : int
        Of the layer of each vertex, and of edges by layers under the rules that were asked for.
    seconds : float
        What it took to find the layers, and to order these edges.
    """

    number: int
    bytes: int
    seconds: float

    @classmethod
    def of(cls, partition: Partition | RankPartition | RankEdgeList) -> Layers | None:
        """Those of a partition; None: its edges are rows only."""
        levels = partition.levels
        if levels is None:
            return None
        made = partition.layers()
        arrays = [levels.level, *(array for layered in made for array in layered.arrays())]
        size = sum({id(array): array.nbytes for array in arrays}.values())
        return cls(levels.num_layers, size, levels.seconds + sum(each.seconds for each in made))

    def __str__(self) -> str:
        return f"{self.number:,}, {self.bytes:,} bytes of them, built in {self.seconds:.3g} s"


@dataclass(frozen=True)
class RankShare:
    """What one of several ranks has of a graph.

    Attributes
    ----------
    vertices : int
        That it owns.
    edges : int
        With an end of these; of a directed graph counted at both ends.
    border : int
        Vertices of other ranks at the other ends of its edges.
    bytes : int
    where : str
        Address of the worker; empty: in this process.
    layers : Layers, optional
        Of a layered graph.
    """

    vertices: int
    edges: int
    border: int
    bytes: int
    where: str = ""
    layers: Layers | None = None

    def __str__(self) -> str:
        text = (
            f"{self.edges:,} edges of {self.vertices:,} vertices, border {self.border:,}, "
            f"{self.bytes:,} bytes"
        )
        return f"{text}, on {self.where}" if self.where else text


@dataclass(frozen=True)
class BuildPlan:
    """Size and layout of a graph; ``str()`` gives a short text.

    Attributes
    ----------
    rows : int or None
        Rows of the edge frame; None when only computing it would tell.
    vertices : int or None
        Number of vertices; an upper bound unless ``exact``.
    bytes : int or None
        Of the partition; None before `persist`.
    path : str or None
        The folder of a saved graph, from which it is mapped; None: it is in memory.
    order : str
        As asked for, or as chosen where ``exact``.
    on_device : bool
        Whether that memory is the GPU's.
    why_ranks : str
        Where there are several ranks: why so many.
    shares : tuple of RankShare
        What each of several ranks has, where ``exact``.
    layers : Layers or None
        Of a layered graph, where ``exact``; None: edges are rows only.
    layout : str
        "rows" or "layered".
    disk_bytes : int or None
        Of edges in pages on disk, about unless ``exact``; None: all are in memory.
    directories : tuple of str
        Where the pages are.
    num_edges, edge_bytes, id_bytes : int or None
        Edges in one direction, bytes of one with all it carries, and of the id of its other end; of an
        unbuilt graph at most, and about.
    word_bytes : int or None
        Of an edge with all it carries, where it crosses the link to a GPU as one word; None: as it is, or
        not known before it is built.
    gpu_bytes : int or None
        Of a graph on ranks for GPUs: memory of one, as far as it is known.
    on_gpu : tuple of (str, str)
        With ``graphgpu.device-memory-limit``: what lies where, about, and what crosses the link. Of a graph on ranks:
        what methods on the edges of all ranks take of each GPU, and whether they run there.
    """

    columns: str
    directed: bool
    duplicates: str
    order: str
    engine: str
    rows: int | None
    vertices: int | None
    bytes: int | None
    exact: bool
    ranks: int = 1
    path: str | None = None
    on_device: bool = False
    why_ranks: str = ""
    shares: tuple[RankShare, ...] = ()
    layers: Layers | None = None
    layout: str = "rows"
    disk_bytes: int | None = None
    directories: tuple[str, ...] = ()
    num_edges: int | None = None
    edge_bytes: int | None = None
    id_bytes: int = 4
    word_bytes: int | None = None
    gpu_bytes: int | None = None
    on_gpu: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return "\n".join(f"{name:12}{value}" for name, value in self.lines())

    def lines(self) -> tuple[tuple[str, str], ...]:
        """What the text says, in order: of what, and what."""
        bound = "" if self.exact else "<= "
        rows = f"{self.rows:,}" if self.rows is not None else "unknown until persist(): all"
        vertices = (
            f"{bound}{self.vertices:,}" if self.vertices is not None else "unknown until persist()"
        )
        lines = [
            ("edges", f"{rows} rows of {self.columns}"),
            ("vertices", vertices),
            ("directed", "yes" if self.directed else "no, every edge leads both ways"),
            ("duplicates", self.duplicates),
            ("order", self.order),
            ("ranks", f"{self.ranks}, {self.why_ranks}" if self.why_ranks else str(self.ranks)),
            (self._memory() if self.path is None else "saved", self._place()),
            ("engine", self.engine),
        ]
        if self.layout == "layered":
            lines.append(("layers", str(self.layers or "found when built")))
        if self.disk_bytes is not None:
            about = "" if self.exact else "about "
            where = ", ".join(self.directories)
            lines.insert(-1, ("disk", f"{about}{self.disk_bytes:,} bytes in pages in {where}"))
        lines += self.on_gpu
        lines += [(f"rank {i}", str(share)) for i, share in enumerate(self.shares)]
        return tuple(lines)

    def _memory(self) -> str:
        return "GPU memory" if self.on_device else "host memory"

    def _place(self) -> str:
        if self.bytes is None:
            return "nothing yet: the graph is built when a method runs, or by persist()"
        return f"{self.bytes:,} bytes" + ("" if self.path is None else f", mapped from {self.path}")

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        return table(self.lines())


_RULES = {
    "auto": "by algorithm: paths the least weight, rank the sum, components and cores one edge, "
    "programs keep all",
    "keep": "repeated rows stay edges of their own",
    "one": "repeated rows are one edge",
}


def planned(frames: Sequence[Any], schema: EdgeSchema, layout: Layout, engine: str) -> BuildPlan:
    """The plan of a graph that is not built: rows from Parquet footers, nothing else is read.

    ``frames`` are the edge frame and, if there is one, the vertices frame.
    """
    rows, *others = map(_num_rows, frames)
    vertices = None
    if rows is not None and None not in others:
        vertices = 2 * rows + sum(number for number in others if number is not None)
    plan = _plan(schema, layout, engine, layout.order, rows, vertices, None, exact=False)
    edges = None if rows is None else rows * (1 if layout.directed else 2)
    return replace(plan, num_edges=edges, edge_bytes=4 + 8 * (schema.weight is not None))


def on_disk(plan: BuildPlan, limits: Limits, columns: int) -> BuildPlan:
    """The plan of a graph whose edges, with so many columns, go to disk when it is built."""
    rows = (plan.rows or 0) * (1 if plan.directed else 2)
    return replace(plan, disk_bytes=rows * (4 + 8 * columns), directories=limits.directories)


def _num_rows(frame: Any) -> int | None:
    """Rows of a frame; None when only computing it would tell."""
    if not is_dask_collection(frame):
        return len(frame)
    found = parquet.pieces(frame)
    if found is None or any(piece.rows and piece.rows.where for piece in found):
        return None
    return parquet.num_rows(found)


def exact_plan(
    partition: Partition | EmptyPartition,
    schema: EdgeSchema,
    layout: Layout,
    engine: str,
    word: Word | None = None,
) -> BuildPlan:
    """The plan of a graph that is built; ``word`` says what an edge takes as one word, if it can be one."""
    plan = _plan(
        schema,
        layout,
        engine,
        partition.order,
        partition.num_rows,
        partition.num_vertices,
        partition.nbytes,
        exact=True,
    )
    if isinstance(partition, EmptyPartition):
        return plan
    given = partition.given
    arrays = (given.neighbours, *given.columns.values())
    size = sum(array.dtype.itemsize for array in arrays)
    ids = given.neighbours.dtype.itemsize
    plan = replace(plan, layers=Layers.of(partition), num_edges=given.num_edges)
    plan = replace(plan, edge_bytes=size, id_bytes=ids)
    if partition.paged:
        from dask_graphgpu.partition.paged.rows import PagedPartition

        assert isinstance(partition, PagedPartition)
        return replace(
            plan, disk_bytes=partition.disk_bytes, directories=tuple(partition.folder_paths)
        )
    if word is not None:
        plan = replace(plan, word_bytes=word(partition.num_vertices, given))
    origin = partition.origin
    return plan if origin is None else replace(plan, path=str(origin.path))


def plan_on_ranks(
    rows: int,
    vertices: int,
    order: str,
    shares: tuple[RankShare, ...],
    why: str,
    schema: EdgeSchema,
    layout: Layout,
    engine: str,
) -> BuildPlan:
    """The plan of a graph whose shares are built."""
    size = sum(share.bytes for share in shares)
    plan = _plan(schema, layout, engine, order, rows, vertices, size, exact=True)
    edges = sum(share.edges for share in shares) // (1 + layout.directed)
    plan = replace(plan, ranks=len(shares), why_ranks=why, shares=shares, num_edges=edges)
    layers = [share.layers for share in shares if share.layers is not None]
    if layers:
        size, seconds = sum(each.bytes for each in layers), max(each.seconds for each in layers)
        plan = replace(plan, layers=Layers(layers[0].number, size, seconds))
    return plan


def _plan(
    schema: EdgeSchema,
    layout: Layout,
    engine: str,
    order: str,
    rows: int | None,
    vertices: int | None,
    size: int | None,
    *,
    exact: bool,
) -> BuildPlan:
    rule = _RULES.get(
        layout.duplicates, f"repeated rows are one edge of {layout.duplicates} weight"
    )
    return BuildPlan(
        columns=schema.describe(),
        directed=layout.directed,
        duplicates=rule,
        order={"input": "of the ids", "degree": "falling degree"}.get(order, "chosen when built"),
        engine="cpu" if engine == "auto" else engine,
        rows=rows,
        vertices=vertices,
        bytes=size,
        exact=exact,
        on_device=schema.on_device,
        layout="layered" if layout.layered else "rows",
    )


def _count(number: int | None) -> str:
    return "unknown" if number is None else f"{number:,}"
