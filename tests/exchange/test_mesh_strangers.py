"""Whoever is no rank of the run is turned away; what a rank sends is believed within bounds only."""

import os
import resource
import secrets
import select
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time

import pytest
from mesh_teams import PATIENCE, Threads, tls_contexts

from dask_graphgpu.errors import InvalidArgument, RankLost, RanksAborted
from dask_graphgpu.exchange import framing
from dask_graphgpu.exchange.mesh import AbortEvent, Listener, Mesh

pytestmark = pytest.mark.timeout(120)
TOKEN = secrets.token_bytes(32)


class Rank0:
    """Rank 0 of two, in a thread, that takes steps until something happens."""

    def __init__(self, **options):
        self.listener = Listener("127.0.0.1")
        self.address = self.listener.address
        self.error = None
        self.steps = 0
        self.thread = threading.Thread(target=self.work, kwargs=options, daemon=True)
        self.thread.start()

    def work(self, **options):
        try:
            with Mesh(self.listener, 0, [self.address, ("127.0.0.1", 1)], TOKEN, **options) as mesh:
                for _ in range(3):
                    assert mesh.sum(1) == 2
                    self.steps += 1
        except BaseException as error:
            self.error = error

    def end(self):
        """How it ended."""
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive(), "rank 0 hangs"
        return self.error

    def true_peer(self, **options):
        """Rank 1 comes, and both take three steps."""
        with (
            Listener("127.0.0.1") as listener,
            Mesh(listener, 1, [self.address, listener.address], TOKEN, **options) as mesh,
        ):
            for _ in range(3):
                assert mesh.sum(1) == 2


def hello(token=TOKEN, rank=1, peer=0):
    return framing.hello(token, rank, peer, b"n" * 16)


STRANGERS = {
    "nothing": b"",
    "a byte": b"G",
    "a web browser": b"GET / HTTP/1.1\r\nHost: here\r\n\r\n" * 10,
    "zeros": bytes(1000),
    "noise": secrets.token_bytes(100_000),
    "half a hello": hello()[:40],
    "another token": hello(secrets.token_bytes(32)),
    "another rank": hello(rank=2),
    "a rank below": hello(rank=0),
    "for another rank": hello(peer=1),
    "another version": b"ggranks0" + hello()[8:],
}


@pytest.mark.parametrize("stays", [False, True])
@pytest.mark.parametrize("said", STRANGERS.values(), ids=STRANGERS)
def test_a_stranger_is_turned_away_and_the_run_goes_on(said, stays):
    rank = Rank0()
    with socket.create_connection(rank.address) as stranger:
        stranger.sendall(said)
        if not stays:
            stranger.close()
        rank.true_peer()
    assert rank.end() is None
    assert rank.steps == 3


@pytest.mark.parametrize(
    "said", [b"", b"G" * 50, secrets.token_bytes(10_000)], ids=["nothing", "letters", "noise"]
)
def test_a_stranger_without_tls(said, certificate):
    contexts = tls_contexts(certificate)
    rank = Rank0(tls=contexts)
    with socket.create_connection(rank.address) as stranger:
        stranger.sendall(said)
        rank.true_peer(tls=contexts)
    assert rank.end() is None


def test_a_stranger_without_a_certificate(certificate):
    contexts = tls_contexts(certificate)
    rank = Rank0(tls=contexts)
    anonymous = ssl.create_default_context(cafile=certificate / "certificate.pem")
    anonymous.check_hostname = False
    with (
        socket.create_connection(rank.address) as plain,
        anonymous.wrap_socket(plain) as stranger,  # it learns only when it reads
        pytest.raises(ssl.SSLError),
    ):
        stranger.recv(framing.WELCOME)
    rank.true_peer(tls=contexts)
    assert rank.end() is None


