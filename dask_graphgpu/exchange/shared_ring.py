"""Memory that two ranks of one host share: long messages go through it, word of them by socket.

A ring of a few MB stays in the cache and in both processes' page tables; the system's own buffers
for sockets do neither. The memory has no name and no file: it goes with the processes.
"""

from __future__ import annotations

import contextlib
import fcntl
import hmac
import mmap
import os
import secrets
import struct

import numpy as np

from dask_graphgpu.exchange.ranks import NOTHING

LEAST = 1 << 20  # bytes from which a message goes this way: below, it is not faster
RING = 1 << 22
PIECE = 1 << 20  # most bytes that are told of at once
_NONCE = 16
_OFFER = struct.Struct("<qq")
_SEALS = getattr(fcntl, "F_SEAL_SHRINK", 2)  # a ring that shrinks would kill who reads it


class Outbox:
    """The writing end, made by the rank that sends.

    Attributes
    ----------
    ready : bool
        The peer has opened it.
    """

    def __init__(self) -> None:
        self.ready = False
        self._nonce = secrets.token_bytes(_NONCE)
        self._fd = os.memfd_create("graph-ranks", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self._fd, RING)
        os.pwrite(self._fd, self._nonce, 0)
        fcntl.fcntl(self._fd, fcntl.F_ADD_SEALS, _SEALS)
        self._ring = _mapped(self._fd)
        self._place, self._free = 0, RING

    def offer(self) -> bytes:
        """What the peer needs to open it: good until it is answered."""
        return _OFFER.pack(os.getpid(), self._fd) + self._nonce

    def answered(self, taken: bool) -> bool:
        """Note whether the peer could open it. False: it was not asked to."""
        asked = self._fd >= 0
        self.ready = asked and taken
        self.close()
        return asked

    def put(self, data: np.ndarray) -> int:
        """Copy the beginning of it into the ring; how many bytes, 0 while there is no space."""
        count = min(len(data), PIECE, self._free, RING - self._place)
        self._ring[self._place : self._place + count] = data[:count]
        self._place = (self._place + count) % RING
        self._free -= count
        return count

    def freed(self, count: int) -> bool:
        """Note that the peer took so many bytes out. False: there were not so many in."""
        self._free += count
        return self._free <= RING

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class Inbox:
    """The reading end."""

    def __init__(self, ring: np.ndarray) -> None:
        self._ring = ring
        self._place = 0

    @classmethod
    def of_offer(cls, offer: bytes) -> Inbox | None:
        """None where this process cannot open it: on another host, or of another user."""
        if len(offer) != OFFER:
            return None
        pid, number = _OFFER.unpack(offer[: _OFFER.size])
        with contextlib.suppress(OSError, ValueError, AttributeError):
            fd = os.open(f"/proc/{pid}/fd/{number}", os.O_RDWR | os.O_CLOEXEC)
            try:
                sealed = fcntl.fcntl(fd, fcntl.F_GET_SEALS) & _SEALS
                nonce = os.pread(fd, _NONCE, 0)
                known = hmac.compare_digest(nonce, offer[_OFFER.size :])
                if sealed and known and os.fstat(fd).st_size == RING:
                    return cls(_mapped(fd))
            finally:
                os.close(fd)
        return None

    def take(self, into: np.ndarray) -> None:
        """Copy the next ``len(into)`` bytes out of the ring; they do not go round its end."""
        into[:] = self._ring[self._place : self._place + len(into)]
        self._place = (self._place + len(into)) % RING


class Rings:
    """Both rings between two ranks, and the message that is on its way through each.

    Attributes
    ----------
    sending : bool
        Not all of a message is in the ring.
    receiving : int
        Bytes of a message that have still to come out of the other ring.
    """

    def __init__(self) -> None:
        self._outbox: Outbox | None = None
        self._inbox: Inbox | None = None
        self._out = self._in = NOTHING

    @property
    def sending(self) -> bool:
        return len(self._out) > 0

    @property
    def receiving(self) -> int:
        return len(self._in)

    def open(self) -> bytes | None:
        """None where the peer has opened the ring to it; else what to tell it, if anything."""
        if self._outbox is None:
            self._outbox = Outbox()
            return self._outbox.offer()
        return None if self._outbox.ready else b""

    def answered(self, taken: bool) -> bool:
        """Note whether the peer sees the ring to it. False: it was not asked."""
        return self._outbox is not None and self._outbox.answered(taken)

    def send(self, payload: np.ndarray) -> None:
        """Begin with a message; `put` and `freed` bring it on its way."""
        self._out = payload

    def put(self) -> int:
        """Put a piece into the ring; how many bytes, 0 while there is no space."""
        if self._outbox is None or not self.sending:
            return 0
        count = self._outbox.put(self._out)
        self._out = self._out[count:]
        return count

    def freed(self, count: int) -> bool:
        """Note that the peer took so many bytes out. False: there were not so many in."""
        return self._outbox is not None and self._outbox.freed(count)

    def offered(self, offer: bytes) -> bool:
        """Open the ring of the peer. False: this process cannot."""
        self._inbox = Inbox.of_offer(offer)
        return self._inbox is not None

    def receive(self, payload: np.ndarray) -> None:
        """Begin with a message of the peer, which `take` will fill."""
        self._in = payload

    def take(self, count: int) -> bool:
        """Take a piece out. False: the message has no piece of this size, or there is no ring."""
        if self._inbox is None or not 0 < count <= min(PIECE, self.receiving):
            return False
        self._inbox.take(self._in[:count])
        self._in = self._in[count:]
        return True

    def close(self) -> None:
        if self._outbox is not None:
            self._outbox.close()
        self._outbox = self._inbox = None
        self._out = self._in = NOTHING


OFFER = _OFFER.size + _NONCE
AVAILABLE = hasattr(os, "memfd_create") and hasattr(fcntl, "F_ADD_SEALS")


def _mapped(fd: int) -> np.ndarray:
    return np.frombuffer(mmap.mmap(fd, RING), np.uint8)
