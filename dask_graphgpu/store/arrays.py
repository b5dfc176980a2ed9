"""The arrays of a saved graph as what a partition is made of: each of the length and type that it has to have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from dask_graphgpu.io.generation import OpenFolder
from dask_graphgpu.io.schema import EdgeSchema, arrow_id_type
from dask_graphgpu.partition.as_given import AsGiven
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.ids import VertexIds
from dask_graphgpu.partition.layered import Layered, Levels
from dask_graphgpu.store import unread
from dask_graphgpu.store.mapped import NUMBERS, Mapped

_IDS = ("uint32", "uint64")


class SavedArrays:
    """The arrays of a folder; each file is mapped once.

    Parameters
    ----------
    folder : OpenFolder
    content : dict
        Its manifest.
    unread : Unread
        Is told of every array, and what to look at before it is used.

    Raises
    ------
    ValueError, OSError, ArrowException
        By all methods: a file is not what the manifest says, or not what has to be there.
    """

    def __init__(self, folder: OpenFolder, content: dict[str, Any], unread: unread.Unread) -> None:
        self.unread = unread
        self._folder, self._files = folder, content["files"]
        self._vertices = content["counts"]["vertices"]
        self._mapped: dict[str, Mapped] = {}
        self._arrays: dict[str, np.ndarray] = {}
        self._rows: set[tuple[str, str]] = set()  # offsets and neighbours that are to be looked at

    def adjacency(self, files: dict[str, Any]) -> Adjacency:
        names = files["offsets"], files["neighbours"]
        offsets = self._array(names[0], self._vertices + 1, "int64")
        neighbours = self._array(names[1], None, *_IDS, summed=False)
        if offsets[0] or offsets[-1] != len(neighbours):
            raise ValueError(f"{names[0]} does not fit {names[1]}")
        if names not in self._rows:
            self._rows.add(names)
            self.unread.add(names[0], offsets, partial(unread.ascending, offsets))
            self.unread.add(names[1], neighbours, partial(self._in_rows, names[1], offsets))
        return Adjacency(offsets, neighbours, self._columns(files, len(neighbours)))

    def as_given(self, files: dict[str, Any], given: Adjacency) -> AsGiven:
        places = self._array(files["places"], None, "int64")
        left = len(places)
        ends = [self._array(files[name], left, *_IDS) for name in ("rows", "neighbours")]
        for name, array in zip(("rows", "neighbours"), ends, strict=True):
            self.unread.add(files[name], array, partial(unread.below, array, self._vertices))
        total = left + given.num_edges
        self.unread.add(files["places"], places, partial(unread.below, places, total))
        columns = self._columns(files, left)
        if left and columns.keys() != given.columns.keys():
            raise ValueError(
                "the columns of the rows that were left out are not those of the edges"
            )
        turned = files["turned"]
        if turned is not None:
            turned = self._array(turned, -(-given.num_edges // 8), "uint8")
        return AsGiven(turned, places, ends[0], ends[1], columns)

    def layered(self, files: dict[str, Any], levels: Levels) -> Layered:
        starts = self._array(files["starts"], levels.num_layers + 1, "int64")
        neighbours = self._array(files["neighbours"], None, *_IDS)
        sources = self._array(files["sources"], len(neighbours), *_IDS)
        if starts[0] or starts[-1] != len(neighbours):
            raise ValueError(f"{files['starts']} does not fit {files['neighbours']}")
        self.unread.add(files["starts"], starts, partial(unread.ascending, starts))
        for name, array in ((files["sources"], sources), (files["neighbours"], neighbours)):
            self.unread.add(name, array, partial(unread.below, array, self._vertices))
        columns = self._columns(files, len(neighbours))
        return Layered(starts, sources, neighbours, levels.level, columns, files["seconds"])

    def levels(self, found: dict[str, Any], root: Any) -> Levels:
        level = self.of_vertices(found["level"], "int32")
        self.unread.add(found["level"], level, partial(unread.below, level, found["layers"], -1))
        return Levels(found["root"], level, found["layers"], found["seconds"])

    def of_vertices(self, name: str, *kinds: str) -> np.ndarray:
        """A value of each vertex, of one of some types; none: any number."""
        return self._array(name, self._vertices, *(kinds or NUMBERS))

    def ids(self, content: dict[str, Any], schema: EdgeSchema) -> VertexIds:
        columns = [
            self._ids(name, kind) for name, kind in zip(content["ids"], schema.ids, strict=True)
        ]
        places = [content["position"], content["rank"]]
        if (places[0] is None) != (places[1] is None):
            raise ValueError("of position and rank one is missing")
        position, rank = (
            None if name is None else self.of_vertices(name, *_IDS) for name in places
        )
        for name, array in zip(places, (position, rank), strict=True):
            if array is not None:
                self.unread.add(name, array, partial(unread.below, array, self._vertices))
        return VertexIds(columns, position, rank)

    def _ids(self, name: str, kind: Any) -> pa.Array:
        column = self._map(name).column
        self._check_length(name, len(column), self._vertices)
        text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        wanted = arrow_id_type(kind)
        fits = text if wanted is None or pa.types.is_large_string(wanted) else column.type == wanted
        if wanted is None:  # objects, which may be integers
            fits = fits or pa.types.is_integer(column.type)
        if column.null_count or not fits:
            raise ValueError(f"{name} holds {column.type}, which are no ids of type {kind}")
        self.unread.add(name, column, partial(unread.readable, column))
        return column

    def _columns(self, files: dict[str, Any], length: int) -> dict[str, np.ndarray]:
        return {
            name: self._array(file, length, *NUMBERS) for name, file in files["columns"].items()
        }

    def _array(self, name: str, length: int | None, *kinds: str, summed: bool = True) -> np.ndarray:
        """The array of a file, of a length, None: any, and one of some types; ``summed`` as of `_map`."""
        mapped = self._map(name, summed)
        if self._files[name]["type"] not in kinds:
            raise ValueError(
                f"{name} is to hold {self._files[name]['type']}, not {' or '.join(kinds)}"
            )
        if name not in self._arrays:
            self._arrays[name] = mapped.array(self._files[name]["type"])
        found = self._arrays[name]
        self._check_length(name, len(found), length)
        self.unread.add(name, found)
        return found

    def _map(self, name: str, summed: bool = True) -> Mapped:
        """The file; unless ``summed``, whoever asks has its checksum compared."""
        if name not in self._mapped:
            if name not in self._files:
                raise ValueError(f"it lists no file {name!r}")
            try:
                with self._folder.open(name) as file:
                    mapped = Mapped(file)
            except (ValueError, OSError, pa.ArrowException) as error:
                raise ValueError(f"{name} cannot be read: {error}") from error
            self._check_length(name, len(mapped.column), self._files[name]["length"])
            if summed:
                differs = partial(unread.checksum_differs, mapped.data, self._checksum(name))
                self.unread.add(name, mapped, differs)
            self._mapped[name] = mapped
        return self._mapped[name]

    def _check_length(self, name: str, given: int, wanted: int | None) -> None:
        if wanted is not None and given != wanted:
            raise ValueError(f"{name} has {given:,} values instead of {wanted:,}")

    def _checksum(self, name: str) -> str:
        checksum: str = self._files[name]["checksum"]
        return checksum

    def _in_rows(self, name: str, offsets: np.ndarray) -> str | None:
        self.unread(offsets)
        data = self._mapped[name].data
        return unread.in_rows(offsets, self._arrays[name], data, self._checksum(name))


class LookedAt(Mapping[str, np.ndarray]):
    """Arrays by name, each looked at when it is asked for."""

    def __init__(self, arrays: dict[str, np.ndarray], before_use: unread.Unread) -> None:
        self._arrays, self._before_use = arrays, before_use

    def __getitem__(self, name: str) -> np.ndarray:
        self._before_use(self._arrays[name])
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)
