"""What every rank of a run does: build its share of a graph, run an algorithm on it.

The same functions run on workers and on threads of one process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dask_graphgpu import engine as engines
from dask_graphgpu.algorithms import ALGORITHMS, Algorithm
from dask_graphgpu.algorithms.algorithm import check_names_no_vertex
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.checkpoint import Checkpointing, call_of
from dask_graphgpu.cluster.relay import Relay
from dask_graphgpu.cluster.share import Share
from dask_graphgpu.engine.driver import num_gpus
from dask_graphgpu.errors import InvalidCheckpoint
from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.ingest import Needs, read_parquet_edges
from dask_graphgpu.io import parquet
from dask_graphgpu.io.lazy_frames import EmptyResult
from dask_graphgpu.io.results import ColumnType, Table
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.io.spread import spread
from dask_graphgpu.io.vertex_rows import VertexRows
from dask_graphgpu.partition.chunk import EdgeChunk, VertexChunk
from dask_graphgpu.partition.device.memory import has_room, told, use_pool
from dask_graphgpu.partition.distinct import distinct
from dask_graphgpu.partition.empty import EmptyPartition, built
from dask_graphgpu.partition.layout import Layout
from dask_graphgpu.partition.repeats import Repeats
from dask_graphgpu.partition.result_rows import first_of_each
from dask_graphgpu.report import Advance, Report, Split
from dask_graphgpu.store.plan import Layers, RankShare
from dask_graphgpu.store.saved import open_partition

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.edge_list import RankEdgeList
    from dask_graphgpu.partition.ranks.partition import RankPartition

_OF_ROW, _TIMES = (
    16,
    3,
)  # bytes of a GPU that a row of a result takes on its way, and how often it has each column


@dataclass(frozen=True, eq=False)
class Recipe:
    """How the shares of a graph are built.

    Attributes
    ----------
    pieces : list of Piece or None
        Bare Parquet that the ranks read themselves; None: they are given chunks.
    columns : tuple of str
        To be read of it.
    saved : folder and fingerprint, optional
        A saved graph, of which each rank opens its share; there is nothing else to build it of.
    carried : tuple of str
        What an edge carries.
    rows : bool
        Whether the ranks sort edges into rows; else they keep those that they have read.
    """

    schema: EdgeSchema
    carried: tuple[str, ...]
    layout: Layout
    partitioner: str | Callable[..., Any]
    rows: bool = True
    pieces: list[parquet.Piece] | None = None
    columns: tuple[str, ...] = ()
    saved: tuple[Any, str] | None = None


@dataclass(frozen=True)
class BuiltGraph:
    """What is known of a graph whose shares are built; bytes of an edge with all it carries, and of an id."""

    rows: int
    vertices: int
    order: str
    shares: tuple[RankShare, ...]
    edge_bytes: int = 0
    id_bytes: int = 0


def build_share(
    ranks: Ranks,
    recipe: Recipe,
    chunks: list[EdgeChunk],
    vertices: Sequence[VertexChunk],
    device: int | None = None,
) -> Share:
    """Build this rank's share of a graph; collective. The list of chunks is emptied.

    ``device``: number of the GPU on which a share of cuDF frames is built; None: the current one.

    Raises
    ------
    GraphError
    """
    from dask_graphgpu.partition.ranks.build import build
    from dask_graphgpu.partition.ranks.edge_list import list_edges

    if recipe.saved is not None:
        return _opened_share(ranks, recipe)
    if recipe.pieces is not None:
        mine, rows = deal_rows(ranks, recipe.pieces)
        given = mine, recipe.columns, recipe.schema, recipe.carried
        alone = ranks.size == 1 or len(recipe.schema.ids) > 1
        repeats = None if alone else Repeats(2 * rows)
        chunks = read_parquet_edges(*given, told=ranks.rank == 0, repeats=repeats)
    relay = Relay(ranks.rank, ranks.size)
    known = chunks, vertices, recipe.layout, recipe.partitioner
    with relay.to(ranks):
        if not recipe.rows:
            return Share(relay, built(list_edges, relay, chunks, vertices))
        if not recipe.schema.on_device:
            return Share(relay, built(build, relay, *known))
        with _on_device("gpu", device), linked(relay) as link:
            return Share(relay, built(build, relay, *known, link=link))


def _opened_share(ranks: Ranks, recipe: Recipe) -> Share:
    """Open the share of this rank of a saved graph; collective."""
    from dask_graphgpu.partition.ranks.dealt import deal

    assert recipe.saved is not None
    relay = Relay(ranks.rank, ranks.size)
    with relay.to(ranks):
        whole = open_partition(*recipe.saved)
        return Share(relay, built(deal, relay, whole, recipe.partitioner))


@contextmanager
def linked(ranks: Ranks) -> Iterator[Any]:
    """A link between the ranks' GPUs, to build their shares; collective."""
    from dask_graphgpu.exchange.nccl import DeviceLink

    use_pool()
    link = DeviceLink(ranks)
    try:
        with told("building a share of a graph on the GPU"):
            yield link
        ranks.barrier()  # nobody ends the connection while a peer receives
    except BaseException:
        link.abort()
        raise
    link.close()


