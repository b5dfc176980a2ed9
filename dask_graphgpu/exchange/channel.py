"""The connection to one peer: what is still to be sent, and messages out of what has come."""

from __future__ import annotations

import contextlib
import fcntl
import select
import socket
import struct
import sys
import termios
import time
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dask_graphgpu.errors import RankLost, RanksAborted
from dask_graphgpu.exchange import framing
from dask_graphgpu.exchange.ranks import NOTHING

_AHEAD = 1 << 16  # bytes read at once beside the payloads of long messages
_NO_REST = memoryview(b"")
_SPACE = framing.HEADER + 8 * framing.MOST_SCALARS + framing.MOST_REASON  # of what is read whole


class Message(NamedTuple):
    """What a peer has sent in a step."""

    header: framing.Header
    scalars: bytes
    payload: np.ndarray


class Channel:
    """A socket to one peer that never blocks.

    A small message takes one system call to send and one to receive: what comes is read into a
    buffer, header and all, and only the rest of a long payload straight into its array. A peer may
    be a step ahead, so up to two of its messages may be here.

    Attributes
    ----------
    rank : int
        Of the peer.
    address : str
    fd : int
    heard : float
        When bytes last came, by `time.monotonic`.
    messages : deque of Message
        That have come and not been taken.
    sending : bool
        Not all has been handed to the system.
    left : bool
        The peer takes no further step.
    """

    def __init__(self, sock: socket.socket, rank: int, me: int, address: str) -> None:
        self.rank, self.me, self.address = rank, me, address
        self.fd = sock.fileno()
        self.heard = 0.0
        self.messages: deque[Message] = deque()
        self._socket = sock
        self._out: list[memoryview] = []
        self._buffer = bytearray(_AHEAD)
        self._view = memoryview(self._buffer)
        self._start = self._end = 0  # of what has been read and not been taken
        self._begun: Message | None = None  # its payload has still to come
        self._rest = _NO_REST  # of the payload
        self._gone = "it closed its connection"
        self._steps = -1  # of the peer, once it has said that it takes no further one

    @property
    def sending(self) -> bool:
        return bool(self._out)

    @property
    def left(self) -> bool:
        return self._steps >= 0

    # -- out ----------------------------------------------------------------------------------

    def send(self, head: bytes, payload: np.ndarray = NOTHING) -> None:
        """Hand a message to the system, as much of it as it takes now; `flush` sends the rest."""
        parts = [memoryview(head)]
        if len(payload):
            parts.append(payload.data)
        self._out += parts
        self.flush()

    def flush(self) -> bool:
        """Send what is left, as much as the system takes; whether that was all."""
        while self._out:
            sent = self._write(self._out)
            if not sent:
                break
            while self._out and sent >= len(self._out[0]):
                sent -= len(self._out.pop(0))
            if sent:
                self._out[0] = self._out[0][sent:]
        return not self.sending

    # -- in -----------------------------------------------------------------------------------

    def receive(self) -> None:
        """Read what has come.

        Raises
        ------
        RankLost, RanksAborted
        """
        dry = False
        while not dry:
            if self._begun is None:
                dry = self._fill()
                self._sort()
            else:
                wanted, count = len(self._rest), self._read(self._rest)
                self._rest, dry = self._rest[count:], self._is_dry(wanted, count)
                if count == wanted:
                    self._complete(self._begun)

    def take(self, step: int, scalar: str, num_scalars: int) -> Message:
        """The message of a step, which has come.

        Raises
        ------
        RanksAborted
            It is of another step.
        """
        message = self.messages.popleft()
        header = message.header
        if (header.step, header.scalar, header.num_scalars) != (step, scalar, num_scalars):
            raise RanksAborted(
                f"rank {self.rank} is in step {header.step} with {header.num_scalars} scalars of "
                f"{header.scalar}8, rank {self.me} in step {step} with {num_scalars} of {scalar}8; "
                "all ranks have to call the same collectives in the same order",
                self.rank,
            )
        return message

    def _fill(self) -> bool:
        """Read into the buffer; whether the system has no more."""
        if self._start == self._end:
            self._start = self._end = 0
        elif _AHEAD - self._start < _SPACE:
            rest = self._buffer[self._start : self._end]
            self._start, self._end = 0, len(rest)
            self._buffer[: len(rest)] = rest
        wanted = _AHEAD - self._end
        count = self._read(self._view[self._end :] if self._end else self._view)
        self._end += count
        return self._is_dry(wanted, count)

    def _sort(self) -> None:
        """Take all messages out of the buffer, the last of them with a part of its payload."""
        while self._end - self._start >= framing.HEADER and self._begun is None:
            try:
                header = framing.unpack(self._buffer, self._start)
            except ValueError as error:
                raise self.lost(f"it sent {error}") from None
            scalars = self._start + framing.HEADER
            start = scalars + 8 * header.num_scalars
            end = start + header.nbytes
            if self._end < (start if header.kind == framing.DATA else end):
                return
            self._start = min(end, self._end)
            if header.kind == framing.DATA:
                self._begin(
                    header, bytes(self._view[scalars:start]), self._view[start : self._start]
                )
            elif header.kind == framing.ABORT:
                raise framing.verdict(self._view[scalars:start], self._view[start:end])
            elif header.kind == framing.LEFT:
                self._steps = header.step

    def _begin(self, header: framing.Header, scalars: bytes, here: memoryview) -> None:
        if len(self.messages) == 2:
            raise self.lost("it sent more messages than it can have taken steps")
        payload = np.empty(header.nbytes, np.uint8) if header.nbytes else NOTHING
        if len(here):
            payload[: len(here)] = here
        message = Message(header, scalars, payload)
        if len(here) == header.nbytes:
            self._complete(message)
        else:
            self._begun, self._rest = message, payload.data[len(here) :]

    def _complete(self, message: Message) -> None:
        self._begun, self._rest = None, _NO_REST
        self.messages.append(message)

    # -- the socket ---------------------------------------------------------------------------

    def _write(self, parts: Sequence[memoryview]) -> int:
        """Bytes that the system has taken; 0 if it takes none now."""
        try:
            return self._socket.sendmsg(parts)
        except BlockingIOError:
            return 0
        except OSError as error:
            return self._refused(error)

    def _refused(self, error: OSError) -> int:
        """Give up sending: what the peer has said before it went is still to be read."""
        self._out, self._gone = [], f"sending to it failed ({error})"
        return 0

    def _read(self, into: memoryview) -> int:
        """Bytes that have come; 0 if there are none now."""
        try:
            count = self._socket.recv_into(into)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise self.lost(f"reading from it failed ({error})") from None
        return self._came(count)

    def _came(self, count: int) -> int:
        if not count:
            raise self.lost(self._gone)
        self.heard = time.monotonic()
        return count

    def _is_dry(self, wanted: int, count: int) -> bool:
        """Whether a read that gave so much shows that there is no more now."""
        return count < wanted

    def lost(self, why: str) -> RankLost:
        """That this peer is lost."""
        return RankLost(
            f"rank {self.rank} at {self.address} is lost to rank {self.me}: {why}; its process has "
            "died, hangs or cannot be reached",
            self.rank,
            self.address,
        )

    def returned(self) -> RanksAborted:
        """That this peer, which has left, is waited for."""
        return RanksAborted(
            f"rank {self.rank} returned after {self._steps} steps, while rank {self.me} waits for "
            "it in a further one; all ranks have to call the same collectives",
            self.rank,
        )

    def unacknowledged(self) -> int:
        """Bytes that the peer's system has yet to acknowledge, as far as this one can say so."""
        errors = select.poll()
        errors.register(self.fd, 0)
        if errors.poll(0):
            return 0  # they never will be
        count = bytearray(4)
        try:
            fcntl.ioctl(self.fd, termios.TIOCOUTQ, count)
        except OSError:
            return 0
        return int.from_bytes(count, sys.byteorder)

    def close(self, *, reset: bool) -> None:
        """Give the connection up; with ``reset`` the peer sees it even if it still sends."""
        with contextlib.suppress(OSError):
            if reset:
                linger = struct.pack("ii", 1, 0)
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self._socket.close()
