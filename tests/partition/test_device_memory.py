"""What is said when the memory of a GPU does not suffice; a stand-in for CuPy, so without one."""

import sys
from types import SimpleNamespace

import pytest

from dask_graphgpu.errors import GraphError, OutOfDeviceMemory
from dask_graphgpu.partition.device import memory

GB = 10**9


class OutOfMemoryError(MemoryError):
    """As CuPy's."""

    __module__ = "cupy.cuda.memory"


@pytest.fixture(autouse=True)
def device(monkeypatch):
    """One of 10 GB, of which 3 are free: 1 to the driver, 1 in CuPy's pool, 1 in another."""

    def alloc(num_bytes):
        if num_bytes > 3 * GB:
            raise OutOfMemoryError("no")

    cuda = SimpleNamespace(runtime=SimpleNamespace(memGetInfo=lambda: (GB, 10 * GB)), alloc=alloc)
    pool = SimpleNamespace(free_bytes=lambda: GB, free_all_blocks=lambda: None)
    module = SimpleNamespace(cuda=cuda, get_default_memory_pool=lambda: pool)
    monkeypatch.setitem(sys.modules, "cupy", module)


@pytest.mark.parametrize("size", [0, 2 * GB, 3 * GB])
def test_what_fits_is_let_through(size):
    memory.require(size, "all")


def test_what_does_not_fit_is_refused_with_what_it_needs():
    with pytest.raises(
        OutOfDeviceMemory, match=r"sorting needs 4\.0 GB.* 10\.0 GB 2\.0 GB are free"
    ):
        memory.require(4 * GB, "sorting")


@pytest.mark.parametrize(
    "error", [OutOfMemoryError("of 5 bytes"), MemoryError("std::bad_alloc: x")]
)
def test_errors_of_the_device_say_what_was_done(error):
    @memory.told("a search")
    def search():
        raise error

    with pytest.raises(OutOfDeviceMemory, match="a search needs more memory than is left") as found:
        search()
    assert isinstance(found.value, GraphError | MemoryError)
    assert found.value.__cause__ is error


@pytest.mark.parametrize(
    "error", [MemoryError("of the host"), OutOfDeviceMemory("said"), OSError()]
)
def test_other_errors_are_left_alone(error):
    with pytest.raises(type(error)) as found, memory.told("a search"):
        raise error
    assert found.value is error
