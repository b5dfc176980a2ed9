"""The kernels of vertex programs in supersteps compile, for architectures by turns; no GPU is needed."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from cuda_cases import ARCHITECTURES, WIDTHS, by_turns, compiles, lowered

pytest.importorskip("numba_cuda", reason="the compilers of the GPU engine are not installed")

from dask_graphgpu.algorithms import circuit_simulation, heat_simulation, neural_network, pagerank
from dask_graphgpu.algorithms.linear_beliefs import System
from dask_graphgpu.algorithms.sswp import program as widest
from dask_graphgpu.engine.known import DISTANCES as SSSP
from dask_graphgpu.fields import Field, Max, Sum
from dask_graphgpu.program import VertexProgram

EVERYTHING = VertexProgram(  # bools, integers that are checked, aggregates of aggregates
    state={
        "x": Field("int32", initial=None, at_source=0),
        "odd": Field("bool", initial=lambda id: id % 2 == 1),  # noqa: A006
        "y": Field("id", initial=lambda degree: degree),
    },
    compute=lambda source_x, destination_odd, weight, most: (
        source_x * weight + (1 if destination_odd else most)
    ),
    combine="sum",
    message="int64",
    apply=lambda x, message, odd, received: {
        "x": x + message % 8 if received else x,
        "odd": not odd,
    },
    active=lambda new_x, x, new_odd: new_x > x or new_odd,
    aggregates={
        "most": Max(lambda x: x),
        "total": Sum(lambda new_x, y, most: new_x * y + most),
        "share": Sum(lambda new_x, total: new_x / total),
    },
    stop=lambda share, most: share > 0.5 or most > 9,
)
REACHED = VertexProgram(
    state={"seen": Field("bool", initial=None, at_source=True)},
    compute=lambda source_seen: source_seen,
    combine="any",
)
# Name: program, dtype of the weights.
CASES = {
    "power float32": (pagerank.power_program("float32", weighted=False, personal=False), None),
    "power float64": (pagerank.power_program("float64", weighted=False, personal=False), None),
    "power weighted": (pagerank.power_program("float64", weighted=True, personal=True), np.float32),
    "delta": (pagerank.delta_program("float64", weighted=True), np.int64),
    "beliefs": (System(kind="uniform", echo=0.1).program(), None),
    "beliefs weighted": (System(kind="weighted", echo=0.1).program(), np.float64),
    "neural network": (neural_network.program("weight"), np.float64),
    "heat": (heat_simulation.program(weighted=True), np.float64),
    "circuit": (circuit_simulation.program(weighted=False), None),
    "circuit joined": (circuit_simulation.joined_program(weighted=True), np.uint8),
    "sssp": (SSSP, np.int32),
    "widest": (widest(float("inf")), np.float64),
    "everything": (EVERYTHING, np.int16),
    "reached": (REACHED, None),
}
# Together all that kernels do to vertices and memory; the others differ in what a function works out.
EVERYWHERE = ("power float32", "delta", "sssp", "widest", "everything")
WHICH = [(ARCHITECTURES[0], case) for case in CASES]
WHICH += [(arch, case) for i, case in enumerate(EVERYWHERE) for arch in by_turns(i)]


@pytest.mark.parametrize(("architecture", "case"), WHICH, indirect=["architecture"])
def test_compiles(architecture, case):
    given = lowered(*CASES[case], np.uint32, np.uint32).sources("program")
    optimised = architecture == ARCHITECTURES[0] and case in EVERYWHERE
    compiles("program", architecture, optimised=optimised, **given)


@pytest.mark.parametrize(
    ("architecture", "case", "everything"),
    [
        *((ARCHITECTURES[0], case, all) for case in EVERYWHERE for all in "01"),
        *((arch, "sssp", all) for all in "01" for arch in by_turns(int(all))),
    ],
    indirect=["architecture"],
)
def test_compiles_with_fused_supersteps(architecture, case, everything):
    given = lowered(*CASES[case], np.uint32, np.uint32).sources("program_fused")
    defines = {**given.pop("defines"), "ALL": everything}
    compiles("program_fused", architecture, defines=defines, **given)


# Kernel source, what is forced, programs that have it.
WAYS = [
    ("program", "FILTERED", ("delta", "sssp", "power float32", "everything", "reached")),
    ("program_fused", "FILTERED", ("delta", "sssp", "power float32", "everything", "reached")),
    ("program", "ATOMIC", ("delta", "sssp", "power float32", "reached")),
    ("program_fused", "ATOMIC", ("delta", "sssp", "power float32", "reached")),
    ("program", "SHARDS", ("delta", "power float32", "everything")),
    ("program", "TAIL", ("power float32", "beliefs")),
    ("program_blocked", "ALL", ("power float32", "power float64")),
    ("layers", "ALL", ("sssp", "widest")),
    ("program", "TIERED", ("sssp", "delta", "power weighted", "everything", "reached")),
]


@pytest.mark.parametrize(
    ("architecture", "case", "way", "source"),
    [
        (arch, case, way, source)
        for i, (source, way, cases) in enumerate(WAYS)
        for arch, case in [
            *((ARCHITECTURES[0], case) for case in cases),
            *zip(by_turns(i), cases[1::-1], strict=True),
        ]
    ],
    indirect=["architecture"],
)
def test_compiles_the_ways_that_are_measured(architecture, case, way, source):
    given = lowered(*CASES[case], np.uint32, np.uint32).sources(source)
    defines = {**given.pop("defines"), way: "1", "ALL": "1"}
    compiles(source, architecture, defines=defines, **given)


@pytest.mark.parametrize("architecture", ARCHITECTURES[:1], indirect=True)
@pytest.mark.parametrize(("word", "size"), [("ID", 1), ("ID", 19), ("unsigned long long", 55)])
def test_compiles_for_words_of_some_bits(architecture, word, size):
    given = lowered(*CASES["power float32"], np.uint32, np.uint32).sources("program")
    packed = {"WORD": word, "PACKED": "24" if size > 32 else "0", "WORD_BITS": str(size)}
    defines = {**given.pop("defines"), "TIERED": "1", **packed}
    compiles("program", architecture, defines=defines, **given)


@pytest.mark.parametrize("architecture", ARCHITECTURES[:1], indirect=True)
@pytest.mark.parametrize(
    "widths", [(i, o) for i in WIDTHS for o in WIDTHS if (i, o) != (np.uint32, np.uint32)]
)
def test_compiles_for_all_widths(architecture, widths):
    compiles("program", architecture, **lowered(*CASES["everything"], *widths).sources("program"))


# Holds the frames of all threads, as the profiler of Dask's workers does; a number of programs are compiled meanwhile.
LOOKED_AT = """
import sys, threading, time
from types import SimpleNamespace

