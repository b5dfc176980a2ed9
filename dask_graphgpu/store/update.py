"""Changing a saved graph: an update is written as an entry of its log, beside the files that are there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dask_graphgpu.errors import GraphError, InvalidArgument, OutputError
from dask_graphgpu.io.generation import NoFolder, OpenFolder, opened_folder
from dask_graphgpu.io.objects.commits import claimed
from dask_graphgpu.io.objects.object_generation import OpenObjects, growing
from dask_graphgpu.io.place import Place
from dask_graphgpu.partition.empty import EmptyPartition, built
from dask_graphgpu.partition.grown import grown
from dask_graphgpu.partition.growth import Change, Growth, Size
from dask_graphgpu.partition.partition import Partition
from dask_graphgpu.store import log, manifest
from dask_graphgpu.store.empty import no_vertices
from dask_graphgpu.store.save import described, failed, fill, others_in
from dask_graphgpu.store.saved import current, opened, replaced
from dask_graphgpu.store.saved_format import SAVED, schema_from_json
from dask_graphgpu.store.source import both

# An update puts the log into the files of the graph when it has more entries than MOST_ENTRIES, or more rows and pairs
# than FEW and than one for SHARE rows in the files.
MOST_ENTRIES = 64
SHARE = 10
FEW = 1 << 16


@dataclass(frozen=True)
class Updated:
    """What an update has done.

    Attributes
    ----------
    generation : int
        Its number.
    appended, removed : int
        Rows that came and went.
    not_found : int
        Pairs of ends that were to be removed, and between which there was no row.
    new_vertices, gone_vertices : int
    size : Size
        What there is now.
    fingerprint : str
        Of what there is now.
    """

    generation: int
    appended: int
    removed: int
    not_found: int
    new_vertices: int
    gone_vertices: int
    size: Size
    fingerprint: str


def update(
    folder: Place,
    fingerprint: str,
    change: Callable[[Partition], Change],
    source: dict[str, Any] | None,
    library: str,
) -> Updated:
    """Write a change of the graph of a fingerprint into its log, as one step.

    Parameters
    ----------
    folder : Path or ObjectFolder
    fingerprint : str
        Of the graph that was loaded.
    change
        Gives the change, whose ids and columns are of the types of the partition.
    source : dict, optional
        The files that appended rows came from; see `store.source`.
    library : str

    Raises
    ------
    InvalidSavedGraph
        The folder is damaged, or `Replaced`: the graph is another one now.
    OutputError
        Another process updates it, or it cannot be written; what was there is untouched.
    """
    with _changing(folder) as (here, place):
        content = current(here, fingerprint)
        base, changes = opened(here, content)
        _check_may_grow(base, place)
        before = Growth(base, changes())
        made, missing = _settled(before, change(base))
        after = before.then(made)
        _check_root(after, place)
        _write_entry(here, place, content, made, after.size, library, source)
        new = before.count_absent(made.ids, np.concatenate(made.added))
        return Updated(
            generation=content["updates"]["generation"],
            appended=len(made.added[0]),
            removed=before.size.rows + len(made.added[0]) - after.size.rows,
            not_found=missing,
            new_vertices=new,
            gone_vertices=before.size.vertices + new - after.size.vertices,
            size=after.size,
            fingerprint=content["fingerprint"],
        )


def _settled(before: Growth, change: Change) -> tuple[Change, int]:
    """The change with each removed pair once, and only those that there are; how many rows of it were none."""
    if not len(change.removed[0]):
        return change, 0
    numbers, known = before.numbers_of(change.ids)
    source, destination = (numbers[end] for end in change.removed)
    there = known[change.removed[0]] & known[change.removed[1]]
    there[there] = before.has(source[there], destination[there])
    found = np.flatnonzero(there)
    first = before.distinct(source[found], destination[found])
    removed = change.removed[0][found[first]], change.removed[1][found[first]]
    return replace(change, removed=removed), len(there) - len(found)


def _write_entry(
    here: OpenFolder,
    place: Place,
    content: dict[str, Any],
    change: Change,
    size: Size,
    library: str,
    source: dict[str, Any] | None,
) -> None:
    """Write an entry of the log, and ``content`` with it as the manifest."""
    updates = content["updates"]
    number = updates["generation"] + 1
    tables = {
        "added": log.table_of(_ids_at(change, change.added), change.columns),
        "removed": log.table_of(_ids_at(change, change.removed)),
    }
    names = {
        what: log.name_of(number, what) if table.num_rows else None
        for what, table in tables.items()
    }
    sizes = {"rows": tables["added"].num_rows, "pairs": tables["removed"].num_rows}
    with growing(here, place, SAVED.name, others_in, list(content["files"])) as new:
        files = {
            name: log.write_table(new / name, tables[what])
            for what, name in names.items()
            if name is not None
        }
        content["files"] |= files
        content["updates"] = {
            "generation": number,
            "base": updates["base"],
            "rows": size.rows,
            "vertices": size.vertices,
            "log": [*updates["log"], {"number": number, **names, **sizes}],
        }
        sums = [file["sha256"] for file in files.values()]
        content["fingerprint"] = manifest.fingerprint([content["fingerprint"], number, sums])
        content["library"] = library
        content["source_files"] = both(content["source_files"], source)
        manifest.write(new, SAVED, content)


def _ids_at(change: Change, ends: tuple[np.ndarray, np.ndarray]) -> list[list[pa.Array]]:
    """The user's ids of sources and of destinations, a column each."""
    return [[column.take(pa.array(end)) for column in change.ids] for end in ends]


