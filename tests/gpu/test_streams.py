"""Streams outlive what ran on them: memory may be freed there after the run."""

import gc
import weakref

import cupy
import pytest

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.kernels import device_streams
from dask_graphgpu.kernels.device_streams import lent_stream, stream_of

pytestmark = pytest.mark.gpu


class Run:
    """What has a stream, memory of it, and is garbage of the collector."""

    def __init__(self):
        self.stream = stream_of(self)
        with self.stream:
            self.array = cupy.zeros(1000)
        self.itself = self


@pytest.fixture(autouse=True)
def no_others(monkeypatch):
    monkeypatch.setattr(device_streams, "_idle", type(device_streams._idle)(list))


def test_a_stream_outlives_a_run_that_is_collected_as_a_cycle():
    run = Run()
    stream, pointer = weakref.ref(run.stream), run.stream.ptr
    del run
    gc.collect()
    assert stream() is not None
    again = Run()
    assert again.stream is stream()
    assert again.stream.ptr == pointer


def test_nobody_has_the_stream_of_another():
    first, second = Run(), Run()
    with lent_stream() as third, lent_stream() as fourth:
        streams = [first.stream, second.stream, third, fourth, stream_of(first, -5)]
        assert len({stream.ptr for stream in streams}) == 5
    with lent_stream() as again:
        assert again in (third, fourth)


def test_a_run_gives_its_stream_back_when_it_fails():
    seen = []

    def fail():
        with launch.own_stream():
            seen.append(cupy.cuda.get_current_stream())
            raise KeyError

    for _ in range(2):
        with pytest.raises(KeyError):
            fail()
    assert seen[0] is seen[1]


def test_memory_of_rmm_is_freed_after_a_run_that_is_collected_as_a_cycle():
    """Where the stream is destroyed before, the driver may crash."""
    pytest.importorskip("rmm")
    from rmm.allocators.cupy import rmm_cupy_allocator

    with cupy.cuda.using_allocator(rmm_cupy_allocator):
        for _ in range(100):
            Run()
            gc.collect()
    cupy.cuda.Device().synchronize()
