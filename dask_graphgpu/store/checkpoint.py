"""Checkpoints on disk: the values of vertices as Parquet parts, one a rank, with a manifest."""

from __future__ import annotations

import json
import os
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from dask_graphgpu.errors import InvalidCheckpoint, OutputError
from dask_graphgpu.io.output import local_path
from dask_graphgpu.io.replace import replacing, sweep
from dask_graphgpu.store import manifest
from dask_graphgpu.store.manifest import Kind
from dask_graphgpu.store.mapped import digest

if TYPE_CHECKING:
    from dask_graphgpu.exchange.ranks import Ranks

CHECKPOINT = Kind(
    name="checkpoint",
    version=1,
    suffix=".parquet",
    writer="a method with checkpoint=",
    again="remove it and run from the start",
    error=InvalidCheckpoint,
)


def path_of(path: str | Path) -> Path:
    """The folder that a user's path means, behind links."""
    return local_path(path, "checkpoint")


def check_destination(path: str | Path) -> Path:
    """The folder to write to; refused unless it is new, empty or a checkpoint."""
    folder = path_of(path)
    if folder == folder.parent:
        raise OutputError(f"cannot put a checkpoint over {folder}: name a folder of its own")
    if folder.exists() and not folder.is_dir():
        raise OutputError(
            f"{folder} is a file, and a checkpoint is a folder; name another one; nothing was "
            "changed"
        )
    if folder.exists():
        ours = manifest.listed(folder, CHECKPOINT)
        others = sorted(entry.name for entry in folder.iterdir() if entry.name not in ours)
        if others:
            raise OutputError(
                f"{folder} is not a checkpoint: it holds {', '.join(others[:3])}; name a folder "
                "that is new, empty or a checkpoint; nothing was changed"
            )
    return folder


def write(folder: Path, table: pa.Table, content: dict[str, Any], ranks: Ranks | None) -> None:
    """Write a checkpoint in place of the one that is there; called by all ranks.

    Parameters
    ----------
    folder : Path
        On a file system that all ranks see.
    table : rows of this rank
    content : JSON values for the manifest, the same on all ranks
    ranks : None: there is one

    Raises
    ------
    OutputError
        No space, no permission; the checkpoint that was there is untouched.
    RankLost, RanksAborted
        A peer has gone meanwhile; it is untouched as well.

    Notes
    -----
    Parts are written beside the folder and forced to disk, the manifest last; then the folders
    change places in one step, so that a crash at any moment leaves the old or the new one whole.
    """
    rank, first = (0, True) if ranks is None else (ranks.rank, ranks.rank == 0)
    try:
        with replacing(folder) if first else nullcontext() as new:
            shared = _told(ranks, str(new or ""))
            part = Path(shared) / f"part.{rank:05d}{CHECKPOINT.suffix}"
            pq.write_table(table, part, use_dictionary=False)
            _sync(part)
            described = {
                "name": part.name,
                "rows": table.num_rows,
                "bytes": part.stat().st_size,
                "sha256": digest(part),
            }
            files = _gathered(ranks, described)
            if new is not None:
                content = {**content, "files": {file.pop("name"): file for file in files}}
                manifest.write(new, CHECKPOINT, content)
    except (OSError, pa.ArrowException) as error:
        if ranks is not None:
            ranks.check()  # the first rank takes the new folder away when a peer is lost
        reason = getattr(error, "strerror", None) or str(error)
        raise OutputError(
            f"the checkpoint could not be written to {folder}: {reason}; free space or choose "
            "another folder; the checkpoint that was there is untouched"
        ) from error
    if ranks is not None:
        ranks.barrier()  # nobody goes on before it counts


def read(folder: Path) -> dict[str, Any] | None:
    """The manifest of a checkpoint; None where there is no folder, or an empty one.

    Raises
    ------
    InvalidCheckpoint
        The folder holds something else, is torn or damaged, or of a newer version.
    """
    if folder.parent.is_dir():
        sweep(folder)  # ends a replacement that a crash has cut short
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return None
    return manifest.read(folder, CHECKPOINT)


def written_by(folder: Path) -> str | None:
    """The run that has written the checkpoint that is there; None where there is none."""
    try:
        content = json.loads((folder / manifest.NAME).read_text())
    except (OSError, ValueError):
        return None
    return content.get("run") if isinstance(content, dict) else None


def read_part(folder: Path, content: dict[str, Any], name: str) -> pa.Table:
    """One part of a checkpoint.

    Raises
    ------
    InvalidCheckpoint
        Its bytes are not those that were written.
    """
    path, described = folder / name, content["files"][name]
    try:
        if digest(path) != described["sha256"]:
            raise InvalidCheckpoint(f"{path} is damaged: its checksum differs; {CHECKPOINT.again}")
        return pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise InvalidCheckpoint(f"cannot read {path}: {error}; {CHECKPOINT.again}") from error


def remove(folder: Path) -> None:
    """Remove a checkpoint, its manifest first: what a crash leaves is no checkpoint."""
    names = manifest.listed(folder, CHECKPOINT)
    for name in sorted(names, key=lambda name: name != manifest.NAME):
        (folder / name).unlink(missing_ok=True)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _told(ranks: Ranks | None, text: str) -> str:
    """What rank 0 says."""
    return text if ranks is None else ranks.all_gather_bytes(text.encode())[0].decode()


def _gathered(ranks: Ranks | None, described: dict[str, Any]) -> list[dict[str, Any]]:
    if ranks is None:
        return [described]
    return [json.loads(text) for text in ranks.all_gather_bytes(json.dumps(described).encode())]


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
