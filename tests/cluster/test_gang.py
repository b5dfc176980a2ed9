"""Runs of ranks on a cluster: where they start, that they do not mix, what is left of them."""

import time
from itertools import pairwise

import cluster_cases as cases
import numpy as np
import pytest
from distributed import Client, wait

from dask_graphgpu import errors
from dask_graphgpu.cluster.holdings import held

WORKERS = 3


@pytest.fixture
def workers(client):
    return cases.addresses(client)


@pytest.fixture(autouse=True)
def nothing_is_left(client):
    yield
    until = time.monotonic() + 10
    while time.monotonic() < until:
        left = client.run_on_scheduler(cases.lock_state), sum(client.run(held).values())
        if left == ([], 0):
            return
        time.sleep(0.1)
    raise AssertionError(left)


def run(client, *arguments, **options):
    return client.submit(cases.led, *arguments, pure=False, **options)


def test_each_rank_runs_on_its_worker(client, workers):
    for chosen in (workers, workers[1:], workers[::-1], workers[:1]):
        found = run(client, chosen, cases.where).result(30)
        assert found == [(rank, worker) for rank, worker in enumerate(chosen)]


def test_on_all_workers_or_so_many(client, workers):
    assert run(client, None, cases.where).result(30) == list(enumerate(workers))
    found = run(client, 2, cases.where, workers=[workers[2]]).result(30)
    assert len(found) == 2
    assert workers[2] in dict(found).values(), "the task that leads was on another worker"


def hush(quiet):
    """Have ranks not tell who leads what they return, or tell it again."""
    from dask_graphgpu.cluster import rank

    tell = rank.__dict__.setdefault("_of_tests", rank._tell)
    rank._tell = (lambda *_: None) if quiet else tell


def test_a_rank_that_is_not_heard(client, workers):
    # Its connection may break just then: Dask says what it returned.
    client.run(hush, True)
    try:
        assert run(client, workers, cases.where).result(30) == list(enumerate(workers))
    finally:
        client.run(hush, False)


def lose_an_answer():
    """Have the next question by which workers are given back fail, as where the scheduler is busy."""
    from dask_graphgpu.cluster import gang, on_scheduler

    asked = gang.ask_scheduler

    async def ask(worker, function, *given):
        if function is on_scheduler.free_lock:
            gang.ask_scheduler = asked
            raise OSError("no answer")
        return await asked(worker, function, *given)

    gang.ask_scheduler = ask


def is_asked():
    """Whether the question that fails was asked."""
    from dask_graphgpu.cluster import calls, gang

    return gang.ask_scheduler is calls.ask_scheduler


def test_workers_are_given_back_though_an_answer_gets_lost(client, workers):
    # `nothing_is_left` sees that they are.
    client.run(lose_an_answer, workers=[workers[0]])
    assert run(client, workers, cases.where, workers=[workers[0]]).result(30)
    until = time.monotonic() + 10
    while not client.run(is_asked, workers=[workers[0]])[workers[0]]:
        assert time.monotonic() < until
        time.sleep(0.05)


def test_more_ranks_than_workers(client):
    with pytest.raises(errors.InvalidArgument, match=r"ranks=4, and the cluster has 3 workers"):
        run(client, 4, cases.where).result(30)


def test_on_the_right_workers_when_they_are_busy(client, workers):
    # Each worker has one thread, and a queue of tasks that may go anywhere.
    busy = client.map(time.sleep, [0.05] * 60, pure=False)
    pinned = client.map(time.sleep, [0.3] * 5, workers=[workers[0]], pure=False)
    for _ in range(4):
        assert run(client, workers, cases.where).result(30) == list(enumerate(workers))
    wait([*busy, *pinned])


def test_runs_do_not_mix(client, workers):
    # Of two clients, with different workers in common.
    with Client(client.scheduler.address, set_as_default=False) as other:
        chosen = [workers, workers[:2], workers[1:], (workers[2], workers[0])] * 2
        futures = [
            run(each, some, cases.alone, (0.05,)) for some in chosen for each in (client, other)
        ]
        spans = [span for future in futures for span in future.result(60)]
    for pid in {pid for pid, _, _ in spans}:
        own = sorted((start, end) for p, start, end in spans if p == pid)
        for (_, end), (start, _) in pairwise(own):
            assert end <= start


def test_many_runs_at_once_on_one_worker(client, workers):
    futures = [
        run(client, workers[:2], cases.steps, (20,), workers=[workers[0]]) for _ in range(12)
    ]
    for micros in client.gather(futures):  # the steps themselves see that no other run took one
        assert len(micros) == 2
        assert min(micros) > 0


@pytest.mark.parametrize("who", [0, 2])
@pytest.mark.parametrize(
    "error", [ValueError("of the user"), MemoryError("no room"), errors.IntegerOverflow("2**63")]
)
@pytest.mark.parametrize("how", [cases.fails, cases.fails_last])
def test_the_error_of_a_rank_is_raised(client, workers, who, error, how):
    start = time.monotonic()
    with pytest.raises(type(error), match=str(error).replace("*", r"\*")) as caught:
        run(client, workers, how, (who, error)).result(30)
    assert time.monotonic() - start < 5
    assert f"raised by rank {who} on worker {workers[who]}" in caught.value.__notes__
    assert run(client, workers, cases.where).result(30) == list(enumerate(workers))


def test_a_rank_that_computes_for_long_is_not_lost(client, workers):
    assert run(client, workers, cases.stuck, (1,), 1.0).result(30) == [0, 1, 2]


def test_a_rank_is_not_run_again_by_itself(client, workers):
    # As Dask does it with a task whose result is lost.
    from dask_graphgpu.cluster.rank import Meeting, run_rank

    meeting = Meeting("0" * 32, "k", workers[0], workers, (("127.0.0.1", 1),) * 3, 5, 5, b"1" * 32)
    with pytest.raises(errors.RanksAborted, match="no part in a run"):
        client.submit(run_rank, meeting, 0, cases.where, pure=False).result(30)


def test_tasks_are_named(client, workers):
    future = run(client, workers, cases.alone, (0.5,))
    until = time.monotonic() + 10
    while time.monotonic() < until:
        names = [n for n in client.run_on_scheduler(cases.task_names) if n.startswith("toy-rank-")]
        if len(names) == 3:
            break
    assert sorted(n.split("-")[2] for n in names) == ["0", "1", "2"]
    future.result(30)


def test_a_superstep(client, workers):
    found = run(client, workers[:2], cases.steps, (2000,)).result(60)
    assert (
        np.max(found) < 5000
    )  # microseconds, on a busy machine; through Dask's tasks it is 40,000
