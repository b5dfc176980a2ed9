"""Ranks: the N equal parties of a run, as one of them sees them, and their collectives."""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from types import TracebackType
from typing import Self

import numpy as np

from dask_graphgpu.errors import InvalidArgument, RanksAborted
from dask_graphgpu.exchange.nearby import Nearby, places

MOST_SCALARS = 16
NOTHING = np.empty(0, np.uint8)
NO_SCALARS = np.empty(0, np.int64)


class Ranks(ABC):
    """The ranks of a run, as one of them sees them.

    Every rank calls the same collectives in the same order, and each of them is one `step`. A rank
    that fails says so by `abort`, one that is done by `close`; as a context manager it does the one
    or the other by itself.

    Attributes
    ----------
    rank : int
        This rank, 0 .. size - 1.
    size : int
    idle_timeout : float or None
        Seconds after which a silent rank is lost; None: there is no such time.
    waited : float
        Seconds in steps so far with nothing to send and nothing that had come: others were still at
        work, or their messages under way.
    """

    rank: int
    size: int
    idle_timeout: float | None = None
    waited: float = 0.0

    @abstractmethod
    def step(
        self, send: Sequence[np.ndarray | None], scalars: np.ndarray
    ) -> tuple[list[np.ndarray], np.ndarray]:
        """One message to every peer and one from every peer.

        Parameters
        ----------
        send : sequence of size arrays or None
            Entry j goes to rank j: any dtype but object and any shape; it travels as its bytes in
            C order. None sends no bytes. They may be written to again when this returns.
        scalars : int64 or float64, shape (k,), k at most 16
            Seen by all ranks; k and dtype are the same everywhere.

        Returns
        -------
        list of uint8 arrays
            Entry j is what rank j sent; each is the caller's own for as long as it is kept. The
            entry of this rank is what it gave itself, the same memory.
        array, shape (size, k)
            Row j is the scalars of rank j.

        Raises
        ------
        RankLost
            A rank is gone or has been silent for too long.
        RanksAborted
            A rank has aborted the run, has returned or calls another collective.
        InvalidArgument
        """

    @abstractmethod
    def check(self) -> None:
        """Look whether the run has ended elsewhere, without a step and without waiting.

        Raises
        ------
        RankLost, RanksAborted
        """

    @abstractmethod
    def abort(self, reason: str) -> None:
        """Tell the peers at once that this rank gives up, and why: they raise `RanksAborted`."""

    @abstractmethod
    def close(self) -> None:
        """Take no further step; a peer that waits for one raises `RanksAborted`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            self.close()
        else:
            self.abort(described(error))

    # -- scalars ------------------------------------------------------------------------------

    def scalars(self, values: Sequence[int] | Sequence[float]) -> np.ndarray:
        """Every rank's values, shape (size, k): int64 where all of them are integers, else float64.

        Of at most 16, and of the same kinds everywhere.
        """
        return self.step([None] * self.size, as_scalars(values))[1]

    def sum(self, value: int | float) -> int | float:
        """Sum of one value a rank, the same everywhere; of integers exact."""
        total: int | float = sum(self.scalars([value])[:, 0].tolist())
        return total

    def min(self, value: int | float) -> int | float:
        """The least of one value a rank; NaN where there is one."""
        least: int | float = self.scalars([value]).min().item()
        return least

    def max(self, value: int | float) -> int | float:
        """The greatest of one value a rank; NaN where there is one."""
        greatest: int | float = self.scalars([value]).max().item()
        return greatest

    def barrier(self) -> None:
        """Return when every rank has come here."""
        self.step([None] * self.size, NO_SCALARS)

    def nearby(self) -> Nearby:
        """How many of the ranks are where this one is, which is among them."""
        told = self.all_gather_bytes("\n".join(places()).encode())
        every = zip(*(each.split(b"\n") for each in told), strict=True)
        return Nearby(*(place.count(place[self.rank]) for place in every))

    # -- arrays -------------------------------------------------------------------------------

    def all_gather(self, array: np.ndarray) -> list[np.ndarray]:
        """Every rank's array; entry ``rank`` is the array given.

        Their lengths may differ; dtype and the other axes are the same everywhere.
        """
        return self._typed([array] * self.size, "all_gather")

    def all_to_all(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Entry j goes to rank j; entry j of what is returned came from there.

        Entry ``rank`` is the array given. Lengths may differ; dtype and the other axes are the same
        everywhere.
        """
        if len(arrays) != self.size:
            raise InvalidArgument(
                f"{len(arrays)} arrays for {self.size} ranks; give one for each of them"
            )
        return self._typed(arrays, "all_to_all")

    def to_first(self, array: np.ndarray) -> np.ndarray:
        """All of an array at the first rank, that of rank 0 first; nothing at others."""
        return np.concatenate(self.all_to_all([array] + [array[:0]] * (self.size - 1)))

    def all_gather_bytes(self, data: bytes) -> list[bytes]:
        """Every rank's bytes."""
        return self.all_to_all_bytes([data] * self.size)

    def all_to_all_bytes(self, data: Sequence[bytes]) -> list[bytes]:
        """Entry j goes to rank j; entry j of what is returned came from there."""
        given = [np.frombuffer(each, np.uint8) for each in data]
        received = self.all_to_all(given)
        return [data[j] if j == self.rank else received[j].tobytes() for j in range(self.size)]

    def _typed(self, arrays: Sequence[np.ndarray], collective: str) -> list[np.ndarray]:
        first = arrays[0]
        for array in arrays:
            if array.ndim == 0 or array.dtype != first.dtype or array.shape[1:] != first.shape[1:]:
                raise InvalidArgument(
                    f"{collective} of a {array.dtype} array of shape {array.shape} beside a "
                    f"{first.dtype} one of shape {first.shape}; all need the same dtype and the "
                    "same axes after the first"
                )
        what = f"{collective} of {first.dtype.str} arrays, {first.shape[1:]} an entry"
        # Bytes read as another dtype would be a wrong answer, so ranks compare what they expect.
        sign = np.array([zlib.crc32(what.encode())])
        received, signs = self.step(arrays, sign)
        for j in np.flatnonzero(signs[:, 0] != sign[0]):
            raise RanksAborted(
                f"rank {j} calls another collective than rank {self.rank} ({what}), or gives it "
                "another dtype or shape; all ranks have to call the same ones in the same order",
                int(j),
            )
        return [
            arrays[j] if j == self.rank else _as_rows(received[j], first) for j in range(self.size)
        ]


