"""Connections that are used again: by all ranks or by none."""

from dask_graphgpu.exchange.idle import Idle, Party, new_name
from dask_graphgpu.exchange.local import run_local


class Connection:
    """One that knows whether it was ended."""

    ended = False

    def abort(self):
        self.ended = True


def taken(idle, size):
    """What each rank takes: names."""

    def work(ranks):
        found = idle.take(Party(ranks.rank, size, ranks.rank), ranks)
        return None if found is None else found[0]

    return run_local(size, work)


def given(idle, size, name, ranks=None):
    made = [Connection() for _ in range(size)]
    for rank in range(size) if ranks is None else ranks:
        idle.give(Party(rank, size, rank), name, made[rank])
    return made


def test_all_ranks_take_the_same_once():
    idle, names = Idle(most=2), [new_name(), new_name()]
    given(idle, 3, names[0])
    given(idle, 3, names[1])
    assert [taken(idle, 3) for _ in range(3)] == [[names[0]] * 3, [names[1]] * 3, [None] * 3]


def test_what_one_rank_lacks_nobody_takes():
    idle, name, other = Idle(most=2), new_name(), new_name()
    given(idle, 2, name, ranks=[0])
    assert taken(idle, 2) == [None, None]
    given(idle, 2, other)  # of rank 0 there is an older one before
    assert taken(idle, 2) == [other, other]


def test_of_another_number_of_ranks_they_are_others():
    idle, name = Idle(most=2), new_name()
    given(idle, 2, name)
    assert taken(idle, 1) == [None]
    assert taken(idle, 2) == [name, name]


def test_the_oldest_one_is_ended():
    idle = Idle(most=1)
    old, new = given(idle, 2, new_name()), given(idle, 2, new_name())
    idle.tidy()
    assert [each.ended for each in (*old, *new)] == [True, True, False, False]


def test_none_is_ended_by_who_gives_one():
    """It may be what collects garbage in the middle of a call; who takes one ends those left."""
    idle = Idle(most=1)
    old, _ = given(idle, 2, new_name()), given(idle, 2, new_name())
    assert not any(each.ended for each in old)
    taken(idle, 2)
    assert all(each.ended for each in old)


def test_at_the_end_all_are_ended():
    idle, name = Idle(most=2), new_name()
    made = given(idle, 2, name)
    idle.end()
    made += given(idle, 2, new_name())
    assert all(each.ended for each in made)
    assert taken(idle, 2) == [None, None]


def test_where_memory_is_short_all_go_and_later_ones_are_kept():
    idle, name = Idle(most=2), new_name()
    made = given(idle, 2, new_name())
    assert idle.drop()
    assert not idle.drop()
    assert all(each.ended for each in made)
    given(idle, 2, name)
    assert taken(idle, 2) == [name, name]


def test_one_that_is_taken_meanwhile_is_ended_elsewhere():
    """Two runs of the same ranks at once have named it; one of them comes later on one rank."""
    idle, name = Idle(most=1), new_name()
    made = given(idle, 2, name)

    def work(ranks):
        party = Party(ranks.rank, 2, ranks.rank)
        if ranks.rank == 1:
            gather = ranks.all_gather_bytes

            def gathered(data):
                every = gather(data)
                idle._kept.pop((party, name))
                return every

            ranks.all_gather_bytes = gathered
        return idle.take(party, ranks)

    assert run_local(2, work) == [None, None]
    assert [each.ended for each in made] == [True, False]
