"""Owners' values flow to the ghosts of their vertices on other ranks; names of ghosts flow back."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dask_graphgpu.errors import InvalidArgument, RanksAborted
from dask_graphgpu.exchange.ranks import NO_SCALARS, NOTHING, Ranks

# A message: an int64 that is count * 4 + form, the values of each array, widest items first so that
# they are aligned, then what says whose values they are: places among the border vertices, a bit
# for each of them, or nothing as they are all of them. No bytes at all: nothing has changed.
_LIST, _BITS, _ALL = 0, 1, 2
_HEAD = 8


class Border:
    """Which vertices of this rank others hold as ghosts, and which ghosts this rank holds.

    Both sides know the vertices of a border in the same order, so a message names them by their
    place in it, or by a bit, and not at all when all of them have changed.

    Parameters
    ----------
    ranks : Ranks
    num_owned : int
    ghosts : int64, shape (size + 1,)
        Ghosts owned by rank j are the local ids ``ghosts[j]`` to ``ghosts[j + 1]``; the first is
        ``num_owned``, and this rank's own range is empty.
    sends : sequence of size arrays of uint32 or uint64
        Entry j: local ids of own vertices that rank j holds as ghosts, in its order of them.

    Attributes
    ----------
    sent_bytes : int
        Bytes of messages that it has sent so far, without headers of the transport.
    seconds : float
        In which messages were made, and what came was put where it belongs; without the steps.
    """

    def __init__(
        self, ranks: Ranks, num_owned: int, ghosts: np.ndarray, sends: Sequence[np.ndarray]
    ) -> None:
        _check_border(ranks, num_owned, ghosts, sends)
        self.ranks = ranks
        self.num_owned = num_owned
        self.ghosts = ghosts
        self.sends = list(sends)
        self.sent_bytes = 0
        self.seconds = 0.0
        self._dtype = self.sends[0].dtype

    @property
    def num_ghosts(self) -> int:
        return int(self.ghosts[-1]) - self.num_owned

    def refresh(
        self,
        arrays: Sequence[np.ndarray],
        changed: np.ndarray | None = None,
        scalars: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Copy owned vertices' values to where they are ghosts; collective, one step.

        To each peer goes whichever is smaller: a list (places and values of the changed) or a dense
        block (a bit a border vertex and values of the changed; values alone when all have changed).
        Cost: a pass over the border, and over the values that travel.

        Parameters
        ----------
        arrays : sequence of arrays, shape (num_local,) or (num_local, k)
            The ghosts' part is written to. The same dtypes and k on every rank.
        changed : bool or uint8, shape (at least num_owned,), optional
            Vertices whose values go; default: all.
        scalars : int64 or float64, shape (k,), optional
            Travel along, as in `Ranks.step`.

        Returns
        -------
        ids : same dtype as ``sends``
            Local ids of the ghosts that got values, ascending.
        scalars : shape (size, k)
            Every rank's.

        Raises
        ------
        RankLost, RanksAborted
        """
        began = time.perf_counter()
        rows = _Rows.of(arrays)
        send: list[np.ndarray | None] = [
            self._message(rows, vertices, changed) for vertices in self.sends
        ]
        received, every, stepped = self._step(send, scalars)
        got = [
            self._take(rows, j, message)
            for j, message in enumerate(received)
            if j != self.ranks.rank and len(message)
        ]
        ids = np.concatenate(got) if got else np.empty(0, self._dtype)
        self.seconds += time.perf_counter() - began - stepped
        return ids, every

    def tell_owners(
        self, ghosts: np.ndarray, values: np.ndarray, scalars: np.ndarray | None = None
    ) -> tuple[list[tuple[np.ndarray, np.ndarray]], np.ndarray]:
        """Send values of ghosts to the ranks that own them; collective, one step.

        Parameters
        ----------
        ghosts : integers
            Local ids of ghosts, ascending, each once.
        values : array, shape (len(ghosts),) or (len(ghosts), k)
            The same dtype and k on every rank; k may be 0, where names say it all.
        scalars : int64 or float64, shape (k,), optional
            Travel along, as in `Ranks.step`.

        Returns
        -------
        list of size pairs of arrays
            Local ids of the own vertices that each rank has named, and its values of them.
        scalars : shape (size, k)
            Every rank's.

        Raises
        ------
        RankLost, RanksAborted
        """
        began = time.perf_counter()
        cuts = np.searchsorted(ghosts, self.ghosts).tolist()
        send: list[np.ndarray | None] = []
        for j, (first, last) in enumerate(pairwise(self.ghosts.tolist())):
            part = slice(cuts[j], cuts[j + 1])
            places = ghosts[part].astype(np.int64) - first
            send.append(_named(places, last - first, values[part]) if len(places) else None)
        received, every, stepped = self._step(send, scalars)
        told = [
            _told(message, vertices, values, peer)
            for peer, (vertices, message) in enumerate(zip(self.sends, received, strict=True))
        ]
        self.seconds += time.perf_counter() - began - stepped
        return told, every

    def _step(
        self, send: list[np.ndarray | None], scalars: np.ndarray | None
    ) -> tuple[list[np.ndarray], np.ndarray, float]:
        """A step of the ranks, and how long it took."""
        self.sent_bytes += sum(message.nbytes for message in send if message is not None)
        began = time.perf_counter()
        received, every = self.ranks.step(send, NO_SCALARS if scalars is None else scalars)
        return received, every, time.perf_counter() - began

    def _message(
        self, rows: _Rows, vertices: np.ndarray, changed: np.ndarray | None
    ) -> np.ndarray | None:
        """The message to a peer that holds these vertices as ghosts."""
        size = count = len(vertices)
        form, names = _ALL, NOTHING
        if changed is not None and size:
            flags = changed.take(vertices)
            places = flags.nonzero()[0]
            count = len(places)
            if count < size:
                vertices = vertices[places]
                narrow = _places(size)
                if count * narrow.itemsize <= -(-size // 8):
                    form, names = _LIST, places.astype(narrow).view(np.uint8)
                else:
                    form, names = _BITS, np.packbits(flags)
        if count == 0:
            return None
        message = np.empty(_HEAD + count * rows.nbytes + len(names), np.uint8)
        message[:_HEAD].view(np.int64)[0] = count * 4 + form
        for array, part in rows.parts(message, count):
            # The ids are right; with mode="raise" NumPy would fill a buffer first.
            np.take(array, vertices, axis=0, out=part, mode="clip")
        message[len(message) - len(names) :] = names
        return message

    def _take(self, rows: _Rows, peer: int, message: np.ndarray) -> np.ndarray:
        """Write what came from a peer into its ghosts; their local ids."""
        first, last = self.ghosts[peer : peer + 2].tolist()
        size = last - first
        count, form = divmod(int(message[:_HEAD].view(np.int64)[0]), 4)
        narrow = _places(size)
        length = (count * narrow.itemsize, -(-size // 8), 0)[form]
        if len(message) != _HEAD + count * rows.nbytes + length:
            raise RanksAborted(
                f"rank {peer} sent {len(message)} bytes for {count} of {size} ghosts on rank "
                f"{self.ranks.rank}, which awaits {rows.nbytes} bytes for each; all ranks have to "
                "refresh arrays of the same dtypes",
                peer,
            )
        names = message[len(message) - length :]
        if form == _ALL:
            for array, part in rows.parts(message, count):
                array[first:last] = part
            return np.arange(first, last, dtype=self._dtype)
        places = _decoded(names, form, size) + first
        for array, part in rows.parts(message, count):
            array[places] = part
        ids: np.ndarray = places.astype(self._dtype)
        return ids


@dataclass(frozen=True)
class _Rows:
    """Arrays over vertices, those of the widest items first, and the bytes of a vertex in them."""

    arrays: list[np.ndarray]
    widths: list[int]
    nbytes: int

    @classmethod
    def of(cls, arrays: Sequence[np.ndarray]) -> _Rows:
        ordered = sorted(arrays, key=lambda array: -array.itemsize)
        widths = [array.itemsize * int(np.prod(array.shape[1:], dtype=int)) for array in ordered]
        return cls(ordered, widths, sum(widths))

    def parts(self, message: np.ndarray, count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Each array with the place of its values in a message of so many vertices."""
        end = _HEAD
        for array, width in zip(self.arrays, self.widths, strict=True):
            start, end = end, end + width * count
            part = message[start:end].view(array.dtype)
            yield array, part.reshape(count, *array.shape[1:])


def _places(size: int) -> np.dtype:
    """Narrowest type of a place among so many."""
    return np.min_scalar_type(max(size - 1, 0))


def _named(places: np.ndarray, size: int, values: np.ndarray) -> np.ndarray:
    """A message of values for places among so many, which are ascending."""
    narrow = _places(size)
    if len(places) == size:
        form, names = _ALL, NOTHING
    elif len(places) * narrow.itemsize <= -(-size // 8):
        form, names = _LIST, places.astype(narrow).view(np.uint8)
    else:
        flags = np.zeros(size, bool)
        flags[places] = True
        form, names = _BITS, np.packbits(flags)
    head = np.array([len(places) * 4 + form], np.int64)
    bits = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
    return np.concatenate([head.view(np.uint8), bits, names])


def _told(
    message: np.ndarray, vertices: np.ndarray, like: np.ndarray, peer: int
) -> tuple[np.ndarray, np.ndarray]:
    """The vertices that a peer has named, and its values, of the same kind as ours."""
    size, shape = len(vertices), like.shape[1:]
    if not len(message):
        return vertices[:0], np.empty((0, *shape), like.dtype)
    count, form = divmod(int(message[:_HEAD].view(np.int64)[0]), 4)
    length = (count * _places(size).itemsize, -(-size // 8), 0)[form]
    end = _HEAD + count * like.itemsize * int(np.prod(shape, dtype=int))
    if len(message) != end + length:
        raise RanksAborted(
            f"rank {peer} sent {len(message)} bytes for {count} of {size} vertices, where "
            f"{end + length} are due; all ranks have to give values of the same dtype",
            peer,
        )
    values = message[_HEAD:end].view(like.dtype).reshape(count, *shape)
    return vertices if form == _ALL else vertices[_decoded(message[end:], form, size)], values


def _decoded(names: np.ndarray, form: int, size: int) -> np.ndarray:
    """Places of a list or of bits, int64."""
    if form == _LIST:
        # The names may follow values of any size: copied, so that they are aligned.
        return np.frombuffer(names.tobytes(), _places(size)).astype(np.int64)
    places: np.ndarray = np.unpackbits(names, count=size).nonzero()[0]
    return places


def _check_border(
    ranks: Ranks, num_owned: int, ghosts: np.ndarray, sends: Sequence[np.ndarray]
) -> None:
    me = ranks.rank
    if (
        ghosts.shape != (ranks.size + 1,)
        or ghosts[0] != num_owned
        or ghosts[me] != ghosts[me + 1]
        or (np.diff(ghosts) < 0).any()
    ):
        raise InvalidArgument(
            f"ghosts={ghosts.tolist()} on rank {me} of {ranks.size}; allowed are ascending local "
            f"ids, one more than ranks, from num_owned={num_owned} on, with no ghosts of this rank"
        )
    if len(sends) != ranks.size or len(sends[me]) or len({each.dtype for each in sends}) != 1:
        raise InvalidArgument(
            f"sends of lengths {[len(each) for each in sends]} and dtypes "
            f"{[str(each.dtype) for each in sends]} on rank {me} of {ranks.size}; give an array "
            "for each rank, all of one dtype, and an empty one for this rank"
        )
