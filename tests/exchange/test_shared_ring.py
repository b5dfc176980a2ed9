"""Memory that ranks of one host share: when it is used, and what is refused."""

import fcntl
import os

import numpy as np
import pytest
import rank_cases
from mesh_teams import Team, Threads

from dask_graphgpu.exchange.shared_ring import (
    AVAILABLE,
    LEAST,
    OFFER,
    PIECE,
    RING,
    Inbox,
    Outbox,
    Rings,
)

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(not AVAILABLE, reason="this system cannot share memory without a name"),
]


@pytest.mark.parametrize("tls", [False, True])
def test_long_messages_between_processes(tls, request):
    folder = request.getfixturevalue("certificate") if tls else None
    with Team(3, rank_cases.long_messages, LEAST, tls=folder) as team:
        assert team.values() == [2 * (LEAST + 5_000_001 + RING + 20_000_000)] * 3


@pytest.mark.parametrize("allowed", [[True, False, True], [False] * 3])
def test_it_can_be_declined(allowed):
    def work(ranks):
        for _ in range(3):
            data = np.full(2 * LEAST, ranks.rank, np.uint8)
            for j, got in enumerate(ranks.all_gather(data)):
                assert (got == j).all()
                assert len(got) == 2 * LEAST
            ranks.barrier()  # an answer to the offer is here now
        return ranks.shared_bytes

    team = Threads(3, work, shared_memory=allowed)
    assert team.join() == [None] * 3
    both = 2 * 2 * LEAST if any(allowed) else 0  # the first message goes by the socket
    assert team.values == [both, 0, both]


def opened():
    """Both ends of a ring."""
    outbox = Outbox()
    inbox = Inbox.of_offer(outbox.offer())
    assert inbox is not None
    assert outbox.answered(True)
    assert outbox.ready
    return outbox, inbox


def test_bytes_go_round_the_ring():
    outbox, inbox = opened()
    random = np.random.default_rng(0)
    bytes_ = random.integers(0, 256, 4 * PIECE, np.uint8)
    sent, got, under_way = [], [], []
    for _ in range(500):
        if random.random() < 0.5:
            data = bytes_[int(random.integers(0, 2 * PIECE)) :][
                : int(random.integers(1, 2 * PIECE))
            ]
            count = outbox.put(data)
            assert count <= PIECE
            sent.append(data[:count])
            under_way += [count] * (count > 0)
        elif under_way:
            into = np.empty(under_way.pop(0), np.uint8)
            inbox.take(into)
            got.append(into)
            assert outbox.freed(len(into))
        assert sum(under_way) <= RING
    for count in under_way:
        into = np.empty(count, np.uint8)
        inbox.take(into)
        got.append(into)
    assert sum(map(len, got)) > 10 * RING
    assert np.array_equal(np.concatenate(sent), np.concatenate(got))


def test_a_full_ring_takes_no_more():
    outbox, _ = opened()
    data = np.zeros(2 * RING, np.uint8)
    assert [outbox.put(data) for _ in range(6)] == [PIECE] * 4 + [0, 0]
    assert outbox.freed(10)
    assert outbox.put(data) == 10
    assert not outbox.freed(RING + 1)


def altered(offer, offset):
    return offer[:offset] + bytes([offer[offset] ^ 1]) + offer[offset + 1 :]


@pytest.mark.parametrize("offset", [16, OFFER - 1])
def test_another_secret_is_refused(offset):
    """As in a process of the same number on another host."""
    outbox = Outbox()
    assert Inbox.of_offer(altered(outbox.offer(), offset)) is None
    assert outbox.answered(False)
    assert not outbox.ready
    assert not outbox.answered(True)


@pytest.mark.parametrize("offer", [b"", b"x", bytes(OFFER - 1), bytes(OFFER), b"\xff" * OFFER])
def test_what_is_no_offer_is_refused(offer):
    assert Inbox.of_offer(offer) is None


@pytest.mark.parametrize("size", [RING // 2, 2 * RING])
@pytest.mark.parametrize("sealed", [False, True])
def test_memory_that_could_shrink_or_is_of_another_size_is_refused(sealed, size):
    outbox = Outbox()
    fd = os.memfd_create("test", os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, RING if not sealed else size)
    os.pwrite(fd, outbox.offer()[-16:], 0)
    if sealed:
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
    offer = os.getpid().to_bytes(8, "little") + fd.to_bytes(8, "little") + outbox.offer()[-16:]
    assert Inbox.of_offer(offer) is None
    os.close(fd)
    outbox.close()


def test_word_of_pieces_is_believed_within_bounds():
    rings = Rings()
    assert not rings.take(1)
    assert not rings.freed(1)
    assert not rings.answered(True)
    outbox = Outbox()
    assert rings.offered(outbox.offer())
    assert not rings.take(1)  # no message has begun
    rings.receive(np.empty(2 * PIECE, np.uint8))
    for count in (0, PIECE + 1, 2**40):
        assert not rings.take(count)
    assert rings.take(PIECE)
    assert rings.take(PIECE - 1)
    assert not rings.take(2)
    outbox.close()