def deal_rows(ranks: Ranks, found: Sequence[parquet.Piece]) -> tuple[list[parquet.Piece], int]:
    """The part of Parquet files that this rank reads, and its rows: row groups in a row, as many rows everywhere.

    Collective: each rank reads the footers of its part of the files only.
    """
    mine = range(len(found))[ranks.rank :: ranks.size]
    known = [
        [file, group, rows] for file in mine for group, rows in parquet.row_groups(found[file])
    ]
    table = np.concatenate(ranks.all_gather(np.array(known, np.int64).reshape(-1, 3)))
    table = table[np.lexsort((table[:, 1], table[:, 0]))]
    rows = table[:, 2]
    middle = 2 * np.cumsum(rows) - rows  # doubled, so as to stay whole
    owner = middle * ranks.size // max(2 * int(rows.sum()), 1)
    own = table[np.minimum(owner, ranks.size - 1) == ranks.rank]
    pieces = [
        replace(found[file], row_groups=tuple(int(group) for group in own[own[:, 0] == file, 1]))
        for file in distinct(own[:, 0]).tolist()
    ]
    return pieces, int(own[:, 2].sum())


def size_of(share: Share) -> BuiltGraph:
    """What this rank says of the graph, with its own share only."""
    partition, rank = share.partition, share.relay.rank
    if isinstance(partition, EmptyPartition):
        return BuiltGraph(0, 0, partition.order, (RankShare(0, 0, 0, 0),))
    shares = partition.shares
    size = RankShare(
        int(shares.vertices[rank]),
        int(shares.edges[rank]),
        int(shares.border[rank]),
        partition.nbytes,
        layers=Layers.of(partition),
    )
    about = partition.num_rows, partition.num_vertices, partition.order
    return BuiltGraph(*about, (size,), partition.edge_bytes, partition.numbers.dtype.itemsize)


@dataclass(frozen=True, eq=False)
class Job:
    """A run of an algorithm, and the frames that become of it.

    Attributes
    ----------
    engine : str
        "auto" is the CPU's.
    keeping : Checkpointing or None
        Of checkpoints.
    resumed : bool
        The run has lost a worker and goes on from its checkpoint: if it had come to write one.
    """

    algorithm: Algorithm
    needs: Needs
    columns: dict[str, ColumnType]
    schema: EdgeSchema
    npartitions: int
    engine: str = "auto"
    keeping: Checkpointing | None = None
    resumed: bool = False

    @property
    def name(self) -> str:
        return next(name for name, kind in ALGORITHMS.items() if kind is type(self.algorithm))

    @property
    def call(self) -> str:
        """By which a checkpoint knows the method and its arguments."""
        return call_of(self.name, self.algorithm)


def _on_device(engine: str, device: int | None) -> AbstractContextManager[Any]:
    """What makes a GPU the current one of this thread."""
    if engine != "gpu" or device is None:
        return nullcontext()
    import cupy

    found: AbstractContextManager[Any] = cupy.cuda.Device(device % num_gpus())
    return found


def current_gpu() -> int:
    """Number of the GPU that is current in this thread."""
    import cupy

    return int(cupy.cuda.Device().id)


