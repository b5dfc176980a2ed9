"""A rank that raises, returns, dies or hangs ends the run on all others, with an error that says so."""

import gc
import os
import pickle
import secrets
import signal
import threading
import time

import numpy as np
import pytest
import rank_cases
from mesh_teams import PATIENCE, Team, Threads

from dask_graphgpu.errors import InvalidArgument, RankLost, RanksAborted
from dask_graphgpu.exchange import framing, mesh
from dask_graphgpu.exchange.mesh import AbortEvent, Listener, Mesh

pytestmark = pytest.mark.timeout(120)


def barriers(ranks):
    while True:
        ranks.barrier()


# -- a rank that says so --------------------------------------------------------------------------


@pytest.fixture(params=[False, True], ids=["plain", "tls"])
def folder(request):
    """Where the certificate is; None: no TLS."""
    return request.getfixturevalue("certificate") if request.param else None


@pytest.mark.parametrize("late", [False, True])
def test_a_rank_that_raises_is_named(late, folder):
    with Team(3, rank_cases.one_raises, late, tls=folder) as team:
        _, error, _ = team.hear(1)
        assert isinstance(error, ZeroDivisionError)
        for rank in (0, 2):
            _, error, _ = team.hear(rank)
            assert type(error) is RanksAborted
            assert str(error) == "rank 1 aborted the run: ZeroDivisionError: here"
            assert error.rank == 1


def test_a_rank_that_raises_before_a_peer_has_seen_it_come_is_named(monkeypatch):
    """Its peer finds a connection that is reset, with the reason in it."""
    set_options = mesh._set_options

    def slowly(sock):
        if threading.current_thread().name == "rank 1":
            time.sleep(0.5)
        set_options(sock)

    def work(ranks):
        if ranks.rank == 0:
            raise ZeroDivisionError("here")
        ranks.barrier()

    monkeypatch.setattr(mesh, "_set_options", slowly)
    first, second = Threads(2, work).join()
    assert isinstance(first, ZeroDivisionError)
    assert type(second) is RanksAborted
    assert str(second) == "rank 0 aborted the run: ZeroDivisionError: here"


@pytest.mark.parametrize("late", [False, True])
def test_a_rank_that_returns_early_is_named(late, folder):
    with Team(3, rank_cases.one_returns, late, tls=folder) as team:
        assert team.hear(1)[:2] == (None, None)
        for rank in (0, 2):
            _, error, _ = team.hear(rank)
            assert type(error) is RanksAborted
            assert "rank 1 returned after 1 steps" in str(error)
            assert error.rank == 1


def test_abort_tells_why_and_for_good():
    def work(ranks):
        if ranks.rank == 0:
            ranks.barrier()
            ranks.abort("no more disk " * 1000)
            ranks.abort("twice")
        with pytest.raises(RanksAborted, match="rank 0 aborted the run: no more disk") as first:
            barriers(ranks)
        with pytest.raises(RanksAborted, match="no more disk") as second:
            ranks.barrier()
        assert second.value.rank == first.value.rank == 0
        assert len(str(first.value)) < 5000
        ranks.close()

    assert Threads(3, work).join() == [None] * 3


@pytest.mark.parametrize("nbytes", [0, 100, 30_000_000])
def test_the_reason_arrives_while_a_peer_sends_or_has_not_read(nbytes):
    """Whatever is under way to the rank that gives up, and whoever comes first."""

    def work(ranks):
        ranks.barrier()
        if ranks.rank == 0:
            time.sleep(0.05)
            ranks.abort("enough")
        else:
            if ranks.rank == 1:
                time.sleep(0.15)  # the connection has been reset before it sends
            ranks.step([np.zeros(nbytes, np.uint8)] * ranks.size, np.zeros(0))

    errors = Threads(3, work).join()
    assert errors[0] is None
    for error in errors[1:]:
        assert str(error) == "rank 0 aborted the run: enough"


