"""An event that ends a run from outside, and wakes ranks that wait for their peers."""

from __future__ import annotations

import contextlib
import socket
import threading


class AbortEvent(threading.Event):
    """Set from any thread to end the run that this process has a rank in.

    Attributes
    ----------
    reason : str
        Why; the first one given.
    lost : bool
        The rank here goes while the others might go on without it, as its process closes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.reason = "the run was cancelled"
        self.lost = False
        self._guard = threading.Lock()
        self._wakers: set[socket.socket] = set()

    def set(self, reason: str | None = None, *, lost: bool = False) -> None:
        """End the run: its ranks raise `RanksAborted`, or `RankLost` of the one here; at once if they are in a step."""
        with self._guard:
            if reason is not None and not self.is_set():
                self.reason, self.lost = reason, lost
            super().set()
            for waker in self._wakers:
                with contextlib.suppress(OSError):  # it has been woken by so much already
                    waker.send(b"!")

    def wake(self, waker: socket.socket) -> None:
        """Send a byte there when the event is set, and now if it is."""
        with self._guard:
            self._wakers.add(waker)
            if self.is_set():
                waker.send(b"!")

    def forget(self, waker: socket.socket) -> None:
        with self._guard:
            self._wakers.discard(waker)
