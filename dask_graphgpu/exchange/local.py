"""Ranks as threads of one process: the same code as between processes, without a cluster."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from dask_graphgpu.errors import InvalidArgument, RanksAborted
from dask_graphgpu.exchange.ranks import Ranks, check, described

T = TypeVar("T")
_Message = tuple[list[np.ndarray], np.ndarray]  # bytes for every rank, and scalars


def run_local(size: int, function: Callable[[Ranks], T]) -> list[T]:
    """Run ``function(ranks)`` on ``size`` ranks, each a thread of this process.

    A step copies what is sent once, and costs each rank one wait for the last one to come: some ten
    microseconds a rank, as only one of them runs Python at a time.

    Parameters
    ----------
    size : int
        At least 1. One rank runs in the thread of the caller.

    Returns
    -------
    list
        What each rank returned.

    Raises
    ------
    InvalidArgument
    Exception
        When a rank raises, the others are aborted. Raised is the first cause itself, with a note
        that names the rank.
    """
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise InvalidArgument(f"{size!r} ranks; allowed are positive integers")
    meeting = _Meeting(size)
    if size == 1:
        return [function(_LocalRanks(meeting, 0))]
    results: list[T | None] = [None] * size

    def run(rank: int) -> None:
        ranks = _LocalRanks(meeting, rank)
        try:
            results[rank] = function(ranks)
        except BaseException as error:
            meeting.fail(rank, described(error), error)
        else:
            ranks.close()

    threads = [
        threading.Thread(
            target=contextvars.copy_context().run, args=(run, rank), name=f"graph-rank-{rank}"
        )
        for rank in range(size)
    ]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    except BaseException as error:  # Ctrl-C, or no more threads
        meeting.fail(None, described(error), error)
        for thread in threads:
            if thread.ident is not None:
                thread.join()
        raise
    cause, meeting.cause = meeting.cause, None
    if cause is not None:
        try:
            raise cause
        finally:
            del cause  # its traceback holds this frame: a cycle that would keep the ranks' arrays
    return results  # type: ignore[return-value]


class _Meeting:
    """Where the threads of a run hand over their messages, step by step.

    The last rank to come takes all messages of the step, gives them to the others and wakes them.
    The next step starts from an empty list, so nobody has to wait until everybody has read.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.cause: BaseException | None = None  # the first error of a rank
        self._mutex = threading.Lock()
        self._here: list[_LocalRanks] = []
        self._returned: dict[int, int] = {}  # rank -> steps it has taken
        self._aborted: tuple[str, int | None] | None = None

    def come(self, ranks: _LocalRanks) -> None:
        """Hand over a rank's message; returns when those of all ranks are there."""
        with self._mutex:
            self._check()
            for rank in self._returned:
                self._abort(self._left(rank), rank)
                self._check()
            self._here.append(ranks)
            complete = len(self._here) == self.size
            if complete:
                inorder = sorted(self._here, key=lambda other: other.rank)
                messages = [other.message for other in inorder if other.message is not None]
                for other in self._here:
                    other.messages = messages
                    if other is not ranks:
                        other.gate.release()
                self._here = []
        if not complete:
            began = time.perf_counter()
            ranks.gate.acquire()
            ranks.waited += time.perf_counter() - began
            if ranks.messages is None:
                with self._mutex:
                    self._check()

    def check(self) -> None:
        """Raise when the run has ended."""
        with self._mutex:
            self._check()

    def fail(self, rank: int | None, reason: str, error: BaseException | None = None) -> None:
        """End the run: those who wait and those who still come raise `RanksAborted`."""
        with self._mutex:
            if error is not None and self.cause is None:
                self.cause = error
                if rank is not None:
                    error.add_note(f"raised by rank {rank} of {self.size}")
            by = "" if rank is None else f"rank {rank} aborted the run: "
            self._abort(by + reason, rank)

    def leave(self, ranks: _LocalRanks) -> None:
        """A rank takes no further step."""
        with self._mutex:
            self._returned[ranks.rank] = ranks.steps
            if self._here:
                self._abort(self._left(ranks.rank), ranks.rank)

    def _left(self, rank: int) -> str:
        return (
            f"rank {rank} returned after {self._returned[rank]} steps, while others wait for it in "
            "a further one; all ranks have to call the same collectives"
        )

    def _abort(self, reason: str, rank: int | None) -> None:
        if self._aborted is None:
            self._aborted = reason, rank
        for waiting in self._here:
            waiting.gate.release()
        self._here = []

    def _check(self) -> None:
        if self._aborted is not None:
            raise RanksAborted(*self._aborted)


class _LocalRanks(Ranks):
    def __init__(self, meeting: _Meeting, rank: int) -> None:
        self.rank, self.size = rank, meeting.size
        self.steps = 0
        self.message: _Message | None = None
        self.messages: list[_Message] | None = None
        self.gate = threading.Lock()  # shut: whoever completes a step opens it
        self.gate.acquire()
        self._meeting = meeting

    def step(
        self, send: Sequence[np.ndarray | None], scalars: np.ndarray
    ) -> tuple[list[np.ndarray], np.ndarray]:
        given = check(self.size, send, scalars)
        # Copied here, because the sender may write to its arrays as soon as its step is done.
        copies = [given[j] if j == self.rank else given[j].copy() for j in range(self.size)]
        self.message = copies, scalars.copy()
        self._meeting.come(self)
        messages, self.messages, self.message = self.messages, None, None
        assert messages is not None
        self._compare(scalars, [values for _, values in messages])
        self.steps += 1
        received = [copies[self.rank] for copies, _ in messages]
        return received, np.array([values for _, values in messages])

    def _compare(self, own: np.ndarray, given: list[np.ndarray]) -> None:
        for j, values in enumerate(given):
            if len(values) != len(own) or values.dtype != own.dtype:
                raise RanksAborted(
                    f"rank {j} gave {len(values)} scalars of {values.dtype} in step {self.steps}, "
                    f"rank {self.rank} {len(own)} of {own.dtype}; all ranks have to call the same "
                    "collectives in the same order",
                    j,
                )

    def check(self) -> None:
        self._meeting.check()

    def abort(self, reason: str) -> None:
        self._meeting.fail(self.rank, reason)

    def close(self) -> None:
        self._meeting.leave(self)
