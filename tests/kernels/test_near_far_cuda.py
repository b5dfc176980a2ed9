"""The kernels of monotone programs compile for every architecture, every type of values and ids."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("numba_cuda", reason="the compilers of the GPU engine are not installed")

from dask_graphgpu.engine.gpu.lower import Lowered
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.kernels.compile import cuda_cubin
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import Field, VertexProgram

ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120")
NAMES = {4: "unsigned int", 8: "unsigned long long"}
MACROS = {"THREADS": "512", "RESIDENT": "2", "UNROLL": "4", "PIECE": "512", "STAGE": "1024"}


def shortest(dtype, **more):
    return VertexProgram(
        state={"distance": Field(dtype, initial=None, at_source=0)},
        compute=lambda source_distance, weight: source_distance + weight,
        combine="min",
        priority=lambda distance: distance,
        **more,
    )


WIDEST = VertexProgram(
    state={"width": Field("weight", initial=None, at_source=2**63 - 1)},
    compute=lambda source_width, weight: min(source_width, weight),
    combine="max",
    priority=lambda width: -width,
)
LABELS = VertexProgram(
    state={"label": Field("id", initial=lambda id: id)},  # noqa: A006
    compute=lambda source_label: source_label,
    combine="min",
)
ASKING = VertexProgram(
    state={"level": Field("int32", initial=None, at_source=0), "open": Field("bool", initial=1)},
    compute=lambda source_level, destination_open: source_level + (1 if destination_open else 2),
    combine="min",
    active=lambda new_level, most: new_level < most,
    constants={"most": 5},
)
# Name: program, dtype of the weights, of ids, of offsets, whether values are narrow.
CASES = {
    "narrow": (shortest("weight"), np.uint8, np.uint32, np.uint32, True),
    "int64": (shortest("weight"), np.int64, np.uint32, np.uint64, False),
    "wrapping": (shortest("int64", wraps=True), np.int64, np.uint64, np.uint64, False),
    "float64": (shortest("weight"), np.float64, np.uint64, np.uint32, False),
    "float32": (shortest("float32"), np.float32, np.uint32, np.uint32, False),
    "widest": (WIDEST, np.int64, np.uint32, np.uint32, False),
    "widest narrow": (WIDEST, np.int32, np.uint32, np.uint32, True),
    "labels": (LABELS, None, np.uint32, np.uint32, False),
    "wide labels": (LABELS, None, np.uint64, np.uint64, False),
    "asking": (ASKING, None, np.uint32, np.uint32, False),
}

# Every case for the oldest, where the most may be missing; two for the others.
WHICH = [("sm_75", case) for case in CASES]
WHICH += [(arch, case) for arch in ARCHITECTURES[1:] for case in ("narrow", "float64")]


@pytest.mark.parametrize(("arch", "case"), WHICH)
def test_compiles(case, arch, monkeypatch):
    # Numba compiles what functions call for the device at hand.
    device = SimpleNamespace(compute_capability=(int(arch[3:-1]), int(arch[-1])))
    monkeypatch.setattr("numba.cuda.dispatcher.get_current_device", lambda: device)
    program, weight, ids, offsets, narrow = CASES[case]
    columns = {} if weight is None else {"weight": np.ones(2, weight)}
    edges = from_edges(3, np.array([0, 1], ids), np.array([1, 2], ids), columns)
    types = {"ID": NAMES[ids().itemsize], "OFFSET": NAMES[offsets().itemsize]}
    lowered = Lowered(
        Binding(program, View.of(edges)),
        narrow=narrow,
        every=False,
        defines=types,
        degree=np.dtype(np.uint32),
        weighted_degree=None,
    )
    given = lowered.sources("near_far")
    given["defines"] |= MACROS
    assert cuda_cubin("near_far", arch, **given)[:4] == b"\x7fELF"