def pays(updates: dict[str, Any], rows: int) -> bool:
    """Whether the log has grown so that it is to be put into the files, which hold so many rows."""
    pending = [entry for entry in updates["log"] if entry["number"] > updates["base"]]
    held = sum(entry["rows"] + entry["pairs"] for entry in pending)
    return len(pending) > MOST_ENTRIES or held > max(FEW, rows // SHARE)


def compact(folder: Place, fingerprint: str, library: str, *, always: bool = True) -> bool:
    """Put the log into the files of the graph, as one step; whether that was done.

    The entries are kept for `changes_since`, the last ones, as far as they are less than a tenth of the rows.

    Parameters
    ----------
    always : bool
        False: only where it `pays`.

    Raises
    ------
    InvalidSavedGraph, OutputError
        As `update`.
    """
    with _changing(folder) as (here, place):
        content = current(here, fingerprint)
        updates = content["updates"]
        if updates["generation"] == updates["base"]:
            return False
        if not (always or pays(updates, content["counts"]["rows"])):
            return False
        base, changes = opened(here, content)
        schema = schema_from_json(content["graph"])
        made = built(grown, Growth(base, changes()))
        if isinstance(made, EmptyPartition):
            names = tuple(base.given.columns), tuple(base.vertex_columns)
            made = no_vertices(schema, base.layout, *names)
        told, files = described(made, schema)
        history = _history(updates["log"], made.num_rows // SHARE)
        kept = [each[what] for each in history for what in ("added", "removed") if each[what]]
        more = {name: content["files"][name] for name in kept}
        about = {name: content[name] for name in ("npartitions", "source_files")}
        about |= {
            "library": library,
            "updates": {**updates, "base": updates["generation"], "log": history},
        }
        with growing(here, place, SAVED.name, others_in, kept) as new:
            fill(new, told, files, about, more)
        return True


def _history(entries: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """The last entries of a log that hold so many rows and pairs at most."""
    kept: list[dict[str, Any]] = []
    for entry in reversed(entries):
        most -= entry["rows"] + entry["pairs"]
        if most < 0:
            break
        kept.append(entry)
    return kept[::-1]


@contextmanager
def _changing(folder: Place) -> Iterator[tuple[OpenFolder, Place]]:
    """The folder, opened to be changed by nobody else, and its place.

    On a disk a lock says so; on a store the number of the commit, by which the slower of two writers fails.
    """
    try:
        if isinstance(folder, Path):
            with opened_folder(folder) as here, _locked(here):
                try:
                    yield here, folder
                except OSError:
                    if (
                        here.is_replaced()
                    ):  # by somebody who saves a graph, and so waits for no lock
                        raise replaced(folder) from None
                    raise
        else:
            place = claimed(folder, folder)
            with OpenObjects(place) as here:
                yield here, place
    except NoFolder:
        raise SAVED.error(f"there is no folder {folder}; {SAVED.writer} makes one") from None
    except GraphError:
        raise
    except BlockingIOError:
        raise OutputError(
            f"{folder} is being updated by somebody else; load it again when that is done, and update then"
        ) from None
    except (OSError, pa.ArrowException) as error:
        raise failed(folder, error) from error


@contextmanager
def _locked(here: OpenFolder) -> Iterator[None]:
    with here.alone(manifest.NAME):
        if here.is_replaced():
            raise replaced(here.path)
        yield


def _check_may_grow(base: Partition, place: Place) -> None:
    if not base.layout.directed and base.as_given is None:
        raise InvalidArgument(
            f"{place} is undirected and was saved from pages on disk or by an earlier version, which do not keep "
            "in which direction edges were given: build it anew with the new rows"
        )


def _check_root(after: Growth, place: Place) -> None:
    """Raise where the vertex from which layers are counted would be gone."""
    root = after.base.layout.root
    if root is None:
        return
    parts = root if isinstance(root, tuple) else (root,)
    ids = [
        pa.array([part], column.type)
        for part, column in zip(parts, after.base.ids.columns, strict=True)
    ]
    if after.count_absent(ids, np.zeros(1, np.int64)):
        raise InvalidArgument(
            f"layers of {place} are counted from {root!r}, which would have no row left: keep one of its rows, or "
            "build the graph anew with another root"
        )
