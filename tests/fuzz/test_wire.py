"""Bytes of strangers, and of peers gone mad, at the ports of ranks: a right end, or one clear error in time."""

import contextlib
import os
import pickle
import secrets
import socket
import struct
import threading
import time

import numpy as np
import pytest
from fuzz_children import Wrong, run
from fuzz_damage import KINDS

from dask_graphgpu.errors import RankLost, RanksAborted
from dask_graphgpu.exchange import framing
from dask_graphgpu.exchange.mesh import Listener, Mesh

CASES = 60
JOIN, IDLE, MORE = (
    1.5,
    0.6,
    4.0,
)  # seconds to come together, of silence, and in which an error has to be told
LONG = 1 << 17  # bytes that go through shared memory


class Bomb:
    """Whoever unpickles it makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


def steps(ranks, lengths):
    """A run of a few steps whose answers are known."""
    for number, length in enumerate(lengths):
        sent = [np.full(length, 16 * ranks.rank + j, np.uint8) for j in range(ranks.size)]
        got, scalars = ranks.step(sent, np.array([ranks.rank, number]))
        right = all((got[j] == 16 * j + ranks.rank).all() for j in range(ranks.size))
        if not right or scalars.tolist() != [[j, number] for j in range(ranks.size)]:
            return "wrong values"
    return "right"


class Run:
    """Ranks in threads, how each ended and when."""

    def __init__(self, token, listeners, tables, lengths, size):
        self.ends = [None] * size
        arguments = [(j, token, listeners[j], tables[j], lengths) for j in range(len(listeners))]
        self.threads = [
            threading.Thread(target=self._work, args=each, daemon=True) for each in arguments
        ]

    def _work(self, rank, token, listener, table, lengths):
        began = time.monotonic()
        try:
            with Mesh(listener, rank, table, token, timeout=JOIN, idle_timeout=IDLE) as mesh:
                end = steps(mesh, lengths)
        except (RankLost, RanksAborted) as error:
            end = "an error" if str(error) else "an error without a text"
        except BaseException as error:
            end = f"{type(error).__name__}: {error}"
        self.ends[rank] = end, time.monotonic() - began

    def join(self):
        """How the ranks ended; raises Wrong where one hangs or is late."""
        until = time.monotonic() + JOIN + IDLE + 2 * MORE
        for thread in self.threads:
            thread.join(max(until - time.monotonic(), 0))
        if any(thread.is_alive() for thread in self.threads):
            raise Wrong(f"a rank hangs: {self.ends}")
        ends = [end for end, _ in filter(None, self.ends)]
        late = [seconds for _, seconds in filter(None, self.ends) if seconds > JOIN + IDLE + MORE]
        if late or not set(ends) <= {"right", "an error", "wrong values"}:
            raise Wrong(f"ends {self.ends}")
        return ends


def messages(rng, bomb, lengths):
    """What a rank sends in such a run, and some that it may send between, as bytes of each message."""
    made = []
    for number, length in enumerate(lengths):
        scalars = struct.pack("<2q", 1, number)
        head = framing.pack(framing.DATA, "i", 2, number, length)
        body = bomb[:length].ljust(length, b"\x10") if rng.random() < 0.3 else b"\x10" * length
        made.append(head + scalars + body)
        if rng.random() < 0.4:
            kind = rng.choice([framing.ALIVE, framing.FREE, framing.PIECE, framing.ANSWER])
            step = rng.choice([0, 1, 5, 2**32, 2**64 - 1])
            made.append(framing.pack(kind, step=step))
        if rng.random() < 0.2:
            offer = struct.pack("<ii", os.getpid(), rng.randint(0, 30)) + rng.randbytes(16)
            made.append(framing.pack(framing.OFFER, nbytes=len(offer)) + offer)
        if rng.random() < 0.2:
            made.append(
                framing.pack(framing.SHARED, "i", 2, number, rng.choice([0, 9, LONG, 2**36]))
                + scalars
            )
        if rng.random() < 0.1:
            made.append(framing.pack(framing.ABORT, "i", 2, 0, len(bomb)) + bytes(16) + bomb)
    return [*made, framing.pack(framing.LEFT, step=len(lengths))]


def spoilt(rng, whole):
    """Messages with one left out, twice or elsewhere, or with their bytes damaged."""
    parts = list(whole)
    how, at = rng.random(), rng.randrange(len(parts))
    if how < 0.15:
        parts.pop(at)
    elif how < 0.3:
        parts.insert(rng.randrange(len(parts)), parts[at])
    elif how < 0.4:
        rng.shuffle(parts)
    data = bytearray(b"".join(parts))
    if how > 0.35 and data:
        if rng.random() < 0.5:  # in a head, which says most
            data[rng.randrange(min(framing.HEADER, len(data)))] ^= 1 << rng.randrange(8)
        else:
            rng.choice(KINDS[:-2])(data, rng, b"")
    return bytes(data)


def sent(sock, data, rng):
    """Send in pieces, as far as somebody takes them."""
    with contextlib.suppress(OSError):
        sock.settimeout(JOIN + IDLE + MORE)
        while data:
            length = rng.choice([1, 7, 24, 1000, len(data)])
            sock.sendall(data[:length])
            data = data[length:]
            if rng.random() < 0.05:
                time.sleep(0.002)


def of_strangers(rng, token, bomb, lengths):
    """Some who come to both ranks and know no token: nobody minds."""
    size = rng.choice([2, 3])
    listeners = [Listener("127.0.0.1") for _ in range(size)]
    table = [listener.address for listener in listeners]
    ranks = Run(token, listeners, [table] * size, lengths, size)
    said = [
        lambda: bomb,
        lambda: rng.randbytes(rng.choice([1, 71, 72, 5000])),
        lambda: framing.hello(
            secrets.token_bytes(32), rng.randint(0, 3), rng.randint(0, 3), bytes(16)
        ),
        lambda: spoilt(
            rng, [framing.hello(token, rng.randint(1, 3), 7, bytes(16)), *messages(rng, bomb, [9])]
        ),
        lambda: b"".join(messages(rng, bomb, lengths)),
        lambda: framing.hello(token, 1, 0, bytes(16))[: rng.randrange(framing.HELLO)],
        lambda: b"GET / HTTP/1.1\r\n\r\n",
    ]
    for thread in ranks.threads[: rng.randint(0, size)]:
        thread.start()
    strangers = []
    for _ in range(rng.randint(1, 12)):
        with contextlib.suppress(OSError):  # once all ranks are there nobody is let in
            sock = socket.create_connection(rng.choice(table), timeout=MORE)
            strangers.append(sock)
            sent(sock, rng.choice(said)(), rng)
            if rng.random() < 0.5:
                sock.close()
    for thread in ranks.threads:
        if thread.ident is None:
            thread.start()
    ends = ranks.join()
    for sock in strangers:
        sock.close()
    if set(ends) != {"right"}:
        raise Wrong(f"of strangers: {ends}")
    return "right"


def of_a_peer(rng, token, bomb, lengths):
    """One who knows the token, or has heard its greeting, and then sends what no rank sends."""
    listener, gone = Listener("127.0.0.1"), Listener("127.0.0.1")
    ranks = Run(token, [listener], [[listener.address, gone.address]], lengths, 2)
    ranks.threads[0].start()
    with socket.create_connection(listener.address, timeout=MORE) as sock:
        sock.sendall(framing.hello(token, 1, 0, rng.randbytes(16)))
        with contextlib.suppress(OSError):
            sock.recv(framing.WELCOME, socket.MSG_WAITALL)
        sent(sock, spoilt(rng, messages(rng, bomb, lengths)), rng)
        if rng.random() < 0.5:
            with contextlib.suppress(OSError):
                sock.shutdown(rng.choice([socket.SHUT_WR, socket.SHUT_RDWR]))
        ends = ranks.join()
    gone.close()
    return ends[0]


def of_a_relay(rng, token, bomb, lengths):
    """What two ranks say passes through somebody who damages their greeting, says it again, or cuts them off."""
    listeners = [Listener("127.0.0.1") for _ in range(2)]
    relay = socket.create_server(("127.0.0.1", 0))
    tables = [
        [listeners[0].address, listeners[1].address],
        [relay.getsockname(), listeners[1].address],
    ]
    ranks = Run(token, listeners, tables, lengths, 2)
    backwards, kind = rng.random() < 0.5, rng.choice(["flip", "cut", "more", "again"])
    # Behind the greeting nothing tells the bytes of a rank from others, without TLS.
    greeting = framing.WELCOME if backwards else framing.HELLO
    place = rng.randrange(400 if kind == "cut" else greeting)

    def pass_on(source, target, spoil):
        passed = 0
        with contextlib.suppress(OSError):
            while data := bytearray(source.recv(1 << 16)):
                at = place - passed
                passed += len(data)
                if spoil and 0 <= at < len(data):
                    if kind == "flip":
                        data[at] ^= 1 << rng.randrange(8)
                    elif kind == "more":
                        data[at:at] = rng.randbytes(rng.choice([1, 24, 100]))
                    elif kind == "again":
                        data += data[at:]
                    else:
                        target.sendall(data[:at])
                        break
                target.sendall(data)
        for sock in (source, target):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    opened, threads = [relay], []

    def serve():
        with contextlib.suppress(OSError):
            while True:
                one = relay.accept()[0]
                opened.append(one)
                other = socket.create_connection(listeners[0].address)
                opened.append(other)
                for ends in ((one, other, not backwards), (other, one, backwards)):
                    thread = threading.Thread(target=pass_on, args=ends, daemon=True)
                    threads.append(thread)
                    thread.start()

    server = threading.Thread(target=serve, daemon=True)
    server.start()
    for thread in ranks.threads:
        thread.start()
    try:
        ends = ranks.join()
    except Wrong as error:
        raise Wrong(f"{error}: {kind} at {place}, backwards {backwards}, {lengths}") from error
    relay.shutdown(socket.SHUT_RDWR)
    server.join(MORE)
    for thread in threads:
        thread.join(MORE)
    for sock in opened:
        sock.close()
    return "both right" if set(ends) == {"right"} else "not both right"


def case(rng, folder, _):
    marker = folder / "unpickled"
    bomb = pickle.dumps(Bomb(str(marker)))
    lengths = [rng.choice([0, 1, len(bomb), 3000, LONG]) for _ in range(rng.randint(1, 4))]
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    kind = rng.choice([of_strangers, of_a_peer, of_a_relay])
    found = kind(rng, secrets.token_bytes(32), bomb, lengths)
    if marker.exists():
        raise Wrong(f"{kind.__name__}: it was unpickled")
    until = time.monotonic() + MORE
    while before and len(os.listdir("/proc/self/fd")) > before:
        if time.monotonic() > until:
            raise Wrong(
                f"{kind.__name__}: {len(os.listdir('/proc/self/fd'))} descriptors, {before} before"
            )
        time.sleep(0.01)
    return f"{kind.__name__}: {found}"


def test_the_bomb(tmp_path):
    """It is one."""
    pickle.loads(pickle.dumps(Bomb(str(tmp_path / "made")))).close()
    assert (tmp_path / "made").exists()


@pytest.mark.timeout(0)
def test_wire(fuzz_cases, tmp_path):
    counts = run(case, fuzz_cases, tmp_path)
    assert counts["of_strangers: right"] > fuzz_cases / 10
    assert counts["of_a_peer: an error"] > fuzz_cases / 10
    assert counts["of_a_relay: not both right"] > fuzz_cases / 10
