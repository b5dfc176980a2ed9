"""What Numba compiles is counted, as it may keep the frames of whoever asked for it."""

import gc
import weakref

import numpy as np
import pytest
from cuda_cases import ARCHITECTURES, lowered
from spilled import no_collector

from dask_graphgpu.algorithms import sswp
from dask_graphgpu.kernels.compile import cuda_cubin, jit
from dask_graphgpu.kernels.compiled import times_compiled


class Held:
    """What a caller has."""


def assert_counted(ask):
    """Should anything keep the caller, there was more to count; and the collector frees it."""

    def call():
        held = Held()
        ask()
        return weakref.ref(held)

    before = times_compiled()
    with no_collector():
        held = call()
    assert times_compiled() > before
    gc.collect()
    assert held() is None


def test_for_the_host():
    @jit
    def narrower(value, weight):
        return min(value, weight)

    assert_counted(lambda: narrower(2.0, 3))


@pytest.mark.parametrize("architecture", ARCHITECTURES[:1], indirect=True)
def test_for_a_device(architecture, tmp_path, monkeypatch):
    """By the function alone that the kernels call: what it is typed with before is counted, too."""
    pytest.importorskip("numba_cuda", reason="the compilers of the GPU engine are not installed")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    program = sswp.program(float("inf"))
    given = lowered(program, np.float64, np.uint32, np.uint32).sources("program")
    assert_counted(lambda: cuda_cubin("program", architecture, **given))
