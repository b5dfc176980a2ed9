"""Who goes along which edges, by rates: rules without a GPU."""

import itertools

import dask
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_graphgpu.engine import limits
from dask_graphgpu.engine.link_rates import LINE, OF_ROWS, Rates
from dask_graphgpu.engine.page_dispatch import Page, Pages, Sides
from dask_graphgpu.engine.speeds import Speeds, alpha, read_alone, streams, work
from dask_graphgpu.errors import InvalidArgument


def test_alpha_is_that_of_garaph():
    assert alpha(1.0, 1.0, pull=3.0, gpu=1.5) == 2.0
    assert alpha(0.5, 1.0, pull=3.0, gpu=1.5) == 2.0  # notify-pull would take as long as pull
    assert alpha(0.25, 1.0, pull=3.0, gpu=1.5) == 1.0  # the GPU just joins
    assert alpha(0.2, 1.0, pull=3.0, gpu=1.5) < 1
    assert alpha(0.02, 10.0, pull=3.0, gpu=1.5) == pytest.approx(0.8)  # on disk, k = 10
    assert alpha(0.0, 1.0, pull=3.0, gpu=1.5) == 0.0
    assert alpha(0.0, 1.0, pull=3.0, gpu=1.5, beside=3.0) == 2.0
    assert alpha(0.001, 10.0, pull=3.0, gpu=1.5, least=1.5) == 1.0  # pages of few rows on disk


def test_alone_the_cpu_reads_all_or_the_pages_of_both_ends():
    assert read_alone(1.0, 4.0, 1000, 80_000, 10) == 80_000
    assert read_alone(0.2, 4.0, 1000, 80_000, 10) == 80_000  # it pulls
    assert read_alone(0.01, 4.0, 3, 80_000, 10) == 30 + 8_000  # of 800 edges, at most as many rows
    assert read_alone(0.1, 4.0, 3, 80_000, 100) == 300 + 80_000  # more than in a pull
    assert read_alone(0.0, 4.0, 0, 80_000, 10) == 0


@given(
    st.floats(0, 1), st.floats(1, 100), st.floats(1e-6, 1e3), st.floats(1e-6, 1e3), st.floats(0, 1)
)
def test_alpha_grows_with_what_is_active(f, rho, pull, gpu, less):
    found = alpha(f, rho, pull, gpu)
    assert 0 <= alpha(f * less, rho, pull, gpu) <= found <= pull / gpu * (1 + 1e-12)
    assert found == pytest.approx(alpha(f, rho, 2 * pull, 2 * gpu))


def test_work_of_each_mode():
    assert work("pull", 0.01) == 1.0
    assert work("notify-pull", 0.2) == 0.4
    assert work("notify-pull", 0.02, rho=10) == pytest.approx(0.4)
    assert work("notify-pull", 0.8) == 1.0
    assert work("push", 0.2) == 0.2


def speeds(**given):
    rates = {"pull": 3e9, "push": 1e9, "gpu": 10e9, "cpu_beside": 1e-3, "gpu_beside": 1e-4}
    return Speeds(**{**rates, "measured": True, **given})


@pytest.mark.parametrize("direction", ["pull", "notify-pull", "push"])
def test_the_rate_does_not_depend_on_the_mode_of_a_superstep(direction):
    """A CPU of 1e9 edges a second is found, whatever share of the edges is active."""
    found = speeds(pull=1e7, cpu_beside=0.0)
    found.step_of_cpu(5.0, direction, 1.0, 10_000_000)  # with which code was loaded
    assert found.pull == 1e7
    for share in (1.0, 0.5, 0.1, 0.3) * 10:
        found.step_of_cpu(0.01 * work(direction, share), direction, share, 10_000_000)
    assert found.pull == pytest.approx(1e9)


def test_rates_follow_what_is_measured():
    found = speeds(measured=False)
    found.page_of_gpu(1_000_000, 1e-3)
    found.page_of_gpu(10, 1.0)  # says nothing
    assert (found.gpu, found.gpu_shared) == (10e9, pytest.approx(5.5e9))
    found.page_of_cpu(1_000_000, 1.0)  # with which code was loaded
    found.page_of_cpu(10, 1.0)
    assert (found.push, found.measured) == (1e9, False)
    found.page_of_cpu(1_000_000, 0.01)  # what was only a guess is replaced
    assert (found.push, found.measured) == (pytest.approx(1e8), True)
    found.page_of_cpu(3_000_000, 0.01)
    assert found.push == pytest.approx(2e8)
    for direction in ("push", "pull"):
        found.step_of_cpu(1.0, direction, 0.0, 1_000_000)  # with which code was loaded
    assert found.cpu_beside == 1e-3
    found.step_of_cpu(3e-3, "push", 0.0, 1_000_000)
    assert found.cpu_beside == pytest.approx(2e-3)
    found.step_of_cpu(0.102, "pull", 0.01, 50_000_000)  # of which 2 ms beside the edges
    assert found.pull == pytest.approx(1.75e9)
    found.step_of_gpu(3e-4, 0)
    assert found.gpu_beside == pytest.approx(2e-4)


