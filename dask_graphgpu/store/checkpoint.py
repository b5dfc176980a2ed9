"""Checkpoints on disk: the values of vertices as Parquet parts, one a rank, with a manifest."""

from __future__ import annotations

import json
import os
import weakref
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from dask_graphgpu.errors import InvalidCheckpoint, OutputError
from dask_graphgpu.io.claims import LostRace
from dask_graphgpu.io.generation import OpenFolder
from dask_graphgpu.io.objects.commits import claimed, removing
from dask_graphgpu.io.objects.object_generation import generation, local_folder, of_one_state
from dask_graphgpu.io.place import Place
from dask_graphgpu.io.replace import NotOnDisk, replacing, sweep
from dask_graphgpu.store import manifest
from dask_graphgpu.store.manifest import Kind
from dask_graphgpu.store.mapped import NUMBERS, digest
from dask_graphgpu.store.shape import Each, is_count, one_of

if TYPE_CHECKING:
    from dask_graphgpu.exchange.ranks import Ranks

CHECKPOINT = Kind(
    name="checkpoint",
    version=1,
    suffix=".parquet",
    writer="a method with checkpoint=",
    again="remove it and run from the start",
    error=InvalidCheckpoint,
    stem=r"part\.[0-9]{5,}",
    content={
        "call": str,
        "program number": is_count,
        "program": str,
        "graph": str,
        "start": str,
        "run": str,
        "library": str,
        "superstep": is_count,
        "aggregates": dict,
        "columns": Each(one_of(*NUMBERS)),
    },
    file={"rows": is_count},
)

# The name of the manifest from when on its checkpoint is being removed.
_REMOVED = "removed.json"


def check_destination(folder: Place) -> Place:
    """The folder to write to; refused unless it is new, empty or a checkpoint.

    One of an object store comes with what a writer has to know of what is there now: give it to `write`.
    """
    if isinstance(folder, Path):
        if folder == folder.parent:
            raise OutputError(f"cannot put a checkpoint over {folder}: name a folder of its own")
        if folder.exists() and not folder.is_dir():
            raise OutputError(
                f"{folder} is a file, and a checkpoint is a folder; name another one; nothing was "
                "changed"
            )
        settle(folder)
    try:
        others = of_one_state(folder, _others)
    except FileNotFoundError:  # new, or removed meanwhile
        others = []
    except OSError as error:
        raise OutputError(f"cannot look into {folder}: {error.strerror}") from error
    if others:
        raise OutputError(
            f"{folder} is not a checkpoint: it holds {', '.join(others[:3])}; name a folder "
            "that is new, empty or a checkpoint; nothing was changed"
        )
    return folder if isinstance(folder, Path) else claimed(folder, folder)


def write(folder: Place, table: pa.Table, content: dict[str, Any], ranks: Ranks | None) -> Place:
    """Write a checkpoint in place of the one that is there; called by all ranks.

    Parameters
    ----------
    folder : Path or ObjectFolder
        On a file system that all ranks see, or an object store; from `check_destination` or from this function.
    table : rows of this rank
    content : JSON values for the manifest, the same on all ranks
    ranks : None: there is one

    Returns
    -------
    Path or ObjectFolder
        The folder, with what a writer has to know of what is there now.

    Raises
    ------
    OutputError
        No space, no permission, or on an object store another run has written there meanwhile; the checkpoint that was
        there is untouched.
    RankLost, RanksAborted
        A peer has gone meanwhile; it is untouched as well.

    Notes
    -----
    Parts are written beside the folder and forced to disk, the manifest last; then the folders
    change places in one step, so that a crash at any moment leaves the old or the new one whole.
    On an object store each rank uploads its part, and the first commits.
    """
    first = ranks is None or ranks.rank == 0
    try:
        if isinstance(folder, Path):
            with replacing(folder, _others_in) if first else nullcontext() as new:
                shared = Path(_told(ranks, str(new or "")))
                files = _gathered(ranks, _write_part(shared, table, ranks))
                if new is not None:
                    manifest.write(new, CHECKPOINT, {**content, "files": files})
        else:
            with generation(folder, CHECKPOINT.name) if first else nullcontext() as made:
                name = _told(ranks, made.name if made else "")
                here = (folder / name).upload
                with local_folder() as new:
                    described = _write_part(new, table, ranks)
                    here([new / described["name"]])
                    files = _gathered(ranks, described)
                    if first:
                        manifest.write(new, CHECKPOINT, {**content, "files": files})
                        here([new / manifest.NAME])
    except LostRace:
        raise
    except (OSError, pa.ArrowException) as error:
        if ranks is not None:
            ranks.check()  # the first rank takes the new folder away when a peer is lost
        if isinstance(error, NotOnDisk):
            raise OutputError(f"the checkpoint {error.strerror}; choose another folder") from error
        reason = getattr(error, "strerror", None) or str(error)
        raise OutputError(
            f"the checkpoint could not be written to {folder}: {reason}; free space or choose "
            "another folder; the checkpoint that was there is untouched"
        ) from error
    if ranks is not None:
        ranks.barrier()  # nobody goes on before it counts
    return folder if isinstance(folder, Path) else replace(folder, began=(folder.began or 0) + 1)