def run_share(
    ranks: Ranks,
    share: Share,
    job: Job,
    frames: dict[str, list[VertexChunk]],
    watch: Callable[[Report, Advance | None], None] | None = None,
    device: int | None = None,
    home: int | None = None,
) -> tuple[dict[int, pd.DataFrame], Report]:
    """Run an algorithm on this rank's share; collective.

    Parameters
    ----------
    frames : dict
        This rank's chunks of frames that were given as arguments.
    watch : function, optional
        Called whenever the engine has advanced, and with None at the end.
    device : int, optional
        Number of the GPU that the rank works on, if the engine needs one; default: the current one.
    home : int, optional
        The GPU for results of a graph of cuDF frames; default: the current one.

    Returns
    -------
    dict of int to frame
        The partitions of the result that this rank makes.
    Report
    """
    engine = engines.load_on_ranks(job.engine)
    report = Report(job.name, watch=watch, rank=ranks.rank, ranks=ranks.size)
    began = time.perf_counter()
    algorithm, needs = job.algorithm, job.needs
    if isinstance(share.partition, EmptyPartition):
        report.graph = {"edges": 0, "vertices": 0}
        return _of_no_vertex(ranks, job, frames), report
    report.took = share.partition.took
    needs.require_weights(share.partition.fault)
    on_gpus = job.engine == "gpu"
    with (
        share.over(ranks) as partition,
        engines.all_cpus(share.relay) if on_gpus else nullcontext(),
    ):
        report.graph = {"edges": int(partition.num_rows), "vertices": int(partition.num_vertices)}
        packaged = partition.border.seconds
        view = partition.view(algorithm.rule, needs.weight, needs.edge_columns)
        layered = view.levels is not None
        engines.check_layout(job.engine, False, layered=layered, ranks=ranks.size)

        def ran(keeping: Checkpointing | None) -> tuple[Run, Table]:
            keeper = None
            if keeping is not None:
                about = job.call, partition.ids, view.numbers, view.num_owned
                keeper = keeping.keeper(*about, share.relay)
            run = Run(engine, view, partition.ids, job.schema, report, frames, share.relay, keeper)
            run.stays, run.partitions = _stays(job, home), job.npartitions
            with _on_device(job.engine, device):
                table = algorithm.run(run)
            if keeper is not None:
                keeper.end()
            return run, table

        try:
            run, table = ran(job.keeping)
        except InvalidCheckpoint:
            if not job.resumed or job.keeping is None:
                raise
            # A checkpoint of before this call, which the call replaces.
            run, table = ran(replace(job.keeping, resume=False))
        with _on_device(job.engine, device if run.stays else home):
            made = _frames(share.relay, partition, run, table, job)
        report.split = _split(share.relay, began, partition.border.seconds - packaged)
    report.end()
    return made, report


def _of_no_vertex(
    ranks: Ranks, job: Job, frames: dict[str, list[VertexChunk]]
) -> dict[int, pd.DataFrame]:
    """The partitions that this rank makes of the result of a graph without a vertex. Collective."""
    rows = {name: int(ranks.sum(sum(map(len, chunks)))) for name, chunks in frames.items()}
    check_names_no_vertex(job.algorithm, rows)
    empty = EmptyResult(job.columns, job.schema).frame()
    first = first_of_each(job.npartitions, ranks.size)
    return {i: empty.copy() for i in range(first[ranks.rank], first[ranks.rank + 1])}


def _stays(job: Job, home: int | None) -> bool:
    """Whether values go to the rows of the result from GPU to GPU, each rank's part on its own."""
    return job.engine == "gpu" and home is None


def _frames(
    relay: Relay, partition: RankPartition | RankEdgeList, run: Run, table: Table, job: Job
) -> dict[int, pd.DataFrame]:
    """The partitions of the result that this rank makes. Collective."""
    ids, of, places = partition.ids, job.npartitions, run.places
    if places is not None:
        return spread(relay, table, job.columns, places.place, places.tie, of, ids, job.schema)
    link = _link_of(run, table, job) if run.stays else None
    key = VertexRows, of, link
    if not relay.min(int(key in partition.made)):
        rows = VertexRows(relay, ids, of, job.schema, link)
        partition.made = {key: rows}
    found: dict[int, pd.DataFrame] = partition.made[key].frames(table, job.columns)
    return found


def _link_of(run: Run, table: Table, job: Job) -> Any:
    """The link by which values go to their rows. Collective.

    None: the host is to bring them, where frames are there, and values as well or some GPU has no room for the rows.
    """
    from dask_graphgpu.engine.device_ranks.view import border_of

    assert run.ranks is not None
    low, high = run.made_rows(run.num_vertices)
    kinds = job.columns.values()
    each = sum(np.dtype("int64" if k.vertex else k.dtype).itemsize + k.nullable for k in kinds)
    fits = any(not isinstance(values.data, np.ndarray) for values in table.values())
    fits &= has_room((high - low) * (_OF_ROW + _TIMES * each), "rows of a result")
    fits |= job.schema.on_device
    return border_of(run.view).link if run.ranks.min(int(fits)) else None


def _split(relay: Relay, began: float, package: float) -> tuple[Split, ...]:
    """Where the time of each rank has gone since ``began``. Collective."""
    steps, waited = relay.seconds, relay.waited
    work = time.perf_counter() - began - package - steps
    every = relay.scalars([work, package, steps - waited, waited])
    return tuple(Split(*seconds) for seconds in every.tolist())