def test_a_disk_that_varies_is_not_what_the_cpu_could_save():
    """The GPU waits for nine tenths of its time, for a disk that is now slow and now fast."""
    found = Speeds(9e8, 1e9, 9e8, 1e-4, 1e-4, disk=1e9)
    for rate in (2e8, 4e8, 1.5e8, 3e8, 1e8):
        found.step_of_gpu(1e8 / rate + 1e-4, 1e8, 0.95e8 / rate)
        assert found.gpu / found.disk == pytest.approx(0.95)
        assert Pages([Page(0, 10**8, 10**8)], found, "auto").worth == 0
    for rate in (2e8, 4e8):
        found.step_of_gpu(1e8 / rate + 1e-4, 1e8, 0.5e8 / rate)
    assert Pages([Page(0, 10**8, 10**8)], found, "auto").worth > 0
    found.step_of_gpu(0.2 + 1e-4, 1e8, 1e-9)
    assert found.disk < 1e9  # of which reading alone is capable


def test_speeds_are_judged_once_until_they_change():
    found, asked = speeds(), []

    def judge():
        asked.append(found.gpu_beside)
        return len(asked) % 2 == 1

    assert all(found.judged((7, True), judge) for _ in range(3))
    assert len(asked) == 1
    found.step_of_gpu(3e-4, 0)
    assert not found.judged((7, True), judge)
    assert not found.judged((7, True), judge)
    assert found.judged((8, True), judge)  # another limit
    assert len(asked) == 3


def test_what_is_slower_shared_is_shared_no_more():
    found = speeds()  # 1e9 edges take the GPU 0.1 s, and 0.1 ms beside
    for seconds, spoiled in (
        (0.11, False),
        (0.09, False),
        (0.11, False),
        (0.11, False),
        (0.11, True),
    ):
        found.step_of_both(seconds, 1e9)
        assert found.spoiled == spoiled


def test_the_values_move_once_it_pays():
    sides = Sides()
    assert not any(sides.alone(1, 2, move=10) for _ in range(20))
    assert sides.alone(1, 2, move=10)  # 21 s were missed, 10 s it takes
    assert sides.alone(3, 2, move=10)  # and so on the way back
    assert not sides.alone(30, 2, move=10)  # which pays at once
    assert not sides.alone(2, 2, move=10)


def test_what_the_cpu_takes_at_least_may_say_enough():
    sides = Sides()
    assert sides.stays_on_device(2, 1)
    assert not sides.alone(3, 1, move=10)
    assert not sides.stays_on_device(1, 2)  # it may be faster
    assert not sides.alone(1, 2, move=10)
    assert not sides.stays_on_device(2, 1)  # what was missed has to be noted as less
    assert not sides.alone(3, 1, move=10)
    assert sides.stays_on_device(2, 1)
    assert sides.alone(1, 30, move=10)
    assert not sides.stays_on_device(2, 1)  # they are on the host


def test_what_is_missed_now_and_then_does_not_add_up():
    sides = Sides()
    turns = itertools.cycle([(1e-3, 2e-3), (5e-3, 2e-3)])
    assert not any(sides.alone(*next(turns), move=1e-3) for _ in range(100))


PAGES = [Page(i * 8_000_000, (i + 1) * 8_000_000, 8_000_000) for i in range(40)]


def taken(pages, order):
    """Who gets what when the sides ask in some order, then both until nothing is left."""
    asks = {"gpu": pages.for_gpu, "cpu": pages.for_cpu}
    found = {"gpu": [], "cpu": []}
    for side in order:
        page = asks[side]()
        if page is not None:
            found[side].append(page)
    for side, ask in asks.items():
        while (page := ask()) is not None:
            found[side].append(page)
    return found


def whole(found):
    """Whether the pages are all edges, each once."""
    spans = sorted((page.lo, page.hi) for side in found.values() for page in side)
    return [lo for lo, _ in spans[1:]] == [hi for _, hi in spans[:-1]] and spans


@given(st.lists(st.sampled_from(["gpu", "cpu"]), max_size=60), st.floats(0, 1))
def test_every_edge_is_gone_along_once(order, share):
    pages = [Page(p.lo, p.hi, round(share * p.active)) for p in PAGES]
    found = taken(Pages(pages, speeds(), "auto", 0.0, 1e-4), order)
    spans = whole(found)
    assert spans[0][0] == 0
    assert spans[-1][1] == PAGES[-1].hi
    active = sum(page.active for side in found.values() for page in side)
    assert active == sum(page.active for page in pages)


