"""The kernels of monotone programs compile, for architectures by turns, every type of values and ids."""

import numpy as np
import pytest
from cuda_cases import ARCHITECTURES, by_turns, compiles, lowered

pytest.importorskip("numba_cuda", reason="the compilers of the GPU engine are not installed")

from dask_graphgpu.algorithms.sswp import program as widest
from dask_graphgpu.engine.known import DISTANCES as SSSP
from dask_graphgpu.fields import Field
from dask_graphgpu.program import VertexProgram

MACROS = {"THREADS": "512", "RESIDENT": "2", "UNROLL": "4", "PIECE": "512", "STAGE": "1024"}
WIDEST = widest(2**63 - 1)


def shortest(dtype, **more):
    return VertexProgram(
        state={"distance": Field(dtype, initial=None, at_source=0)},
        compute=lambda source_distance, weight: source_distance + weight,
        combine="min",
        priority=lambda distance: distance,
        **more,
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
    "narrow": (SSSP, np.uint8, np.uint32, np.uint32, True),
    "int64": (SSSP, np.int64, np.uint32, np.uint64, False),
    "wrapping": (shortest("int64", wraps=True), np.int64, np.uint64, np.uint64, False),
    "float64": (SSSP, np.float64, np.uint64, np.uint32, False),
    "float32": (shortest("float32"), np.float32, np.uint32, np.uint32, False),
    "widest": (WIDEST, np.int64, np.uint32, np.uint32, False),
    "widest narrow": (WIDEST, np.int32, np.uint32, np.uint32, True),
    "labels": (LABELS, None, np.uint32, np.uint32, False),
    "wide labels": (LABELS, None, np.uint64, np.uint64, False),
    "asking": (ASKING, None, np.uint32, np.uint32, False),
}

WHICH = [(ARCHITECTURES[0], case) for case in CASES]
WHICH += [(arch, case) for i, case in enumerate(("narrow", "widest")) for arch in by_turns(i)]
IN_HOST_MEMORY = ("narrow", "int64", "float64", "labels")


@pytest.mark.parametrize(("architecture", "case"), WHICH, indirect=["architecture"])
def test_compiles(architecture, case):
    program, weight, ids, offsets, narrow = CASES[case]
    given = lowered(program, weight, ids, offsets, narrow=narrow).sources("near_far")
    given["defines"] |= MACROS
    optimised = architecture == ARCHITECTURES[0] and case in ("narrow", "asking")
    compiles("near_far", architecture, optimised=optimised, **given)


@pytest.mark.parametrize("architecture", ARCHITECTURES[:1], indirect=True)
@pytest.mark.parametrize("case", ["narrow", "float64", "widest"])
def test_several_values_a_vertex(architecture, case):
    program, weight, ids, offsets, narrow = CASES[case]
    given = lowered(program, weight, ids, offsets, narrow=narrow).sources("near_far")
    given["defines"] |= MACROS | {"COLUMNS": "1"}
    compiles("near_far", architecture, **given)


@pytest.mark.parametrize(
    ("architecture", "case"),
    [
        *((ARCHITECTURES[0], case) for case in IN_HOST_MEMORY),
        *zip(ARCHITECTURES[1:], IN_HOST_MEMORY, strict=True),
    ],
    indirect=["architecture"],
)
def test_edges_in_host_memory(architecture, case):
    program, weight, ids, offsets, narrow = CASES[case]
    given = lowered(program, weight, ids, offsets, narrow=narrow).sources("near_far")
    given["defines"] |= MACROS | {"TIERED": "1"}
    compiles("near_far", architecture, **given)


@pytest.mark.parametrize(
    ("architecture", "case", "id_bits"),
    [
        ("sm_90", "int64", 25),
        ("sm_90", "int64", 30),
        ("sm_90", "float32", 32),
        ("sm_75", "int64", 30),
    ],
    indirect=["architecture"],
)
@pytest.mark.parametrize("source", ["near_far", "program"])
def test_edges_in_words(architecture, case, id_bits, source):
    program, weight, ids, offsets, narrow = CASES[case]
    given = lowered(program, weight, ids, offsets, narrow=narrow, id_bits=id_bits).sources(source)
    given["defines"] |= {"TIERED": "1", **(MACROS if source == "near_far" else {})}
    compiles(source, architecture, **given)