def test_ranks_that_are_in_different_steps():
    def work(ranks):
        if ranks.rank == 1:
            ranks.steps = 5
        ranks.barrier()

    errors = Threads(2, work).join()
    assert {type(error) for error in errors} == {RanksAborted}
    assert "rank 1 is in step 5" in str(errors[0]) or "rank 0 is in step 0" in str(errors[0])


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (lambda ranks: ranks.sum(1), lambda ranks: ranks.sum(1.0), "1 scalars of"),
        (
            lambda ranks: ranks.scalars([1]),
            lambda ranks: ranks.scalars([1, 2]),
            "2 scalars of|with 2",
        ),
        (
            lambda ranks: ranks.all_gather(np.zeros(2)),
            lambda ranks: ranks.all_gather(np.zeros(2, "f4")),
            "another dtype",
        ),
    ],
)
def test_ranks_that_call_different_collectives(first, second, words):
    errors = Threads(3, lambda ranks: (second if ranks.rank == 1 else first)(ranks)).join()
    assert {type(error) for error in errors} == {RanksAborted}
    for error in errors:
        assert any(word in str(error) for word in words.split("|"))


# -- a rank that cannot say so --------------------------------------------------------------------


@pytest.mark.parametrize("nbytes", [0, 512, 20_000_000])
def test_a_killed_rank_is_lost_at_once(nbytes, folder):
    with Team(3, rank_cases.for_ever, nbytes, tls=folder) as team:
        time.sleep(0.1)
        killed = team.signal(1, signal.SIGKILL)
        for rank in (0, 2):
            _, error, seen = team.hear(rank)
            assert isinstance(error, RankLost)
            assert (error.rank, error.address) == (1, "{}:{}".format(*team.table[1]))
            assert "rank 1 at 127.0.0.1:" in str(error)
            assert seen - killed < 1


@pytest.mark.parametrize("nbytes", [512, 20_000_000])
def test_a_stopped_rank_is_lost_after_the_idle_timeout(nbytes, folder):
    with Team(3, rank_cases.for_ever, nbytes, idle_timeout=1.0, tls=folder) as team:
        time.sleep(0.1)
        stopped = team.signal(1, signal.SIGSTOP)
        for rank in (0, 2):
            _, error, seen = team.hear(rank)
            assert isinstance(error, RankLost)
            assert error.rank == 1
            assert "silent for 1." in str(error)
            assert 0.9 < seen - stopped < 3
        team.signal(1, signal.SIGCONT)  # it comes back too late, and is told
        _, error, _ = team.hear(1)
        assert isinstance(error, RankLost | RanksAborted)


def test_a_stopped_rank_is_seen_by_checks():
    """As by a rank that waits for its GPU, and takes no steps."""
    with Team(3, rank_cases.checks, idle_timeout=1.0) as team:
        time.sleep(1.5)  # meanwhile all give signs of life
        stopped = team.signal(1, signal.SIGSTOP)
        for rank in (0, 2):
            _, error, seen = team.hear(rank)
            assert isinstance(error, RankLost)
            assert error.rank == 1
            assert "silent for 1." in str(error)
            assert 0.5 < seen - stopped < 3
        team.signal(1, signal.SIGCONT)


def test_a_rank_that_is_lost_between_steps_is_seen_by_a_check():
    def work(ranks):
        ranks.barrier()
        ranks.check()
        ranks.check()
        ranks.barrier()
        if ranks.rank == 0:
            raise ZeroDivisionError
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            ranks.check()
            time.sleep(0.001)

    errors = Threads(3, work).join()
    assert isinstance(errors[0], ZeroDivisionError)
    for error in errors[1:]:
        assert "rank 0 aborted the run: ZeroDivisionError" in str(error)


def test_a_check_leaves_a_message_that_has_come_early():
    def work(ranks):
        for number in range(20):
            if ranks.rank == 0:
                time.sleep(0.005)
                ranks.check()
            data = np.full(100_000, number)
            for got in ranks.all_gather(data):
                assert np.array_equal(got, data)

    assert Threads(2, work).join() == [None, None]


def test_a_message_beyond_the_bound_is_not_sent(monkeypatch):
    monkeypatch.setattr(framing, "MOST_BYTES", 100)

    def work(ranks):
        ranks.barrier()
        ranks.all_gather(np.zeros(100 + (ranks.rank == 0), np.uint8))

    errors = Threads(2, work).join()
    assert isinstance(errors[0], InvalidArgument)
    for error in errors:
        assert "101 bytes from rank 0 to rank 1 in one step; allowed are 100" in str(error)


