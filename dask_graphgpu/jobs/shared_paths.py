"""Paths of a job on a cluster: its workers read and write them, so they have to see the same files as the client."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from glob import glob
from pathlib import Path

from distributed import Client
from fsspec.core import split_protocol

from dask_graphgpu.errors import OutputError, UnreadableParquet
from dask_graphgpu.io.objects.object_folder import is_object
from dask_graphgpu.jobs.steps import Step, paths_among

_PATIENCE = 5.0  # seconds until a new file is seen elsewhere, as by NFS
_LOOK = 0.2


def check_shared(steps: Sequence[Step], client: Client) -> None:
    """Refuse paths that workers do not see, before anything is computed.

    A file is made for a moment beside each output and checkpoint.

    Raises
    ------
    UnreadableParquet
        A worker does not see the edges, or what else a step reads.
    OutputError
        A worker does not see the folder that an output or a checkpoint is to be made in.
    """
    made = list(_written(steps))
    read = [path for path in _read(steps) if path not in made]
    marks: dict[Path, Path] = {}
    with ExitStack() as kept:
        for path in made:
            with suppress(OSError):  # which whoever writes there will say
                mark = _nearest(path) / f".{path.name[:50]}.{secrets.token_hex(8)}.seen"
                mark.touch(exist_ok=False)
                kept.callback(mark.unlink, missing_ok=True)
                marks[mark] = path
        unseen = _unseen(client, [*read, *marks])
    for path, worker in unseen.items():
        shared = "workers read and write what a job names, so they have to share its file system"
        if path in marks:
            raise OutputError(
                f"the worker {worker} does not see the folder {path.parent}, in which {marks[path]} is to be "
                f"written: {shared}"
            )
        raise UnreadableParquet(f"the worker {worker} does not see {path}: {shared}")


def _read(steps: Sequence[Step]) -> Iterator[Path]:
    """What is read of local files and folders that are there; of a pattern one of them.

    What is not there is made by an earlier step, or is no path: the name of a table in a catalog.
    """
    for step in steps:
        values = [step.graph.edges, step.graph.vertices]
        values += [value for _, value in paths_among(step.arguments)]
        values.append(step.keep_ids)
        for found in _local(values):
            names = glob(str(found))[:1] if "*" in str(found) else [str(found)]
            yield from (Path(name).resolve() for name in names if Path(name).exists())


def _written(steps: Sequence[Step]) -> Iterator[Path]:
    """Local outputs, changes of groups, checkpoints and saved graphs that are kept."""
    for step in steps:
        kept = None if step.checkpoint is None else str(step.checkpoint.path)
        yield from (
            path.resolve() for path in _local([step.output, step.changes, kept, step.graph.kept])
        )


def _local(values: Sequence[str | None]) -> Iterator[Path]:
    """Those of some paths and URLs that are of a local file system."""
    for text in values:
        if text and not is_object(text):
            yield Path(split_protocol(text)[1]).expanduser()


def _nearest(path: Path) -> Path:
    """The folder that a path is made in, or the nearest one above it that is there."""
    return next(folder for folder in path.parents if folder.is_dir())


def _unseen(client: Client, paths: list[Path]) -> dict[Path, str]:
    """Paths that are not there for some worker, and for which."""
    until = time.monotonic() + _PATIENCE
    while True:
        answers = client.run(_missing, [str(path) for path in paths], on_error="return")
        found = {
            Path(path): worker
            for worker, missing in answers.items()
            if isinstance(missing, list)  # else it has left meanwhile
            for path in missing
        }
        if not found or time.monotonic() > until:
            return found
        time.sleep(_LOOK)


def _missing(paths: list[str]) -> list[str]:
    """Those of some paths that are not there on the worker that is asked."""
    return [path for path in paths if not Path(path).exists()]
