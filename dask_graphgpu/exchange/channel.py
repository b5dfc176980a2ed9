"""The connection to one peer: what is still to be sent, and messages out of what has come."""

from __future__ import annotations

import contextlib
import fcntl
import select
import socket
import struct
import time
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dask_graphgpu.errors import InvalidArgument, RankLost, RanksAborted
from dask_graphgpu.exchange import framing
from dask_graphgpu.exchange.ranks import NOTHING
from dask_graphgpu.exchange.shared_ring import AVAILABLE, LEAST, Rings

_AHEAD = 1 << 16  # bytes read at once beside the payloads of long messages
_SIOCOUTQNSD = 0x894B  # asks for the bytes that have not been sent, with or without an answer
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
    buffer, header and all, and only the rest of a long payload straight into its array. Between
    ranks of one host, long payloads go through shared memory. A peer may be a step ahead, so up to
    two of its messages may be here.

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
        Not all has been handed to the system or the shared memory.
    blocked : bool
        The system takes no more now.
    left : bool
        The peer takes no further step.
    shared_bytes : int
        Sent through shared memory so far.
    """

    def __init__(
        self, sock: socket.socket, rank: int, me: int, address: str, *, shared: bool = True
    ) -> None:
        self.rank, self.me, self.address = rank, me, address
        self.fd = sock.fileno()
        self.heard = 0.0
        self.shared_bytes = 0
        self.messages: deque[Message] = deque()
        self._socket = sock
        self._out: list[memoryview] = []
        self._buffer = bytearray(_AHEAD)
        self._view = memoryview(self._buffer)
        self._start = self._end = 0  # of what has been read and not been taken
        self._begun: Message | None = None  # its payload has still to come
        self._rest = _NO_REST  # of the payload
        self._rings = Rings() if shared and AVAILABLE and _is_here(sock) else None
        self._sharing: Message | None = None  # its payload comes through the ring
        self._gone = "it closed its connection"
        self._steps = -1  # that the peer takes, once it has said that it leaves

    @property
    def sending(self) -> bool:
        return self.blocked or (self._rings is not None and self._rings.sending)

    @property
    def blocked(self) -> bool:
        return bool(self._out)

    @property
    def left(self) -> bool:
        return self._steps >= 0

    # -- out ----------------------------------------------------------------------------------

    def post(
        self, step: int, scalar: str, num_scalars: int, scalars: bytes, payload: np.ndarray
    ) -> None:
        """Send the message of a step, as much of it as is taken now; `flush` sends the rest."""
        if len(payload) > framing.MOST_BYTES:
            raise InvalidArgument(
                f"{len(payload):,} bytes from rank {self.me} to rank {self.rank} in one step; "
                f"allowed are {framing.MOST_BYTES:,}: send them in pieces"
            )
        kind, first = framing.DATA, b""
        if self._rings is not None and len(payload) >= LEAST:
            offer = self._rings.open()
            if offer is None:
                self._rings.send(payload)
                self.shared_bytes += len(payload)
                kind = framing.SHARED
            elif offer:
                first = framing.pack(framing.OFFER, nbytes=len(offer)) + offer
        head = first + framing.pack(kind, scalar, num_scalars, step, len(payload)) + scalars
        self.send(head, NOTHING if kind == framing.SHARED else payload)

    def send(self, head: bytes, payload: np.ndarray = NOTHING) -> None:
        """Send bytes, as many as the system takes now; `flush` sends the rest."""
        self._out.append(memoryview(head))
        if len(payload):
            self._out.append(payload.data)
        self.flush()

    def flush(self) -> None:
        """Send what is left, as much as is taken."""
        while True:
            while self._out:
                sent = self._write(self._out)
                if not sent:
                    return
                while self._out and sent >= len(self._out[0]):
                    sent -= len(self._out.pop(0))
                if sent:
                    self._out[0] = self._out[0][sent:]
            piece = self._rings.put() if self._rings is not None else 0
            if not piece:
                return
            self._out.append(memoryview(framing.pack(framing.PIECE, step=piece)))

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
        """Read into the buffer. Return whether the system has no more."""
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
            end = start + (0 if header.kind == framing.SHARED else header.nbytes)
            if self._end < (start if header.kind == framing.DATA else end):
                return
            self._start = min(end, self._end)
            self._handle(header, self._view[scalars:start], self._view[start : self._start])

    def _handle(self, header: framing.Header, scalars: memoryview, rest: memoryview) -> None:
        """A message that is in the buffer; of DATA its beginning."""
        kind, number = header.kind, header.step
        if kind in (framing.DATA, framing.SHARED):
            self._begin(header, bytes(scalars), rest)
        elif kind == framing.ABORT:
            raise framing.verdict(scalars, rest)
        elif kind == framing.LEFT:
            self._steps = number
        elif kind == framing.OFFER:
            taken = self._rings is not None and self._rings.offered(bytes(rest))
            self.send(framing.pack(framing.ANSWER, step=taken))
        elif kind != framing.ALIVE:
            self._share(kind, number)

    def _share(self, kind: int, number: int) -> None:
        """Word about memory that both share."""
        rings, known = self._rings, False
        if rings is not None and kind == framing.ANSWER:
            known = rings.answered(number == 1)
        elif rings is not None and kind == framing.FREE:
            known = rings.freed(number)
        elif rings is not None and kind == framing.PIECE and self._sharing is not None:
            known = rings.take(number)
            self.send(framing.pack(framing.FREE, step=number))
            if not rings.receiving:
                self._complete(self._sharing)
        if not known:
            raise self.lost(f"it sent word of shared memory that there is not ({kind}, {number})")

    def _begin(self, header: framing.Header, scalars: bytes, here: memoryview) -> None:
        """Make space for a message of a step, and put the beginning of its payload there."""
        if len(self.messages) == 2 or self._sharing is not None:
            raise self.lost("it sent more messages than it can have taken steps")
        try:
            payload = np.empty(header.nbytes, np.uint8) if header.nbytes else NOTHING
        except MemoryError:
            raise RanksAborted(
                f"rank {self.me} has no memory for the {header.nbytes:,} bytes that rank "
                f"{self.rank} sends it in one step",
                self.me,
            ) from None
        if len(here):
            payload[: len(here)] = here
        message = Message(header, scalars, payload)
        if header.kind == framing.SHARED:
            self._sharing = message
            if self._rings is not None:
                self._rings.receive(payload)
        elif len(here) == header.nbytes:
            self._complete(message)
        else:
            self._begun, self._rest = message, payload.data[len(here) :]

    def _complete(self, message: Message) -> None:
        self._begun, self._rest, self._sharing = None, _NO_REST, None
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
            return self._ended(f"reading from it failed ({error})")
        return self._came(count)

    def _came(self, count: int) -> int:
        if not count:
            return self._ended(self._gone)
        self.heard = time.monotonic()
        return count

    def _ended(self, why: str) -> int:
        """Nothing will come any more, which is as it should be when the peer has left."""
        if self.left:
            return 0
        raise self.lost(why)

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

    def unsent(self) -> bool:
        """Whether the system still holds back bytes, as far as it can say so (Linux)."""
        errors = select.poll()
        errors.register(self.fd, 0)
        if errors.poll(0):
            return False  # they never will be sent
        count = bytearray(4)
        try:
            fcntl.ioctl(self.fd, _SIOCOUTQNSD, count)
        except OSError:
            return False
        return any(count)

    def close(self, *, reset: bool) -> None:
        """Give the connection up; with ``reset`` the peer sees it even if it still sends."""
        if self._rings is not None:
            self._rings.close()
        with contextlib.suppress(OSError):
            if reset:
                linger = struct.pack("ii", 1, 0)
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self._socket.close()


def _is_here(sock: socket.socket) -> bool:
    """Whether both ends of a connection are on one host, as far as addresses tell."""
    try:
        return bool(sock.getpeername()[0] == sock.getsockname()[0])
    except OSError:  # the peer has gone already: why, is read later
        return False