def _write_part(folder: Path, table: pa.Table, ranks: Ranks | None) -> dict[str, Any]:
    """Write the rows of this rank, and describe the file."""
    part = folder / f"part.{0 if ranks is None else ranks.rank:05d}{CHECKPOINT.suffix}"
    pq.write_table(table, part, use_dictionary=False)
    _sync(part)
    with part.open("rb") as file:
        return {
            "name": part.name,
            "rows": table.num_rows,
            "bytes": os.fstat(file.fileno()).st_size,
            "sha256": digest(file),
        }


@dataclass(frozen=True, eq=False)
class Written:
    """A checkpoint that is there: what its manifest says, and some of its parts, open.

    They stay what they are when another checkpoint takes its place.
    """

    path: Place
    content: dict[str, Any]
    parts: tuple[tuple[str, IO[bytes]], ...]

    def __post_init__(self) -> None:
        weakref.finalize(self, _close, [file for _, file in self.parts])

    def close(self) -> None:
        """Close the parts, which nobody reads any more."""
        _close([file for _, file in self.parts])

    @property
    def token(self) -> str:
        """What tells it from others."""
        return manifest.fingerprint(self.content)

    def tables(self) -> list[pa.Table]:
        """The rows of the parts, with the columns that the manifest says.

        Raises
        ------
        InvalidCheckpoint
            They are not what was written.
        """
        return [self._table(name, file) for name, file in self.parts]

    def _table(self, name: str, file: IO[bytes]) -> pa.Table:
        path, described = self.path / name, self.content["files"][name]
        try:
            if _digest(file) != described["sha256"]:
                raise self._damaged(path, "its checksum differs")
            table = pq.read_table(file)
        except (OSError, pa.ArrowException) as error:
            raise InvalidCheckpoint(f"cannot read {path}: {error}; {CHECKPOINT.again}") from error
        wanted = {
            column: pa.from_numpy_dtype(kind) for column, kind in self.content["columns"].items()
        }
        if {field.name: field.type for field in table.schema} != wanted or any(
            column.null_count for column in table.columns
        ):
            raise self._damaged(path, f"its columns are not {list(wanted)}")
        return table

    def _damaged(self, path: Place, what: str) -> InvalidCheckpoint:
        return InvalidCheckpoint(f"{path} is damaged: {what}; {CHECKPOINT.again}")


def read(folder: Place, parts: slice = slice(0)) -> Written | None:
    """A checkpoint, with some of its parts; None where there is no folder, or an empty one.

    Raises
    ------
    InvalidCheckpoint
        The folder holds something else, is torn or damaged, or of another version.
    """
    settle(folder)

    def found(opened: OpenFolder) -> Written | None:
        try:
            if _is_removed(opened):
                return None
            content = manifest.read(opened, CHECKPOINT)
            names = sorted(content["files"])[parts]
            opened.fetch(names)
            return Written(folder, content, tuple((name, opened.open(name)) for name in names))
        except (InvalidCheckpoint, OSError):
            if _is_removed(opened):  # meanwhile, as by a run that has ended well
                return None
            raise

    return manifest.look_if_there(folder, CHECKPOINT, found)


