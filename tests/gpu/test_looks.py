"""How often the host looks at the device in a run in supersteps, and what it has queued by then."""

import threading
from itertools import groupby

import cupy
import dask
import pytest
from cut_graphs import cut
from device_programs import CUSTOM, graph, on
from device_rank_runs import SEVERAL, on_gpus
from made_graphs import path, rmat

from dask_graphgpu.algorithms import pagerank
from dask_graphgpu.engine import device_ranks, gpu, hybrid, limits, tiered
from dask_graphgpu.engine.gpu import checkpoints, launch
from dask_graphgpu.engine.gpu.arrays import CONTROL
from dask_graphgpu.engine.gpu.sizes import bytes_of_vertices
from dask_graphgpu.engine.hybrid import programs as hybrid_programs
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.engine.tiered import dense, link, supersteps
from dask_graphgpu.engine.tiered.packed import bytes_of_edge
from dask_graphgpu.exchange.nccl import Recorded
from dask_graphgpu.program import Field, Sum, VertexProgram
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

POWER = pagerank.power_program("float64", weighted=False, personal=False)
SIX = {"max_supersteps": 6, "exact_supersteps": True, "constants": {"tolerance": 0.0}}
HOPS = CUSTOM["hops"][0]
SOME = {"sources": [0], "max_supersteps": 99}
ASKED = VertexProgram(
    state={"x": Field("float64", initial=1.0)},
    compute=lambda source_x: source_x / 2,
    combine="sum",
    apply=lambda message, x: 0.5 * x + 0.001 * message,
    aggregates={"total": Sum(lambda new_x: new_x)},
    stop=lambda total, superstep: bool(superstep // 4) or total == "never",
)


class Seen:
    """What the host did in a run, thread by thread."""

    def __init__(self):
        self._of = {}

    def note(self, what, name=""):
        self._of.setdefault(threading.get_ident(), []).append((what, name))

    def all(self):
        """Of this thread, since this was asked for the last time."""
        return self._of.pop(threading.get_ident(), [])

    def told(self, *, events=True):
        """Numbers of launches, and between them ``?`` for a look, ``e`` for an event and ``w`` for a wait for one."""
        signs = ("launch", "?", "e", "w") if events else ("launch", "?")
        runs = groupby(what for what, _ in self.all() if what in signs)
        lengths = ((what, len(list(run))) for what, run in runs)
        return " ".join(str(n) if what == "launch" else what * n for what, n in lengths)


@pytest.fixture
def seen(monkeypatch):
    made, inside = Seen(), threading.local()

    class Event(cupy.cuda.Event):
        def record(self, *given):
            made.note("e")
            return super().record(*given)

        def synchronize(self):
            made.note("w")
            return super().synchronize()

    def noted(launched):
        def call(kernel, *given, **named):
            if given[0] is not None and not getattr(inside, "step", False):
                made.note("launch", kernel.name)
            return launched(kernel, *given, **named)

        return call

    def looked(array, *given, brought=cupy.asnumpy, **named):
        control = array.dtype == "int64" and array.size == len(CONTROL)
        made.note("?" if control else "copy", f"{array.dtype} {array.size}")
        return brought(array, *given, **named)

    def queued(step, call=Recorded.__call__):
        made.note("launch", "recorded")
        inside.step = True
        try:
            return call(step)
        finally:
            inside.step = False

    monkeypatch.setattr(cupy.cuda, "Event", Event)
    monkeypatch.setattr(cupy, "asnumpy", looked)
    for name in ("flat", "cooperative"):
        monkeypatch.setattr(launch, name, noted(getattr(launch, name)))
    monkeypatch.setattr(Recorded, "__call__", queued)
    return made


class Keeper:
    """Keeps nothing, and is due after every stretch."""

    begin = steps_left = late = lambda *given: None

    def __init__(self):
        self.after = []

    def due(self, superstep):
        self.after.append(superstep)
        return True

    def write(self, *given):
        pass


@pytest.fixture
def keeper(monkeypatch):
    """One with stretches of 1, 2, 4, ... supersteps."""
    monkeypatch.setattr(checkpoints, "_STRETCH", 1e9)
    return Keeper()


def test_queued_blindly(seen):
    on(gpu, POWER, graph().view(), **SIX)
    assert seen.told() == "8 e 8 e w 12 e ww"


def test_queued_blindly_until_the_device_stops(seen):
    on(gpu, POWER, graph().view(), constants={"tolerance": 1e-3})
    assert seen.told() == "8 e 8 e w 16 e w 32 e w"


def test_fused(seen):
    on(gpu, HOPS, path(40).view(), **SOME)
    assert seen.told() == "3 e 4 e w"


def test_stop_on_the_host(seen):
    on(gpu, ASKED, graph().view())
    assert seen.told() == "6 ? 5 ? 5 ? 5 ?"


@pytest.mark.parametrize(
    ("allocation", "wanted"), [("just-enough", "9 ? 8 ? 8 ?"), ("maximum", "9 e 16 e w 32 e w")]
)
def test_room(seen, allocation, wanted):
    settings = {"filter": "batch", "allocation": allocation, "fusion": "none"}
    with dask.config.set({"graphgpu": settings}):
        on(gpu, HOPS, graph().view(), **SOME)
    assert seen.told() == wanted


@pytest.mark.parametrize(
    ("program", "given", "wanted"),
    [
        (POWER, SIX, "8 e w 5 e 4 e ww 5 e 8 e ww"),
        (HOPS, SOME, "2 e w 1 e 1 e w"),
        (ASKED, {}, "6 ? 5 ? 5 ? 5 ?"),
    ],
)
def test_stretches(seen, keeper, program, given, wanted):
    on(gpu, program, graph().view(), keeper=keeper, **given)
    assert seen.told() == wanted


def limited(seen, engine, program, *, size, edge, settings, **given):
    """A run with as few edges on the device as can be."""
    link.rates(cupy.cuda.Device().id)  # which are measured once
    seen.all()
    view = rmat(9, directed=True).view()
    binding = Binding(program, view, given.get("constants", {}))
    room = int(limits.BUFFERS * limits.BLOCK * edge(binding))
    settings = {"device-memory-limit": size(binding) + room, **settings}
    with dask.config.set({"graphgpu": settings}):
        on(engine, program, view, **given)


@pytest.mark.parametrize(
    ("program", "given", "keeps", "wanted"),
    [
        (HOPS, SOME, False, "17 ? 97 ? 43 ? 13 ?"),
        (HOPS, SOME, True, "17 ? 97 ? 43 ? 13 ?"),
    ],
)
def test_tiered(seen, keeper, program, given, keeps, wanted, monkeypatch):
    monkeypatch.setattr(limits, "_MOST", 4096)
    monkeypatch.setattr(supersteps, "FEW", -1)
    settings = {"transfer": "stream"}
    given = given | ({"keeper": keeper} if keeps else {})
    size, edge = bytes_of_vertices, bytes_of_edge
    limited(seen, tiered, program, size=size, edge=edge, settings=settings, **given)
    assert seen.told(events=False) == wanted


@pytest.mark.parametrize(
    ("way", "program", "given", "keeps", "wanted"),
    [
        ("stream", POWER, SIX, False, "38 ? 34 ? 34 ? 34 ? 34 ? 34 ?"),
        ("stream", POWER, SIX, True, "38 ? 35 ? 34 ? 35 ? 34 ? 34 ?"),
        ("stream", ASKED, {}, False, "36 ? 35 ? 35 ? 35 ?"),
        ("zero-copy", POWER, SIX, False, "7 e 6 e w 9 e ww"),
        ("zero-copy", POWER, SIX, True, "7 e w 4 e 3 e ww 4 e 6 e ww"),
    ],
)
def test_dense(seen, keeper, way, program, given, keeps, wanted, monkeypatch):
    monkeypatch.setattr(limits, "_MOST", 4096)
    given = given | ({"keeper": keeper} if keeps else {})
    edge = dense.bytes_of_edge
    settings = {"transfer": way}
    limited(seen, tiered, program, size=bytes_of_vertices, edge=edge, settings=settings, **given)
    assert seen.told(events=way == "zero-copy") == wanted


@pytest.mark.parametrize(
    ("split", "program", "given", "keeps", "wanted"),
    [
        ("supersteps", POWER, SIX, False, "106 ? 105 ? 105 ?"),
        ("supersteps", POWER, SIX, True, "106 ? 106 ? 106 ?"),
        ("supersteps", ASKED, {}, False, "104 ? 104 ?"),
        ("gpu", ASKED, {}, False, "104 ? 103 ? 103 ? 103 ?"),
        ("gpu", HOPS, SOME, False, "17 ? 97 ? 43 ? 13 ?"),
    ],
)
def test_hybrid(seen, keeper, split, program, given, keeps, wanted, monkeypatch):
    monkeypatch.setattr(limits, "_MOST", 4096)
    given = given | ({"keeper": keeper} if keeps else {})
    size, settings = hybrid_programs.bytes_of_vertices, {"dispatch": split, "transfer": "stream"}
    limited(seen, hybrid, program, size=size, edge=bytes_of_edge, settings=settings, **given)
    assert seen.told(events=False) == wanted


@pytest.mark.skipif(not SEVERAL, reason="there is one GPU")
@pytest.mark.parametrize(
    ("program", "given", "keeps", "wanted"),
    [
        (POWER, SIX, False, "4 e 2 e 2 e 1 ee"),
        (POWER, SIX, True, "4 ee 1 e 1 ee 1 e 2 ee"),
        (ASKED, {}, False, "2 e ? 1 e ? 1 e ? 1 e ?"),
    ],
)
def test_ranks(seen, keeper, program, given, keeps, wanted):
    def work(share):
        given_here = given | ({"keeper": keeper} if keeps else {})
        options = RunOptions(report=Report("test"), **given_here)
        device_ranks.run(program, share, options)
        return seen.told()

    assert on_gpus(cut(graph().view(), 2, "random"), work) == [wanted] * 2
