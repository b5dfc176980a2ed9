"""``dask_graphgpu.load``: a saved graph as a `Graph`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dask_graphgpu import config
from dask_graphgpu import engine as engines
from dask_graphgpu.arguments import check_choice, check_flag
from dask_graphgpu.cluster.placement import check_partitioner, check_ranks
from dask_graphgpu.errors import InvalidArgument, briefly
from dask_graphgpu.graph_options import check_npartitions
from dask_graphgpu.graphs import Graph
from dask_graphgpu.io.place import Place, place_of
from dask_graphgpu.opening import opened, opened_on_ranks
from dask_graphgpu.store.saved import STALE


@briefly
def load(
    path: str | Place,
    *,
    storage_options: Mapping[str, Any] | None = None,
    npartitions: int | None = None,
    verify: bool = False,
    stale: str = "error",
    engine: str = "auto",
    backend: str = "pandas",
    ranks: int | str = "auto",
    partitioner: str | Callable[..., Any] = "auto",
) -> Graph:
    """Open a graph that `Graph.save` or ``dask graph build`` has written.

    Nothing is read but the manifest: files are mapped into memory, and the system reads what a
    method touches. Columns, direction, rule for repeated rows and order are those it was saved
    with.

    Parameters
    ----------
    path
        The folder, or its URL on an object store. From there all files are downloaded when the graph is first used, by
        each process that works on it, to Dask's ``temporary-directory``, where they take no room once it is gone.
    storage_options : dict, optional
        Of the object store, as its fsspec file system takes them. Default: what the environment says.
    npartitions : int, optional
        Partitions of the Dask frames that methods give. Default: those of the frame that was saved.
    verify : bool
        Compare the SHA-256 checksum of every file now, which reads them all. The manifest and the
        sizes of files are always checked, and every array when a method first uses it: that method
        raises InvalidSavedGraph for one that is damaged.
    stale : {"error", "ignore"}
        What to do when the Parquet files that the graph was built from have changed since. That is
        known where the frame was a bare ``read_parquet`` of local files; files that are gone
        altogether do not count.
    engine : {"auto", "cpu", "gpu", "hybrid", "interpreted"}
        As of `Graph`; "auto" is the CPU, with ``backend="cudf"`` the GPU. "gpu" copies what a method needs to the GPU.
    backend : {"pandas", "cudf"}
        Of the Dask frames that methods give. "cudf": the graph goes from its files to the memory of the GPU when it is
        loaded, and stays there as one of cuDF frames does; frames that methods take are to be of cuDF too. One rank.
    ranks : int or "auto"
        On how many ranks the graph is opened: workers of the cluster, or threads of this process; "auto" is one, which
        costs nothing. On several each maps the files, takes part of the rows, and has its share of the graph in memory
        from now on: the folder has to be one that all workers see. It is read, not built: ids are not sorted, and
        edges go to the ranks of their ends.
    partitioner : str or function
        As of `Graph`: how vertices are dealt to several ranks.

    Returns
    -------
    Graph
        As one that was persisted; its results are lazy Dask frames.

    Raises
    ------
    InvalidSavedGraph
        The folder is no saved graph, is torn, damaged or stale, or was written by another version.
    InvalidArgument, EngineUnavailable
    """
    folder = place_of(path, "path", storage_options)
    npartitions = check_npartitions(npartitions)
    check_flag("verify", verify)
    check_choice("stale", stale, STALE)
    check_choice("backend", backend, ("pandas", "cudf"))
    on_device = backend == "cudf"
    config.check_names()
    engine = config.chosen("engine", engine, engines.NAMES)
    engine = engines.of_frames(engine, on_device=on_device)
    number = 1 if ranks == "auto" else check_ranks(ranks)
    if on_device and number != 1:
        raise InvalidArgument(
            f"backend='cudf' opens a saved graph on one rank, and ranks is {number}: leave ranks= out, or backend="
        )
    engines.check(engine)
    partitioner = check_partitioner(partitioner)
    how: dict[str, Any] = {"verify": verify, "stale": stale}
    if number == 1:
        return Graph._of(opened(folder, engine, npartitions, on_device=on_device, **how), engine)
    spread = int(number), partitioner
    return Graph._of(opened_on_ranks(folder, engine, *spread, npartitions, **how), engine)
