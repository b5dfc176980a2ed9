"""Values of all vertices become the rows of a result, on many ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from dask_graphgpu.io.id_lookup import IdLookup, exchange
from dask_graphgpu.io.results import ColumnType, Table, Values, assemble
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.partition.chunk import to_host
from dask_graphgpu.partition.device.elements import scattered
from dask_graphgpu.partition.device.host import to_new_memory
from dask_graphgpu.partition.result_rows import bounds_of, first_of_each

if TYPE_CHECKING:
    from dask_graphgpu.exchange.nccl import DeviceLink
    from dask_graphgpu.exchange.ranks import Ranks
    from dask_graphgpu.partition.ranks.ids import RankIds


class VertexRows:
    """The way of own vertices' values to the partitions of a result with a row for every vertex.

    What goes where, and the ids beside it, are the same for each run, so they are found out once.

    Parameters
    ----------
    ranks : Ranks
        This is collective, and so are all methods.
    ids : RankIds
    of : int
        Partitions of the result; those of a rank, and the rows of each, are as in `spread`.
    link : DeviceLink, optional
        Values travel from GPU to GPU, and become frames there if these are cuDF's; else they are, and stay, on
        the host.

    Notes
    -----
    Takes 8 bytes and an id for each row that this rank makes, on the GPU or the host; of frames on the host
    behind a link an id there, too. A run costs
    an all-to-all a column and a scatter; of columns of other vertices also a look-up of their ids,
    which goes from GPU to GPU as well where they are integers.
    """

    def __init__(
        self, ranks: Ranks, ids: RankIds, of: int, schema: EdgeSchema, link: DeviceLink | None
    ) -> None:
        self._ranks, self._ids, self._schema, self._link = ranks, ids, schema, link
        self._xp: Any = np if link is None else link.arrays
        bounds, first = bounds_of(len(ids), of), first_of_each(of, ranks.size)
        numbers = ids.own_numbers().astype(np.int64)
        self._cuts = list(pairwise(np.searchsorted(numbers, bounds[first]).tolist()))
        came = ranks.all_to_all([numbers[lo:hi] for lo, hi in self._cuts])
        self._came = list(pairwise(np.cumsum([0, *map(len, came)]).tolist()))
        start, end = bounds[first[ranks.rank]], bounds[first[ranks.rank + 1]]
        self._start = int(start)
        self._places = self._xp.asarray(np.concatenate(came) - start)
        known = ids.take(np.arange(start, end))
        self._parts = {
            i: slice(int(bounds[i] - start), int(bounds[i + 1] - start))
            for i in range(first[ranks.rank], first[ranks.rank + 1])
        }
        self._known: dict[int, list[Any]] = {
            i: [a[rows] for a in known] for i, rows in self._parts.items()
        }
        self._lookup: IdLookup | None = None
        # On all ranks or on none: those without a row have a column of no length, of the same type.
        if link is not None and all(pa.types.is_integer(column.type) for column in known):
            arrays = [self._xp.asarray(column.to_numpy(zero_copy_only=False)) for column in known]
            self._lookup = IdLookup(ranks, link, bounds[first].tolist(), arrays)
        self._assemble = assemble
        self._column: Callable[..., Any] = _host_column
        self._settled: Callable[[Any], Any] = to_new_memory
        if schema.on_device:
            self._settled = _as_it_is
            from dask_graphgpu.io import device_results
            from dask_graphgpu.partition.device.columns import series_of

            self._assemble, self._column = device_results.assemble, series_of
            if link is not None:
                self._known = {i: device_results.series_of_ids(a) for i, a in self._known.items()}

    def frames(self, table: Table, columns: dict[str, ColumnType]) -> dict[int, Any]:
        """The partitions of a result that this rank makes.

        Parameters
        ----------
        table : dict of Values
            Of own vertices, in ascending order of their numbers; of ``vertex``, which are these, the
            values are not looked at.
        """
        given = {
            name: self._here(table[name]).for_exchange(kind, self._xp)
            for name, kind in columns.items()
            if name != "vertex"
        }
        sent = [each for pair in given.values() for each in pair if each is not None]
        came = iter(self._brought(sent))
        here: Table = {
            name: Values(next(came), None if valid is None else next(came))
            for name, (_, valid) in given.items()
        }
        others = {
            name: self._ids_of(here.pop(name))
            for name, kind in columns.items()
            if kind.vertex and name != "vertex"
        }
        here = {
            name: Values(
                self._settled(values.data),
                None if values.valid is None else self._settled(values.valid),
            )
            for name, values in here.items()
        }
        made = {}
        for i, rows in self._parts.items():
            part = {
                name: Values(v.data[rows], None if v.valid is None else v.valid[rows])
                for name, v in here.items()
            }
            vertices = {name: ids_of(rows) for name, ids_of in others.items()}
            if "vertex" in columns:
                vertices["vertex"] = self._known[i]
            made[i] = self._assemble(
                part, vertices, columns, self._schema, self._start + rows.start
            )
        return made

    def _here(self, values: Values) -> Values:
        """Values where they travel from: on the GPU if ranks are linked, else on the host."""
        return values if self._link is not None else values.on_host()

    def _brought(self, columns: Sequence[Any]) -> list[Any]:
        """What comes to the rows of this rank of columns of own vertices."""
        parts = [[column[lo:hi] for lo, hi in self._cuts] for column in columns]
        if self._link is None:
            made = [np.empty(len(self._places), column.dtype) for column in columns]
            for out, part in zip(made, parts, strict=True):
                for (lo, hi), each in zip(self._came, self._ranks.all_to_all(part), strict=True):
                    out[self._places[lo:hi]] = each
            return made
        rooms = [self._xp.empty(len(self._places), column.dtype) for column in columns]
        received = [[room[lo:hi] for lo, hi in self._came] for room in rooms]
        exchange(self._link, self._ranks, list(zip(parts, received, strict=True)))
        return [scattered(room, self._places, len(room)) for room in rooms]

    def _ids_of(self, values: Values) -> Callable[[slice], list[Any]]:
        """Of some of the rows of a column of other vertices: their ids. Collective."""
        if self._lookup is None:
            valid = None if values.valid is None else to_host(values.valid)
            arrays = self._ids.take(to_host(values.data), valid)
            return lambda rows: [array[rows] for array in arrays]
        columns = [self._settled(each) for each in self._lookup.take(values.data, values.valid)]
        whole = None if values.valid is None else self._settled(values.valid)

        def some(rows: slice) -> list[Any]:
            valid = None if whole is None else whole[rows]
            return [self._column(column[rows], valid) for column in columns]

        return some


def _as_it_is(array: Any) -> Any:
    return array


def _host_column(data: np.ndarray, valid: np.ndarray | None) -> pa.Array:
    return pa.array(data, mask=None if valid is None else ~valid)
