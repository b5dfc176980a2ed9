"""A run that is cut short goes on from what was kept, to the answer of one that was not."""

import numpy as np
import pytest
from cut_graphs import cut
from kept_runs import PROGRAMS, Cut, check, cut_short, kept_in, run, view

from dask_graphgpu.engine import cpu, ranks
from dask_graphgpu.errors import InvalidCheckpoint, NotConverged


@pytest.mark.parametrize("after", [1, 2, 5])
@pytest.mark.parametrize("name", PROGRAMS)
def test_one_rank_goes_on(tmp_path, monkeypatch, name, after):
    monkeypatch.setattr("dask_graphgpu.engine.cpu.in_place.FEW_EDGES", 0)
    wanted, _ = run(cpu, view(), name)
    try:
        run(cpu, view(), name, keeper=cut_short(kept_in(tmp_path / "kept"), after))
        assert "by rounds" in name  # which comes to its end within one call
    except Cut:
        pass
    keeper = kept_in(tmp_path / "kept", resume=True)
    superstep = keeper._found.content["superstep"]
    assert superstep >= after or "by rounds" in name
    found, report = run(cpu, view(), name, keeper=keeper)
    check(name, found, wanted)
    if "sums" in name:  # to the last bit, and none of the work is done again
        np.testing.assert_array_equal(found, wanted)
        _, whole = run(cpu, view(), name)
        assert len(report.advances) == len(whole.advances) - superstep


def test_a_limit_that_was_passed_before_is_not_converged(tmp_path):
    with pytest.raises(Cut):
        run(cpu, view(), "sums", keeper=cut_short(kept_in(tmp_path / "kept"), 5))
    keeper = kept_in(tmp_path / "kept", resume=True)
    with pytest.raises(NotConverged, match="after 5 supersteps"):
        run(cpu, view(), "sums", keeper=keeper, max_supersteps=3)


def test_a_run_in_place_that_goes_on_is_kept_as_often(tmp_path, monkeypatch):
    """Its rounds are counted anew."""
    monkeypatch.setattr("dask_graphgpu.engine.cpu.in_place.FEW_EDGES", 0)
    name, written = "in place, by priority", []

    def counting(keeper):
        write = keeper.write
        keeper.write = lambda *given: (written.append(given[0]), write(*given))
        return keeper

    run(cpu, view(), name, keeper=counting(kept_in(tmp_path / "whole", every=5)))
    keeper = cut_short(kept_in(tmp_path / "kept", every=5), len(written) * 2 // 3)
    with pytest.raises(Cut):
        run(cpu, view(), name, keeper=keeper)
    written.clear()
    run(cpu, view(), name, keeper=counting(kept_in(tmp_path / "kept", resume=True, every=5)))
    assert written


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("name", PROGRAMS)
def test_ranks_go_on_and_one_rank_after_them(tmp_path, name, size):
    wanted, _ = run(cpu, view(), name)
    made = cut(view(), size)

    def begin(share):
        keeper = cut_short(kept_in(tmp_path / "kept", share), 2)
        return run(ranks, share, name, keeper=keeper)

    try:
        made.run(begin)
        assert size == 1  # in place, one rank is done after one exchange
    except Cut:
        pass
    found, _ = run(cpu, view(), name, keeper=kept_in(tmp_path / "kept", resume=True))
    check(name, found, wanted)


def test_another_program_or_cutoff_is_refused(tmp_path):
    with pytest.raises(Cut):
        run(cpu, view(), "sums", keeper=cut_short(kept_in(tmp_path / "kept"), 1))
    keeper = kept_in(tmp_path / "kept", resume=True)
    with pytest.raises(InvalidCheckpoint, match="the program differ"):
        run(cpu, view(), "sums of some", keeper=keeper)
