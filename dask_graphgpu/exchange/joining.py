"""How the ranks of a run find together: every two of them get a connection that both trust."""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import select
import socket
import ssl
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

from dask_graphgpu.errors import RankLost
from dask_graphgpu.exchange import framing
from dask_graphgpu.exchange.channel import Channel

Address = tuple[str, int]
Tls = tuple[ssl.SSLContext, ssl.SSLContext]
_GONE = getattr(select, "POLLRDHUP", 0)  # beside errors, which are always told
_GREETING = 10.0  # seconds that somebody who connects has to say who he is
_STRANGERS = 16  # who may be about to say it at a time, beside the ranks that are still to come
_PAUSE = 0.1  # seconds until connections are accepted again where the system gave none
_TRIES = 6  # to connect to a rank that hangs up, as it does when it has no room
_WAIT = 0.05  # seconds before the second of them; twice as long before each further one


class _HungUp(ConnectionError):
    """Who was connected to has closed the connection."""


_HANGS_UP = _HungUp, ConnectionResetError, ConnectionAbortedError, BrokenPipeError, ssl.SSLEOFError


class Listener:
    """Where a rank waits for its peers; opened on every worker before their addresses are known.

    Good for one `Mesh`, which closes it once all ranks are there.

    Parameters
    ----------
    host : str
        Name or address of an interface of this machine by which the peers reach it.
    port : int
        Default: one that is free.
    backlog : int
        Connections that the system holds until they are accepted.

    Attributes
    ----------
    host : str
    port : int

    Raises
    ------
    OSError
        The interface or the port is not to be had.
    """

    def __init__(self, host: str, port: int = 0, *, backlog: int = 128) -> None:
        family, _, _, _, place = _resolve(host, port)
        self.socket = socket.create_server(place[:2], family=family, backlog=backlog)
        self.socket.setblocking(False)
        self.host = host
        self.port: int = self.socket.getsockname()[1]

    @property
    def address(self) -> Address:
        return self.host, self.port

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Listener:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True)
class Rendezvous:
    """Where the ranks of a run meet, and how they know each other: see `Mesh`."""

    listener: Listener
    rank: int
    table: Sequence[Address]
    token: bytes
    timeout: float
    tls: Tls | None


def connect_all(
    meeting: Rendezvous,
    waker: socket.socket,
    look: Callable[[], None],
    tick: float | None,
    trusted: Callable[[int, socket.socket], Channel],
) -> None:
    """Connect to the ranks below, and be connected to by those above.

    Parameters
    ----------
    waker, look, tick
        What to call when that socket can be read, and each so many seconds.
    trusted
        Makes a channel of a peer and its socket, which does not block, as soon as it is one.

    Raises
    ------
    RankLost
        A rank below refuses the connection, or one has not come within the timeout, or one that had
        come is gone.
    RanksAborted
        One that had come has aborted the run.
    """
    joining = _Joining(meeting, trusted)
    joining.poll.register(waker, select.POLLIN)
    try:
        for peer in range(meeting.rank):
            joining.connect(peer)
        while len(joining.found) < len(meeting.table) - 1:
            joining.wait(tick)
            look()
    finally:
        for greeting in joining.greetings.values():
            greeting.moves.close()


_Moves = Generator[int, None, tuple[int, socket.socket]]


@dataclass
class _Greeting:
    """A connection that is not trusted yet.

    Attributes
    ----------
    moves : generator
        Yields what the socket has to be polled for, returns the rank and the socket.
    deadline : float
    peer : int or None
        The rank it was made to; None: somebody has connected.
    """

    moves: _Moves
    deadline: float
    peer: int | None = None


