"""Ranks in processes: what they exchange arrives, plain and through TLS."""

import numpy as np
import pytest
import rank_cases
from mesh_teams import Team, Threads

from dask_graphgpu.exchange import mesh

pytestmark = pytest.mark.timeout(120)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_collectives(size):
    with Team(size, rank_cases.everything, size) as team:
        assert team.values() == list(range(size))


@pytest.mark.parametrize("size", [2, 3])
def test_collectives_through_tls(size, certificate):
    with Team(size, rank_cases.everything, size, tls=certificate) as team:
        assert team.values() == list(range(size))


def test_a_slow_rank_is_not_lost():
    with Team(3, rank_cases.slowly, 1.2, idle_timeout=0.4) as team:
        assert team.values() == [0, 1, 2]


def test_a_slow_rank_is_not_lost_through_tls(certificate):
    with Team(3, rank_cases.slowly, 1.2, idle_timeout=0.4, tls=certificate) as team:
        assert team.values() == [0, 1, 2]


def test_signs_of_life_between_messages_of_any_size(monkeypatch):
    monkeypatch.setattr(mesh, "_BEATS", 5000)  # one in a millisecond

    def work(ranks):
        random = np.random.default_rng(0)
        for n in random.integers(0, 300_000, 200).tolist():
            data = [np.full(n, 7 * n + j, np.int64) for j in range(ranks.size)]
            for got in ranks.all_to_all(data):
                assert (got == 7 * n + ranks.rank).all()
                assert len(got) == n

    assert Threads(3, work, idle_timeout=[5.0] * 3).join() == [None] * 3
