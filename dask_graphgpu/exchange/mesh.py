"""Ranks in different processes: a connection between every two, and one message on each a step."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import time
from collections.abc import Sequence

import numpy as np

from dask_graphgpu.errors import InvalidArgument, RankLost, RanksAborted
from dask_graphgpu.exchange import framing
from dask_graphgpu.exchange.aborting import AbortEvent
from dask_graphgpu.exchange.channel import Channel
from dask_graphgpu.exchange.joining import Address, Listener, Rendezvous, Tls, connect_all, text
from dask_graphgpu.exchange.ranks import Ranks, check, described
from dask_graphgpu.exchange.tls_channel import TlsChannel

__all__ = ["AbortEvent", "Listener", "Mesh"]

_LAST_WORDS = 0.5  # seconds that an error has to reach the peers before connections are reset
_LAST_BYTES = 5.0  # the same of messages when a rank is done
_BEATS = 4  # signs of life in the time after which a silent peer is lost
_PLAIN_EVENT = 0.1  # seconds between two looks at an event that wakes nobody
_KEEPALIVE = {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 4}


class Mesh(Ranks):
    """`Ranks` over TCP; made by all ranks at once, it returns when every two are connected.

    A small message is one system call to send and one to receive, in the thread that takes the
    step. A peer that dies is seen when its system closes the connection. A peer that is stopped is
    silent: a rank that computes says all the while, from a thread of its own, that it is alive. An
    error on one rank reaches the others at once, as does the local ``aborted`` event. After an
    error a mesh is of no further use.

    Parameters
    ----------
    listener : Listener
        Opened before ``table`` was put together; closed by this.
    rank : int
    table : sequence of (host, port)
        Where the listeners of all ranks are.
    token : bytes
        A secret of this run, known to its ranks only: ``secrets.token_bytes(32)``. Who connects
        without it is turned away. It does not travel.
    timeout : float
        Seconds for the ranks to come together.
    idle_timeout : float, optional
        Seconds after which a peer that sends nothing while it is waited for is lost. It has to be
        longer than any time for which a rank holds the interpreter (GIL). None: wait for ever.
    tls : pair of ssl.SSLContext, optional
        For connections made and for those accepted. They decide which certificates are good.
    aborted : threading.Event, optional
        Ends the run here when it is set: an `AbortEvent` at once and with its reason, any other
        within a tenth of a second.
    shared_memory : bool
        Long messages to ranks of the same host go through memory that both see, where the system
        has it (Linux) and lets them: 4 MB for each of the two directions, from the first one on.

    Attributes
    ----------
    steps : int
        Taken so far.
    shared_bytes : int
        Sent through shared memory so far.

    Raises
    ------
    RankLost
        A rank cannot be reached, or is not there in time.
    RanksAborted
        The event is set.
    """

    def __init__(
        self,
        listener: Listener,
        rank: int,
        table: Sequence[Address],
        token: bytes,
        *,
        timeout: float = 30.0,
        idle_timeout: float | None = 60.0,
        tls: Tls | None = None,
        aborted: threading.Event | None = None,
        shared_memory: bool = True,
    ) -> None:
        if not 0 <= rank < len(table):
            raise InvalidArgument(f"rank {rank} of {len(table)}; allowed are 0 to size - 1")
        if len(token) < 16:
            raise InvalidArgument(
                f"a token of {len(token)} bytes; give secrets.token_bytes(32), the same to all"
            )
        self.rank, self.size = rank, len(table)
        self.steps = 0
        self._aborted, self._address = aborted, text(table[rank])
        self._failure: bytes | None = None  # as peers have been told of it
        self._closed = threading.Event()
        self._busy = threading.Lock()  # held by who uses the channels
        self.idle_timeout = idle_timeout
        self._tick = _least(
            None if idle_timeout is None else idle_timeout / _BEATS,
            None if aborted is None or isinstance(aborted, AbortEvent) else _PLAIN_EVENT,
        )
        self._next_beat = time.monotonic() + timeout
        self._waker, self._wake = socket.socketpair()
        self._channels: dict[int, Channel] = {}  # by socket
        self._order: list[Channel] = []  # by rank
        self._poll = select.poll()
        self._poll.register(self._waker, select.POLLIN)
        for each in (self._waker, self._wake):
            each.setblocking(False)
        if isinstance(aborted, AbortEvent):
            aborted.wake(self._wake)
        self._meet(Rendezvous(listener, rank, table, token, timeout, tls), shared_memory)
        self._made = time.monotonic()
        for fd in self._channels:
            self._poll.register(fd, select.POLLIN)
        if self._order and idle_timeout is not None:
            self._next_beat = time.monotonic() + idle_timeout / _BEATS
            arguments = self._closed, idle_timeout / _BEATS
            threading.Thread(
                target=self._live, args=arguments, name="graph-alive", daemon=True
            ).start()

    def _meet(self, meeting: Rendezvous, shared_memory: bool) -> None:
        """Connect to all peers, and close the listener."""
        kind = Channel if meeting.tls is None else TlsChannel

        def trusted(peer: int, sock: socket.socket) -> Channel:
            _set_options(sock)
            where = text(meeting.table[peer])
            channel = kind(sock, peer, self.rank, where, shared=shared_memory)
            self._channels[channel.fd] = channel
            self._order = sorted(self._channels.values(), key=lambda channel: channel.rank)
            return channel

        try:
            self._look_at_event()
            connect_all(meeting, self._waker, self._look_at_event, self._tick, trusted)
        except BaseException as error:
            self._tear(error)
            raise
        finally:
            meeting.listener.close()

    @property
    def shared_bytes(self) -> int:
        """Bytes sent through shared memory so far."""
        return sum(channel.shared_bytes for channel in self._order)

    # -- steps --------------------------------------------------------------------------------

    def step(
        self, send: Sequence[np.ndarray | None], scalars: np.ndarray
    ) -> tuple[list[np.ndarray], np.ndarray]:
        given = check(self.size, send, scalars)
        with self._busy:
            self._check()
            try:
                self._look_at_event()
                return self._step(given, scalars)
            except BaseException as error:
                self._tear(error)
                raise

    step.__doc__ = Ranks.step.__doc__

    def check(self) -> None:
        with self._busy:
            self._check()
            try:
                self._look_at_event()
                for fd, _ in self._poll.poll(0):
                    self._advance(fd)
                self._look_at_silence()
            except BaseException as error:
                self._tear(error)
                raise

    check.__doc__ = Ranks.check.__doc__

    def _step(
        self, given: list[np.ndarray], scalars: np.ndarray
    ) -> tuple[list[np.ndarray], np.ndarray]:
        kind, count, own = scalars.dtype.kind, len(scalars), scalars.tobytes()
        for channel in self._order:
            channel.post(self.steps, kind, count, own, given[channel.rank])
        waited = {channel for channel in self._order if self._is_waited_for(channel)}
        if waited:
            self._wait(waited)
        received, every = given, [own] * self.size
        for channel in self._order:
            _, every[channel.rank], received[channel.rank] = channel.take(self.steps, kind, count)
        self.steps += 1
        values = np.frombuffer(bytearray().join(every), scalars.dtype)
        return received, values.reshape(self.size, count)

    def _wait(self, waited: set[Channel]) -> None:
        """Send and receive until these channels are done."""
        since = time.monotonic()
        tick = None if self._tick is None else 1000 * self._tick
        while True:
            began = time.perf_counter()
            events = self._poll.poll(tick)
            self.waited += time.perf_counter() - began
            for fd, _ in events:
                channel = self._advance(fd)
                if not self._is_waited_for(channel):
                    waited.discard(channel)
            if not waited:
                return
            if tick is not None:
                now = time.monotonic()
                if not events or now >= self._next_beat:
                    self._time_passes(now, since, waited)

    def _is_waited_for(self, channel: Channel) -> bool:
        """Whether the step's message to or from a peer is still under way."""
        if channel.blocked:
            self._poll.register(channel.fd, select.POLLIN | select.POLLOUT)
        if channel.sending:
            return True
        if channel.left and not channel.messages:
            raise channel.returned()
        return not channel.messages

    def _advance(self, fd: int) -> Channel:
        """Send and receive on a socket what can be sent and received now."""
        channel = self._channels.get(fd)
        if channel is None:
            self._look_at_event()
            raise AssertionError("woken without an event")
        was_blocked = channel.blocked
        channel.receive()
        if channel.sending:
            channel.flush()
        if was_blocked and not channel.blocked:
            self._poll.register(fd, select.POLLIN)
        if channel.left:
            self._poll.unregister(fd)  # all that may come is its end
        return channel

    # -- signs of life ------------------------------------------------------------------------

    def _live(self, closed: threading.Event, every: float) -> None:
        """Tell the peers that this rank computes; runs in a thread of its own."""
        while not closed.wait(every):
            if self._busy.acquire(blocking=False):  # a step does it by itself
                try:
                    self._beat(time.monotonic())
                finally:
                    self._busy.release()

    def _beat(self, now: float) -> None:
        if self.idle_timeout is None or self._closed.is_set():
            return
        self._next_beat = now + self.idle_timeout / _BEATS
        for channel in self._order:
            if not channel.blocked and not channel.left:
                channel.send(framing.pack(framing.ALIVE))

    def _time_passes(self, now: float, since: float, waited: set[Channel]) -> None:
        """Give a sign of life; miss those of the peers that are waited for since then."""
        self._look_at_event()
        if self.idle_timeout is None:
            return
        if now >= self._next_beat:
            self._beat(now)
        for channel in waited:
            silent = now - max(channel.heard, since)
            if silent > self.idle_timeout:
                raise channel.lost(f"it has been silent for {silent:.1f} s")

    def _look_at_silence(self) -> None:
        """Raise when a peer that has not left has given no sign of life for too long."""
        if self.idle_timeout is None:
            return
        now = time.monotonic()
        for channel in self._order:
            silent = now - max(channel.heard, self._made)
            if not channel.left and silent > self.idle_timeout:
                raise channel.lost(f"it has been silent for {silent:.1f} s")

    # -- the end ------------------------------------------------------------------------------

    def abort(self, reason: str) -> None:
        with self._busy:
            if not self._closed.is_set():
                self._tear(self._aborting(reason))

    abort.__doc__ = Ranks.abort.__doc__

    def close(self) -> None:
        with self._busy:
            if self._closed.is_set():
                return
            words = framing.pack(framing.LEFT, step=self.steps)
            try:
                self._say(words, self._order, _LAST_BYTES)
                for channel in self._order:
                    with contextlib.suppress(RankLost, RanksAborted):
                        channel.receive()  # what nobody has read would make the system reset it
            finally:
                self._end(reset=False)

    close.__doc__ = Ranks.close.__doc__

    def _check(self) -> None:
        if self._failure is not None:
            raise framing.again(self._failure)
        if self._closed.is_set():
            raise InvalidArgument(f"rank {self.rank} has closed this mesh; make another one")

    def _aborting(self, reason: str) -> RanksAborted:
        return RanksAborted(f"rank {self.rank} aborted the run: {reason}", self.rank)

    def _look_at_event(self) -> None:
        if self._aborted is not None and self._aborted.is_set():
            reason = getattr(self._aborted, "reason", "its event is set")
            if getattr(self._aborted, "lost", False):
                raise RankLost(reason, self.rank, self._address)
            raise RanksAborted(f"the run was aborted on rank {self.rank}: {reason}")

    def _tear(self, error: BaseException) -> None:
        """Tell all peers why the run is over, and go."""
        if not isinstance(error, RankLost | RanksAborted):
            error = self._aborting(described(error))
        self._failure = framing.last_words(error)
        gone = error.rank if isinstance(error, RankLost) else None
        told = [channel for channel in self._order if channel.rank != gone]
        try:
            self._say(self._failure, told, _LAST_WORDS)
        finally:
            self._end(reset=True)

    def _say(self, words: bytes, to: list[Channel], seconds: float) -> None:
        """Send the last message, and wait until it is on its way."""
        until = time.monotonic() + seconds
        for channel in to:
            channel.send(words)
        while any(each.blocked or each.unsent() for each in to):
            if time.monotonic() > until:
                return
            time.sleep(0.001)
            for channel in to:
                channel.flush()

    def _end(self, *, reset: bool) -> None:
        self._closed.set()
        if isinstance(self._aborted, AbortEvent):
            self._aborted.forget(self._wake)
        for channel in self._order:
            channel.close(reset=reset)
        self._waker.close()
        self._wake.close()


def _least(*values: float | None) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _set_options(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):  # the peer has gone already: why, is read later
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _KEEPALIVE.items():
            if hasattr(socket, name):  # the default is two hours, where it cannot be set
                sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
