"""The kernels of vertex programs in supersteps compile for every architecture; no GPU is needed."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("numba_cuda", reason="the compilers of the GPU engine are not installed")

from dask_graphgpu.algorithms import circuit_simulation, heat_simulation, neural_network, pagerank
from dask_graphgpu.algorithms.linear_beliefs import System
from dask_graphgpu.algorithms.sssp import PROGRAM as SSSP
from dask_graphgpu.algorithms.sswp import program as widest
from dask_graphgpu.engine.gpu.lower import Lowered, may_be_narrow
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.kernels.compile import cuda_cubin
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import Field, Max, Sum, VertexProgram

ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120")
NAMES = {np.uint32: "unsigned int", np.uint64: "unsigned long long"}

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
WHICH = [("sm_90", case) for case in CASES]
WHICH += [
    pytest.param(arch, case, marks=() if case in ("power float32", "everything") else pytest.mark.slow)
    for arch in ARCHITECTURES
    if arch != "sm_90"
    for case in CASES
]  # fmt: skip


@pytest.mark.parametrize(("arch", "case"), WHICH)
def test_compiles(case, arch, monkeypatch):
    compiled(arch, *CASES[case], np.uint32, np.uint32, monkeypatch)


@pytest.mark.parametrize("ids", NAMES)
@pytest.mark.parametrize("offsets", NAMES)
def test_compiles_for_all_widths(ids, offsets, monkeypatch):
    compiled("sm_80", *CASES["everything"], ids, offsets, monkeypatch)


def compiled(arch, program, weight, ids, offsets, monkeypatch):
    # Numba compiles what functions call for the device at hand.
    device = SimpleNamespace(compute_capability=(int(arch[3:-1]), int(arch[-1])))
    monkeypatch.setattr("numba.cuda.dispatcher.get_current_device", lambda: device)
    columns = {} if weight is None else {"weight": np.ones(2, weight)}
    edges = from_edges(3, np.array([0, 1], ids), np.array([1, 2], ids), columns)
    binding = Binding(program, View.of(edges))
    lowered = Lowered(
        binding,
        narrow=may_be_narrow(binding),
        every=program.combine == "sum" and program.active is None,
        defines={"ID": NAMES[ids], "OFFSET": NAMES[offsets]},
        degree=np.dtype(np.uint32),
        weighted_degree=np.dtype(np.uint32 if weight is None else binding.weight_dtype),
    )
    assert cuda_cubin("program", arch, **lowered.sources("program"))[:4] == b"\x7fELF"