class _Joining:
    """All greetings go on at once, so nobody waits for a stranger who says nothing."""

    def __init__(
        self, meeting: Rendezvous, trusted: Callable[[int, socket.socket], Channel]
    ) -> None:
        self.rank, self.table = meeting.rank, meeting.table
        self.token, self.tls = meeting.token, meeting.tls
        self.timeout, self.deadline = meeting.timeout, time.monotonic() + meeting.timeout
        self.found: set[int] = set()  # ranks
        self._trusted = trusted
        self._channels: dict[int, Channel] = {}  # by socket
        self.greetings: dict[int, _Greeting] = {}  # by socket, who came first first
        self._tries: dict[int, int] = {}  # by rank
        self._again: dict[int, float] = {}  # ranks that hung up, and when they are tried again
        self._refused = ""  # why one did
        self._closed_until: float | None = None  # nobody is let in
        self.poll = select.poll()
        self._listening = meeting.listener.socket
        self._fd = self._listening.fileno()
        self.poll.register(self._fd, select.POLLIN)

    def connect(self, peer: int) -> None:
        """Start a connection to a rank below."""
        try:
            family, _, _, _, place = _resolve(*self.table[peer])
            sock = socket.socket(family, socket.SOCK_STREAM)
        except OSError as error:
            raise self._not_there(peer, str(error)) from None
        sock.setblocking(False)
        moves = _introduce(sock, place, self.rank, peer, self.token, self.tls and self.tls[0])
        self._advance(sock.fileno(), _Greeting(moves, self.deadline, peer))

    def wait(self, tick: float | None) -> None:
        """Wait for something to happen, and go on with what can go on."""
        times = [self.deadline, *(greeting.deadline for greeting in self.greetings.values())]
        times += [*self._again.values(), *filter(None, [self._closed_until])]
        patience = max(0.0, min(times) - time.monotonic())
        ready = {fd for fd, _ in self.poll.poll(1000 * min(patience, tick or patience))}
        for fd in ready & set(self._channels):
            self._channels.pop(fd).receive()  # why it has gone; none if it has returned
            self.poll.unregister(fd)
        for fd in ready & set(self.greetings):
            self._advance(fd, self.greetings[fd])
        if self._fd in ready:
            self._accept()
        now = time.monotonic()
        for fd in [fd for fd, greeting in self.greetings.items() if greeting.deadline <= now]:
            greeting = self.greetings[fd]
            self._drop(fd)
            greeting.moves.close()
        if self._closed_until is not None and self._closed_until <= now:
            self._closed_until = None
            self.poll.register(self._fd, select.POLLIN)
        for peer in [peer for peer, when in self._again.items() if when <= now]:
            del self._again[peer]
            self.connect(peer)
        missing = sorted(set(range(len(self.table))) - {self.rank, *self.found})
        if missing and self.deadline <= now:
            where = [f"{rank} at {text(self.table[rank])}" for rank in missing]
            raise RankLost(
                f"ranks {', '.join(where)} did not come together with rank {self.rank} within "
                f"{self.timeout:g} s: their workers are busy, dead or cannot be reached{self._refused}",
                missing[0],
                text(self.table[missing[0]]),
            )

    def _accept(self) -> None:
        """Let in who has connected; some at a time, as others may be connecting all the while."""
        for _ in range(_STRANGERS):
            try:
                sock, _ = self._listening.accept()
            except BlockingIOError:  # there is nobody else
                return
            except OSError:  # who had connected is gone, or files have run out
                self._make_room()
                return
            sock.setblocking(False)
            if self._strangers() >= _STRANGERS + self.size - 1 - len(self.found):
                self._turn_away()
            moves = _meet(sock, self.rank, self.token, self.tls and self.tls[1])
            until = min(self.deadline, time.monotonic() + _GREETING)
            self._advance(sock.fileno(), _Greeting(moves, until))

    def _make_room(self) -> None:
        """Turn a stranger away; where there is none, let nobody in for a moment."""
        if self._strangers():
            self._turn_away()
        else:
            self.poll.unregister(self._fd)
            self._closed_until = time.monotonic() + _PAUSE

    def _strangers(self) -> int:
        """How many have connected and not said who they are."""
        return sum(greeting.peer is None for greeting in self.greetings.values())

    def _turn_away(self) -> None:
        """Hang up on who has been silent longest; a rank tries again."""
        fd, greeting = next(each for each in self.greetings.items() if each[1].peer is None)
        self._drop(fd)
        greeting.moves.close()

    def _advance(self, fd: int, greeting: _Greeting) -> None:
        """Go on with a greeting until it has to wait, is done or has failed."""
        try:
            self.poll.register(fd, next(greeting.moves))
            self.greetings[fd] = greeting
            return
        except StopIteration as done:
            peer, sock = done.value
        except OSError as error:  # of a stranger it does not matter
            self._drop(fd)
            if greeting.peer is not None:
                self._try_again(greeting.peer, error)
            return
        self._drop(fd)
        expected = greeting.peer is not None or self.rank < peer < self.size
        if peer in self.found or not expected:
            sock.close()
        else:
            self.found.add(peer)
            self._channels[fd] = self._trusted(peer, sock)
            self.poll.register(fd, _GONE)

    def _try_again(self, peer: int, error: OSError) -> None:
        """Connect to a rank that has hung up once more, in a moment."""
        tries = self._tries[peer] = self._tries.get(peer, 0) + 1
        if not isinstance(error, _HANGS_UP) or tries == _TRIES:
            raise self._not_there(peer, str(error)) from None
        self._refused = f" ({error})"
        self._again[peer] = time.monotonic() + _WAIT * 2 ** (tries - 1)

    def _drop(self, fd: int) -> None:
        if self.greetings.pop(fd, None) is not None:
            self.poll.unregister(fd)

    @property
    def size(self) -> int:
        return len(self.table)

    def _not_there(self, peer: int, why: str) -> RankLost:
        address = text(self.table[peer])
        return RankLost(
            f"rank {self.rank} cannot connect to rank {peer} at {address}: {why}; its process has "
            "died, or the address is not that of this run",
            peer,
            address,
        )