def test_many_strangers_at_once():
    rank = Rank0()
    strangers = [socket.create_connection(rank.address) for _ in range(100)]
    rank.true_peer()
    assert rank.end() is None
    for stranger in strangers:
        stranger.close()


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (128, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
from dask_graphgpu.exchange.mesh import Listener, Mesh
listener = Listener("127.0.0.1")
print(listener.port, flush=True)
table = [listener.address, ("127.0.0.1", int(sys.argv[1]))]
files = [open("/dev/null") for _ in range(int(sys.argv[2]))]
with Mesh(listener, 0, table, bytes(32)) as mesh:
    print(mesh.sum(1))
"""


@pytest.mark.parametrize("files", [0, 105], ids=["files to spare", "hardly any files"])
def test_a_thousand_strangers(files):
    """They are more than the files that a process may have open, and the run goes on."""
    with Listener("127.0.0.1") as mine:
        arguments = [sys.executable, "-c", LIMITED, str(mine.port), str(files)]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE) as process:
            address = "127.0.0.1", int(process.stdout.readline())
            strangers = []
            for _ in range(1000):
                strangers.append(socket.create_connection(address, timeout=PATIENCE))
                if len(strangers) > 500:  # those that have been turned away keep nothing open here
                    strangers.pop(0).close()
            kept = len(os.listdir(f"/proc/{process.pid}/fd")) if sys.platform == "linux" else 0
            with Mesh(mine, 1, [address, mine.address], bytes(32)) as mesh:
                assert mesh.sum(1) == 2
            assert process.stdout.read() == b"2\n"
            for stranger in strangers:
                stranger.close()
    assert process.returncode == 0
    assert kept < 40 + files


@pytest.mark.parametrize("secure", [False, True])
def test_a_rank_that_was_turned_away_tries_again(certificate, secure):
    """As one that is among too many strangers."""
    contexts = tls_contexts(certificate) if secure else None
    with Listener("127.0.0.1") as crowded, Listener("127.0.0.1") as listener:
        table, found = [crowded.address, listener.address], []

        def work(rank, own):
            with Mesh(own, rank, table, TOKEN, tls=contexts) as mesh:
                found.append(mesh.sum(1))

        turned_away = threading.Thread(target=work, args=(1, listener))
        turned_away.start()
        for _ in range(2):
            select.select([crowded.socket], [], [], PATIENCE)
            crowded.socket.accept()[0].close()
        work(0, crowded)
        turned_away.join(PATIENCE)
    assert found == [2, 2]


def test_a_silent_stranger_is_not_kept(monkeypatch):
    monkeypatch.setattr("dask_graphgpu.exchange.joining._GREETING", 0.1)
    rank = Rank0()
    with socket.create_connection(rank.address, timeout=PATIENCE) as stranger:
        assert stranger.recv(1) == b""
    rank.true_peer()
    assert rank.end() is None


def test_nobody_can_connect_once_all_are_there():
    rank = Rank0()
    rank.true_peer()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(rank.address)
    assert rank.end() is None


def test_a_rank_with_another_token_says_so():
    tokens = [TOKEN, secrets.token_bytes(32)]
    errors = Threads(2, lambda ranks: None, token=tokens, timeout=[0.5, 0.5]).join()
    assert "ranks 1 at 127.0.0.1" in str(errors[0])
    assert "did not come together" in str(errors[0])
    assert "closed the connection, as to a stranger" in str(errors[1])
    assert [error.rank for error in errors] == [1, 0]


def test_an_impostor_at_a_known_address_learns_nothing():
    """Somebody else has the port of rank 0."""
    with socket.create_server(("127.0.0.1", 0)) as impostor, Listener("127.0.0.1") as listener:
        heard = []

        def answer():
            sock, _ = impostor.accept()
            with sock:
                heard.append(sock.recv(framing.HELLO))
                sock.sendall(bytes(framing.WELCOME))

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(RankLost, match="does not know the token") as caught:
            Mesh(listener, 1, [impostor.getsockname(), listener.address], TOKEN)
        thread.join()
    assert caught.value.rank == 0
    assert TOKEN not in heard[0]


# -- a peer that is known but sends what no rank sends --------------------------------------------


def data(step=0, nbytes=0, kind=framing.DATA, scalars=(1,)):
    head = framing.pack(kind, "i", len(scalars), step, nbytes)
    return head + struct.pack(f"<{len(scalars)}q", *scalars)


def broken(offset, value):
    """A good message with some bytes overwritten."""
    good = bytearray(data())
    good[offset : offset + len(value)] = value
    return bytes(good)


GARBLED = {
    "noise": (b"\x99" * 100, "what is no message"),
    "magic": (broken(0, b"GGUP"), "what is no message"),
    "kind": (broken(4, b"\x63"), "what is no message"),
    "type of scalars": (broken(5, b"O"), "what is no message"),
    "2**60 bytes": (data(nbytes=2**60), "beyond any bound"),
    "65535 scalars": (broken(6, b"\xff\xff"), "beyond any bound"),
    "a sign of life of a gigabyte": (data(nbytes=2**30, kind=framing.ALIVE), "beyond any bound"),
    "an endless reason": (data(nbytes=2**20, kind=framing.ABORT), "beyond any bound"),
    "three messages": (data() + data(1) + data(2), "more messages than"),
    "shared memory that nobody has": (data(kind=framing.PIECE), "word of shared memory"),
    "shared bytes beyond bound": (data(kind=framing.SHARED, nbytes=2**60), "beyond any bound"),
    "a piece too long": (
        data(kind=framing.SHARED, nbytes=2**22) + data(2**21, kind=framing.PIECE, scalars=()),
        "word of shared memory",
    ),
    "pieces without a ring": (
        data(kind=framing.SHARED, nbytes=2**22) + data(2**18, kind=framing.PIECE, scalars=()),
        "word of shared memory",
    ),
    "space without a ring": (data(1, kind=framing.FREE, scalars=()), "word of shared memory"),
    "an answer to nothing": (data(1, kind=framing.ANSWER, scalars=()), "word of shared memory"),
    "shared memory twice": (2 * data(kind=framing.SHARED, nbytes=9), "more messages than"),
    "half a header": (data()[:10], "it closed its connection"),
    "half the scalars": (data()[:28], "it closed its connection"),
    "half a payload": (data(nbytes=100) + bytes(50), "it closed its connection"),
    "half a long payload": (data(nbytes=10**6) + bytes(10**5), "it closed its connection"),
    "nothing": (b"", "it closed its connection"),
}


def known_peer(rank):
    """A socket that rank 0 takes for rank 1."""
    sock = socket.create_connection(rank.address)
    sock.sendall(hello())
    said = sock.recv(framing.WELCOME, socket.MSG_WAITALL)
    assert said == framing.welcome(TOKEN, 1, 0, b"n" * 16)
    return sock


@pytest.mark.parametrize(("said", "words"), GARBLED.values(), ids=GARBLED)
def test_what_no_rank_sends(said, words):
    rank = Rank0()
    with known_peer(rank) as sock:
        sock.sendall(said)
        if "closed" in words:
            sock.shutdown(socket.SHUT_WR)
        error = rank.end()
    assert isinstance(error, RankLost)
    assert words in str(error)
    assert error.rank == 1


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (data(step=7), "rank 1 is in step 7 with 1 scalars"),
        (data(scalars=(1, 2)), "with 2 scalars"),
        (data(kind=framing.LEFT, step=3, scalars=()), "rank 1 returned after 3 steps"),
        (data(kind=framing.ABORT, nbytes=5, scalars=()) + b"\xff\xfe\nno", "no"),
        (data(kind=framing.ABORT, scalars=()), "has not said why"),
        (data(kind=framing.ABORT, nbytes=9, scalars=()) + b"no reason", "has not said why"),
        (data() + data(step=2), "rank 1 is in step 2"),
    ],
)
def test_what_a_rank_sends_in_the_wrong_place(said, words):
    rank = Rank0()
    with known_peer(rank) as sock:
        sock.sendall(said)
        error = rank.end()
    assert isinstance(error, RanksAborted)
    assert words in str(error)


@pytest.mark.parametrize("kind", [framing.DATA, framing.SHARED])
def test_more_bytes_than_there_is_memory_for(kind):
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    rank = Rank0()
    resource.setrlimit(resource.RLIMIT_AS, (1 << 35, hard))
    try:
        with known_peer(rank) as sock:
            sock.sendall(data(kind=kind, nbytes=framing.MOST_BYTES))
            error = rank.end()
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    assert isinstance(error, RanksAborted)
    assert "rank 0 has no memory for the 68,719,476,736 bytes that rank 1" in str(error)


def test_messages_byte_by_byte_and_all_at_once():
    rank = Rank0()
    alive = data(kind=framing.ALIVE, scalars=())
    with known_peer(rank) as sock:
        for byte in alive + data():
            sock.sendall(bytes([byte]))
            time.sleep(0.0005)
        assert sock.recv(64, socket.MSG_WAITALL) == data() + data(step=1)
        sock.sendall(alive * 5 + data(step=1) + alive + data(step=2))
        assert rank.end() is None
    assert rank.steps == 3


# -- ranks that do not come -----------------------------------------------------------------------


def test_a_rank_that_does_not_come_is_named():
    begin = time.monotonic()
    rank = Rank0(timeout=0.3)
    error = rank.end()
    assert isinstance(error, RankLost)
    assert "ranks 1 at 127.0.0.1:1 did not come together with rank 0 within 0.3 s" in str(error)
    assert (error.rank, error.address) == (1, "127.0.0.1:1")
    assert time.monotonic() - begin < 5


def test_a_rank_that_is_not_there_is_seen_at_once():
    with Listener("127.0.0.1") as listener, Listener("127.0.0.1") as gone:
        gone.close()
        begin = time.monotonic()
        with pytest.raises(RankLost, match="rank 1 cannot connect to rank 0") as caught:
            Mesh(listener, 1, [gone.address, listener.address], TOKEN)
    assert caught.value.rank == 0
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize("kind", [AbortEvent, threading.Event])
def test_the_event_ends_the_coming_together(kind):
    event = kind()
    rank = Rank0(aborted=event)
    time.sleep(0.1)
    event.set()
    error = rank.end()
    assert isinstance(error, RanksAborted)
    assert "aborted on rank 0" in str(error)


@pytest.mark.parametrize(
    ("rank", "token", "words"),
    [(2, TOKEN, "rank 2 of 1"), (-1, TOKEN, "allowed are 0"), (0, b"short", "token of 5 bytes")],
    ids=["too large", "negative", "token"],  # without the token: test processes have others
)
def test_arguments_that_are_refused(rank, token, words):
    with Listener("127.0.0.1") as listener, pytest.raises(InvalidArgument, match=words):
        Mesh(listener, rank, [listener.address], token)


def test_names_and_the_newer_protocol():
    for host in ("localhost", "::1"):
        try:
            listeners = [Listener(host), Listener(host)]
        except OSError:
            pytest.skip(f"this machine has no interface {host}")
        table = [listener.address for listener in listeners]
        found = []

        def work(rank, listeners=listeners, table=table, found=found):
            with Mesh(listeners[rank], rank, table, TOKEN) as mesh:
                found.append(mesh.sum(1))

        threads = [threading.Thread(target=work, args=(rank,)) for rank in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert found == [2, 2]
