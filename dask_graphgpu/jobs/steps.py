"""What a job is made of: steps, each a method on a graph that options describe."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dask_graphgpu.io.objects.object_folder import is_object
from dask_graphgpu.io.objects.storage_options import StorageOptions
from dask_graphgpu.io.tables.table_files import kind_of

if TYPE_CHECKING:
    from dask_graphgpu.checkpoint import Checkpoint

# Arguments of algorithms that are vertex ids and no frame of them. Ids are text until the types of the frame are known.
IDS = ("source", "target", "sources", "center")


def is_path(name: str, value: Any) -> bool:
    """Whether an argument is the path of a frame: a text with a separator, or that ends as files of frames do.

    Other texts name a column of the vertices frame or one of several choices, which ``labels`` never do.
    """
    return isinstance(value, str) and (
        name == "labels"
        or kind_of(value) is not None
        or any(mark in value for mark in ("/", os.sep))
    )


def path_or_ids(name: str, value: Any) -> Any:
    """An argument that was given as some texts: ids; or a path, if it is one text and the argument may be a frame."""
    if isinstance(value, tuple) and len(value) == 1 and name not in IDS and is_path(name, value[0]):
        return value[0]
    return value


def paths_among(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Arguments that are paths, with their names; also those of methods in a step of several."""
    for name, value in arguments.items():
        if name == "methods":
            for each in value.values():
                yield from paths_among(each)
        elif is_path(name, value):
            yield name, value


@dataclass(frozen=True)
class GraphOptions:
    """The graph of a step: which edges, and how to read them. Steps with equal options share it.

    Attributes
    ----------
    edges
        File, folder or URL of a table, or the folder of a saved graph.
    columns
        The id columns of sources, then as many of destinations; empty: by name.
    vertices
        File, folder or URL of a vertices frame.
    others
        Further options of ``ddf.graph``, as pairs.
    saved
        Options of `dask_graphgpu.load`, as pairs; for saved graphs only.
    table
        How the edges are read, as pairs: "format", "where", "separator", "header" and "types", which is pairs too.
    storage_options
        Of the object stores that URLs of the step are on.
    kept
        Folder or URL of a saved graph that is brought up to date with the edges, and then used in their place.
    """

    edges: str
    columns: tuple[str, ...] = ()
    vertices: str | None = None
    others: tuple[tuple[str, Any], ...] = ()
    saved: tuple[tuple[str, Any], ...] = ()
    table: tuple[tuple[str, Any], ...] = ()
    storage_options: StorageOptions = field(default_factory=StorageOptions)
    kept: str | None = None

    def options_for(self, path: str) -> StorageOptions | None:
        """Storage options for a path; None for a local one, which takes none."""
        return self.storage_options if is_object(path) else None


@dataclass(frozen=True)
class Step:
    """One graph method, its graph, and what becomes of the result.

    Attributes
    ----------
    algorithm
        Name of the method of Graph; "build" saves the graph, "features" are several methods in one frame.
    arguments
        Of the method; ids are text, as on the command line. Of "features" ``methods``, and arguments of each.
    output
        Folder for the result.
    top
        How many rows to print.
    report
        File for the report of the run as CSV; "-" is the standard output.
    keep
        Condition on the rows of the result that are kept.
    partition_by
        Columns by whose values the output has folders, on an object store row groups.
    checkpoint
        Where the run saves its state, and how often.
    resume
        Go on from the checkpoint that is there; from the start if there is none.
    keep_ids
        Earlier result whose ids groups keep; it may be ``output``, and not be there yet.
    changes
        Folder for what has become of each group.
    """

    algorithm: str
    graph: GraphOptions
    arguments: Mapping[str, Any] = field(default_factory=dict)
    output: str | None = None
    top: int | None = None
    report: str | None = None
    keep: str | None = None
    partition_by: tuple[str, ...] = ()
    checkpoint: Checkpoint | None = None
    resume: bool = False
    keep_ids: str | None = None
    changes: str | None = None

    def options_for(self, path: str) -> StorageOptions | None:
        """Storage options for a path; None for a local one, which takes none."""
        return self.graph.options_for(path)


@dataclass(frozen=True)
class StepResult:
    """What a step has done.

    Attributes
    ----------
    algorithm : str
        Name of the method; "build" has saved the graph.
    output : str or None
        The folder that was written, as the step names it.
    rows : int or None
        Rows in it; of a saved graph, its edges. None where nothing was written.
    seconds : float
        What the step took; reading and building a graph count for the first step that uses it.
    """

    algorithm: str
    output: str | None
    rows: int | None
    seconds: float