# -- one connection --------------------------------------------------------------------------------


def _introduce(
    sock: socket.socket,
    place: Any,
    rank: int,
    peer: int,
    token: bytes,
    tls: ssl.SSLContext | None,
) -> _Moves:
    """Connect to a rank and prove to it that this is one, and the other way round."""
    try:
        with contextlib.suppress(BlockingIOError):
            sock.connect(place)
        yield select.POLLOUT
        code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            raise OSError(code, os.strerror(code))
        if tls is not None:
            sock = tls.wrap_socket(sock, server_hostname=place[0], do_handshake_on_connect=False)
            yield from _shake_hands(sock)
        nonce = secrets.token_bytes(16)
        yield from _say(sock, framing.hello(token, rank, peer, nonce))
        answer = yield from _hear(sock, framing.WELCOME)
        if not hmac.compare_digest(answer, framing.welcome(token, rank, peer, nonce)):
            raise ConnectionError("it does not know the token of this run")
        return peer, sock
    except BaseException:
        sock.close()
        raise


def _meet(sock: socket.socket, rank: int, token: bytes, tls: ssl.SSLContext | None) -> _Moves:
    """Find out which rank has connected, and prove to it that this is one."""
    try:
        if tls is not None:
            sock = tls.wrap_socket(sock, server_side=True, do_handshake_on_connect=False)
            yield from _shake_hands(sock)
        said = yield from _hear(sock, framing.HELLO)
        known = framing.who(token, said, rank)
        if known is None:
            raise ConnectionError("a stranger")
        peer, nonce = known
        yield from _say(sock, framing.welcome(token, peer, rank, nonce))
        return peer, sock
    except BaseException:
        sock.close()
        raise


def _shake_hands(sock: ssl.SSLSocket) -> Generator[int, None, None]:
    while True:
        try:
            sock.do_handshake()
            return
        except ssl.SSLWantReadError:
            yield select.POLLIN
        except ssl.SSLWantWriteError:
            yield select.POLLOUT


def _say(sock: socket.socket, words: bytes) -> Generator[int, None, None]:
    while words:
        try:
            words = words[sock.send(words) :]
        except (BlockingIOError, ssl.SSLWantWriteError):
            yield select.POLLOUT
        except ssl.SSLWantReadError:
            yield select.POLLIN


def _hear(sock: socket.socket, length: int) -> Generator[int, None, bytes]:
    """So many bytes and none beyond."""
    heard = b""
    while len(heard) < length:
        try:
            part = sock.recv(length - len(heard))
        except (BlockingIOError, ssl.SSLWantReadError):
            yield select.POLLIN
        except ssl.SSLWantWriteError:
            yield select.POLLOUT
        else:
            if not part:
                raise _HungUp("it closed the connection, as to a stranger")
            heard += part
    return heard


def _resolve(host: str, port: int) -> tuple[Any, ...]:
    return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]


def text(address: Address) -> str:
    """As "host:port"."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