# -- from outside ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [AbortEvent, threading.Event])
def test_the_event_ends_a_run_that_waits(kind):
    events = [kind() for _ in range(2)]
    times = {}

    def work(ranks):
        ranks.barrier()
        try:
            if ranks.rank == 0:
                ranks.barrier()
            else:
                time.sleep(0.5)
                barriers(ranks)
        finally:
            times[ranks.rank] = time.monotonic()

    team = Threads(2, work, aborted=events)
    time.sleep(0.2)
    begin = time.monotonic()
    events[0].set(*["Ctrl-C"] * (kind is AbortEvent))
    errors = team.join()
    reason = "Ctrl-C" if kind is AbortEvent else "its event is set"
    for error in errors:
        assert type(error) is RanksAborted
        assert str(error) == f"the run was aborted on rank 0: {reason}"
        assert error.rank is None
    assert times[0] - begin < (0.05 if kind is AbortEvent else 0.25)


def test_an_event_that_is_set_before_a_step():
    events = [AbortEvent(), AbortEvent()]

    def work(ranks):
        ranks.barrier()
        if ranks.rank == 0:
            events[0].set()
        barriers(ranks)

    for error in Threads(2, work, aborted=events).join():
        assert str(error) == "the run was aborted on rank 0: the run was cancelled"


def test_a_rank_that_the_event_takes_away_is_lost_to_all():
    events = [AbortEvent(), AbortEvent()]

    def work(ranks):
        ranks.barrier()
        if ranks.rank == 1:
            events[1].set("it is closing", lost=True)
            events[1].set("the run was cancelled")  # too late
        barriers(ranks)

    for error in Threads(2, work, aborted=events).join():
        assert type(error) is RankLost
        assert error.rank == 1
        assert str(error) == "it is closing"


def test_the_event_ends_ranks_that_still_wait_for_others_to_come():
    """Rank 2 listens and does not come; rank 0 is told to stop, and rank 1 hears of it from that."""
    event, token, errors = AbortEvent(), secrets.token_bytes(32), [None] * 2
    listeners = [Listener("127.0.0.1") for _ in range(3)]
    table = [listener.address for listener in listeners]

    def work(rank):
        try:
            Mesh(listeners[rank], rank, table, token, aborted=event if rank == 0 else None)
        except RanksAborted as error:
            errors[rank] = error

    threads = [threading.Thread(target=work, args=(rank,), daemon=True) for rank in range(2)]
    for thread in threads:
        thread.start()
    time.sleep(0.3)
    begin = time.monotonic()
    event.set("Ctrl-C")
    for thread in threads:
        thread.join(PATIENCE)
    assert time.monotonic() - begin < 5
    assert [str(error) for error in errors] == ["the run was aborted on rank 0: Ctrl-C"] * 2
    listeners[2].close()


# -- what stays -----------------------------------------------------------------------------------


def test_nothing_stays_open():
    def work(ranks):
        for _ in range(3):
            ranks.all_gather(np.zeros(3_000_000, np.uint8))
        if ranks.rank == 1:
            raise ZeroDivisionError
        ranks.barrier()

    def held():
        gc.collect()  # errors of other tests hold their frames
        return len(os.listdir("/proc/self/fd")), threading.active_count()

    before = held()
    for _ in range(3):
        Threads(3, work, aborted=[AbortEvent() for _ in range(3)]).join()
        Threads(3, lambda ranks: ranks.barrier()).join()
    deadline = time.monotonic() + PATIENCE
    while held() != before and time.monotonic() < deadline:
        time.sleep(0.01)  # threads that say that a rank is alive see that it is not
    assert held() == before


def test_a_mesh_that_is_closed_takes_no_step():
    def work(ranks):
        ranks.barrier()
        ranks.close()
        ranks.close()
        ranks.abort("too late")
        with pytest.raises(InvalidArgument, match="has closed this mesh"):
            ranks.barrier()

    assert Threads(2, work).join() == [None, None]


def test_errors_travel():
    error = pickle.loads(pickle.dumps(RankLost("gone", 3, "host:1")))
    assert (str(error), error.rank, error.address) == ("gone", 3, "host:1")
    error = pickle.loads(pickle.dumps(RanksAborted("why", 2)))
    assert (str(error), error.rank) == ("why", 2)