def test_the_cpu_takes_what_it_ends_before_the_gpu_would():
    """Both at their rates: the superstep ends earlier than the GPU alone would have ended it."""
    pages, rates = Pages(PAGES, speeds(), "auto", 1e-3, 1e-3), {"gpu": 10e9, "cpu": 1e9}
    clock, done, ended = {"gpu": 0.0, "cpu": 1e-3}, {"gpu": 0, "cpu": 0}, {}
    while clock:
        side = min(clock, key=clock.get)
        page = pages.for_gpu() if side == "gpu" else pages.for_cpu()
        if page is None:
            ended[side] = clock.pop(side)
            continue
        done[side] += page.edges
        clock[side] += page.edges / rates[side]
    alone = 320e6 / 10e9
    assert done["gpu"] + done["cpu"] == 320e6
    assert done["cpu"] > 0.7 * 320e6 / 11
    assert ended["gpu"] < 0.95 * alone
    assert ended["cpu"] + 1e-3 < alone


def test_the_cpu_takes_none_where_it_would_be_late():
    few = Pages(PAGES[:2], speeds(), "auto", ending=1e-3)  # 1.6 ms of the GPU
    assert few.for_cpu() is None
    assert few.worth == 0.0
    assert Pages(PAGES, speeds(), "auto", ending=1.0).for_cpu() is None
    assert Pages(PAGES, speeds(), "auto", starting=1.0).for_cpu() is None
    many = Pages(PAGES, speeds(), "auto", ending=1e-3)
    assert 0.001 < many.worth < 32e-3 / 11
    first = many.for_cpu()
    assert first.hi == PAGES[-1].hi
    assert first.edges == pytest.approx(2e-3 * 1e9, rel=1e-3)


def test_a_start_counts_once():
    """With 32 ms of the GPU, a start of 20 ms leaves room for the first page, and for later ones."""
    pages = Pages(PAGES, speeds(), "auto", starting=20e-3)
    assert pages.for_cpu() is not None
    for _ in range(20):
        pages.for_gpu()
    assert pages.for_cpu() is not None  # 16 ms are left


def test_a_start_counts_for_each_page_where_messages_go_page_by_page():
    taking, once = (
        Pages(PAGES, speeds(), "auto", starting=20e-3, each=each) for each in (True, False)
    )
    numbers = []
    for pages in (taking, once):
        found = [pages.for_cpu()]
        while pages.for_gpu() is not None:
            found.append(pages.for_cpu())
        numbers.append(sum(page is not None for page in found))
    assert 0 < numbers[0] < numbers[1]


def test_what_a_superstep_has_to_get_over_the_link():
    rates = Rates(copies=50e9, reads=50e9 / OF_ROWS, gathers=5e9)
    given = {"rest": 1000, "edge": 4, "arrays": 1, "rates": rates, "gpu": 12.5e9}
    assert streams(1000, 10, **given) == 1000  # at most all of it
    assert streams(0, 0, **given) == 0
    assert streams(100, 0, **given) == pytest.approx(100)  # 4 bytes each at 50 GB/s
    assert streams(0, 10, **given) == pytest.approx(10 * LINE / 4)


def test_before_the_cpu_was_seen_at_work_its_pages_are_short():
    assert Pages(PAGES, speeds(measured=False), "auto").for_cpu().edges == 1 << 18
    few = [Page(page.lo, page.hi, page.active // 8) for page in PAGES]
    assert Pages(few, speeds(measured=False), "auto").for_cpu().active == 1 << 18


def test_few_active_edges_are_a_large_page():
    pages = Pages([Page(0, 8_000_000, 8_000)] * 10, speeds(), "auto", 0.0, 1e-4)
    assert pages.for_cpu() == Page(0, 8_000_000, 8_000)


@pytest.mark.parametrize(
    ("way", "gpu", "cpu"),
    [("gpu", 40, 0), ("supersteps", 40, 0), ("cpu", 0, 40), ("alternate", 20, 20)],
)
def test_forced(way, gpu, cpu):
    found = taken(Pages(PAGES, speeds(), way), ["gpu", "cpu"] * 20)
    assert (len(found["gpu"]), len(found["cpu"])) == (gpu, cpu)
    assert whole(found)


def test_no_pages():
    for way in limits.DISPATCH:
        pages = Pages([], speeds(), way)
        assert pages.for_gpu() is pages.for_cpu() is None
        assert pages.worth == 0.0


def test_settings():
    with (
        dask.config.set({"graphgpu.dispatch": "dice"}),
        pytest.raises(InvalidArgument, match="dice"),
    ):
        limits.configured_dispatch()