def _is_removed(opened: OpenFolder) -> bool:
    """Whether nothing of a checkpoint is left, or what is left of one that is being removed: not of a former one."""
    names = opened.names()
    return (not names or _being_removed(names)) and not opened.is_replaced()


def written_by(folder: Place) -> str | None:
    """The run that has written the checkpoint that is there; None where there is none."""
    try:
        found = read(folder)
    except InvalidCheckpoint:
        return None
    return None if found is None else str(found.content["run"])


def remove(folder: Place) -> None:
    """Remove a checkpoint. What a crash leaves of it is known for what it is, and swept by the next run.

    Raises
    ------
    OSError
        It cannot be removed.
    InvalidCheckpoint
        What is there is none, is damaged, or holds something else too; it is left alone.
    """
    if not isinstance(folder, Path):
        removing(folder, CHECKPOINT.name)
        return
    if not folder.exists():
        return
    found = read(folder)
    with OpenFolder(folder) as opened:
        if found is not None:
            others = _others(opened)
            if others:
                raise InvalidCheckpoint(f"{folder} also holds {', '.join(others[:3])}")
            _check_digests(opened, found.content["files"])
            (folder / manifest.NAME).rename(folder / _REMOVED)
        _finish_removal(opened, folder)


def settle(folder: Place) -> None:
    """End what a crash has cut short: a replacement, or a removal; on an object store the next writer does it."""
    if not isinstance(folder, Path):
        return
    sweep(folder)
    # What is not ours to remove stays, and is known for what it is.
    with suppress(OSError, InvalidCheckpoint), OpenFolder(folder) as opened:
        if _being_removed(opened.names()):
            _finish_removal(opened, folder)


def _being_removed(names: list[str]) -> bool:
    """Whether the files are what is left of a checkpoint that is being removed, and no newer one is there."""
    return _REMOVED in names and manifest.NAME not in names


def _finish_removal(opened: OpenFolder, folder: Path) -> None:
    """Remove the rest of a checkpoint whose manifest says that it is none any more, and the empty folder.

    Somebody who reads may do the same at the same time: what is gone is gone.
    """
    files = manifest.files_of(opened, CHECKPOINT, _REMOVED) or {}
    names = opened.names()
    left = {name: file for name, file in files.items() if name in names}
    for name, file in left.items():
        with suppress(FileNotFoundError):
            _check_digests(opened, {name: file})
    for name in [*left, *({_REMOVED} & {*names})]:
        if opened.is_replaced() and folder.exists():
            raise InvalidCheckpoint(f"another run has put its checkpoint to {folder}")
        (folder / name).unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        folder.rmdir()


def _others_in(path: Path) -> list[str]:
    with OpenFolder(path) as opened:
        return _others(opened)


def _others(opened: OpenFolder) -> list[str]:
    """What does not belong to a checkpoint, or to what is left of one."""
    name = _REMOVED if _being_removed(opened.names()) else manifest.NAME
    return manifest.others(opened, CHECKPOINT, name)


def _check_digests(opened: OpenFolder, files: dict[str, Any]) -> None:
    """Raise InvalidCheckpoint where a file is not the manifest's."""
    for name, described in files.items():
        with opened.open(name) as file:
            if digest(file) != described["sha256"]:
                raise InvalidCheckpoint(f"{opened.path / name} is damaged: its checksum differs")


def _close(files: list[IO[bytes]]) -> None:
    for file in files:
        file.close()


def _digest(file: IO[bytes]) -> str:
    """The checksum of a file, which is at its begin again afterwards."""
    file.seek(0)
    found = digest(file)
    file.seek(0)
    return found


def _told(ranks: Ranks | None, text: str) -> str:
    """What rank 0 says."""
    return text if ranks is None else ranks.all_gather_bytes(text.encode())[0].decode()


def _gathered(ranks: Ranks | None, described: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What all ranks have written, by names."""
    files = [described]
    if ranks is not None:
        texts = ranks.all_gather_bytes(json.dumps(described).encode())
        files = [json.loads(text) for text in texts]
    return {
        file["name"]: {key: value for key, value in file.items() if key != "name"} for file in files
    }


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