def described(error: BaseException) -> str:
    """An exception as the reason that peers are told."""
    return f"{type(error).__name__}: {error}"


def as_scalars(values: Sequence[int] | Sequence[float]) -> np.ndarray:
    """Numbers as `Ranks.step` takes them."""
    try:
        if all(isinstance(value, int | np.integer | np.bool_) for value in values):
            return np.array([int(value) for value in values], np.int64)
        return np.array(values, np.float64)
    except OverflowError:
        raise InvalidArgument(
            f"{list(values)!r} do not fit 64 bits with a sign; give floats, or parts of them"
        ) from None


def check(size: int, send: Sequence[np.ndarray | None], scalars: np.ndarray) -> list[np.ndarray]:
    """The arguments of a step checked, with what is sent as contiguous bytes.

    Raises
    ------
    InvalidArgument
    """
    if len(send) != size:
        raise InvalidArgument(f"{len(send)} messages for {size} ranks; give one for each of them")
    if scalars.ndim != 1 or len(scalars) > MOST_SCALARS or scalars.dtype not in _SCALARS:
        raise InvalidArgument(
            f"scalars of shape {scalars.shape} and dtype {scalars.dtype}; allowed are int64 or "
            f"float64 of shape (k,) with k at most {MOST_SCALARS}: send more as arrays"
        )
    return [NOTHING if array is None else _as_bytes(array) for array in send]


_SCALARS = (np.dtype(np.int64), np.dtype(np.float64))


def _as_bytes(array: np.ndarray) -> np.ndarray:
    if array.dtype.hasobject:
        raise InvalidArgument(
            "an array of Python objects cannot be sent; give numbers, or bytes to all_to_all_bytes"
        )
    if array.nbytes == 0:
        return NOTHING
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _as_rows(received: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Bytes as an array with the dtype and the trailing axes of another."""
    if received.nbytes == 0:
        return np.empty((0, *like.shape[1:]), like.dtype)
    return received.view(like.dtype).reshape(-1, *like.shape[1:])