import numpy as np
import numba.cuda.dispatcher

from cuda_cases import lowered
from dask_graphgpu.engine.known import DISTANCES
from dask_graphgpu.kernels.compile import cuda_cubin

architecture = sys.argv[1]
device = SimpleNamespace(compute_capability=(int(architecture[3:-1]), int(architecture[-1])))
numba.cuda.dispatcher.get_current_device = lambda: device


def look():
    while True:
        frames = sys._current_frames()
        time.sleep(0.02)
        del frames


threading.Thread(target=look, daemon=True).start()
given = lowered(DISTANCES, np.int32, np.uint32, np.uint32).sources("program_fused")
defines = given.pop("defines")
for turn in range(3):
    cuda_cubin("program_fused", architecture, defines={**defines, "TURN": str(turn)}, **given)
"""


@pytest.mark.parametrize("architecture", ARCHITECTURES[:1], indirect=True)
def test_who_looks_at_frames_destroys_no_linker(architecture, tmp_path):
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "XDG_CACHE_HOME": str(tmp_path),
    }
    command = [sys.executable, "-c", LOOKED_AT, architecture]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr)


def test_ranks_that_are_threads_get_the_same_text():
    """They share what a program was lowered to, and ask for it at once."""
    made = lowered(SSSP, "int64", np.uint32, np.uint32)
    expected, interval = made.glue.text(), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            texts = [*pool.map(lambda _: made.glue.text(), range(400))]
    finally:
        sys.setswitchinterval(interval)
    assert set(texts) == {expected}
