"""Ranks as threads: collectives, and that nobody hangs when one of them goes."""

import threading
import time

import numpy as np
import pytest
from rank_cases import COLLECTIVES

from dask_graphgpu.errors import InvalidArgument, RanksAborted
from dask_graphgpu.exchange.local import run_local

pytestmark = pytest.mark.timeout(60)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("case", COLLECTIVES, ids=lambda case: case.__name__)
def test_collectives(case, size):
    run_local(size, lambda ranks: case(ranks, seed=size))


def test_results_are_in_order_of_ranks():
    assert run_local(4, lambda ranks: (ranks.rank, ranks.size)) == [(j, 4) for j in range(4)]


@pytest.mark.parametrize("size", [0, -1, True, 1.0, None])
def test_sizes_that_are_refused(size):
    with pytest.raises(InvalidArgument, match="allowed are positive integers"):
        run_local(size, lambda ranks: None)


def test_many_steps_of_ranks_that_come_late_by_turns():
    def work(ranks):
        random = np.random.default_rng(ranks.rank)
        for number in range(300):
            if random.random() < 0.02:
                time.sleep(0.001)
            every = ranks.scalars([number, ranks.rank])
            assert every.tolist() == [[number, j] for j in range(ranks.size)]

    run_local(5, work)


# -- failure ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("late", [False, True])
def test_the_first_cause_is_raised_and_names_the_rank(late):
    seen = {}

    def work(ranks):
        ranks.barrier()
        if ranks.rank == 1:
            if late:
                time.sleep(0.05)  # the others wait in their step
            raise ZeroDivisionError("here")
        if not late:
            time.sleep(0.05)
        try:
            ranks.barrier()
        except RanksAborted as error:
            seen[ranks.rank] = error
            raise

    with pytest.raises(ZeroDivisionError, match="here") as caught:
        run_local(4, work)
    assert caught.value.__notes__ == ["raised by rank 1 of 4"]
    assert sorted(seen) == [0, 2, 3]
    for error in seen.values():
        assert str(error) == "rank 1 aborted the run: ZeroDivisionError: here"
        assert error.rank == 1


@pytest.mark.parametrize("late", [False, True])
def test_a_rank_that_returns_early_is_named(late):
    def work(ranks):
        ranks.barrier()
        if (ranks.rank == 2) == late:
            time.sleep(0.05)
        if ranks.rank != 2:
            ranks.barrier()

    with pytest.raises(RanksAborted, match="rank 2 returned after 1 steps") as caught:
        run_local(3, work)
    assert caught.value.rank == 2


def test_abort_tells_why():
    def work(ranks):
        if ranks.rank == 0:
            ranks.abort("no more disk")
            return "gave up"
        with pytest.raises(RanksAborted, match="rank 0 aborted the run: no more disk"):
            ranks.barrier()
        with pytest.raises(RanksAborted, match="no more disk"):
            ranks.barrier()  # for good
        return "told"

    assert run_local(3, work) == ["gave up", "told", "told"]


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (lambda ranks: ranks.sum(1), lambda ranks: ranks.sum(1.0), "1 scalars of"),
        (lambda ranks: ranks.scalars([1]), lambda ranks: ranks.scalars([1, 2]), "1 of int64"),
        (
            lambda ranks: ranks.all_gather(np.zeros(2)),
            lambda ranks: ranks.all_gather(np.zeros(2, "f4")),
            "another dtype",
        ),
        (
            lambda ranks: ranks.all_gather(np.zeros(2)),
            lambda ranks: ranks.all_to_all([np.zeros(2)] * 3),
            "another collective",
        ),
    ],
)
def test_ranks_that_call_different_collectives(first, second, words):
    with pytest.raises(RanksAborted, match=words):
        run_local(3, lambda ranks: (second if ranks.rank == 1 else first)(ranks))


def test_a_rank_that_cannot_be_stopped_by_an_exception_is_one():
    def work(ranks):
        if ranks.rank == 1:
            raise SystemExit(3)
        ranks.barrier()

    with pytest.raises(SystemExit):
        run_local(2, work)


def test_no_thread_stays():
    before = threading.active_count()
    with pytest.raises(RanksAborted):
        run_local(5, lambda ranks: ranks.rank or ranks.barrier())
    assert threading.active_count() == before


def test_what_ranks_see_of_the_caller_are_its_settings():
    with np.errstate(divide="raise"):
        found = run_local(2, lambda ranks: np.geterr()["divide"])
    assert found == ["raise", "raise"]
